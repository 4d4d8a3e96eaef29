// Package campaign is the framework of the fault campaigns. Each drives many journeys while faults are
// injected, and judges the money by the club system's ledger and the card processor's payments.
//
// A run counts only if its faults happened, which Report.Err checks, and if a build with a mistake fails
// it, which Kill tries. Mistakes are in mutations.go, invariants in invariants.go.
//
// Start reading at Campaign, then at Evidence.
package campaign

import (
	"context"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// Campaign is one kind of long test.
type Campaign struct {
	Name        string   // of the command line and the record, one word
	Description string   // for the record: one sentence that says what is done to which part
	Faults      []string // the kinds that must have happened, each at least once, for a run to count
	Mutations   []string // the names of those that the campaign must find
	// InProcess means that the campaign runs the gateway's code itself, so that a mutation is built into
	// the command. Otherwise the mutation is built into the gateway.
	InProcess bool
	Short     Options // supplies the count of a run that has none
	Long      Options // the run for the record; its seed is the command line's
	Drive     func(context.Context, Options, *Recorder) error
}

// Options bound a run. Zero Count or Duration means no bound; a run needs one of them.
type Options struct {
	Seed     uint64        // determines every choice of the campaign
	Count    int           // journeys to drive
	Duration time.Duration // no new journey is started after this
	// MinFaults is how often each kind of fault must happen at least, where once is not enough. A
	// campaign that injects its own faults continues until then.
	MinFaults       map[string]int
	OnlySeed        uint64 // unless zero, drives the one journey of this seed, to repeat a violation
	StopAtViolation bool
	Gateway         string                           // the gateway's binary, for campaigns that run processes; empty: built from the tree
	Mutation        string                           // its name, if the binary is built with one; see Kill
	Log             func(format string, args ...any) // receives progress; may be nil
}

// Run runs the campaign, and returns its report, even with an error.
func (c Campaign) Run(ctx context.Context, options Options) (*Report, error) {
	scope := frontdesktest.NewScope(ctx)
	defer scope.End()
	record := NewRecorder(c.Name, options)
	err := scope.Run(func() {
		if options.Count == 0 {
			options.Count = c.Short.Count
		}
		if options.Gateway == "" && !c.InProcess {
			options.Gateway = build(scope, "frontdesk", options.Mutation)
			record = NewRecorder(c.Name, options) // the build is not part of the campaign
		}
		frontdesktest.Must(scope, c.Drive(ctx, options, record))
	})
	return record.Report(), err
}

// Logf reports progress.
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
