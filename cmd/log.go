package cmd

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/time/rate"

	"frontdesk/flows/redact"
	"frontdesk/flows/tracing"
)

// newLog makes the one log: JSON for machines in live mode, and text for people
// otherwise. Every line about the work of a request or a job has its traceId, and none has
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
	if id := tracing.TraceID(ctx); id != "" {
		line.AddAttrs(slog.String("traceId", id))
	}
	return t.Handler.Handle(ctx, line)
}

// WithAttrs implements slog.Handler.
func (t traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{t.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (t traced) WithGroup(name string) slog.Handler { return traced{t.Handler.WithGroup(name)} }

// routeLibraryLogs brings what libraries say by themselves into the one log, where it is
// redacted too: the Redis client, and through the standard library's log Go's HTTP
// server and all that nobody has thought of. The queue is given the log as it is made.
func routeLibraryLogs(log *slog.Logger) {
	redis.SetLogger(&redisLog{log: log, some: rate.Sometimes{First: redisLines, Interval: redisEvery}})
	slog.SetLogLoggerLevel(slog.LevelWarn) // they speak when something is wrong
	slog.SetDefault(log)
}

// redisLog is the log as the Redis client writes to it, which complains of each of
// its connections again and again while Redis is away. A few of its lines tell why;
// what it means is told by those whose work it stops.
type redisLog struct {
	log  *slog.Logger
	some rate.Sometimes // the zero value: all of it
}

// The lines of the Redis client: the first ones, and then one in a while.
const (
	redisLines = 10
	redisEvery = 10 * time.Second
)

// Printf implements what redis.SetLogger takes.
func (l *redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.some.Do(func() { l.log.WarnContext(ctx, "redis client", "says", fmt.Sprintf(format, args...)) })
}
