package club_test

import (
	"fmt"
	"testing"
	"time"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// impatient returns a client that waits a second for a response: long enough on a busy machine, and shorter
// than the longer delay in faults.
func (w *world) impatient() *club.Client {
	cfg := w.config()
	cfg.Limits = club.Limits{
		AttemptTimeout: time.Second,
		ReadTimeout:    15 * time.Second,
		WriteTimeout:   time.Second,
		PaymentTimeout: time.Second,
	}
	return club.New(cfg)
}

// faults are all kinds of faults, each with the outcome for a payment or another write, and whether the club
// system carried out the request.
var faults = []struct {
	fault   clubsim.Fault
	outcome club.Outcome
	effect  bool
}{
	{clubsim.Fault{Kind: "error_before"}, club.Unknown, false},
	{clubsim.Fault{Kind: "error_before", Status: 400}, club.Rejected, false},
	{clubsim.Fault{Kind: "error_before", Status: 409}, club.Unknown, false},
	{clubsim.Fault{Kind: "error_before", Status: 421}, club.Refused, false},
	{clubsim.Fault{Kind: "error_before", Status: 502}, club.Unknown, false},
	{clubsim.Fault{Kind: "error_after"}, club.Unknown, true},
	{clubsim.Fault{Kind: "error_after", Status: 504}, club.Unknown, true},
	{clubsim.Fault{Kind: "drop_after"}, club.Unknown, true},
	{clubsim.Fault{Kind: "delay", DelayMs: 20}, club.Accepted, true},
	{clubsim.Fault{Kind: "delay", DelayMs: 3000}, club.Unknown, true},
	{clubsim.Fault{Kind: "hang"}, club.Unknown, false},
	{clubsim.Fault{Kind: "malformed"}, club.Accepted, true},
	{clubsim.Fault{Kind: "foreign_page"}, club.Unknown, false},
	{clubsim.Fault{Kind: "foreign_page", Status: 202}, club.Unknown, false},
	{clubsim.Fault{Kind: "foreign_json"}, club.Unknown, false},
	{clubsim.Fault{Kind: "too_many"}, club.Unknown, false},
}

// TestEmptySuccess: nothing was booked, and the client cannot know.
func TestEmptySuccess(t *testing.T) {
	w := newWorld(t, "empty-success")
	cart := w.cart(w.visitor().IRI, "101")
	w.hit(clubsim.Fault{Kind: "empty_success"}, "POST", "/sales/*/payments")
	_, err := w.client.CreatePayment(t.Context(), w.bastille, cart.IRI, w.paying(cart), pass)
	if wantOutcome(t, err, club.Accepted); len(w.Ledger()) != 0 {
		t.Errorf("ledger %+v", w.Ledger())
	}
}

// hit makes the next matching call fail once with a fault.
func (w *world) hit(f clubsim.Fault, method, path string) {
	w.t.Helper()
	f.Match, f.Times = clubsim.FaultMatch{Method: method, Path: path}, ptr(1)
	w.fault(f)
}

// TestPaymentUnderFaults: under any fault, the outcome agrees with the ledger, and the client sends one POST.
func TestPaymentUnderFaults(t *testing.T) {
	for _, tt := range faults {
		t.Run(name(tt.fault), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t, "payment-faults")
			cart := world.cart(world.visitor().IRI, "101")
			c := world.impatient()
			must[club.Sale](t)(c.GetSale(t.Context(), world.bastille, cart.IRI)) // fetches the token
			world.hit(tt.fault, "POST", "/sales/*/payments")
			_, err := c.CreatePayment(t.Context(), world.bastille, cart.IRI, world.paying(cart), pass)
			wantOutcome(t, err, tt.outcome)
			booked := map[bool]int{true: 1}[tt.effect]
			eventually(t, func() bool { return world.calls("createPayment") == 1 && len(world.Ledger()) == booked })
			if hits := world.Faults()[0].Hits; hits != 1 {
				t.Errorf("the fault hit %d times", hits)
			}
		})
	}
}

// TestWriteUnderFaults: other writes are sent once, too.
func TestWriteUnderFaults(t *testing.T) {
	for _, tt := range faults {
		t.Run(name(tt.fault), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t, "write-faults")
			cart := world.cart(world.visitor().IRI)
			client := world.impatient()
			must[club.Sale](t)(client.GetSale(t.Context(), world.bastille, cart.IRI))
			world.hit(tt.fault, "POST", "/sales/*/articles")
			err := client.AddArticle(t.Context(), world.bastille, cart.IRI, club.NewArticle{Offer: world.iri("offers", "101")})
			wantOutcome(t, err, tt.outcome)
			lines := map[bool]int{true: 1}[tt.effect]
			eventually(t, func() bool {
				got := must[club.Sale](t)(client.GetSale(t.Context(), world.bastille, cart.IRI))
				return world.calls("addArticle") == 1 && len(got.Articles) == lines
			})
		})
	}
}

