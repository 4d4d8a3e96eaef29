package sandbox

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// charge is one attempt that reached the bank. It is replaced, never changed.
type charge struct {
	id       string
	card     *testCard
	reversed bool      // the authorisation was released
	disputed bool      // the buyer demanded the money back from their bank, whatever comes of it
	failed   *apiError // why the bank declined
	// metadata is the payment's at the time of the attempt. Later changes of the
	// payment do not reach it.
	metadata      metadata
	created       time.Time
	captureBefore time.Time // zero: the field is missing
}

// refund is a refund of the latest charge. It is replaced, never changed.
type refund struct {
	id      string
	amount  int64
	status  string // pending, succeeded, failed
	reason  string
	created time.Time
}

// editCharge begins a change of the latest charge: it replaces it by a copy.
func (in *intent) editCharge() *charge {
	next := in.edit()
	next.charges = slices.Clone(next.charges)
	last := *in.charge()
	next.charges[len(next.charges)-1] = &last
	return &last
}

// SettleRefund ends the latest refund of a payment with a status. One that succeeded can fail as well: the
// buyer's bank returned the money.
func (s *Server) SettleRefund(id, status string) (Payment, error) {
	return s.act(id, func(in *intent) error {
		last := len(in.refunds) - 1
		if last < 0 || in.refunds[last].status == "failed" || in.refunds[last].status == status {
			return unexpectedState(in, "settled")
		}
		next, ended := in.edit(), *in.refunds[last]
		ended.status = status
		next.refunds = slices.Clone(next.refunds)
		next.refunds[last] = &ended
		kind := "refund.updated"
		if status == "failed" {
			kind = "refund.failed"
		}
		s.emit(nil, in, kind, in.renderedRefund(&ended))
		return nil
	})
}

// Dispute has the buyer of a captured payment demand the money back from their bank.
func (s *Server) Dispute(id string) (Payment, error) {
	return s.act(id, func(in *intent) error {
		if in.captured == 0 || in.charge().disputed {
			return unexpectedState(in, "disputed")
		}
		in.editCharge().disputed = true
		s.emit(nil, in, "charge.dispute.created", in.renderedDispute(s.newID("du")))
		return nil
	})
}

// listCharges is GET /v1/charges, newest first. It has no further pages, of which Frontdesk reads none.
func (s *Server) listCharges(rq *request) (any, error) {
	limit, err := rq.pageSize()
	of := s.store.all
	if err == nil && rq.form.Has("payment_intent") {
		var in *intent
		in, err = s.find(rq.account, rq.form.Get("payment_intent"), "payment_intent")
		of = []*intent{in}
	}
	if err != nil {
		return nil, err
	}
	var page []rendering
	more := false
	for _, in := range slices.Backward(of) {
		for _, c := range slices.Backward(in.charges) {
			if in.account != rq.account || more {
				break
			}
			if more = len(page) == limit; !more {
				page = append(page, in.renderedCharge(c, rq.expansion))
			}
		}
	}
	return listOf("/v1/charges", page, more), nil
}

// createRefund is POST /v1/refunds (https://docs.stripe.com/api/refunds/create).
func (s *Server) createRefund(rq *request) (any, error) {
	if !rq.form.Has("payment_intent") {
		return nil, invalidRequest("parameter_missing", "payment_intent", "One of charge or payment_intent is required.")
	}
	amount, amountErr := rq.intParam("amount", math.MaxInt64)
	in, findErr := s.find(rq.account, rq.form.Get("payment_intent"), "payment_intent")
	if err := cmp.Or(amountErr, findErr); err != nil {
		return nil, err
	}
	back, _ := in.refundsIn(succeeded)
	pending, _ := in.refundsIn("pending")
	left, mode := in.captured-back-pending, s.store.of(in.world).Refunds
	switch {
	case in.status != succeeded:
		return nil, unexpectedState(in, "refunded")
	case in.charge().disputed:
		return nil, &apiError{Type: typeInvalid, Code: "charge_disputed", Charge: in.charge().id,
			Message: "Charge " + in.charge().id + " has been charged back; cannot issue a refund."}
	case left == 0:
		return nil, &apiError{Type: typeInvalid, Code: "charge_already_refunded", Charge: in.charge().id,
			Message: "Charge " + in.charge().id + " has already been refunded."}
	case amount > left:
		return nil, &apiError{Type: typeInvalid, Param: "amount", Message: "Refund amount is greater than unrefunded amount on charge."}
	case mode == "refused":
		return nil, &apiError{Type: typeInvalid, Code: "balance_insufficient",
			Message: "Insufficient funds in your Stripe balance to refund this amount."}
	}
	refunded := &refund{
		id:      s.newID("re"),
		amount:  cmp.Or(amount, left),
		status:  succeeded,
		reason:  intern(rq.form.Get("reason")),
		created: s.cfg.WorldNow(in.world),
	}
	if mode == "pending" {
		refunded.status = "pending"
	}
	next := in.edit()
	next.refunds = append(slices.Clip(next.refunds), refunded)
	s.emit(rq, in, "refund.created", in.renderedRefund(refunded))
	s.emit(rq, in, "charge.refunded", in.renderedCharge(in.charge(), 0))
	return in.renderedRefund(refunded), nil
}
