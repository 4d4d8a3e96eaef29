package stripetest

import (
	"maps"
	"net/http"
	"time"
)

// charge is one attempt that reached the bank.
type charge struct {
	id       string
	amount   int64
	captured int64 // minor units taken
	reversed bool  // the authorisation was let go
	failed   *apiError
	// metadata is the payment's at the time of the attempt; later changes of the
	// payment do not reach it.
	metadata map[string]string
	created  time.Time
}

// refund is money that was given back.
type refund struct {
	id     string
	amount int64
}

// createRefund is POST /v1/refunds.
func (s *Server) createRefund(rq request) (object, *apiError) {
	if e := rejectUnknown(rq.form, "payment_intent", "amount", "reason", "metadata"); e != nil {
		return nil, e
	}
	if !rq.form.Has("payment_intent") {
		return nil, invalidRequest("parameter_missing", "payment_intent", "One of charge or payment_intent is required.")
	}
	amount, e := parseAmount(rq.form, "amount", false)
	if e != nil {
		return nil, e
	}
	in, e := s.find(rq.form.Get("payment_intent"), "payment_intent")
	if e != nil {
		return nil, e
	}
	left := in.received - in.refunded()
	switch {
	case in.status != succeeded:
		e := unexpectedState(in, "refunded")
		e.message = "This PaymentIntent does not have a successful charge to refund."
		return nil, e
	case left == 0:
		return nil, &apiError{
			status: http.StatusBadRequest, kind: typeInvalid, code: "charge_already_refunded", charge: in.charge.id,
			message: "Charge " + in.charge.id + " has already been refunded.",
		}
	case amount > left:
		return nil, &apiError{
			status: http.StatusBadRequest, kind: typeInvalid, param: "amount",
			message: "Refund amount is greater than unrefunded amount on charge.",
		}
	case amount == 0:
		amount = left
	}
	made := refund{id: newID("re"), amount: amount}
	in.refunds = append(in.refunds, made)
	s.emit(rq, "refund.created", made.object(in))
	s.emit(rq, "charge.refunded", in.charge.object(in))
	return made.object(in), nil
}

func (in *intent) refunded() (total int64) {
	for _, r := range in.refunds {
		total += r.amount
	}
	return total
}

func (r refund) object(in *intent) object {
	return object{
		"id": r.id, "object": "refund", "amount": r.amount, "charge": in.charge.id, "currency": in.currency, "metadata": object{},
		"payment_intent": in.id, "reason": nil, "status": "succeeded",
	}
}

// object is the charge as the API renders it.
func (c *charge) object(in *intent) object {
	refunded := in.refunded()
	o := object{
		"id": c.id, "object": "charge", "amount": c.amount, "amount_captured": c.captured, "amount_refunded": refunded,
		"captured": c.captured > 0, "created": c.created.Unix(), "currency": in.currency, "disputed": false, "failure_code": nil,
		"failure_message": nil, "livemode": in.live, "metadata": maps.Clone(c.metadata), "paid": c.failed == nil, "payment_intent": in.id,
		"payment_method": in.method, "payment_method_details": object{"type": "card", "card": object{"brand": "visa"}},
		"refunded": c.captured > 0 && refunded == c.captured, "status": "succeeded",
	}
	if c.reversed {
		o["amount_refunded"], o["refunded"] = c.amount, true
	}
	if c.failed != nil {
		o["status"], o["failure_code"], o["failure_message"] = "failed", c.failed.code, c.failed.message
	}
	return o
}
