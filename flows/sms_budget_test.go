package flows_test

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
func (g *gateway) askForCode(w *world, n int) (id, token string, err error) {
	w.Helper()
	id, token = g.debtor(w, fmt.Sprintf("+336%08d", n))
	_, err = g.registrations.CreateMandate(w.Context(), id, token, account)
	return id, token, err
}

// sign enters the latest code.
func (g *gateway) sign(w *world, id, token string) {
	w.Helper()
	sent := w.sim.SMS()
	must(w, func() (flows.View, error) {
		return g.registrations.SignMandate(w.Context(), id, token, sent[len(sent)-1].Code)
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
func (w *world) alarms() int { return strings.Count(w.log.String(), "sms codes paused") }

// TestSMSBudget: a club's visitors together get a limited number of codes per hour and per day.
func TestSMSBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	with := gatewayOptions{sms: registration.SMSBudgetConfig{Hourly: 3, Daily: 5}}
	g, other := w.gateway(with), w.gateway(with)
	code := func(n int) error {
		_, _, err := []*gateway{g, other}[n%2].askForCode(w, n)
		return err
	}
	for n := range 3 {
		if err := code(n); err != nil {
			t.Fatal(err)
		}
	}
	paused(t, code(3), time.Hour)
	paused(t, code(4), time.Hour)
	if sent := len(w.sim.SMS()); sent != 3 || w.alarms() != 1 {
		t.Errorf("%d codes were sent, with %d alarms", sent, w.alarms())
	}
	w.clock.Advance(time.Hour)
	for n := range 2 {
		if err := code(5 + n); err != nil {
			t.Errorf("an hour later: %v", err)
		}
	}
	w.clock.Advance(time.Hour)
	paused(t, code(7), 24*time.Hour)
	if counts := g.sms.Counts(); counts.OverBudget+other.sms.Counts().OverBudget != 3 || counts.Sent+other.sms.Counts().Sent != 5 {
		t.Errorf("counted: %+v, %+v", counts, other.sms.Counts())
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
			w := newWorld(t)
			g := w.gateway(gatewayOptions{sms: registration.SMSBudgetConfig{Hourly: 1000, Daily: 1000, MinConversion: test.percent}})
			for n := range 20 {
				id, token, err := g.askForCode(w, n)
				if err != nil {
					t.Fatal(err)
				}
				if n < test.entered {
					g.sign(w, id, token)
				}
			}
			if _, _, err := g.askForCode(w, 20); err != nil {
				t.Errorf("before anybody could have entered a code: %v", err)
			}
			w.clock.Advance(3 * time.Minute)
			_, _, err := g.askForCode(w, 21)
			if !test.stops {
				if err != nil || w.alarms() != 0 || g.sms.Counts().Validated != int64(test.entered) {
					t.Errorf("%v, %d alarms, %+v", err, w.alarms(), g.sms.Counts())
				}
				return
			}
			paused(t, err, time.Hour)
			if w.alarms() != 1 || g.sms.Counts().LowConversion != 1 || len(w.sim.SMS()) != 21 {
				t.Errorf("%d alarms, %+v, %d codes", w.alarms(), g.sms.Counts(), len(w.sim.SMS()))
			}
			w.clock.Advance(time.Hour)
			if _, _, err := g.askForCode(w, 22); err != nil {
				t.Errorf("an hour later: %v", err)
			}
		})
	}
}

// TestOneNetworkDoesNotPauseAClub: codes that two addresses do not enter do not count against other
// visitors.
func TestOneNetworkDoesNotPauseAClub(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway(gatewayOptions{sms: registration.SMSBudgetConfig{Hourly: 1000, Daily: 1000, MinConversion: 25}})
	code := func(n int, address string) error {
		id, token := g.debtor(w, fmt.Sprintf("+336%08d", n))
		return errorOf(g.registrations.CreateMandate(registration.WithClientNetworks(w.Context(), []flows.ClientNetwork{{Name: address, Share: 1}}), id, token, account))
	}
	for n := range 20 {
		if err := code(n, fmt.Sprintf("203.0.113.%d", n/10)); err != nil {
			t.Fatal(err)
		}
	}
	w.clock.Advance(3 * time.Minute)
	if err := code(20, "198.51.100.7"); err != nil || w.alarms() != 0 {
		t.Errorf("another visitor: %v, %d alarms", err, w.alarms())
	}
	for n := range 20 { // many networks are an attack on the club
		if err := code(30+n, fmt.Sprintf("192.0.2.%d", n)); err != nil {
			t.Fatal(err)
		}
	}
	w.clock.Advance(3 * time.Minute)
	paused(t, code(60, "198.51.100.8"), time.Hour)
}

// TestCodesPerAddress: an address gets ten codes an hour; staff have no address.
func TestCodesPerAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway()
	code := func(n int, address string) error {
		id, token := g.debtor(w, fmt.Sprintf("+336%08d", n))
		ctx := w.Context()
		if address != "" {
			ctx = registration.WithClientNetworks(ctx, []flows.ClientNetwork{{Name: address, Share: 1}})
		}
		return errorOf(g.registrations.CreateMandate(ctx, id, token, account))
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
	w.clock.Advance(time.Hour)
	if err := code(13, "203.0.113.7"); err != nil {
		t.Errorf("an hour later: %v", err)
	}
	for key, value := range w.everything() {
		if strings.Contains(key+value, "203.0.113") {
			t.Errorf("%s can be read: %q", key, value)
		}
	}
}

// TestNetworkThatEntersNoCodes: a network that has entered too few of its codes is refused further ones before
// the club is affected. A network that enters its codes is not.
func TestNetworkThatEntersNoCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gateway(gatewayOptions{sms: registration.SMSBudgetConfig{Hourly: 1000, Daily: 1000, MinConversion: 25}})
	from := func(address string) context.Context {
		return registration.WithClientNetworks(w.Context(), []flows.ClientNetwork{{Name: address, Share: 1}})
	}
	code := func(n int, address string, enter bool) error {
		id, token := g.debtor(w, fmt.Sprintf("+336%08d", n))
		_, err := g.registrations.CreateMandate(from(address), id, token, account)
		if err == nil && enter {
			sent := w.sim.SMS()
			_, err = g.registrations.SignMandate(from(address), id, token, sent[len(sent)-1].Code)
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
	w.clock.Advance(3 * time.Minute)
	sent := len(w.sim.SMS())
	if err := code(60, "203.0.113.1", false); flows.CodeOf(err) != flows.SMSLimited || len(w.sim.SMS()) != sent {
		t.Errorf("a network that entered none of five codes: %v", err)
	}
	if err := code(61, "203.0.113.2", false); err != nil {
		t.Errorf("a network that entered two of five codes: %v", err)
	}
	if w.alarms() != 0 {
		t.Errorf("%d alarms for the club", w.alarms())
	}
	w.clock.Advance(time.Hour)
	if err := code(62, "203.0.113.1", false); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}
