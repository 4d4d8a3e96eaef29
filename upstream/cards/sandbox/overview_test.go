package sandbox_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"frontdesk/upstream/cards/sandbox"
)

// page reads a page as a browser does, and returns its text with the entities decoded.
func (d testDoor) page(path string, headers ...string) string {
	d.Helper()
	r := d.send("GET "+path, "", append(headers, "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")...)
	guarded := strings.HasPrefix(r.header.Get("Content-Security-Policy"), "default-src 'none'")
	if r.status != http.StatusOK || r.header.Get("Content-Type") != "text/html; charset=utf-8" || !guarded {
		d.Fatalf("%s: %d %v", path, r.status, r.header)
	}
	return html.UnescapeString(r.raw)
}

func TestSettings(t *testing.T) {
	eachMount(t, func(door testDoor) {
		const standard = `{"webhooks":"normal","webhookUrl":""}`
		read := func() string { return door.send("GET /settings", "").raw }
		if got := read(); got != standard {
			door.Errorf("at first: %s", got)
		}
		last := ""
		for _, body := range []string{
			`{"webhooks":"drop","webhookUrl":"","refunds":"pending","errors":"before","confirmations":"processing"}`,
			`{"webhooks":"duplicate","webhookUrl":"","refunds":"refused","errors":"after","captures":"processing"}`,
			`{"webhooks":"late","webhookUrl":"","challenges":"modal","captureBefore":"none","rateLimit":25}`,
			`{"webhooks":"reorder","webhookUrl":"https://elsewhere.example/hooks","captureBefore":"-1m","secrets":2}`,
		} {
			if r := door.send("PUT /settings", body); r.status != http.StatusOK || r.raw != body || read() != body {
				door.Errorf("%s: %d %s, then %s", body, r.status, r.raw, read())
			}
			last = body
		}
		for _, body := range []string{
			`{"webhooks":"sometimes"}`, `{"webhooks":"drop","speed":1}`, `{"webhooks":1}`, `{"webhookUrl":"elsewhere"}`,
			`{"webhookUrl":"file:///etc/passwd"}`, `{"webhookUrl":"http://name:secret@elsewhere.example"}`, `{"refunds":"never"}`,
			`{"errors":"x"}`, `{"confirmations":"x"}`, `{"captures":"x"}`, `{"challenges":"x"}`, `{"captureBefore":"soon"}`,
			`{"rateLimit":-1}`, `{"rateLimit":1.5}`, `{"secrets":3}`, `{} {}`, `[]`, ``,
		} {
			if r := door.send("PUT /settings", body); r.status != http.StatusBadRequest || r.code() == "" || read() != last {
				door.Errorf("%s: %d %s, then %s", body, r.status, r.raw, read())
			}
		}
		door.send("PUT /settings", `{}`)
		if read() != standard {
			door.Errorf("left out: %s", read())
		}
	})
}

// TestWorldsApart checks that a demo world has its own payments and settings, whichever way a request names it.
func TestWorldsApart(t *testing.T) {
	eachMount(t, func(door testDoor) {
		for _, sale := range []string{"/demo-one/sales/1", "/demo-two/sales/1", "", "/acme/sales/1"} {
			door.create(sale)
		}
		names := func(path, world string) []response {
			return []response{door.send("GET "+path+"?world="+world, ""), door.send("GET "+path, "", "X-Frontdesk-World", world),
				door.send("GET "+path, "", "Cookie", "frontdesk-world="+world)}
		}
		for world, want := range map[string]int{"demo-one": 1, "demo-two": 1, "demo": 2, "demo-three": 0} {
			for _, r := range names("/payments", world) {
				if r.status != http.StatusOK || strings.Count(r.raw, `"id"`) != want || !strings.Contains(r.header.Get("Vary"), "X-Frontdesk-World") {
					door.Errorf("%s: %d %s", world, r.status, r.raw)
				}
			}
		}
		if r := door.send("GET /payments", ""); strings.Count(r.raw, `"id"`) != 4 {
			door.Errorf("without a world: %s", r.raw)
		}
		door.send("PUT /settings", `{"webhooks":"drop"}`, "X-Frontdesk-World", "demo-one")
		door.send("PUT /settings", `{"webhooks":"late"}`)
		for world, want := range map[string]string{"demo-one": "drop", "demo-two": "late"} {
			for _, r := range names("/settings", world) {
				if !strings.Contains(r.raw, want) {
					door.Errorf("settings of %s: %s", world, r.raw)
				}
			}
		}
		for _, path := range []string{"/payments", "/settings"} {
			for _, r := range names(path, "acme") {
				if r.status != http.StatusBadRequest || r.code() != "invalid_world" {
					door.Errorf("%s of acme: %d %s", path, r.status, r.raw)
				}
			}
		}
		for _, what := range []string{"POST /reset?world=acme", "PUT /settings?world=acme"} {
			if r := door.send(what, `{}`); r.status != http.StatusBadRequest || r.code() != "invalid_world" || len(door.Payments()) != 4 {
				door.Errorf("%s: %d %s", what, r.status, r.raw)
			}
		}
	})
}

