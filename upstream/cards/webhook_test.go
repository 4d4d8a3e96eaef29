package cards_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v85"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// receiver takes the double's deliveries and lets the adapter verify them.
func (p *pair) receiver() <-chan cards.Event {
	events := make(chan cards.Event, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		event, err := p.Webhook(r.Header, body)
		if err != nil {
			p.t.Errorf("a delivery was refused: %v\n%s", err, body)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		events <- event
	}))
	p.t.Cleanup(server.Close)
	p.double.SetWebhooks(sandbox.Normal, server.URL)
	return events
}

// TestDeliveries verifies what the processor sends during the life of a payment.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	pair := newPair(t)
	events := pair.receiver()
	made := pair.confirmed("c", declinedCard)
	if _, err := pair.double.Confirm(made.ID, challengeCard); err != nil {
		t.Fatal(err)
	}
	if _, err := pair.double.Approve(made.ID, true); err != nil {
		t.Fatal(err)
	}
	if _, err := pair.Capture(t.Context(), "capture", made.ID, 4990); err != nil {
		t.Fatal(err)
	}
	if _, err := pair.Refund(t.Context(), "refund", made.ID, 4990); err != nil {
		t.Fatal(err)
	}
	other := pair.confirmed("c2", goodCard)
	if _, err := pair.Cancel(t.Context(), "cancel", other.ID); err != nil {
		t.Fatal(err)
	}
	about := map[string]string{
		"payment_intent.created": "", "payment_intent.payment_failed": made.ID, "payment_intent.requires_action": made.ID,
		"payment_intent.amount_capturable_updated": "", "payment_intent.succeeded": made.ID, "charge.refunded": "",
		"payment_intent.canceled": other.ID, "charge.succeeded": "none", "charge.failed": "none", "charge.captured": "none",
		"refund.created": "none",
	}
	seen, ids := map[string]int{}, map[string]bool{}
	for range 15 {
		event := frontdesktest.Receive(t, events, "the next event")
		seen[event.Type]++
		payment, known := about[event.Type]
		switch {
		case !known || ids[event.ID] || event.ID == "":
			t.Errorf("unexpected: %+v", event)
		case payment == "none" && (event.PaymentID != "" || event.Metadata != nil):
			t.Errorf("not about a payment: %+v", event)
		case payment != "none" && event.Metadata["fd_registration"] != "r1",
			payment == "" && event.PaymentID != made.ID && event.PaymentID != other.ID,
			payment != "" && payment != "none" && event.PaymentID != payment:
			t.Errorf("about the wrong payment: %+v", event)
		}
		ids[event.ID] = true
	}
	for kind := range about {
		if seen[kind] == 0 {
			t.Errorf("no %s was delivered", kind)
		}
	}
}

// delivery is a webhook as it arrives.
type delivery struct {
	header http.Header
	body   []byte
}

// signed returns a delivery signed as by the processor, with the library's own code.
func signed(at time.Time, body string, secrets ...string) delivery {
	signature := fmt.Sprintf("t=%d", at.Unix())
	for _, secret := range secrets {
		signature += ",v1=" + hex.EncodeToString(stripe.ComputeSignature(at, []byte(body), secret))
	}
	return delivery{http.Header{cards.SignatureHeader: {signature + ",v0=aa"}}, []byte(body)}
}

