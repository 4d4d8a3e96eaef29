package sandbox

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxAmount is Stripe's, of eight digits (https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts).
	maxAmount = 99_999_999
	// maxDescription is that of Stripe's description of the API, in characters.
	maxDescription = 1000

	// webhookURLHeader names the address of a caller's webhooks. The real processor has them in the account; here callers that do not
	// know each other share one.
	webhookURLHeader = "X-Frontdesk-Webhook-Url"
)

// minAmount is Stripe's minimum, in minor units (the same page).
func minAmount(currency string) int64 {
	minimum, ok := map[string]int64{
		"aed": 200, "bgn": 100, "czk": 1500, "dkk": 250, "gbp": 30, "hkd": 400, "huf": 17500, "mxn": 1000, "myr": 200, "nok": 300, "pln": 200,
		"ron": 200, "sek": 300, "thb": 1000,
	}[currency]
	if !ok {
		return 50
	}
	return minimum
}

// createIntent is POST /v1/payment_intents.
func (s *Server) createIntent(rq *request) (any, error) {
	amount, err := rq.intParam("amount", math.MaxInt64)
	currency := rq.form.Get("currency")
	if err == nil {
		err = checkAmount(amount, currency)
	}
	var of metadata
	if err == nil {
		of, err = of.merge(rq.form)
	}
	if err != nil {
		return nil, err
	}
	description, capture := rq.form.Get("description"), rq.form.Get("capture_method")
	types := rq.list("payment_method_types")
	switch {
	case utf8.RuneCountInString(description) > maxDescription:
		return nil, invalidRequest("", "description", "A description can have up to 1000 characters.")
	case !slices.Contains([]string{"", "manual", "automatic", "automatic_async"}, capture):
		return nil, invalidRequest("", "capture_method", "Invalid capture_method: must be one of automatic, automatic_async, or manual.")
	case rq.form.Get("automatic_payment_methods[enabled]") == "true" && len(types) > 0:
		return nil, invalidRequest("", "payment_method_types", "You may only specify one of automatic_payment_methods and payment_method_types.")
	case s.anyType:
		types = nil
	}
	id, world := s.newPaymentID(), rq.world()
	in := &intent{view: view{&made{
		id:          id,
		secret:      s.newID("secret")[len("secret_"):],
		account:     rq.account,
		world:       intern(world),
		amount:      amount,
		currency:    intern(currency),
		manual:      capture == "manual",
		types:       types,
		description: intern(description),
		created:     s.cfg.WorldNow(world),
		webhookURL:  intern(rq.header.Get(webhookURLHeader)),
	}, &state{status: requiresPaymentMethod, metadata: of}}}
	if err := s.store.add(in); err != nil {
		return nil, err
	}
	rq.intent = in
	s.emit(rq, in, "payment_intent.created", in.rendered(0))
	return in.rendered(rq.expansion), nil
}

// newPaymentID returns an id that no payment has: one may have been restored that an earlier run made from the same seed.
func (s *Server) newPaymentID() string {
	for {
		if id := s.newID("pi"); s.store.byID[id] == nil {
			return id
		}
	}
}

func checkAmount(amount int64, currency string) error {
	least := minAmount(currency)
	switch {
	case amount == 0:
		return invalidRequest("parameter_missing", "amount", "Missing required param: amount.")
	case len(currency) != 3 || strings.Trim(currency, "abcdefghijklmnopqrstuvwxyz") != "":
		return invalidRequest("parameter_invalid_string_empty", "currency", "Invalid currency: it must be three lower-case letters.")
	case amount < least:
		return invalidRequest("amount_too_small", "amount", "The amount is below the minimum.")
	case amount > maxAmount:
		return invalidRequest("amount_too_large", "amount", "Amount must be no more than 99999999.")
	case slices.Contains([]string{"bhd", "jod", "kwd", "omr", "tnd"}, currency) && amount%10 != 0,
		(currency == "isk" || currency == "ugx") && amount%100 != 0:
		return invalidRequest("", "amount", "Invalid amount: the last digits of an amount in this currency must be 0.")
	}
	return nil
}

// getIntent is GET /v1/payment_intents/{id}.
func (s *Server) getIntent(rq *request) (any, error) {
	return rq.intent.rendered(rq.expansion), nil
}

