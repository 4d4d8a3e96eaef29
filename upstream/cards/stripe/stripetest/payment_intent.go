package stripetest

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The statuses of a payment intent that the double knows.
const (
	requiresPaymentMethod = "requires_payment_method"
	requiresAction        = "requires_action"
	requiresCapture       = "requires_capture"
	succeeded             = "succeeded"
	canceled              = "canceled"
)

// The company's bounds of metadata.
const (
	maxMetadataKeys  = 50
	maxMetadataKey   = 40
	maxMetadataValue = 500
)

// maxPage is the largest page of a list, and defaultPage the usual one.
const (
	maxPage     = 100
	defaultPage = 10
)

// intent is a payment intent. All fields are kept under the lock of the Server.
type intent struct {
	id, secret         string
	live               bool
	status             string
	amount, received   int64
	currency           string
	manual             bool // capture_method
	metadata           map[string]string
	created            time.Time
	canceledAt         time.Time
	cancellationReason string
	lastError          *apiError
	method             string   // the payment method, pm_…
	challenge          testCard // the card whose bank asks the buyer, while it does
	charge             *charge  // the latest
	charges            int
	refunds            []refund
}

// createIntent is POST /v1/payment_intents.
func (s *Server) createIntent(rq request) (object, *apiError) {
	if e := rejectUnknown(rq.form, "amount", "currency", "capture_method", "automatic_payment_methods", "metadata"); e != nil {
		return nil, e
	}
	amount, e := parseAmount(rq.form, "amount", true)
	if e != nil {
		return nil, e
	}
	currency := rq.form.Get("currency")
	if len(currency) != 3 || currency != strings.ToLower(currency) {
		return nil, invalidRequest("parameter_invalid_string_empty", "currency", "Invalid currency: it has three lower-case letters.")
	}
	metadata, e := mergeMetadata(nil, rq.form)
	if e != nil {
		return nil, e
	}
	id := newID("pi")
	in := &intent{
		id: id, secret: id + "_" + newID("secret"), live: s.live(), status: requiresPaymentMethod, amount: amount, currency: currency,
		manual: rq.form.Get("capture_method") == "manual", metadata: metadata, created: s.cfg.Now(),
	}
	s.intents = append(s.intents, in)
	s.byID[in.id] = in
	s.emit(rq, "payment_intent.created", in.object(false))
	return in.object(expands(rq.form, "latest_charge")), nil
}

// getIntent is GET /v1/payment_intents/{id}.
func (s *Server) getIntent(rq request) (object, *apiError) {
	if e := rejectUnknown(rq.form, "client_secret"); e != nil {
		return nil, e
	}
	in, e := s.find(rq.id, "intent")
	if e != nil {
		return nil, e
	}
	return in.viewFor(rq), nil
}

// updateIntent is POST /v1/payment_intents/{id}. The metadata of a payment can
// be changed in every status.
func (s *Server) updateIntent(rq request) (object, *apiError) {
	if e := rejectUnknown(rq.form, "metadata"); e != nil {
		return nil, e
	}
	in, e := s.find(rq.id, "intent")
	if e != nil {
		return nil, e
	}
	metadata, e := mergeMetadata(in.metadata, rq.form)
	if e != nil {
		return nil, e
	}
	in.metadata = metadata
	return in.viewFor(rq), nil
}

// captureIntent is POST /v1/payment_intents/{id}/capture. What is not captured
// of the authorisation is let go.
func (s *Server) captureIntent(rq request) (object, *apiError) {
	if e := rejectUnknown(rq.form, "amount_to_capture"); e != nil {
		return nil, e
	}
	amount, e := parseAmount(rq.form, "amount_to_capture", false)
	if e != nil {
		return nil, e
	}
	in, e := s.find(rq.id, "intent")
	switch {
	case e != nil:
		return nil, e
	case in.status != requiresCapture:
		return nil, unexpectedState(in, "captured")
	case amount > in.amount:
		e := invalidRequest("amount_too_large", "amount_to_capture", "The amount is above what can be captured.")
		e.notStored = false
		return nil, e
	}
	s.capture(rq, in, amount)
	return in.viewFor(rq), nil
}

// capture moves the authorised money; zero is all of it.
func (s *Server) capture(rq request, in *intent, amount int64) {
	if amount == 0 {
		amount = in.amount
	}
	in.status, in.received = succeeded, amount
	in.charge.captured = amount
	s.emit(rq, "charge.captured", in.charge.object(in))
	s.emit(rq, "payment_intent.succeeded", in.object(false))
}

