package registration_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/registration"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// uniqueEmail sets which contacts may have an e-mail address that another one has.
func (w *world) uniqueEmail(setting string) {
	w.Helper()
	if err := w.Sim.Configure(func(settings *clubsim.Settings) { settings.UniqueEmail = setting }); err != nil {
		w.Fatal(err)
	}
}

// with returns the visitor with another e-mail address.
func with(email string) flows.Person {
	person := visitor
	person.Email = email
	return person
}

// start starts a registration of a person with one offer.
func (w *world) start(g *gateway, person flows.Person) (id, token string) {
	w.Helper()
	view, token, err := g.Registrations.Start(w.Context(), registration.StartRequest{
		ClientToken: "demo",
		ClubID:      "11",
		Channel:     "web",
		Person:      &person,
		Items:       []flows.NewItem{{OfferID: "201", StartDate: w.Clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)}},
	})
	if err != nil {
		w.Fatal(err)
	}
	return view.ID, token
}

// payFor pays for a registration by card.
func (w *world) payFor(g *gateway, id, token string) *flows.Payment {
	w.Helper()
	payment := must(w, func() (*flows.Payment, error) {
		return g.PayWith(w.Context(), id, token, flows.StartPayment{Method: flows.ByCard})
	})
	w.Confirm(payment, goodCard)
	if payment = w.Advance(g, payment); payment.State != flows.Recorded {
		w.Fatalf("%s (%s)", payment.State, payment.Reason)
	}
	return payment
}

// learnRule has the club system refuse a member's e-mail address, so that the gateways know its rule.
func (w *world) learnRule(g *gateway) { w.start(g, with("customer@example.com")) }

// stored reads a registration.
func (w *world) stored(g *gateway, id string) *flows.Registration {
	w.Helper()
	return must(w, func() (*flows.Registration, error) {
		read, _, err := g.Store.Registration(w.Context(), id)
		return read, err
	})
}

// emailOf reads a contact's e-mail address at the club system.
func (w *world) emailOf(contact club.IRI) string {
	w.Helper()
	return must(w, func() (club.Contact, error) { return w.Club.GetContact(w.Context(), bastille, contact) }).Email
}

// refresh refreshes the registrations that are due, each on a gateway of its own, and returns the first error.
func (w *world) refresh() (err error) {
	w.Helper()
	g, now := w.Gateway(), w.Clock.Now()
	due := must(w, func() ([]string, error) {
		return g.Store.DueRefreshes(w.Context(), now, now.Add(time.Minute), 20, time.Second)
	})
	for _, id := range due {
		next, failure := w.Gateway().Registrations.Refresh(w.Context(), id)
		if failure != nil && err == nil {
			err = failure
		}
		if failure == nil {
			if err := g.Store.FinishRefresh(w.Context(), id, now.Add(time.Minute), next); err != nil {
				w.Fatal(err)
			}
		}
	}
	return err
}

// calls lists the calls since a number of requests, without identifiers.
func (w *world) calls(since int) (seen []string) {
	for _, request := range w.Sim.Requests()[since:] {
		parts := strings.Split(request.Path, "/")
		for i, part := range parts {
			if match, _ := path.Match("[0-9]*", part); match {
				parts[i] = "*"
			}
		}
		seen = append(seen, fmt.Sprint(request.Method, " ", strings.Join(parts, "/"), " ", request.Status))
	}
	slices.Sort(seen) // some are concurrent
	return seen
}

