package sandbox

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"frontdesk/upstream/cards"
)

// failedAuthentication is the code of an attempt that the buyer did not approve at their bank.
const failedAuthentication = "payment_intent_authentication_failure"

// testCard is what the bank of a test card does.
type testCard struct {
	number            string
	method            string // the test payment method of the same card, pm_card_…
	kind              string // of the payment method
	challenge         bool   // the bank asks the buyer first
	code, declineCode string // of the decline, if any
	single            bool   // the method cannot reserve money, and takes it at once
}

// testCards are those of Stripe's documentation that are needed (https://docs.stripe.com/testing).
var testCards = []testCard{
	{number: "4242424242424242", method: "pm_card_visa", kind: "card"},
	{number: "4000002500003155", method: "pm_card_authenticationRequiredOnSetup", kind: "card", challenge: true},
	{number: "4000002760003184", method: "pm_card_authenticationRequired", kind: "card", challenge: true},
	{number: "4000000000000002", method: "pm_card_visa_chargeDeclined", kind: "card", code: "card_declined", declineCode: "generic_decline"},
	{
		number:      "4000000000009995",
		method:      "pm_card_visa_chargeDeclinedInsufficientFunds",
		kind:        "card",
		code:        "card_declined",
		declineCode: "insufficient_funds",
	},
	{number: "4000000000000069", method: "pm_card_chargeDeclinedExpiredCard", kind: "card", code: "expired_card"},
	{number: "klarna", method: "pm_klarna", kind: "klarna"},
	{number: "ideal", method: "pm_ideal", kind: "ideal", single: true},
}

// otherCard is every real card.
var otherCard = testCard{method: "pm_other", kind: "card", code: "card_declined", declineCode: "test_mode_live_card"}

// findCard finds a test card by its number or its payment method. Any other number is
// declined, as a real card is in test mode, and its digits are not kept.
func findCard(typed string) (*testCard, error) {
	typed = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "").Replace(typed)
	at := slices.IndexFunc(testCards, func(card testCard) bool { return typed == card.number || typed == card.method })
	switch {
	case at >= 0:
		return &testCards[at], nil
	case strings.HasPrefix(typed, "pm_"):
		methods := make([]string, len(testCards))
		for i, card := range testCards {
			methods[i] = card.method
		}
		return nil, &apiError{Type: typeInvalid, Code: "resource_missing", Param: "payment_method",
			Message: "No such PaymentMethod: '" + typed + "'. The sandbox has " + strings.Join(methods, ", ") + "."}
	case len(typed) < 12 || len(typed) > 19 || strings.Trim(typed, "0123456789") != "" || !cards.Luhn(typed):
		return nil, &apiError{
			Type:    typeCard,
			Code:    "incorrect_number",
			Param:   "number",
			Message: "Your card number is incorrect.",
			status:  http.StatusPaymentRequired,
		}
	}
	return &otherCard, nil
}

// Confirm enters a card, given by a test card's number or a test payment method such as
// pm_card_visa. It returns the payment afterwards: a decline is a status. The same card on an authorised payment changes nothing, so that a
// double click is harmless. An error says that the card does not exist or that the payment's status does not allow the step, as with the
// methods below.
func (s *Server) Confirm(id, typed string) (Payment, error) {
	return s.act(id, func(in *intent) error {
		card, err := findCard(typed)
		if c := in.charge(); err == nil && in.status == requiresCapture && c != nil && card.number == c.card.number {
			return nil
		}
		return s.confirm(nil, in, typed, "")
	})
}

// AllowAnyMethod has new payments accept every method, whatever their types: as payments did that
// were made before Frontdesk asked for cards alone.
func (s *Server) AllowAnyMethod() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.anyType = true
}

// Distort replaces a field of a payment in every response, such as the amount by a text, which Stripe's library cannot decode.
func (s *Server) Distort(id, field string, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.store.byID[id].edit()
	next.distorted = maps.Clone(next.distorted)
	if next.distorted == nil {
		next.distorted = object{}
	}
	next.distorted[field] = value
}

// Approve answers the bank's challenge for the buyer, or ends what is processing: a card's confirmation or a capture.
func (s *Server) Approve(id string, approved bool) (Payment, error) {
	return s.act(id, func(in *intent) error { return s.approve(nil, in, approved) })
}

// Expire releases an authorisation, as Stripe does after a week.
func (s *Server) Expire(id string) (Payment, error) {
	return s.act(id, func(in *intent) error {
		if in.status != requiresCapture {
			return unexpectedState(in, "expired")
		}
		s.void(nil, in, "automatic", "charge.expired")
		return nil
	})
}

// act is a step of the buyer, of a bank or of the processor itself.
func (s *Server) act(id string, do func(*intent) error) (payment Payment, err error) {
	world := ""
	s.step(func() {
		in, ok := s.store.byID[id]
		if !ok {
			_, err = s.find(nil, id, "intent")
			return
		}
		world = in.world
		if err = do(in); err == nil {
			payment = in.shown()
		}
	})
	if world != "" {
		s.cfg.Changed(world)
	}
	return payment, err
}

