package ops_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
)

// TestSealKeyRemovedTooEarly starts gateways in live mode without the key that has sealed what Redis holds. They do not
// start, and doctor fails, until the key is back or its id is named.
func TestSealKeyRemovedTooEarly(t *testing.T) {
	t.Parallel()
	live := frontdesktest.NewLive(t)
	former := live.Env["FRONTDESK_SEAL_KEYS"]
	gateway, _ := live.Start(t)
	redis := frontdesktest.RedisClient(t, live.Redis)
	frontdesktest.Eventually(t, "the key is noted", func() bool { return redis.ZCard(t.Context(), "fd:seals").Val() == 1 })
	id := redis.ZRange(t.Context(), "fd:seals", 0, -1).Val()[0]
	if err := gateway.Stop(); err != nil {
		t.Fatal(err)
	}
	live.Env["FRONTDESK_SEAL_KEYS"] = sealKey()
	complaint := "Redis holds records of the seal keys " + id + ", which FRONTDESK_SEAL_KEYS lacks"
	said := expectStartRefused(t, nil, live.Environment(nil)...)
	expectAll(t, said, complaint, "FRONTDESK_FORGET_SEAL_KEYS="+id)
	if strings.Contains(said, former) {
		t.Error("the key itself is printed")
	}
	if printed, ok := doctor(t, live.Environment(nil)); ok || !strings.Contains(printed, "FAIL     seal keys               "+complaint) {
		t.Errorf("doctor without the key:\n%s", printed)
	}
	current := live.Env["FRONTDESK_SEAL_KEYS"]
	live.Env["FRONTDESK_SEAL_KEYS"] = current + "," + former
	gateway, _ = live.Start(t)
	if err := gateway.Stop(); err != nil {
		t.Fatal(err)
	}
	live.Env["FRONTDESK_SEAL_KEYS"], live.Env["FRONTDESK_FORGET_SEAL_KEYS"] = current, id
	live.Start(t)
}

// TestUnverifiableAtTheTerminal takes away the key that has signed a captured payment, in test mode. No gateway starts with
// what that key has sealed. Redis then loses it: an operator finds the payment, and ends it by the processor's id.
func TestUnverifiableAtTheTerminal(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	doomed, c := env.Gateway(t)
	captured, buyer := c.Register(), frontdesktest.NewClient(t, doomed.URL)
	buyer.UpstreamsURL = env.Upstreams.URL
	reserved := buyer.Pay(buyer.Register().Id)
	reached := env.Upstreams.HoldResponses(http.MethodPost, "/sales/*/payments")
	c.Confirm(c.Pay(captured.Id), frontdesktest.ApprovedCard)
	frontdesktest.Receive(t, reached, "the payment is being recorded")
	doomed.Kill()
	env.Upstreams.Release()
	buyer.Confirm(reserved, frontdesktest.ApprovedCard)
	ids := map[cards.State]string{}
	for _, held := range env.Upstreams.Cards.Payments() {
		ids[held.State] = held.ID
	}
	const other = "FRONTDESK_SEAL_KEYS=" + frontdesktest.SealKey
	said := expectStartRefused(t, nil, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+env.Upstreams.URL+"/sim",
		"FRONTDESK_SANDBOX_URL="+env.Upstreams.URL+"/sandbox", "FRONTDESK_REDIS_URL="+env.Redis, "FRONTDESK_OPS_ADDR=off", other)
	expectAll(t, said, "cannot start in test mode", "Redis holds records of the seal keys", "FRONTDESK_FORGET_SEAL_KEYS=")

	env.Redis = frontdesktest.NewRedis(t)
	gateway, _ := env.Gateway(t, other)
	at := gateway.OpsAddress()
	frontdesktest.Eventually(t, "both payments are listed", func() bool {
		listed := mustRunCLI(t, at, "list", "--state", "unverifiable")
		return strings.Contains(listed, ids[cards.Captured]) && strings.Contains(listed, ids[cards.Authorised])
	})
	id := ids[cards.Captured]
	expectAll(t, mustRunCLI(t, at, "show", id), "No configured seal key signed it", "frontdesk payments end "+id)
	for _, wrong := range [][2]string{
		{ids[cards.Authorised], "Cancel it there"}, {captured.Id + "-1", "Only unverifiable payments can be ended so"},
		{"nothing", "Invalid payment id"},
	} {
		if said, ok := runCLI(t, at, "end", wrong[0]); ok || !strings.Contains(said, wrong[1]) {
			t.Errorf("end %s: %t, %s", wrong[0], ok, said)
		}
	}
	expectAll(t, mustRunCLI(t, at, "end", id), id+": ended by demo", "Frontdesk does not touch it any more")
	if listed := mustRunCLI(t, at, "list"); strings.Contains(listed, id) || !strings.Contains(listed, ids[cards.Authorised]) {
		t.Errorf("still listed:\n%s", listed)
	}
	for _, held := range env.Upstreams.Cards.Payments() {
		if ended := held.Metadata["fd_ended"]; strings.Contains(ended, "by demo: captured") != (held.ID == id) || held.Refunded != 0 {
			t.Errorf("the processor holds %+v", held)
		}
	}
	if said, ok := runCLI(t, at, "end", id); ok {
		t.Errorf("ended twice: %s", said)
	}
}
