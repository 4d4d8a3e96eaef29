package flowstest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
)

// connect returns a client that sends a command once, as a gateway's does. Tests make Redis fail by ending its
// connections or by refusing keys, so a slow response means a busy machine or a test's own order of events, and the
// client waits for it.
func (w *World) connect(address string, refused ...string) redis.UniversalClient {
	w.Helper()
	options, err := redis.ParseURL(address)
	if err != nil {
		w.Fatal(err)
	}
	options.ReadTimeout, options.WriteTimeout, options.DisableIdentity = time.Minute, time.Minute, true
	options.MaxRetries, options.DialerRetries = -1, 1
	connection := redis.NewClient(options)
	connection.AddHook(redisHook{refused})
	w.Cleanup(func() { connection.Close() })
	return connection
}

// redisHook lets every command take its time, however short the caller's deadline is, and fails those that name a refused key.
type redisHook struct {
	refused []string // how such keys begin
}

// DialHook changes nothing.
func (h redisHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook sends a command or refuses it.
func (h redisHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		if err := h.check(command); err != nil {
			return err
		}
		return next(context.WithoutCancel(ctx), command)
	}
}

// ProcessPipelineHook sends several commands, or none if one of them is refused.
func (h redisHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		for _, command := range commands {
			if err := h.check(command); err != nil {
				return err
			}
		}
		return next(context.WithoutCancel(ctx), commands)
	}
}

// check returns the error of a command that names a refused key.
func (h redisHook) check(command redis.Cmder) error {
	for _, argument := range command.Args() {
		for _, prefix := range h.refused {
			if strings.HasPrefix(fmt.Sprint(argument), prefix) {
				command.SetErr(errors.New("connection reset by peer"))
				return command.Err()
			}
		}
	}
	return nil
}

// RedisOver returns the URL of the world's Redis through a message proxy.
func (w *World) RedisOver(wire *frontdesktest.MessageProxy) string {
	w.Helper()
	far, err := url.Parse(w.redisURL)
	if err != nil {
		w.Fatal(err)
	}
	return "redis://" + wire.Forward(far.Host) + far.Path
}

// ForgetKeys removes the matching keys from Redis, and no others.
func (w *World) ForgetKeys(patterns ...string) {
	w.Helper()
	for _, pattern := range patterns {
		for _, key := range w.Redis.Keys(w.Context(), pattern).Val() {
			w.Redis.Del(w.Context(), key)
		}
	}
}

// Knows reports whether Redis has a payment.
func (w *World) Knows(payment *flows.Payment) bool {
	return w.Redis.Exists(w.Context(), RedisKey(payment)).Val() == 1
}

// Wipe makes Redis forget everything.
func (w *World) Wipe() {
	w.Helper()
	if err := w.Redis.FlushDB(w.Context()).Err(); err != nil {
		w.Fatal(err)
	}
}

// RedisKey returns the key of a payment's record.
func RedisKey(payment *flows.Payment) string {
	return fmt.Sprintf("fd:{%s}:payment:%d", payment.Registration, payment.Generation)
}

// ExpireLease lets time pass until the payment's silent owner counts as gone.
func (w *World) ExpireLease(payment *flows.Payment) {
	w.Helper()
	if err := w.Redis.HSet(w.Context(), RedisKey(payment), "lease", 0).Err(); err != nil {
		w.Fatal(err)
	}
}
