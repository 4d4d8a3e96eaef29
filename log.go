package main

import (
	"context"
	"io"
	"log/slog"

	"frontdesk/flows"
	"frontdesk/flows/redact"
)

// newLog makes the one log: JSON for machines in live mode, and text for people
// otherwise. Every line that was written with a context has its trace, and none has
// personal data.
func (cfg Config) newLog(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.LogLevel}
	var lines slog.Handler = slog.NewTextHandler(w, options)
	if cfg.Mode == "live" {
		lines = slog.NewJSONHandler(w, options)
	}
	return slog.New(traced{redact.New(lines)})
}

// accessLevel is that of the one line per request: said in live mode, and kept from
// developers, who have the panel.
func (cfg Config) accessLevel() slog.Level {
	if cfg.Mode == "live" {
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// traced adds the trace id of the context to each line.
type traced struct{ slog.Handler }

// Handle implements slog.Handler.
func (t traced) Handle(ctx context.Context, line slog.Record) error {
	if id := flows.TraceID(ctx); id != "" {
		line.AddAttrs(slog.String("trace", id))
	}
	return t.Handler.Handle(ctx, line)
}

// WithAttrs implements slog.Handler.
func (t traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{t.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (t traced) WithGroup(name string) slog.Handler { return traced{t.Handler.WithGroup(name)} }
