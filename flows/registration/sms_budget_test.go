package registration_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/registration"
)

// askForCode starts a registration for another person with their own phone, and requests the code.
func (w *world) askForCode(g *gateway, n int) (id, token string, err error) {
	w.Helper()
	id, token = w.debtor(g, fmt.Sprintf("+336%08d", n))
	_, err = g.Registrations.CreateMandate(w.Context(), id, token, account)
	return id, token, err
}

// sign enters the latest code.
func (w *world) sign(g *gateway, id, token string) {
	w.Helper()
	sent := w.Sim.SMS()
	must(w, func() (flows.View, error) {
		return g.Registrations.SignMandate(w.Context(), id, token, sent[len(sent)-1].Code, "en")
	})
}

// paused expects a code to be refused because the club's codes are paused.
func paused(t *testing.T, err error, most time.Duration) {
	t.Helper()
	var failure *flows.Error
	if !errors.As(err, &failure) || failure.Code != flows.SMSPaused || failure.RetryAfter <= 0 || failure.RetryAfter > most {
		t.Errorf("a code too many: %v", err)
	}
}

// alarms counts the log's warnings that codes are paused.
func (w *world) alarms() int { return strings.Count(w.Journal.String(), "sms codes paused") }

// TestSMSBudget: a club's visitors together get a limited number of codes per hour and per day.
func TestSMSBudget(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	with := gatewayOptions{SMS: registration.SMSBudgetConfig{Hourly: 3, Daily: 5}}
	instance, other := world.Gateway(with), world.Gateway(with)
	code := func(n int) error {
		_, _, err := world.askForCode([]*gateway{instance, other}[n%2], n)
		return err
	}
	for n := range 3 {
		if err := code(n); err != nil {
			t.Fatal(err)
		}
	}
	paused(t, code(3), time.Hour)
	paused(t, code(4), time.Hour)
	if sent := len(world.Sim.SMS()); sent != 3 || world.alarms() != 1 {
		t.Errorf("%d codes were sent, with %d alarms", sent, world.alarms())
	}
	world.Clock.Advance(time.Hour)
	for n := range 2 {
		if err := code(5 + n); err != nil {
			t.Errorf("an hour later: %v", err)
		}
	}
	world.Clock.Advance(time.Hour)
	paused(t, code(7), 24*time.Hour)
	if counts := instance.SMS.Counts(); counts.OverBudget+other.SMS.Counts().OverBudget != 3 || counts.Sent+other.SMS.Counts().Sent != 5 {
		t.Errorf("counted: %+v, %+v", counts, other.SMS.Counts())
	}
}

// TestLowConversion: while too few of the codes are entered, no more are sent. Once those codes are an hour
// old, new ones are sent again.
func TestLowConversion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		entered, percent int
		stops            bool
	}{"none": {0, 25, true}, "few": {5, 25, true}, "enough": {6, 25, false}, "not looked at": {0, 0, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway := world.Gateway(gatewayOptions{SMS: registration.SMSBudgetConfig{Hourly: 1000, Daily: 1000, MinConversion: test.percent}})
			for n := range 20 {
				id, token, err := world.askForCode(gateway, n)
				if err != nil {
					t.Fatal(err)
				}
				if n < test.entered {
					world.sign(gateway, id, token)
				}
			}
			if _, _, err := world.askForCode(gateway, 20); err != nil {
				t.Errorf("before anybody could have entered a code: %v", err)
			}
			world.Clock.Advance(3 * time.Minute)
			_, _, err := world.askForCode(gateway, 21)
			if !test.stops {
				if err != nil || world.alarms() != 0 || gateway.SMS.Counts().Validated != int64(test.entered) {
					t.Errorf("%v, %d alarms, %+v", err, world.alarms(), gateway.SMS.Counts())
				}
				return
			}
			paused(t, err, time.Hour)
			if world.alarms() != 1 || gateway.SMS.Counts().LowConversion != 1 || len(world.Sim.SMS()) != 21 {
				t.Errorf("%d alarms, %+v, %d codes", world.alarms(), gateway.SMS.Counts(), len(world.Sim.SMS()))
			}
			world.Clock.Advance(time.Hour)
			if _, _, err := world.askForCode(gateway, 22); err != nil {
				t.Errorf("an hour later: %v", err)
			}
		})
	}
}

