package campaign

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// Report is what came of a run.
type Report struct {
	Campaign   string         `json:"campaign"`
	Seed       uint64         `json:"seed"`
	Weakness   string         `json:"weakness,omitempty"` // of the build; empty: none
	Flows      int            `json:"flows"`              // journeys driven to their end
	Faults     map[string]int `json:"faults"`             // that happened, by kind
	States     map[string]int `json:"states"`             // in which the journeys ended
	Violations []Violation    `json:"violations,omitempty"`
	Broken     int            `json:"broken"` // violations in all, also those that are not kept above
	Took       time.Duration  `json:"took"`   // nanoseconds
	Notes      []string       `json:"notes,omitempty"`
}

// Violation is an invariant that was broken, and enough to see it again.
type Violation struct {
	Invariant string   `json:"invariant"` // one of invariant.go
	Detail    string   `json:"detail"`
	Seed      uint64   `json:"seed"` // of the one journey where it has its own; else of the run
	Flow      string   `json:"flow"` // the registration
	Trace     []string `json:"trace"`
}

// keptViolations: the first ones tell the cause, the hundredth tells nothing new.
const keptViolations = 20

// PerSecond is how many journeys were driven in a second.
func (r *Report) PerSecond() float64 {
	if r.Took <= 0 {
		return 0
	}
	return float64(r.Flows) / r.Took.Seconds()
}

// Err says why the run proves nothing, or what it has found; nil for a run that
// counts and found nothing.
func (r *Report) Err(c Campaign, o Options) error {
	var errs []error
	if r.Broken > 0 {
		first := r.Violations[0]
		errs = append(errs, fmt.Errorf("%d violations, the first: %s (%s), seed %d, registration %s:\n  %s",
			r.Broken, first.Invariant, first.Detail, first.Seed, first.Flow, strings.Join(first.Trace, "\n  ")))
	}
	if r.Flows == 0 {
		errs = append(errs, errors.New("no journey came to its end"))
	}
	if o.Only != 0 {
		return errors.Join(errs...) // one journey does not meet every fault
	}
	for _, kind := range c.Faults {
		if least := max(1, o.Least[kind]); r.Faults[kind] < least {
			errs = append(errs, fmt.Errorf("the fault %q happened %d times, and has to happen %d times for the run to count", kind, r.Faults[kind], least))
		}
	}
	return errors.Join(errs...)
}

// Print writes the report as a table.
func (r *Report) Print(w io.Writer) {
	fmt.Fprintf(w, "%s: %d journeys in %s (%.0f/s), seed %d, violations: %d\n", r.Campaign, r.Flows, r.Took.Round(time.Millisecond), r.PerSecond(), r.Seed, r.Broken)
	if r.Weakness != "" {
		fmt.Fprintf(w, "built with the weakness %s\n", r.Weakness)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, part := range []struct {
		title  string
		counts map[string]int
	}{{"fault", r.Faults}, {"ended as", r.States}} {
		for _, name := range slices.Sorted(maps.Keys(part.counts)) {
			fmt.Fprintf(table, "  %s\t%s\t%d\n", part.title, name, part.counts[name])
		}
	}
	table.Flush()
	for _, note := range r.Notes {
		fmt.Fprintf(w, "  note: %s\n", note)
	}
	for _, v := range r.Violations {
		fmt.Fprintf(w, "VIOLATION %s: %s\n  seed %d, registration %s\n    %s\n", v.Invariant, v.Detail, v.Seed, v.Flow, strings.Join(v.Trace, "\n    "))
	}
}

// Recorder collects a report from many goroutines.
type Recorder struct {
	mu     sync.Mutex
	report Report
	began  time.Time
}

// NewRecorder begins a report.
func NewRecorder(campaign string, o Options) *Recorder {
	return &Recorder{began: time.Now(), report: Report{Campaign: campaign, Seed: o.Seed, Faults: map[string]int{}, States: map[string]int{}}}
}

// Flow notes a journey that came to its end.
func (r *Recorder) Flow(state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Flows++
	r.report.States[state]++
}

// Fault notes that a fault of a kind happened.
func (r *Recorder) Fault(kind string) { r.Faults(map[string]int{kind: 1}) }

// Faults notes faults that happened.
func (r *Recorder) Faults(counts map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind, n := range counts {
		r.report.Faults[kind] += n
	}
}

// Note adds a sentence to the report.
func (r *Recorder) Note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Notes = append(r.report.Notes, fmt.Sprintf(format, args...))
}

// Violated notes violations.
func (r *Recorder) Violated(violations ...Violation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Broken += len(violations)
	room := keptViolations - len(r.report.Violations)
	r.report.Violations = append(r.report.Violations, violations[:min(room, len(violations))]...)
}

// Broken tells how many violations were noted.
func (r *Recorder) Broken() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.report.Broken
}

// Count tells how many journeys came to their end so far.
func (r *Recorder) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.report.Flows
}

// Enough tells whether every kind of fault happened as often as the options ask for.
func (r *Recorder) Enough(o Options) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind, least := range o.Least {
		if r.report.Faults[kind] < least {
			return false
		}
	}
	return true
}

// Report ends the collection.
func (r *Recorder) Report() *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Took = time.Since(r.began)
	return &r.report
}
