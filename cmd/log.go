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

// newLog returns the log: JSON in live mode, otherwise text. Lines of a request or a job
// have its traceId. Personal data is redacted, and repeated warnings are counted.
func (cfg Config) newLog(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.LogLevel}
	var lines slog.Handler = slog.NewTextHandler(w, options)
	if cfg.Mode == "live" {
		lines = slog.NewJSONHandler(w, options)
	}
	return slog.New(newSummed(traced{redact.New(lines)}))
}

// accessLevel is the level of the one line per request. Developers see requests in the
// developer tools instead.
func (cfg Config) accessLevel() slog.Level {
	if cfg.Mode == "live" {
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// traced adds the trace id of the context to each line.
type traced struct{ slog.Handler }

func (t traced) Handle(ctx context.Context, line slog.Record) error {
	if id := tracing.TraceID(ctx); id != "" {
		line.AddAttrs(slog.String("traceId", id))
	}
	return t.Handler.Handle(ctx, line)
}

func (t traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{t.Handler.WithAttrs(attrs)} }
func (t traced) WithGroup(name string) slog.Handler       { return traced{t.Handler.WithGroup(name)} }

// routeLibraryLogs sends the logs of libraries to the log, where they are redacted too:
// the Redis client's, and all that use the standard library's log, such as net/http.
func routeLibraryLogs(log *slog.Logger) {
	// While Redis is down, its client logs every failed connection, and a few lines tell why.
	redis.SetLogger(&redisLog{log: log, limit: rate.Sometimes{First: 10, Interval: 10 * time.Second}})
	slog.SetLogLoggerLevel(slog.LevelWarn) // libraries log only failures
	slog.SetDefault(log)
}

type redisLog struct {
	log   *slog.Logger
	limit rate.Sometimes
}

// Printf implements the interface of redis.SetLogger.
func (l *redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.limit.Do(func() { l.log.WarnContext(ctx, "redis client", "error", fmt.Sprintf(format, args...)) })
}