// TestPaymentOfKnownPerson: a payment makes the same calls for a stranger as for a member before its response, whichever its method.
// Afterwards the stranger's contact has the e-mail address, the member's has none, and the payment says so.
func TestPaymentOfKnownPerson(t *testing.T) {
	t.Parallel()
	for _, method := range []flows.StartPayment{{Method: flows.ByCard}, {Method: flows.Deferred, DueDate: "tomorrow"}} {
		t.Run(string(method.Method), func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			world.uniqueEmail("all")
			g := world.Gateway()
			world.learnRule(g)
			if method.DueDate != "" {
				method.DueDate = world.Clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)
			}
			var before []string
			for _, email := range []string{visitor.Email, "prospect@example.com"} {
				id, token := world.start(g, with(email))
				since := len(world.Sim.Requests())
				payment := must(t, func() (*flows.Payment, error) { return g.PayWith(t.Context(), id, token, method) })
				calls := world.calls(since)
				if before == nil {
					before = calls
				}
				if got, want := strings.Join(calls, "\n"), strings.Join(before, "\n"); got != want || strings.Contains(got, "PUT") {
					t.Errorf("a stranger's payment makes the calls\n%s\nand a known person's\n%s", want, got)
				}
				if err := world.refresh(); err != nil {
					t.Fatal(err)
				}
				known, contact := email != visitor.Email, world.stored(g, id).Contact
				if got := world.emailOf(contact.IRI); (got == "") != known || contact.AwaitsEmail() {
					t.Errorf("%s: the contact has %q, the registration %+v", email, got, contact)
				}
				if got := world.Stored(g, payment.ID).EmailInUse; got != known {
					t.Errorf("%s: the payment says %v", email, got)
				}
				since = len(world.Sim.Requests())
				if _, err := g.Registrations.Refresh(t.Context(), id); err != nil || strings.Contains(strings.Join(world.calls(since), ""), "PUT") {
					t.Errorf("%s: the next refresh makes the calls %v, %v", email, world.calls(since), err)
				}
			}
		})
	}
}

// TestEmailIsPutAgain: whatever becomes of the call, the next refresh continues on another gateway. An address that staff have put on the
// contact stays.
func TestEmailIsPutAgain(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"error_before", "error_after", "drop_after", "foreign_page", "staff"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			world.uniqueEmail("all")
			g := world.Gateway()
			world.learnRule(g)
			id, token := world.start(g, visitor)
			world.payFor(g, id, token)
			want := visitor.Email
			if kind == "staff" {
				want = "corrected@example.com"
				if err := world.Club.SetContactEmail(t.Context(), bastille, world.stored(g, id).Contact.IRI, want); err != nil {
					t.Fatal(err)
				}
			} else {
				world.Fault(clubsim.Fault{Match: clubsim.FaultMatch{Method: "PUT", Path: "/contacts/*"}, Kind: kind, Times: new(1)})
				if err := world.refresh(); err != nil || !world.stored(g, id).Contact.AwaitsEmail() {
					t.Errorf("the first attempt: %v, %+v", err, world.stored(g, id).Contact)
				}
				world.Fault()
				world.Clock.Advance(2 * time.Minute)
			}
			if err := world.refresh(); err != nil {
				t.Fatal(err)
			}
			contact := world.stored(g, id).Contact
			if got := world.emailOf(contact.IRI); got != want || contact.Email != "" || contact.EmailInUse {
				t.Errorf("the contact has %q, the registration %+v", got, contact)
			}
		})
	}
}

