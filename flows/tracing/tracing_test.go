package tracing_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows/tracing"
)

const (
	browserTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	browserSpan  = "00f067aa0ba902b7"
)

// traced returns the context of a request with a header.
func traced(t *testing.T, header string) context.Context {
	ctx, span := tracing.StartTrace(t.Context(), tracing.IDOnlyProvider(), header, "GET /v1/clubs", trace.SpanKindServer)
	t.Cleanup(func() { span.End() })
	return ctx
}

func TestTraceIsTakenOver(t *testing.T) {
	ctx := traced(t, "00-"+browserTrace+"-"+browserSpan+"-01")
	if id := tracing.TraceID(ctx); id != browserTrace {
		t.Errorf("the trace is %q", id)
	}
	header := tracing.Traceparent(ctx)
	whole := regexp.MustCompile(`^00-` + browserTrace + `-[0-9a-f]{16}-00$`)
	if !whole.MatchString(header) || strings.Contains(header, browserSpan) {
		t.Errorf("sent along: %s", header)
	}
}

func TestBadTraceIsIgnored(t *testing.T) {
	id := regexp.MustCompile(`^[0-9a-f]{32}$`)
	zeros := strings.Repeat("0", 32)
	for _, header := range []string{
		"", "nonsense", browserTrace,
		"00-" + zeros + "-" + browserSpan + "-01",
		"00-" + browserTrace + "-" + zeros[:16] + "-01",
		"00-" + strings.ToUpper(browserTrace) + "-" + browserSpan + "-01",
		"00-" + browserTrace + "-" + browserSpan,
		"00-" + browserTrace + "-" + browserSpan + "-01-more",
		"ff-" + browserTrace + "-" + browserSpan + "-01",
		"00-" + browserTrace + "-" + browserSpan + "-01\n",
	} {
		if own := tracing.TraceID(traced(t, header)); !id.MatchString(own) || own == zeros || own == browserTrace {
			t.Errorf("%q gives the trace %q", header, own)
		}
	}
	if header := tracing.Traceparent(t.Context()); header != "" {
		t.Errorf("without a trace %q is sent along", header)
	}
}
