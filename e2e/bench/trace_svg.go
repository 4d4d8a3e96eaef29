package main

import (
	"fmt"
	"html"
	"io"
	"strings"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"
)

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

// drawSpans draws spans as bars over time, each below the one that it is a part of.
func drawSpans(to io.Writer, found []*spans.Span) error {
	ordered := inOrder(found, "", 0, nil)
	begin, end := found[0].StartTimeUnixNano, found[0].EndTimeUnixNano
	for _, s := range found {
		end = max(end, s.EndTimeUnixNano)
	}
	ms := func(at uint64) float64 { return float64(at-begin) / 1e6 }
	x := func(at uint64) float64 { return nameWidth + ms(at)/ms(end)*(pictureWidth-nameWidth-60) }
	var out strings.Builder
	height := topMargin + lineHeight*len(ordered) + 12
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title">`+"\n", pictureWidth, height)
	fmt.Fprintf(&out, "<title id=\"title\">One card journey: %.0f ms of spans, every call of another system %d ms</title>\n", ms(end), upstreamCall.Milliseconds())
	out.WriteString(pictureStyle)
	drawLegend(&out)
	for at := 0; float64(at) <= ms(end); at += rulerEvery {
		left := x(begin + uint64(at)*1e6)
		fmt.Fprintf(&out, "<path class=\"ruler\" d=\"M%.1f %dV%d\"/><text class=\"small\" x=\"%.1f\" y=\"%d\">%d ms</text>\n", left, topMargin-8, height-8, left+3, topMargin-12, at)
	}
	for i, s := range ordered {
		drawSpan(&out, s, topMargin+lineHeight*i, x)
	}
	out.WriteString("</svg>\n")
	_, err := io.WriteString(to, out.String())
	return err
}

// nestedSpan is a span with how deep it stands.
type nestedSpan struct {
	*spans.Span
	depth int
}

// inOrder puts the parts of each span below it. A span whose parent is not there, such
// as one that a browser began, stands at the top.
func inOrder(found []*spans.Span, parent string, depth int, into []nestedSpan) []nestedSpan {
	known := map[string]bool{}
	for _, s := range found {
		known[string(s.SpanId)] = true
	}
	for _, s := range found {
		if of := string(s.ParentSpanId); of == parent || parent == "" && !known[of] {
			into = inOrder(found, string(s.SpanId), depth+1, append(into, nestedSpan{s, depth}))
		}
	}
	return into
}

func drawSpan(out *strings.Builder, s nestedSpan, top int, x func(uint64) float64) {
	left, right := x(s.StartTimeUnixNano), x(s.EndTimeUnixNano)
	fmt.Fprintf(out, "<text x=\"%d\" y=\"%d\">%s</text>", 8+14*s.depth, top+14, html.EscapeString(s.Name))
	fmt.Fprintf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>", classOf(s.Name), left, top+4, max(1, right-left), lineHeight-8)
	fmt.Fprintf(out, "<text class=\"small\" x=\"%.1f\" y=\"%d\">%.0f</text>\n", right+4, top+14, float64(s.EndTimeUnixNano-s.StartTimeUnixNano)/1e6)
}

// classes are the colours, by how a span's name begins; what begins otherwise is a request.
var classes = []struct{ begins, class, means string }{
	{"", "request", "a request to the gateway"},
	{"club ", "club", "a call of the club system"},
	{"cards ", "cards", "a call of the card processor"},
	{"job ", "own", "what a webhook sets off"},
}

func classOf(name string) string {
	for _, c := range classes[1:] {
		if strings.HasPrefix(name, c.begins) {
			return c.class
		}
	}
	return classes[0].class
}

func drawLegend(out *strings.Builder) {
	for i, c := range classes {
		left := 8 + i*235
		fmt.Fprintf(out, "<rect class=\"%s\" x=\"%d\" y=\"10\" width=\"12\" height=\"12\" rx=\"2\"/><text x=\"%d\" y=\"20\">%s</text>\n", c.class, left, left+18, c.means)
	}
}
