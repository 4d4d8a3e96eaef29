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
	GivenName, FamilyName, BirthDate, Email, Mobile string
	Address                                         map[string]string
}

// visitors returns the contacts that registrations created, oldest first.
func visitors(t *testing.T, s frontdesktest.Env) []storedContact {
	t.Helper()
	var snapshot struct {
		State struct {
			Contacts struct{ Rows []storedContact }
		}
	}
	if err := json.Unmarshal(s.Upstreams.Sim.Snapshot(), &snapshot); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(snapshot.State.Contacts.Rows, func(c storedContact) bool { return c.Email != frontdesktest.Person().Email })
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
	s := frontdesktest.NewEnv(t)
	_, c := s.Gateway(t)
	registration := c.Register()
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
	c.Do("PATCH", path, `{"mobile":"+33687654321","address":{"street":"14 rue des Lilas"}}`).Into(http.StatusOK, &corrected)
	if corrected.Contact.Number == registration.Contact.Number || frontdesktest.Value(corrected.Contact.MobileEnding) != "21" ||
		len(corrected.Cart.Items) != len(registration.Cart.Items) || corrected.Cart.DueNow != registration.Cart.DueNow {
		t.Errorf("the registration is %+v", corrected)
	}
	created := visitors(t, s)
	want := created[0]
	want.Mobile, want.Address = "+33687654321", maps.Clone(want.Address)
	want.Address["streetAddress"] = "14 rue des Lilas"
	if len(created) != 2 || !reflect.DeepEqual(created[1], want) {
		t.Errorf("the club system has %v, want %v", created[1:], want)
	}

	c.Do("PATCH", path, `{"mobile":"+33687654321"}`).Into(http.StatusOK, &corrected)
	key := frontdesktest.Key("")
	for range 2 {
		c.Do("PATCH", path, `{"givenName":"Grace"}`, key).Into(http.StatusOK, &corrected)
	}
	c.Do("PATCH", path, `{"givenName":"Jean"}`, key).Problem(api.KeyReused)
	if n := len(visitors(t, s)); n != 3 {
		t.Errorf("%d contacts were created: one for nothing, or two for one key", n)
	}
	c.Do("PUT", path, frontdesktest.Person(), key).Into(http.StatusOK, &corrected)
	key = frontdesktest.Key("")
	if c.Do("PUT", path, frontdesktest.Person(), key).Status != http.StatusOK ||
		c.Do("PUT", path, frontdesktest.Person(), key).Header.Get("Idempotent-Replayed") != "true" {
		t.Error("PUT with a key is not replayed")
	}
	c.Confirm(c.Pay(registration.Id), frontdesktest.ApprovedCard)
	c.Await(registration.Id, api.Completed)
	s.ExpectOnePayment(t, registration.Cart.DueNow.Amount)
}

// TestBadCorrections checks that each invalid value is refused at its own field, and creates nothing.
func TestBadCorrections(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	_, c := s.Gateway(t)
	empty := c.RegisterWith(c.Club(), nil)
	c.Do("PATCH", "/v1/registrations/"+empty.Id+"/person", `{"givenName":"Grace"}`).Problem(api.PersonRequired)
	registration := c.Register()
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
		problem := c.Do("PATCH", path, body).Problem(api.InvalidRequest)
		if errors := frontdesktest.Value(problem.Errors); len(errors) != 1 || frontdesktest.Place(errors[0]) != pointer {
			t.Errorf("%s: %+v", body, errors)
		}
	}
	c.Do("PATCH", path, `{"address":{"country":"GB","postalCode":"SW1A 1AA"}}`).Into(http.StatusOK, nil)
	problem := c.Do("PATCH", path, `{"address":{"country":"FR"}}`).Problem(api.InvalidRequest)
	if errors := frontdesktest.Value(problem.Errors); len(errors) != 1 || frontdesktest.Place(errors[0]) != "/address/postalCode" {
		t.Errorf("a kept postal code of another country: %+v", errors)
	}
	s.SetFaults(t, clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/sales/*/articles"}, Kind: "error_before", Status: 422})
	if problem := c.Do("PATCH", path, `{"givenName":"Grace"}`).Problem(api.OfferNotAvailable); problem.Errors != nil {
		t.Errorf("the body has no items, and the problem points at %+v", *problem.Errors)
	}
	s.SetFaults(t)
	before := len(visitors(t, s))
	s.SetFaults(t, clubsim.Fault{Match: clubsim.FaultMatch{Method: "GET", Path: "/contacts/*"}, Kind: "error_before"})
	c.Do("PATCH", path, `{"givenName":"Grace"}`).Problem(api.ClubSystemUnavailable)
	s.SetFaults(t)
	stranger := frontdesktest.NewClient(t, c.URL)
	stranger.Do("PATCH", path, `{"givenName":"Eve"}`).Problem(api.TokenRequired)
	c.Pay(registration.Id)
	c.Do("PATCH", path, `{"givenName":"Grace"}`).Problem(api.CartFrozen)
	if n := len(visitors(t, s)); n != before {
		t.Errorf("%d contacts were created", n-before)
	}
}

// TestSamePerson checks that details which the club has already create no contact, and that others are limited.
func TestSamePerson(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	_, c := s.Gateway(t, "FRONTDESK_RATE_LIMITS=on")
	registration := c.Register()
	path := "/v1/registrations/" + registration.Id + "/person"
	var same api.Registration
	for range 2 {
		response := c.Do("PUT", path, frontdesktest.Person())
		response.Into(http.StatusOK, &same)
		if policies := response.Header.Values("RateLimit-Policy"); len(policies) != 3 || policies[2] != `"people";q=30;w=3600` {
			t.Errorf("the limits are %v", policies)
		}
	}
	if n := len(visitors(t, s)); n != 1 || same.Contact.Number != registration.Contact.Number {
		t.Errorf("%d contacts were created; the registration is %+v's", n, same.Contact)
	}
	c.Do("PUT", path, another()).Into(http.StatusOK, &same)
	if n := len(visitors(t, s)); n != 2 || same.Contact.Number == registration.Contact.Number {
		t.Errorf("another person: %d contacts were created; the registration is %+v's", n, same.Contact)
	}
}
