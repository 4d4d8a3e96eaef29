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
	payment, remote := d.p, d.f.Remote
	next := *payment
	var unread error
	switch {
	case d.f.Wish != Verify && d.f.Wish != Reread:
		return wait(0)
	case payment.ProcessorID != "" && remote == nil:
		return act(Read)
	case d.f.Wish == Verify && d.saleToRead() != "":
		return act(d.saleToRead())
	case d.f.Wish == Verify:
		next, unread = d.noteSale()
	}
	switch {
	case remote == nil, remote.Absent != "": // it may be another account's, and says nothing
	case remote.Err != nil:
		unread = cmp.Or(remote.Err, unread)
	default:
		next.Difference = Difference(payment, remote)
	}
	reason := payment.Reason
	switch {
	case sameFindings(payment, &next):
		return Action{Kind: Wait, Err: unread}, nil
	case next.Finding() != "":
		reason = FindingReason(&next)
	case payment.Finding() != "":
		reason = "recorded, and no longer contradicted"
	}
	return d.write(next, flows.Recorded, reason)
}

func sameFindings(p, next *flows.Payment) bool {
	return p.SaleVerdict == next.SaleVerdict && p.Difference == next.Difference && p.PaidTwice == next.PaidTwice &&
		(p.DebtAfter == nil) == (next.DebtAfter == nil)
}

