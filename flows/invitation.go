package flows

import (
	"regexp"
)

// Invitation is what a link stands for. The link holds 256 random bits, of
// which the store keeps a hash.
type Invitation struct {
	ContactID string `json:"contactId"`
	ClubID    string `json:"clubId"`
}

// PublicIDPattern matches the club system's ids without their path.
var PublicIDPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// InvitationHash is what is kept of an invitation's token; the organisation is
// part of it, so that it is worth nothing in another.
func InvitationHash(clientToken, token string) string { return HashToken(clientToken + "\n" + token) }
