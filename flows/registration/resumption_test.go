package registration_test

import (
	"net/url"
	"testing"
	"time"

	"frontdesk/flows"
)

// linked creates a link, and returns its code and expiry.
func linked(t *testing.T, g *gateway, id, token string) (code string, end time.Time) {
	t.Helper()
	link := must(t, func() (flows.ResumeLink, error) { return g.Registrations.NewResumeLink(t.Context(), id, token) })
	address, err := url.Parse(link.URL)
	if err != nil {
		t.Fatal(err)
	}
	return address.Query().Get("resume"), link.ExpiresAt
}

func resumed(t *testing.T, g *gateway, code string) (flows.View, string) {
	t.Helper()
	view, token, err := g.Registrations.Resume(t.Context(), "demo", code)
	if err != nil {
		t.Fatal(err)
	}
	return view, token
}

// TestResumeLinkLife: a link is valid for a day, or as long as the registration can be viewed.
func TestResumeLinkLife(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	registration := world.Registered(gateway)
	begun := world.Clock.Now()
	code, end := linked(t, gateway, registration.ID, holderToken)
	if life := end.Sub(begun); life != 24*time.Hour {
		t.Errorf("a new link lives for %s", life)
	}
	world.Clock.Advance(24*time.Hour + time.Second)
	if _, _, err := gateway.Registrations.Resume(t.Context(), "demo", code); flows.CodeOf(err) != flows.ResumptionInvalid {
		t.Errorf("an expired link: %v", err)
	}

	// The registration has expired, and can be viewed for 24 h from its expiry.
	code, end = linked(t, gateway, registration.ID, holderToken)
	if life := end.Sub(begun); life != 44*time.Hour {
		t.Errorf("the link of an expired registration ends %s after it began", life)
	}
	calls := len(world.Sim.Requests())
	view, token := resumed(t, gateway, code)
	if view.Phase != flows.Expired || view.CurrentMessage() == "" || len(view.Actions) != 0 || len(world.Sim.Requests()) != calls {
		t.Errorf("an expired registration is resumed as %s, %q, %v", view.Phase, view.CurrentMessage(), view.Actions)
	}
	_, err := gateway.Registrations.Pay(t.Context(), registration.ID, token, flows.StartPayment{Method: flows.ByCard})
	if flows.CodeOf(err) != flows.RegistrationClosed {
		t.Errorf("it could be paid: %v", err)
	}

	// A registration does not expire while a payment is in progress.
	p := world.Started(gateway)
	world.Put(gateway, p.ID, flows.InDoubt)
	world.Clock.Advance(100 * 24 * time.Hour)
	if _, end := linked(t, gateway, p.Registration, holderToken); !end.Equal(world.Clock.Now().Add(24 * time.Hour)) {
		t.Errorf("the link of a doubt ends at %s", end)
	}
}

// TestResumeKeepsTheEnd: resuming does not extend how long the details are kept.
func TestResumeKeepsTheEnd(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	doubted := world.Started(gateway)
	world.Put(gateway, doubted.ID, flows.InDoubt)
	for registration, endless := range map[string]bool{world.Registered(gateway).ID: false, doubted.Registration: true} {
		key := "fd:{" + registration + "}:registration"
		if !endless {
			if err := world.Redis.PExpire(t.Context(), key, time.Hour).Err(); err != nil {
				t.Fatal(err)
			}
		}
		code, _ := linked(t, gateway, registration, holderToken)
		resumed(t, gateway, code)
		left, err := world.Redis.PTTL(t.Context(), key).Result()
		if err != nil || endless != (left < 0) || left > time.Hour {
			t.Errorf("endless %t: kept for %s, %v", endless, left, err)
		}
	}
}

// TestHoldersAreBounded: the first device and the latest few are kept; the oldest of the others is dropped.
func TestHoldersAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gateway := w.Gateway()
	registration := w.Registered(gateway)
	var tokens []string
	for range 6 {
		code, _ := linked(t, gateway, registration.ID, holderToken)
		_, token := resumed(t, gateway, code)
		tokens = append(tokens, token)
	}
	for i, token := range append(tokens, holderToken) {
		_, err := gateway.Registrations.Get(t.Context(), registration.ID, token)
		if gone := i < 2; gone != (flows.CodeOf(err) == flows.RegistrationNotFound && err != nil) {
			t.Errorf("device %d: %v", i, err)
		}
	}
}

// TestEndedSessionOfARebuiltRegistration: after a loss, a signed token gives access to a registration that has
// lost its own tokens, unless its session has ended since.
func TestEndedSessionOfARebuiltRegistration(t *testing.T) {
	t.Parallel()
	r := flows.Registration{Rebuilt: true, Resumed: []string{flows.HashToken("known")}}
	r.EndSession("lost")
	r.EndSession("known")
	for token, holds := range map[string]bool{"lost": false, "known": false, "another": true} {
		if r.HasHolder(token, true) != holds {
			t.Errorf("%s holds it: %t", token, !holds)
		}
	}
}