// updateIntent is POST /v1/payment_intents/{id}. Metadata can change in every status.
func (s *Server) updateIntent(rq *request) (any, error) {
	merged, err := rq.intent.metadata.merge(rq.form)
	if err == nil {
		err = s.store.write(rq.intent, merged)
	}
	if err != nil {
		return nil, err
	}
	next := rq.intent.edit()
	next.metadata, next.all = merged, nil
	return rq.intent.rendered(rq.expansion), nil
}

// captureIntent is POST /v1/payment_intents/{id}/capture. The rest of the authorisation
// is released.
func (s *Server) captureIntent(rq *request) (any, error) {
	amount, err := rq.intParam("amount_to_capture", math.MaxInt64)
	in := rq.intent
	switch {
	case err != nil:
		return nil, err
	case in.status != requiresCapture:
		return nil, unexpectedState(in, "captured")
	case amount > in.amount:
		return nil, &apiError{Type: typeInvalid, Code: "amount_too_large", Param: "amount_to_capture",
			Message: "The amount is above what can be captured."}
	}
	amount = cmp.Or(amount, in.amount)
	if s.store.of(in.world).Captures == "processing" {
		next := in.edit()
		next.status, next.capturing = processing, amount
		s.emit(rq, in, "payment_intent.processing", in.rendered(0))
	} else {
		s.capture(rq, in, amount)
	}
	return in.rendered(rq.expansion), nil
}

// capture takes the authorised money.
func (s *Server) capture(rq *request, in *intent, amount int64) {
	next := in.edit()
	next.status, next.captured, next.capturing = succeeded, amount, 0
	s.emit(rq, in, "charge.captured", in.renderedCharge(in.charge(), 0))
	s.emit(rq, in, "payment_intent.succeeded", in.rendered(0))
}

// cancelIntent is POST /v1/payment_intents/{id}/cancel. Stripe documents that a payment that is processing can be
// cancelled in rare cases. Here it never can.
func (s *Server) cancelIntent(rq *request) (any, error) {
	reason, in := rq.form.Get("cancellation_reason"), rq.intent
	if !slices.Contains([]string{"", "duplicate", "fraudulent", "requested_by_customer", "abandoned"}, reason) {
		return nil, invalidRequest("", "cancellation_reason", "Invalid cancellation_reason.")
	}
	if in.status == succeeded || in.status == canceled || in.status == processing {
		return nil, unexpectedState(in, "canceled")
	}
	s.void(rq, in, reason, "charge.refunded")
	return in.rendered(rq.expansion), nil
}

// void ends a payment of which nothing was captured. The charge of an authorised amount
// is reversed, and Stripe then shows it as refunded in full.
func (s *Server) void(rq *request, in *intent, reason, reversal string) {
	if in.status == requiresCapture {
		in.editCharge().reversed = true
		s.emit(rq, in, reversal, in.renderedCharge(in.charge(), 0))
	}
	next := in.edit()
	next.status, next.canceledAt, next.cancellationReason, next.pending = canceled, s.cfg.WorldNow(in.world).Unix(), intern(reason), nil
	s.emit(rq, in, "payment_intent.canceled", in.rendered(0))
}

// listIntents is GET /v1/payment_intents, newest first: those of the demo world that the header names, if it names one.
func (s *Server) listIntents(rq *request) (any, error) {
	limit, limitErr := rq.pageSize()
	since, sinceErr := rq.intParam("created[gte]", math.MaxInt64)
	if err := cmp.Or(limitErr, sinceErr); err != nil {
		return nil, err
	}
	older, of := s.store.all, rq.header.Get(worldHeader)
	if after := rq.form.Get("starting_after"); after != "" {
		in, err := s.find(rq.account, after, "starting_after")
		if err != nil {
			return nil, err
		}
		older = s.store.before(in)
	}
	var page []rendering
	more := false
	for _, in := range slices.Backward(older) {
		if in.account != rq.account || of != "" && in.world != of {
			continue
		}
		if in.created.Unix() < since {
			break // creation times never run backwards
		}
		if more = len(page) == limit; more {
			break
		}
		page = append(page, in.rendered(rq.expansion))
	}
	return listOf("/v1/payment_intents", page, more), nil
}

// find returns a payment of an account.
func (s *Server) find(of *account, id, param string) (*intent, error) {
	in, ok := s.store.byID[id]
	if !ok || in.account != of {
		// It is found while the call is carried out, so it is stored.
		return nil, &apiError{
			Type:    typeInvalid,
			Code:    "resource_missing",
			Param:   param,
			Message: "No such payment_intent: '" + id + "'",
			status:  http.StatusNotFound,
		}
	}
	return in, nil
}
