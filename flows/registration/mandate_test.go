package registration_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"frontdesk/e2e/flowstest"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/club"
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
	id, token = w.debtor(g, "+33698765432")
	must(w, func() (flows.View, error) { return g.Registrations.CreateMandate(w.Context(), id, token, account) })
	w.Fault(clubsim.Fault{Match: signing, Kind: "drop_after", Times: new(1)}, clubsim.Fault{Match: readingMandate, Kind: "error_before"})
	w.expectSignature(g, id, token, flows.SignatureUnconfirmed)
	return id, token
}

// expectSignature enters the latest code, and checks the state that follows.
func (w *world) expectSignature(g *gateway, id, token string, want flows.SignatureState) {
	w.Helper()
	view := must(w, func() (flows.View, error) {
		return g.Registrations.SignMandate(w.Context(), id, token, w.lastCode(), "en")
	})
	if view.Mandate.State != want {
		w.Fatalf("the mandate is %s, want %s", view.Mandate.State, want)
	}
}

// mandates counts the mandates that were created.
func (w *world) mandates() (n int) {
	for _, request := range w.Sim.Requests() {
		if request.Method == http.MethodPost && request.Path == "/mandates" {
			n++
		}
	}
	return n
}

// TestUnconfirmedMandateStays: while it is not known whether a mandate is signed, nothing cancels or replaces it.
func TestUnconfirmedMandateStays(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	id, token := world.unconfirmed(gateway)
	ctx := t.Context()
	for name, test := range map[string]struct {
		replace func() (flows.View, error)
		signed  flows.Code // once the mandate is known to be signed; empty: no error
	}{
		"cancel":    {func() (flows.View, error) { return gateway.Registrations.CancelSignature(ctx, id, token) }, flows.MandateSigned},
		"resend":    {func() (flows.View, error) { return gateway.Registrations.ResendCode(ctx, id, token) }, ""},
		"a new one": {func() (flows.View, error) { return gateway.Registrations.CreateMandate(ctx, id, token, account) }, flows.MandateSigned},
	} {
		world.Fault(clubsim.Fault{Match: readingMandate, Kind: "error_before"})
		registration, _, err := gateway.Store.Registration(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if registration.Mandate.State != flows.SignatureUnconfirmed { // an earlier one has confirmed it
			registration.Mandate.State = flows.SignatureUnconfirmed
			if err := gateway.Store.SaveRegistration(ctx, registration); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := test.replace(); flows.CodeOf(err) != flows.ClubSystemUnavailable {
			t.Errorf("%s, unconfirmed: %v", name, err)
		}
		registration, _, err = gateway.Store.Registration(ctx, id)
		if err != nil || registration.Mandate.State != flows.SignatureUnconfirmed {
			t.Errorf("%s: the mandate is %+v (%v)", name, registration.Mandate, err)
		}
		world.Fault()
		if _, err := test.replace(); test.signed == "" && err != nil || test.signed != "" && flows.CodeOf(err) != test.signed {
			t.Errorf("%s, signed: %v", name, err)
		}
		registration, _, err = gateway.Store.Registration(ctx, id)
		if err != nil || registration.Mandate.State != flows.SignatureSigned {
			t.Errorf("%s: in the end the mandate is %+v (%v)", name, registration.Mandate, err)
		}
	}
	if made, sent := world.mandates(), len(world.Sim.SMS()); made != 1 || sent != 1 {
		t.Errorf("%d mandates were made, %d codes sent", made, sent)
	}
}

// TestPaysWhileTheSignatureIsConfirmed: a slow request to pay learns that the mandate is signed only after another one
// has, whose payment is captured by then. The buyer is not asked to pay a second time.
func TestPaysWhileTheSignatureIsConfirmed(t *testing.T) {
	t.Parallel()
	for state, advance := range map[flows.PaymentState]func(*world, *gateway, *flows.Payment) *flows.Payment{
		flows.Recorded: (*world).Advance,
		flows.InDoubt: func(w *world, g *gateway, p *flows.Payment) *flows.Payment {
			return w.DoubtAgain(g, p, "error_before")
		},
	} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			id, token := world.unconfirmed(gateway)
			world.Fault()
			pay := func() (*flows.Payment, error) {
				return gateway.PayWith(world.Context(), id, token, flows.StartPayment{Method: flows.ByCard})
			}
			var paid *flows.Payment
			world.InjectFault("GET /sim/demo/mandates/*", nil, func() {
				paid = must(world, pay)
				world.Confirm(paid, goodCard)
				paid = advance(world, gateway, paid)
			})
			if p := must(world, pay); p.ID != paid.ID || p.State != state {
				t.Errorf("the slow request got %s, %s (%s); paid is %s", p.ID, p.State, p.Reason, paid.ID)
			}
			if held := world.Sandbox.Payments(); len(held) != 1 {
				t.Errorf("the processor holds %d payments", len(held))
			}
		})
	}
}

