package statements_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/e2e/flowstest"
	"frontdesk/flows"
	"frontdesk/flows/registration"
	"frontdesk/flows/text"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// memberships are what a member is shown.
func (d *desk) memberships(persona string) []registration.Membership {
	d.world.Helper()
	found := flowstest.Must(d.world, func() (registration.Memberships, error) {
		return d.Memberships(d.world.Context(), identityOf(d.world.Persona(persona)))
	})
	return found.Items
}

// endAsStaff ends the membership of a planned cancellation in the club system itself, some days later than it is planned.
func endAsStaff(world *flowstest.World, planned *flows.OnlineCancellation, later int) string {
	world.Helper()
	day := flowstest.Must(world, func() (time.Time, error) { return time.Parse(time.DateOnly, planned.Date) })
	in := club.NewCancellation{Date: day.AddDate(0, 0, later).Format(time.DateOnly), Motive: planned.Motive}
	flowstest.Must(world, func() (club.Subscription, error) {
		return world.Club.CancelSubscription(context.Background(), planned.Scope(), planned.Subscription, in, nil)
	})
	return in.Date
}

// TestBetweenStatementAndConfirmation: what changes in the club system after the member was shown the last day, and before they confirm or
// while it is sent, never ends a membership twice, nor on a day that the club does not accept. What is not done waits for an operator.
func TestBetweenStatementAndConfirmation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*flowstest.World, *flows.OnlineCancellation) (end string) // what the club system then has; empty: no end
		shown  registration.CancellationWay                                   // afterwards; empty: nothing is listed
	}{
		"staff end it": {
			func(world *flowstest.World, planned *flows.OnlineCancellation) string {
				return endAsStaff(world, planned, 5)
			},
			registration.Cancelled,
		},
		"staff end it while it is sent": {
			func(world *flowstest.World, planned *flows.OnlineCancellation) string {
				world.InjectFault("POST /sim/demo/subscriptions/*/online_cancellation", func() { endAsStaff(world, planned, 5) }, nil)
				return "later"
			},
			registration.Cancelled,
		},
		"the club prolongs it": {
			func(world *flowstest.World, planned *flows.OnlineCancellation) string {
				prolong(world, planned)
				return ""
			},
			registration.CancelOnline,
		},
		"it is gone": {
			func(world *flowstest.World, _ *flows.OnlineCancellation) string {
				online(world, func(s *clubsim.Settings) {
					s.Members = clubsim.Members{"GET subscription_summary": {"subscriptions": "empty list"}}
				})
				return ""
			},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world, d := onlineDesk(t)
			stated, secret := d.cancel(leaver, "", "")
			end := test.change(world, stated.Online)
			received := d.confirm(flows.Cancellation, secret)
			if received.Online.State != flows.OnlineRefused || received.State != flows.Received || received.AcknowledgedEnd != "" {
				t.Errorf("it is %s, %+v, acknowledged to end on %q", received.State, received.Online, received.AcknowledgedEnd)
			}
			ended := world.Sim.Cancellations()
			if (len(ended) > 0) != (end != "") || len(ended) > 1 || len(ended) == 1 && ended[0].Date == stated.Online.Date {
				t.Errorf("the club system has %+v, want an end on %q", ended, end)
			}
			shown := d.memberships(leaver)
			if test.shown == "" && len(shown) > 0 || test.shown != "" && (len(shown) != 1 || shown[0].Cancellation != test.shown) {
				t.Errorf("the member is shown %+v", shown)
			}
			if len(ended) > 0 && shown[0].EndDate != ended[0].Date {
				t.Errorf("the member is shown the end %s, not %s", shown[0].EndDate, ended[0].Date)
			}
		})
	}
}

// prolong has the minimum term of a planned cancellation's membership end a year after its planned end.
func prolong(world *flowstest.World, planned *flows.OnlineCancellation) {
	world.Helper()
	member := club.IRI(world.Persona(leaver).ContactID)
	listed := flowstest.Must(world, func() ([]club.Subscription, error) {
		return world.Club.ListSubscriptions(world.Context(), planned.Scope(), member)
	})
	before := world.Sim.Snapshot()
	old := []byte(`"engagedThrough":"` + listed[0].EngagedThrough + `"`)
	after := bytes.ReplaceAll(before, old, []byte(`"engagedThrough":"2099-12-31"`))
	if bytes.Equal(before, after) {
		world.Fatal("the snapshot has no such minimum term")
	}
	if err := world.Sim.Restore(after); err != nil {
		world.Fatal(err)
	}
}

