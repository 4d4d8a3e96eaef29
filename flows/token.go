package flows

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"time"
)

// TokenBytes is the number of random bytes at the beginning of a token.
const TokenBytes = 32

// RandomToken returns 256 random bits and the hash to store.
func RandomToken() (token, hash string) {
	bits := make([]byte, TokenBytes)
	rand.Read(bits)
	token = base64.RawURLEncoding.EncodeToString(bits)
	return token, HashToken(token)
}

// HashToken returns the hash that is stored of a token: SHA-256 in hex.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// TokenMatches compares a token with a hash in constant time.
func TokenMatches(token, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(HashToken(token)), []byte(hash)) == 1
}

const (
	// resumeLife: visitors change devices on the same day. An older link may be in other hands.
	resumeLife = 24 * time.Hour
	// maxResumed is the number of devices after the first: a phone and a computer, each
	// again after its browser lost the token. Then the oldest is dropped.
	maxResumed = 4
)

// ResumeLink is a link with which a registration is resumed on another device.
type ResumeLink struct {
	URL       string
	ExpiresAt time.Time
}

// Resume is what a registration stores of its link. The record's version makes the link
// single-use, and a new link replaces it.
type Resume struct {
	Hash      string    `json:"hash"` // of the link's token
	ExpiresAt time.Time `json:"expiresAt"`
}

// Invitation is what an invitation link grants. The store has only a hash of its 256 random bits.
type Invitation struct {
	ContactID string `json:"contactId"`
	ClubID    string `json:"clubId"`
}

// PublicIDPattern matches the club system's ids without their path, as routes accept them.
var PublicIDPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// InvitationHash returns the hash that is stored of an invitation's token. It covers the
// organisation, so that the token is invalid in any other.
func InvitationHash(clientToken, token string) string { return HashToken(clientToken + "\n" + token) }
