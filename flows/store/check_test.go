package store_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/store"
)

// TestCheckRedis changes one setting of a safe Redis at a time, as an administrator may while gateways run.
func TestCheckRedis(t *testing.T) {
	t.Parallel()
	type verdicts = map[string]flows.Verdict
	set := func(name, value string) []any { return []any{"CONFIG", "SET", name, value} }
	replica := []any{"REPLICAOF", "127.0.0.1", "1"}
	forbid := func(command string) []any { return []any{"ACL", "SETUSER", "default", "-" + command} }
	for name, test := range map[string]struct {
		change  []any // the administrator's command
		vouched bool
		off     time.Duration // of the gateway's clock
		wrong   verdicts
		says    string
	}{
		"safe":                     {nil, false, 0, nil, ""},
		"evicts":                   {set("maxmemory-policy", "allkeys-lru"), false, 0, verdicts{"redis eviction": flows.Unsafe}, "allkeys-lru"},
		"evicts what expires":      {set("maxmemory-policy", "volatile-ttl"), false, 0, verdicts{"redis eviction": flows.Unsafe}, "volatile-ttl"},
		"syncs now and then":       {set("appendfsync", "everysec"), false, 0, verdicts{"redis persistence": flows.Unsafe}, "everysec"},
		"a word against the facts": {set("appendfsync", "no"), true, 0, verdicts{"redis persistence": flows.Unsafe}, "appendfsync no"},
		"keeps nothing":            {set("appendonly", "no"), true, 0, verdicts{"redis persistence": flows.Unsafe}, "appendonly no"},
		"full": {
			set("maxmemory", "1"), false, 0,
			verdicts{"redis memory": flows.Degraded, "redis writes": flows.Failed}, "OOM",
		},
		"a replica": {
			replica, false, 0,
			verdicts{"redis role": flows.Failed, "redis writes": flows.Failed}, "READONLY",
		},
		"without its replicas":     {set("min-replicas-to-write", "1"), false, 0, verdicts{"redis writes": flows.Failed}, "NOREPLICAS"},
		"CONFIG is forbidden":      {forbid("config"), false, 0, verdicts{"redis persistence": flows.Unsafe}, "FRONTDESK_REDIS_ASSUME_DURABLE"},
		"durability is assumed":    {forbid("config"), true, 0, nil, "is not checked (FRONTDESK_REDIS_ASSUME_DURABLE)"},
		"INFO is forbidden":        {forbid("info"), true, 0, verdicts{"redis": flows.Unsafe}, "allow INFO"},
		"writing is forbidden":     {forbid("set"), false, 0, verdicts{"redis writes": flows.Failed}, "NOPERM"},
		"a clock that is slow":     {nil, false, -6 * time.Second, verdicts{"redis clock": flows.Unsafe}, "NTP"},
		"a clock that is fast":     {nil, false, 6 * time.Second, verdicts{"redis clock": flows.Unsafe}, "NTP"},
		"a clock that is a bit so": {nil, false, 4 * time.Second, nil, "within 5s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connection := patientClient(t, frontdesktest.NewDurableRedis(t))
			if test.change != nil {
				if err := connection.Do(t.Context(), test.change...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			now := func() time.Time { return time.Now().Add(test.off) }
			checks := store.CheckRedis(t.Context(), connection, store.CheckOptions{AssumeDurable: test.vouched}, now)
			expectChecks(t, checks, test.wrong, test.says)
		})
	}
}

func TestClocksAgree(t *testing.T) {
	onEach(t, func(b *fixture) {
		for off, want := range map[time.Duration]bool{0: true, 4 * time.Second: true, 24 * time.Hour: false, -24 * time.Hour: false} {
			if agree, err := b.ClocksAgree(b.Context(), func() time.Time { return time.Now().Add(off) }); agree != want || err != nil {
				b.Errorf("%s off: %t, %v", off, agree, err)
			}
		}
	})
}

// TestCheckRedisUnreachable: the error for an unreachable Redis is one line without the password.
func TestCheckRedisUnreachable(t *testing.T) {
	t.Parallel()
	address := frontdesktest.NewRedis(t, "--requirepass", "right")
	for name, test := range map[string]struct{ address, says string }{
		"gone":           {"redis://:secret@127.0.0.1:1", "refused"},
		"wrong password": {strings.Replace(address, "://", "://:secret@", 1), "WRONGPASS"},
		"no password":    {address, "NOAUTH"},
	} {
		found := store.CheckRedis(t.Context(), patientClient(t, test.address), store.CheckOptions{AssumeDurable: true}, time.Now)
		if len(found) != 1 || found[0].Verdict != flows.Failed || !strings.Contains(found[0].Found, test.says) ||
			strings.Contains(found[0].Found, "secret") {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// expectChecks expects the verdicts in wrong, and OK from all other checks.
func expectChecks(t *testing.T, found []flows.Check, wrong map[string]flows.Verdict, says string) {
	t.Helper()
	said, bad := "", 0
	for _, check := range found {
		said += check.Name() + ": " + check.Found + ": " + check.Fix + "\n"
		want, expected := wrong[check.Name()]
		if !expected {
			want = flows.OK
		} else {
			bad++
		}
		if check.Verdict != want {
			t.Errorf("%s is %s instead of %s: %s", check.Name(), check.Verdict, want, check.Found)
		}
		if (check.Verdict == flows.OK) != (check.Fix == "") {
			t.Errorf("%s is %s, and to do is %q", check.Name(), check.Verdict, check.Fix)
		}
	}
	if bad != len(wrong) || !strings.Contains(said, says) {
		t.Errorf("without %q, or without one of %v:\n%s", says, wrong, said)
	}
}
