package campaign

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Results are all reports of one occasion, the record.
type Results struct {
	At       time.Time     `json:"at"`
	Version  string        `json:"version"` // of the tree, as git names it
	Machine  string        `json:"machine"`
	Duration time.Duration `json:"took"` // nanoseconds, until the latest report
	Reports  []Result      `json:"reports"`
}

// Result is one campaign with the weaknesses that it was tried on.
type Result struct {
	Report      *Report   `json:"report"`
	Killed      []*Report `json:"caught"`
	Description string    `json:"about"`
	Failed      string    `json:"failed,omitempty"` // why it does not count, or what it found
}

// ReadResults reads what Write wrote.
func ReadResults(r io.Reader) (Results, error) {
	var results Results
	err := json.NewDecoder(r).Decode(&results)
	return results, err
}

// Write writes the record.
func (r Results) Write(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// ruleOfThree bounds a probability of which n trials showed no case: at 95 %
// confidence it lies below 3/n.
func ruleOfThree(n int) string {
	if n == 0 {
		return "nothing was tried"
	}
	return fmt.Sprintf("%.2g", 3/float64(n))
}

// Document writes the record as a page for people who want to know what to trust.
func (r Results) Document(w io.Writer) {
	r.introduce(w)
	r.summarise(w)
	for _, result := range r.Reports {
		result.document(w)
	}
	r.repeat(w)
}

func (r Results) introduce(w io.Writer) {
	fmt.Fprintf(w, `# Reliability

This page records what was done to Frontdesk on purpose, and what became of the money.
It is written by `+"`make campaign`"+` and is not edited by hand: every figure is from one run.

| | |
|---|---|
| Date | %s |
| Commit | %s |
| Machine | %s |
| Duration | %s |

## What the figures mean

Each campaign drives a great many registrations while one kind of thing goes wrong all the
time: connections break at any byte, gateways are killed between any two lines, Redis
forgets, webhooks are lost, forged or repeated, 64 callers press the same button. When the
trouble is over, the club system's ledger and the card processor's list of payments are
compared with each other and with what the gateways told the buyers. The gateways' own word
is never taken for it.

What must hold of every journey is in `+"`e2e/campaign/invariant.go`"+`. In short: no sale is
booked twice; "recorded" means that exactly the amount taken was booked; money that was taken
is recorded, given back, or in front of an operator ten minutes later at the latest; nothing
that was booked is given back; nobody whose money was taken is told to pay again; no personal
data is in a log or in plain in Redis.

A run counts only under two conditions, and fails otherwise:

- **The faults happened.** Each kind of fault is counted where it takes effect, and has to
  have occurred at least once (in the long form, as often as the tables say).
- **The campaign can find mistakes.** The same campaign is run against gateways into which a
  mistake was built on purpose, the kind that an honest programmer makes, and has to find it.

No number of clean runs proves that there is no mistake. If n journeys went well, the chance
that one journey *under these faults* goes wrong is below 3/n, with 95 %% confidence (the
"rule of three"). That is a cautious bound for daily use, where faults are thousands of times
rarer than here.

What this cannot show: the card processor is the sandbox and the club system the simulator
that ship with Frontdesk. That the real ones behave as documented is for
`+"`frontdesk doctor`"+` and a trial against the processor's own test environment to show. Payments at the desk, later and
for nothing leave no journal at a card processor: they rest on what Redis acknowledged, so that
Redis fails but does not forget in their journeys. And what is only read right after Redis
forgot may be older than what was read before; asking to pay asks the processor, and is not.
`, r.At.UTC().Format("2 January 2006, 15:04 UTC"), r.Version, r.Machine, r.Duration.Round(time.Second))
}

func (r Results) summarise(w io.Writer) {
	fmt.Fprint(w, `
## Summary

| Campaign | Journeys | Violations | Chance per journey | Faults | Mistakes found | Took |
|---|---:|---:|---:|---:|---:|---:|
`)
	for _, result := range r.Reports {
		report, found := result.Report, 0
		for _, caught := range result.Killed {
			if caught.ViolationCount > 0 {
				found++
			}
		}
		bound := "below " + ruleOfThree(report.Journeys)
		if report.ViolationCount > 0 {
			bound = "see below"
		}
		fmt.Fprintf(w, "| [%s](#%s) | %d | %d | %s | %d | %d of %d | %s |\n", report.Campaign, report.Campaign,
			report.Journeys, report.ViolationCount, bound, sum(report.Faults), found, len(result.Killed), report.Duration.Round(time.Second))
	}
	fmt.Fprint(w, "\nThe campaigns ran side by side, so that their durations add up to more than the whole.\n")
}

func (r Results) repeat(w io.Writer) {
	fmt.Fprint(w, `
## How to repeat it

`+"```"+`
make campaign                                                # all of it, for this page
go run ./e2e/campaign/run list                               # the campaigns, and the mistakes that can be built in
go run ./e2e/campaign/run kill --for 2m                      # one campaign, for a while
go run ./e2e/campaign/run redis --weak redis-alone           # one campaign against one mistake
go run ./e2e/campaign/run simulation --only SEED             # one journey of the simulation, with its trace
`+"```"+`

A journey of the simulation is decided by its seed alone and repeats exactly. The campaigns
with processes repeat their decisions, not the timing of the machine; their violations come
with the trace of the journey. Short forms of all of them are part of `+"`make test`"+`.
`)
}

func (r Result) document(w io.Writer) {
	fmt.Fprintf(w, "\n## %s\n\n%s\n\nSeed %d; %d journeys in %s, %.3g a second.\n\n", r.Report.Campaign, r.Description, r.Report.Seed,
		r.Report.Journeys, r.Report.Duration.Round(time.Second), r.Report.PerSecond())
	if r.Failed != "" {
		fmt.Fprintf(w, "**This campaign failed.** Seeds and traces are in the record that the page is made from.\n\n```\n%s\n```\n\n", clipped(r.Failed))
	}
	fmt.Fprintf(w, "| Fault | Times |\n|---|---:|\n")
	for _, row := range rows(r.Report.Faults) {
		fmt.Fprintf(w, "| %s |\n", row)
	}
	fmt.Fprintf(w, "\n| Journeys that ended as | |\n|---|---:|\n")
	for _, row := range rows(r.Report.States) {
		fmt.Fprintf(w, "| %s |\n", row)
	}
	for _, note := range r.Report.Notes {
		fmt.Fprintf(w, "\n%s\n", note)
	}
	if len(r.Killed) > 0 {
		fmt.Fprintf(w, "\n| Mistake that was built in | Found because | After |\n|---|---|---:|\n")
	}
	for _, caught := range r.Killed {
		fmt.Fprintf(w, "| %s |\n", caught.killedRow())
	}
}

// killedRow is a report of a build with a weakness, as a row.
func (r *Report) killedRow() string {
	about, as := r.Mutation, "**not found**"
	if weakness, err := MutationNamed(r.Mutation); err == nil {
		about = "`" + r.Mutation + "`: " + weakness.Description
	}
	if r.ViolationCount > 0 {
		as = r.Violations[0].Invariant
	}
	return fmt.Sprintf("%s | %s | %d journeys, %s", about, as, r.Journeys, r.Duration.Round(100*time.Millisecond))
}

// clipped keeps the beginning of a long text: a trace belongs into the record, not on a page.
func clipped(text string) string {
	const most = 2000
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// rows renders counts, the largest first.
func rows(counts map[string]int) (rows []string) {
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	for _, name := range names {
		rows = append(rows, fmt.Sprintf("%s | %d", strings.ReplaceAll(name, "|", "/"), counts[name]))
	}
	return rows
}

func sum(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
