package protocol

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/cards"
)

// verify compares a recorded payment with what the other systems show, once that is due. After an event about it, only the
// processor's payment is compared. What contradicts it is a finding, for an operator; nothing is ever sent again. A finding and
// its end are transitions. What could not be read stays due.
func (d turn) verify() (Action, *Change) {
	p, r := d.p, d.f.Remote
	next := *p
	var unread error
	switch {
	case d.f.Wish != Verify && d.f.Wish != Reread:
		return wait(0)
	case p.ProcessorID != "" && r == nil:
		return act(Read)
	case d.f.Wish == Verify && d.saleToRead() != "":
		return act(d.saleToRead())
	case d.f.Wish == Verify:
		next, unread = d.noteSale()
	}
	switch {
	case r == nil, r.Absent != "": // it may be another account's, and says nothing
	case r.Err != nil:
		unread = cmp.Or(r.Err, unread)
	default:
		next.Difference = Difference(p, r)
	}
	reason := p.Reason
	switch {
	case sameFindings(p, &next):
		return Action{Kind: Wait, Err: unread}, nil
	case next.Finding() != "":
		reason = FindingReason(&next)
	case p.Finding() != "":
		reason = "recorded, and no longer contradicted"
	}
	return d.write(next, flows.Recorded, reason)
}

func sameFindings(p, next *flows.Payment) bool {
	return p.SaleVerdict == next.SaleVerdict && p.Difference == next.Difference && p.PaidTwice == next.PaidTwice &&
		(p.DebtAfter == nil) == (next.DebtAfter == nil)
}

// FindingReason says what an operator must look at.
func FindingReason(p *flows.Payment) string {
	switch {
	case p.Finding() == flows.Contradicted && p.Difference == "":
		return "recorded, and the processor keeps the whole amount again"
	case p.Finding() == flows.Contradicted:
		return "recorded, and at the processor " + p.Difference
	case p.Finding() == flows.RecordedUnsettled:
		return "recorded, and " + p.SaleVerdict
	}
	return "recorded, and possibly paid twice: the contact owes less than before"
}

// Difference says how the processor's payment contradicts a recorded one; empty if it does not. A pending refund counts as made.
func Difference(p *flows.Payment, r *Remote) string {
	var differs []string
	if kept := r.Captured - r.Refunded - r.Refunding; kept != p.Amount {
		differs = append(differs, fmt.Sprintf("%s of %s is kept", flows.Price(kept, p.Currency), flows.Price(p.Amount, p.Currency)))
	}
	if r.Disputed {
		differs = append(differs, "the buyer disputes it")
	}
	return strings.Join(differs, ", and ")
}

// Contradicted reports whether the processor's payment contradicts a recorded one, in another way than an operator has acknowledged.
func Contradicted(p *flows.Payment, remote cards.Payment) bool {
	return p.State == flows.Recorded && Difference(p, &Remote{Payment: remote}) != p.Acknowledged
}

// Reversed reports whether the processor's payment does not confirm the end: a refund failed, or the money of a recorded payment
// went back or is disputed.
func Reversed(p *flows.Payment, remote cards.Payment) bool {
	return p.State == flows.Refunding && remote.FailedRefunds > 0 || Contradicted(p, remote)
}

// saleToRead says what to read next at the club system, of a payment to verify: the sale until it is settled, and once what the
// contact owes. Staff may have settled the sale too, at the moment of the POST: the club system lists no payments, but an
// overpayment settles the contact's other debts. Empty: nothing is left, or what was read before does not allow it.
func (d turn) saleToRead() Kind {
	s, open, debt := d.f.Sale, d.p.SaleVerdict != flows.SaleSettled, d.debtIsDue()
	switch {
	case s == nil && (open || debt):
		return ReadSale
	case s == nil || s.Err != nil:
		return ""
	case open && s.Sale.State == "" && d.f.Check == nil: // the check refuses a settled sale, see club.SaleStateCheck
		return ReadCheck
	case open && s.Sale.State == "" && d.f.Check.Err != nil:
		return ""
	case debt && d.f.Debt == nil:
		return ReadDebt
	}
	return ""
}

// noteSale returns the record with what the club system shows of a payment to verify. The error says what could not be read.
func (d turn) noteSale() (flows.Payment, error) {
	p, s, check, owes := d.p, d.f.Sale, d.f.Check, d.f.Debt
	next := *p
	open, debt := p.SaleVerdict != flows.SaleSettled, d.debtIsDue()
	tooLate := debt && Expired(d.now, p.Since(flows.Recorded), DebtWithin)
	switch {
	case s == nil:
		return next, nil
	case s.Gone && open && Expired(d.now, p.UpdatedAt, flows.GoneAfter):
		next.SaleVerdict = "the club system no longer has the sale"
		return next, nil
	case s.Err != nil && p.SaleVerdict == "" && Expired(d.now, p.UpdatedAt, SaleUnreadableAfter):
		next.SaleVerdict = "the sale could not be read for a day"
		return next, nil
	case s.Err != nil && !open && tooLate:
		next.DebtAfter = p.Snapshot.Debt
		return next, nil
	case s.Err != nil:
		return next, s.Err
	case check != nil && check.Err != nil:
		return next, check.Err
	case open:
		next.SaleVerdict = d.verdict()
	}
	switch {
	case !debt:
		return next, nil
	case owes.Err != nil && tooLate:
		next.DebtAfter = p.Snapshot.Debt
		return next, nil
	case owes.Err != nil:
		return next, owes.Err
	}
	next.DebtAfter = &owes.Total
	usual := flows.SignalValue(flows.SignalDebt, p, &flows.Evidence{Debt: &owes.Total}) == s.Rule.After(flows.SignalDebt)
	next.PaidTwice = owes.Total < *p.Snapshot.Debt && !usual
	return next, nil
}

