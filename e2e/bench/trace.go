package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"time"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"

	"frontdesk/e2e/frontdesktest"
)

// drawTrace walks one card journey, with every upstream call as long as upstreamCall, and
// draws the gateway's own spans.
func drawTrace(ctx context.Context, to io.Writer) error {
	h, err := newHarness(ctx, false)
	if err != nil {
		return err
	}
	defer h.close()
	var found []*spans.Span
	if _, err := h.measure(func(h *harness) []row { found = h.traceJourney(); return nil }); err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New("the gateway has exported no spans")
	}
	_, err = io.WriteString(to, drawSpans(found))
	return err
}

func (h *harness) traceJourney() []*spans.Span {
	collector := frontdesktest.NewCollector(h)
	upstreams, g, b := h.cardEnv(frontdesktest.NewDurableRedis(h), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	b.journey()
	h.sleep(time.Second) // the events of that one are over
	upstreams.delay.Store(int64(upstreamCall))
	began := uint64(time.Now().UnixNano())
	b.journey()
	h.must(g.Stop()) // the gateway exports its last spans when it stops
	found := slices.DeleteFunc(collector.Spans(), func(s *spans.Span) bool { return s.StartTimeUnixNano < began })
	slices.SortFunc(found, func(a, b *spans.Span) int { return cmp.Compare(a.StartTimeUnixNano, b.StartTimeUnixNano) })
	return found
}

// The measures of the picture, in its units.
const (
	pictureWidth, nameWidth = 960, 330
	lineHeight, topMargin   = 20, 64
	rulerEvery              = 100 // milliseconds between two lines of the ruler
)

// pictureStyle suits a light page and a dark one.
const pictureStyle = `<style>
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .small { font-size: 11px; fill: #59636e }
  .ruler { stroke: #d1d9e0; stroke-width: 1 }
  .request { fill: #8250df } .club { fill: #1a7f37 } .cards { fill: #0969da } .own { fill: #bf8700 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .small { fill: #9198a1 } .ruler { stroke: #3d444d }
    .request { fill: #ab7df8 } .club { fill: #3fb950 } .cards { fill: #4493f8 } .own { fill: #d29922 }
  }
</style>
`

func drawSpans(found []*spans.Span) string {
	begin, end := found[0].StartTimeUnixNano, found[0].EndTimeUnixNano
	for _, s := range found {
		end = max(end, s.EndTimeUnixNano)
	}
	ms := func(at uint64) float64 { return float64(at-begin) / 1e6 }
	x := func(at uint64) float64 { return nameWidth + ms(at)/ms(end)*(pictureWidth-nameWidth-60) }
	var out strings.Builder
	height := topMargin + lineHeight*len(found) + 12
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title">`+"\n", pictureWidth, height)
	fmt.Fprintf(&out, "<title id=\"title\">One card journey: %.0f ms of spans, every upstream call %d ms</title>\n", ms(end), upstreamCall.Milliseconds())
	out.WriteString(pictureStyle)
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
	out.WriteString("</svg>\n")
	return out.String()
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
