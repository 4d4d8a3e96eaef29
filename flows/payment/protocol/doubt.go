package protocol

import (
	"slices"
	"time"

	"frontdesk/flows"
)

// resolve ends a doubt by an acceptance in the journal or by the rule, and has evidence read when that is due. Only an operator can end
// it in another way, see endDoubt in decide.go. If the journal shows a refund that Redis lost, the payment is blocked, so that an
// operator can complete the refund.
func (d turn) resolve() (Action, *Change) {
	payment, remote := d.p, d.f.Remote
	switch {
	case payment.HasProcessor() && remote == nil:
		return act(Read)
	case payment.HasProcessor() && remote.Journal.Accepted:
		return d.to(flows.Recorded, "the journal holds the club system's acceptance")
	case payment.HasProcessor() && remote.Journal.RefundBegun():
		return d.to(flows.Blocked, "a refund was begun, and Redis lost it")
	case d.f.Sale != nil:
		return d.weigh()
	case d.f.Wish == Reread && !payment.ReadSince(d.now, EvidenceEvery):
		return act(ReadEvidence)
	}
	due, more := NextReading(payment)
	switch {
	case !more:
		return wait(DoubtPollEvery)
	case due.After(d.now):
		return wait(min(due.Sub(d.now), DoubtPollEvery))
	}
	return act(ReadEvidence)
}

// NextReading returns when evidence is due: at the first scheduled time after the last reading, and after a failure not before
// DoubtPollEvery. more is false after the schedule.
func NextReading(payment *flows.Payment) (due time.Time, more bool) {
	var last, failed time.Time
	for _, reading := range payment.Readings {
		if failed = reading.At; reading.Failures == 0 {
			last, failed = reading.At, time.Time{}
		}
	}
	since := payment.InDoubtSince()
	i := slices.IndexFunc(ReadingAt[:], func(after time.Duration) bool { return since.Add(after).After(last) })
	if i < 0 {
		return time.Time{}, false
	}
	due = since.Add(ReadingAt[i])
	if again := failed.Add(DoubtPollEvery); !failed.IsZero() && again.After(due) {
		due = again
	}
	return due, true
}

// weigh notes a reading. The rule decides only within RuleWithin of an attempt that may have left for the club system, and while
// the processor holds the money: later, staff may have settled the sale.
func (d turn) weigh() (Action, *Change) {
	payment, remote, sale := d.p, d.f.Remote, d.f.Sale
	next := *payment
	if sale.Err != nil {
		next.Readings = WithReading(payment.Readings, flows.Reading{Evidence: flows.Evidence{At: sale.At}, Failures: 1})
		return d.keep(next)
	}
	next.Readings = WithReading(payment.Readings, flows.Reading{Evidence: *sale.Seen})
	taken := !payment.HasProcessor() || remote.HoldsAll() && !remote.Journal.RefundClaimed()
	attempt, maybeSent := openAttempt(payment, remote)
	early := maybeSent && sale.Seen.At.Sub(attempt) <= RuleWithin
	if !taken || !early || !sale.Rule.Matches(payment, *sale.Seen) {
		return d.keep(next)
	}
	change := Transition(payment, next, flows.Recorded, "the evidence matches recorded payments: "+sale.Rule.String(),
		flows.Decision{Operator: flows.ByRule}, d.now)
	return Action{}, d.accepted(change)
}

// openAttempt returns when the attempt began with which the payment may have left for the club system: that of the journal's
// latest claim, if it is not released; without a processor, that of the record. False without such an attempt. When the doubt
// began does not matter: after a loss of Redis, a doubt may be newer than its claim.
func openAttempt(p *flows.Payment, remote *Remote) (time.Time, bool) {
	if !p.HasProcessor() {
		return AttemptStart(p.AttemptID)
	}
	n, _ := remote.Journal.Last()
	if remote.Journal.Released(n) {
		return time.Time{}, false
	}
	return AttemptStart(remote.Journal.Entry(n).Attempt)
}

// WithReading appends a reading. Consecutive failures are one entry.
func WithReading(readings []flows.Reading, reading flows.Reading) []flows.Reading {
	kept := slices.Clone(readings)
	if n := len(kept); n > 0 && kept[n-1].Failures > 0 && reading.Failures > 0 {
		reading.Failures += kept[n-1].Failures
		kept = kept[:n-1]
	}
	kept = append(kept, reading)
	return kept[max(0, len(kept)-MaxReadings):]
}

// SeenSettled reports whether the latest evidence that could be read shows a settled sale. Decisions that contradict it need an
// override.
func SeenSettled(p *flows.Payment) bool {
	for _, reading := range slices.Backward(p.Readings) {
		if reading.SaleState != nil {
			return *reading.SaleState != p.SaleState
		}
	}
	return false
}
