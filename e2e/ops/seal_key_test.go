package ops_test

import (
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestSealKeyRemovedTooEarly starts gateways in live mode without the key that has sealed what Redis holds. They do not
// start, and doctor fails, until the key is back or its id is named.
func TestSealKeyRemovedTooEarly(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	former := l.env["FRONTDESK_SEAL_KEYS"]
	gateway, _ := l.start(t)
	redis := frontdesktest.RedisClient(t, l.redis)
	frontdesktest.Eventually(t, "the key is noted", func() bool { return redis.ZCard(t.Context(), "fd:seals").Val() == 1 })
	id := redis.ZRange(t.Context(), "fd:seals", 0, -1).Val()[0]
	if err := gateway.Stop(); err != nil {
		t.Fatal(err)
	}
	l.env["FRONTDESK_SEAL_KEYS"] = sealKey()
	complaint := "Redis holds records of the seal keys " + id + ", which FRONTDESK_SEAL_KEYS lacks"
	said := expectStartRefused(t, nil, l.environment(nil)...)
	expectAll(t, said, complaint, "FRONTDESK_FORGET_SEAL_KEYS="+id)
	if strings.Contains(said, former) {
		t.Error("the key itself is printed")
	}
	if printed, ok := doctor(t, l.environment(nil)); ok || !strings.Contains(printed, "FAIL     seal keys               "+complaint) {
		t.Errorf("doctor without the key:\n%s", printed)
	}
	current := l.env["FRONTDESK_SEAL_KEYS"]
	l.env["FRONTDESK_SEAL_KEYS"] = current + "," + former
	gateway, _ = l.start(t)
	if err := gateway.Stop(); err != nil {
		t.Fatal(err)
	}
	l.env["FRONTDESK_SEAL_KEYS"], l.env["FRONTDESK_FORGET_SEAL_KEYS"] = current, id
	l.start(t)
}
