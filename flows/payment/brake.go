package payment

import (
	"context"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
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
	Result       protocol.BrakeResult
	ProbesUntil  time.Time // of protocol.BrakeRefused and protocol.ProbeContinues
	MaxUnknown   int
}

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
		Lease: protocol.ProbeLease, Pause: protocol.FirstProbePause, MaxPause: protocol.ProbePause(p), MaxWait: protocol.MaxProbePause}
	left, err := m.cfg.Store.AskBrake(ctx, request)
	return left, flows.StorageFailed(err)
}

// count has the brake count an outcome. A failure is only logged, because the outcome itself matters more.
func (m *Machine) count(ctx context.Context, p *flows.Payment, counted protocol.BrakeCount) {
	if counted.Result == "" {
		return
	}
	change, failed := m.cfg.Store.CountOutcome(ctx, BrakeOutcome{Organisation: p.ClientToken, Payment: p.ID, Began: counted.Began,
		Now: m.cfg.Now(), Result: counted.Result, ProbesUntil: counted.ProbesUntil, MaxUnknown: protocol.MaxUnknown})
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
