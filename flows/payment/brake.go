package payment

import (
	"context"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
)

// askBrake returns how long the brake still holds a payment back; zero: its money may move. The payment that is let through although
// the brake holds becomes its probe.
func (m *Machine) askBrake(ctx context.Context, payment *flows.Payment) (time.Duration, error) {
	request := flows.BrakeRequest{
		Organisation: payment.ClientToken,
		Payment:      payment.ID,
		Now:          m.cfg.Now(),
		Lease:        protocol.ProbeLease,
		Pause:        protocol.FirstProbePause,
		MaxPause:     protocol.ProbePause(payment),
		MaxWait:      protocol.MaxProbePause,
	}
	left, err := m.cfg.Store.AskBrake(ctx, request)
	return left, flows.StorageFailed(err)
}

// count has the brake count an outcome. A failure is only logged, because the outcome itself matters more.
func (m *Machine) count(ctx context.Context, payment *flows.Payment, counted protocol.BrakeCount) {
	if counted.Result == "" {
		return
	}
	change, failed := m.cfg.Store.CountOutcome(ctx, flows.BrakeOutcome{
		Organisation:       payment.ClientToken,
		Payment:            payment.ID,
		Began:              counted.Began,
		Now:                m.cfg.Now(),
		Result:             counted.Result,
		ProbesUntil:        counted.ProbesUntil,
		MaxUnknown:         protocol.MaxUnknown,
		MaxUnknownInCrowd:  protocol.MaxUnknownInCrowd,
		AcceptedPerUnknown: protocol.AcceptedPerUnknown,
	})
	switch {
	case failed != nil:
		m.cfg.Log.WarnContext(ctx, "outcome not counted by the brake", "payment", payment.ID, "error", failed)
	case change == flows.BrakeEngaged:
		m.cfg.Log.ErrorContext(ctx, "brake engaged: the club system records no payment", "payment", payment.ID)
	case change == flows.BrakeReleased:
		m.cfg.Log.WarnContext(ctx, "brake released: the club system recorded a payment", "payment", payment.ID)
	}
}

// Brakes lists the brakes that hold.
func (m *Machine) Brakes(ctx context.Context) ([]flows.Brake, error) {
	brakes, err := m.cfg.Store.Brakes(ctx)
	return brakes, flows.StorageFailed(err)
}
