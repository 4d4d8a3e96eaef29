package main

import (
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestACrowdIsComparedWithItsBetterNeighbour(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, crowd, after, late, stolen float64
		goodput, recovery                  bool
	}{
		"a neighbour of the machine slows the first": {before: 45, crowd: 82, after: 90, goodput: true, recovery: true},
		"the crowd costs too much":                   {before: 90, crowd: 80, after: 90, recovery: true},
		"no recovery":                                {before: 90, crowd: 85, after: 80, goodput: true},
		"a collapse that lasts":                      {before: 90, crowd: 45, after: 10},
		"the load was late":                          {before: 90, crowd: 90, after: 90, late: 0.02},
		"others took the machine":                    {before: 90, crowd: 90, after: 90, stolen: 0.2},
	} {
		var blocks []*block
		for _, perSecond := range []float64{test.before, test.crowd, test.after} {
			histogram := hdrhistogram.New(1, 1000, 3)
			blocks = append(
				blocks,
				&block{
					perSecond:  perSecond,
					offered:    100,
					late:       test.late,
					stolen:     test.stolen,
					asked:      make(series, 10),
					journeys:   histogram,
					turnedAway: histogram,
				},
			)
		}
		checks := round{blocks[0], blocks[1], blocks[2]}.checks(threshold{atLeast: 0.9}, threshold{})
		goodput, recovery := checks[0], checks[len(checks)-1]
		if goodput.met() != test.goodput || recovery.met() != test.recovery {
			t.Errorf("%s: %s and %s", name, goodput, recovery)
		}
	}
}

func TestACollapseThatLastsMisses(t *testing.T) {
	t.Parallel()
	at := func(perSecond float64) func() *block {
		histogram := hdrhistogram.New(1, 1000, 3)
		return func() *block {
			return &block{
				perSecond:  perSecond,
				offered:    100,
				memory:     1,
				asked:      make(series, 10),
				journeys:   histogram,
				turnedAway: histogram,
			}
		}
	}
	short, later := alternate(rounds, at(10), at(10)), alternate(3, at(90), at(10))
	judged := crowdRow("", alternate(1, at(90), at(90)), short, later)
	if last := judged.checks[len(judged.checks)-1]; last.met() {
		t.Error(last)
	}
	if judged.verdict() != "**missed**" || missed([]row{judged}) == nil {
		t.Errorf("the table says %s", judged.verdict())
	}
}