// cancelIntent is POST /v1/payment_intents/{id}/cancel.
func (s *Server) cancelIntent(rq request) (object, *apiError) {
	if e := rejectUnknown(rq.form, "cancellation_reason"); e != nil {
		return nil, e
	}
	reason := rq.form.Get("cancellation_reason")
	switch reason {
	case "", "duplicate", "fraudulent", "requested_by_customer", "abandoned":
	default:
		return nil, invalidRequest("", "cancellation_reason", "Invalid cancellation_reason.")
	}
	in, e := s.find(rq.id, "intent")
	switch {
	case e != nil:
		return nil, e
	case in.status == succeeded || in.status == canceled:
		return nil, unexpectedState(in, "canceled")
	}
	s.void(rq, in, reason, "charge.refunded")
	return in.viewFor(rq), nil
}

// void ends a payment of which nothing was captured. The charge of a reserved
// amount is reversed, and the company then shows it as refunded in full.
func (s *Server) void(rq request, in *intent, reason, reversal string) {
	if in.status == requiresCapture {
		in.charge.reversed = true
		s.emit(rq, reversal, in.charge.object(in))
	}
	in.status, in.canceledAt, in.cancellationReason = canceled, s.cfg.Now(), reason
	s.emit(rq, "payment_intent.canceled", in.object(false))
}

// listIntents is GET /v1/payment_intents, newest first.
func (s *Server) listIntents(rq request) (object, *apiError) {
	if e := rejectUnknown(rq.form, "created", "limit", "starting_after"); e != nil {
		return nil, e
	}
	limit, since := defaultPage, int64(0)
	for name, into := range map[string]func(int64){
		"limit": func(n int64) { limit = int(n) }, "created[gte]": func(n int64) { since = n },
	} {
		if !rq.form.Has(name) {
			continue
		}
		n, err := strconv.ParseInt(rq.form.Get(name), 10, 64)
		if err != nil || n < 1 || name == "limit" && n > maxPage {
			return nil, invalidRequest("parameter_invalid_integer", name, "This value is not an integer in the bounds.")
		}
		into(n)
	}
	older := s.intents
	if after := rq.form.Get("starting_after"); after != "" {
		in, e := s.find(after, "starting_after")
		if e != nil {
			return nil, e
		}
		older = s.intents[:slices.Index(s.intents, in)]
	}
	data, more := []object{}, false
	for _, in := range slices.Backward(older) {
		if in.created.Unix() < since {
			continue
		}
		if more = len(data) == limit; more {
			break
		}
		data = append(data, in.object(expands(rq.form, "data.latest_charge")))
	}
	return object{"object": "list", "url": "/v1/payment_intents", "has_more": more, "data": data}, nil
}

func (s *Server) find(id, param string) (*intent, *apiError) {
	in, ok := s.byID[id]
	if !ok {
		return nil, notFound(param, id)
	}
	return in, nil
}

// mergeMetadata puts the metadata of a call over what is there. An empty value
// removes its key; metadata that is itself empty removes all.
func mergeMetadata(held map[string]string, form url.Values) (map[string]string, *apiError) {
	merged := make(map[string]string)
	if !form.Has("metadata") {
		maps.Copy(merged, held)
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

// viewFor is the object in the answer to a call: a buyer's browser sees no
// metadata.
func (in *intent) viewFor(rq request) object {
	o := in.object(expands(rq.form, "latest_charge") && !rq.publishable)
	if rq.publishable {
		delete(o, "metadata")
	}
	return o
}

// object is the payment intent as the API renders it.
func (in *intent) object(withCharge bool) object {
	o := object{
		"id": in.id, "object": "payment_intent", "amount": in.amount, "amount_capturable": int64(0), "amount_details": object{"tip": object{}},
		"amount_received": in.received, "application": nil, "application_fee_amount": nil,
		"automatic_payment_methods": object{"allow_redirects": "always", "enabled": true},
		"canceled_at":               nil, "cancellation_reason": nil, "capture_method": "automatic_async", "client_secret": in.secret,
		"confirmation_method": "automatic", "created": in.created.Unix(), "currency": in.currency, "customer": nil, "description": nil,
		"last_payment_error": nil, "latest_charge": nil, "livemode": in.live, "metadata": maps.Clone(in.metadata), "next_action": nil,
		"payment_method": nil, "payment_method_types": []string{"card"}, "processing": nil, "status": in.status,
	}
	if in.manual {
		o["capture_method"] = "manual"
	}
	if in.status == requiresCapture {
		o["amount_capturable"] = in.amount
	}
	if in.status == requiresAction {
		o["next_action"] = object{"type": "use_stripe_sdk", "use_stripe_sdk": object{"type": "stripe_3ds2_fingerprint"}}
	}
	if in.method != "" {
		o["payment_method"] = in.method
	}
	if in.lastError != nil {
		o["last_payment_error"] = in.lastError.object()
	}
	if in.status == canceled {
		o["canceled_at"] = in.canceledAt.Unix()
		if in.cancellationReason != "" {
			o["cancellation_reason"] = in.cancellationReason
		}
	}
	switch {
	case in.charge != nil && withCharge:
		o["latest_charge"] = in.charge.object(in)
	case in.charge != nil:
		o["latest_charge"] = in.charge.id
	}
	return o
}
