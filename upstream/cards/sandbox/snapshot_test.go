package sandbox_test

import (
	"slices"
	"strings"
	"testing"

	"frontdesk/upstream/cards/sandbox"
)

// TestSnapshotOfAnotherProcess: a restored payment names the process that restored it, as its webhook's address, its bank's page and the
// page to which that leads back. Addresses of others stay.
func TestSnapshotOfAnotherProcess(t *testing.T) {
	t.Parallel()
	const own, other, restored = "http://first.test", "http://first.test.example", "http://second.test"
	var sent []string
	first := startServer(t, sandbox.Config{BaseURL: own + "/sandbox", Deliver: func(sandbox.Delivery) {}})
	second := startServer(t, sandbox.Config{
		BaseURL: restored + "/sandbox",
		Deliver: func(event sandbox.Delivery) { sent = append(sent, event.URL) },
	})
	ids := map[string]string{} // of payments, by the address of what made them
	for _, at := range []string{own, other} {
		made := send(t, first, "POST /v1/payment_intents", "amount=4990&currency=eur", "Content-Type", formType,
			"Authorization", "Bearer "+first.SecretKey, "X-Frontdesk-Webhook-Url", at+"/v1/webhooks/card")
		ids[at] = made.text("id")
		do(t, first, first.SecretKey, "", "POST /v1/payment_intents/"+ids[at]+"/confirm", "payment_method", "pm_card_authenticationRequired",
			"return_url", at+"/pay?back=1")
	}
	apply, err := second.Restore("demo", first.Snapshot("demo", nil))
	if err != nil {
		t.Fatal(err)
	}
	apply()
	for at, want := range map[string]string{own: restored, other: other} {
		shown := do(t, second, second.SecretKey, "", "GET /v1/payment_intents/"+ids[at])
		bank, back := shown.text("next_action", "redirect_to_url", "url"), shown.text("next_action", "redirect_to_url", "return_url")
		if back != want+"/pay?back=1" {
			t.Errorf("the bank leads back to %q", back)
		}
		if !strings.HasPrefix(bank, restored+"/sandbox/v3/challenge/"+ids[at]) {
			t.Errorf("the bank's page is %q", bank)
		}
		sent = nil
		if _, err := second.Approve(ids[at], true); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(slices.Compact(sent), []string{want + "/v1/webhooks/card"}) {
			t.Errorf("the events went to %q", sent)
		}
	}
}

// TestChanged: a call names the demo world that it may have changed, and reading names none.
func TestChanged(t *testing.T) {
	t.Parallel()
	var changed []string
	d := newDoor(t, sandbox.Config{Changed: func(world string) { changed = append(changed, world) }})
	var id string
	for _, test := range []struct {
		what string
		call func()
		want []string
	}{
		{"a creation", func() { id = d.create("/demo-a/sales/1") }, []string{"demo-a"}},
		{"reading", func() {
			d.send("GET /payments", "")
			d.send("GET /payments/"+id, "")
			d.merchant("", "GET /v1/payment_intents/"+id)
		}, nil},
		{"the buyer's card", func() { d.act(id, "confirm", confirmation("4242424242424242")) }, []string{"demo-a"}},
		{"a capture", func() { d.merchant("", "POST /v1/payment_intents/"+id+"/capture") }, []string{"demo-a"}},
		{"a refund", func() { d.merchant("", "POST /v1/refunds", "payment_intent", id) }, []string{"demo-a"}},
		{"an action without a payment", func() { d.act("pi_none", "expire", "{}") }, nil},
		{"settings", func() {
			d.send("PUT /settings?world=demo-b", `{"webhooks":"drop"}`, "Content-Type", "application/json")
		}, []string{"demo-b"}},
		{"a reset", func() { d.send("POST /reset?world=demo-a", "") }, []string{"demo-a"}},
		{"a reset of all", func() { d.send("POST /reset", "") }, []string{""}},
	} {
		changed = nil
		test.call()
		if !slices.Equal(slices.Compact(changed), test.want) {
			t.Errorf("%s has changed %q, want %q", test.what, changed, test.want)
		}
	}
}
