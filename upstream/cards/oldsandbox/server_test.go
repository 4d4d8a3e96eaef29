package oldsandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/oldsandbox"
)

func (b *testEnv) list(query string) (items []oldsandbox.Payment, next string) {
	b.Helper()
	r := b.send(http.MethodGet, "/payments"+query, "")
	var in struct {
		Items []oldsandbox.Payment
		Next  string
	}
	if err := json.Unmarshal(r.body, &in); err != nil || r.status != http.StatusOK {
		b.Fatalf("list%s: %d %s", query, r.status, r.body)
	}
	return in.Items, in.Next
}

func TestListNewestFirst(t *testing.T) {
	b := newTestEnv(t)
	if r := b.send(http.MethodGet, "/payments", ""); strings.TrimSpace(string(r.body)) != `{"items":[]}` {
		t.Errorf("empty list: %s", r.body)
	}
	var ids []string
	for range 5 {
		ids = append([]string{b.create().ID}, ids...)
		b.clock.advance(time.Minute)
	}
	wantIDs := func(what string, items []oldsandbox.Payment, want []string) {
		t.Helper()
		var got []string
		for _, p := range items {
			got = append(got, p.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	all, _ := b.list("")
	wantIDs("all", all, ids)
	wantIDs("by the Go door", b.server.Payments(), ids)
	since := b.clock.Now().Add(-2 * time.Minute)
	recent, _ := b.list("?since=" + url.QueryEscape(since.Format(time.RFC3339Nano)))
	wantIDs("since the fourth", recent, ids[:2])
	page, next := b.list("?limit=2")
	wantIDs("first page", page, ids[:2])
	page, next = b.list("?limit=2&before=" + next)
	wantIDs("second page", page, ids[2:4])
	page, next = b.list("?limit=2&before=" + next)
	wantIDs("last page", page, ids[4:])
	if next != "" {
		t.Errorf("after the last page comes %q", next)
	}
	for _, query := range []string{"?since=yesterday", "?limit=0", "?limit=x", "?before=pay_none", "?state=captured"} {
		if r := b.send(http.MethodGet, "/payments"+query, ""); r.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
}

// A payment's JSON for developers and auditors, member by member.
func TestPaymentOnTheWire(t *testing.T) {
	b := newTestEnv(t)
	p := b.in("partly refunded")
	want := fmt.Sprintf(`{"id":%q,"amount":4990,"currency":"EUR","captured":4990,"refunded":1000,"state":"captured","challenge":false,`+
		`"declineCode":"","declines":0,"metadata":{"fd_sale":"s1"},"createdAt":"2026-11-20T09:00:00Z","redirectUrl":%q,"description":"Club Riverside","returnUrl":%q,"webhookUrl":""}`,
		p.ID, b.url+"/payments/"+p.ID, returnURL)
	for _, accept := range []string{"application/json", "*/*", ""} {
		r := b.send(http.MethodGet, "/payments/"+p.ID, "", header{"Accept", accept})
		if got := strings.TrimSpace(string(r.body)); got != want || r.header.Get("Content-Type") != "application/json" {
			t.Errorf("Accept %q: %s\nwant %s", accept, got, want)
		}
	}
	if r := b.send(http.MethodGet, "/payments", ""); !strings.Contains(string(r.body), want) {
		t.Errorf("list: %s", r.body)
	}
}

func TestMissingPaths(t *testing.T) {
	b := newTestEnv(t)
	id := b.create().ID
	for _, c := range []struct {
		method, path string
		status       int
		code         string
	}{
		{http.MethodGet, "/payments/pay_none", http.StatusNotFound, "payment_not_found"},
		{http.MethodPost, "/payments/pay_none/confirm", http.StatusNotFound, "payment_not_found"},
		{http.MethodGet, "/nothing", http.StatusNotFound, "no_such_path"},
		{http.MethodGet, "/assets/nothing.css", http.StatusNotFound, ""},
		{http.MethodGet, "/payments/" + id + "/capture", http.StatusMethodNotAllowed, "method_not_allowed"},
		{http.MethodDelete, "/payments/" + id, http.StatusMethodNotAllowed, "method_not_allowed"},
	} {
		r := b.send(c.method, c.path, `{"card":"`+goodCard+`"}`)
		if r.status != c.status || r.wireError().Code != c.code {
			t.Errorf("%s %s: %d %s", c.method, c.path, r.status, r.body)
		}
	}
	if r := b.send(http.MethodDelete, "/payments/"+id, ""); r.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("Allow: %q", r.header.Get("Allow"))
	}
	if r := b.send(http.MethodGet, "/", ""); r.status != http.StatusSeeOther || r.header.Get("Location") != b.url+"/payments" {
		t.Errorf("home: %d %v", r.status, r.header)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	b := newTestEnv(t)
	r := b.merchant("/payments", b.key(), `{"amount":100,"currency":"EUR","metadata":{"k":"`+strings.Repeat("x", 600<<10)+`"}}`)
	if r.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d %s", r.status, r.body)
	}
	r = b.send(http.MethodPost, "/payments/"+b.create().ID+"/confirm", `card=1`, header{"Content-Type", "text/plain"})
	if r.status != http.StatusUnsupportedMediaType {
		t.Errorf("a text: %d %s", r.status, r.body)
	}
}

func TestSettings(t *testing.T) {
	b := newTestEnv(t)
	read := func() string { return strings.TrimSpace(string(b.send(http.MethodGet, "/settings", "").body)) }
	if got := read(); got != `{"webhooks":"normal","webhookUrl":""}` {
		t.Errorf("at first: %s", got)
	}
	for _, mode := range []string{"drop", "duplicate", "late", "reorder", "normal"} {
		body := `{"webhooks":"` + mode + `","webhookUrl":"https://elsewhere.example/hooks"}`
		if r := b.send(http.MethodPut, "/settings", body); r.status != http.StatusOK || read() != body {
			t.Errorf("%s: %d %s, then %s", mode, r.status, r.body, read())
		}
	}
	for _, body := range []string{`{"webhooks":"sometimes"}`, `{"webhooks":"drop","speed":1}`, `{"webhookUrl":"elsewhere"}`, `{"webhooks":1}`, ``} {
		r := b.send(http.MethodPut, "/settings", body)
		if r.status != http.StatusBadRequest || r.wireError().Message == "" || !strings.Contains(read(), "elsewhere.example") {
			t.Errorf("%s: %d %s, then %s", body, r.status, r.body, read())
		}
	}
	if b.send(http.MethodPut, "/settings", `{}`); read() != `{"webhooks":"normal","webhookUrl":""}` {
		t.Errorf("left out: %s", read())
	}
}

// TestWorldsApart: a demo world has its own payments and settings; a request without a world refers to all of
// them.
func TestWorldsApart(t *testing.T) {
	b := newTestEnv(t)
	in := func(world string) header { return header{"X-Frontdesk-World", world} }
	for key, sale := range map[string]string{"one": "/demo-one/sales/1", "two": "/demo-two/sales/1", "none": ""} {
		if r := b.merchant("/payments", key, `{"amount":1490,"currency":"EUR","metadata":{"fd_sale":"`+sale+`"}}`); r.status != http.StatusCreated {
			t.Fatalf("%s: %d %s", key, r.status, r.body)
		}
	}
	for world, want := range map[string]int{"demo-one": 1, "demo-two": 1, "demo": 1, "demo-three": 0} {
		r := b.send(http.MethodGet, "/payments", "", in(world))
		if items, _ := b.list("?world=" + world); len(items) != want || strings.Count(string(r.body), `"id"`) != want {
			t.Errorf("%s lists %d, and by header %s", world, len(items), r.body)
		}
	}
	if all, _ := b.list(""); len(all) != 3 {
		t.Errorf("without a world there are %d", len(all))
	}

	read := func(world string) string { return string(b.send(http.MethodGet, "/settings", "", in(world)).body) }
	b.send(http.MethodPut, "/settings", `{"webhooks":"drop"}`, in("demo-one"))
	b.send(http.MethodPut, "/settings", `{"webhooks":"late"}`)
	if !strings.Contains(read("demo-one"), "drop") || !strings.Contains(read("demo-two"), "late") {
		t.Errorf("settings: %s, %s", read("demo-one"), read("demo-two"))
	}
	for _, path := range []string{"/payments", "/settings"} {
		if r := b.send(http.MethodGet, path, "", in("acme")); r.status != http.StatusBadRequest || r.wireError().Code != "invalid_world" {
			t.Errorf("%s of acme: %d %s", path, r.status, r.body)
		}
	}
}

// TestOverview: a browser gets a page of its world, with a form that changes that world's settings.
func TestOverview(t *testing.T) {
	b := newTestEnv(t)
	b.merchant("/payments", "one", `{"amount":1490,"currency":"EUR","metadata":{"fd_sale":"/demo-one/sales/4711","note":"<script>"}}`)
	b.merchant("/payments", "two", `{"amount":99,"currency":"EUR","metadata":{"fd_sale":"/demo-two/sales/4712"}}`)
	page := func(path string, headers ...header) string {
		r := b.send(http.MethodGet, path, "", append(headers, header{"Accept", "text/html"})...)
		if r.status != http.StatusOK || !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") {
			t.Fatalf("%s: %d %s", path, r.status, r.body)
		}
		return string(r.body)
	}
	one := page("/payments?world=demo-one")
	if !strings.Contains(one, "4711") || strings.Contains(one, "4712") || strings.Contains(one, "<script>") || !strings.Contains(one, `href="payments?world=demo-two"`) {
		t.Errorf("the page of demo-one: %s", one)
	}
	if two := page("/payments", header{"Cookie", "frontdesk-world=demo-two"}); !strings.Contains(two, "4712") {
		t.Errorf("by cookie: %s", two)
	}
	if none := page("/payments"); !strings.Contains(none, "No payment yet.") {
		t.Errorf("of demo: %s", none)
	}
	form := header{"Content-Type", "application/x-www-form-urlencoded"}
	if r := b.send(http.MethodPost, "/settings", "world=demo-one&webhooks=drop&refunds=pending&webhookUrl=", form); r.status != http.StatusSeeOther || !strings.HasSuffix(r.header.Get("Location"), "/payments?world=demo-one") {
		t.Errorf("saved: %d %s", r.status, r.body)
	}
	if r := b.send(http.MethodGet, "/settings?world=demo-one", ""); !strings.Contains(string(r.body), `"drop"`) || !strings.Contains(string(r.body), `"pending"`) {
		t.Errorf("then: %s", r.body)
	}
	if r := b.send(http.MethodPost, "/settings", "world=demo-one&webhooks=sometimes", form); r.status != http.StatusBadRequest || !strings.Contains(string(r.body), "webhooks must be one of") {
		t.Errorf("a wrong mode: %d %s", r.status, r.body)
	}
	if r := b.send(http.MethodPost, "/settings", "world=acme", form); r.status != http.StatusBadRequest {
		t.Errorf("a wrong world: %d %s", r.status, r.body)
	}
}

// TestDispute: the buyer of a captured payment demands the money back, once, by request or from the overview.
func TestDispute(t *testing.T) {
	b := newTestEnv(t)
	early := b.in("authorised")
	if r := b.send(http.MethodPost, "/payments/"+early.ID+"/dispute", "{}"); r.status != http.StatusConflict {
		t.Errorf("before the capture: %d %s", r.status, r.body)
	}
	p := b.in("captured")
	offered := func() bool {
		_, page := b.page("/payments")
		return strings.Contains(page, `action="payments/`+p.ID+`/dispute"`)
	}
	if b.get(p.ID).Disputed || !offered() {
		t.Error("the page does not offer to dispute a captured payment")
	}
	if r := b.form("/payments/"+p.ID+"/dispute", url.Values{}); r.status != http.StatusSeeOther {
		t.Errorf("the form: %d %s", r.status, r.body)
	}
	if got := b.get(p.ID); !got.Disputed || got.State != cards.Captured || offered() {
		t.Errorf("then: %+v", got)
	}
	if r := b.send(http.MethodPost, "/payments/"+p.ID+"/dispute", "{}"); r.status != http.StatusConflict {
		t.Errorf("a second time: %d %s", r.status, r.body)
	}
}

// TestOverviewSettlesRefunds checks that the overview's forms let a pending refund arrive, and an
// arrived one fail after all.
func TestOverviewSettlesRefunds(t *testing.T) {
	b := newTestEnv(t)
	b.send(http.MethodPut, "/settings", `{"webhooks":"drop","refunds":"pending"}`)
	p := b.in("captured")
	settle, form := "payments/"+p.ID+"/settle-refund", header{"Content-Type", "application/x-www-form-urlencoded"}
	offers := func(succeeded string) bool {
		_, page := b.page("/payments")
		return strings.Contains(page, `action="`+settle+`"`) && strings.Contains(page, `value="`+succeeded+`"`)
	}
	if offers("true") || offers("false") {
		t.Error("without a refund, the page offers to settle one")
	}
	b.merchant("/payments/"+p.ID+"/refund", "refund", `{"amount":4990}`)
	if !offers("true") || !offers("false") {
		t.Error("a pending refund cannot be settled")
	}
	for _, succeeded := range []string{"", "perhaps"} {
		b.send(http.MethodPost, "/"+settle, "succeeded="+succeeded, form)
		if got := b.send(http.MethodGet, "/payments/"+p.ID, "").payment(); got.State != cards.Captured || got.Refunding != 4990 {
			t.Errorf("after %q: %+v", succeeded, got)
		}
	}
	if r := b.send(http.MethodPost, "/"+settle, "succeeded=true", form); r.status != http.StatusSeeOther || r.header.Get("Location") != "../../payments?world=demo" {
		t.Errorf("settled: %d to %s", r.status, r.header.Get("Location"))
	}
	if got := b.send(http.MethodGet, "/payments/"+p.ID, "").payment(); got.State != cards.Refunded {
		t.Errorf("then: %+v", got)
	}
	if offers("true") || !offers("false") {
		t.Error("a refund that has arrived can only fail")
	}
	b.send(http.MethodPost, "/"+settle, "succeeded=false", form)
	if got := b.send(http.MethodGet, "/payments/"+p.ID, "").payment(); got.State != cards.Captured || got.FailedRefunds != 1 {
		t.Errorf("in the end: %+v", got)
	}
}

func TestResetForgetsEverything(t *testing.T) {
	b := newTestEnv(t)
	first := b.merchant("/payments", "create", createBody).payment()
	b.send(http.MethodPut, "/settings", `{"webhooks":"drop"}`)
	if r := b.send(http.MethodPost, "/reset", ""); r.status != http.StatusNoContent {
		t.Fatalf("reset: %d %s", r.status, r.body)
	}
	_, err := b.client.Get(t.Context(), first.ID)
	wantErr(t, "an old payment", err, cards.ErrNotFound)
	if r := b.merchant("/payments", "create", `{"amount":100,"currency":"EUR"}`); r.status != http.StatusCreated {
		t.Errorf("an old key: %d %s", r.status, r.body)
	}
	if r := b.send(http.MethodGet, "/settings", ""); !strings.Contains(string(r.body), "normal") {
		t.Errorf("settings: %s", r.body)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	b := newTestEnv(t, func(cfg *oldsandbox.ServerConfig) { cfg.MaxPayments = 3 })
	open, oldest, newer := b.create(), b.in("captured"), b.in("cancelled")
	b.create()
	_, err := b.client.Get(t.Context(), oldest.ID)
	wantErr(t, "the oldest final payment", err, cards.ErrNotFound)
	b.get(open.ID)
	b.get(newer.ID)
	b.create()
	_, err = b.client.Create(t.Context(), b.key(), cards.NewPayment{Amount: 100, Currency: "EUR"})
	wantUnknown(t, "none is final any more", err)
	if n := len(b.server.Payments()); n != 3 {
		t.Errorf("%d payments", n)
	}
}

// When no more keys fit, new ones are refused and the existing ones are kept.
func TestKeysAreNeverForgottenEarly(t *testing.T) {
	b := newTestEnv(t, func(cfg *oldsandbox.ServerConfig) { cfg.MaxPayments = 1 })
	p := b.create()
	for i := range 9 {
		if _, err := b.client.UpdateMetadata(t.Context(), fmt.Sprint("note ", i), p.ID, map[string]string{"n": "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if r := b.merchant("/payments/"+p.ID+"/cancel", "one too many", ""); r.status != http.StatusServiceUnavailable || r.wireError().Code != "sandbox_full" {
		t.Errorf("one too many: %d %s", r.status, r.body)
	}
	_, err := b.client.UpdateMetadata(t.Context(), "note 0", p.ID, map[string]string{"n": "y"})
	wantErr(t, "the first note's key", err, cards.ErrKeyReused)
	b.clock.advance(24 * time.Hour)
	if _, err := b.client.Cancel(t.Context(), "one too many", p.ID); err != nil {
		t.Errorf("a day later: %v", err)
	}
}
