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
	// Every key is compared, by its digest, so that the time says nothing about any of them.
	given, known := sha256.Sum256([]byte(key)), 0
	for _, staff := range s.cfg.StaffKeys {
		digest := sha256.Sum256([]byte(staff))
		known |= subtle.ConstantTimeCompare(given[:], digest[:])
	}
	if known == 0 {
		return false, &flows.Error{Code: flows.StaffKeyUnknown, Detail: staffHeader + " holds none of the club's staff keys."}
	}
	return true, nil
}
