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
	p, r := d.p, d.f.Remote
	switch {
	case p.HasProcessor() && r == nil:
		return act(Read)
	case p.HasProcessor() && r.Journal.Accepted:
		return d.to(flows.Recorded, "the journal holds the club system's acceptance")
	case p.HasProcessor() && r.Journal.RefundBegun():
		return d.to(flows.Blocked, "a refund was begun, and Redis lost it")
	case d.f.Sale != nil:
		return d.weigh()
	case d.f.Wish == Reread && !p.ReadSince(d.now, EvidenceEvery):
		return act(ReadEvidence)
	}
	due, more := NextReading(p)
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
func NextReading(p *flows.Payment) (due time.Time, more bool) {
	var last, failed time.Time
	for _, reading := range p.Readings {
		if failed = reading.At; reading.Failures == 0 {
			last, failed = reading.At, time.Time{}
		}
	}
	since := p.InDoubtSince()
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
	p, r, s := d.p, d.f.Remote, d.f.Sale
	next := *p
	if s.Err != nil {
		next.Readings = WithReading(p.Readings, flows.Reading{Evidence: flows.Evidence{At: s.At}, Failures: 1})
		return d.keep(next)
	}
	next.Readings = WithReading(p.Readings, flows.Reading{Evidence: *s.Seen})
	taken := !p.HasProcessor() || r.HoldsAll() && !r.Journal.RefundClaimed()
	attempt, maybeSent := openAttempt(p, r)
	early := maybeSent && s.Seen.At.Sub(attempt) <= RuleWithin
	if !taken || !early || !s.Rule.Matches(p, *s.Seen) {
		return d.keep(next)
	}
	change := Transition(p, next, flows.Recorded, "the evidence matches recorded payments: "+s.Rule.String(),
		flows.Decision{Operator: flows.ByRule}, d.now)
	return Action{}, d.accepted(change)
}

// openAttempt returns when the attempt began with which the payment may have left for the club system: that of the journal's
// latest claim, if it is not released; without a processor, that of the record. False without such an attempt. When the doubt
// began does not matter: after a loss of Redis, a doubt may be newer than its claim.
func openAttempt(p *flows.Payment, r *Remote) (time.Time, bool) {
	if !p.HasProcessor() {
		return AttemptStart(p.AttemptID)
	}
	n, _ := r.Journal.Last()
	if r.Journal.Released(n) {
		return time.Time{}, false
	}
	return AttemptStart(r.Journal.Entry(n).Attempt)
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
