package campaign

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"go.yaml.in/yaml/v4"
)

// Report is the result of a run.
type Report struct {
	Campaign       string
	Seed           uint64
	Mutation       string         `yaml:",omitempty"` // of the build; empty: none
	Journeys       int            // journeys driven to their end
	Faults         map[string]int // faults that happened, by kind
	States         map[string]int // states in which the journeys ended
	Violations     []Violation    `yaml:",omitempty"`
	ViolationCount int            // all violations, including those not kept above
	Duration       time.Duration
	Buyers         map[string]int `yaml:",omitempty"` // buyers who met something else, by what it was
}

// Violation is an invariant that was broken, and enough to see it again.
type Violation struct {
	Invariant    string // one of invariants.go
	Detail       string
	Seed         uint64 // of the journey, where it has its own; else of the run
	Registration string // the registration
	Trace        []string
}

// PerSecond is how many journeys were driven in a second.
func (r *Report) PerSecond() float64 {
	return float64(r.Journeys) / r.Duration.Seconds()
}

// Err returns why the run proves nothing, or what it found; nil for a run that counts and found nothing.
func (r *Report) Err(campaign Campaign, options Options) error {
	var errs []error
	if r.ViolationCount > 0 {
		first := r.Violations[0]
		errs = append(errs, fmt.Errorf("%d violations, the first: %s (%s), seed %d, registration %s:\n  %s",
			r.ViolationCount, first.Invariant, first.Detail, first.Seed, first.Registration, strings.Join(first.Trace, "\n  ")))
	}
	if r.Journeys == 0 {
		errs = append(errs, errors.New("no journey came to its end"))
	}
	if options.OnlySeed != 0 {
		return errors.Join(errs...) // one journey does not meet every fault
	}
	if options.Count > 0 && options.Duration > 0 && !options.StopAtViolation && r.Journeys < options.Count { // the time was over first
		errs = append(errs, fmt.Errorf("%d journeys ended; the run counts only with %d", r.Journeys, options.Count))
	}
	for _, kind := range campaign.Faults {
		if least := max(1, options.MinFaults[kind]); r.Faults[kind] < least {
			errs = append(errs, fmt.Errorf("the fault %q happened %d times; the run counts only with %d", kind, r.Faults[kind], least))
		}
	}
	return errors.Join(errs...)
}

// String is the report as YAML, for people and for the process that started this one.
func (r *Report) String() string {
	text, err := yaml.Marshal(r)
	if err != nil {
		panic(err) // plain data can always be written
	}
	return string(text)
}

// Recorder collects a report from many goroutines.
type Recorder struct {
	mu        sync.Mutex
	report    Report
	startedAt time.Time
}

// NewRecorder begins a report.
func NewRecorder(campaign string, options Options) *Recorder {
	return &Recorder{startedAt: time.Now(), report: Report{
		Campaign: campaign,
		Seed:     options.Seed,
		Faults:   map[string]int{},
		States:   map[string]int{},
		Buyers:   map[string]int{},
	}}
}

// AddJourney notes a journey that came to its end.
func (r *Recorder) AddJourney(state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Journeys++
	r.report.States[state]++
}

// AddFault notes that a fault of a kind happened.
func (r *Recorder) AddFault(kind string) { r.AddFaults(kind, 1) }

// AddFaults notes how often a fault of a kind happened. One that never did has no line in the report.
func (r *Recorder) AddFaults(kind string, times int) { r.count(r.report.Faults, kind, times) }

// AddBuyers notes how many buyers met something that is neither a fault nor the end of their journey.
func (r *Recorder) AddBuyers(what string, number int) { r.count(r.report.Buyers, what, number) }

func (r *Recorder) count(counts map[string]int, what string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > 0 {
		counts[what] += n
	}
}

// AddViolations notes violations.
func (r *Recorder) AddViolations(violations ...Violation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const maxViolations = 20 // the first ones show the cause, the hundredth adds nothing
	r.report.ViolationCount += len(violations)
	room := maxViolations - len(r.report.Violations)
	r.report.Violations = append(r.report.Violations, violations[:min(room, len(violations))]...)
}

// ViolationCount returns how many violations were noted.
func (r *Recorder) ViolationCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.report.ViolationCount
}

// EnoughFaults reports whether every kind of fault happened as often as the options ask for.
func (r *Recorder) EnoughFaults(options Options) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind, least := range options.MinFaults {
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
	r.report.Duration = time.Since(r.startedAt)
	return &r.report
}

// Results are all reports of one occasion, the record.
type Results struct {
	At       time.Time
	Version  string // of the tree, as git names it
	Machine  string
	Duration time.Duration // of all campaigns
	Reports  []Result
}

// Result is one campaign with the mutations that it was tried on.
type Result struct {
	Report      *Report
	Killed      []*Report
	Description string
	Failed      string `yaml:",omitempty"` // why it does not count, or what it found
}

// ReadResults reads a file that Write wrote.
func ReadResults(file string) (results Results, err error) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(text, &results)
	}
	return results, err
}

// Write writes the record into a file.
func (r Results) Write(file string) error {
	text, err := yaml.Marshal(r)
	return errors.Join(err, os.WriteFile(file, text, 0o644))
}

//go:embed reliability.txt.tmpl
var outputText string

var output = template.Must(template.New("reliability").Funcs(template.FuncMap{
	"rows":    rows,
	"seconds": func(d time.Duration) time.Duration { return d.Round(time.Second) },
	"tenths":  func(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) },
	"mutation": func(name string) (string, error) {
		mutation, err := MutationNamed(name)
		return mutation.Description, err
	},
}).Parse(outputText))

// Document writes the record as text, with all figures and without traces.
func (r Results) Document(w io.Writer) error { return output.Execute(w, r) }

// Found is how many mutations the campaign found.
func (r Result) Found() (found int) {
	for _, killed := range r.Killed {
		if killed.ViolationCount > 0 {
			found++
		}
	}
	return found
}

// Chance bounds the probability that a journey under these faults breaks an invariant, by the rule of
// three: where n trials show no case, it is below 3/n at 95 % confidence.
func (r *Report) Chance() string {
	switch {
	case r.ViolationCount > 0:
		return "see below"
	case r.Journeys == 0:
		return "nothing was tried"
	default:
		return fmt.Sprintf("below %.2g", 3/float64(r.Journeys))
	}
}

// FaultCount is how many faults happened, of all kinds.
func (r *Report) FaultCount() (sum int) {
	for _, n := range r.Faults {
		sum += n
	}
	return sum
}

// rows renders counts, the largest first.
func rows(counts map[string]int) (rows []string) {
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	for _, name := range names {
		rows = append(rows, fmt.Sprintf("%9d %s", counts[name], name))
	}
	return rows
}
