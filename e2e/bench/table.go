package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// row is a line of the table.
type row struct {
	work      string // what is measured
	measured  string // its figure in words, with units
	reference string // what it is compared with, and its figure
	checks    []check
}

// check judges a ratio.
type check struct {
	name      string // tells the checks of a row apart; empty if the row has one
	ratio     float64
	threshold threshold
}

// judged returns the checks of a row that has one.
func judged(ratio float64, by threshold) []check { return []check{{"", ratio, by}} }

// String renders a check as the table shows it.
func (c check) String() string {
	text := strings.TrimSpace(fmt.Sprintf("%s %.3g", c.name, c.ratio))
	if c.threshold == (threshold{}) {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, c.threshold)
}

func (c check) met() bool { return c.threshold.met(c.ratio) }

// verdict says of a row whether all its checks reach their thresholds.
func (r row) verdict() string {
	unmeasurable := func(c check) bool { return math.IsNaN(c.ratio) }
	below := func(c check) bool { return !c.met() }
	switch {
	case slices.ContainsFunc(r.checks, unmeasurable):
		return "**not measurable**"
	case slices.ContainsFunc(r.checks, below):
		return "**missed**"
	case len(r.checks) > 0:
		return "reached"
	}
	return ""
}

// threshold bounds a ratio. Zero fields set no bound, and the zero value judges nothing.
type threshold struct{ atLeast, atMost float64 }

// String renders a threshold as the table shows it.
func (t threshold) String() string {
	switch {
	case t.atLeast != 0:
		return fmt.Sprintf("≥ %.4g", t.atLeast)
	case t.atMost != 0:
		return fmt.Sprintf("≤ %.4g", t.atMost)
	}
	return ""
}

func (t threshold) met(ratio float64) bool {
	return (t.atLeast == 0 || ratio >= t.atLeast) && (t.atMost == 0 || ratio <= t.atMost)
}

func printTable(to io.Writer, rows []row) {
	fmt.Fprint(to, "| Work | Measured | Compared with | Ratio, threshold | |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		var checks []string
		for _, c := range r.checks {
			checks = append(checks, c.String())
		}
		fmt.Fprintf(to, "| %s | %s | %s | %s | %s |\n", r.work, r.measured, r.reference, strings.Join(checks, "; "), r.verdict())
	}
}

// missed returns an error that names what misses its threshold; nil when nothing does.
func missed(rows []row) error {
	var all []error
	for _, r := range rows {
		for _, c := range r.checks {
			if !c.met() {
				all = append(all, fmt.Errorf("%s: %s", r.work, c))
			}
		}
	}
	return errors.Join(all...)
}

// rounds is how often each side of a comparison is measured. With seven rounds, two bad ones at either
// end do not move the median.
const rounds = 7

// series holds the measurements of one contender, round by round.
type series []float64

func (s series) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func (s series) sum() (all float64) {
	for _, one := range s {
		all += one
	}
	return all
}

// combine applies a function to two series, round by round.
func (s series) combine(other series, with func(a, b float64) float64) series {
	combined := make(series, len(s))
	for i := range s {
		combined[i] = with(s[i], other[i])
	}
	return combined
}

// ratioTo is the median of the ratios of two series, round by round: a neighbour on the
// machine slows both sides of a round alike.
func (s series) ratioTo(other series) float64 {
	return s.combine(other, func(a, b float64) float64 { return a / b }).median()
}

// interleave measures contenders in turn, rounds times, in rotating order. It returns a series for each.
func interleave(contenders ...func() float64) []series {
	all := make([]series, len(contenders))
	for round := range rounds {
		for i := range contenders {
			at := (i + round) % len(contenders)
			all[at] = append(all[at], contenders[at]())
		}
	}
	return all
}
