package club_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// limited answers 429 with headers, given in pairs. "in" means 90 s after now, "past" a second before,
// and "µs" an end in the wrong unit, tens of thousands of years ahead.
func limited(now time.Time, headers ...string) http.HandlerFunc {
	at := map[string]string{
		"in":   strconv.FormatInt(now.Add(90*time.Second).UnixMilli(), 10),
		"past": strconv.FormatInt(now.Add(-time.Second).UnixMilli(), 10),
		"µs":   strconv.FormatInt(now.Add(90*time.Second).UnixMicro(), 10),
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			value := headers[i+1]
			if instant := at[value]; instant != "" {
				value = instant
			}
			w.Header().Set(headers[i], value)
		}
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

// TestLimitOfTheAPIGateway: a 429 is a refusal only with the API gateway's headers of a limit that was reached, and
// only if the operator says that the gateway has them. The error says when the limit ends in either case.
func TestLimitOfTheAPIGateway(t *testing.T) {
	now := newClock()
	tests := map[string]struct {
		headers []string
		want    club.Outcome
		wait    time.Duration
	}{
		"rate": {
			[]string{"X-Rate-Limit-Limit", "1000", "X-Rate-Limit-Remaining", "0", "X-Rate-Limit-Reset", "in"},
			club.Refused,
			90 * time.Second,
		},
		"quota": {[]string{"X-Quota-Limit", "9", "X-Quota-Remaining", "0", "X-Quota-Reset", "in"}, club.Refused, 90 * time.Second},
		"spike arrest": {
			[]string{"X-Spike-Arrest-Limit", "30", "X-Spike-Arrest-Slice-Period", "100", "X-Spike-Arrest-Reset", "in"},
			club.Refused,
			90 * time.Second,
		},
		"one of two": {
			[]string{"X-Rate-Limit-Remaining", "4", "X-Rate-Limit-Reset", "past", "X-Quota-Remaining", "0", "X-Quota-Reset", "in"},
			club.Refused,
			90 * time.Second,
		},
		"over already":     {[]string{"X-Rate-Limit-Remaining", "0", "X-Rate-Limit-Reset", "past"}, club.Refused, 0},
		"not reached":      {[]string{"X-Rate-Limit-Limit", "1000", "X-Rate-Limit-Remaining", "7", "X-Rate-Limit-Reset", "in"}, club.Unknown, 0},
		"without an end":   {[]string{"X-Rate-Limit-Limit", "1000", "X-Rate-Limit-Remaining", "0"}, club.Unknown, 0},
		"an end in words":  {[]string{"X-Quota-Remaining", "0", "X-Quota-Reset", "soon"}, club.Unknown, 0},
		"a wrong unit":     {[]string{"X-Quota-Remaining", "0", "X-Quota-Reset", "µs"}, club.Unknown, 0},
		"Retry-After":      {[]string{"Retry-After", "90"}, club.Unknown, 90 * time.Second},
		"another's header": {[]string{"RateLimit-Remaining", "0", "RateLimit-Reset", "in"}, club.Unknown, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			u := serve(t, limited(now.Now(), tt.headers...))
			cfg := configured(u.URL)
			cfg.Now, cfg.LimitHeaders, cfg.Limits.MaxAttempts = now.Now, true, 1
			for _, known := range []bool{true, false} {
				cfg.LimitHeaders = known
				want := tt.want
				if !known {
					want = club.Unknown
				}
				c := club.New(cfg)
				_, paid := c.CreatePayment(t.Context(), demo, sale, payment, nil)
				_, read := c.GetSale(t.Context(), demo, sale)
				for call, err := range map[string]error{"payment": paid, "read": read} {
					if e := asError(t, err); e.Outcome != want || e.RetryAfter.Round(time.Second) != tt.wait {
						t.Errorf("%s, known %v: %s, to wait %s; want %s, %s", call, known, e.Outcome, e.RetryAfter, want, tt.wait)
					}
				}
			}
		})
	}
}

// TestLimitIsWaitedFor: reads and writes are sent again when the limit ends. A payment is left to its caller.
func TestLimitIsWaitedFor(t *testing.T) {
	world := newWorld(t, "limit")
	cart := world.cart(world.visitor().IRI)
	cfg := world.config()
	cfg.LimitHeaders = true
	client := club.New(cfg)
	spike := clubsim.Fault{Kind: "too_many", Limit: "spike_arrest", DelayMs: 100}
	world.hit(spike, "GET", "/sales/*")
	must[club.Sale](t)(client.GetSale(t.Context(), world.bastille, cart.IRI))
	world.hit(spike, "POST", "/sales/*/articles")
	if err := client.AddArticle(t.Context(), world.bastille, cart.IRI, club.NewArticle{Offer: world.iri("offers", "101")}); err != nil {
		t.Error(err)
	}
	cart = must[club.Sale](t)(client.GetSale(t.Context(), world.bastille, cart.IRI))
	if len(cart.Articles) != 1 {
		t.Errorf("%d articles, want one", len(cart.Articles))
	}
	world.hit(spike, "POST", "/sales/*/payments")
	_, err := client.CreatePayment(t.Context(), world.bastille, cart.IRI, world.paying(cart), pass)
	wantOutcome(t, err, club.Refused)
	if world.calls("createPayment") != 1 || len(world.Ledger()) != 0 {
		t.Errorf("%d payments sent, ledger %v", world.calls("createPayment"), world.Ledger())
	}
}
