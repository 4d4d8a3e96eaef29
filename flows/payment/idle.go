package payment

import (
	"time"

	"frontdesk/flows"
)

const (
	// activeBuyer is how long most buyers need at the processor, with their bank's challenge. Until then, the payment is read
	// each pollEvery, so that it is completed within a minute after a lost webhook.
	activeBuyer = 5 * time.Minute
	// maxIdlePause is the longest pause between two reads of a payment whose buyer does nothing. A webhook, and the
	// visitor's own requests, wake it at once.
	maxIdlePause = 2 * time.Minute
)

// idlePause returns the pause before a payment that waits for its buyer is read again: a quarter of the time for which
// the buyer has done nothing. An idle payment costs 35 reads in the half hour until it is cancelled, not 120.
func (m *Machine) idlePause(p *flows.Payment) time.Duration {
	now := m.cfg.Now()
	idle, pause := now.Sub(p.UpdatedAt), pollEvery
	if idle >= activeBuyer {
		pause = min(max(pollEvery, idle/4), maxIdlePause)
	}
	end := p.UpdatedAt.Add(idleIntent)
	if !p.EndsAt.IsZero() && p.EndsAt.Before(end) {
		end = p.EndsAt
	}
	return min(pause, max(end.Sub(now), pollEvery)) // the payment ends when its time is over
}