// TestOneNetworkDoesNotPauseAClub: codes that two addresses do not enter do not count against other
// visitors.
func TestOneNetworkDoesNotPauseAClub(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway(gatewayOptions{SMS: registration.SMSBudgetConfig{Hourly: 1000, Daily: 1000, MinConversion: 25}})
	code := func(n int, address string) error {
		id, token := world.debtor(g, fmt.Sprintf("+336%08d", n))
		return errorOf(
			g.Registrations.CreateMandate(
				registration.WithClientNetworks(world.Context(), []flows.ClientNetwork{{Name: address, Share: 1}}), id, token, account,
			),
		)
	}
	for n := range 20 {
		if err := code(n, fmt.Sprintf("203.0.113.%d", n/10)); err != nil {
			t.Fatal(err)
		}
	}
	world.Clock.Advance(3 * time.Minute)
	if err := code(20, "198.51.100.7"); err != nil || world.alarms() != 0 {
		t.Errorf("another visitor: %v, %d alarms", err, world.alarms())
	}
	for n := range 20 { // many networks are an attack on the club
		if err := code(30+n, fmt.Sprintf("192.0.2.%d", n)); err != nil {
			t.Fatal(err)
		}
	}
	world.Clock.Advance(3 * time.Minute)
	paused(t, code(60, "198.51.100.8"), time.Hour)
}

// TestCodesPerAddress: an address gets ten codes an hour; staff have no address.
func TestCodesPerAddress(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	code := func(n int, address string) error {
		id, token := world.debtor(gateway, fmt.Sprintf("+336%08d", n))
		ctx := world.Context()
		if address != "" {
			ctx = registration.WithClientNetworks(ctx, []flows.ClientNetwork{{Name: address, Share: 1}})
		}
		return errorOf(gateway.Registrations.CreateMandate(ctx, id, token, account))
	}
	for n := range 10 {
		if err := code(n, "203.0.113.7"); err != nil {
			t.Fatal(err)
		}
	}
	if err := code(10, "203.0.113.7"); flows.CodeOf(err) != flows.SMSLimited {
		t.Errorf("the eleventh: %v", err)
	}
	for n, address := range []string{"203.0.113.8", ""} {
		if err := code(11+n, address); err != nil {
			t.Errorf("from %q: %v", address, err)
		}
	}
	world.Clock.Advance(time.Hour)
	if err := code(13, "203.0.113.7"); err != nil {
		t.Errorf("an hour later: %v", err)
	}
	for key, value := range world.everything() {
		if strings.Contains(key+value, "203.0.113") {
			t.Errorf("%s can be read: %q", key, value)
		}
	}
}

// TestNetworkThatEntersNoCodes: a network that has entered too few of its codes is refused further ones before
// the club is affected. A network that enters its codes is not.
func TestNetworkThatEntersNoCodes(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway(gatewayOptions{SMS: registration.SMSBudgetConfig{Hourly: 1000, Daily: 1000, MinConversion: 25}})
	from := func(address string) context.Context {
		return registration.WithClientNetworks(world.Context(), []flows.ClientNetwork{{Name: address, Share: 1}})
	}
	code := func(n int, address string, enter bool) error {
		id, token := world.debtor(gateway, fmt.Sprintf("+336%08d", n))
		_, err := gateway.Registrations.CreateMandate(from(address), id, token, account)
		if err == nil && enter {
			sent := world.Sim.SMS()
			_, err = gateway.Registrations.SignMandate(from(address), id, token, sent[len(sent)-1].Code, "en")
		}
		return err
	}
	for n := range 5 {
		for i, address := range []string{"203.0.113.1", "203.0.113.2"} {
			if err := code(10*n+i, address, i == 1 && n < 2); err != nil {
				t.Fatal(err)
			}
		}
	}
	world.Clock.Advance(3 * time.Minute)
	sent := len(world.Sim.SMS())
	if err := code(60, "203.0.113.1", false); flows.CodeOf(err) != flows.SMSLimited || len(world.Sim.SMS()) != sent {
		t.Errorf("a network that entered none of five codes: %v", err)
	}
	if err := code(61, "203.0.113.2", false); err != nil {
		t.Errorf("a network that entered two of five codes: %v", err)
	}
	if world.alarms() != 0 {
		t.Errorf("%d alarms for the club", world.alarms())
	}
	world.Clock.Advance(time.Hour)
	if err := code(62, "203.0.113.1", false); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}
