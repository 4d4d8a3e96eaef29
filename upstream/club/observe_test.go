package club_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"frontdesk/upstream/club"
)

// TestLogAndErrors runs every operation, successful and not, and checks that neither logs nor errors contain
// private data.
func TestLogAndErrors(t *testing.T) {
	private := []string{
		"Testeur",
		"Ada",
		"ada@",
		"+3360",
		"FR76",
		"rue de la Paix",
		"\"C7\"",
		"tok-1",
		"own-token",
		"secret",
		"Bearer",
		"127.0.0.1",
		"/demo/",
	}
	const named = `{"message": "ada@example.org, Testeur"}`
	for status, body := range map[int]string{200: everything, 201: everything + named, 400: named, 401: named, 500: named} {
		var log bytes.Buffer
		upstream := serve(t, answering(status, body))
		cfg := configured(upstream.URL)
		cfg.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		cfg.Limits.MaxAttempts = 1
		c := club.New(cfg)
		var written strings.Builder
		for _, op := range operations {
			if err := op.call(t.Context(), c); err != nil {
				fmt.Fprintln(&written, err, slog.AnyValue(err))
			}
		}
		for line := range strings.Lines(log.String()) {
			var fields map[string]any
			if err := json.Unmarshal([]byte(line), &fields); err != nil {
				t.Fatal(err)
			}
			if got := slices.Sorted(maps.Keys(fields)); strings.Join(got, " ") != "level msg operation outcome reason status time took" {
				t.Fatalf("fields %v", got)
			}
		}
		written.Write(log.Bytes())
		for _, word := range private {
			if strings.Contains(written.String(), word) {
				t.Errorf("status %d: %q was written", status, word)
			}
		}
		if lines := strings.Count(log.String(), "\n"); lines <= len(upstream.seen()) {
			t.Errorf("%d lines for %d requests and a token", lines, len(upstream.seen()))
		}
	}
}

func TestOutcomeOfOtherErrors(t *testing.T) {
	if got := club.OutcomeOf(errors.New("anything")); got != club.Unknown {
		t.Errorf("outcome %s of an error that is not the club system's, want unknown", got)
	}
	if got := club.OutcomeOf(fmt.Errorf("wrapped: %w", &club.Error{Outcome: club.Refused})); got != club.Refused {
		t.Errorf("outcome %s of a wrapped error, want refused", got)
	}
}
