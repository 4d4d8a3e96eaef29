package registration_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
)

// former left club 12 two years ago.
var former = flows.ContactIdentity{ClientToken: "demo", ContactID: "1004", ClubID: "12"}

func (w *world) lastCode() string {
	w.Helper()
	messages := w.Sim.SMS()
	if len(messages) == 0 {
		w.Fatal("no SMS was sent")
	}
	return messages[len(messages)-1].Code
}

// TestTransfer moves a former member to another club, after a wrong code.
func TestTransfer(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	transfers := world.Gateway().Registrations.Transfers
	started := must(t, func() (*flows.Transfer, error) { return transfers.Start(t.Context(), former, "13") })
	if started.State != flows.SignatureAwaiting || started.AttemptsLeft() != 5 ||
		started.ResendAfter.Sub(world.Clock.Now()).Round(time.Second) != time.Minute {
		t.Errorf("started: %+v", started)
	}
	if _, err := transfers.Sign(t.Context(), former, "not it"); flows.CodeOf(err) != flows.CodeWrong {
		t.Errorf("a wrong code: %v", err)
	}
	done := must(t, func() (*flows.Transfer, error) { return transfers.Sign(t.Context(), former, world.lastCode()) })
	if done.State != flows.SignatureSigned || world.Persona("former").ClubID != "/demo/clubs/13" {
		t.Errorf("%+v, and they are of club %s", done, world.Persona("former").ClubID)
	}
	for _, request := range world.Sim.Requests() {
		if strings.HasSuffix(request.Path, "contact_migration_requests") && request.NetworkNodeID != "/demo/network_nodes/1" {
			t.Errorf("acted from another node than the nearest above both clubs: %+v", request)
		}
	}
	for key, value := range world.everything() {
		if strings.Contains(key+value, "contacts/1004") || strings.Contains(value, world.lastCode()) {
			t.Errorf("%s can be read: %q", key, value)
		}
	}
}

// TestTransferRefused checks the message of each documented refusal; no code is sent for a refusal that the
// gateway can foresee.
func TestTransferRefused(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	transfers := world.Gateway().Registrations.Transfers
	customer := flows.ContactIdentity{ClientToken: "demo", ContactID: "1001", ClubID: "11"}
	for name, test := range map[string]struct {
		who  flows.ContactIdentity
		club string
		code flows.Code
	}{
		"no such club":  {former, "99", flows.InvalidRequest},
		"their own":     {former, "12", flows.MigrationClub},
		"another chain": {former, "21", flows.MigrationClub},
		"a member":      {customer, "12", flows.MigrationContact},
	} {
		if _, err := transfers.Start(t.Context(), test.who, test.club); flows.CodeOf(err) != test.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := transfers.Sign(t.Context(), former, "123456"); flows.CodeOf(err) != flows.NoCode {
		t.Errorf("a code before there is one: %v", err)
	}
	if sent := len(world.Sim.SMS()); sent != 0 {
		t.Errorf("%d codes were sent", sent)
	}
}

// TestCodesPerPerson: one a minute, three in ten minutes, five an hour, eight a day.
func TestCodesPerPerson(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	f := world.Gateway().Registrations.Transfers
	begin := world.Clock.Now()
	var at []time.Duration
	for world.Clock.Now().Sub(begin) < 25*time.Hour {
		if _, err := f.Start(t.Context(), former, "13"); err == nil {
			at = append(at, world.Clock.Now().Sub(begin))
		} else if flows.CodeOf(err) != flows.SMSLimited {
			t.Fatal(err)
		}
		world.Clock.Advance(time.Minute)
		if len(at) >= 5 {
			world.Clock.Advance(14 * time.Minute)
		}
	}
	for _, limit := range []struct {
		codes  int
		within time.Duration
	}{{1, time.Minute}, {3, 10 * time.Minute}, {5, time.Hour}, {8, 24 * time.Hour}} {
		for i := range at {
			if next := i + limit.codes; next < len(at) && at[next]-at[i] < limit.within {
				t.Errorf("%d codes within %s: %v", limit.codes+1, limit.within, at)
			}
		}
	}
	if len(at) < 8 || len(world.Sim.SMS()) != len(at) {
		t.Errorf("codes were allowed at %v, %d were sent", at, len(world.Sim.SMS()))
	}
}

// TestTransferCallsGetLost: an unknown outcome is reported as unknown, and no second code is sent.
func TestTransferCallsGetLost(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"error_before", "error_after", "drop_after", "malformed"} {
		world := newWorld(t)
		transfers := world.Gateway().Registrations.Transfers
		world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/contact_migration_requests"}, Kind: kind, Times: new(1)})
		lost := must(t, func() (*flows.Transfer, error) { return transfers.Start(t.Context(), former, "13") })
		if lost.State != flows.SignatureNoCode {
			t.Errorf("%s: %+v", kind, lost)
		}
		if _, err := transfers.Start(t.Context(), former, "13"); flows.CodeOf(err) != flows.SMSLimited || len(world.Sim.SMS()) > 1 {
			t.Errorf("%s: at once again: %v, %d codes", kind, err, len(world.Sim.SMS()))
		}
		world.Clock.Advance(time.Minute)
		if _, err := transfers.Start(t.Context(), former, "13"); err != nil {
			t.Fatal(err)
		}
		world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/signature_requests/*/transitions"}, Kind: kind,
			Times: new(1)},
			clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/contacts/*"}, Kind: "error_before", Times: new(1)})
		unknown := must(t, func() (*flows.Transfer, error) { return transfers.Sign(t.Context(), former, world.lastCode()) })
		if unknown.State != flows.SignatureUnconfirmed {
			t.Errorf("%s: %+v", kind, unknown)
		}
		world.Fault()
		done := must(t, func() (*flows.Transfer, error) { return transfers.Sign(t.Context(), former, world.lastCode()) })
		if done.State != flows.SignatureSigned || world.Persona("former").ClubID != "/demo/clubs/13" {
			t.Errorf("%s: %+v, of club %s", kind, done, world.Persona("former").ClubID)
		}
	}
}

// TestRenewedContactIsFound: the contact has a new identifier after the move, and the response that has it is lost. The move is known
// anyway, since the club system no longer has the former contact.
func TestRenewedContactIsFound(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"error_before", "error_after", "drop_after", "malformed"} {
		world := newWorld(t)
		transfers := world.Gateway().Registrations.Transfers
		if err := world.Sim.Configure(func(s *clubsim.Settings) { s.MigrationNewID = true }); err != nil {
			t.Fatal(err)
		}
		must(t, func() (*flows.Transfer, error) { return transfers.Start(t.Context(), former, "13") })
		code := world.lastCode()
		world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/signature_requests/*/transitions"}, Kind: kind,
			Times: new(1)})
		_, err := transfers.Sign(t.Context(), former, code)
		done := kind != "error_before"
		shown := must(t, func() (*flows.Transfer, error) { return transfers.Get(t.Context(), former) })
		if signed := shown.State == flows.SignatureSigned; signed != done {
			t.Errorf("%s: %+v, %v", kind, shown, err)
		}
		world.Clock.Advance(2 * time.Minute)
		_, err = transfers.Start(t.Context(), former, "13")
		if gone := flows.CodeOf(err) == flows.NotIdentified; gone != done || !done && err != nil { // a new login names the new contact
			t.Errorf("%s: again: %v", kind, err)
		}
	}
}

