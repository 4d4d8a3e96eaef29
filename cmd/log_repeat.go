package cmd

import (
	"context"
	"log/slog"
	"regexp"
	"sync"
	"time"
)

// repeatEvery is how often a warning is logged that stays the same.
const repeatEvery = time.Minute

// summed logs a warning about an error at once, and its repetitions once a minute: the latest of them, with their number.
// During an outage, each open payment and each job would log the same error every few seconds. Warnings are the same if
// they have the same event and, but for numbers and ids, the same error. Errors are logged one by one, because each is
// about something that an operator must look at.
type summed struct {
	slog.Handler
	repeats *repeats // shared by all loggers that are made of one
}

// repeats are the warnings of the last minute, by event and error.
type repeats struct {
	mu   sync.Mutex
	seen map[string]*repeat
}

// repeat counts a warning since it was logged.
type repeat struct {
	count  int
	latest slog.Record
	ctx    context.Context
	to     slog.Handler
}

func newSummed(to slog.Handler) slog.Handler {
	return summed{to, &repeats{seen: map[string]*repeat{}}}
}

// Handle implements slog.Handler.
func (s summed) Handle(ctx context.Context, line slog.Record) error {
	key, ok := repeatKey(line)
	if !ok {
		return s.Handler.Handle(ctx, line)
	}
	s.repeats.mu.Lock()
	defer s.repeats.mu.Unlock()
	if r := s.repeats.seen[key]; r != nil {
		r.count++
		r.latest, r.ctx, r.to = line.Clone(), context.WithoutCancel(ctx), s.Handler
		return nil
	}
	s.repeats.seen[key] = &repeat{}
	time.AfterFunc(repeatEvery, func() { s.repeats.log(key) })
	return s.Handler.Handle(ctx, line)
}

// log logs the repetitions of a warning, if there were any, and continues to count them.
func (all *repeats) log(key string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	repeated := all.seen[key]
	if repeated.count == 0 {
		delete(all.seen, key)
		return
	}
	repeated.latest.AddAttrs(slog.Int("repeated", repeated.count))
	_ = repeated.to.Handle(repeated.ctx, repeated.latest) // nothing reports the failure of a log
	all.seen[key] = &repeat{}
	time.AfterFunc(repeatEvery, func() { all.log(key) })
}

// varying matches what differs between repetitions: numbers, ports, and the parts of ids.
var varying = regexp.MustCompile(`[0-9a-f]*[0-9][0-9a-f]*`)

// repeatKey identifies a warning about an error.
func repeatKey(line slog.Record) (key string, ok bool) {
	if line.Level != slog.LevelWarn {
		return "", false
	}
	line.Attrs(func(attr slog.Attr) bool {
		if ok = attr.Key == "error"; ok {
			key = line.Message + "\n" + varying.ReplaceAllString(attr.Value.String(), "#")
		}
		return !ok
	})
	return key, ok
}

// WithAttrs implements slog.Handler.
func (s summed) WithAttrs(attrs []slog.Attr) slog.Handler {
	return summed{s.Handler.WithAttrs(attrs), s.repeats}
}

// WithGroup implements slog.Handler.
func (s summed) WithGroup(name string) slog.Handler {
	return summed{s.Handler.WithGroup(name), s.repeats}
}