// TestReset: a reset, of a world or of all, forgets payments, keys and settings. The seed determines the ids, and none is used again.
func TestReset(t *testing.T) {
	t.Parallel()
	door, twin := newDoor(t, sandbox.Config{Seed: 1}), newDoor(t, sandbox.Config{Seed: 1})
	create := func(d testDoor, amount, sale string) string {
		return d.merchant(sale, "POST /v1/payment_intents", "amount", amount, "currency", "eur", "metadata[fd_sale]", sale).text("id")
	}
	one, two := create(door, "4990", "/demo-one/s/1"), create(door, "4990", "/demo-two/s/1")
	if id := create(twin, "100", "/demo/s/1"); id != one {
		t.Errorf("the ids do not repeat with the seed: %s, %s", one, id)
	}
	door.send("PUT /settings", `{"webhooks":"drop"}`, "X-Frontdesk-World", "demo-one")
	door.send("PUT /settings", `{"webhooks":"late"}`, "X-Frontdesk-World", "demo-two")
	if r := door.send("POST /reset?world=demo-one", ""); r.status != http.StatusNoContent {
		t.Fatalf("reset: %d %s", r.status, r.raw)
	}
	_, old := door.Payment(one)
	if all := door.Payments(); old || len(all) != 1 || door.Settings("demo-one").Webhooks != sandbox.Normal ||
		door.Settings("demo-two").Webhooks != sandbox.Late {
		t.Errorf("the reset of demo-one: %t, %+v, %v", old, all, door.Settings("demo-two"))
	}
	if again := create(door, "100", "/demo-one/s/1"); again == one || len(door.PaymentsIn("demo-one")) != 1 {
		t.Error("the key of a payment that a reset removed is still in use, or its id")
	}
	if again := create(door, "4990", "/demo-two/s/1"); again != two {
		t.Error("the key of another world's payment is lost")
	}
	door.send("POST /reset", "")
	again := create(door, "100", "/demo-two/s/1")
	if again == two || len(door.Payments()) != 1 || door.Settings("demo-two").Webhooks != sandbox.Normal {
		t.Errorf("the reset of all left %+v", door.Payments())
	}
}