// TestTransferPendingCode: while the club system checks a code, or after the gateway that had it checked died, the
// contact asks for another club. Only one code moves the contact, and its transfer is the one that is shown.
func TestTransferPendingCode(t *testing.T) {
	t.Parallel()
	for _, crash := range []bool{false, true} {
		world := newWorld(t)
		g := world.Gateway()
		transfers, other := g.Registrations.Transfers, world.Gateway().Registrations.Transfers
		must(t, func() (*flows.Transfer, error) { return transfers.Start(t.Context(), former, "13") })
		world.Clock.Advance(2 * time.Minute)
		var second *flows.Transfer
		var err error
		goBack := func() { second, err = other.Start(context.Background(), former, "11") }
		if crash {
			wire := frontdesktest.NewMessageProxy(world, frontdesktest.Fault{})
			doomed := world.Gateway(gatewayOptions{RedisURL: world.RedisOver(wire)})
			world.InjectFault(checkingCode, nil, wire.Cut)
			if _, err := doomed.Registrations.Transfers.Sign(t.Context(), former, world.lastCode()); err == nil {
				t.Error("the gateway survived")
			}
			goBack()
		} else {
			world.InjectFault(checkingCode, nil, goBack)
			must(t, func() (*flows.Transfer, error) { return transfers.Sign(t.Context(), former, world.lastCode()) })
		}
		if err != nil || second.State != flows.SignatureSigned || second.ClubID != "13" || len(world.Sim.SMS()) != 1 {
			t.Errorf("another club: %+v, %v; %d codes were sent", second, err, len(world.Sim.SMS()))
		}
		shown := must(t, func() (*flows.Transfer, error) { return transfers.Get(t.Context(), former) })
		if shown.State != flows.SignatureSigned || shown.ClubID != "13" {
			t.Errorf("the transfer is shown as %+v", shown)
		}
	}
}

// TestTransferForeignAnswer: a 200 with other content does not move the member, nor does a club system that does not
// say whether the code was right.
func TestTransferForeignAnswer(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	transfers := world.Gateway().Registrations.Transfers
	must(t, func() (*flows.Transfer, error) { return transfers.Start(t.Context(), former, "13") })
	world.Inject(callFault{Call: checkingCode, Fail: 1, Status: http.StatusOK})
	if _, err := transfers.Sign(t.Context(), former, frontdesktest.WrongCode(world.lastCode())); flows.CodeOf(err) != flows.ClubSystemFailed {
		t.Errorf("the wrong code: %v", err)
	}
	shown := must(t, func() (*flows.Transfer, error) { return transfers.Get(t.Context(), former) })
	if shown.State != flows.SignatureAwaiting {
		t.Errorf("the transfer is shown as %+v", shown)
	}
	done := must(t, func() (*flows.Transfer, error) { return transfers.Sign(t.Context(), former, world.lastCode()) })
	if done.State != flows.SignatureSigned || world.Persona("former").ClubID != "/demo/clubs/13" {
		t.Errorf("%+v, and they are of club %s", done, world.Persona("former").ClubID)
	}
}
