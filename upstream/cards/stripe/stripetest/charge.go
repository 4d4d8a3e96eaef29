package stripetest

import (
	"maps"
	"math"
	"time"
)

// charge is one attempt that reached the bank.
type charge struct {
	id       string
	reversed bool      // the authorisation was released
	failed   *apiError // why the bank declined
	// metadata is the payment's at the time of the attempt. Later changes of the
	// payment do not reach it.
	metadata map[string]string
	created  time.Time
}

// createRefund is POST /v1/refunds.
func (s *Server) createRefund(rq *request) (object, error) {
	if !rq.Form.Has("payment_intent") {
		return nil, invalidRequest("parameter_missing", "payment_intent", "One of charge or payment_intent is required.")
	}
	amount, err := rq.intParam("amount", math.MaxInt64)
	if err != nil {
		return nil, err
	}
	in, err := s.find(rq.Form.Get("payment_intent"), "payment_intent")
	if err != nil {
		return nil, err
	}
	left := in.Captured - in.Refunded
	switch {
	case in.Status != succeeded:
		return nil, unexpectedState(in, "refunded")
	case left == 0:
		return nil, &apiError{
			Type: typeInvalid, Code: "charge_already_refunded", Charge: in.charge.id,
			Message: "Charge " + in.charge.id + " has already been refunded.",
		}
	case amount > left:
		return nil, &apiError{Type: typeInvalid, Param: "amount", Message: "Refund amount is greater than unrefunded amount on charge."}
	case amount == 0:
		amount = left
	}
	in.Refunded += amount
	in.Refunds++
	refund := object{
		"id": newID("re"), "object": "refund", "amount": amount, "charge": in.charge.id, "currency": in.Currency, "metadata": object{},
		"payment_intent": in.ID, "reason": nil, "status": "succeeded",
	}
	s.emit(rq, "refund.created", refund)
	s.emit(rq, "charge.refunded", in.chargeObject())
	return refund, nil
}

// chargeObject renders the latest charge as the API does.
func (in *intent) chargeObject() object {
	c := in.charge
	o := object{
		"id": c.id, "object": "charge", "amount": in.Amount, "amount_captured": in.Captured, "amount_refunded": in.Refunded,
		"captured": in.Captured > 0, "created": c.created.Unix(), "currency": in.Currency, "disputed": false, "failure_code": nil,
		"failure_message": nil, "livemode": in.live, "metadata": maps.Clone(c.metadata), "paid": c.failed == nil, "payment_intent": in.ID,
		"payment_method": in.method, "payment_method_details": object{"type": "card", "card": object{"brand": "visa"}},
		"refunded": in.Captured > 0 && in.Refunded == in.Captured, "status": "succeeded",
	}
	if c.reversed {
		o["amount_refunded"], o["refunded"] = in.Amount, true
	}
	if c.failed != nil {
		o["status"], o["failure_code"], o["failure_message"] = "failed", c.failed.Code, c.failed.Message
	}
	return o
}
