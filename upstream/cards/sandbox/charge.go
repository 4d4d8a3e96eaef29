package sandbox

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// charge is one attempt that reached the bank.
type charge struct {
	id       string
	reversed bool      // the authorisation was released
	disputed bool      // the buyer demanded the money back from their bank
	failed   *apiError // why the bank declined
	// metadata is the payment's at the time of the attempt. Later changes of the
	// payment do not reach it.
	metadata map[string]string
	created  time.Time
}

// refund is a refund of the latest charge.
type refund struct {
	id     string
	amount int64
	status string // pending, succeeded, failed
}

// SetRefundStatus is the status of new refunds from now on: pending or succeeded, the default.
func (s *Server) SetRefundStatus(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refundStatus = status
}

// SettleRefund ends the latest refund of a payment. One that succeeded can fail as well: the
// buyer's bank returned the money.
func (s *Server) SettleRefund(id, status string) (Payment, error) {
	return s.buyerAction(id, func(in *intent) error {
		if len(in.refunds) == 0 || in.refunds[len(in.refunds)-1].status == "failed" {
			return unexpectedState(in, "settled")
		}
		last := in.refunds[len(in.refunds)-1]
		event := "refund.updated"
		if last.status = status; status == "failed" {
			in.Refunded -= last.amount
			event = "refund.failed"
		}
		s.emit(nil, event, in.refundObject(last))
		return nil
	})
}

// Dispute has the buyer of a captured payment demand the money back from their bank.
func (s *Server) Dispute(id string) (Payment, error) {
	return s.buyerAction(id, func(in *intent) error {
		if in.Captured == 0 || in.charge.disputed {
			return unexpectedState(in, "disputed")
		}
		in.charge.disputed = true
		s.emit(nil, "charge.dispute.created", object{
			"id": newID("du"), "object": "dispute", "amount": in.Captured, "charge": in.charge.id, "currency": in.Currency, "metadata": object{},
			"payment_intent": in.ID, "reason": "fraudulent", "status": "needs_response",
		})
		return nil
	})
}

// listCharges is GET /v1/charges, newest first.
func (s *Server) listCharges(rq *request) (object, error) {
	limit, limitErr := rq.pageSize()
	of := s.intents
	if rq.Form.Has("payment_intent") {
		in, err := s.find(rq.Form.Get("payment_intent"), "payment_intent")
		if err != nil {
			return nil, err
		}
		of = []*intent{in}
	}
	if limitErr != nil {
		return nil, limitErr
	}
	var all []object
	for _, in := range slices.Backward(of) {
		for _, c := range slices.Backward(in.charges) {
			all = append(all, in.render(c))
		}
	}
	page := all[:min(len(all), limit)]
	return list("/v1/charges", page, len(page) < len(all)), nil
}

// createRefund is POST /v1/refunds.
func (s *Server) createRefund(rq *request) (object, error) {
	if !rq.Form.Has("payment_intent") {
		return nil, invalidRequest("parameter_missing", "payment_intent", "One of charge or payment_intent is required.")
	}
	amount, amountErr := rq.intParam("amount", math.MaxInt64)
	in, findErr := s.find(rq.Form.Get("payment_intent"), "payment_intent")
	if err := cmp.Or(amountErr, findErr); err != nil {
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
	made := &refund{id: newID("re"), amount: amount, status: cmp.Or(s.refundStatus, "succeeded")}
	in.refunds = append(in.refunds, made)
	s.emit(rq, "refund.created", in.refundObject(made))
	s.emit(rq, "charge.refunded", in.chargeObject())
	return in.refundObject(made), nil
}

func (in *intent) refundObject(r *refund) object {
	return object{
		"id": r.id, "object": "refund", "amount": r.amount, "charge": in.charge.id, "currency": in.Currency, "metadata": object{},
		"payment_intent": in.ID, "reason": nil, "status": r.status,
	}
}

// withRefunds renders the latest charge with its refunds, newest first.
func (in *intent) withRefunds() object {
	o, all := in.chargeObject(), []object{}
	for _, r := range slices.Backward(in.refunds) {
		all = append(all, in.refundObject(r))
	}
	o["refunds"] = list("/v1/charges/"+in.charge.id+"/refunds", all, false)
	return o
}

// chargeObject renders the latest charge.
func (in *intent) chargeObject() object { return in.render(in.charge) }

// render renders a charge as the API does.
func (in *intent) render(c *charge) object {
	o := object{
		"id": c.id, "object": "charge", "amount": in.Amount, "amount_captured": in.Captured, "amount_refunded": in.Refunded,
		"captured": in.Captured > 0, "created": c.created.Unix(), "currency": in.Currency, "disputed": c.disputed, "failure_code": nil,
		"failure_message": nil, "livemode": in.live, "metadata": maps.Clone(c.metadata), "paid": c.failed == nil, "payment_intent": in.ID,
		"payment_method": in.method, "payment_method_details": object{"type": in.kind, in.kind: object{}},
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
