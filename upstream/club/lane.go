package club

import "context"

// Lane is a priority of calls. Each lane of an organisation has its own permits and breaker, so
// that one organisation's outage or rush never affects another organisation, and newcomers never
// delay a payment.
type Lane string

const (
	// Visitors is the lane of calls for registrations that were started, and of all others.
	Visitors Lane = ""
	// Newcomers is the lane of calls that start a registration. It leaves half of the saved
	// retries to others, because they have done more that would be wasted.
	Newcomers Lane = "newcomers"
	// Browsers is the lane of calls that read a catalogue. It has half the permits of the
	// others, and leaves as many retries as Newcomers.
	Browsers Lane = "browsers"
	// Signers is the lane of calls that a signature waits for.
	Signers Lane = "signers"
	// Payers is the lane of calls that a payment waits for.
	Payers Lane = "payers"
)

// Lanes is the order in which calls are made while the API gateway's limits leave too few for all.
var Lanes = []Lane{Payers, Signers, Visitors, Newcomers, Browsers}

type laneContextKey struct{}

// WithLane returns a context whose calls use a lane.
func WithLane(ctx context.Context, lane Lane) context.Context {
	return context.WithValue(ctx, laneContextKey{}, lane)
}
