package flows

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"strings"
)

// TraceHeader is the header by which a request and everything that it causes
// know each other (W3C Trace Context). This file is the one place that reads it
// and writes it.
const TraceHeader = "traceparent"

// traceparent is the header's form in version 00.
var traceparent = regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$`)

type traceKey struct{}

// WithTrace gives the work of a context a trace id: that of the header, or a new
// one when there is none or it is not valid.
func WithTrace(ctx context.Context, header string) context.Context {
	id := randomHex(16)
	if parts := traceparent.FindStringSubmatch(header); parts != nil && !zero(parts[1]) && !zero(parts[2]) {
		id = parts[1]
	}
	return context.WithValue(ctx, traceKey{}, id)
}

// TraceID is the trace id of a context, 32 hexadecimal digits; empty without one.
func TraceID(ctx context.Context) string {
	id, _ := ctx.Value(traceKey{}).(string)
	return id
}

// Traceparent is the header to send along with what a context's work asks of
// others; empty without a trace. It says "not sampled", since no span is kept here.
func Traceparent(ctx context.Context) string {
	id := TraceID(ctx)
	if id == "" {
		return ""
	}
	return "00-" + id + "-" + randomHex(8) + "-00"
}

// zero tells whether an id is all zeros, which stands for none.
func zero(id string) bool { return strings.Trim(id, "0") == "" }

func randomHex(bytes int) string {
	id := make([]byte, bytes)
	rand.Read(id) // never fails, see its documentation
	return hex.EncodeToString(id)
}
