package stripetest

import (
	"errors"
	"maps"
	"net/http"
	"strings"
)

// testCard is what the bank of a test card does.
type testCard struct {
	number string
	method string // the test payment method of the same card, pm_card_…

	challenge           bool // the bank asks the buyer first
	code, declineReason string
}

// testCards are those of the company's documentation that tests here need.
func testCards() []testCard {
	return []testCard{
		{number: "4242424242424242", method: "pm_card_visa"},
		{number: "4000002500003155", method: "pm_card_authenticationRequired", challenge: true},
		{number: "4000000000000002", method: "pm_card_visa_chargeDeclined", code: "card_declined", declineReason: "generic_decline"},
		{number: "4000000000009995", method: "pm_card_visa_chargeDeclinedInsufficientFunds", code: "card_declined", declineReason: "insufficient_funds"},
		{number: "4000000000000069", method: "pm_card_chargeDeclinedExpiredCard", code: "expired_card"},
	}
}

// findCard finds a test card by its number or its payment method. Any other
// number is declined as a real card in test mode is, and its digits are not kept.
func findCard(typed string) testCard {
	typed = strings.ReplaceAll(typed, " ", "")
	for _, card := range testCards() {
		if typed == card.number || typed == card.method {
			return card
		}
	}
	return testCard{method: "pm_other", code: "card_declined", declineReason: "test_mode_live_card"}
}

// ErrInvalidState is for an act of a buyer that the payment's status does not
// allow, or on a payment that does not exist.
var ErrInvalidState = errors.New("stripetest: not possible now")

// Confirm enters a card, given by a test card's number or a test payment method
// such as pm_card_visa, and returns the payment as it then stands: a decline is
// a status and no error.
func (s *Server) Confirm(id, card string) (Payment, error) {
	return s.buyerAction(id, func(in *intent) bool { return s.confirm(request{}, in, findCard(card)) })
}

// Approve answers the bank's challenge for the buyer.
func (s *Server) Approve(id string, approved bool) (Payment, error) {
	return s.buyerAction(id, func(in *intent) bool { return s.finishChallenge(request{}, in, approved) })
}

// Expire lets time take an authorisation away, as the company does after a week.
func (s *Server) Expire(id string) (Payment, error) {
	return s.buyerAction(id, func(in *intent) bool {
		possible := in.status == requiresCapture
		if possible {
			s.void(request{}, in, "automatic", "charge.expired")
		}
		return possible
	})
}

func (s *Server) buyerAction(id string, do func(*intent) bool) (Payment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, ok := s.byID[id]
	if !ok || !do(in) {
		return Payment{}, ErrInvalidState
	}
	return in.snapshot(), nil
}

// confirmIntent is POST /v1/payment_intents/{id}/confirm, as a buyer's browser
// calls it. A decline is 402 with the payment in it.
func (s *Server) confirmIntent(rq request) (object, *apiError) {
	if e := rejectUnknown(rq.form, "payment_method", "payment_method_data", "return_url", "client_secret"); e != nil {
		return nil, e
	}
	card := orDefault(rq.form.Get("payment_method"), rq.form.Get("payment_method_data[card][number]"))
	if card == "" {
		return nil, invalidRequest("parameter_missing", "payment_method", "A payment method is required.")
	}
	in, e := s.find(rq.id, "intent")
	if e != nil {
		return nil, e
	}
	if !s.confirm(rq, in, findCard(card)) {
		return nil, unexpectedState(in, "confirmed")
	}
	return in.attemptResult(rq)
}

// answerChallenge is POST /double/challenge/{id} with approve=true or false: the
// page of the buyer's bank.
func (s *Server) answerChallenge(rq request) (object, *apiError) {
	in, e := s.find(rq.id, "intent")
	if e != nil {
		return nil, e
	}
	if !s.finishChallenge(rq, in, rq.form.Get("approve") == "true") {
		return nil, unexpectedState(in, "approved")
	}
	return in.attemptResult(rq)
}

func (in *intent) attemptResult(rq request) (object, *apiError) {
	if in.lastError == nil {
		return in.viewFor(rq), nil
	}
	refusal := *in.lastError
	refusal.intent = in.viewFor(rq)
	return nil, &refusal
}

// confirm makes an attempt with a card, if the status allows one.
func (s *Server) confirm(rq request, in *intent, card testCard) bool {
	if in.status != requiresPaymentMethod && in.status != requiresAction {
		return false
	}
	in.method, in.lastError, in.challenge = card.method, nil, testCard{}
	if card.challenge {
		in.status, in.challenge = requiresAction, card
		s.emit(rq, "payment_intent.requires_action", in.object(false))
		return true
	}
	s.charge(rq, in, card)
	return true
}

// finishChallenge ends a challenge, if there is one.
func (s *Server) finishChallenge(rq request, in *intent, approved bool) bool {
	if in.status != requiresAction {
		return false
	}
	card := in.challenge
	in.challenge = testCard{}
	if approved {
		s.charge(rq, in, card)
		return true
	}
	// The bank was never asked for money, so there is no charge.
	s.decline(rq, in, &apiError{
		kind: typeInvalid, code: "payment_intent_authentication_failure",
		message: "The provided PaymentMethod has failed authentication.",
	})
	return true
}

// charge asks the card's bank.
func (s *Server) charge(rq request, in *intent, card testCard) {
	in.charge = &charge{id: newID("ch"), amount: in.amount, metadata: maps.Clone(in.metadata), created: s.cfg.Now()}
	in.charges++
	if card.code != "" {
		in.charge.failed = &apiError{
			kind: typeCard, code: card.code, declineCode: card.declineReason, charge: in.charge.id, message: "Your card was declined.",
		}
		s.emit(rq, "charge.failed", in.charge.object(in))
		s.decline(rq, in, in.charge.failed)
		return
	}
	in.status = requiresCapture
	s.emit(rq, "charge.succeeded", in.charge.object(in))
	if !in.manual {
		s.capture(rq, in, 0)
		return
	}
	s.emit(rq, "payment_intent.amount_capturable_updated", in.object(false))
}

// decline ends an attempt; the buyer may try another card.
func (s *Server) decline(rq request, in *intent, why *apiError) {
	why.status = http.StatusPaymentRequired
	in.status, in.lastError, in.method = requiresPaymentMethod, why, ""
	s.emit(rq, "payment_intent.payment_failed", in.object(false))
}