// TestOverview checks that a browser gets a page of its world, with a form that changes that world's settings.
func TestOverview(t *testing.T) {
	eachMount(t, func(door testDoor) {
		door.merchant("", "POST /v1/payment_intents", "amount", "123456", "currency", "eur", "metadata[fd_sale]", "/demo-one/sales/4711",
			"metadata[note]", "<script>")
		door.create("/demo-two/sales/4712")
		if r := door.send("GET /payments?world=demo-one", "", "Accept", "text/html"); strings.Contains(r.raw, "<script>") {
			door.Errorf("metadata is markup: %s", r.raw)
		}
		one := door.page("/payments?world=demo-one")
		for _, want := range []string{"4711", "€1,234.56", "1, newest first", `href="payments?world=demo-two"`, door.PublishableKey} {
			if !strings.Contains(one, want) {
				door.Errorf("the page of demo-one lacks %s: %s", want, one)
			}
		}
		if strings.Contains(one, "4712") || strings.Contains(one, door.SecretKey) || strings.Contains(one, door.WebhookSecret) {
			door.Errorf("the page of demo-one says too much: %s", one)
		}
		if two := door.page("/payments", "Cookie", "frontdesk-world=demo-two"); !strings.Contains(two, "4712") {
			door.Errorf("by cookie: %s", two)
		}
		if none := door.page("/payments"); !strings.Contains(none, "No payment yet.") {
			door.Errorf("of demo: %s", none)
		}

		r := door.form("/settings", "world", "demo-one", "webhooks", "drop", "refunds", "pending", "captures", "processing",
			"challenges", "modal",
			"errors", "", "confirmations", "", "captureBefore", "10m", "rateLimit", "25", "secrets", "2", "webhookUrl", "")
		if r.status != http.StatusSeeOther || r.header.Get("Location") != "payments?world=demo-one" {
			door.Errorf("saved: %d %v", r.status, r.header)
		}
		const saved = `{"webhooks":"drop","webhookUrl":"","refunds":"pending","captures":"processing","challenges":"modal",` +
			`"captureBefore":"10m","rateLimit":25,"secrets":2}`
		if r := door.send("GET /settings?world=demo-one", ""); r.raw != saved {
			door.Errorf("then: %s", r.raw)
		}
		one = door.page("/payments?world=demo-one")
		for _, shown := range []string{">drop<", ">modal<", ">2<"} {
			if !strings.Contains(one, "<option selected"+shown) {
				door.Errorf("the form does not show %s: %s", shown, one)
			}
		}
		for wrong, problem := range map[[2]string]string{
			{"webhooks", "sometimes"}: "webhooks must be one of", {"rateLimit", "many"}: "rateLimit must be a number",
			{"world", "acme"}: "PUT with JSON",
		} {
			form := append([]string{"world", "demo-one"}, wrong[:]...)
			if r := door.form("/settings", form...); r.status != http.StatusBadRequest || !strings.Contains(r.raw, problem) {
				door.Errorf("%v: %d %s", wrong, r.status, r.raw)
			}
		}
		if r := door.send("GET /settings?world=demo-one", ""); r.raw != saved {
			door.Errorf("in the end: %s", r.raw)
		}
	})
}

// TestOverviewActs checks that the page offers what can happen to each payment next, as forms that lead back to the page, and nothing else.
func TestOverviewActs(t *testing.T) {
	t.Parallel()
	door := newDoor(t, sandbox.Config{})
	all := []string{"settle-confirmation", "settle-refund", "dispute", "expire"}
	for _, test := range []struct {
		settings, in string
		action       string // that the page offers; empty: none
		choices      string // values of succeeded
		choice, then string
	}{
		{`{}`, "requires_action", "", "", "", ""},
		{`{}`, "authorised", "expire", "", "", "cancelled"},
		{`{"confirmations":"processing"}`, "authorised", "settle-confirmation", "true false", "true", "authorised"},
		{`{"captures":"processing"}`, "captured", "settle-confirmation", "true false", "true", "captured"},
		{`{}`, "captured", "dispute", "", "", "captured"},
		{`{"refunds":"pending"}`, "refunded", "settle-refund", "true false", "true", "refunded"},
		{`{}`, "refunded", "settle-refund", "false", "false", "captured"},
	} {
		door.Reset("")
		door.send("PUT /settings", test.settings)
		id := door.in(test.in)
		page := door.page("/payments")
		for _, action := range all {
			if offered := strings.Contains(page, `action="payments/`+id+`/`+action+`"`); offered != (action == test.action) {
				t.Errorf("%s with %s: %s is offered: %t", test.in, test.settings, action, offered)
			}
		}
		for _, choice := range []string{"true", "false"} {
			if offered := strings.Contains(page, `name="succeeded" value="`+choice+`"`); offered != strings.Contains(test.choices, choice) {
				t.Errorf("%s with %s: succeeded=%s is offered: %t", test.in, test.settings, choice, offered)
			}
		}
		if test.action == "" {
			continue
		}
		var values []string
		if test.choice != "" {
			before, _ := door.Payment(id)
			door.form("/payments/"+id+"/"+test.action, "succeeded", "perhaps")
			if after, _ := door.Payment(id); after.State != before.State || after.Refunding != before.Refunding {
				t.Errorf("%s, perhaps: %+v", test.action, after)
			}
			values = []string{"succeeded", test.choice}
		}
		r := door.form("/payments/"+id+"/"+test.action, values...)
		next := r.header.Get("Location")
		if p, _ := door.Payment(id); r.status != http.StatusSeeOther || next != "../../payments?world=demo" || string(p.State) != test.then {
			t.Errorf("%s with %s: %d to %s, then %+v", test.action, test.settings, r.status, next, p)
		}
	}
}
