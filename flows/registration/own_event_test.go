package registration_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/url"
	"slices"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/registration"
	"frontdesk/upstream/club"
)

// published keeps the events of a gateway, of which each can be published once.
type published struct {
	events map[string]flows.OwnEvent // by id
	fail   bool
}

// announcer is a gateway that publishes.
func (w *world) announcer() (*gateway, *published) {
	w.Helper()
	p := &published{events: map[string]flows.OwnEvent{}}
	return w.Gateway(gatewayOptions{Events: registration.OwnEvents{
		IsDue: func(_ context.Context, name, subject string) (bool, error) {
			_, known := p.events[flows.OwnEventID(name, subject)]
			return !known, nil
		},
		Publish: func(_ context.Context, event flows.OwnEvent) error {
			if p.fail {
				return flows.StorageFailed(io.ErrUnexpectedEOF)
			}
			p.events[event.ID] = event
			return nil
		},
	}}), p
}

func (p *published) names() (names []string) {
	for event := range maps.Values(p.events) {
		names = append(names, event.Type)
	}
	slices.Sort(names)
	return names
}

// allow has a contact agree to the club's advertising by e-mail, and refuse it by text message.
func (w *world) allow(contact club.IRI) {
	w.Helper()
	for _, optin := range must(w, func() ([]club.Optin, error) { return w.Club.ListOptins(w.Context(), bastille, contact) }) {
		if optin.Type == club.OptinAdvertising {
			if err := w.Club.UpdateOptin(w.Context(), bastille, optin.IRI, optin.Channel == "email"); err != nil {
				w.Fatal(err)
			}
		}
	}
}

// refreshNow reads a registration again, as the sweep does, and returns when that is due next.
func (w *world) refreshNow(g *gateway, id string) time.Duration {
	w.Helper()
	next := must(w, func() (time.Time, error) { return g.Registrations.Refresh(w.Context(), id) })
	return next.Sub(w.Clock.Now())
}

// TestAbandonedRegistration: an hour after the last change, a registration whose contact has agreed to advertising is announced once,
// with a link that continues it.
func TestAbandonedRegistration(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway, events := world.announcer()
	r := world.Registered(gateway)
	world.allow(r.Contact.IRI)
	world.Clock.Advance(50 * time.Minute)
	if next := world.refreshNow(gateway, r.ID); len(events.events) > 0 || next > 11*time.Minute {
		t.Fatalf("after 50 minutes: %v, and the next refresh is in %s", events.names(), next)
	}
	world.Clock.Advance(11 * time.Minute)

	// The event is lost with the gateway, and published by another one: with the same link.
	events.fail = true
	if _, err := gateway.Registrations.Refresh(t.Context(), r.ID); err == nil {
		t.Error("the loss is not noticed")
	}
	stored, _, err := gateway.Store.Registration(t.Context(), r.ID)
	if err != nil || stored.Resume == nil {
		t.Fatalf("the link: %+v, %v", stored, err)
	}
	events.fail = false
	world.Clock.Advance(time.Minute)
	world.refreshNow(gateway, r.ID)
	event := events.events[flows.OwnEventID(flows.RegistrationAbandoned, r.ID)]
	data := world.dataOf(event)
	if data["contactId"] != r.Contact.IRI.ID() || data["registrationId"] != r.ID || len(data["channels"].([]any)) != 1 {
		t.Fatalf("%+v", data)
	}
	link, err := url.Parse(data["resumeUrl"].(string))
	if err != nil || link.Host != "club.example" {
		t.Fatalf("%v, %v", link, err)
	}
	world.Clock.Advance(6 * time.Hour)
	world.refreshNow(gateway, r.ID)
	view, _ := resumed(t, gateway, link.Query().Get("resume"))
	if view.ID != r.ID || len(events.events) != 1 {
		t.Errorf("it leads to %s, after %v", view.ID, events.names())
	}
	world.Clock.Advance(6 * time.Hour)
	world.refreshNow(gateway, r.ID)
	_, _, err = gateway.Registrations.Resume(t.Context(), "demo", link.Query().Get("resume"))
	if flows.CodeOf(err) != flows.ResumptionInvalid {
		t.Errorf("the link is used twice: %v", err)
	}
}

