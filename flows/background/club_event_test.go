package background_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"frontdesk/e2e/flowstest"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// eventHarness is a gateway's intake of the club system's events.
type eventHarness struct {
	*background.Intake
	w      *world
	g      *gateway
	cfg    background.Config // of what run runs
	sweeps chan<- time.Time
}

// eventHarness returns a gateway's intake of events. Nothing processes them yet.
func (w *world) eventHarness(g *gateway) *eventHarness {
	w.Helper()
	cfg := w.Background(g)
	return &eventHarness{w: w, g: g, cfg: cfg, Intake: background.New(cfg).Events}
}

// open processes events until the test ends.
func (o *eventHarness) open() {
	o.w.Helper()
	o.sweeps = o.w.RunBackground(o.cfg)
}

// send delivers an event as the club system does.
func (o *eventHarness) send(event string, members ...string) {
	o.w.Helper()
	var object []string
	for i := 0; i < len(members); i += 2 {
		object = append(object, fmt.Sprintf("%q:%q", members[i], members[i+1]))
	}
	body := fmt.Sprintf(`{"event":%q,"data":{"object":{%s}}}`, event, strings.Join(object, ","))
	if err := o.Receive(o.w.Context(), []byte(body)); err != nil {
		o.w.Fatal(err)
	}
}

// idle waits until every event has been processed.
func (o *eventHarness) idle() {
	o.w.Helper()
	frontdesktest.Eventually(o.w, "every event was worked on", func() bool {
		waiting, err := o.g.Store.ClubEventsWaiting(o.w.Context())
		return err == nil && waiting == 0
	})
}

// allowRefresh advances the clock until the reported events are due for a refresh.
func (o *eventHarness) allowRefresh(after time.Duration) {
	o.w.Clock.Advance(after)
	o.sweeps <- o.w.Clock.Now()
}

func (o *eventHarness) awaitCart(id, what string, is func(*flows.Registration) bool) (registration *flows.Registration) {
	o.w.Helper()
	frontdesktest.Eventually(o.w, what, func() bool {
		var err error
		registration, _, err = o.g.Store.Registration(o.w.Context(), id)
		return err == nil && is(registration)
	})
	return registration
}

func settled(r *flows.Registration) bool {
	return len(r.Cart.Problems) == 1 && r.Cart.Problems[0].Code == "settled"
}

// TestEventOfASettlementElsewhere: staff take the money in the club system's own screen, and the registration
// is updated before it is next requested.
func TestEventOfASettlementElsewhere(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	harness := world.eventHarness(g)
	registration, another := world.Registered(g), world.Registered(g)
	world.PayAtDesk(&flows.Payment{Sale: registration.Sale, Amount: quarterPassPrice})
	harness.open()
	for range 3 { // duplicates are harmless
		harness.send("contact.updated", "contactId", string(registration.Contact.IRI), "clubId", "/demo/clubs/11")
	}
	harness.idle()
	before := world.Calls("/sales/*")
	harness.allowRefresh(3 * time.Second)
	now := harness.awaitCart(registration.ID, "the cart is settled", settled)
	if now.Contact.Status != "customer" || now.Version <= registration.Version {
		t.Errorf("it is %+v's, in version %d", now.Contact, now.Version)
	}
	if n := world.Calls("/sales/*") - before; n != 1 {
		t.Errorf("the sale was read %d times", n)
	}
	same := harness.awaitCart(another.ID, "the other one is there", func(*flows.Registration) bool { return true })
	if same.Version != another.Version {
		t.Error("another registration was changed")
	}
}

// beforePolls is subtracted from the score of a refresh that an event has requested.
const beforePolls = 1e13

