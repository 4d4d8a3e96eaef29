package registration_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/registration"
	"frontdesk/upstream/clubsim"
)

// made counts the contacts and the sales that a test has made at the club system.
func (w *world) made() (count func() (contacts, sales int)) {
	contacts, sales := len(w.Sim.Contacts()), len(w.Sim.Sales())
	return func() (int, int) { return len(w.Sim.Contacts()) - contacts, len(w.Sim.Sales()) - sales }
}

// creations are the calls that create something, each with the faults that one call can meet. The response that names a
// new sale is the only one that cannot be found again.
var creations = []struct {
	path, kind string
	sales      int // at most, after four failures
}{
	{"/contacts", "error_before", 1}, {"/contacts", "drop_after", 1}, {"/contacts", "error_after", 1}, {"/contacts", "malformed", 1},
	{"/sales", "error_before", 1}, {"/sales", "error_after", 5},
	{"/sales/*/articles", "error_before", 1}, {"/sales/*/articles", "error_after", 1}, {"/sales/*/articles", "drop_after", 1},
	{"/sales/*/articles", "too_many", 1},
}

// TestOneIntention repeats a request four times while a creation fails, each time on another gateway: it makes one
// contact and one sale.
func TestOneIntention(t *testing.T) {
	t.Parallel()
	for _, creation := range creations {
		t.Run(creation.path+" "+creation.kind, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			start := world.Clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)
			in := registration.StartRequest{
				ID:          uuid.NewString(),
				ClientToken: "demo",
				ClubID:      "11",
				Channel:     "web",
				Person:      &visitor,
				Items:       []flows.NewItem{{OfferID: "201", StartDate: start}, badge},
			}
			count := world.made()
			var view flows.View
			var token string
			failures := world.repeat(creation.path, creation.kind, func(g *gateway) (err error) {
				view, token, err = g.Registrations.Start(t.Context(), in)
				in.Again = true
				return err
			})
			world.expectCart(view, "Quarter Pass, paid once", "Access Badge")
			if contacts, sales := count(); contacts != 1 || sales > creation.sales {
				t.Errorf("after %d failures there are %d contacts and %d sales", failures, contacts, sales)
			}
			if failures == 0 && creation.kind == "error_before" {
				t.Error("nothing failed")
			}

			// The same holds for other details, and for a new cart.
			count = world.made()
			id, other := view.ID, visitor
			other.FamilyName = "Lovelace"
			world.repeat(creation.path, creation.kind, func(g *gateway) (err error) {
				view, err = g.Registrations.PutPerson(t.Context(), id, token, other)
				return err
			})
			world.expectCart(view, "Quarter Pass, paid once", "Access Badge")
			if contacts, sales := count(); contacts != 1 || sales > creation.sales {
				t.Errorf("other details made %d contacts and %d sales", contacts, sales)
			}
			count = world.made()
			kept, removed := view.Items[0].ID, view.Items[1].ID
			world.repeat(creation.path, creation.kind, func(g *gateway) (err error) {
				view, err = g.Registrations.RemoveItem(t.Context(), id, token, removed)
				return err
			})
			world.expectCart(view, "Quarter Pass, paid once")
			if contacts, sales := count(); contacts != 0 || sales > creation.sales || view.Items[0].ID != kept {
				t.Errorf("removing an item made %d contacts and %d sales, and left %+v", contacts, sales, view.Items)
			}
		})
	}
}

// repeat sends a request until it succeeds, four times while calls of a path fail, and returns how often it failed.
func (w *world) repeat(path, kind string, request func(*gateway) error) (failures int) {
	w.Helper()
	w.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: path}, Kind: kind})
	defer w.Fault()
	for n := range 6 {
		if n == 4 {
			w.Fault()
		}
		err := request(w.Gateway())
		if err == nil {
			return failures
		}
		failures++
		var failure *flows.Error
		if !errors.As(err, &failure) || failure.Code != flows.ClubSystemFailed && failure.Code != flows.ClubSystemUnavailable {
			w.Fatalf("attempt %d: %v", n+1, err)
		}
		w.Clock.Advance(failure.RetryAfter)
	}
	w.Fatal("it never succeeds")
	return failures
}

