package journey_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// storedContact is a contact as the club system keeps it.
type storedContact struct {
	GivenName, FamilyName, BirthDate, Email, Mobile, Status string
	ClubID                                                  int
	Address                                                 map[string]string
	Deleted                                                 bool
}

// visitors returns the contacts that registrations created, oldest first.
func visitors(t *testing.T, env frontdesktest.Env) []storedContact {
	t.Helper()
	return slices.DeleteFunc(contactsOf(t, env), func(c storedContact) bool { return c.Email != frontdesktest.Person().Email })
}

// contactsOf returns all contacts of the club system, oldest first.
func contactsOf(t *testing.T, env frontdesktest.Env) []storedContact {
	t.Helper()
	var snapshot struct {
		State struct {
			Contacts struct{ Rows []storedContact }
		}
	}
	if err := json.Unmarshal(env.Upstreams.Sim.Snapshot(), &snapshot); err != nil {
		t.Fatal(err)
	}
	return snapshot.State.Contacts.Rows
}

// another returns a person with the same phone and another name.
func another() *api.Person {
	person := frontdesktest.Person()
	person.GivenName = "Grace"
	return person
}

// TestCorrectPerson checks that a buyer can correct one field without typing any other again.
func TestCorrectPerson(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id + "/person"
	if contact := registration.Contact; frontdesktest.Value(contact.GivenName) != "Ada" || frontdesktest.Value(contact.MobileEnding) != "78" {
		t.Errorf("the contact is %+v", contact)
	}
	masked := registration.Contact.Masked
	if masked == nil || frontdesktest.Value(masked.FamilyName) != "M•••" || frontdesktest.Value(masked.BirthYear) != "1990" ||
		frontdesktest.Value(masked.Email) != "a•••@example.com" || frontdesktest.Value(masked.PostalCode) != "7•••" {
		t.Errorf("the masked details are %+v", masked)
	}
	var corrected api.Registration
	client.Do("PATCH", path, `{"mobile":"+33687654321","address":{"street":"14 rue des Lilas"}}`).Into(http.StatusOK, &corrected)
	if corrected.Contact.Number == registration.Contact.Number || frontdesktest.Value(corrected.Contact.MobileEnding) != "21" ||
		len(corrected.Cart.Items) != len(registration.Cart.Items) || corrected.Cart.DueNow != registration.Cart.DueNow {
		t.Errorf("the registration is %+v", corrected)
	}
	created := visitors(t, env)
	want := created[0]
	want.Mobile, want.Address = "+33687654321", maps.Clone(want.Address)
	want.Address["streetAddress"] = "14 rue des Lilas"
	if len(created) != 2 || !reflect.DeepEqual(created[1], want) {
		t.Errorf("the club system has %v, want %v", created[1:], want)
	}

	client.Do("PATCH", path, `{"mobile":"+33687654321"}`).Into(http.StatusOK, &corrected)
	key := frontdesktest.Key("")
	for range 2 {
		client.Do("PATCH", path, `{"givenName":"Grace"}`, key).Into(http.StatusOK, &corrected)
	}
	client.Do("PATCH", path, `{"givenName":"Jean"}`, key).Problem(api.KeyReused)
	if n := len(visitors(t, env)); n != 3 {
		t.Errorf("%d contacts were created: one for nothing, or two for one key", n)
	}
	client.Do("PUT", path, frontdesktest.Person(), key).Into(http.StatusOK, &corrected)
	key = frontdesktest.Key("")
	if client.Do("PUT", path, frontdesktest.Person(), key).Status != http.StatusOK ||
		client.Do("PUT", path, frontdesktest.Person(), key).Header.Get("Idempotent-Replayed") != "true" {
		t.Error("PUT with a key is not replayed")
	}
	client.Confirm(client.Pay(registration.Id), frontdesktest.ApprovedCard)
	client.Await(registration.Id, api.Completed)
	env.ExpectOnePayment(t, registration.Cart.DueNow.Amount)
}

// TestBadCorrections checks that each invalid value is refused at its own field, and creates nothing.
func TestBadCorrections(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	empty := client.RegisterWith(client.Club(), nil)
	client.Do("PATCH", "/v1/registrations/"+empty.Id+"/person", `{"givenName":"Grace"}`).Problem(api.PersonRequired)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id + "/person"
	for body, pointer := range map[string]string{
		`{}`:                               "",
		`{"mobile":null}`:                  "/mobile",
		`{"mobile":"0612"}`:                "/mobile",
		`{"birthDate":"2999-01-01"}`:       "/birthDate",
		`{"givenName":"  "}`:               "/givenName",
		`{"nickname":"Gigi"}`:              "/nickname",
		`{"address":null}`:                 "/address",
		`{"address":{}}`:                   "/address",
		`{"address":{"postalCode":"SW1"}}`: "/address/postalCode",
	} {
		problem := client.Do("PATCH", path, body).Problem(api.InvalidRequest)
		if errors := frontdesktest.Value(problem.Errors); len(errors) != 1 || frontdesktest.Place(errors[0]) != pointer {
			t.Errorf("%s: %+v", body, errors)
		}
	}
	client.Do("PATCH", path, `{"address":{"country":"GB","postalCode":"SW1A 1AA"}}`).Into(http.StatusOK, nil)
	problem := client.Do("PATCH", path, `{"address":{"country":"FR"}}`).Problem(api.InvalidRequest)
	if errors := frontdesktest.Value(problem.Errors); len(errors) != 1 || frontdesktest.Place(errors[0]) != "/address/postalCode" {
		t.Errorf("a kept postal code of another country: %+v", errors)
	}
	env.SetFaults(t, clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/sales/*/articles"}, Kind: "error_before", Status: 422})
	if problem := client.Do("PATCH", path, `{"givenName":"Grace"}`).Problem(api.OfferNotAvailable); problem.Errors != nil {
		t.Errorf("the body has no items, and the problem points at %+v", *problem.Errors)
	}
	env.SetFaults(t)
	before := len(visitors(t, env))
	env.SetFaults(t, clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/contacts/*"}, Kind: "error_before"})
	client.Do("PATCH", path, `{"givenName":"Grace"}`).Problem(api.ClubSystemUnavailable)
	env.SetFaults(t)
	stranger := frontdesktest.NewClient(t, client.URL)
	stranger.Do("PATCH", path, `{"givenName":"Eve"}`).Problem(api.TokenRequired)
	client.Pay(registration.Id)
	client.Do("PATCH", path, `{"givenName":"Grace"}`).Problem(api.CartFrozen)
	if n := len(visitors(t, env)); n != before {
		t.Errorf("%d contacts were created", n-before)
	}
}

// TestSamePerson checks that details which the club has already create no contact, and that others are limited.
func TestSamePerson(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t, "FRONTDESK_RATE_LIMITS=on")
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id + "/person"
	var same api.Registration
	for range 2 {
		response := client.Do("PUT", path, frontdesktest.Person())
		response.Into(http.StatusOK, &same)
		if policies := response.Header.Values("RateLimit-Policy"); len(policies) != 3 || policies[2] != `"people";q=30;w=3600` {
			t.Errorf("the limits are %v", policies)
		}
	}
	if n := len(visitors(t, env)); n != 1 || same.Contact.Number != registration.Contact.Number {
		t.Errorf("%d contacts were created; the registration is %+v's", n, same.Contact)
	}
	client.Do("PUT", path, another()).Into(http.StatusOK, &same)
	if n := len(visitors(t, env)); n != 2 || same.Contact.Number == registration.Contact.Number {
		t.Errorf("another person: %d contacts were created; the registration is %+v's", n, same.Contact)
	}
}
