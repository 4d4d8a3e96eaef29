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
	At      time.Time `json:"at"`
	Version string    `json:"version"` // of the tree, as git names it
	Machine string    `json:"machine"`
	Reports []Result  `json:"reports"`
}

// Result is one campaign with the weaknesses that it was tried on.
type Result struct {
	Report *Report   `json:"report"`
	Caught []*Report `json:"caught"`
	About  string    `json:"about"`
	Failed string    `json:"failed,omitempty"` // why it does not count, or what it found
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
	fmt.Fprintf(w, `# Reliability

What was done to Frontdesk on purpose, and what became of the money. Written by
`+"`make campaign`"+` from its results on %s, version %s, on %s; every figure is of that run.

A campaign drives many registrations while things go wrong, and then asks the club
system's ledger and the card processor's list, never the gateway alone. It counts only
if its faults are proved to have happened, and if builds with a mistake put in on
purpose are found out. Where n journeys showed no violation, the probability of one in a
journey under such faults lies below 3/n at 95 %% confidence (the rule of three). Faults
are thousands of times denser here than in any club's year.

| Campaign | Journeys | Violations | Probability of one | Faults | Took |
|---|---:|---:|---:|---:|---:|
`, r.At.UTC().Format(time.DateOnly), r.Version, r.Machine)
	for _, result := range r.Reports {
		bound := "below " + ruleOfThree(result.Report.Flows)
		if result.Report.Broken > 0 {
			bound = "see below"
		}
		fmt.Fprintf(w, "| [%s](#%s) | %d | %d | %s | %d | %s |\n", result.Report.Campaign, result.Report.Campaign,
			result.Report.Flows, result.Report.Broken, bound, sum(result.Report.Faults), result.Report.Took.Round(time.Second))
	}
	fmt.Fprintf(w, "\nWhat is held true of every journey stands in `e2e/campaign/invariant.go`.\n")
	for _, result := range r.Reports {
		result.document(w)
	}
}

func (r Result) document(w io.Writer) {
	fmt.Fprintf(w, "\n## %s\n\n%s\n\nSeed %d, %.0f journeys a second.\n\n", r.Report.Campaign, r.About, r.Report.Seed, r.Report.PerSecond())
	if r.Failed != "" {
		fmt.Fprintf(w, "**It failed:**\n\n```\n%s\n```\n\n", r.Failed)
	}
	fmt.Fprintf(w, "| Fault | Times | | Ended as | Journeys |\n|---|---:|---|---|---:|\n")
	faults, states := rows(r.Report.Faults), rows(r.Report.States)
	for i := range max(len(faults), len(states)) {
		fmt.Fprintf(w, "| %s | | %s |\n", rowOr(faults, i), rowOr(states, i))
	}
	for _, note := range r.Report.Notes {
		fmt.Fprintf(w, "\n%s\n", note)
	}
	if len(r.Caught) == 0 {
		return
	}
	fmt.Fprintf(w, "\nMistakes that were built in, and found:\n\n| Mistake | Found as | After | |\n|---|---|---:|---:|\n")
	for _, caught := range r.Caught {
		about, as := caught.Weakness, "not found"
		if weakness, err := WeaknessNamed(caught.Weakness); err == nil {
			about = weakness.About
		}
		if caught.Broken > 0 {
			as = caught.Violations[0].Invariant
		}
		fmt.Fprintf(w, "| %s | %s | %d journeys | %s |\n", about, as, caught.Flows, caught.Took.Round(100*time.Millisecond))
	}
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

func rowOr(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return " | "
}

func sum(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
