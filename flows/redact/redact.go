// Package redact keeps personal data out of logs. Its Handler wraps the one that
// writes: it passes attributes whose keys are in a list, replaces every other
// value by its key, and removes from every text what could be personal. It
// decides what may be logged, not how or where.
//
// Start reading at New for what a log may contain, and at Text for what is removed.
package redact

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
)

// allowed lists the keys of attributes that may be logged. Their values are
// identifiers of Frontdesk's records and of the upstreams', words from a closed list, numbers and errors.
// Keys that could hold a name, an address, a token or a code are not in the list.
var allowed = map[string]bool{
	// the request
	"traceId": true, "method": true, "route": true, "path": true, "status": true,
	"code": true, "ms": true, "error": true, "repeated": true, "readError": true, "kind": true, "tokenSent": true,
	// the journey
	"registration": true, "payment": true, "from": true, "to": true, "reason": true, "outcome": true, "state": true, "finding": true,
	"event": true, "type": true, "subscriber": true, "erased": true, "kept": true, "unread": true,
	"document": true, "repeatedBy": true, "mandate": true, "processorId": true, "mail": true, "ours": true, "statement": true,
	// dependencies
	"operation": true, "took": true, "found": true, "left": true, "club": true, "why": true, "address": true,
	"sent": true, "validated": true, "hourly": true, "daily": true,
	// panics, and the simulators, which hold no real person
	"cause": true, "stack": true, "attempt": true, "seed": true,
}

// Handler passes only what may be logged to the handler that it embeds.
type Handler struct{ slog.Handler }

// New puts a handler that redacts before one that writes.
func New(next slog.Handler) *Handler { return &Handler{next} }

// Handle implements slog.Handler.
func (h *Handler) Handle(ctx context.Context, record slog.Record) error {
	kept := slog.NewRecord(record.Time, record.Level, Text(record.Message), record.PC)
	attrs := make([]slog.Attr, 0, record.NumAttrs())
	record.Attrs(func(attr slog.Attr) bool {
		attrs = append(attrs, redacted(attr))
		return true
	})
	kept.AddAttrs(attrs...) // at once: a record has room for few
	return h.Handler.Handle(ctx, kept)
}

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{h.Handler.WithAttrs(eachRedacted(attrs))}
}

// WithGroup implements slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler { return &Handler{h.Handler.WithGroup(name)} }

func eachRedacted(attrs []slog.Attr) []slog.Attr {
	kept := make([]slog.Attr, len(attrs))
	for i, attr := range attrs {
		kept[i] = redacted(attr)
	}
	return kept
}

func redacted(attr slog.Attr) slog.Attr {
	value := attr.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		return slog.GroupAttrs(attr.Key, eachRedacted(value.Group())...)
	}
	if !allowed[attr.Key] {
		return slog.String(attr.Key, "["+attr.Key+"]")
	}
	switch value.Kind() {
	case slog.KindString:
		return slog.String(attr.Key, Text(value.String()))
	case slog.KindAny:
		return slog.String(attr.Key, Text(fmt.Sprint(value.Any())))
	default:
		return slog.Attr{Key: attr.Key, Value: value}
	}
}

// The forms that personal data and secrets have in texts that libraries write. Their order counts: an address in
// quotes is a quotation. A text without any of a form's signs cannot hold it, and most hold none.
var forms = []struct {
	signs string
	form  *regexp.Regexp
	with  string
}{
	// What a library quotes is what it was given.
	{"\"'`", regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|'[^' ]*'"), "[quoted]"},
	// The host says where it failed; behind it stand identifiers and secrets, before it passwords.
	{":", regexp.MustCompile(`([a-z][a-z0-9+.-]*)://(?:[^\s/@]*@)?([^\s/?#]*)[^\s]*`), "$1://$2/[path]"},
	{"@", regexp.MustCompile(`[^\s@<>=:,;(]+@[^\s@<>,;)]+`), "[e-mail]"},
	{"ABCDEFGHIJKLMNOPQRSTUVWXYZ", regexp.MustCompile(`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b`), "[account]"},
	// Records of the club system, which contain an organisation's token.
	{"/", regexp.MustCompile(`/[A-Za-z0-9._-]+/(contacts|sales|mandates|signature_requests|optins)/[A-Za-z0-9_-]+`), "[$1]"},
}

var (
	// words matches what is as long as a token; tokenless keeps those without digits.
	words = regexp.MustCompile(`[A-Za-z0-9_+.-]{24,}`)
	// digits matches what has as many digits as a telephone number.
	digits = regexp.MustCompile(`\+?\d(?:[ -]?\d){7,}`)
	// id matches identifiers of Frontdesk, the processor and traces.
	id = regexp.MustCompile(
		`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}` + // of a registration
			`|\b[0-9a-f]{32}\b` + // of a trace
			`|\b(?:pi|pay|evt|req)_[A-Za-z0-9_]{1,40}\b` + // of the processor
			`|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}:\d+\b`, // an address with its port
	)
)

// Text removes from a text what could be personal: quotations, addresses of all
// kinds, account, card and telephone numbers, and what is as long as a token. The
// identifiers of registrations, payments and traces stay, because people look for them.
func Text(text string) string {
	for _, f := range forms {
		if strings.ContainsAny(text, f.signs) {
			text = f.form.ReplaceAllString(text, f.with)
		}
	}
	if !strings.ContainsAny(text, numerals) {
		return text
	}
	// The parts between identifiers are checked separately, because identifiers have digits too.
	kept, at := "", 0
	for _, found := range id.FindAllStringIndex(text, -1) {
		kept += between(text[at:found[0]]) + text[found[0]:found[1]]
		at = found[1]
	}
	return kept + between(text[at:])
}

// numerals: what has none of them is neither a number nor a token.
const numerals = "0123456789"

func between(text string) string {
	return digits.ReplaceAllString(words.ReplaceAllStringFunc(text, tokenless), "[number]")
}

// tokenless keeps long words of letters and marks alone, such as a file's name or a code.
func tokenless(word string) string {
	if strings.ContainsAny(word, numerals) {
		return "[token]"
	}
	return word
}
