package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// phases show a crowd and its aftermath.
var phases = []struct {
	name    string
	times   float64 // multiple of the capacity
	lasting time.Duration
}{
	{"before", 0.8, 15 * time.Second}, {"three times the capacity", 3, 30 * time.Second}, {"after", 0.8, 20 * time.Second},
	{"ten times the capacity", 10, 30 * time.Second}, {"after", 0.8, 20 * time.Second},
}

// drawCrowd draws how many visitors arrive and how many journeys are completed, before, during and after
// two crowds.
func drawCrowd(ctx context.Context, to io.Writer, pinned bool) error {
	h, err := newHarness(ctx, pinned)
	if err != nil {
		return err
	}
	defer h.close()
	var capacity float64
	var crowds []*crowd
	if _, err := h.measure(func(h *harness) []row {
		g, b, _ := h.overloadEnv()
		capacity = b.capacity(g)
		for _, p := range phases {
			crowds = append(crowds, b.startCrowd(g, p.times*capacity, p.lasting))
		}
		for _, c := range crowds {
			c.arrived.Wait()
		}
		return nil
	}); err != nil {
		return err
	}
	if len(crowds) < len(phases) {
		return errors.New("the crowds were not measured")
	}
	_, err = io.WriteString(to, drawCrowds(crowds, capacity))
	return err
}

// The measures of the picture of crowds, in its units.
const (
	crowdHeight, crowdLeft, crowdTop, crowdBottom = 380, 60, 60, 30
	leastPerSecond                                = 10.0 // at the bottom; the scale is logarithmic
)

// crowdStyle colours the lines.
const crowdStyle = `<style>
  polyline { fill: none; stroke-width: 2 }
  .offered { stroke: #59636e; fill: #59636e } .completed { stroke: #1a7f37; fill: #1a7f37 }
  polyline.offered, polyline.completed { fill: none }
</style>
`

func drawCrowds(crowds []*crowd, capacity float64) string {
	began, last := crowds[0].began, crowds[len(crowds)-1]
	seconds := last.began.Add(last.lasting).Sub(began).Seconds()
	completed := make([]float64, int(seconds))
	most := capacity
	for _, c := range crowds {
		most = max(most, c.offered)
		for _, at := range c.finished {
			if second := int(at.Sub(began).Seconds()); second < len(completed) {
				completed[second]++
			}
		}
	}
	x := func(second float64) float64 { return crowdLeft + second/seconds*(pictureWidth-crowdLeft-20) }
	y := func(perSecond float64) float64 {
		share := math.Log(max(perSecond, leastPerSecond)/leastPerSecond) / math.Log(most/leastPerSecond)
		return crowdHeight - crowdBottom - share*(crowdHeight-crowdBottom-crowdTop)
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title">`+"\n", pictureWidth, crowdHeight)
	fmt.Fprintf(&out, "<title id=\"title\">Visitors a second, and journeys completed a second, with a capacity of %.0f a second</title>\n", capacity)
	out.WriteString(pictureStyle + crowdStyle)
	fmt.Fprintf(&out, "<rect class=\"offered\" x=\"8\" y=\"10\" width=\"12\" height=\"3\"/><text x=\"26\" y=\"17\">visitors who arrive in a second</text>\n")
	fmt.Fprintf(&out, "<rect class=\"completed\" x=\"243\" y=\"10\" width=\"12\" height=\"3\"/><text x=\"261\" y=\"17\">journeys completed in a second</text>\n")
	for _, perSecond := range []float64{10, 20, 50, 100, 200, 500, 1000, 2000} {
		if perSecond <= most {
			fmt.Fprintf(&out, "<path class=\"ruler\" d=\"M%d %.1fH%d\"/><text class=\"small\" x=\"8\" y=\"%.1f\">%.0f/s</text>\n", crowdLeft, y(perSecond), pictureWidth-20, y(perSecond)+4, perSecond)
		}
	}
	var offered, done strings.Builder
	for i, c := range crowds {
		from := c.began.Sub(began).Seconds()
		fmt.Fprintf(&offered, "%.1f,%.1f %.1f,%.1f ", x(from), y(c.offered), x(from+c.lasting.Seconds()), y(c.offered))
		fmt.Fprintf(&out, "<path class=\"ruler\" d=\"M%.1f %dV%d\"/><text class=\"small\" x=\"%.1f\" y=\"%d\">%s</text>\n", x(from), crowdTop-14, crowdHeight-crowdBottom, x(from)+4, crowdTop-18, phases[i].name)
	}
	for second, n := range completed {
		fmt.Fprintf(&done, "%.1f,%.1f ", x(float64(second)+0.5), y(n))
	}
	fmt.Fprintf(&out, "<polyline class=\"offered\" points=\"%s\"/>\n<polyline class=\"completed\" points=\"%s\"/>\n", strings.TrimSpace(offered.String()), strings.TrimSpace(done.String()))
	for second := 0.0; second < seconds; second += 10 {
		fmt.Fprintf(&out, "<text class=\"small\" x=\"%.1f\" y=\"%d\">%.0f s</text>\n", x(second), crowdHeight-10, second)
	}
	out.WriteString("</svg>\n")
	return out.String()
}