// FindingReason says what an operator must look at.
func FindingReason(payment *flows.Payment) string {
	switch {
	case payment.Finding() == flows.Contradicted && payment.Difference == "":
		return "recorded, and the processor keeps the whole amount again"
	case payment.Finding() == flows.Contradicted:
		return "recorded, and at the processor " + payment.Difference
	case payment.Finding() == flows.RecordedUnsettled:
		return "recorded, and " + payment.SaleVerdict
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
	sale, open, debt := d.f.Sale, d.p.SaleVerdict != flows.SaleSettled, d.debtIsDue()
	switch {
	case sale == nil && (open || debt):
		return ReadSale
	case sale == nil || sale.Err != nil:
		return ""
	case open && sale.Sale.State == "" && d.f.Check == nil: // the check refuses a settled sale, see club.SaleStateCheck
		return ReadCheck
	case open && sale.Sale.State == "" && d.f.Check.Err != nil:
		return ""
	case debt && d.f.Debt == nil:
		return ReadDebt
	}
	return ""
}

// noteSale returns the record with what the club system shows of a payment to verify. The error says what could not be read.
func (d turn) noteSale() (flows.Payment, error) {
	payment, sale, check, owes := d.p, d.f.Sale, d.f.Check, d.f.Debt
	next := *payment
	open, debt := payment.SaleVerdict != flows.SaleSettled, d.debtIsDue()
	tooLate := debt && Expired(d.now, payment.Since(flows.Recorded), DebtWithin)
	switch {
	case sale == nil:
		return next, nil
	case sale.Gone && open && Expired(d.now, payment.UpdatedAt, flows.GoneAfter):
		next.SaleVerdict = "the club system no longer has the sale"
		return next, nil
	case sale.Err != nil && payment.SaleVerdict == "" && Expired(d.now, payment.UpdatedAt, SaleUnreadableAfter):
		next.SaleVerdict = "the sale could not be read for a day"
		return next, nil
	case sale.Err != nil && !open && tooLate:
		next.DebtAfter = payment.Snapshot.Debt
		return next, nil
	case sale.Err != nil:
		return next, sale.Err
	case check != nil && check.Err != nil:
		return next, check.Err
	case open:
		next.SaleVerdict = d.verdict()
	}
	switch {
	case !debt:
		return next, nil
	case owes.Err != nil && tooLate:
		next.DebtAfter = payment.Snapshot.Debt
		return next, nil
	case owes.Err != nil:
		return next, owes.Err
	}
	next.DebtAfter = &owes.Total
	usual := flows.SignalValue(flows.SignalDebt, payment, &flows.Evidence{Debt: &owes.Total}) == sale.Rule.After(flows.SignalDebt)
	next.PaidTwice = owes.Total < *payment.Snapshot.Debt && !usual
	return next, nil
}

// SaleOpen is the verdict on a sale that is as before the payment.
const SaleOpen = "the sale is not settled"

// verdict says what is wrong with the sale of a recorded payment, or that it is settled. A rule may know that the total of a
// settled sale is another one.
func (d turn) verdict() string {
	payment, sale := d.p, d.f.Sale
	open := sale.Sale.State == payment.SaleState
	if sale.Sale.State == "" {
		open = d.f.Check.Valid
	}
	total := flows.SignalValue(flows.SignalTotal, payment, &flows.Evidence{Total: &sale.Sale.TotalTI})
	switch {
	case open:
		return SaleOpen
	case sale.Sale.TotalTI != payment.Amount && total != sale.Rule.After(flows.SignalTotal):
		return fmt.Sprintf("the total of the sale is %s instead of %s", flows.Price(sale.Sale.TotalTI, payment.Currency),
			flows.Price(payment.Amount, payment.Currency))
	}
	return flows.SaleSettled
}

// VerifyAt returns when a recorded payment must be compared with the other systems; zero if nothing is left to find out.
func VerifyAt(payment *flows.Payment, now time.Time) time.Time {
	switch {
	case payment.State != flows.Recorded:
		return time.Time{}
	case payment.Finding() != "":
		return now.Add(min(max(now.Sub(payment.UpdatedAt), DoubtPollEvery), MaxVerifyPause))
	case payment.SaleVerdict == "":
		return payment.UpdatedAt.Add(VerifyAfter)
	}
	return debtDue(payment)
}

// debtDue returns when the contact's debt must be read; zero if it was read, or was not known before the capture.
func debtDue(payment *flows.Payment) time.Time {
	switch {
	case payment.DebtAfter != nil || payment.Snapshot == nil || payment.Snapshot.Debt == nil:
		return time.Time{}
	case !payment.DoubtSince.IsZero(): // until then its POST may still arrive
		return payment.UpdatedAt.Add(DecideAfter)
	}
	return payment.UpdatedAt.Add(VerifyAfter)
}

func (d turn) debtIsDue() bool {
	due := debtDue(d.p)
	return !due.IsZero() && !due.After(d.now)
}

// watch finds out whether the processor holds the money of a payment that was refunded or cancelled. The buyer's bank can return a
// refund days later. Money whose dispute an operator has ended may be kept.
func (d turn) watch() (Action, *Change) {
	payment, remote := d.p, d.f.Remote
	switch {
	case payment.ProcessorID == "":
		return wait(0)
	case remote == nil:
		return act(Read)
	case remote.Err != nil && remote.Absent == "":
		return failed(remote.Err)
	case remote.Absent != "", remote.State != cards.Captured: // another program's money says nothing
		return wait(0)
	case payment.State == flows.Cancelled:
		return d.to(flows.Blocked, HeldAfterAll)
	case remote.Refunding > 0, remote.Disputed && payment.Acknowledged == Difference(payment, remote):
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
	p, remote := d.p, d.f.Remote
	before := p.StateBefore(flows.Blocked)
	cancelled := p.Reason == HeldAfterAll
	switch {
	case !cancelled && (p.MissingSince.IsZero() || !flows.Blocked.CanBecome(before)):
		return wait(0)
	case remote == nil:
		return act(Read)
	case remote.Err != nil && remote.Absent == "":
		return failed(remote.Err)
	case cancelled && remote.Absent == "" && remote.State == cards.Refunded:
		return d.to(flows.Refunded, "it was cancelled, and the money was refunded at the processor")
	case cancelled:
		return wait(MaxVerifyPause)
	case remote.Absent != "":
		return wait(0)
	}
	return d.lift(before)
}

// lift continues a payment that the processor has again, in the state before; a doubt stays a doubt. A refund that was due is not made
// without an operator if the sale was settled meanwhile: staff may have recorded the payment by hand.
func (d turn) lift(before flows.PaymentState) (Action, *Change) {
	payment, r, sale := d.p, d.f.Remote, d.f.Sale
	next := *payment
	next.MissingSince = time.Time{}
	if differs := Differs(payment, r); differs != "" {
		return d.write(next, flows.Blocked, differs)
	}
	if before == flows.Refunding && !SeenSettled(payment) {
		switch {
		case sale == nil:
			return act(ReadSale)
		case sale.Err != nil && !sale.Gone:
			return failed(sale.Err)
		case !sale.Gone && sale.Sale.State != payment.SaleState:
			return d.write(next, flows.Blocked, "a refund was due, and the sale was settled meanwhile, perhaps with this payment")
		}
	}
	next.Payer = payment.Payer.Outdated()
	return d.write(next, before, "the processor has it again")
}
