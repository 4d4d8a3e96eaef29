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
			w := newWorld(t, "payment-faults")
			cart := w.cart(w.visitor().IRI, "101")
			c := w.impatient()
			must[club.Sale](t)(c.GetSale(t.Context(), w.bastille, cart.IRI)) // fetches the token
			w.hit(tt.fault, "POST", "/sales/*/payments")
			_, err := c.CreatePayment(t.Context(), w.bastille, cart.IRI, w.paying(cart), pass)
			wantOutcome(t, err, tt.outcome)
			booked := map[bool]int{true: 1}[tt.effect]
			eventually(t, func() bool { return w.calls("createPayment") == 1 && len(w.Ledger()) == booked })
			if hits := w.Faults()[0].Hits; hits != 1 {
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
			w := newWorld(t, "write-faults")
			cart := w.cart(w.visitor().IRI)
			c := w.impatient()
			must[club.Sale](t)(c.GetSale(t.Context(), w.bastille, cart.IRI))
			w.hit(tt.fault, "POST", "/sales/*/articles")
			err := c.AddArticle(t.Context(), w.bastille, cart.IRI, club.NewArticle{Offer: w.iri("offers", "101")})
			wantOutcome(t, err, tt.outcome)
			lines := map[bool]int{true: 1}[tt.effect]
			eventually(t, func() bool {
				got := must[club.Sale](t)(c.GetSale(t.Context(), w.bastille, cart.IRI))
				return w.calls("addArticle") == 1 && len(got.Articles) == lines
			})
		})
	}
}

// TestReadUnderFaults: a read survives transient faults and accepts a refusal.
func TestReadUnderFaults(t *testing.T) {
	for _, tt := range faults {
		t.Run(name(tt.fault), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "read-faults")
			cart := w.cart(w.visitor().IRI)
			c := w.impatient()
			w.hit(tt.fault, "GET", "/sales/*")
			_, err := c.GetSale(t.Context(), w.bastille, cart.IRI)
			want := club.Accepted
			if status := tt.fault.Status; status == 400 || status == 409 || status == 421 {
				want = tt.outcome
			}
			wantOutcome(t, err, want)
			if hits := w.Faults()[0].Hits; hits != 1 {
				t.Errorf("the fault hit %d times", hits)
			}
		})
	}
}

// TestUnauthorizedOnce: a refused token is replaced and the call retried; after a payment, the retry is up to
// the caller.
func TestUnauthorizedOnce(t *testing.T) {
	w := newWorld(t, "unauthorized")
	cart := w.cart(w.visitor().IRI, "101")
	c, ctx, s := w.client, t.Context(), w.bastille
	tokens := w.calls("token")

	w.hit(clubsim.Fault{Kind: "unauthorized_once"}, "GET", "/sales/*")
	must[club.Sale](t)(c.GetSale(ctx, s, cart.IRI))
	w.hit(clubsim.Fault{Kind: "unauthorized_once"}, "POST", "/sales/*/articles")
	if err := c.AddArticle(ctx, s, cart.IRI, club.NewArticle{Offer: w.iri("offers", "2501")}); err != nil {
		t.Error(err)
	}
	if got := w.calls("token") - tokens; got != 2 {
		t.Errorf("%d new tokens, want 2", got)
	}
	cart = must[club.Sale](t)(c.GetSale(ctx, s, cart.IRI))
	w.hit(clubsim.Fault{Kind: "unauthorized_once"}, "POST", "/sales/*/payments")
	_, err := c.CreatePayment(ctx, s, cart.IRI, w.paying(cart), pass)
	wantOutcome(t, err, club.Refused)
	if w.calls("createPayment") != 1 {
		t.Errorf("%d payments sent", w.calls("createPayment"))
	}
	must[club.Receipt](t)(c.CreatePayment(ctx, s, cart.IRI, w.paying(cart), pass))
	if got := w.calls("token") - tokens; got != 3 || len(w.Ledger()) != 1 {
		t.Errorf("%d new tokens, want 3; ledger %+v", got, w.Ledger())
	}
}

// TestTokenUnderFaults: every fault hits the token request.
func TestTokenUnderFaults(t *testing.T) {
	for _, tt := range faults {
		t.Run(name(tt.fault), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "token-faults")
			cfg := w.config()
			cfg.Limits = club.Limits{ReadTimeout: time.Second, WriteTimeout: 15 * time.Second}
			w.hit(tt.fault, "POST", "/oauth/v2/token")
			_, err := club.New(cfg).
				CreateSale(t.Context(), w.bastille, club.NewSale{
					Contact:  club.IRI(w.persona("customer").ContactID),
					Club:     w.bastille.Club,
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
	w := newWorld(t, "expired")
	cart := w.cart(w.visitor().IRI, "101")
	w.Advance(2 * time.Hour)
	if check := must[club.SaleCheck](t)(w.client.CheckSale(t.Context(), w.bastille, cart.IRI)); !check.Valid {
		t.Errorf("check %+v", check)
	}
	if w.calls("token") != 2 {
		t.Errorf("%d tokens, want 2", w.calls("token"))
	}
}

func name(f clubsim.Fault) string { return fmt.Sprint(f.Kind, " ", f.Status, " ", f.DelayMs) }
