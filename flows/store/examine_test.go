package store_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/store"
)

// TestExamine changes a Redis that is safe, one thing at a time, as somebody may
// do while gateways run.
func TestExamine(t *testing.T) {
	t.Parallel()
	set := func(name, value string) []any { return []any{"CONFIG", "SET", name, value} }
	for name, test := range map[string]struct {
		change  []any // a command, as the administrator
		vouched bool
		off     time.Duration // of our own clock
		wrong   map[string]flows.Verdict
		says    string
	}{
		"safe":                     {nil, false, 0, nil, ""},
		"evicts":                   {set("maxmemory-policy", "allkeys-lru"), false, 0, map[string]flows.Verdict{"redis eviction": flows.Unsafe}, "allkeys-lru"},
		"evicts what expires":      {set("maxmemory-policy", "volatile-ttl"), false, 0, map[string]flows.Verdict{"redis eviction": flows.Unsafe}, "volatile-ttl"},
		"syncs now and then":       {set("appendfsync", "everysec"), false, 0, map[string]flows.Verdict{"redis persistence": flows.Unsafe}, "everysec"},
		"a word against the facts": {set("appendfsync", "no"), true, 0, map[string]flows.Verdict{"redis persistence": flows.Unsafe}, "appendfsync no"},
		"keeps nothing":            {set("appendonly", "no"), true, 0, map[string]flows.Verdict{"redis persistence": flows.Unsafe}, "appendonly no"},
		"full":                     {set("maxmemory", "1"), false, 0, map[string]flows.Verdict{"redis memory": flows.Impaired, "redis writes": flows.Broken}, "OOM"},
		"a replica":                {[]any{"REPLICAOF", "127.0.0.1", "1"}, false, 0, map[string]flows.Verdict{"redis role": flows.Broken, "redis writes": flows.Broken}, "READONLY"},
		"without its replicas":     {set("min-replicas-to-write", "1"), false, 0, map[string]flows.Verdict{"redis writes": flows.Broken}, "NOREPLICAS"},
		"CONFIG is forbidden":      {[]any{"ACL", "SETUSER", "default", "-config"}, false, 0, map[string]flows.Verdict{"redis persistence": flows.Unsafe}, "FRONTDESK_REDIS_VOUCHED"},
		"CONFIG is vouched for":    {[]any{"ACL", "SETUSER", "default", "-config"}, true, 0, nil, "the operator's word"},
		"INFO is forbidden":        {[]any{"ACL", "SETUSER", "default", "-info"}, true, 0, map[string]flows.Verdict{"redis": flows.Unsafe}, "allow INFO"},
		"writing is forbidden":     {[]any{"ACL", "SETUSER", "default", "-set"}, false, 0, map[string]flows.Verdict{"redis writes": flows.Broken}, "NOPERM"},
		"a clock that is slow":     {nil, false, -6 * time.Second, map[string]flows.Verdict{"redis clock": flows.Unsafe}, "NTP"},
		"a clock that is fast":     {nil, false, 6 * time.Second, map[string]flows.Verdict{"redis clock": flows.Unsafe}, "NTP"},
		"a clock that is a bit so": {nil, false, 4 * time.Second, nil, "within 5s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connection := connect(t, frontdesktest.NewSafeRedis(t))
			if test.change != nil {
				if err := connection.Do(t.Context(), test.change...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			expectDiagnoses(t, store.Examine(t.Context(), connection, store.Given{Vouched: test.vouched}, func() time.Time { return time.Now().Add(test.off) }), test.wrong, test.says)
		})
	}
}

// TestExamineNobody: what cannot be reached is told in one line, and shows no password.
func TestExamineNobody(t *testing.T) {
	t.Parallel()
	address := frontdesktest.NewRedis(t, "--requirepass", "right")
	for name, test := range map[string]struct{ address, says string }{
		"gone":           {"redis://:secret@127.0.0.1:1", "refused"},
		"wrong password": {strings.Replace(address, "://", "://:secret@", 1), "WRONGPASS"},
		"no password":    {address, "NOAUTH"},
	} {
		found := store.Examine(t.Context(), connect(t, test.address), store.Given{Vouched: true}, time.Now)
		if len(found) != 1 || found[0].Verdict != flows.Broken || !strings.Contains(found[0].Seen, test.says) || strings.Contains(found[0].Seen, "secret") {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// expectDiagnoses holds what was found to what is wrong, and to nothing else.
func expectDiagnoses(t *testing.T, found []flows.Diagnosis, wrong map[string]flows.Verdict, says string) {
	t.Helper()
	said, bad := "", 0
	for _, d := range found {
		said += d.Name() + ": " + d.Seen + ": " + d.Remedy + "\n"
		want, expected := wrong[d.Name()]
		if !expected {
			want = flows.Fine
		} else {
			bad++
		}
		if d.Verdict != want {
			t.Errorf("%s is %s instead of %s: %s", d.Name(), d.Verdict, want, d.Seen)
		}
		if (d.Verdict == flows.Fine) != (d.Remedy == "") {
			t.Errorf("%s is %s, and to do is %q", d.Name(), d.Verdict, d.Remedy)
		}
	}
	if bad != len(wrong) || !strings.Contains(said, says) {
		t.Errorf("without %q, or without one of %v:\n%s", says, wrong, said)
	}
}
