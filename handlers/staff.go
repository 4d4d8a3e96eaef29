package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"frontdesk/flows"
)

const (
	staffHeader = "X-Frontdesk-Staff-Key"
	staffScheme = "Frontdesk-Staff-Key" // in the WWW-Authenticate of a 401
)

// isStaff reports whether a request has a staff key. An unknown key is an error, so that a kiosk with
// an old key notices.
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

// isOneOf compares a guess with every secret by digest, so that the time reveals nothing.
func isOneOf(guess string, secrets []string) bool {
	given, found := sha256.Sum256([]byte(guess)), 0
	for _, secret := range secrets {
		digest := sha256.Sum256([]byte(secret))
		found |= subtle.ConstantTimeCompare(given[:], digest[:])
	}
	return found == 1
}
