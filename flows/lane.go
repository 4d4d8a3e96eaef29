package flows

import "time"

// Lane names a list of payments that gateways share, with the instant at which each is due. It is also the name of its queue
// in reports.
type Lane string

// The lanes.
const (
	OpenLane   Lane = "payments"      // payments that are not final, to be advanced
	VerifyLane Lane = "verifications" // recorded payments, to be compared with the other systems
)

// Waiting counts the payments of a lane.
type Waiting struct {
	Due    int       // that a gateway can take
	Later  int       // that are not due yet, those that a gateway took included
	Oldest time.Time // when the first of those due became due; zero without one
	Next   time.Time // when the first of the others is due; zero without one
}