// TestNoReminder: nothing is announced of a visitor who has not agreed to advertising, has a link already, has given up, or is not known
// to be the contact.
func TestNoReminder(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*world, *gateway, *flows.Registration){
		"no consent": func(*world, *gateway, *flows.Registration) {},
		"a link": func(w *world, g *gateway, r *flows.Registration) {
			w.allow(r.Contact.IRI)
			w.Clock.Advance(30 * time.Minute)
			if _, err := g.Registrations.NewResumeLink(w.Context(), r.ID, holderToken); err != nil {
				w.Fatal(err)
			}
		},
		"given up": func(w *world, g *gateway, r *flows.Registration) {
			w.allow(r.Contact.IRI)
			if _, err := g.Registrations.Abandon(w.Context(), r.ID, holderToken); err != nil {
				w.Fatal(err)
			}
		},
		"merged": func(w *world, g *gateway, r *flows.Registration) {
			w.allow(r.Contact.IRI)
			stored, _, err := g.Store.Registration(w.Context(), r.ID)
			if err == nil {
				stored.Contact.Merged = true
				err = g.Store.SaveRegistration(w.Context(), stored)
			}
			if err != nil {
				w.Fatal(err)
			}
		},
		"paid": func(w *world, g *gateway, r *flows.Registration) {
			w.allow(r.Contact.IRI)
			if _, err := g.Pay(w.Context(), r.ID); err != nil {
				w.Fatal(err)
			}
		},
		"bought with another registration": func(w *world, g *gateway, r *flows.Registration) {
			w.allow(r.Contact.IRI)
			w.Clock.Advance(time.Minute)
			again := w.Registered(g)
			for _, id := range []string{r.ID, again.ID} {
				stored, _, err := g.Store.Registration(w.Context(), id)
				if err == nil {
					stored.PersonPseudonyms, stored.AlikePseudonyms = []string{"address of Ada"}, []string{"Ada"}
					err = g.Store.SaveRegistration(w.Context(), stored)
				}
				if err != nil {
					w.Fatal(err)
				}
			}
			if _, err := g.Pay(w.Context(), again.ID); err != nil {
				w.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway, events := world.announcer()
			r := world.Registered(gateway)
			prepare(world, gateway, r)
			world.Clock.Advance(2 * time.Hour)
			world.refreshNow(gateway, r.ID)
			if len(events.events) > 0 {
				t.Errorf("published: %v", events.names())
			}
		})
	}
}

// TestSignedMandateIsAnnounced: a mandate is announced at once when it is signed. If that fails, a refresh does it.
func TestSignedMandateIsAnnounced(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]bool{"at once": false, "later": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			gateway, events := world.announcer()
			id, token := world.debtor(gateway, "+33698765432")
			must(t, func() (flows.View, error) {
				return gateway.Registrations.CreateMandate(t.Context(), id, token, account)
			})
			events.fail = fail
			world.expectSignature(gateway, id, token, flows.SignatureSigned)
			if at := len(events.events); (at == 0) != fail {
				t.Fatalf("at once: %v", events.names())
			}
			if world.Redis.ZScore(t.Context(), "fd:{refreshes}:registrations", id).Val() == 0 {
				t.Error("it is never refreshed")
			}
			events.fail = false
			world.refreshNow(gateway, id)
			if names := events.names(); !slices.Equal(names, []string{"mandate.signed"}) {
				t.Fatalf("published: %v", names)
			}
			for event := range maps.Values(events.events) {
				if data := world.dataOf(event); data["registrationId"] != id || data["mandateId"] == "" || data["contactId"] == "" {
					t.Errorf("%+v", data)
				}
			}
		})
	}
}

// dataOf returns the data of an event as it is sent.
func (w *world) dataOf(event flows.OwnEvent) (data map[string]any) {
	w.Helper()
	text, err := json.Marshal(event.Data)
	if err == nil {
		err = json.Unmarshal(text, &data)
	}
	if err != nil {
		w.Fatal(err)
	}
	return data
}
