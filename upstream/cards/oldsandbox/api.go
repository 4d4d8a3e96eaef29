package oldsandbox

import (
	"cmp"
	"crypto/subtle"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"frontdesk/upstream/cards"
)

// createRequest is the body of POST /payments.
type createRequest struct {
	Amount      int64             `json:"amount"` // minor units
	Currency    string            `json:"currency"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Description string            `json:"description,omitempty"`
	ReturnURL   string            `json:"returnUrl,omitempty"`
	WebhookURL  string            `json:"webhookUrl,omitempty"`
}

// amountRequest is the body of a capture and of a refund.
type amountRequest struct {
	Amount int64 `json:"amount"` // minor units
}

type metadataRequest struct {
	Metadata map[string]string `json:"metadata"`
}

// cancelRequest is the body of POST /payments/{id}/cancel, and may be left out.
type cancelRequest struct{}

type paymentList struct {
	Items []Payment `json:"items"`          // newest first
	Next  string    `json:"next,omitempty"` // the value of before for the next page; absent on the last one
}

// write is a merchant's request that passed every check that is possible without running
// it.
type write func(world *world, now time.Time) (Payment, error)

type validator func(r *http.Request, body []byte) (write, error)

// serveWrite handles a write of the merchant, and runs it once for its idempotency key.
func (s *Server) serveWrite(status int, validate validator) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := s.runOnce(w, r, validate)
		if a.replayed {
			w.Header().Set("Idempotent-Replayed", "true")
		}
		respond(w, status, a.payment, a.err)
	}
}

// runOnce authenticates, validates, and runs a write. A request that fails before it runs
// leaves no trace, so that its key can be used for the corrected request.
func (s *Server) runOnce(w http.ResponseWriter, r *http.Request, validate validator) storedResponse {
	key := r.Header.Get("Idempotency-Key")
	if err := cmp.Or(authenticate(r), checkKey(key)); err != nil {
		return storedResponse{err: err}
	}
	body, err := readBody(w, r)
	if err != nil {
		return storedResponse{err: err}
	}
	run, err := validate(r, body)
	if err != nil {
		return storedResponse{err: err}
	}
	now, world := s.cfg.Now(), s.world()
	return world.keys.run(key, fingerprintOf(r, body), now, func() (Payment, error) {
		p, err := run(world, now)
		s.cfg.Logger.DebugContext(r.Context(), "sandbox write", "method", r.Method, "path", r.URL.Path,
			"payment", p.ID, "state", p.State, "error", err)
		return p, err
	})
}

func authenticate(r *http.Request) error {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+DemoSecretKey)) == 1 {
		return nil
	}
	return newError(http.StatusUnauthorized, typeAuthentication, "invalid_secret_key",
		"This request needs the header Authorization: Bearer and the sandbox's secret key.")
}

// create validates a new payment.
func (s *Server) create(r *http.Request, body []byte) (write, error) {
	var in createRequest
	if err := decodeJSON(r, body, &in); err != nil {
		return nil, err
	}
	err := cmp.Or(checkAmount(in.Amount), checkMinimum(in.Amount), checkCurrency(in.Currency), checkMetadata(in.Metadata),
		checkDescription(in.Description), checkURL("returnUrl", in.ReturnURL), checkURL("webhookUrl", in.WebhookURL))
	return mayFail(Payment{Metadata: in.Metadata}, func(world *world, now time.Time) (Payment, error) {
		p := s.newPayment(in, now)
		return p, world.payments.add(p)
	}), err
}

// mayFail returns a write on a payment that fails as the settings of the payment's world say.
func mayFail(p Payment, run write) write {
	return func(world *world, now time.Time) (Payment, error) {
		mode := world.webhooks.settingsOf(worldOf(p)).Errors
		if mode == ErrorsBefore {
			return Payment{}, errFailed()
		}
		done, err := run(world, now)
		if mode == ErrorsAfter {
			return done, errFailed()
		}
		return done, err
	}
}

func (s *Server) newPayment(in createRequest, now time.Time) Payment {
	id := newID("pay")
	p := Payment{
		ID: id, Amount: in.Amount, Currency: in.Currency, State: cards.RequiresAction, Metadata: map[string]string{},
		CreatedAt: now.UTC(), RedirectURL: s.cfg.BaseURL + "/payments/" + id, Description: in.Description, ReturnURL: in.ReturnURL, WebhookURL: in.WebhookURL,
	}
	// Merging into nothing cannot pass a limit that the metadata itself kept.
	p, _, _ = updateMetadata(in.Metadata)(p)
	return p
}

// change validates a write to an existing payment; read returns its transition. An unknown
// payment does not use up a key.
func change[T any](s *Server, read func(T) (transition, error)) validator {
	return func(r *http.Request, body []byte) (write, error) {
		var in T
		if _, optional := any(in).(cancelRequest); !optional || len(body) > 0 {
			if err := decodeJSON(r, body, &in); err != nil {
				return nil, err
			}
		}
		t, err := read(in)
		if err != nil {
			return nil, err
		}
		id := r.PathValue("id")
		p, err := s.world().payments.get(id)
		return mayFail(p, func(world *world, _ time.Time) (Payment, error) { return world.payments.change(id, t) }), err
	}
}

func readCapture(in amountRequest) (transition, error) {
	return capture(in.Amount), checkAmount(in.Amount)
}

func (s *Server) readRefund(in amountRequest) (transition, error) {
	return func(p Payment) (Payment, string, error) {
		return refund(in.Amount, s.world().webhooks.settingsOf(worldOf(p)).Refunds)(p)
	}, checkAmount(in.Amount)
}

// settleRequest is the body of POST /payments/{id}/settle-refund and of settle-confirmation.
type settleRequest struct {
	Succeeded *bool `json:"succeeded"`
}

// readSettleConfirmation ends the processing of a buyer's confirmation.
func readSettleConfirmation(in settleRequest) (transition, error) {
	if in.Succeeded == nil {
		return nil, errInvalid("invalid_body", "succeeded must be true or false.")
	}
	return settleConfirmation(*in.Succeeded), nil
}

func settleForm(form url.Values) (in settleRequest) {
	if succeeded, err := strconv.ParseBool(form.Get("succeeded")); err == nil {
		in.Succeeded = &succeeded
	}
	return in
}

// readSettle ends a refund, as the buyer's bank does.
func readSettle(in settleRequest) (transition, error) {
	if in.Succeeded == nil {
		return nil, errInvalid("invalid_body", "succeeded must be true or false.")
	}
	return settleRefund(*in.Succeeded), nil
}

// disputeRequest is the body of POST /payments/{id}/dispute.
type disputeRequest struct{}

func disputeForm(url.Values) disputeRequest { return disputeRequest{} }

func readDispute(disputeRequest) (transition, error) { return dispute, nil }

func readCancel(cancelRequest) (transition, error) { return cancel, nil }

func readMetadata(in metadataRequest) (transition, error) {
	if len(in.Metadata) == 0 {
		return nil, errInvalid("invalid_metadata", "metadata must hold at least one key.")
	}
	return updateMetadata(in.Metadata), checkMetadata(in.Metadata)
}

// list responds with the payments, newest first: a page for a browser, JSON for a program. The
// optional parameters are since, an instant, and for paging limit and before (the next of the
// previous page). A request that names a demo world gets its payments alone.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept, Cookie, "+worldHeader)
	selected, err := readListing(r)
	if err == nil {
		selected.world, err = requestedWorld(r)
	}
	if err == nil && wantsPage(r) {
		s.showOverview(w, cmp.Or(selected.world, defaultWorld), "")
		return
	}
	var out paymentList
	if err == nil {
		out, err = s.world().payments.list(selected)
	}
	respond(w, http.StatusOK, out, err)
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
		case "world": // see requestedWorld
		default:
			err = strconv.ErrSyntax
		}
		if err != nil {
			return l, errInvalid("invalid_parameter", name+" is not a parameter of this path, or not in its form (since: RFC 3339, limit: above zero).")
		}
	}
	return l, nil
}
