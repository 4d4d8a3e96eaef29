package club_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// TestEmailUsed: an e-mail address of another contact is refused, whatever the form of the refusal.
func TestEmailUsed(t *testing.T) {
	const code = club.CodeEmailUsed
	for _, test := range []struct {
		status int
		body   string
	}{
		{400, `{"@type": "hydra:Error", "code": "` + code + `"}`},
		{409, `{"message": "` + code + `"}`},
		{422, `{"@type": "ConstraintViolationList", "violations": [{"propertyPath": "email", "message": "` + code + `"}]}`},
		{403, `{"@type": "hydra:Error", "hydra:description": "` + code + `"}`},
		{404, `{"code": "` + code + `"}`},
		{412, `{"code": "` + code + `"}`},
		{409, `{"code": "api.error.contact.not-valid", "violations": [{"propertyPath": "email", "code": "` + code + `"}]}`},
		{422, `{"violations": [{"propertyPath": "mobile", "code": "api.error.mobile"}, {"propertyPath": "email", "code": "` + code + `"}]}`},
	} {
		client := club.New(configured(serve(t, answering(test.status, test.body)).URL))
		_, err := client.CreateContact(t.Context(), demo, club.NewContact{Email: "ada@example.org"})
		wantOutcome(t, err, club.Rejected)
		if !errors.Is(err, club.ErrEmailUsed) {
			t.Errorf("%d %s: %v", test.status, test.body, err)
		}
	}
	client := club.New(configured(serve(t, answering(409, `{"code": "api.error.other"}`)).URL))
	_, err := client.CreateContact(t.Context(), demo, club.NewContact{})
	wantOutcome(t, err, club.Unknown)
}

// TestContactStatus: the status is read from either member, in either's literals. An unknown one stays, and is counted
// and logged once.
func TestContactStatus(t *testing.T) {
	for members, want := range map[string]struct{ status, unknown string }{
		`"status": "customer"`:                    {club.StatusCustomer, ""},
		`"state": "client"`:                       {club.StatusCustomer, ""},
		`"state": "prospect", "status": null`:     {club.StatusProspect, ""},
		`"state": "client", "status": "temp"`:     {club.StatusTemp, ""},
		`"state": "client", "status": "vip"`:      {club.StatusCustomer, "status"},
		`"state": "vip"`:                          {"vip", "state"},
		`"status": {"code": "customer"}`:          {"", "status"},
		`"status": 7, "state": "former_customer"`: {club.StatusFormer, "status"},
		`"number": "7", "identificationValidated": true, "sponsorshipCode": null, "nationalId": null, "channel": "web"`: {"", ""},
	} {
		t.Run(members, func(t *testing.T) {
			var log bytes.Buffer
			cfg := configured(serve(t, answering(200, `{"@id": "/demo/contacts/7", `+members+`}`)).URL)
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			client := club.New(cfg)
			for range 2 {
				if got := must[club.Contact](t)(client.GetContact(t.Context(), demo, "/demo/contacts/7")); got.Status != want.status {
					t.Errorf("it is %q", got.Status)
				}
			}
			if want.unknown == "" {
				equal(t, len(client.Unreadable()), 0)
				return
			}
			equal(t, client.Unreadable(), []club.Unreadable{{Operation: "GetContact", Field: want.unknown, Count: 2}})
			if said := log.String(); strings.Count(said, "left out") != 1 || strings.Contains(said, "vip") {
				t.Errorf("the log is\n%s", said)
			}
		})
	}
}

// TestContactWithState: a contact of an installation with states is read like any other.
func TestContactWithState(t *testing.T) {
	world := newWorld(t, "contacts")
	world.configure(func(settings *clubsim.Settings) { settings.ContactStatus = "state" })
	for persona, status := range map[string]string{"customer": club.StatusCustomer, "former": club.StatusFormer, "banned": club.StatusBanned} {
		for _, known := range world.Personas() {
			if known.Key != persona {
				continue
			}
			contact := must[club.Contact](t)(world.client.GetContact(t.Context(), world.lumen, club.IRI(known.ContactID)))
			if contact.Status != status || contact.Anonymous {
				t.Errorf("%s: %+v", persona, contact)
			}
		}
	}
	equal(t, len(world.client.Unreadable()), 0)
}

// TestContactAmongMany: a contact is found on whichever page it is, also with many others of the same address.
func TestContactAmongMany(t *testing.T) {
	world := newWorld(t, "many-contacts")
	since := world.Now().Add(-time.Minute)
	for _, email := range []string{"", "family@example.org"} {
		details := newcomer(world)
		details.Email = email
		for i := range 120 {
			other := details
			other.GivenName = fmt.Sprint("Ada ", i)
			must[club.Contact](t)(world.client.CreateContact(t.Context(), world.bastille, other))
		}
		made := must[club.Contact](t)(world.client.CreateContact(t.Context(), world.bastille, details))
		found := must[[]club.Contact](t)(world.client.FindContacts(t.Context(), world.bastille, details, since))
		if len(found) != 1 || found[0].IRI != made.IRI {
			t.Errorf("with the address %q, found %+v", email, found)
		}
	}
}

// TestSetContactEmail: an address is set, and refused if another contact has it; an empty one is removed.
func TestSetContactEmail(t *testing.T) {
	world := newWorld(t, "set-email")
	world.configure(func(s *clubsim.Settings) { s.UniqueEmail = "all" })
	contact := world.visitor().IRI
	for _, email := range []string{"new@example.org", "new@example.org", "", "other@example.org"} {
		if err := world.client.SetContactEmail(t.Context(), world.bastille, contact, email); err != nil {
			t.Fatal(err)
		}
		if read := must[club.Contact](t)(world.client.GetContact(t.Context(), world.bastille, contact)); read.Email != email {
			t.Errorf("it has %q, want %q", read.Email, email)
		}
	}
	if err := world.client.SetContactEmail(t.Context(), world.bastille, contact, "prospect@example.com"); !errors.Is(err, club.ErrEmailUsed) {
		t.Errorf("another contact's address: %v", err)
	}
}

// TestContactWithoutEmail: a contact that a lost response was about is found by the time of its creation, if it has no
// e-mail address.
func TestContactWithoutEmail(t *testing.T) {
	world := newWorld(t, "contacts")
	details := club.NewContact{FamilyName: "Testeur", GivenName: "Ada", Club: world.bastille.Club, Status: club.StatusTemp, Address: &paris}
	made := must[club.Contact](t)(world.client.CreateContact(t.Context(), world.bastille, details))
	for since, want := range map[time.Time]int{world.Now().Add(-time.Minute): 1, world.Now().Add(time.Minute): 0} {
		found := must[[]club.Contact](t)(world.client.FindContacts(t.Context(), world.bastille, details, since))
		if len(found) != want || want == 1 && found[0].IRI != made.IRI {
			t.Errorf("found %+v", found)
		}
	}
}
