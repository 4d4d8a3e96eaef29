package sandbox_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

const (
	hooks      = "http://club.test/v1/webhooks/card"
	authorised = "payment_intent.amount_capturable_updated"
	taken      = "payment_intent.succeeded"
)

// testBubble is a double and the receiver of its events, without sockets, in a synctest bubble: there, minutes pass at once.
type testBubble struct {
	*testing.T
	*sandbox.Server
	start  time.Time
	answer func(n int) int // the status for a delivery; zero: none comes

	mu     sync.Mutex
	got    []arrival
	logged []string // attempt, status and outcome
}

type arrival struct {
	after  time.Duration
	url    string
	header http.Header
	body   []byte
	ID     string
	Type   string
	API    string `json:"api_version"`
	Data   struct{ Object map[string]any }
}

// inBubble runs a test with a double whose endpoint wants two types of events.
func inBubble(t *testing.T, run func(*testBubble)) {
	synctest.Test(t, func(t *testing.T) {
		b := &testBubble{T: t, start: time.Now(), answer: func(int) int { return 200 }}
		b.Server = startServer(t, sandbox.Config{BaseURL: "http://double", HTTPClient: &http.Client{Transport: b}, Logger: slog.New(b)})
		b.SetEndpoints(sandbox.Endpoint{URL: hooks, Events: []string{authorised, taken}})
		run(b)
	})
}

// RoundTrip receives a delivery.
func (b *testBubble) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	a := arrival{after: time.Since(b.start), url: r.URL.String(), header: r.Header, body: body}
	if err != nil || json.Unmarshal(body, &a) != nil {
		b.Errorf("no event arrived: %v, %s", err, body)
	}
	b.mu.Lock()
	b.got = append(b.got, a)
	n := len(b.got)
	b.mu.Unlock()
	status := b.answer(n)
	if status == 0 {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return &http.Response{StatusCode: status, Body: http.NoBody}, nil
}

// Enabled, Handle, WithAttrs and WithGroup keep what is logged of each attempt.
func (b *testBubble) Enabled(context.Context, slog.Level) bool { return true }

func (b *testBubble) Handle(_ context.Context, r slog.Record) error {
	values := map[string]any{}
	r.Attrs(func(a slog.Attr) bool { values[a.Key] = a.Value.Any(); return true })
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Message == "sandbox webhook" {
		b.logged = append(b.logged, fmt.Sprint(values["attempt"], values["status"], " ", values["outcome"]))
	}
	return nil
}

func (b *testBubble) WithAttrs([]slog.Attr) slog.Handler { return b }
func (b *testBubble) WithGroup(string) slog.Handler      { return b }

// pay makes a payment with an accepted card.
func (b *testBubble) pay(more ...string) (id string) {
	b.Helper()
	id = newPayment(b, b.Server, more...)
	if _, err := b.Confirm(id, "4242424242424242"); err != nil {
		b.Fatal(err)
	}
	return id
}

func (b *testBubble) set(settings sandbox.Settings) {
	b.Helper()
	if err := b.Configure("demo", settings); err != nil {
		b.Fatal(err)
	}
}

func (b *testBubble) capture(id string) {
	b.Helper()
	if r := do(b, b.Server, b.SecretKey, "capture:"+id, "POST /v1/payment_intents/"+id+"/capture"); r.status != http.StatusOK {
		b.Fatalf("%+v", r)
	}
}

// pass lets time pass in the bubble.
func (b *testBubble) pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the bubble's own clock
	synctest.Wait()
}

// arrivals waits until all is idle, and compares the seconds at which deliveries arrived.
func (b *testBubble) arrivals(want ...float64) []arrival {
	b.Helper()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	got := []float64{}
	for _, a := range b.got {
		got = append(got, a.after.Seconds())
	}
	if !slices.Equal(got, want) {
		b.Fatalf("deliveries after %v s, want %v", got, want)
	}
	return b.got
}

// TestDelivery checks an event and its signature, which is computed here independently.
func TestDelivery(t *testing.T) {
	inBubble(t, func(bubble *testBubble) {
		id := bubble.pay("metadata[fd_sale]", "/demo-one/sales/1")
		bubble.capture(id)
		all := bubble.arrivals(0, 0)
		slices.SortFunc(all, func(a, b arrival) int { return strings.Compare(a.Type, b.Type) })
		for i, want := range []string{authorised, taken} {
			arrival := all[i]
			at := fmt.Sprint(bubble.start.Unix())
			mac := hmac.New(sha256.New, []byte(bubble.WebhookSecret))
			mac.Write([]byte(at + "." + string(arrival.body)))
			signature := "t=" + at + ",v1=" + hex.EncodeToString(mac.Sum(nil))
			if !strings.HasPrefix(arrival.header.Get("Stripe-Signature"), signature) {
				t.Errorf("signed %q, want %q", arrival.header.Get("Stripe-Signature"), signature)
			}
			if arrival.url != hooks || arrival.Type != want || arrival.API != sandbox.APIVersion || arrival.Data.Object["id"] != id ||
				arrival.header.Get("X-Frontdesk-World") != "demo-one" {
				t.Errorf("%s to %s: %s", arrival.Type, arrival.url, arrival.body)
			}
			if cause := strings.Contains(string(arrival.body), `"idempotency_key":"capture:`+id); cause != (want == taken) {
				t.Errorf("the cause of %s: %s", arrival.Type, arrival.body)
			}
		}
	})
}

func TestRefusedDeliveriesAreTriedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		responses []int // the last one from then on; zero: the receiver hangs
		at        []float64
		log       []string
	}{
		"taken at once":   {[]int{204}, []float64{0}, []string{"1 204 delivered"}},
		"taken the third": {[]int{500, 302, 200}, []float64{0, 1, 5}, []string{"1 500 failed", "2 302 failed", "3 200 delivered"}},
		"never taken":     {[]int{404}, []float64{0, 1, 5, 21}, []string{"1 404 failed", "2 404 failed", "3 404 failed", "4 404 failed"}},
		"a hanging one":   {[]int{0, 200}, []float64{0, 6}, []string{"1 0 failed", "2 200 delivered"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(bubble *testBubble) {
				bubble.answer = func(n int) int { return test.responses[min(n, len(test.responses))-1] }
				bubble.pay()
				bubble.pass(time.Hour)
				for _, a := range bubble.arrivals(test.at...) {
					if !bytes.Equal(a.body, bubble.got[0].body) {
						t.Errorf("another body in a later attempt: %s", a.body)
					}
				}
				if !slices.Equal(bubble.logged, test.log) {
					t.Errorf("logged %q, want %q", bubble.logged, test.log)
				}
			})
		})
	}
}

func TestWebhookModes(t *testing.T) {
	for name, test := range map[string]struct {
		mode  sandbox.WebhookMode
		twice bool // the payment is captured a second later
		at    []float64
		first string
	}{
		"normal":                     {sandbox.Normal, true, []float64{0, 1}, authorised},
		"drop":                       {sandbox.Drop, true, []float64{}, ""},
		"duplicate":                  {sandbox.Duplicate, false, []float64{0, 0}, authorised},
		"late":                       {sandbox.Late, false, []float64{5}, authorised},
		"reorder":                    {sandbox.Reorder, true, []float64{1, 1}, taken},
		"reorder without a next one": {sandbox.Reorder, false, []float64{10}, authorised},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(bubble *testBubble) {
				bubble.set(sandbox.Settings{Webhooks: test.mode})
				id := bubble.pay()
				bubble.pass(time.Second)
				if test.twice {
					bubble.capture(id)
				}
				bubble.pass(time.Hour)
				got := bubble.arrivals(test.at...)
				if len(got) > 0 && got[0].Type != test.first {
					t.Errorf("%s came first", got[0].Type)
				}
				if test.mode == sandbox.Duplicate && !bytes.Equal(got[0].body, got[1].body) {
					t.Error("a duplicate differs")
				}
				if test.mode == sandbox.Drop && !slices.Equal(bubble.logged, []string{"0 0 dropped", "0 0 dropped"}) {
					t.Errorf("logged %q", bubble.logged)
				}
			})
		})
	}
}

