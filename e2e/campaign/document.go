package campaign

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/template"
	"time"
)

// Results are all reports of one occasion, the record.
type Results struct {
	At       time.Time     `json:"at"`
	Version  string        `json:"version"` // of the tree, as git names it
	Machine  string        `json:"machine"`
	Duration time.Duration `json:"duration"` // nanoseconds, of all campaigns
	Reports  []Result      `json:"reports"`
}

// Result is one campaign with the mutations that it was tried on.
type Result struct {
	Report      *Report   `json:"report"`
	Killed      []*Report `json:"killed"`
	Description string    `json:"description"`
	Failed      string    `json:"failed,omitempty"` // why it does not count, or what it found
}

// Has reports whether the record has a campaign.
func (r Results) Has(name string) bool {
	return slices.ContainsFunc(r.Reports, func(result Result) bool { return result.Report.Campaign == name })
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

//go:embed reliability.md.tmpl
var pageText string

var page = template.Must(template.New("reliability").Funcs(template.FuncMap{
	"rows":    rows,
	"seconds": func(d time.Duration) time.Duration { return d.Round(time.Second) },
	"tenths":  func(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) },
	"mutation": func(name string) (string, error) {
		mutation, err := MutationNamed(name)
		return mutation.Description, err
	},
}).Parse(pageText))

// Document writes the record as a page for readers who decide what to trust.
func (r Results) Document(w io.Writer) error { return page.Execute(w, r) }

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
		rows = append(rows, fmt.Sprintf("%s | %d", strings.ReplaceAll(name, "|", "/"), counts[name]))
	}
	return rows
}
