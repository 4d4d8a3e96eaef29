package payment

import (
	"context"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/club"
)

// Limits of the brake. While the club system records no payment, it keeps further buyers from being charged.
const (
	// maxUnknown payments in a row that were sent and not accepted engage the brake. One is a lost connection, or a
	// sale that the club system rejects. If one response in a hundred is lost, three in a row are one case in a million;
	// each more would cost another buyer a doubt, or a charge and its refund.
	maxUnknown = 3
	// firstProbePause follows the first probe that failed; it doubles with each further one. The first probe does not
	// wait, so that a disturbance of seconds does not delay buyers for a minute.
	firstProbePause = time.Minute
	// maxProbePause lets a payment that stays authorised for an hour meet several probes. An outage costs at most
	// seven probes in its first hour, and four in each hour after it.
	maxProbePause = 15 * time.Minute
	// maxCapturedProbePause: the money of a captured probe is already taken, so it may come earlier. It also keeps
	// captured money from waiting longer than ten minutes once the club system records again.
	maxCapturedProbePause = 5 * time.Minute
)

// BrakeRequest asks whether a payment's money may move.
type BrakeRequest struct {
	Organisation string
	Payment      flows.PaymentID
	Now          time.Time
	Lease        time.Duration // of the probe that the payment may become
	Pause        time.Duration // after the first probe that failed
	MaxPause     time.Duration // after any
	MaxWait      time.Duration // a longer wait was set by a gateway whose clock was ahead, and is over
}

// BrakeOutcome is how a request that records money ended, or that it was not made.
type BrakeOutcome struct {
	Organisation string
	Payment      flows.PaymentID
	Began        time.Time // of the attempt
	Now          time.Time
	Result       BrakeResult
	ProbesUntil  time.Time // of ProbeContinues
	MaxUnknown   int
}

// BrakeResult is what an outcome means for the brake.
type BrakeResult string

// The results. ProbeContinues concerns the brake only if the payment is its probe.
const (
	BrakeAccepted  BrakeResult = "accepted"  // releases the brake, unless the attempt is from before it
	BrakeUnknown   BrakeResult = "unknown"   // or rejected: counts, unless the attempt is from before an accepted one
	BrakeRefused   BrakeResult = "refused"   // counts likewise, and the probe continues
	ProbeContinues BrakeResult = "continues" // nothing was done, and the payment is sent again
	SaleSettles    BrakeResult = "settled"   // an accepted payment settled its sale: ends a row of those that did not
	SaleStaysOpen  BrakeResult = "unsettled" // an accepted payment did not: counts
)

// BrakeChange is what an outcome changed; empty: nothing that others notice.
type BrakeChange string

// The changes.
const (
	BrakeEngaged  BrakeChange = "engaged"
	BrakeReleased BrakeChange = "released"
)

// Brake is an organisation's brake while it holds.
type Brake struct {
	Organisation string          `json:"organisation"`
	Since        time.Time       `json:"since"`
	Unknown      int             `json:"unknown"`         // payments in a row that were not accepted, or settled nothing
	Probe        flows.PaymentID `json:"probe,omitempty"` // the payment that is let through now; empty: none
}

// askBrake returns how long the brake still holds a payment back; zero: its money may move. The payment that is let through although
// the brake holds becomes its probe.
func (m *Machine) askBrake(ctx context.Context, p *flows.Payment) (time.Duration, error) {
	request := BrakeRequest{Organisation: p.ClientToken, Payment: p.ID, Now: m.cfg.Now(),
		Lease: protocol.ProbeLease, Pause: firstProbePause, MaxPause: maxProbePause, MaxWait: maxProbePause}
	if protocol.Taken(p) {
		request.MaxPause = maxCapturedProbePause
	}
	left, err := m.cfg.Store.AskBrake(ctx, request)
	return left, flows.StorageFailed(err)
}

// countOutcome has the brake count how a request that records money ended. A failure is only logged, because the
// outcome itself matters more.
func (m *Machine) countOutcome(ctx context.Context, p *flows.Payment, err error) {
	now := m.cfg.Now()
	outcome := BrakeOutcome{Organisation: p.ClientToken, Payment: p.ID, Began: p.UpdatedAt, Now: now,
		Result: BrakeUnknown, MaxUnknown: maxUnknown} // also if it was rejected: a firewall's rejection can look like the application's
	switch club.OutcomeOf(err) {
	case club.Accepted:
		outcome.Result = BrakeAccepted
	case club.NotSent:
		outcome.Result, outcome.ProbesUntil = ProbeContinues, now.Add(protocol.ClaimPause(p.Claim)+protocol.ProbeLease)
	case club.Refused:
		limit, _ := limitReached(err)
		outcome.Result, outcome.ProbesUntil = BrakeRefused, now.Add(protocol.PauseAfter(p, limit)+protocol.ProbeLease)
		if limit > protocol.MaxClaimPause { // another payment finds out whether the limit has been raised
			outcome.Result = BrakeUnknown
		}
	}
	m.count(ctx, p, outcome)
}

// countVerdict has the brake count what a reading of a recorded payment's sale shows: perhaps something in front of the
// club system accepts every payment with an empty success.
func (m *Machine) countVerdict(ctx context.Context, p *flows.Payment, verdict string) {
	outcome := BrakeOutcome{Organisation: p.ClientToken, Payment: p.ID, Began: p.Since(flows.Recorded), Now: m.cfg.Now(),
		Result: SaleSettles, MaxUnknown: maxUnknown}
	switch {
	case p.SaleVerdict == verdict || p.Rebuilt || !p.Method.BooksMoney():
		return
	case verdict == protocol.SaleOpen && p.SaleVerdict == "":
		outcome.Result = SaleStaysOpen
	case verdict != flows.SaleSettled:
		return
	}
	m.count(ctx, p, outcome)
}

func (m *Machine) count(ctx context.Context, p *flows.Payment, outcome BrakeOutcome) {
	change, failed := m.cfg.Store.CountOutcome(ctx, outcome)
	switch {
	case failed != nil:
		m.cfg.Log.WarnContext(ctx, "outcome not counted by the brake", "payment", p.ID, "error", failed)
	case change == BrakeEngaged:
		m.cfg.Log.ErrorContext(ctx, "brake engaged: the club system records no payment", "payment", p.ID)
	case change == BrakeReleased:
		m.cfg.Log.WarnContext(ctx, "brake released: the club system recorded a payment", "payment", p.ID)
	}
}

// Brakes lists the brakes that hold.
func (m *Machine) Brakes(ctx context.Context) ([]Brake, error) {
	brakes, err := m.cfg.Store.Brakes(ctx)
	return brakes, flows.StorageFailed(err)
}
