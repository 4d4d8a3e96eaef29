package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"frontdesk/flows"
)

const (
	// staffHeader carries a staff key, beside the token or cookie of a registration.
	staffHeader = "X-Frontdesk-Staff-Key"
	// staffScheme names that way to authenticate in a 401.
	staffScheme = "Frontdesk-Staff-Key"
)

// isStaff tells whether a request carries a staff key. One that is not known is
// an error rather than no key: a kiosk with an old key has to find out.
func (s *Server) isStaff(r *http.Request) (bool, error) {
	key := r.Header.Get(staffHeader)
	if key == "" {
		return false, nil
	}
	if !isOneOf(key, s.cfg.StaffKeys) {
		return false, &flows.Error{Code: flows.StaffKeyUnknown, Detail: staffHeader + " holds none of the club's staff keys."}
	}
	return true, nil
}

// isOneOf compares a guess with every secret, by their digests, so that the time says nothing
// about any of them.
func isOneOf(guess string, secrets []string) bool {
	given, found := sha256.Sum256([]byte(guess)), 0
	for _, secret := range secrets {
		digest := sha256.Sum256([]byte(secret))
		found |= subtle.ConstantTimeCompare(given[:], digest[:])
	}
	return found == 1
}