// TestMidnightMovesTheLastDay: a cancellation that is confirmed on the day after it was stated ends a day later, and says so.
func TestMidnightMovesTheLastDay(t *testing.T) {
	t.Parallel()
	world, d := onlineDesk(t)
	stated, secret := d.cancel(leaver, "", "")
	world.Clock.Advance(flows.ConfirmStatementWithin - time.Minute)
	received := d.confirm(flows.Cancellation, secret)
	if end := received.AcknowledgedEnd; received.State != flows.Done || end <= stated.Online.Date {
		t.Errorf("it is %s, %+v, acknowledged to end on %q", received.State, received.Online, end)
	}
	expectEnded(world, 1, received.AcknowledgedEnd)
	if shown := d.memberships(leaver); len(shown) != 1 || shown[0].EndDate != received.AcknowledgedEnd {
		t.Errorf("the member is shown %+v", shown)
	}
}

// TestConfirmedTwiceAtOnce: two requests that confirm the same statement end a membership once, and get the same acknowledgement.
func TestConfirmedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	online(world, func(s *clubsim.Settings) { s.OnlineCancellation = true })
	keys := flowstest.NewKeyring(t, "one")
	desks := []*desk{newDesk(world, keys), newDesk(world, keys)}
	stated, secret := desks[0].cancel(leaver, "", "")
	received := make([]*flows.Statement, len(desks))
	errs := make([]error, len(desks))
	var running sync.WaitGroup
	for i, d := range desks {
		running.Go(func() { received[i], errs[i] = d.Confirm(world.Context(), "demo", flows.Cancellation, secret) })
	}
	running.Wait()
	if errs[0] != nil || errs[1] != nil {
		t.Fatal(errs)
	}
	if received[0].Text != received[1].Text || received[0].AcknowledgedEnd != stated.Online.Date {
		t.Errorf("one says\n%s\nthe other one says\n%s", received[0].Text, received[1].Text)
	}
	expectEnded(world, 1, stated.Online.Date)
	if sent := sentTo(world); sent != 1 {
		t.Errorf("%d requests were sent", sent)
	}
}

// TestRedisIsLostWhileCancelling: if Redis loses everything after the club system has ended a membership, the person is not told an
// end that no record has, the member is shown what the club system has, and nothing is sent again.
func TestRedisIsLostWhileCancelling(t *testing.T) {
	t.Parallel()
	world, d := onlineDesk(t)
	stated, secret := d.cancel(leaver, "", "")
	world.InjectFault("POST /sim/demo/subscriptions/*/online_cancellation", nil, func() { world.Redis.FlushDB(context.Background()) })
	if received := d.confirm(flows.Cancellation, secret); received.AcknowledgedEnd != "" || received.Text == "" {
		t.Errorf("it is acknowledged to end on %q:\n%s", received.AcknowledgedEnd, received.Text)
	}
	if shown := d.memberships(leaver); len(shown) != 1 || shown[0].EndDate != stated.Online.Date {
		t.Errorf("the member is shown %+v", shown)
	}
	if again, _ := d.cancel(leaver, "", ""); again.Online != nil {
		t.Errorf("another one is planned: %+v", again.Online)
	}
	expectEnded(world, 1, stated.Online.Date)
}

// TestAcknowledgementNamesDebits: the acknowledgement of a cancellation that was carried out names the amounts of what is still debited
// until then, as the member is shown it; and none where the club system then has another end.
func TestAcknowledgementNamesDebits(t *testing.T) {
	t.Parallel()
	world := flowstest.NewWorld(t)
	online(world, func(s *clubsim.Settings) { s.OnlineCancellation = true })
	keys := flowstest.NewKeyring(t, "one")
	gateway := world.Gateway(flowstest.Options{Keys: keys})
	d := deskAt(world, gateway, keys)
	wanted := world.Clock.Now().AddDate(0, 3, 0).Format(time.DateOnly) // some debits are left until then
	_, secret := d.cancel(leaver, "", wanted)
	received := d.confirm(flows.Cancellation, secret)
	shown := d.memberships(leaver)
	if len(shown) != 1 || shown[0].Remaining == nil || len(shown[0].Remaining.Debits) == 0 {
		t.Fatalf("the member is shown %+v", shown)
	}
	in, left := text.Match("en"), shown[0].Remaining
	if amount := in.Money(left.Total, shown[0].Currency); !strings.Contains(received.Text, amount+" is still debited until then:\n") {
		t.Errorf("it lacks the total, %s:\n%s", amount, received.Text)
	}
	for _, debit := range left.Debits {
		if amount := in.Money(debit.Amount, shown[0].Currency); strings.Count(received.Text, ": "+amount+"\n") != len(left.Debits) {
			t.Errorf("it lacks one of %d debits of %s:\n%s", len(left.Debits), amount, received.Text)
		}
	}
	again := *received.Online
	again.Date = "2099-12-31" // the club system has ended it on another day than was planned
	if ending := gateway.Registrations.Contacts.Ending(again); ending.Remaining != nil {
		t.Errorf("until another end, %+v is left", ending.Remaining)
	}
}