// TestUnconfirmedCodeAgain: the same code again is refused as used, which does not make it expired while the mandate
// cannot be read.
func TestUnconfirmedCodeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.Gateway()
	id, token := w.unconfirmed(g)
	w.expectSignature(g, id, token, flows.SignatureUnconfirmed)
	w.Fault()
	w.expectSignature(g, id, token, flows.SignatureSigned)
}

// TestSignedMandateFollowsLater: a mandate that cannot be read after a migration is not dropped; the repetition keeps
// it.
func TestSignedMandateFollowsLater(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]flows.SignatureState{"signed": flows.SignatureSigned, "unconfirmed": flows.SignatureUnconfirmed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			id, token := world.unconfirmed(gateway)
			if state == flows.SignatureSigned {
				world.Fault()
				world.expectSignature(gateway, id, token, state)
			}
			known := world.Persona("prospect")
			migrate := func() (flows.View, error) {
				return gateway.Registrations.Migrate(t.Context(), id, token, known.AccessToken)
			}
			for status, code := range map[int]flows.Code{503: flows.ClubSystemUnavailable, 404: flows.ClubSystemFailed} {
				world.Fault(clubsim.Fault{Match: readingMandate, Kind: "error_before", Status: status})
				if _, err := migrate(); flows.CodeOf(err) != code {
					t.Errorf("the mandate cannot be read (%d): %v", status, err)
				}
			}
			world.Fault()
			view := must(t, migrate)
			if view.Mandate == nil || view.Mandate.State != state || string(view.Mandate.Contact) != known.ContactID {
				t.Fatalf("the mandate is %+v", view.Mandate)
			}
			view = must(t, func() (flows.View, error) { return gateway.Registrations.Get(t.Context(), id, token) })
			if !view.MandateCovers() {
				t.Errorf("in the end the mandate is %+v", view.Mandate)
			}
		})
	}
}

// otherAccount is the account that the buyer enters after having gone back.
var otherAccount = flows.NewMandate{Holder: "Ada Martin", IBAN: "DE89370400440532013000"}

// signAgain has the buyer enter another account and, if that is accepted, sign its mandate.
func (w *world) signAgain(instance *gateway, id, token string) error {
	w.Clock.Advance(2 * time.Minute) // a code a minute
	if _, err := instance.Registrations.CreateMandate(context.Background(), id, token, otherAccount); err != nil {
		return err
	}
	messages := w.Sim.SMS()
	return errorOf(instance.Registrations.SignMandate(context.Background(), id, token, messages[len(messages)-1].Code, "en"))
}

// expectOneSignature checks that the contact has signed one mandate, and that the registration knows it.
func (w *world) expectOneSignature(g *gateway, id, token string) {
	w.Helper()
	view := must(w, func() (flows.View, error) { return g.Registrations.Get(w.Context(), id, token) })
	mandate := must(w, func() (club.Mandate, error) { return w.Club.GetMandate(w.Context(), bastille, view.Mandate.IRI) })
	if view.Mandate.State != flows.SignatureSigned || !mandate.Signed() {
		w.Errorf("the registration's mandate is %s, the club system's %s", view.Mandate.State, mandate.State)
	}
	if twice := w.Sim.Audit().ContactsSignedTwice; len(twice) != 0 {
		w.Errorf("the contact signed %+v", twice)
	}
}

// unsigned starts a registration with a mandate whose code was sent.
func (w *world) unsigned(g *gateway) (id, token string) {
	w.Helper()
	id, token = w.debtor(g, "+33698765432")
	must(w, func() (flows.View, error) { return g.Registrations.CreateMandate(w.Context(), id, token, account) })
	return id, token
}

// checkingCode is the call that has the club system check a code.
const checkingCode flowstest.Call = "POST /sim/demo/signature_requests/*/transitions"

// TestCodeIsCheckedWhileTheAccountChanges: while the club system checks the code, the buyer goes back and enters
// another account. Whichever call arrives first, only one mandate gets signed, and the registration knows it.
func TestCodeIsCheckedWhileTheAccountChanges(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]bool{"before the check": true, "after the check": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway, other := world.Gateway(), world.Gateway()
			id, token := world.unsigned(gateway)
			code := world.lastCode()
			var went error
			goBack := func() { went = world.signAgain(other, id, token) }
			if first {
				world.InjectFault(checkingCode, goBack, nil)
			} else {
				world.InjectFault(checkingCode, nil, goBack)
			}
			_, err := gateway.Registrations.SignMandate(t.Context(), id, token, code, "en")
			if first && (went != nil || err == nil) || !first && (flows.CodeOf(went) != flows.MandateSigned || err != nil) {
				t.Errorf("the other account: %v; the code: %v", went, err)
			}
			world.expectOneSignature(gateway, id, token)
		})
	}
}