// TestReadUnderFaults: a read survives transient faults and accepts a refusal.
func TestReadUnderFaults(t *testing.T) {
	for _, tt := range faults {
		t.Run(name(tt.fault), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t, "read-faults")
			cart := world.cart(world.visitor().IRI)
			c := world.impatient()
			world.hit(tt.fault, "GET", "/sales/*")
			_, err := c.GetSale(t.Context(), world.bastille, cart.IRI)
			want := club.Accepted
			if status := tt.fault.Status; status == 400 || status == 409 || status == 421 {
				want = tt.outcome
			}
			wantOutcome(t, err, want)
			if hits := world.Faults()[0].Hits; hits != 1 {
				t.Errorf("the fault hit %d times", hits)
			}
		})
	}
}

// TestUnauthorizedOnce: a refused token is replaced and the call retried; after a payment, the retry is up to
// the caller.
func TestUnauthorizedOnce(t *testing.T) {
	world := newWorld(t, "unauthorized")
	cart := world.cart(world.visitor().IRI, "101")
	client, ctx, scope := world.client, t.Context(), world.bastille
	tokens := world.calls("token")

	world.hit(clubsim.Fault{Kind: "unauthorized_once"}, "GET", "/sales/*")
	must[club.Sale](t)(client.GetSale(ctx, scope, cart.IRI))
	world.hit(clubsim.Fault{Kind: "unauthorized_once"}, "POST", "/sales/*/articles")
	if err := client.AddArticle(ctx, scope, cart.IRI, club.NewArticle{Offer: world.iri("offers", "2501")}); err != nil {
		t.Error(err)
	}
	if got := world.calls("token") - tokens; got != 2 {
		t.Errorf("%d new tokens, want 2", got)
	}
	cart = must[club.Sale](t)(client.GetSale(ctx, scope, cart.IRI))
	world.hit(clubsim.Fault{Kind: "unauthorized_once"}, "POST", "/sales/*/payments")
	_, err := client.CreatePayment(ctx, scope, cart.IRI, world.paying(cart), pass)
	wantOutcome(t, err, club.Refused)
	if world.calls("createPayment") != 1 {
		t.Errorf("%d payments sent", world.calls("createPayment"))
	}
	must[club.Receipt](t)(client.CreatePayment(ctx, scope, cart.IRI, world.paying(cart), pass))
	if got := world.calls("token") - tokens; got != 3 || len(world.Ledger()) != 1 {
		t.Errorf("%d new tokens, want 3; ledger %+v", got, world.Ledger())
	}
}

// TestTokenUnderFaults: every fault hits the token request.
func TestTokenUnderFaults(t *testing.T) {
	for _, tt := range faults {
		t.Run(name(tt.fault), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t, "token-faults")
			cfg := world.config()
			cfg.Limits = club.Limits{ReadTimeout: 3 * time.Second, WriteTimeout: 15 * time.Second}
			world.hit(tt.fault, "POST", "/oauth/v2/token")
			_, err := club.New(cfg).
				CreateSale(t.Context(), world.bastille, club.NewSale{
					Contact:  club.IRI(world.persona("customer").ContactID),
					Club:     world.bastille.Club,
					ClubCode: "PARIS11",
				})
			want := club.Accepted // at the second attempt, because nothing had been sent
			if status := tt.fault.Status; status == 400 || status == 409 || status == 421 {
				want = club.NotSent
			}
			wantOutcome(t, err, want)
		})
	}
}

// TestExpiredToken: the club system's clock is ahead, so that it rejects a token that the client considers
// valid.
func TestExpiredToken(t *testing.T) {
	world := newWorld(t, "expired")
	cart := world.cart(world.visitor().IRI, "101")
	world.Advance(2 * time.Hour)
	if check := must[club.SaleCheck](t)(world.client.CheckSale(t.Context(), world.bastille, cart.IRI)); !check.Valid {
		t.Errorf("check %+v", check)
	}
	if world.calls("token") != 2 {
		t.Errorf("%d tokens, want 2", world.calls("token"))
	}
}

func name(f clubsim.Fault) string { return fmt.Sprint(f.Kind, " ", f.Status, " ", f.DelayMs) }