func TestWebhookThatCannotBeTrusted(t *testing.T) {
	t.Parallel()
	clock := newClock()
	now := clock.Now()
	const secret = "whsec_a"
	event := func(live bool, object string) string {
		return fmt.Sprintf(`{"id":"evt_1","object":%q,"type":"payment_intent.succeeded","livemode":%v,"api_version":"2019-01-01",`+
			`"data":{"object":{"id":"pi_1","metadata":{"a":"b"}}}}`, object, live)
	}
	test, live := event(false, "event"), event(true, "event")
	tampered := signed(now, test, secret)
	tampered.body = []byte(strings.Replace(test, "pi_1", "pi_2", 1))
	retimed := signed(now.Add(-time.Hour), test, secret)
	retimed.header.Set(cards.SignatureHeader, strings.Replace(retimed.header.Get(cards.SignatureHeader),
		fmt.Sprint(now.Add(-time.Hour).Unix()), fmt.Sprint(now.Unix()), 1))
	altered := func(change func(header string) string) delivery {
		d := signed(now, test, secret)
		d.header.Set(cards.SignatureHeader, change(strings.TrimSuffix(d.header.Get(cards.SignatureHeader), ",v0=aa")))
		return d
	}
	for name, c := range map[string]struct {
		key, secrets string // separated by commas
		in           delivery
		ok           bool
	}{
		"good":                        {"sk_test_a", secret, signed(now, test, secret), true},
		"good and live":               {"rk_live_a", secret, signed(now, live, secret), true},
		"while a secret is rolled":    {"sk_test_a", secret, signed(now, test, "whsec_new", secret), true},
		"as old as it may be":         {"sk_test_a", secret, signed(now.Add(-300*time.Second), test, secret), true},
		"as early as it may be":       {"sk_test_a", secret, signed(now.Add(300*time.Second), test, secret), true},
		"too old":                     {"sk_test_a", secret, signed(now.Add(-301*time.Second), test, secret), false},
		"from the future":             {"sk_test_a", secret, signed(now.Add(301*time.Second), test, secret), false},
		"another secret":              {"sk_test_a", secret, signed(now, test, "whsec_b"), false},
		"of a second endpoint":        {"sk_test_a", "whsec_old," + secret, signed(now, test, secret), true},
		"of the first of two":         {"sk_test_a", secret + ",whsec_new", signed(now, test, secret), true},
		"of neither endpoint":         {"sk_test_a", "whsec_old,whsec_new", signed(now, test, secret), false},
		"old, of a second endpoint":   {"sk_test_a", "whsec_old," + secret, signed(now.Add(-301*time.Second), test, secret), false},
		"no signature":                {"sk_test_a", secret, signed(now, test), false},
		"no header":                   {"sk_test_a", secret, delivery{http.Header{}, []byte(test)}, false},
		"garbage for a header":        {"sk_test_a", secret, delivery{http.Header{cards.SignatureHeader: {"t=x,v1=zz,,="}}, []byte(test)}, false},
		"without its time":            {"sk_test_a", secret, altered(func(h string) string { return h[strings.Index(h, "v1="):] }), false},
		"half a signature":            {"sk_test_a", secret, altered(func(h string) string { return h[:len(h)-32] }), false},
		"an empty signature":          {"sk_test_a", secret, altered(func(h string) string { return h[:strings.Index(h, "v1=")+3] }), false},
		"tampered with":               {"sk_test_a", secret, tampered, false},
		"given another time":          {"sk_test_a", secret, retimed, false},
		"no secret configured":        {"sk_test_a", "", signed(now, test, ""), false},
		"live, with a test key":       {"sk_test_a", secret, signed(now, live, secret), false},
		"test, with a live key":       {"sk_live_a", secret, signed(now, test, secret), false},
		"not an event":                {"sk_test_a", secret, signed(now, event(false, "v2.core.event"), secret), false},
		"not JSON":                    {"sk_test_a", secret, signed(now, "x", secret), false},
		"without an object":           {"sk_test_a", secret, signed(now, strings.Replace(test, `"object":{`, `"x":{`, 1), secret), false},
		"with an object of no object": {"sk_test_a", secret, signed(now, strings.Replace(test, `{"a":"b"}`, `7`, 1), secret), false},
	} {
		secrets := strings.FieldsFunc(c.secrets, func(r rune) bool { return r == ',' })
		client := newClient(t, cards.Config{SecretKey: c.key, WebhookSecrets: secrets, Now: clock.Now})
		got, err := client.Webhook(c.in.header, c.in.body)
		switch {
		case c.ok && (err != nil || got.ID != "evt_1" || got.PaymentID != "pi_1" || got.Metadata["a"] != "b" || got.Reversal ||
			got.Type != "payment_intent.succeeded"):
			t.Errorf("%s: %+v, %v", name, got, err)
		case !c.ok && (!errors.Is(err, cards.ErrSignature) || got.PaymentID != ""):
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestEventsAboutMoney: what moves back names the payment, and only a charge has its metadata.
func TestEventsAboutMoney(t *testing.T) {
	t.Parallel()
	clock := newClock()
	client := newClient(t, cards.Config{WebhookSecrets: []string{"whsec_a"}, Now: clock.Now})
	for kind, hasMetadata := range map[string]bool{
		"charge.refunded": true, "refund.updated": false, "refund.failed": false, "charge.refund.updated": false, "charge.dispute.created": false,
	} {
		in := signed(clock.Now(), `{"id":"evt_1","object":"event","type":"`+kind+`","data":{"object":{"id":"x_1","payment_intent":"pi_1",`+
			`"metadata":{"a":"é"}}}}`, "whsec_a")
		event, err := client.Webhook(in.header, in.body)
		if err != nil || event.Type != kind || event.PaymentID != "pi_1" || !event.Reversal || (event.Metadata["a"] == "é") != hasMetadata {
			t.Errorf("%s: %+v, %v", kind, event, err)
		}
	}
}

// TestEmptyWebhookSecret: anybody could sign with it.
func TestEmptyWebhookSecret(t *testing.T) {
	t.Parallel()
	if _, err := cards.New(cards.Config{SecretKey: "sk_test_a", WebhookSecrets: []string{"whsec_a", ""}, Now: time.Now}); err == nil {
		t.Error("a client with an empty secret was made")
	}
}

// FuzzWebhook: no delivery without a valid signature is accepted.
func FuzzWebhook(f *testing.F) {
	good := signed(newClock().Now(), `{"id":"evt_1","object":"event"}`, "whsec_a")
	f.Add(good.header.Get(cards.SignatureHeader), string(good.body))
	f.Add("t=1,v1=", "{}")
	client, err := cards.New(cards.Config{
		SecretKey: "sk_test_a", WebhookSecrets: []string{"whsec_other", "whsec_another"}, Now: newClock().Now,
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header, body string) {
		if _, err := client.Webhook(http.Header{cards.SignatureHeader: {header}}, []byte(body)); !errors.Is(err, cards.ErrSignature) {
			t.Errorf("%q with %q: %v", header, body, err)
		}
	})
}
