package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// row is a line of the table.
type row struct {
	work      string // what is measured
	measured  string // its figure in words, with units
	reference string // what it is compared with, and the figure of that
	ratio     float64
	threshold threshold // zero: the row is shown, and nothing is asked of it
}

// threshold is what a ratio has to reach. Zero fields ask for nothing.
type threshold struct{ atLeast, atMost float64 }

func (b threshold) String() string {
	switch {
	case b.atLeast != 0:
		return fmt.Sprintf("≥ %.4g", b.atLeast)
	case b.atMost != 0:
		return fmt.Sprintf("≤ %.4g", b.atMost)
	}
	return ""
}

func (b threshold) met(ratio float64) bool {
	return (b.atLeast == 0 || ratio >= b.atLeast) && (b.atMost == 0 || ratio <= b.atMost)
}

// printTable writes the rows as Markdown.
func printTable(to io.Writer, rows []row) {
	fmt.Fprint(to, "| Work | Today | Beside | Ratio | To reach | |\n|---|---|---|---|---|---|\n")
	for _, r := range rows {
		verdict, ratio := "", ""
		if r.ratio != 0 {
			ratio = fmt.Sprintf("%.3g", r.ratio)
		}
		if r.threshold != (threshold{}) {
			verdict = "reached"
			if !r.threshold.met(r.ratio) {
				verdict = "**missed**"
			}
		}
		fmt.Fprintf(to, "| %s | %s | %s | %s | %s | %s |\n", r.work, r.measured, r.reference, ratio, r.threshold, verdict)
	}
}

// missed is an error that names the rows below their bar; nil when there are none.
func missed(rows []row) error {
	var all []error
	for _, r := range rows {
		if !r.threshold.met(r.ratio) {
			all = append(all, fmt.Errorf("%s: %.3g, and the bar is %s", r.work, r.ratio, r.threshold))
		}
	}
	return errors.Join(all...)
}

// rounds is how often each side of a comparison is measured: seven, so that two bad
// ones at either end do not move the median.
const rounds = 7

// series is what was measured of one contender, round after round.
type series []float64

func (s series) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}

// ratioTo is the median of the ratios of two series, round by round: what a neighbour on the
// machine does to a round, it does to both sides.
func (s series) ratioTo(other series) float64 {
	ratios := make(series, len(s))
	for i := range s {
		ratios[i] = s[i] / other[i]
	}
	return ratios.median()
}

// interleave measures contenders in turn, rounds times, each in another place every
// time. It gives a series for each.
func interleave(contenders ...func() (float64, error)) ([]series, error) {
	all := make([]series, len(contenders))
	for round := range rounds {
		for i := range contenders {
			at := (i + round) % len(contenders)
			figure, err := contenders[at]()
			if err != nil {
				return nil, err
			}
			all[at] = append(all[at], figure)
		}
	}
	return all, nil
}
