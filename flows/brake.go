package flows

import "time"

// BrakeRequest asks whether a payment's money may move.
type BrakeRequest struct {
	Organisation string
	Payment      PaymentID
	Now          time.Time
	Lease        time.Duration // of the probe that the payment may become
	Pause        time.Duration // after the first failed probe
	MaxPause     time.Duration // the longest pause after a failed probe
	MaxWait      time.Duration // a stored wait that is longer comes from a gateway whose clock was ahead, and is ignored
}

// BrakeOutcome is how a request that records money ended. A request that was not made has an outcome too.
type BrakeOutcome struct {
	Organisation string
	Payment      PaymentID
	Began        time.Time // of the attempt
	Now          time.Time
	Result       BrakeResult
	ProbesUntil  time.Time // of BrakeRefused and ProbeContinues
	// So many outcomes in a row that count engage the brake: one for AcceptedPerUnknown payments that were accepted in the last
	// minute, at least MaxUnknown, and at most MaxUnknownInCrowd.
	MaxUnknown, MaxUnknownInCrowd, AcceptedPerUnknown int
}

// BrakeResult is what an outcome means for the brake.
type BrakeResult string

// The results. Those that count engage the brake when there are enough in a row. An unknown or refused attempt does not count if it
// began before the latest accepted one. ProbeContinues concerns the brake only if the payment is its probe.
const (
	BrakeAccepted  BrakeResult = "accepted"  // releases the brake, unless the attempt began before it engaged
	BrakeUnknown   BrakeResult = "unknown"   // or rejected: counts
	BrakeRefused   BrakeResult = "refused"   // counts, and a probe continues
	ProbeContinues BrakeResult = "continues" // nothing was sent, and the payment is sent later
	SaleSettles    BrakeResult = "settled"   // an accepted payment settled its sale: ends a row of those that did not
	SaleStaysOpen  BrakeResult = "unsettled" // an accepted payment did not settle its sale: counts
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
	Organisation string    `json:"organisation"`
	Since        time.Time `json:"since"`
	Unknown      int       `json:"unknown"`         // payments in a row that were not accepted, or settled nothing
	Probe        PaymentID `json:"probe,omitempty"` // the payment that is let through now; empty: none
}
