package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"time"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"

	"frontdesk/e2e/frontdesktest"
)

func draw(ctx context.Context, pinned bool, picture func(*harness) string) error {
	h, err := newHarness(ctx, pinned)
	if err != nil {
		return err
	}
	defer h.close()
	drawn := ""
	if _, err := h.measure(func(h *harness) []row { drawn = picture(h); return nil }); err != nil {
		return err
	}
	fmt.Print(drawn)
	return nil
}

func svg(height int, title, content string) string {
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"title\">\n<title id=\"title\">%s</title>\n<style>\n%s</style>\n%s</svg>\n",
		pictureWidth, height, title, pictureStyle, content)
}

// drawTrace walks one card journey, with every upstream call as long as upstreamTime, and
// draws the gateway's own spans.
func drawTrace(h *harness) string {
	collector := frontdesktest.NewCollector(h)
	upstreams, g, b := h.cardEnv(frontdesktest.NewDurableRedis(h), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	b.journey()
	h.sleep(time.Second) // the events of that one are over
	upstreams.delay.Store(int64(upstreamTime))
	began := uint64(time.Now().UnixNano())
	b.journey()
	h.must(g.Stop()) // the gateway exports its last spans when it stops
	found := slices.DeleteFunc(collector.Spans(), func(s *spans.Span) bool { return s.StartTimeUnixNano < began })
	if len(found) == 0 {
		h.Fatal("the gateway has exported no spans")
	}
	slices.SortFunc(found, func(a, b *spans.Span) int { return cmp.Compare(a.StartTimeUnixNano, b.StartTimeUnixNano) })
	return drawSpans(found)
}

// The measures of the picture, in its units.
const (
	pictureWidth, nameWidth = 960, 330
	lineHeight, topMargin   = 20, 64
	rulerEvery              = 100 // milliseconds between two lines of the ruler
)

// pictureStyle suits a light page and a dark one.
//
//go:embed pictures.css
var pictureStyle string

func drawSpans(found []*spans.Span) string {
	begin, end := found[0].StartTimeUnixNano, found[0].EndTimeUnixNano
	for _, s := range found {
		end = max(end, s.EndTimeUnixNano)
	}
	ms := func(at uint64) float64 { return float64(at-begin) / 1e6 }
	x := func(at uint64) float64 { return nameWidth + ms(at)/ms(end)*(pictureWidth-nameWidth-60) }
	var out strings.Builder
	height := topMargin + lineHeight*len(found) + 12
	for i, c := range classes {
		left := 8 + i*235
		fmt.Fprintf(&out, "<rect class=\"%s\" x=\"%d\" y=\"10\" width=\"12\" height=\"12\" rx=\"2\"/><text x=\"%d\" y=\"20\">%s</text>\n", c.class, left, left+18, c.means)
	}
	for at := 0; float64(at) <= ms(end); at += rulerEvery {
		left := x(begin + uint64(at)*1e6)
		fmt.Fprintf(&out, "<path class=\"ruler\" d=\"M%.1f %dV%d\"/><text class=\"small\" x=\"%.1f\" y=\"%d\">%d ms</text>\n", left, topMargin-8, height-8, left+3, topMargin-12, at)
	}
	for i, s := range nest(found, nil, 0, nil) {
		top, left, right := topMargin+lineHeight*i, x(s.StartTimeUnixNano), x(s.EndTimeUnixNano)
		fmt.Fprintf(&out, "<text x=\"%d\" y=\"%d\">%s</text>", 8+14*s.depth, top+14, html.EscapeString(s.Name))
		fmt.Fprintf(&out, "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>", classOf(s.Name), left, top+4, max(1, right-left), lineHeight-8)
		fmt.Fprintf(&out, "<text class=\"small\" x=\"%.1f\" y=\"%d\">%.0f</text>\n", right+4, top+14, float64(s.EndTimeUnixNano-s.StartTimeUnixNano)/1e6)
	}
	return svg(height, fmt.Sprintf("One card journey: %.0f ms of spans, every upstream call %d ms", ms(end), upstreamTime.Milliseconds()), out.String())
}

type nestedSpan struct {
	*spans.Span
	depth int
}

// nest appends the children of a parent, each followed by its own children. A span whose
// parent is missing, such as one that a browser began, is at the top.
func nest(found []*spans.Span, parent []byte, depth int, into []nestedSpan) []nestedSpan {
	for _, s := range found {
		top := !slices.ContainsFunc(found, func(other *spans.Span) bool { return bytes.Equal(other.SpanId, s.ParentSpanId) })
		if parent == nil && top || parent != nil && bytes.Equal(s.ParentSpanId, parent) {
			into = nest(found, s.SpanId, depth+1, append(into, nestedSpan{s, depth}))
		}
	}
	return into
}

// classes are the colours, by the prefix of a span's name. The first one is the default.
var classes = []struct{ prefix, class, means string }{
	{"", "request", "a request to the gateway"},
	{"club ", "club", "a call to the club system"},
	{"cards ", "cards", "a call to the card processor"},
	{"job ", "own", "a job that a webhook triggers"},
}

func classOf(name string) string {
	for _, c := range slices.Backward(classes) {
		if strings.HasPrefix(name, c.prefix) {
			return c.class
		}
	}
	return ""
}

// The measures of the picture of crowds, in its units.
const (
	crowdHeight, crowdLeft, crowdTop, crowdBottom = 380, 60, 60, 30
	leastPerSecond                                = 10.0 // at the bottom; the scale is logarithmic
)

// drawCrowd draws how many visitors ask to start and how many journeys are completed, before, during and after
// two crowds.
func drawCrowd(h *harness) string {
	capacity, v := h.mostJourneys(), h.visitors()
	phases := []struct {
		name  string
		times float64 // multiple of the capacity
		plan
	}{
		{"before", 0.8, plan{counted: 15}}, {"three times the capacity", 3, plan{counted: 30, stay: 20}}, {"after", 0.8, plan{counted: 20}},
		{"ten times the capacity", 10, plan{counted: 30, stay: 20}}, {"after", 0.8, plan{counted: 20}},
	}
	var asked, completed series
	for _, p := range phases {
		b := v.send(p.times*capacity, p.plan)
		asked, completed = append(asked, b.asked...), append(completed, b.completed...)
	}
	var out strings.Builder
	most, from := max(capacity, slices.Max(asked)), 0
	x := func(second float64) float64 {
		return crowdLeft + second/float64(len(asked))*(pictureWidth-crowdLeft-20)
	}
	y := func(perSecond float64) float64 {
		share := math.Log(max(perSecond, leastPerSecond)/leastPerSecond) / math.Log(most/leastPerSecond)
		return crowdHeight - crowdBottom - share*(crowdHeight-crowdBottom-crowdTop)
	}
	for _, perSecond := range []float64{10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000} {
		if perSecond <= most {
			fmt.Fprintf(&out, "<path class=\"ruler\" d=\"M%d %.1fH%d\"/><text class=\"small\" x=\"8\" y=\"%.1f\">%.0f/s</text>\n", crowdLeft, y(perSecond), pictureWidth-20, y(perSecond)+4, perSecond)
		}
	}
	for _, p := range phases {
		left := x(float64(from))
		fmt.Fprintf(&out, "<path class=\"ruler\" d=\"M%.1f %dV%d\"/><text class=\"small\" x=\"%.1f\" y=\"%d\">%s</text>\n", left, crowdTop-14, crowdHeight-crowdBottom, left+4, crowdTop-18, p.name)
		from += p.counted
	}
	for second := 0; second < len(asked); second += 10 {
		fmt.Fprintf(&out, "<text class=\"small\" x=\"%.1f\" y=\"%d\">%d s</text>\n", x(float64(second)), crowdHeight-10, second)
	}
	line := func(class string, left int, means string, of series) {
		fmt.Fprintf(&out, "<rect class=\"%s\" x=\"%d\" y=\"10\" width=\"12\" height=\"3\"/><text x=\"%d\" y=\"17\">%s</text>\n<polyline class=\"%s\" points=\"", class, left, left+18, means, class)
		for second, n := range of {
			fmt.Fprintf(&out, "%.1f,%.1f ", x(float64(second)+0.5), y(n))
		}
		out.WriteString("\"/>\n")
	}
	line("offered", 8, "requests to start in a second", asked)
	line("completed", 243, "journeys completed in a second", completed)
	return svg(crowdHeight, fmt.Sprintf("Requests to start a second, and journeys completed a second, with a capacity of %.0f a second", capacity), out.String())
}
