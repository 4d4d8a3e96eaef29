package stripetest

import (
	"cmp"
	_ "embed"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// testCard is what the bank of a test card does.
type testCard struct {
	number            string
	method            string // the test payment method of the same card, pm_card_…
	challenge         bool   // the bank asks the buyer first
	code, declineCode string // of the decline, if any
}

// testCards are those of Stripe's documentation that the tests need.
var testCards = []testCard{
	{number: "4242424242424242", method: "pm_card_visa"},
	{number: "4000002500003155", method: "pm_card_authenticationRequired", challenge: true},
	{number: "4000000000000002", method: "pm_card_visa_chargeDeclined", code: "card_declined", declineCode: "generic_decline"},
	{number: "4000000000009995", method: "pm_card_visa_chargeDeclinedInsufficientFunds", code: "card_declined", declineCode: "insufficient_funds"},
	{number: "4000000000000069", method: "pm_card_chargeDeclinedExpiredCard", code: "expired_card"},
}

// findCard finds a test card by its number or its payment method. Any other number is
// declined, as a real card is in test mode, and its digits are not kept.
func findCard(typed string) testCard {
	typed = strings.ReplaceAll(typed, " ", "")
	at := slices.IndexFunc(testCards, func(card testCard) bool { return typed == card.number || typed == card.method })
	if at < 0 {
		return testCard{method: "pm_other", code: "card_declined", declineCode: "test_mode_live_card"}
	}
	return testCards[at]
}

// ErrInvalidState is for a step of a buyer that the payment's status does not allow, or
// on a payment that does not exist.
var ErrInvalidState = errors.New("stripetest: the payment's status does not allow this")

// Confirm enters a card, given by a test card's number or a test payment method such as
// pm_card_visa. It returns the payment afterwards: a decline is a status, not an error.
func (s *Server) Confirm(id, card string) (Payment, error) {
	return s.buyerAction(id, func(in *intent) bool { return s.confirm(nil, in, findCard(card)) })
}

// Approve answers the bank's challenge for the buyer.
func (s *Server) Approve(id string, approved bool) (Payment, error) {
	return s.buyerAction(id, func(in *intent) bool { return s.finishChallenge(nil, in, approved) })
}

// Expire releases an authorisation, as Stripe does after a week.
func (s *Server) Expire(id string) (Payment, error) {
	return s.buyerAction(id, func(in *intent) bool {
		possible := in.Status == requiresCapture
		if possible {
			s.void(nil, in, "automatic", "charge.expired")
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

// confirmIntent is POST /v1/payment_intents/{id}/confirm, as a buyer's browser calls it.
// A decline is 402 with the payment in it.
func (s *Server) confirmIntent(rq *request) (object, error) {
	card := cmp.Or(rq.Form.Get("payment_method"), rq.Form.Get("payment_method_data[card][number]"))
	if card == "" {
		return nil, invalidRequest("parameter_missing", "payment_method", "A payment method is required.")
	}
	if !s.confirm(rq, rq.intent, findCard(card)) {
		return nil, unexpectedState(rq.intent, "confirmed")
	}
	return rq.attemptResult()
}

// answerChallenge is POST /double/challenge/{id} with approve=true or false: the page of
// the buyer's bank.
func (s *Server) answerChallenge(rq *request) (object, error) {
	if !s.finishChallenge(rq, rq.intent, rq.Form.Get("approve") == "true") {
		return nil, unexpectedState(rq.intent, "approved")
	}
	return rq.attemptResult()
}

func (rq *request) attemptResult() (object, error) {
	if rq.intent.lastError == nil {
		return rq.intent.viewFor(rq), nil
	}
	refusal := *rq.intent.lastError
	refusal.PaymentIntent = rq.intent.viewFor(rq)
	return nil, &refusal
}

// confirm makes an attempt with a card, if the status allows one.
func (s *Server) confirm(rq *request, in *intent, card testCard) bool {
	if in.Status != requiresPaymentMethod && in.Status != requiresAction {
		return false
	}
	in.method, in.lastError, in.challenge = card.method, nil, nil
	if card.challenge {
		in.Status, in.challenge = requiresAction, &card
		s.emit(rq, "payment_intent.requires_action", in.object(false))
		return true
	}
	s.chargeCard(rq, in, card)
	return true
}

// finishChallenge ends a challenge, if there is one.
func (s *Server) finishChallenge(rq *request, in *intent, approved bool) bool {
	if in.Status != requiresAction {
		return false
	}
	card := *in.challenge
	in.challenge = nil
	if approved {
		s.chargeCard(rq, in, card)
		return true
	}
	// The bank was never asked for money, so there is no charge.
	s.decline(rq, in, &apiError{
		Type: typeInvalid, Code: "payment_intent_authentication_failure", Message: "The provided PaymentMethod has failed authentication.",
	})
	return true
}

// chargeCard asks the card's bank.
func (s *Server) chargeCard(rq *request, in *intent, card testCard) {
	in.charge = &charge{id: newID("ch"), metadata: maps.Clone(in.Metadata), created: s.cfg.Now()}
	in.Charges++
	if card.code != "" {
		in.charge.failed = &apiError{
			Type: typeCard, Code: card.code, DeclineCode: card.declineCode, Charge: in.charge.id, Message: "Your card was declined.",
		}
		s.emit(rq, "charge.failed", in.chargeObject())
		s.decline(rq, in, in.charge.failed)
		return
	}
	in.Status = requiresCapture
	s.emit(rq, "charge.succeeded", in.chargeObject())
	if !in.manual {
		s.capture(rq, in, 0)
		return
	}
	s.emit(rq, "payment_intent.amount_capturable_updated", in.object(false))
}

// decline ends an attempt. The buyer may try another card.
func (s *Server) decline(rq *request, in *intent, why *apiError) {
	why.status = http.StatusPaymentRequired
	in.Status, in.lastError, in.method = requiresPaymentMethod, why, ""
	s.emit(rq, "payment_intent.payment_failed", in.object(false))
}

//go:embed browser.js
var browserScript []byte

// Script is the double of https://js.stripe.com: Stripe's script for browsers, as far as
// a page with the Payment Element calls it. It has one field in the place of Stripe's
// frames, and calls the API as a buyer's browser does. A page that calls anything else
// gets an error.
func (s *Server) Script() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v3/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/javascript")
		w.Write(browserScript)
	})
}

// CORSHandler is the API for pages of other origins. Only Script calls it so.
func (s *Server) CORSHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		s.ServeHTTP(w, r)
	})
}