// TestEmailOfBuyerAtDesk: a buyer who pays at the club instead gets the address, too. Others do not.
func TestEmailOfBuyerAtDesk(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	world.uniqueEmail("all")
	g := world.Gateway()
	world.learnRule(g)
	id, _ := world.start(g, visitor)
	refreshed := func() *flows.Contact {
		t.Helper()
		if _, err := g.Registrations.Refresh(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return world.stored(g, id).Contact
	}
	if contact := refreshed(); world.emailOf(contact.IRI) != "" || !contact.AwaitsEmail() {
		t.Errorf("without a payment: %+v", contact)
	}
	world.PayAtDesk(&flows.Payment{Sale: world.stored(g, id).Sale})
	if contact := refreshed(); world.emailOf(contact.IRI) != visitor.Email || contact.Email != "" {
		t.Errorf("after the payment: %+v", contact)
	}
}

// TestOwnEarlierContact: a person who corrects a detail does not meet their own earlier contact, neither before the club system's rule is
// known nor after a payment that was given up.
func TestOwnEarlierContact(t *testing.T) {
	t.Parallel()
	for _, cancelled := range []bool{false, true} {
		for _, status := range []string{"temp", "prospect"} {
			t.Run(fmt.Sprintf("cancelled %v, by now %s", cancelled, status), func(t *testing.T) {
				t.Parallel()
				world := newWorld(t)
				world.uniqueEmail("all")
				g := world.Gateway()
				if cancelled {
					world.learnRule(g)
				}
				id, token := world.start(g, visitor)
				if cancelled {
					must(t, func() (*flows.Payment, error) {
						return g.PayWith(t.Context(), id, token, flows.StartPayment{Method: flows.ByCard})
					})
					if err := world.refresh(); err != nil {
						t.Fatal(err)
					}
					must(t, func() (flows.View, error) { return g.Registrations.CancelPayment(t.Context(), id, token) })
				}
				earlier := world.stored(g, id).Contact.IRI
				if got := world.emailOf(earlier); got != visitor.Email {
					t.Fatalf("the earlier contact has %q", got)
				}
				for _, name := range []string{"Lovelace", "Byron"} {
					corrected := visitor
					corrected.FamilyName = name
					must(t, func() (flows.View, error) { return g.Registrations.PutPerson(t.Context(), id, token, corrected) })
				}
				if status != "temp" {
					world.setStatus(earlier, status)
				}
				payment := world.payFor(g, id, token)
				if err := world.refresh(); err != nil {
					t.Fatal(err)
				}
				own, contact := status == "temp", world.stored(g, id).Contact
				if contact.IRI == earlier || (world.emailOf(contact.IRI) == visitor.Email) != own || (world.emailOf(earlier) == "") != own {
					t.Errorf("the earlier contact has %q, the buyer's %q", world.emailOf(earlier), world.emailOf(contact.IRI))
				}
				if got := world.Stored(g, payment.ID).EmailInUse; got == own || contact.EmailInUse == own {
					t.Errorf("the payment says %v, the registration %+v", got, contact)
				}
			})
		}
	}
}

// TestEmailOfMigratedContact: an account without an e-mail address gets the one that its person entered.
func TestEmailOfMigratedContact(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	world.uniqueEmail("all")
	g := world.Gateway()
	world.learnRule(g)
	prospect := world.Persona("prospect")
	chain := club.Scope{ClientToken: "demo", Club: bastille.Club, Node: "/demo/network_nodes/1"}
	if err := world.Club.SetContactEmail(t.Context(), chain, club.IRI(prospect.ContactID), ""); err != nil {
		t.Fatal(err)
	}
	id, token := world.start(g, visitor)
	must(t, func() (flows.View, error) {
		return g.Registrations.Migrate(t.Context(), id, token, prospect.AccessToken)
	})
	world.payFor(g, id, token)
	if err := world.refresh(); err != nil {
		t.Fatal(err)
	}
	if got := world.emailOf(club.IRI(prospect.ContactID)); got != visitor.Email {
		t.Errorf("the account has %q", got)
	}
}

// setStatus changes a contact's status at the club system, as staff do.
func (w *world) setStatus(contact club.IRI, status string) {
	w.Helper()
	before := string(w.Sim.Snapshot())
	_, after, found := strings.Cut(before, fmt.Sprintf(`"id":%s,`, contact.ID()))
	if !found {
		w.Fatalf("no %s in %s", contact, before)
	}
	changed := strings.Replace(after, `"status":"temp"`, fmt.Sprintf(`"status":%q`, status), 1)
	if err := w.Sim.Restore([]byte(strings.TrimSuffix(before, after) + changed)); err != nil {
		w.Fatal(err)
	}
}
