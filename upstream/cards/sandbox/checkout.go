package sandbox

import (
	"errors"
	"net/http"
	"net/url"
)

// codeInvalidNumber is the error that the hosted page shows when the form held no card
// number. The page gets it as a parameter, because the payment does not record it.
const codeInvalidNumber = "invalid_number"

// buyerAction is an action of the buyer, as JSON or from the hosted page's form.
type buyerAction interface {
	readForm(form url.Values)
	transition() (transition, error)
}

// confirmRequest is the body of POST /payments/{id}/confirm.
type confirmRequest struct {
	Card string `json:"card"`
}

// challengeRequest is the body of POST /payments/{id}/challenge.
type challengeRequest struct {
	Approve *bool `json:"approve"`
}

// readForm takes the last value: a test card's button comes after the field that it
// replaces.
func (a *confirmRequest) readForm(form url.Values) {
	if cards := form["card"]; len(cards) > 0 {
		a.Card = cards[len(cards)-1]
	}
}

func (a *confirmRequest) transition() (transition, error) { return confirm(a.Card), nil }

func (a *challengeRequest) readForm(form url.Values) {
	approve := form.Get("approve") == "true"
	if approve || form.Get("approve") == "false" {
		a.Approve = &approve
	}
}

func (a *challengeRequest) transition() (transition, error) {
	if a.Approve == nil {
		return nil, errInvalid("invalid_body", "approve must be true or false.")
	}
	return challenge(*a.Approve), nil
}

// showPayment responds with a payment: the hosted page for a browser, JSON for a program.
func (s *Server) showPayment(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept, Accept-Language")
	p, err := s.world().payments.get(r.PathValue("id"))
	switch {
	case wantsPage(r):
		showPage(w, r, p, err)
	case err != nil:
		writeError(w, err)
	default:
		writeJSON(w, http.StatusOK, p)
	}
}

func (s *Server) confirm(w http.ResponseWriter, r *http.Request) {
	s.serveAction(w, r, &confirmRequest{})
}

func (s *Server) challenge(w http.ResponseWriter, r *http.Request) {
	s.serveAction(w, r, &challengeRequest{})
}

// serveAction handles an action of the buyer. A program gets the payment or an error. A
// form always gets a 303, so that going back or reloading never sends it again.
func (s *Server) serveAction(w http.ResponseWriter, r *http.Request, a buyerAction) {
	id, isForm := r.PathValue("id"), mediaType(r) == "application/x-www-form-urlencoded"
	p, err := Payment{}, readAction(w, r, a, isForm)
	if err == nil {
		p, err = s.apply(r, id, a)
	}
	switch {
	case isForm:
		w.Header().Set("Location", formTarget(id, p, err))
		w.WriteHeader(http.StatusSeeOther)
	case err != nil:
		writeError(w, err)
	default:
		writeJSON(w, http.StatusOK, p)
	}
}

func readAction(w http.ResponseWriter, r *http.Request, a buyerAction, isForm bool) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	if !isForm {
		return decodeJSON(r, body, a)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return errInvalid("invalid_body", "The form could not be read.")
	}
	a.readForm(form)
	return nil
}

func (s *Server) apply(r *http.Request, id string, a buyerAction) (Payment, error) {
	t, err := a.transition()
	if err != nil {
		return Payment{}, err
	}
	world := s.world()
	p, err := world.payments.change(id, t, world.webhooks.send)
	s.cfg.Logger.DebugContext(r.Context(), "sandbox buyer", "path", r.URL.Path, "payment", p.ID, "state", p.State, "error", err)
	return p, err
}

// formTarget is where a form redirects. A buyer who has paid goes back to the merchant,
// also after the second click of a double click; the hosted page shows everything else. Its
// address is relative because only the browser knows where the sandbox is mounted.
func formTarget(id string, p Payment, err error) string {
	if p.paid() && p.ReturnURL != "" {
		return p.ReturnURL
	}
	hosted := "../" + url.PathEscape(id)
	if known, ok := errors.AsType[*apiError](err); ok && known.Code == codeInvalidNumber {
		return hosted + "?problem=" + codeInvalidNumber
	}
	return hosted
}