// SaleOpen is the verdict on a sale that is as before the payment.
const SaleOpen = "the sale is not settled"

// verdict says what is wrong with the sale of a recorded payment, or that it is settled. A rule may know that the total of a
// settled sale is another one.
func (d turn) verdict() string {
	p, s := d.p, d.f.Sale
	open := s.Sale.State == p.SaleState
	if s.Sale.State == "" {
		open = d.f.Check.Valid
	}
	total := flows.SignalValue(flows.SignalTotal, p, &flows.Evidence{Total: &s.Sale.TotalTI})
	switch {
	case open:
		return SaleOpen
	case s.Sale.TotalTI != p.Amount && total != s.Rule.After(flows.SignalTotal):
		return fmt.Sprintf("the total of the sale is %s instead of %s", flows.Price(s.Sale.TotalTI, p.Currency),
			flows.Price(p.Amount, p.Currency))
	}
	return flows.SaleSettled
}

// VerifyAt returns when a recorded payment must be compared with the other systems; zero if nothing is left to find out.
func VerifyAt(p *flows.Payment, now time.Time) time.Time {
	switch {
	case p.State != flows.Recorded:
		return time.Time{}
	case p.Finding() != "":
		return now.Add(min(max(now.Sub(p.UpdatedAt), DoubtPollEvery), MaxVerifyPause))
	case p.SaleVerdict == "":
		return p.UpdatedAt.Add(VerifyAfter)
	}
	return debtDue(p)
}

// debtDue returns when the contact's debt must be read; zero if it was read, or was not known before the capture.
func debtDue(p *flows.Payment) time.Time {
	switch {
	case p.DebtAfter != nil || p.Snapshot == nil || p.Snapshot.Debt == nil:
		return time.Time{}
	case !p.DoubtSince.IsZero(): // until then its POST may still arrive
		return p.UpdatedAt.Add(DecideAfter)
	}
	return p.UpdatedAt.Add(VerifyAfter)
}

func (d turn) debtIsDue() bool {
	due := debtDue(d.p)
	return !due.IsZero() && !due.After(d.now)
}

// watch finds out whether the processor holds the money of a payment that was refunded or cancelled. The buyer's bank can return a
// refund days later. Money whose dispute an operator has ended may be kept.
func (d turn) watch() (Action, *Change) {
	p, r := d.p, d.f.Remote
	switch {
	case p.ProcessorID == "":
		return wait(0)
	case r == nil:
		return act(Read)
	case r.Err != nil && r.Absent == "":
		return failed(r.Err)
	case r.Absent != "", r.State != cards.Captured: // another program's money says nothing
		return wait(0)
	case p.State == flows.Cancelled:
		return d.to(flows.Blocked, HeldAfterAll)
	case r.Refunding > 0, r.Disputed && p.Acknowledged == Difference(p, r):
		return wait(0)
	}
	return d.to(flows.Blocked, refundFailed)
}

// HeldAfterAll is the reason of a payment that was cancelled although the processor holds its money: an operator cancelled it while
// the processor did not show it.
const HeldAfterAll = "it was cancelled, and the processor holds the money"

// Returned reports whether the processor may hold money of a payment that ended without, by its state there.
func Returned(p *flows.Payment, there cards.State) bool {
	return p.State == flows.Refunded && there != cards.Refunded || p.State == flows.Cancelled && there == cards.Captured
}

// blocked waits for an operator, with two exceptions. A payment that the processor did not have continues from the state before once
// the processor has it again. One that was cancelled although the processor held the money ends once that was refunded there.
func (d turn) blocked() (Action, *Change) {
	p, r := d.p, d.f.Remote
	before := p.StateBefore(flows.Blocked)
	cancelled := p.Reason == HeldAfterAll
	switch {
	case !cancelled && (p.MissingSince.IsZero() || !flows.Blocked.CanBecome(before)):
		return wait(0)
	case r == nil:
		return act(Read)
	case r.Err != nil && r.Absent == "":
		return failed(r.Err)
	case cancelled && r.Absent == "" && r.State == cards.Refunded:
		return d.to(flows.Refunded, "it was cancelled, and the money was refunded at the processor")
	case cancelled:
		return wait(MaxVerifyPause)
	case r.Absent != "":
		return wait(0)
	}
	return d.lift(before)
}

// lift continues a payment that the processor has again, in the state before; a doubt stays a doubt. A refund that was due is not made
// without an operator if the sale was settled meanwhile: staff may have recorded the payment by hand.
func (d turn) lift(before flows.PaymentState) (Action, *Change) {
	p, r, s := d.p, d.f.Remote, d.f.Sale
	next := *p
	next.MissingSince = time.Time{}
	if differs := Differs(p, r); differs != "" {
		return d.write(next, flows.Blocked, differs)
	}
	if before == flows.Refunding && !SeenSettled(p) {
		switch {
		case s == nil:
			return act(ReadSale)
		case s.Err != nil && !s.Gone:
			return failed(s.Err)
		case !s.Gone && s.Sale.State != p.SaleState:
			return d.write(next, flows.Blocked, "a refund was due, and the sale was settled meanwhile, perhaps with this payment")
		}
	}
	next.Payer = p.Payer.Outdated()
	return d.write(next, before, "the processor has it again")
}
