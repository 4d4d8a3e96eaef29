package main

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/template"
	"time"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"

	"frontdesk/e2e/frontdesktest"
)

// draw prints a picture of something that it measures.
func draw(ctx context.Context, pinned bool, picture func(*harness) string) error {
	bench, err := newHarness(ctx, pinned)
	if err != nil {
		return err
	}
	defer bench.close()
	drawn := ""
	_, err = bench.measure(func(h *harness) []row { drawn = picture(h); return nil })
	fmt.Print(drawn)
	return err
}

// The pictures' templates, and their style, which suits a light page and a dark one.
//
//go:embed trace.svg.tmpl crowd.svg.tmpl pictures.css
var pictureFiles embed.FS

// svg executes a template of a picture. The functions say where in the picture things are.
func svg(name string, places template.FuncMap, measured any) string {
	pictures := template.Must(template.New(name).Funcs(places).ParseFS(pictureFiles, name, "pictures.css"))
	var out strings.Builder
	if err := pictures.Execute(&out, measured); err != nil {
		panic(err) // a mistake in the template
	}
	return out.String()
}

// drawTrace walks one card journey, with every upstream call as long as upstreamTime, and
// draws the gateway's own spans.
func drawTrace(bench *harness) string {
	collector := frontdesktest.NewCollector(bench)
	upstreams, gateway, b := bench.cardEnv(frontdesktest.NewDurableRedis(bench), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	b.journey()
	bench.sleep(time.Second) // the events of that one are over
	upstreams.delay.Store(int64(upstreamTime))
	began := uint64(time.Now().UnixNano())
	b.journey()
	bench.must(gateway.Stop()) // the gateway exports its last spans when it stops
	found := slices.DeleteFunc(collector.Spans(), func(s *spans.Span) bool { return s.StartTimeUnixNano < began })
	if len(found) == 0 {
		bench.Fatal("the gateway has exported no spans")
	}
	slices.SortFunc(found, func(a, b *spans.Span) int { return cmp.Compare(a.StartTimeUnixNano, b.StartTimeUnixNano) })
	return drawSpans(found)
}

// drawSpans draws spans, the earliest first.
func drawSpans(found []*spans.Span) string {
	const left, width = 330, 560 // of the bars, in units of the picture
	begin, total := found[0].StartTimeUnixNano, 0.0
	ms := func(at uint64) float64 { return float64(at-begin) / 1e6 }
	for _, s := range found {
		total = max(total, ms(s.EndTimeUnixNano))
	}
	var ruler []float64
	for at := 0.0; at <= total; at += 100 {
		ruler = append(ruler, at)
	}
	places := template.FuncMap{
		"ms":     ms,
		"x":      func(ms float64) string { return fmt.Sprintf("%.1f", left+ms/total*width) },
		"y":      func(line int) int { return 20 * line },
		"indent": func(depth int) int { return 8 + 14*depth },
	}
	return svg("trace.svg.tmpl", places, map[string]any{
		"Height": 76 + 20*len(found), "Total": total, "CallTime": upstreamTime.Milliseconds(), "Ruler": ruler, "Spans": nest(found, nil, 0, nil),
	})
}

// nestedSpan is a span below its parent.
type nestedSpan struct {
	*spans.Span
	Depth int
}

// Milliseconds is how long it took.
func (s nestedSpan) Milliseconds() float64 {
	return float64(s.EndTimeUnixNano-s.StartTimeUnixNano) / 1e6
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

// phase is a part of the picture of crowds in which visitors arrive at one rate.
type phase struct {
	Name  string
	Start int     // in seconds
	times float64 // multiple of the capacity
	plan
}

// drawCrowd draws how many visitors ask to start and how many journeys are completed, before, during and after
// two crowds.
func drawCrowd(h *harness) string {
	capacity, visitors := h.mostJourneys(), h.visitors()
	phases := []phase{
		{Name: "before", times: 0.8, plan: plan{counted: 15}},
		{Name: "three times the capacity", times: 3, plan: plan{counted: 30, stay: 20}},
		{Name: "after", times: 0.8, plan: plan{counted: 20}},
		{Name: "ten times the capacity", times: 10, plan: plan{counted: 30, stay: 20}},
		{Name: "after", times: 0.8, plan: plan{counted: 20}},
	}
	var asked, completed series
	for i, p := range phases {
		phases[i].Start = len(asked)
		b := visitors.send(p.times*capacity, p.plan)
		asked, completed = append(asked, b.asked...), append(completed, b.completed...)
	}
	const left, width, top, bottom = 60.0, 880.0, 60.0, 350.0 // in units of the picture
	const leastPerSecond = 10.0                               // at the bottom; the scale is logarithmic
	most := max(capacity, slices.Max(asked))
	places := template.FuncMap{
		"x": func(second int) string { return fmt.Sprintf("%.1f", left+width*float64(second)/float64(len(asked))) },
		"y": func(perSecond float64) string {
			share := math.Log(max(perSecond, leastPerSecond)/leastPerSecond) / math.Log(most/leastPerSecond)
			return fmt.Sprintf("%.1f", bottom-share*(bottom-top))
		},
	}
	return svg("crowd.svg.tmpl", places, map[string]any{
		"Capacity": capacity, "Most": most, "Phases": phases, "Asked": asked, "Completed": completed,
		"Rates":   []float64{10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000},
		"Seconds": []int{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110},
	})
}