// TestWhereEventsGo: to the account's endpoints and to the address that the creation names, or else to the one that is set.
func TestWhereEventsGo(t *testing.T) {
	inBubble(t, func(bubble *testBubble) {
		went := func(to ...string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for _, a := range bubble.got {
				got = append(got, a.url)
			}
			slices.Sort(got)
			bubble.got = nil
			if !slices.Equal(got, to) {
				t.Errorf("went to %v, want %v", got, to)
			}
		}
		bubble.SetEndpoints()
		bubble.pay()
		went()
		const own, set = "http://gateway.test/hooks", "http://set.test/hooks"
		named := func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set("X-Frontdesk-Webhook-Url", own)
			return bubble.Server.RoundTrip(r)
		}
		client := must(cards.New(cards.Config{SecretKey: bubble.SecretKey, URL: bubble.URL, Now: time.Now,
			HTTPClient: &http.Client{Transport: roundTripper(named)}}))
		made := must(client.Create(bubble.Context(), "create", cards.NewPayment{Amount: 4990, Currency: "EUR"}))
		went() // payment_intent.created is not for a gateway
		bubble.SetEndpoints(sandbox.Endpoint{URL: hooks, Events: []string{authorised}}, sandbox.Endpoint{URL: "http://off.test", Disabled: true})
		must(bubble.Confirm(made.ID, "pm_card_visa"))
		went(hooks, own) // and charge.succeeded went to neither
		listed := must(client.WebhookEndpoints(bubble.Context()))
		if len(listed) != 3 || listed[0].URL != hooks || listed[0].Events[0] != authorised || listed[1].Enabled ||
			listed[2].URL != own || !listed[2].Enabled {
			t.Errorf("listed: %+v", listed)
		}
		if missing := listed[2].Missing(); len(missing) > 0 || slices.Contains(listed[2].Events, "*") {
			t.Errorf("a gateway gets %v, without %v", listed[2].Events, missing)
		}
		bubble.set(sandbox.Settings{WebhookURL: set})
		must(client.Capture(bubble.Context(), "capture", made.ID, 4990))
		went(set, set)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestEndpointsOfTwoReleases: each endpoint gets the events of its release and filter, with its own secrets.
func TestEndpointsOfTwoReleases(t *testing.T) {
	inBubble(t, func(bubble *testBubble) {
		bubble.SetEndpoints(sandbox.Endpoint{URL: "http://new.test", Events: []string{"refund.created", "refund.failed", "charge.refund.updated"},
			Secrets: []string{"whsec_new"}},
			sandbox.Endpoint{URL: "http://old.test", APIVersion: "2024-06-20"})
		bubble.set(sandbox.Settings{Secrets: 2})
		id := bubble.pay()
		bubble.capture(id)
		do(bubble, bubble.Server, bubble.SecretKey, "", "POST /v1/refunds", "payment_intent", id)
		must(bubble.SettleRefund(id, "failed"))
		synctest.Wait()
		got := map[string][]string{}
		for _, a := range bubble.got {
			got[a.url] = append(got[a.url], a.Type)
			first := map[string]string{"http://new.test": "whsec_new", "http://old.test": bubble.WebhookSecret}[a.url]
			want := sandbox.Sign(bubble.start, a.body, first, first+"_next")
			if a.header.Get("Stripe-Signature") != want || strings.Count(want, "v1=") != 2 {
				t.Errorf("%s is signed %s, want %s", a.url, a.header.Get("Stripe-Signature"), want)
			}
		}
		for _, types := range got {
			slices.Sort(types)
		}
		want := map[string][]string{"http://new.test": {"refund.created", "refund.failed"}, "http://old.test": {"charge.captured",
			"charge.refund.updated", "charge.refunded", "charge.succeeded", authorised, "payment_intent.created", taken}}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestCloseAndResetStopDeliveries(t *testing.T) {
	for name, stop := range map[string]func(*testBubble){
		"close": func(b *testBubble) { b.Close() }, "reset": func(b *testBubble) { b.Reset("") },
		"reset of the world": func(b *testBubble) { b.Reset("demo") },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(bubble *testBubble) {
				bubble.answer = func(int) int { return 503 }
				bubble.pay()
				bubble.set(sandbox.Settings{Webhooks: sandbox.Reorder})
				bubble.pay()
				bubble.set(sandbox.Settings{Webhooks: sandbox.Late})
				bubble.pay()
				bubble.pass(100 * time.Millisecond)
				stop(bubble)
				bubble.pass(time.Hour)
				bubble.arrivals(0)
			})
		})
	}
}

// TestPendingDeliveriesAreBounded: what a receiver that is down would have to catch up with is dropped beyond a bound.
func TestPendingDeliveriesAreBounded(t *testing.T) {
	inBubble(t, func(bubble *testBubble) {
		bubble.SetEndpoints(sandbox.Endpoint{URL: hooks, Events: []string{"payment_intent.created"}})
		bubble.set(sandbox.Settings{Webhooks: sandbox.Late})
		for range 10_003 {
			newPayment(bubble, bubble.Server)
		}
		bubble.pass(time.Minute)
		if len(bubble.logged) != 10_003 || !slices.Equal(bubble.logged[:3], []string{"0 0 dropped", "0 0 dropped", "0 0 dropped"}) ||
			bubble.logged[3] == bubble.logged[0] {
			t.Errorf("%d logged, the first are %q", len(bubble.logged), bubble.logged[:min(4, len(bubble.logged))])
		}
		if len(bubble.got) != 10_000 {
			t.Errorf("%d arrived", len(bubble.got))
		}
	})
}

// TestDeliverInProcess: events are handed over before the call that causes them returns, and their receiver may call back.
func TestDeliverInProcess(t *testing.T) {
	t.Parallel()
	var server *sandbox.Server
	var got []string
	cfg := inProcess
	cfg.Deliver = func(delivery sandbox.Delivery) {
		client := must(cards.New(cards.Config{
			SecretKey:      server.SecretKey,
			WebhookSecrets: []string{server.WebhookSecret},
			URL:            "http://double",
			Now:            time.Now,
			HTTPClient:     &http.Client{Transport: server},
		}))
		event := must(client.Webhook(http.Header{cards.SignatureHeader: {delivery.Signature}}, delivery.Body))
		got = append(got, event.Type+" "+string(must(client.Get(t.Context(), event.PaymentID)).State))
	}
	server = startServer(t, cfg)
	server.SetEndpoints(sandbox.Endpoint{URL: hooks, Events: []string{authorised, taken}})
	id := newPayment(t, server)
	must(server.Confirm(id, "pm_card_visa"))
	server.SetWebhooks(sandbox.Duplicate, "")
	do(t, server, server.SecretKey, "", "POST /v1/payment_intents/"+id+"/capture")
	server.SetWebhooks(sandbox.Drop, "")
	must(server.Confirm(newPayment(t, server), "pm_card_visa"))
	if want := []string{authorised + " authorised", taken + " captured", taken + " captured"}; !slices.Equal(got, want) {
		t.Errorf("handed over: %v", got)
	}
}
