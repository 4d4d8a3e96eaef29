package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

type row struct {
	work      string // what is measured
	measured  string // its figure in words, with units
	reference string // what it is compared with, and its figure
	ratio     float64
	threshold threshold // zero: the row is shown, but not judged
}

// threshold bounds a ratio. Zero fields set no bound.
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
	fmt.Fprint(to, "| Work | Measured | Compared with | Ratio | Threshold | |\n|---|---|---|---|---|---|\n")
	for _, r := range rows {
		verdict, ratio := "", ""
		if r.ratio != 0 {
			ratio = fmt.Sprintf("%.3g", r.ratio)
		}
		switch {
		case r.threshold == threshold{}:
		case math.IsNaN(r.ratio):
			verdict = "**not measurable**"
		case r.threshold.met(r.ratio):
			verdict = "reached"
		default:
			verdict = "**missed**"
		}
		fmt.Fprintf(to, "| %s | %s | %s | %s | %s | %s |\n", r.work, r.measured, r.reference, ratio, r.threshold, verdict)
	}
}

// missed returns an error that names the rows that miss their threshold; nil when there are none.
func missed(rows []row) error {
	var all []error
	for _, r := range rows {
		if !r.threshold.met(r.ratio) {
			all = append(all, fmt.Errorf("%s: %.3g, and the threshold is %s", r.work, r.ratio, r.threshold))
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
