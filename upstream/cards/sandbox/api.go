package sandbox

import (
	"cmp"
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"
	"time"

	"frontdesk/upstream/cards"
)

// createRequest is the body of POST /payments.
type createRequest struct {
	Amount     int64             `json:"amount"` // minor units
	Currency   string            `json:"currency"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	ReturnURL  string            `json:"returnUrl,omitempty"`
	WebhookURL string            `json:"webhookUrl,omitempty"`
}

// amountRequest is the body of a capture and of a refund.
type amountRequest struct {
	Amount int64 `json:"amount"` // minor units
}

// metadataRequest is the body of POST /payments/{id}/metadata.
type metadataRequest struct {
	Metadata map[string]string `json:"metadata"`
}

// paymentList is the response of GET /payments.
type paymentList struct {
	Items []Payment `json:"items"`          // newest first
	Next  string    `json:"next,omitempty"` // the value of before for the next page; absent on the last one
}

// write is a merchant's request that passed every check that is possible without running
// it.
type write func(world *world, now time.Time) storedResponse

// serveWrite handles a write of the merchant: it authenticates, validates, and runs the
// write once for its idempotency key. A request that fails before it runs leaves no trace,
// so that its key can be used for the corrected request.
func (s *Server) serveWrite(validate func(r *http.Request, body []byte) (write, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, replayed, err := s.runOnce(w, r, validate)
		if err == nil {
			err = a.err
		}
		if replayed {
			w.Header().Set("Idempotent-Replayed", "true")
		}
		if err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, a.status, a.payment)
	}
}

func (s *Server) runOnce(w http.ResponseWriter, r *http.Request, validate func(*http.Request, []byte) (write, error)) (storedResponse, bool, error) {
	if err := s.authenticate(r); err != nil {
		return storedResponse{}, false, err
	}
	key := r.Header.Get("Idempotency-Key")
	if err := checkKey(key); err != nil {
		return storedResponse{}, false, err
	}
	body, err := readBody(w, r)
	if err != nil {
		return storedResponse{}, false, err
	}
	run, err := validate(r, body)
	if err != nil {
		return storedResponse{}, false, err
	}
	now, world := s.cfg.Now(), s.world()
	return world.keys.run(key, fingerprintOf(r, body), now, func() storedResponse {
		a := run(world, now)
		s.cfg.Logger.DebugContext(r.Context(), "sandbox write", "method", r.Method, "path", r.URL.Path,
			"payment", a.payment.ID, "state", a.payment.State, "error", a.err)
		return a
	})
}

func (s *Server) authenticate(r *http.Request) error {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if ok && subtle.ConstantTimeCompare([]byte(given), []byte(s.cfg.SecretKey)) == 1 {
		return nil
	}
	return &apiError{
		Type: typeAuthentication, Code: "invalid_secret_key", status: http.StatusUnauthorized,
		Message: "This request needs the header Authorization: Bearer and the sandbox's secret key.",
	}
}

// create validates a new payment.
func (s *Server) create(r *http.Request, body []byte) (write, error) {
	var in createRequest
	if err := decodeJSON(r, body, &in); err != nil {
		return nil, err
	}
	err := cmp.Or(checkAmount(in.Amount), checkCurrency(in.Currency), checkMetadata(in.Metadata),
		checkURL("returnUrl", in.ReturnURL), checkURL("webhookUrl", in.WebhookURL))
	if err != nil {
		return nil, err
	}
	return func(world *world, now time.Time) storedResponse {
		p := s.newPayment(in, now)
		if err := world.payments.add(p); err != nil {
			return storedResponse{err: err}
		}
		return storedResponse{status: http.StatusCreated, payment: p}
	}, nil
}

func (s *Server) newPayment(in createRequest, now time.Time) Payment {
	id := newID("pay")
	p := Payment{
		ID: id, Amount: in.Amount, Currency: in.Currency, State: cards.RequiresAction, Metadata: map[string]string{},
		CreatedAt: now.UTC(), RedirectURL: s.cfg.BaseURL + "/payments/" + id, ReturnURL: in.ReturnURL, WebhookURL: in.WebhookURL,
	}
	// Merging into nothing cannot pass a limit that the metadata itself kept.
	p, _, _ = updateMetadata(in.Metadata)(p)
	return p
}

func (s *Server) capture(r *http.Request, body []byte) (write, error) {
	in, err := s.readAmount(r, body)
	return s.transition(r, capture(in.Amount)), err
}

func (s *Server) refund(r *http.Request, body []byte) (write, error) {
	in, err := s.readAmount(r, body)
	return s.transition(r, refund(in.Amount)), err
}

func (s *Server) cancel(r *http.Request, body []byte) (write, error) {
	if len(body) > 0 {
		if err := decodeJSON(r, body, &struct{}{}); err != nil {
			return nil, err
		}
	}
	return s.transition(r, cancel), s.exists(r)
}

func (s *Server) updateMetadata(r *http.Request, body []byte) (write, error) {
	var in metadataRequest
	if err := decodeJSON(r, body, &in); err != nil {
		return nil, err
	}
	if len(in.Metadata) == 0 {
		return nil, errInvalid("invalid_metadata", "metadata must hold at least one key.")
	}
	return s.transition(r, updateMetadata(in.Metadata)), cmp.Or(checkMetadata(in.Metadata), s.exists(r))
}

func (s *Server) readAmount(r *http.Request, body []byte) (in amountRequest, err error) {
	if err := decodeJSON(r, body, &in); err != nil {
		return in, err
	}
	return in, cmp.Or(checkAmount(in.Amount), s.exists(r))
}

// exists is part of validation: an unknown payment does not use up a key.
func (s *Server) exists(r *http.Request) error {
	_, err := s.world().payments.get(r.PathValue("id"))
	return err
}

// transition returns the write that applies a transition to the request's payment.
func (s *Server) transition(r *http.Request, t transition) write {
	id := r.PathValue("id")
	return func(world *world, _ time.Time) storedResponse {
		p, err := world.payments.change(id, t, world.webhooks.send)
		return storedResponse{status: http.StatusOK, payment: p, err: err}
	}
}

// list responds with the payments, newest first. The optional parameters are since, an
// instant, and for paging limit and before (the next of the previous page).
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	selected, err := readListing(r)
	if err != nil {
		writeError(w, err)
		return
	}
	items, more, err := s.world().payments.list(selected)
	if err != nil {
		writeError(w, err)
		return
	}
	out := paymentList{Items: items}
	if more {
		out.Next = items[len(items)-1].ID
	}
	writeJSON(w, http.StatusOK, out)
}

func readListing(r *http.Request) (l listing, err error) {
	for name, values := range r.URL.Query() {
		value := values[len(values)-1]
		switch name {
		case "since":
			l.since, err = time.Parse(time.RFC3339, value)
		case "limit":
			l.limit, err = strconv.Atoi(value)
			if err == nil && l.limit < 1 {
				err = strconv.ErrRange
			}
		case "before":
			l.before = value
		default:
			err = strconv.ErrSyntax
		}
		if err != nil {
			return l, errInvalid("invalid_parameter", name+" is not a parameter of this path, or not in its form (since: RFC 3339, limit: above zero).")
		}
	}
	return l, nil
}