// TestEventBeforePolls: thousands of polls are overdue, because no gateway ran for a while. What an event reports is
// refreshed before them, and again before them if the club system fails at first.
func TestEventBeforePolls(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	harness := world.eventHarness(g)
	registration := world.Registered(g)
	world.PayAtDesk(&flows.Payment{Sale: registration.Sale, Amount: quarterPassPrice})
	var overdue []redis.Z
	for i := range 5000 {
		overdue = append(overdue, redis.Z{Score: float64(world.Clock.Now().Add(-time.Hour).UnixMilli()), Member: fmt.Sprint("overdue-", i)})
	}
	world.Redis.ZAdd(t.Context(), "fd:{refreshes}:registrations", overdue...)
	harness.open()
	harness.send("contact.updated", "contactId", string(registration.Contact.IRI))
	harness.idle()
	world.FailCalls("GET /sim/demo/sales/*", 1)
	harness.allowRefresh(3 * time.Second)
	failed := func() bool { return strings.Contains(world.Journal.String(), "registration not refreshed") }
	frontdesktest.Eventually(t, "the refresh has failed", failed)
	harness.allowRefresh(time.Minute)
	harness.awaitCart(registration.ID, "the cart is settled", settled)
	left := world.Redis.ZCount(t.Context(), "fd:{refreshes}:registrations", "0", fmt.Sprint(world.Clock.Now().UnixMilli())).Val()
	if left < 4900 {
		t.Errorf("only %d polls are still overdue: the test cannot fail", left)
	}
}