// TestStartAgain has the gateway die at each message of a start. The repetition makes no other contact, and no other sale
// unless the response that names it was lost.
func TestStartAgain(t *testing.T) {
	t.Parallel()
	startsAgain(t, &visitor)
}

// TestKnownStartsAgain: the same holds where the club system refuses the e-mail address, because another contact has it.
func TestKnownStartsAgain(t *testing.T) {
	t.Parallel()
	known := visitor
	known.Email = "prospect@example.com"
	startsAgain(t, &known)
}

func startsAgain(t *testing.T, person *flows.Person) {
	t.Helper()
	for _, plan := range []frontdesktest.Fault{{Permanent: true}, {Permanent: true, DropResponse: true}} {
		for failed := true; failed && !t.Failed(); {
			plan.Message++
			t.Run(fmt.Sprintf("%+v", plan), func(t *testing.T) { failed = startAgain(t, plan, person) }) // ends the world, too
		}
		if plan.Message < 10 {
			t.Errorf("there are only %d messages", plan.Message)
		}
	}
}

// startAgain reports whether the start came to the message at which its gateway dies.
func startAgain(t *testing.T, plan frontdesktest.Fault, person *flows.Person) bool {
	t.Helper()
	world := newWorld(t)
	world.uniqueEmail("all")
	start := world.Clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	in := registration.StartRequest{
		ID:          uuid.NewString(),
		ClientToken: "demo",
		ClubID:      "11",
		Channel:     "web",
		Person:      person,
		Items:       []flows.NewItem{{OfferID: "201", StartDate: start}},
	}
	wire := frontdesktest.NewMessageProxy(world, plan)
	doomed := world.Gateway(gatewayOptions{Outside: wire.Forward(world.Address), RedisURL: world.RedisOver(wire)})
	count := world.made()
	_, _, err := doomed.Registrations.Start(t.Context(), in)
	in.Again = true
	world.Clock.Advance(flows.ArriveWithin + time.Second)
	view, token, again := world.Gateway().Registrations.Start(t.Context(), in)
	if again != nil {
		t.Fatalf("%v, then %v", err, again)
	}
	view, err = world.Gateway().Registrations.Get(t.Context(), view.ID, token)
	if err != nil || len(view.Items) != 1 {
		t.Fatalf("the new token gets %v", err)
	}
	if contacts, sales := count(); contacts != 1 || sales > 2 {
		t.Errorf("there are %d contacts and %d sales", contacts, sales)
	}
	world.expectCart(view, "Quarter Pass, paid once")
	return wire.Triggered()
}

// TestSamePersonAgain: a browser repeats the buyer's details while the contact cannot be read. That neither makes another
// contact and sale, nor drops the mandate that the buyer has signed.
func TestSamePersonAgain(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	g := world.Gateway()
	id, token := world.debtor(g, visitor.Mobile)
	must(t, func() (flows.View, error) { return g.Registrations.CreateMandate(t.Context(), id, token, account) })
	world.expectSignature(g, id, token, flows.SignatureSigned)
	count := world.made()
	again := func() (flows.View, error) { return g.Registrations.PutPerson(t.Context(), id, token, visitor) }
	world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/contacts/*"}, Kind: "error_before", Times: new(1)})
	if _, err := again(); flows.CodeOf(err) != flows.ClubSystemUnavailable {
		t.Errorf("the contact cannot be read: %v", err)
	}
	view := must(t, again)
	if contacts, sales := count(); contacts != 0 || sales != 0 || view.Mandate == nil || view.Mandate.State != flows.SignatureSigned {
		t.Errorf("%d contacts and %d sales were made, and the mandate is %+v", contacts, sales, view.Mandate)
	}
}
