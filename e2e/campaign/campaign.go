// Package campaign is the frame of the long tests: each drives many journeys
// while things go wrong on purpose, and judges what has become of the money by
// the club system's ledger and the card processor's list, never by the gateway's
// word alone.
//
// A campaign is a function from Options to a Report. It counts only if it proves
// that its faults happened, which Report.Err holds, and if a build with a mistake
// put into it on purpose fails it, which Catch tries; the mistakes stand in
// weaknesses.go. The campaigns themselves are the child packages; the command run
// starts them. What must be true of every journey stands in invariant.go and
// nowhere else.
//
// Start reading at Campaign, then at Evidence.
package campaign

import (
	"context"
	"time"
)

// Campaign is one kind of long test.
type Campaign struct {
	Name        string // of the command line and the record, one word
	Description string // one sentence for the record: what is done to whom
	// Faults are the kinds that must have happened, each at least once, for a run to count.
	Faults []string
	// Mutations are the names of those that the campaign has to find.
	Mutations []string
	// InProcess says that the campaign runs the gateway's code itself, so that a
	// weakness is built into the command; else it is built into the gateway, which
	// is then given as Options.Gateway.
	InProcess bool
	// Long is the run for the record. Its seed is the command line's.
	Long Options
	Run  func(context.Context, Options) (*Report, error)
}

// Options say how much is done. Zero values of Count and For mean no bound; a run
// needs one of them.
type Options struct {
	Seed     uint64        // decides everything that the campaign decides
	Count    int           // journeys to drive
	Duration time.Duration // no new journey is begun after so long
	// MinFaults is how often each kind of fault has to happen at least, when once is
	// not enough. A campaign whose faults are its own doing goes on until then.
	MinFaults map[string]int
	// OnlySeed, when not zero, drives the one journey of that seed: the repetition of a violation.
	OnlySeed uint64
	// StopAtViolation stops at the first violation.
	StopAtViolation bool
	// Gateway is the binary of the gateway, for campaigns that run processes. Empty: built from the tree.
	Gateway string
	// Log hears how it goes on; nil: nobody does.
	Log func(format string, args ...any)
}

// Logf tells whoever wants to hear.
func (o Options) Logf(format string, args ...any) {
	if o.Log != nil {
		o.Log(format, args...)
	}
}

// Context ends when the time of the options is over.
func (o Options) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.Duration == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, o.Duration)
}