// TestEventsOfOthers do not call the club system.
func TestEventsOfOthers(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	harness := world.eventHarness(gateway)
	registration := world.Registered(gateway)
	harness.open()
	asked := len(world.Sim.Requests())
	harness.send("contact.updated", "contactId", "/demo/contacts/1001", "clubId", "/demo/clubs/11") // not a contact of any registration here
	harness.send("contact.updated", "contactId", "/other"+strings.TrimPrefix(string(registration.Contact.IRI), "/demo"))
	harness.send("contact.created", "contactId", string(registration.Contact.IRI), "clubId", "/demo/clubs/11")
	harness.send("identificator.disabled", "indentificatorId", "/demo/identificators/1", "targetId", string(registration.Contact.IRI))
	harness.send("contact.exploded", "contactId", string(registration.Contact.IRI))
	harness.send("contact.updated", "contactId", registration.Contact.IRI.ID())
	for _, body := range []string{
		`[]`,
		`"x"`,
		`1`,
		`null`,
		`{"event":7}`,
		`{"event":"contact.updated","data":[]}`,
		`{"event":"contact.updated","data":{"object":{"contactId":{"@id":1}}}}`,
	} {
		if err := harness.Receive(t.Context(), []byte(body)); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	if err := harness.Receive(t.Context(), []byte(`{"event":`)); flows.CodeOf(err) != flows.MalformedRequest {
		t.Errorf("no JSON: %v", err)
	}
	harness.idle()
	harness.allowRefresh(3 * time.Second)
	harness.allowRefresh(time.Second) // the previous sweep is over
	if n := len(world.Sim.Requests()) - asked; n != 0 {
		t.Errorf("%d calls were made", n)
	}
	counts := must(t, func() (map[string]string, error) { return gateway.Store.ClubEventCounts(t.Context()) })
	for kind, n := range map[string]string{
		"contact.updated":        "3",
		"foreign":                "1",
		"contact.created":        "1",
		"identificator.disabled": "1",
		"unknown":                "1",
		"unreadable":             "6",
	} {
		if counts[kind] != n {
			t.Errorf("%s of %s: %v", counts[kind], kind, counts)
		}
	}
}

// TestEveryEvent handles each event of the description, in either spelling.
func TestEveryEvent(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	harness := world.eventHarness(gateway)
	for i, name := range clubsim.EventNames() {
		registration := world.Registered(gateway)
		contact := string(registration.Contact.IRI)
		spelling := []string{"indentificatorId", "identificatorId"}[i%2]
		harness.send(name, "contactId", contact, "targetId", contact, "clubId", "/demo/clubs/11", spelling, "/demo/identificators/2")
		if err := harness.ProcessPending(t.Context()); err != nil {
			t.Fatal(err)
		}
		due := world.Redis.ZScore(t.Context(), "fd:{refreshes}:registrations", registration.ID).Val()
		soon := due == float64(world.Clock.Now().Add(2*time.Second).UnixMilli())-beforePolls
		want := map[string]bool{
			"contact.updated":                true,
			"contact.deleted":                true,
			"contact_tag.created":            true,
			"contact_tag.updated":            true,
			"contact_tag.deleted":            true,
			"accounting_contact_tag.created": true,
			"accounting_contact_tag.updated": true,
			"accounting_contact_tag.deleted": true,
			"identificator.created":          true,
		}[name]
		if soon != want {
			t.Errorf("%s brings the look forward: %t", name, soon)
		}
	}
	counts := must(t, func() (map[string]string, error) { return gateway.Store.ClubEventCounts(t.Context()) })
	if len(counts) != 20 {
		t.Errorf("counted: %v", counts)
	}
}

// TestStoredEventsAreNotLost: a gateway dies between its response and the processing. Another one processes
// the events, even if the queue has lost the job.
func TestStoredEventsAreNotLost(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	dead := world.Gateway()
	registration := world.Registered(dead)
	world.PayAtDesk(&flows.Payment{Sale: registration.Sale, Amount: quarterPassPrice})
	world.eventHarness(dead).send("contact.updated", "contactId", string(registration.Contact.IRI))
	for _, key := range world.Redis.Keys(t.Context(), "asynq:*").Val() {
		world.Redis.Del(t.Context(), key)
	}
	o := world.eventHarness(world.Gateway())
	o.open() // sweeps at start
	o.idle()
	o.allowRefresh(3 * time.Second)
	o.awaitCart(registration.ID, "the cart is settled", settled)
}

// TestEventsOfAnUnknownKey: during a rotation of keys, a gateway finds events that it cannot open. It processes the
// others and leaves these to a gateway that has the key, for an hour.
func TestEventsOfAnUnknownKey(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	behind, ahead := world.eventHarness(world.Gateway()), world.eventHarness(world.Gateway(gatewayOptions{Keys: newKeyring(t, "two", "one")}))
	old, rotated := world.Registered(behind.g), world.Registered(ahead.g)
	expect := func(o *eventHarness, left int64) {
		t.Helper()
		if err := o.ProcessPending(t.Context()); err != nil {
			t.Fatal(err)
		}
		if waiting, err := o.g.Store.ClubEventsWaiting(t.Context()); err != nil || waiting != left {
			t.Errorf("%d events wait instead of %d, %v", waiting, left, err)
		}
	}
	requested := func(r *flows.Registration) bool {
		due := world.Redis.ZScore(t.Context(), "fd:{refreshes}:registrations", r.ID).Val()
		return due == float64(world.Clock.Now().Add(2*time.Second).UnixMilli())-beforePolls
	}
	const many = 120 // more than one batch
	for range many {
		ahead.send("contact.updated", "contactId", string(rotated.Contact.IRI))
	}
	behind.send("contact.updated", "contactId", string(old.Contact.IRI))
	expect(behind, many)
	if !requested(old) || requested(rotated) {
		t.Error("not exactly the event of the known key was processed")
	}
	expect(ahead, 0)
	if !requested(rotated) {
		t.Error("the events of the new key were not processed")
	}
	ahead.send("contact.updated", "contactId", string(rotated.Contact.IRI))
	world.Clock.Advance(2 * time.Hour)
	expect(behind, 0)
	if !strings.Contains(world.Journal.String(), "club events dropped") {
		t.Error("no log line about a dropped event")
	}
}

// TestDeliveryOfAnUnknownKey: a gateway takes a delivery that it cannot open. It is tried again, so that a gateway that
// has the key can make it.
func TestDeliveryOfAnUnknownKey(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	cfg := world.relayTo(g, "http://127.0.0.1:9/events")
	ahead := cfg
	ahead.Keys = newKeyring(t, "two", "one")
	if err := background.New(ahead).Relay.Enqueue(t.Context(), []flows.Event{{ID: "evt_1", Type: "contact.updated"}}); err != nil {
		t.Fatal(err)
	}
	world.RunBackground(cfg)
	behind := background.New(cfg).Relay
	var failed []background.Delivery
	frontdesktest.Eventually(t, "the delivery has failed", func() bool {
		all, err := behind.Deliveries(t.Context(), "")
		failed = all.Items
		return err == nil && len(failed) > 0
	})
	if failed[0].State != background.DeliveryRetrying || !strings.Contains(failed[0].LastError, "unknown key") {
		t.Errorf("the delivery is %+v", failed[0])
	}
}

// TestEventsWithoutRedis: without Redis, events are refused, so that the sender sees the failure.
func TestEventsWithoutRedis(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wire := frontdesktest.NewMessageProxy(t, frontdesktest.Fault{})
	o := w.eventHarness(w.Gateway(gatewayOptions{RedisURL: w.RedisOver(wire)}))
	wire.Cut()
	if err := o.Receive(t.Context(), []byte(`{"event":"contact.updated"}`)); flows.CodeOf(err) != flows.StorageUnavailable {
		t.Errorf("taken: %v", err)
	}
}

// TestPolling finds changes that no event reported. Polls become less frequent, then stop.
func TestPolling(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	harness := world.eventHarness(gateway)
	registration := world.Registered(gateway)
	harness.open()
	begun := world.Calls("/sales/*")
	for _, step := range []struct {
		after time.Duration
		reads int
		next  time.Duration // since the registration's start
	}{
		{14 * time.Minute, 0, 15 * time.Minute}, {2 * time.Minute, 1, 32 * time.Minute}, {10 * time.Minute, 1, 32 * time.Minute},
		{7 * time.Minute, 2, 66 * time.Minute}, {20 * time.Minute, 2, 66 * time.Minute}, {15 * time.Minute, 3, 136 * time.Minute},
	} {
		harness.allowRefresh(step.after)
		frontdesktest.Eventually(t, "the next look is due after "+step.next.String(), func() bool {
			due := world.Redis.ZScore(t.Context(), "fd:{refreshes}:registrations", registration.ID).Val()
			return world.Calls("/sales/*")-begun == step.reads && due == float64(registration.CreatedAt.Add(step.next).UnixMilli())
		})
	}
	world.PayAtDesk(&flows.Payment{Sale: registration.Sale, Amount: quarterPassPrice})
	harness.allowRefresh(3 * time.Hour)
	harness.awaitCart(registration.ID, "the cart is settled", settled)
	gone := world.Registered(gateway)
	frontdesktest.Eventually(t, "what is settled is not polled", func() bool {
		return world.Redis.ZScore(t.Context(), "fd:{refreshes}:registrations", registration.ID).Err() != nil
	})
	before := len(world.Sim.Requests())
	harness.allowRefresh(21 * time.Hour)
	frontdesktest.Eventually(t, "what has expired is not polled", func() bool {
		return world.Redis.ZScore(t.Context(), "fd:{refreshes}:registrations", gone.ID).Err() != nil
	})
	if n := len(world.Sim.Requests()) - before; n != 0 {
		t.Errorf("%d calls for an expired registration", n)
	}
}

// TestPollingAfterAPayment: a poll during a payment is followed by others, which find that a buyer who gave the payment
// up has paid at the desk.
func TestPollingAfterAPayment(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	harness := world.eventHarness(gateway)
	payment := world.Started(gateway)
	harness.open()
	harness.allowRefresh(16 * time.Minute)
	frontdesktest.Eventually(t, "the next look is due after 32 minutes", func() bool {
		due := world.Redis.ZScore(t.Context(), "fd:{refreshes}:registrations", payment.Registration).Val()
		return due == float64(payment.CreatedAt.Add(32*time.Minute).UnixMilli())
	})
	must(t, func() (flows.View, error) {
		return gateway.Registrations.CancelPayment(t.Context(), payment.Registration, holderToken)
	})
	world.awaitState(gateway, payment.ID, flows.Cancelled)
	world.PayAtDesk(payment)
	harness.allowRefresh(17 * time.Minute)
	harness.awaitCart(payment.Registration, "the cart is settled", settled)
}

// TestEventStorm: two thousand events about sixty registrations cause no more reads than the budget allows.
func TestEventStorm(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	harness := world.eventHarness(g)
	contacts := map[club.IRI]bool{}
	for range 60 {
		contacts[world.Registered(g).Contact.IRI] = true
	}
	harness.open()
	before := world.Calls("/sales/*")
	reads := func() int { return world.Calls("/sales/*") - before }
	for sent := 0; sent < 2000; {
		for contact := range contacts {
			harness.send("contact.updated", "contactId", string(contact), "clubId", "/demo/clubs/11")
			sent++
		}
	}
	harness.idle()
	harness.allowRefresh(3 * time.Second)
	frontdesktest.Eventually(t, "twenty looks", func() bool { return reads() == 20 })
	for range 5 {
		harness.allowRefresh(0)
	}
	harness.allowRefresh(10 * time.Second)
	frontdesktest.Eventually(t, "ten looks more after ten seconds", func() bool { return reads() == 30 })
	for range 5 {
		harness.allowRefresh(0)
	}
	if n := reads(); n > 30 {
		t.Errorf("%d looks within the budget of 30", n)
	}
	for range 30 { // in the end every sale has been read once
		harness.allowRefresh(time.Second)
	}
	frontdesktest.Eventually(t, "every registration was read", func() bool { return reads() == 60 })
}

// TestEventsInADoubt: an event about the contact triggers a reading before the next one is due. Staff have
// settled the sale with cash, which the rule does not take for the card payment.
func TestEventsInADoubt(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway(gatewayOptions{Rule: flowstest.SimulatorsRule()})
	harness := world.eventHarness(gateway)
	payment := world.Doubtful(gateway, "error_before")
	for _, pause := range []time.Duration{31 * time.Second, 2 * time.Minute} {
		world.Clock.Advance(pause)
		payment = world.Advance(gateway, payment)
	}
	if payment.State != flows.InDoubt || len(payment.Readings) != 2 {
		t.Fatalf("%s with %d readings", payment.State, len(payment.Readings))
	}
	world.PayAtDesk(payment) // staff settle the sale at the desk
	world.Clock.Advance(time.Minute)
	payment = world.Advance(gateway, payment)
	if len(payment.Readings) != 2 {
		t.Fatal("evidence is read before it is due")
	}
	harness.open()
	r, _, err := gateway.Store.Registration(t.Context(), payment.Registration)
	if err != nil {
		t.Fatal(err)
	}
	harness.send("contact.updated", "contactId", string(r.Contact.IRI))
	harness.idle()
	harness.allowRefresh(3 * time.Second)
	frontdesktest.Eventually(t, "the evidence is read", func() bool { return len(world.Stored(gateway, payment.ID).Readings) == 3 })
	payment = world.Stored(gateway, payment.ID)
	if payment.State != flows.InDoubt || world.Held(payment).Metadata["fd_done_1"] != "" {
		t.Errorf("%s (%s)", payment.State, payment.Reason)
	}
}

// TestContactMergedElsewhere: the registration follows its sale to the contact that was kept and can be paid, but its
// visitor learns nothing about that contact and changes nothing of it.
func TestContactMergedElsewhere(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	harness := world.eventHarness(gateway)
	registration := world.Registered(gateway)
	known := world.Persona("prospect")
	above := bastille
	above.Node = "/demo/network_nodes/1"
	migration := club.Migration{Contact: registration.Contact.IRI, Club: bastille.Club}
	if err := world.Club.MigrateContact(t.Context(), above, club.IRI(known.ContactID), known.AccessToken, migration); err != nil {
		t.Fatal(err)
	}
	if err := world.Club.UpdateSaleContact(t.Context(), bastille, registration.Sale); err != nil {
		t.Fatal(err)
	}
	harness.open()
	harness.send("contact.deleted", "contactId", string(registration.Contact.IRI), "clubId", "/demo/clubs/11")
	harness.idle()
	harness.allowRefresh(3 * time.Second)
	now := harness.awaitCart(registration.ID, "the contact is the one that stayed", func(r *flows.Registration) bool {
		return string(r.Contact.IRI) == known.ContactID
	})
	want := &flows.Contact{
		IRI:       club.IRI(known.ContactID),
		Number:    registration.Contact.Number,
		Status:    "temp",
		GivenName: registration.Contact.GivenName,
		Merged:    true,
	}
	if *now.Contact != *want || !now.Cart.Valid {
		t.Errorf("it is %+v's, with %+v", now.Contact, now.Cart)
	}
	world.expectNothingOfMerged(gateway, registration.ID)
	found := must(t, func() ([]string, error) { return gateway.Store.RegistrationsOf(t.Context(), club.IRI(known.ContactID)) })
	if len(found) != 1 || found[0] != registration.ID {
		t.Errorf("events of the contact lead to %v", found)
	}
	found = world.FoundByEmail(gateway, known)
	if len(found) != 1 || found[0] != registration.ID {
		t.Errorf("their e-mail address leads to %v", found)
	}
	p := must(t, func() (*flows.Payment, error) { return gateway.Pay(t.Context(), registration.ID) })
	world.Confirm(p, goodCard)
	p = world.Advance(gateway, p)
	if p.State != flows.Recorded {
		t.Fatalf("%s (%s)", p.State, p.Reason)
	}
	done := must(t, func() (flows.View, error) {
		return gateway.Registrations.Get(t.Context(), registration.ID, holderToken)
	})
	if *done.Contact != *want {
		t.Errorf("in the end it is %+v's", done.Contact)
	}
	if _, _, err := gateway.Registrations.Consents(t.Context(), registration.ID, holderToken); flows.CodeOf(err) != flows.PersonKnown {
		t.Errorf("in the end the consents are read: %v", err)
	}
}

// expectNothingOfMerged checks that the visitor of a merged contact can neither read nor change details or consents.
func (w *world) expectNothingOfMerged(g *gateway, id string) {
	w.Helper()
	ctx, service := w.Context(), g.Registrations
	for name, do := range map[string]func() error{
		"replace the person": func() error { _, err := service.PutPerson(ctx, id, holderToken, visitor); return err },
		"correct the person": func() error {
			_, err := service.CorrectPerson(ctx, id, holderToken, func(p flows.Person) (flows.Person, error) {
				w.Errorf("a correction reads %+v", p)
				return p, nil
			})
			return err
		},
		"read the consents":   func() error { _, _, err := service.Consents(ctx, id, holderToken); return err },
		"change the consents": func() error { _, _, err := service.ChangeConsents(ctx, id, holderToken, nil, ""); return err },
		"import an account": func() error {
			_, err := service.Migrate(ctx, id, holderToken, w.Persona("former").AccessToken)
			return err
		},
	} {
		if err := do(); flows.CodeOf(err) != flows.PersonKnown {
			w.Errorf("%s: %v", name, err)
		}
	}
	view := must(w, func() (flows.View, error) { return service.Get(ctx, id, holderToken) })
	if got := strings.Join(view.Actions, " "); got != "pay check add_item clear_items abandon" {
		w.Errorf("the visitor can %s", got)
	}
}

// TestRefreshesThatFail are retried and do no harm.
func TestRefreshesThatFail(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	harness := world.eventHarness(g)
	registration := world.Registered(g)
	world.PayAtDesk(&flows.Payment{Sale: registration.Sale, Amount: quarterPassPrice})
	world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 500, Times: new(1)})
	harness.open()
	harness.send("identificator.created", "indentificatorId", "/demo/identificators/2", "targetId", string(registration.Contact.IRI))
	harness.idle()
	harness.allowRefresh(3 * time.Second)
	frontdesktest.Eventually(t, "the look fails", func() bool { return world.Sim.Faults()[0].Hits == 1 })
	harness.allowRefresh(61 * time.Second)
	harness.awaitCart(registration.ID, "the cart is settled", settled)
}

// TestRemovedSaleIsPolledSeldom: the refresh of a registration whose sale is gone counts as done, and is not repeated
// after a minute.
func TestRemovedSaleIsPolledSeldom(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	o := world.eventHarness(g)
	registration := world.Registered(g)
	world.RemoveSale(registration.Sale)
	o.open()
	before := world.Calls("/sales/*")
	o.allowRefresh(16 * time.Minute)
	frontdesktest.Eventually(t, "the next refresh is due after 32 minutes", func() bool {
		due := world.Redis.ZScore(t.Context(), "fd:{refreshes}:registrations", registration.ID).Val()
		return world.Calls("/sales/*")-before == 1 && due == float64(registration.CreatedAt.Add(32*time.Minute).UnixMilli())
	})
}
