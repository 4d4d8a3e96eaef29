package ops

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"frontdesk/flows"
)

// Operator may call what is below /ops.
type Operator struct {
	Name      string            // the audit records it
	TokenHash [sha256.Size]byte // SHA-256 of the token, which is random
}

// identify returns the name of the operator whose token a request has. Without one the error is
// NotIdentified.
func (s *Server) identify(r *http.Request) (name string, err error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	hash := sha256.Sum256([]byte(strings.TrimSpace(token)))
	for _, operator := range s.cfg.Operators {
		if subtle.ConstantTimeCompare(hash[:], operator.TokenHash[:]) == 1 && strings.EqualFold(scheme, "Bearer") {
			name = operator.Name
		}
	}
	if name != "" {
		return name, nil
	}
	s.cfg.Log.WarnContext(r.Context(), "operator not identified", "path", r.Pattern, "tokenSent", token != "")
	detail := "The operator's token is missing. Send it as Authorization: Bearer; the command line reads it from FRONTDESK_OPERATOR_TOKEN."
	if token != "" {
		detail = "The operator's token is not known here. Set FRONTDESK_OPERATOR_TOKEN to the token of an operator in this gateway's " +
			"FRONTDESK_OPERATORS; frontdesk operators add creates one."
	}
	return "", &flows.Error{Code: flows.NotIdentified, Operator: detail}
}
