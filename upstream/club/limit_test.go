package club_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
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

// TestTokenTakesACall: a request for a token takes a call of the payers' lane from those that the gateways share, and waits
// for one like any other call.
func TestTokenTakesACall(t *testing.T) {
	world := newWorld(t, "token-call")
	cart := world.cart(world.visitor().IRI)
	world.configure(func(settings *clubsim.Settings) { settings.CallLimits.PerMinute = 1000 })
	var taken [2]atomic.Int64 // by payers and by the other lanes
	var none atomic.Bool      // payers get no call
	config := world.config()
	config.ShareCalls = func(_ context.Context, request club.CallRequest) (grants []club.CallGrant, err error) {
		for rank, wanted := range request.Wanted {
			grant := club.CallGrant{Calls: wanted}
			if club.Lanes[rank] == club.Payers && none.Load() {
				grant = club.CallGrant{Wait: time.Minute}
			}
			taken[min(rank, 1)].Add(int64(grant.Calls))
			grants = append(grants, grant)
		}
		return grants, nil
	}
	client := club.New(config)
	read := func() error {
		world.hit(clubsim.Fault{Kind: "unauthorized_once"}, "GET", "/sales/*") // the next call needs a new token
		_, err := client.GetSale(t.Context(), world.bastille, cart.IRI)
		return err
	}
	must[club.Sale](t)(client.GetSale(t.Context(), world.bastille, cart.IRI)) // its responses show the limit
	tokens, before := world.calls("token"), [2]int64{taken[0].Load(), taken[1].Load()}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	if payers, others := taken[0].Load()-before[0], taken[1].Load()-before[1]; payers != 1 || others != 1 {
		t.Errorf("%d calls for the token and %d for the sale, want one each", payers, others)
	}
	none.Store(true)
	if err := read(); !errors.Is(err, club.ErrBusy) || asError(t, err).RetryAfter != time.Minute {
		t.Errorf("without a call for the token: %v", err)
	}
	if asked := world.calls("token") - tokens; asked != 1 {
		t.Errorf("%d tokens were requested, want one", asked)
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
