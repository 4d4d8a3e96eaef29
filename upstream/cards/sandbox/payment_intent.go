package sandbox

import (
	"cmp"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The statuses of a payment intent that the double knows.
const (
	requiresPaymentMethod = "requires_payment_method"
	requiresAction        = "requires_action"
	requiresCapture       = "requires_capture"
	processing            = "processing"
	succeeded             = "succeeded"
	canceled              = "canceled"
)

// minAmount is Stripe's minimum in euros and many other currencies, in minor units.
const minAmount = 50

// Stripe's bounds of metadata.
const (
	maxMetadataKeys  = 50
	maxMetadataKey   = 40
	maxMetadataValue = 500
)

// intent is a payment intent. The lock of the Server guards all fields.
type intent struct {
	Payment
	live               bool
	manual             bool // capture_method
	canceledAt         time.Time
	cancellationReason string
	lastError          *apiError
	description        string
	types              []string  // the payment method types that it accepts; empty: those of the dashboard
	kind               string    // the type of the payment method
	method             string    // the payment method, pm_…
	challenge          *testCard // the card whose bank asks the buyer, while it does
	charge             *charge   // the latest
	charges            []*charge // all of them, oldest first
	refunds            []*refund // of that charge, oldest first
	distorted          object    // see Distort
}

// createIntent is POST /v1/payment_intents.
func (s *Server) createIntent(rq *request) (object, error) {
	amount, err := rq.intParam("amount", math.MaxInt64)
	if err != nil {
		return nil, err
	}
	currency := rq.Form.Get("currency")
	switch {
	case amount == 0:
		return nil, invalidRequest("parameter_missing", "amount", "Missing required param: amount.")
	case amount < minAmount:
		return nil, invalidRequest("amount_too_small", "amount", "The amount is below the minimum.")
	case len(currency) != 3 || currency != strings.ToLower(currency):
		return nil, invalidRequest("parameter_invalid_string_empty", "currency", "Invalid currency: it must be three lower-case letters.")
	}
	metadata, err := mergeMetadata(nil, rq.Form)
	if err != nil {
		return nil, err
	}
	id := newID("pi")
	in := &intent{Payment: Payment{
		ID: id, ClientSecret: id + "_" + newID("secret"), Status: requiresPaymentMethod, Amount: amount, Currency: currency,
		Metadata: metadata, CreatedAt: s.cfg.Now(),
	}, live: s.live(), manual: rq.Form.Get("capture_method") == "manual", types: rq.Form["payment_method_types[0]"], description: rq.Form.Get("description")}
	switch automatic := rq.Form.Get("automatic_payment_methods[enabled]") == "true"; {
	case automatic && len(in.types) > 0:
		return nil, invalidRequest("", "payment_method_types", "You may only specify one of automatic_payment_methods and payment_method_types.")
	case s.anyMethod:
		in.types = nil
	}
	s.intents = append(s.intents, in)
	s.byID[id] = in
	s.emit(rq, "payment_intent.created", in.object())
	return in.viewFor(rq), nil
}

// getIntent is GET /v1/payment_intents/{id}.
func (s *Server) getIntent(rq *request) (object, error) { return rq.intent.viewFor(rq), nil }

// updateIntent is POST /v1/payment_intents/{id}. Metadata can change in every status.
func (s *Server) updateIntent(rq *request) (_ object, err error) {
	metadata, err := mergeMetadata(rq.intent.Metadata, rq.Form)
	if err != nil {
		return nil, err
	}
	rq.intent.Metadata = metadata
	return rq.intent.viewFor(rq), nil
}

// captureIntent is POST /v1/payment_intents/{id}/capture. The rest of the authorisation
// is released.
func (s *Server) captureIntent(rq *request) (object, error) {
	amount, err := rq.intParam("amount_to_capture", math.MaxInt64)
	switch in := rq.intent; {
	case err != nil:
		return nil, err
	case in.Status != requiresCapture:
		return nil, unexpectedState(in, "captured")
	case amount > in.Amount:
		return nil, &apiError{Type: typeInvalid, Code: "amount_too_large", Param: "amount_to_capture", Message: "The amount is above what can be captured."}
	}
	s.capture(rq, rq.intent, amount)
	return rq.intent.viewFor(rq), nil
}

// capture takes the authorised money; zero is all of it.
func (s *Server) capture(rq *request, in *intent, amount int64) {
	in.Status, in.Captured = succeeded, cmp.Or(amount, in.Amount)
	s.emit(rq, "charge.captured", in.chargeObject())
	s.emit(rq, "payment_intent.succeeded", in.object())
}

// cancelIntent is POST /v1/payment_intents/{id}/cancel.
func (s *Server) cancelIntent(rq *request) (object, error) {
	reason := rq.Form.Get("cancellation_reason")
	if !slices.Contains([]string{"", "duplicate", "fraudulent", "requested_by_customer", "abandoned"}, reason) {
		return nil, invalidRequest("", "cancellation_reason", "Invalid cancellation_reason.")
	}
	if in := rq.intent; in.Status == succeeded || in.Status == canceled || in.Status == processing {
		return nil, unexpectedState(in, "canceled")
	}
	s.void(rq, rq.intent, reason, "charge.refunded")
	return rq.intent.viewFor(rq), nil
}

// void ends a payment of which nothing was captured. The charge of an authorised amount
// is reversed, and Stripe then shows it as refunded in full.
func (s *Server) void(rq *request, in *intent, reason, reversal string) {
	if in.Status == requiresCapture {
		in.charge.reversed = true
		s.emit(rq, reversal, in.chargeObject())
	}
	in.Status, in.canceledAt, in.cancellationReason = canceled, s.cfg.Now(), reason
	s.emit(rq, "payment_intent.canceled", in.object())
}

// listIntents is GET /v1/payment_intents, newest first.
func (s *Server) listIntents(rq *request) (object, error) {
	limit, limitErr := rq.pageSize()
	since, sinceErr := rq.intParam("created[gte]", math.MaxInt64)
	if err := cmp.Or(limitErr, sinceErr); err != nil {
		return nil, err
	}
	older := s.intents
	if after := rq.Form.Get("starting_after"); after != "" {
		in, err := s.find(after, "starting_after")
		if err != nil {
			return nil, err
		}
		older = older[:slices.Index(older, in)]
	}
	page, more := []object{}, false
	for _, in := range slices.Backward(older) {
		if in.CreatedAt.Unix() < since {
			continue
		}
		if more = len(page) == limit; more {
			break
		}
		page = append(page, rq.expanded(in, "data.latest_charge"))
	}
	return list("/v1/payment_intents", page, more), nil
}

func (s *Server) find(id, param string) (*intent, error) {
	in, ok := s.byID[id]
	if !ok {
		return nil, notFound(param, id)
	}
	return in, nil
}

// mergeMetadata returns the metadata of a payment with that of a call merged into it.
// An empty value removes its key; metadata that is itself empty removes all.
func mergeMetadata(current map[string]string, form url.Values) (map[string]string, error) {
	merged := make(map[string]string)
	if !form.Has("metadata") {
		maps.Copy(merged, current)
	}
	for param, values := range form {
		key, ok := strings.CutPrefix(param, "metadata[")
		if !ok {
			continue
		}
		key, value := strings.TrimSuffix(key, "]"), values[0]
		switch {
		case key == "" || len(key) > maxMetadataKey || strings.ContainsAny(key, "[]"):
			return nil, invalidRequest("", param, "Invalid metadata key.")
		case len(value) > maxMetadataValue:
			return nil, invalidRequest("", param, "Metadata values can have up to 500 characters.")
		case value == "":
			delete(merged, key)
		default:
			merged[key] = value
		}
	}
	if len(merged) > maxMetadataKeys {
		return nil, invalidRequest("", "metadata", "Metadata can have up to 50 keys.")
	}
	return merged, nil
}

// viewFor renders the payment for a caller. A buyer's browser sees no metadata.
func (in *intent) viewFor(rq *request) object {
	if !rq.publishable {
		return rq.expanded(in, "latest_charge")
	}
	o := in.object()
	delete(o, "metadata")
	return o
}

// expanded renders the payment, with its charge as far as the call expands it.
func (rq *request) expanded(in *intent, path string) object {
	o := in.object()
	switch {
	case in.charge == nil:
	case rq.expands(path + ".refunds"):
		o["latest_charge"] = in.withRefunds()
	case rq.expands(path):
		o["latest_charge"] = in.chargeObject()
	}
	return o
}

// object renders the payment intent as the API does, with the id of its charge.
func (in *intent) object() object {
	o := object{
		"id": in.ID, "object": "payment_intent", "amount": in.Amount, "amount_capturable": 0, "amount_received": in.Captured,
		"automatic_payment_methods": nil,
		"canceled_at":               nil, "cancellation_reason": nil, "capture_method": "automatic_async", "client_secret": in.ClientSecret,
		"confirmation_method": "automatic", "created": in.CreatedAt.Unix(), "currency": in.Currency, "customer": nil, "description": orNull(in.description),
		"last_payment_error": in.lastError, "latest_charge": nil, "livemode": in.live, "metadata": maps.Clone(in.Metadata), "next_action": nil,
		"payment_method": orNull(in.method), "payment_method_types": append([]string{}, in.types...), "processing": nil, "status": in.Status,
	}
	if in.manual {
		o["capture_method"] = "manual"
	}
	switch in.Status {
	case requiresCapture:
		o["amount_capturable"] = in.Amount
	case requiresAction:
		o["next_action"] = object{"type": "use_stripe_sdk", "use_stripe_sdk": object{"type": "stripe_3ds2_fingerprint"}}
	case canceled:
		o["canceled_at"], o["cancellation_reason"] = in.canceledAt.Unix(), orNull(in.cancellationReason)
	}
	if in.charge != nil {
		o["latest_charge"] = in.charge.id
	}
	maps.Copy(o, in.distorted)
	return o
}

// orNull renders a string, or null when it is empty.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
