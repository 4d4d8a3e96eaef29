package flows

import "time"

// BrakeRequest asks whether a payment's money may move.
type BrakeRequest struct {
	Organisation string
	Payment      PaymentID
	Now          time.Time
	Lease        time.Duration // of the probe that the payment may become
	Pause        time.Duration // after the first probe that failed
	MaxPause     time.Duration // after any
	MaxWait      time.Duration // a longer wait was set by a gateway whose clock was ahead, and is over
}

// BrakeOutcome is how a request that records money ended, or that it was not made.
type BrakeOutcome struct {
	Organisation string
	Payment      PaymentID
	Began        time.Time // of the attempt
	Now          time.Time
	Result       BrakeResult
	ProbesUntil  time.Time // of BrakeRefused and ProbeContinues
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
	Organisation string    `json:"organisation"`
	Since        time.Time `json:"since"`
	Unknown      int       `json:"unknown"`         // payments in a row that were not accepted, or settled nothing
	Probe        PaymentID `json:"probe,omitempty"` // the payment that is let through now; empty: none
}