// TestTwoCodesAreChecked: the club system is slow to check the right code. Meanwhile a wrong one is refused, the buyer
// enters another account, and the first code cannot be cancelled. The refusal of one code says nothing of the other.
func TestTwoCodesAreChecked(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]clubsim.Fault{
		"an error":         {Kind: "error_before"},
		"a page with 404":  {Kind: "foreign_page", Status: http.StatusNotFound},
		"an empty success": {Kind: "empty_success"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway, other := world.Gateway(), world.Gateway()
			id, token := world.unsigned(gateway)
			code := world.lastCode()
			world.InjectFault(checkingCode, func() {
				_, err := other.Registrations.SignMandate(context.Background(), id, token, frontdesktest.WrongCode(code), "en")
				if flows.CodeOf(err) != flows.CodeWrong {
					t.Errorf("the other code: %v", err)
				}
				refusal.Match, refusal.Times = signing, new(1)
				world.Fault(refusal)
				if err := world.signAgain(other, id, token); flows.CodeOf(err) != flows.ClubSystemUnavailable {
					t.Errorf("the other account: %v", err)
				}
			}, nil)
			world.expectSignature(gateway, id, token, flows.SignatureSigned)
			world.expectOneSignature(gateway, id, token)
		})
	}
}

// TestForeignAnswerSignsNothing: something in front of the club system answers the check of a wrong code with 200 and
// its own content. Nothing is signed, and the buyer is asked for the code again. A club system that answers without the
// state is asked for the mandate.
func TestForeignAnswerSignsNothing(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	id, token := world.unsigned(gateway)
	world.Inject(callFault{Call: checkingCode, Fail: 1, Status: http.StatusOK})
	_, err := gateway.Registrations.SignMandate(t.Context(), id, token, frontdesktest.WrongCode(world.lastCode()), "en")
	view := must(t, func() (flows.View, error) { return gateway.Registrations.Get(t.Context(), id, token) })
	if flows.CodeOf(err) != flows.ClubSystemFailed || view.Mandate.State != flows.SignatureAwaiting || view.MandateCovers() {
		t.Errorf("the wrong code: %v, the mandate is %+v", err, view.Mandate)
	}
	world.Fault(clubsim.Fault{Match: signing, Kind: "malformed", Times: new(1)})
	world.expectSignature(gateway, id, token, flows.SignatureSigned)
	world.expectOneSignature(gateway, id, token)
}

// TestPendingCodeAfterACrash: a gateway died while the club system checked a code. Nothing replaces the mandate, drops
// it or leaves it behind before the club system has said whether it is signed.
func TestPendingCodeAfterACrash(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, replace := range map[string]func(g *gateway, id, token string) error{
		"a new one": func(g *gateway, id, token string) error {
			return errorOf(g.Registrations.CreateMandate(ctx, id, token, otherAccount))
		},
		"resend": func(g *gateway, id, token string) error {
			return errorOf(g.Registrations.ResendCode(ctx, id, token))
		},
		"cancel": func(g *gateway, id, token string) error {
			return errorOf(g.Registrations.CancelSignature(ctx, id, token))
		},
		"another person": func(g *gateway, id, token string) error {
			another := visitor
			another.FamilyName = "Hopper"
			return errorOf(g.Registrations.PutPerson(ctx, id, token, another))
		},
		"abandon": func(g *gateway, id, token string) error {
			return errorOf(g.Registrations.Abandon(ctx, id, token))
		},
		"pay": func(g *gateway, id, token string) error {
			return errorOf(g.PayWith(ctx, id, token, flows.StartPayment{Method: flows.ByCard}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway()
			id, token := world.unsigned(gateway)
			world.dieAfterTheCheck(id, token)
			contacts, codes := len(world.Sim.Contacts()), len(world.Sim.SMS())
			world.Clock.Advance(2 * time.Minute)
			world.Fault(clubsim.Fault{Match: readingMandate, Kind: "error_before"})
			if err := replace(gateway, id, token); flows.CodeOf(err) != flows.ClubSystemUnavailable {
				t.Errorf("while the club system does not say it: %v", err)
			}
			r, _, err := gateway.Store.Registration(ctx, id)
			if err != nil || r.Mandate == nil || !r.Mandate.MaySign() || r.State != flows.Open {
				t.Fatalf("the registration is %s, the mandate %+v (%v)", r.State, r.Mandate, err)
			}
			if len(world.Sim.Contacts()) != contacts || len(world.Sim.SMS()) != codes || world.mandates() > 2 {
				t.Errorf("%d contacts, %d codes, %d mandates were made", len(world.Sim.Contacts())-contacts, len(world.Sim.SMS())-codes,
					world.mandates())
			}
			world.Fault()
			world.expectOneSignature(gateway, id, token)
		})
	}
}

// dieAfterTheCheck has a gateway enter the code, which dies before the club system's response arrives.
func (w *world) dieAfterTheCheck(id, token string) {
	w.Helper()
	wire := frontdesktest.NewMessageProxy(w, frontdesktest.Fault{})
	doomed := w.Gateway(gatewayOptions{Outside: wire.Forward(w.Address), RedisURL: w.RedisOver(wire)})
	w.InjectFault(checkingCode, nil, wire.Cut)
	if _, err := doomed.Registrations.SignMandate(w.Context(), id, token, w.lastCode(), "en"); err == nil {
		w.Fatal("the gateway survived")
	}
}
