package protocol

import (
	"strconv"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// Prove returns the record that the processor's payment proves, for a rebuild; nil for a payment that is not ours to restore: its
// terms are incomplete, it belongs to another installation, no configured key signed it, or an operator ended it. Next does not call
// it, because the record knows more: a payment in doubt or blocked stays so, although the processor's payment alone may prove less.
func Prove(remote *Remote, now time.Time) *flows.Payment {
	t := remote.Terms
	generation, _ := strconv.Atoi(t.Generation)
	amount, err := strconv.ParseInt(t.Amount, 10, 64)
	if t.Version != Version || err != nil || generation < 1 || !remote.Ours || !remote.Signed || remote.Ended {
		return nil
	}
	sale := club.IRI(t.Sale)
	payment := &flows.Payment{
		ID:           flows.NewPaymentID(t.Registration, generation),
		Schema:       flows.PaymentSchema,
		Method:       flows.ByCard,
		Rebuilt:      true,
		Registration: t.Registration,
		Generation:   generation,
		ClientToken:  sale.ClientToken(),
		Sale:         sale,
		SaleState:    t.SaleState,
		Club:         club.IRI(t.Club),
		Node:         club.IRI(t.Node),
		CartDigest:   t.Cart,
		Amount:       amount,
		Currency:     t.Currency,
		Signature:    remote.Metadata["fd_mac"],
		ProcessorID:  remote.ID,
		ClientSecret: remote.ClientSecret,
		DeclineCode:  remote.DeclineCode,
		Processing:   remote.State == cards.Processing,
		CreatedAt:    remote.CreatedAt,
		EndsAt:       remote.CreatedAt.Add(flows.PayableFor),
		UpdatedAt:    now.Round(0),
	}
	payment.State, payment.Reason = proven(payment, remote, now)
	if remote.taken() && payment.State != flows.Blocked {
		payment.Claim, payment.AttemptID = remote.Journal.Last()
	}
	return payment
}

// proven returns the state that the processor's payment proves, and its reason.
func proven(payment *flows.Payment, remote *Remote, now time.Time) (flows.PaymentState, string) {
	n, attempt := remote.Journal.Last()
	switch {
	case remote.State == cards.Cancelled:
		return flows.Cancelled, "rebuilt: nothing was captured"
	case !remote.taken() && remote.State != cards.Processing && now.Sub(remote.CreatedAt) > MaxBuyerWait:
		return flows.Cancelling, "rebuilt: the buyer has left"
	case !remote.taken(): // what is processed cannot be cancelled, and may be a capture of ours
		return flows.Intent, "rebuilt: nothing captured yet"
	case Differs(payment, remote) != "":
		return flows.Blocked, "rebuilt: " + Differs(payment, remote)
	case remote.Journal.Accepted:
		return flows.Recorded, "rebuilt: the journal holds the club system's acceptance"
	case remote.State == cards.Refunded && remote.Journal.maybeSent():
		return flows.InDoubt, "rebuilt: it was refunded while it was being recorded"
	case remote.State == cards.Refunded:
		return flows.Refunded, "rebuilt: refunded"
	case IsRefund(attempt):
		return flows.Refunding, "rebuilt: a refund holds the last claim"
	case remote.Journal.maybeSent():
		return flows.InDoubt, "rebuilt: a gateway was recording it"
	case n >= MaxClaims:
		return flows.RefundDue, "rebuilt: every claim was released"
	}
	return flows.Captured, "rebuilt: captured by the processor"
}

// taken reports whether the money was captured, even if it went back since.
func (r *Remote) taken() bool { return r.State == cards.Captured || r.State == cards.Refunded }

// Unverifiable reports whether the processor's payment is ours, and can be neither proven nor left alone: no configured key signed
// it, or its record cannot be read; and money is held or taken, and the journal shows no end.
func Unverifiable(r *Remote) bool {
	switch {
	case r.Terms.Registration == "", r.Ended, !r.Ours, r.Unreadable == nil && r.Signed, r.State == cards.Cancelled, r.Journal.Accepted:
		return false
	}
	return r.State != cards.Refunded || r.Journal.maybeSent()
}

// Rank is the weight of a proven payment among those of its registration. The higher one counts.
type Rank int

// The ranks.
const (
	rankEnded      Rank = iota
	rankWaiting         // for its buyer
	rankAuthorised      // or the bank is deciding
	rankTaken           // the money is taken
	rankRecorded        // certainly or perhaps
)

// RankOf returns the rank of a proven payment, by its state at the processor.
func RankOf(p *flows.Payment, there cards.State) Rank {
	switch p.State {
	case flows.Recorded, flows.InDoubt, flows.Blocked:
		return rankRecorded
	case flows.Captured, flows.RefundDue, flows.Refunding:
		return rankTaken
	case flows.Intent, flows.Cancelling:
		if there == cards.Authorised || there == cards.Processing {
			return rankAuthorised
		}
		return rankWaiting
	}
	return rankEnded
}

// Taken reports whether a payment of this rank holds or held the money. Then the others of its sale, if they come after it, end.
func (r Rank) Taken() bool { return r >= rankTaken }

// Outranks reports whether a payment of this rank counts instead of another one of its sale.
func (r Rank) Outranks(other Rank) bool { return r.Taken() && r > other }

// undo returns the state that ends a payment that does not count; empty if it may have been recorded, or is ending.
func undo(state flows.PaymentState) flows.PaymentState {
	switch state {
	case flows.Intent, flows.Authorised:
		return flows.Cancelling
	case flows.Captured:
		return flows.RefundDue
	}
	return ""
}

// outranked says why a payment ends for which another one counts, by that one's id at the processor.
func outranked(by string) string { return "another payment of the sale takes precedence: " + by }

// yield ends a payment that does not count, because another one of the sale does. It changes nothing once it may have been recorded.
func (d turn) yield() (Action, *Change) {
	if to := undo(d.p.State); to != "" {
		return d.to(to, outranked(d.f.Outranked))
	}
	return wait(0)
}

// Duplicate returns a proven record as it is stored if it does not count for its registration; it never leads to another recording.
// by is the processor's id of the payment that counts for its sale; empty: none is known. holder is the record that has its number;
// nil: none. If that one settles the sale too, only an operator can tell what to undo.
func Duplicate(proven *flows.Payment, by string, holder *flows.Payment) *flows.Payment {
	payment := *proven
	to := undo(payment.State)
	switch {
	case to != "" && by != "":
		payment.State, payment.Reason = to, outranked(by)
	case payment.State == flows.Recorded && holder.Live() && !holder.HasProcessor():
		payment.State = flows.Blocked
		payment.Reason = "rebuilt: recorded, and the sale may be settled by another payment too: " + string(holder.Method)
	case to != "":
		payment.State, payment.Reason = to, "rebuilt: the registration has a later payment"
	}
	return &payment
}
