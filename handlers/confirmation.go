package handlers

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"frontdesk/api"
)

const confirmationRoute = "/v1/registrations/:id/confirmation"

// confirmationPolicy lets the page use its own styles, and nothing else.
const confirmationPolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// GetConfirmation serves GET /v1/registrations/{id}/confirmation.
func (s *Server) GetConfirmation(ctx context.Context, request api.GetConfirmationRequestObject) (api.GetConfirmationResponseObject, error) {
	confirmation, err := s.cfg.Registrations.Confirmation(ctx, request.Id, callerOf(ctx).token)
	if err != nil {
		return nil, err
	}
	sent := storedConfirmation{request: exchangeOf(ctx).request, header: http.Header{"Vary": {"Accept"}}}
	if prefersHTML(sent.request.Header.Get("Accept")) {
		sent.header.Set("Content-Type", "text/html; charset=utf-8")
		sent.header.Set("Content-Security-Policy", confirmationPolicy)
		sent.body = []byte(confirmation.HTML)
	} else {
		sent.header.Set("Content-Type", "application/json")
		sent.body = confirmation.Document
	}
	return sent, nil
}

// storedConfirmation is a confirmation as it was stored.
type storedConfirmation struct {
	body    []byte
	header  http.Header
	request *http.Request
}

// VisitGetConfirmationResponse sends it.
func (c storedConfirmation) VisitGetConfirmationResponse(w http.ResponseWriter) error {
	return encode(c.body, c.header).write(w, c.request, personalCacheControl)
}

// prefersHTML reports whether a caller accepts pages rather than JSON (RFC 9110, section 12.5.1). A client that accepts everything gets
// JSON.
func prefersHTML(accept string) bool {
	page, data := 0.0, 0.0
	for part := range strings.SplitSeq(accept, ",") {
		kind, params, _ := strings.Cut(part, ";")
		weight := 1.0
		if _, q, ok := strings.Cut(strings.ReplaceAll(params, " ", ""), "q="); ok {
			weight, _ = strconv.ParseFloat(q, 64)
		}
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "text/html":
			page = max(page, weight)
		case "application/json":
			data = max(data, weight)
		}
	}
	return page > data
}
