package flows_test

import (
	"net/http"
	"testing"

	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
)

var (
	signing        = clubsim.FaultMatch{Method: "POST", Path: "/signature_requests/*/transitions"}
	readingMandate = clubsim.FaultMatch{Method: "GET", Path: "/mandates/*"}
)

// unconfirmed makes a registration whose mandate is signed, while the club system says neither that nor the
// opposite.
func (w *world) unconfirmed(g *gateway) (id, token string) {
	w.Helper()
	id, token = g.debtor(w, "+33698765432")
	must(w, func() (flows.View, error) { return g.registrations.CreateMandate(w.Context(), id, token, account) })
	w.fault(clubsim.Fault{Match: signing, Kind: "drop_after", Times: times(1)}, clubsim.Fault{Match: readingMandate, Kind: "error_before"})
	w.expectSignature(g, id, token, flows.SignatureUnconfirmed)
	return id, token
}

// expectSignature enters the latest code, and checks the state that follows.
func (w *world) expectSignature(g *gateway, id, token string, want flows.SignatureState) {
	w.Helper()
	view := must(w, func() (flows.View, error) { return g.registrations.SignMandate(w.Context(), id, token, w.lastCode()) })
	if view.Mandate.State != want {
		w.Fatalf("the mandate is %s, want %s", view.Mandate.State, want)
	}
}

// mandates counts the mandates that were created.
func (w *world) mandates() (n int) {
	for _, request := range w.sim.Requests() {
		if request.Method == http.MethodPost && request.Path == "/mandates" {
			n++
		}
	}
	return n
}

// TestUnconfirmedMandateStays: while it is not known whether a mandate is signed, nothing cancels or replaces it.
func TestUnconfirmedMandateStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	id, token := w.unconfirmed(g)
	ctx := t.Context()
	for name, test := range map[string]struct {
		replace func() (flows.View, error)
		signed  flows.Code // once the mandate is known to be signed; empty: no error
	}{
		"cancel":    {func() (flows.View, error) { return g.registrations.CancelSignature(ctx, id, token) }, flows.MandateSigned},
		"resend":    {func() (flows.View, error) { return g.registrations.ResendCode(ctx, id, token) }, ""},
		"a new one": {func() (flows.View, error) { return g.registrations.CreateMandate(ctx, id, token, account) }, flows.MandateSigned},
	} {
		w.fault(clubsim.Fault{Match: readingMandate, Kind: "error_before"})
		r, _, err := g.store.Registration(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if r.Mandate.State != flows.SignatureUnconfirmed { // an earlier one has confirmed it
			r.Mandate.State = flows.SignatureUnconfirmed
			if err := g.store.SaveRegistration(ctx, r); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := test.replace(); flows.CodeOf(err) != flows.ClubSystemUnavailable {
			t.Errorf("%s, unconfirmed: %v", name, err)
		}
		if r, _, err = g.store.Registration(ctx, id); err != nil || r.Mandate.State != flows.SignatureUnconfirmed {
			t.Errorf("%s: the mandate is %+v (%v)", name, r.Mandate, err)
		}
		w.fault()
		if _, err := test.replace(); test.signed == "" && err != nil || test.signed != "" && flows.CodeOf(err) != test.signed {
			t.Errorf("%s, signed: %v", name, err)
		}
		if r, _, err = g.store.Registration(ctx, id); err != nil || r.Mandate.State != flows.SignatureSigned {
			t.Errorf("%s: in the end the mandate is %+v (%v)", name, r.Mandate, err)
		}
	}
	if made, sent := w.mandates(), len(w.sim.SMS()); made != 1 || sent != 1 {
		t.Errorf("%d mandates were made, %d codes sent", made, sent)
	}
}

// TestUnconfirmedCodeAgain: the same code again is refused as used, which does not make it expired while the mandate
// cannot be read.
func TestUnconfirmedCodeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	id, token := w.unconfirmed(g)
	w.expectSignature(g, id, token, flows.SignatureUnconfirmed)
	w.fault()
	w.expectSignature(g, id, token, flows.SignatureSigned)
}

// TestSignedMandateFollowsLater: a mandate that cannot be read after a migration is not dropped; the repetition keeps
// it.
func TestSignedMandateFollowsLater(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]flows.SignatureState{"signed": flows.SignatureSigned, "unconfirmed": flows.SignatureUnconfirmed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := w.gateway()
			id, token := w.unconfirmed(g)
			if state == flows.SignatureSigned {
				w.fault()
				w.expectSignature(g, id, token, state)
			}
			known := w.persona("prospect")
			migrate := func() (flows.View, error) {
				return g.registrations.Migrate(t.Context(), id, token, known.AccessToken)
			}
			w.fault(clubsim.Fault{Match: readingMandate, Kind: "error_before"})
			if _, err := migrate(); flows.CodeOf(err) != flows.ClubSystemUnavailable {
				t.Errorf("the mandate cannot be read: %v", err)
			}
			w.fault()
			view := must(t, migrate)
			if view.Mandate == nil || view.Mandate.State != state || string(view.Mandate.Contact) != known.ContactID {
				t.Fatalf("the mandate is %+v", view.Mandate)
			}
			if view = must(t, func() (flows.View, error) { return g.registrations.Get(t.Context(), id, token) }); !view.MandateCovers() {
				t.Errorf("in the end the mandate is %+v", view.Mandate)
			}
		})
	}
}
