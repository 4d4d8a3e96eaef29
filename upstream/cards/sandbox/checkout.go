package sandbox

import (
	"cmp"
	_ "embed"
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
	kind              string // zero: card
	single            bool   // the method cannot reserve money, and takes it at once
}

// testCards are those of Stripe's documentation that the tests need.
var testCards = []testCard{
	{number: "4242424242424242", method: "pm_card_visa"},
	{number: "4000002500003155", method: "pm_card_authenticationRequired", challenge: true},
	{number: "4000000000000002", method: "pm_card_visa_chargeDeclined", code: "card_declined", declineCode: "generic_decline"},
	{number: "4000000000009995", method: "pm_card_visa_chargeDeclinedInsufficientFunds", code: "card_declined", declineCode: "insufficient_funds"},
	{number: "klarna", method: "pm_klarna", kind: "klarna"},
	{number: "ideal", method: "pm_ideal", kind: "ideal", single: true},
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

// Confirm enters a card, given by a test card's number or a test payment method such as
// pm_card_visa. It returns the payment afterwards: a decline is a status. An error says
// that the payment's status does not allow the step, as with the methods below.
func (s *Server) Confirm(id, card string) (Payment, error) {
	return s.buyerAction(id, func(in *intent) error { return s.confirm(nil, in, findCard(card)) })
}

// AllowAnyMethod has new payments accept every method, whatever their types: as payments did that
// were made before Frontdesk asked for cards alone.
func (s *Server) AllowAnyMethod() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.anyMethod = true
}

// AddForeign adds a payment of another program, in a status that the double itself does not know.
func (s *Server) AddForeign(status string) Payment {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := &intent{Payment: Payment{ID: newID("pi"), Status: status, Amount: 4990, Currency: "eur", CreatedAt: s.cfg.Now()}, live: s.live()}
	s.intents, s.byID[in.ID] = append(s.intents, in), in
	return in.snapshot()
}

// Distort replaces a field of a payment in every response, such as the amount by a text, which Stripe's library cannot decode.
func (s *Server) Distort(id, field string, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.byID[id]
	if in.distorted == nil {
		in.distorted = object{}
	}
	in.distorted[field] = value
}

// Process enters a card whose bank takes its time: the payment is processing, and cannot be cancelled, until Approve.
func (s *Server) Process(id, card string) (Payment, error) {
	return s.buyerAction(id, func(in *intent) error {
		if in.Status != requiresPaymentMethod {
			return unexpectedState(in, "confirmed")
		}
		entered := findCard(card)
		in.kind, in.method, in.lastError, in.challenge, in.Status = cmp.Or(entered.kind, "card"), entered.method, nil, &entered, processing
		s.emit(nil, "payment_intent.processing", in.object())
		return nil
	})
}

// Approve answers the bank's challenge for the buyer, or ends the processing of a card.
func (s *Server) Approve(id string, approved bool) (Payment, error) {
	return s.buyerAction(id, func(in *intent) error { return s.finishChallenge(nil, in, approved) })
}

// Expire releases an authorisation, as Stripe does after a week.
func (s *Server) Expire(id string) (Payment, error) {
	return s.buyerAction(id, func(in *intent) error {
		if in.Status != requiresCapture {
			return unexpectedState(in, "expired")
		}
		s.void(nil, in, "automatic", "charge.expired")
		return nil
	})
}

func (s *Server) buyerAction(id string, do func(*intent) error) (Payment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, err := s.find(id, "intent")
	if err == nil {
		err = do(in)
	}
	if err != nil {
		return Payment{}, err
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
	return rq.attemptResult(s.confirm(rq, rq.intent, findCard(card)))
}

// answerChallenge is POST /double/challenge/{id} with approve=true or false: the page of
// the buyer's bank.
func (s *Server) answerChallenge(rq *request) (object, error) {
	return rq.attemptResult(s.finishChallenge(rq, rq.intent, rq.Form.Get("approve") == "true"))
}

// attemptResult renders the payment, unless there was no attempt or the bank declined it.
func (rq *request) attemptResult(err error) (object, error) {
	if err != nil {
		return nil, err
	}
	if rq.intent.lastError == nil {
		return rq.intent.viewFor(rq), nil
	}
	refusal := *rq.intent.lastError
	refusal.PaymentIntent = rq.intent.viewFor(rq)
	return nil, &refusal
}

// confirm makes an attempt with a card.
func (s *Server) confirm(rq *request, in *intent, card testCard) error {
	if in.Status != requiresPaymentMethod && in.Status != requiresAction {
		return unexpectedState(in, "confirmed")
	}
	in.kind = cmp.Or(card.kind, "card")
	if !slices.Contains(in.types, in.kind) && len(in.types) > 0 {
		return &apiError{Type: typeInvalid, Code: "payment_intent_incompatible_payment_method", Param: "payment_method",
			Message: "The PaymentMethod's type is not among those of the PaymentIntent."}
	}
	in.method, in.lastError, in.challenge = card.method, nil, nil
	if card.challenge {
		in.Status, in.challenge = requiresAction, &card
		s.emit(rq, "payment_intent.requires_action", in.object())
	} else {
		s.chargeCard(rq, in, card)
	}
	return nil
}

// finishChallenge ends the bank's challenge. Without the buyer's approval it does not ask
// the bank for money, and makes no charge.
func (s *Server) finishChallenge(rq *request, in *intent, approved bool) error {
	if in.Status != requiresAction && in.Status != processing {
		return unexpectedState(in, "approved")
	}
	card := *in.challenge
	in.challenge = nil
	if approved {
		s.chargeCard(rq, in, card)
	} else {
		s.decline(rq, in, &apiError{
			Type: typeInvalid, Code: "payment_intent_authentication_failure", Message: "The provided PaymentMethod has failed authentication.",
		})
	}
	return nil
}

// chargeCard asks the card's bank.
func (s *Server) chargeCard(rq *request, in *intent, card testCard) {
	in.charge = &charge{id: newID("ch"), metadata: maps.Clone(in.Metadata), created: s.cfg.Now()}
	in.charges = append(in.charges, in.charge)
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
	if in.manual && !card.single {
		s.emit(rq, "payment_intent.amount_capturable_updated", in.object())
	} else {
		s.capture(rq, in, 0)
	}
}

// decline ends an attempt. The buyer may try another card.
func (s *Server) decline(rq *request, in *intent, why *apiError) {
	why.status, why.PaymentMethod = http.StatusPaymentRequired, object{"id": newID("pm"), "object": "payment_method", "type": "card"}
	in.Status, in.lastError, in.method = requiresPaymentMethod, why, ""
	s.emit(rq, "payment_intent.payment_failed", in.object())
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
