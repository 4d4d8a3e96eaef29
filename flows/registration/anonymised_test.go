package registration_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"frontdesk/flows"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// TestAnonymisedContact: what Frontdesk has of a contact that was anonymised at the club system is erased when the contact
// is read. Other registrations stay.
func TestAnonymisedContact(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	open, _ := world.Visited(gateway)
	other, otherToken := world.Visited(gateway)
	world.anonymise(open.Contact.IRI)
	if _, err := gateway.Registrations.Refresh(t.Context(), open.ID); err != nil && flows.CodeOf(err) != flows.Conflict {
		t.Logf("refreshed: %v", err) // it was erased meanwhile
	}
	stored, _, err := gateway.Store.Registration(t.Context(), open.ID)
	if err != nil || !stored.Erased || stored.Contact != nil || len(stored.PersonPseudonyms) > 0 {
		t.Errorf("%v: there is %+v", err, stored)
	}
	if view, err := gateway.Registrations.Get(t.Context(), other.ID, otherToken); err != nil || view.Contact == nil {
		t.Errorf("another registration: %v", err)
	}
}

// TestAnotherContactsRecord: the club system's response for a contact is the record of another one, whose data was removed. Nothing of the
// first one is erased.
func TestAnotherContactsRecord(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	gateway := world.Gateway()
	open, token := world.Visited(gateway)
	world.Fault(clubsim.Fault{
		Match: clubsim.FaultMatch{Method: "GET", Path: "/contacts/" + open.Contact.IRI.ID()},
		Kind:  "foreign_json",
		Body:  json.RawMessage(`{"@id": "/demo/contacts/999999", "@type": "Person", "status": "temp", "isAnonymous": true}`),
	})
	if _, err := gateway.Registrations.Refresh(t.Context(), open.ID); flows.CodeOf(err) != flows.ClubSystemFailed {
		t.Errorf("refreshed: %v", err)
	}
	world.Fault()
	view, err := gateway.Registrations.Get(t.Context(), open.ID, token)
	if err != nil || view.Contact == nil || view.Contact.IRI != open.Contact.IRI {
		t.Errorf("the registration is %+v, %v", view.Registration, err)
	}
}

// anonymise removes a contact's personal data at the club system.
func (w *world) anonymise(contact club.IRI) {
	w.Helper()
	address := "http://" + w.Address + "/sim"
	form := url.Values{
		"grant_type":    {"client_credentials"},
		"client_id":     {clubsim.DemoClientID},
		"client_secret": {clubsim.DemoClientSecret},
	}
	var token struct {
		Access string `json:"access_token"`
	}
	w.request("POST", address+"/oauth/v2/token", form.Encode(), map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, &token)
	w.request("PUT", address+string(contact)+"/anonymize", "", map[string]string{
		"Authorization":          "Bearer " + token.Access,
		"X-User-Club-Id":         string(bastille.Club),
		"X-User-Network-Node-Id": string(bastille.Node),
	}, new(struct{}))
}

func (w *world) request(method, address, body string, headers map[string]string, into any) {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), method, address, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	request.Header.Set("X-Gateway-Api-Key", clubsim.DemoGatewayKey)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil || response.StatusCode != http.StatusOK {
		w.Fatalf("%s %s: %d, %v", method, address, response.StatusCode, err)
	}
}
