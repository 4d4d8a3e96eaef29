package protocol

import (
	"time"

	"frontdesk/flows"
)

// Expired reports whether more time than life has passed by either clock. The wall clock sees a suspended machine, the
// monotonic one a clock that was set.
func Expired(now, since time.Time, life time.Duration) bool {
	return now.Sub(since) > life || now.Round(0).Sub(since.Round(0)) > life
}

// ClaimPause is the pause before the next claim after n were released.
func ClaimPause(n int) time.Duration { return min(15*time.Second<<(n-1), MaxClaimPause) }

// PauseAfter is the pause before the next claim after a limit that lasts for a time was reached; zero: none was.
func PauseAfter(p *flows.Payment, limit time.Duration) time.Duration {
	return max(ClaimPause(p.Claim), min(limit, MaxLimitPause))
}

// PauseLeft returns what is left of the pause before the next claim or cancellation; 0 or less if it is over. A longer pause
// was set by a gateway whose clock was ahead, and is over.
func PauseLeft(p *flows.Payment, now time.Time) time.Duration {
	if left := p.NotBefore.Sub(now); left <= MaxClaimPause {
		return left
	}
	return 0
}

// pause returns what is left of the pause before the next attempt to record. After a limit of the API gateway it may last a day. Such
// a long pause also ends once another payment was recorded after the refusal: perhaps the provider has raised the limit. known is
// false while that has to be asked.
func (d turn) pause() (left time.Duration, known bool) {
	left, accepted := d.p.NotBefore.Sub(d.now), d.f.Accepted
	switch {
	case left <= MaxClaimPause || left > MaxLimitPause:
		return PauseLeft(d.p, d.now), true
	case accepted == nil:
		return 0, false
	case accepted.After(d.p.UpdatedAt) && !accepted.After(d.now):
		return 0, true
	}
	return DoubtPollEvery, true
}

// SendableSince returns since when a payment could be sent, as far as its own pause goes.
func SendableSince(p *flows.Payment) time.Time {
	if p.NotBefore.After(p.UpdatedAt) {
		return p.NotBefore
	}
	return p.UpdatedAt
}

// IdlePause returns the pause before a payment that waits for its buyer is read again: a quarter of the time for which the
// buyer has done nothing. An idle payment costs 35 reads in the half hour until it is cancelled, not 120.
func IdlePause(payment *flows.Payment, now time.Time) time.Duration {
	idle, pause := now.Sub(payment.UpdatedAt), PollEvery
	if idle >= activeBuyer {
		pause = min(max(PollEvery, idle/4), maxIdlePause)
	}
	end := payment.UpdatedAt.Add(IdleIntent)
	if !payment.EndsAt.IsZero() && payment.EndsAt.Before(end) {
		end = payment.EndsAt
	}
	return min(pause, max(end.Sub(now), PollEvery)) // the payment ends when its time is over
}