// confirmIntent is POST /v1/payment_intents/{id}/confirm, as a buyer's browser calls it.
// A decline is 402 with the payment in it.
func (s *Server) confirmIntent(rq *request) (any, error) {
	card := cmp.Or(rq.form.Get("payment_method"), rq.form.Get("payment_method_data[card][number]"))
	if card == "" {
		return nil, invalidRequest("parameter_missing", "payment_method", "A payment method is required.")
	}
	if err := checkReturnURL(rq.form.Get("return_url")); err != nil {
		return nil, err
	}
	return rq.attempted(s.confirm(rq, rq.intent, card, rq.form.Get("return_url")))
}

// answerChallenge is POST /v3/challenge/{id} with approve=true or false: the page of
// the buyer's bank.
func (s *Server) answerChallenge(rq *request) (any, error) {
	return rq.attempted(s.approve(rq, rq.intent, rq.form.Get("approve") == "true"))
}

// attempted renders the payment, unless there was no attempt or the bank declined it.
func (rq *request) attempted(err error) (any, error) {
	if err != nil {
		return nil, err
	}
	if rq.intent.lastError == nil {
		return rq.intent.rendered(rq.expansion), nil
	}
	refusal := *rq.intent.lastError
	refusal.PaymentIntent = rq.intent.rendered(rq.expansion)
	return nil, &refusal
}

// confirm makes an attempt with a card.
func (s *Server) confirm(rq *request, in *intent, typed, returnURL string) error {
	if in.status != requiresPaymentMethod && in.status != requiresAction {
		return unexpectedState(in, "confirmed")
	}
	card, err := findCard(typed)
	if err != nil {
		return err
	}
	if !slices.Contains(in.types, card.kind) && len(in.types) > 0 {
		return &apiError{Type: typeInvalid, Code: "payment_intent_incompatible_payment_method", Param: "payment_method",
			Message: "The PaymentMethod's type is not among those of the PaymentIntent."}
	}
	settings := s.store.of(in.world)
	next := in.edit()
	next.method, next.lastError, next.pending = card.method, nil, nil
	if settings.Confirmations == "processing" {
		next.status, next.pending = processing, &pending{card: card}
		s.emit(rq, in, "payment_intent.processing", in.rendered(0))
		return nil
	}
	if !card.challenge {
		s.chargeCard(rq, in, card)
		return nil
	}
	next.status, next.pending = requiresAction, &pending{card: card}
	if settings.Challenges == "" && returnURL != "" {
		next.pending.bankURL, next.pending.returnURL = s.challengeURL(in), returnURL
	}
	s.emit(rq, in, "payment_intent.requires_action", in.rendered(0))
	return nil
}

// approve ends the bank's challenge or a processing. Without the buyer's approval it does not ask
// the bank for money, and makes no charge. A capture that fails leaves nothing authorised, and the buyer may pay again.
func (s *Server) approve(rq *request, in *intent, approved bool) error {
	switch {
	case in.status == processing && in.capturing > 0 && approved:
		s.capture(rq, in, in.capturing)
	case in.status == processing && in.capturing > 0:
		in.editCharge().reversed = true
		in.edit().capturing = 0
		s.decline(rq, in, &apiError{Type: typeCard, Code: "processing_error", Charge: in.charge().id,
			Message: "An error occurred while processing your card."})
	case in.status != requiresAction && in.status != processing:
		return unexpectedState(in, "approved")
	case approved || in.status == processing:
		card := *in.pending.card
		in.edit().pending = nil
		if !approved {
			card.code, card.declineCode = "card_declined", "generic_decline"
		}
		s.chargeCard(rq, in, &card)
	default:
		in.edit().pending = nil
		s.decline(rq, in, &apiError{
			Type: typeInvalid, Code: failedAuthentication, Message: "The provided PaymentMethod has failed authentication.",
		})
	}
	return nil
}

// chargeCard asks the card's bank.
func (s *Server) chargeCard(rq *request, in *intent, card *testCard) {
	now, settings := s.cfg.WorldNow(in.world), s.store.of(in.world)
	made := &charge{id: s.newID("ch"), card: card, metadata: in.metadata, created: now}
	if window, _ := settings.captureWindow(); window != 0 {
		made.captureBefore = now.Add(window)
	}
	next := in.edit()
	next.charges, next.refunds = append(slices.Clip(next.charges), made), nil
	if card.code != "" {
		made.failed = &apiError{
			Type:        typeCard,
			Code:        card.code,
			DeclineCode: card.declineCode,
			Charge:      made.id,
			Message:     "Your card was declined.",
		}
		s.emit(rq, in, "charge.failed", in.renderedCharge(made, 0))
		s.decline(rq, in, made.failed)
		return
	}
	next.status = requiresCapture
	s.emit(rq, in, "charge.succeeded", in.renderedCharge(made, 0))
	if in.manual && !card.single {
		s.emit(rq, in, "payment_intent.amount_capturable_updated", in.rendered(0))
	} else {
		s.capture(rq, in, in.amount)
	}
}

// decline ends an attempt. The buyer may try another card.
func (s *Server) decline(rq *request, in *intent, why *apiError) {
	refusal := *why
	refusal.status, refusal.PaymentMethod = http.StatusPaymentRequired, object{"object": "payment_method", "id": s.newID("pm"), "type": "card"}
	next := in.edit()
	next.status, next.lastError, next.method = requiresPaymentMethod, &refusal, ""
	next.declines++
	s.emit(rq, in, "payment_intent.payment_failed", in.rendered(0))
}
