package oldsandbox

import (
	"errors"
	"net/http"
	"net/url"
)

// codeInvalidNumber is the error of a form without a card number. The hosted page gets it as
// a parameter, because the payment does not record it.
const codeInvalidNumber = "invalid_number"

type confirmRequest struct {
	Card string `json:"card"`
}

type challengeRequest struct {
	Approve *bool `json:"approve"`
}

// confirmForm takes the last value: a test card's button comes after the field that it
// replaces.
func confirmForm(form url.Values) (in confirmRequest) {
	if cards := form["card"]; len(cards) > 0 {
		in.Card = cards[len(cards)-1]
	}
	return in
}

func (s *Server) readConfirm(in confirmRequest) (transition, error) {
	return func(p Payment) (Payment, string, error) {
		return confirm(in.Card, s.world().webhooks.settingsOf(worldOf(p)).Confirmations)(p)
	}, nil
}

func challengeForm(form url.Values) (in challengeRequest) {
	approve := form.Get("approve") == "true"
	if approve || form.Get("approve") == "false" {
		in.Approve = &approve
	}
	return in
}

func readChallenge(in challengeRequest) (transition, error) {
	if in.Approve == nil {
		return nil, errInvalid("invalid_body", "approve must be true or false.")
	}
	return challenge(*in.Approve), nil
}

// showPayment responds with a payment: the hosted page for a browser, JSON for a program.
func (s *Server) showPayment(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept, Accept-Language")
	p, err := s.world().payments.get(r.PathValue("id"))
	if wantsPage(r) {
		showPage(w, r, p, err)
		return
	}
	respond(w, http.StatusOK, p, err)
}

// serveAction handles an action of the buyer or of the bank, sent as JSON or by a page's form. A
// form always gets a 303 to what next returns, so that going back or reloading never sends it again.
func serveAction[T any](s *Server, fromForm func(url.Values) T, read func(T) (transition, error), next func(id string, p Payment, err error) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, isForm := r.PathValue("id"), mediaType(r) == "application/x-www-form-urlencoded"
		var in T
		body, err := readBody(w, r)
		switch {
		case err != nil:
		case isForm:
			var form url.Values
			form, err = url.ParseQuery(string(body))
			in = fromForm(form)
		default:
			err = decodeJSON(r, body, &in)
		}
		var t transition
		if err == nil {
			t, err = read(in)
		}
		var p Payment
		if err == nil {
			p, err = s.world().payments.change(id, t)
			s.cfg.Logger.DebugContext(r.Context(), "sandbox buyer", "path", r.URL.Path, "payment", p.ID, "state", p.State, "error", err)
		}
		if isForm {
			w.Header().Set("Location", next(id, p, err))
			w.WriteHeader(http.StatusSeeOther)
			return
		}
		respond(w, http.StatusOK, p, err)
	}
}

// afterCheckout is where the hosted page's forms redirect: to the merchant once the buyer has paid, else to the
// hosted page. That address is relative because only the browser knows where the sandbox is
// mounted.
func afterCheckout(id string, p Payment, err error) string {
	if p.paid() && p.ReturnURL != "" {
		return p.ReturnURL
	}
	hosted := "../" + url.PathEscape(id)
	if known, ok := errors.AsType[*apiError](err); ok && known.Code == codeInvalidNumber {
		return hosted + "?problem=" + codeInvalidNumber
	}
	return hosted
}
