package clubsim_test

import (
	"net/url"
	"testing"
	"time"
)

// TestUniqueEmail: the setting decides which contacts may have an e-mail address that another one has, in whichever club.
func TestUniqueEmail(t *testing.T) {
	const prospect, temporary = "prospect@example.com", "alex@example.com" // whose addresses they are
	for _, test := range []struct {
		setting, email, status string
		refused                bool
	}{
		{"off", prospect, "prospect", false},
		{"all", prospect, "temp", true},
		{"all", "Prospect@Example.com", "prospect", true},
		{"all", temporary, "temp", true},
		{"all", "new@example.com", "temp", false},
		{"all", "", "temp", false},
		{"exceptTemp", prospect, "temp", false},
		{"exceptTemp", prospect, "prospect", true},
		{"exceptTemp", temporary, "prospect", false},
	} {
		t.Run(test.setting+" "+test.email+" "+test.status, func(t *testing.T) {
			client := newTestClient(t, "demo-unique")
			client.newContact(body{"email": temporary})
			other := client.relative(client.newContact(body{"email": "other@example.com", "status": test.status}))
			client.control("PUT", "settings", body{"uniqueEmail": test.setting}).want(200)
			before := len(client.world.Contacts())
			details := body{"familyName": "A", "givenName": "B", "clubId": client.club, "email": test.email, "status": test.status}
			if !test.refused {
				client.post("contacts", details).want(201)
				return
			}
			client.post("contacts", details).want(422).wantCode("api.error.contact.email-already-used")
			client.put(other, body{"email": test.email}).want(422).wantCode("api.error.contact.email-already-used")
			client.put(other, body{"email": "other@example.com"}).want(200)
			if after := len(client.world.Contacts()); after != before {
				t.Errorf("the refusal made %d contacts", after-before)
			}
		})
	}
	newTestClient(t, "demo-unique").control("PUT", "settings", body{"uniqueEmail": "some"}).want(400)
}

// TestRequireEmail: with the setting, a contact is neither created without an e-mail address nor loses it.
func TestRequireEmail(t *testing.T) {
	client := newTestClient(t, "demo-require")
	details := body{"familyName": "A", "givenName": "B", "clubId": client.club}
	client.post("contacts", details).want(201)
	client.control("PUT", "settings", body{"requireEmail": true}).want(200)
	client.post("contacts", details).want(400).wantField("email")
	details["email"] = "a@example.com"
	made := client.relative(client.post("contacts", details).want(201).text("@id"))
	client.put(made, body{"email": nil}).want(400).wantField("email")
	client.put(made, body{"givenName": "C"}).want(200)
	client.control("PUT", "settings", body{"requireEmail": false}).want(200)
	client.put(made, body{"email": nil}).want(200)
	if read := client.get(made); read.json["email"] != nil || read.text("givenName") != "C" {
		t.Errorf("it is %s", read.raw)
	}
}

// TestContactState: with the setting, the status has another name, in the record and in the request, and a customer is a client.
func TestContactState(t *testing.T) {
	client := newTestClient(t, "demo-state")
	client.control("PUT", "settings", body{"contactStatus": "state"}).want(200)
	for id, state := range map[string]string{"contacts/1001": "client", "contacts/1003": "prospect", "contacts/1005": "banned"} {
		if read := client.get(id).want(200); read.text("state") != state || read.json["status"] != nil {
			t.Errorf("%s: %s", id, read.raw)
		}
	}
	made := client.post("contacts", body{"familyName": "A", "givenName": "B", "state": "temp"}).want(201) // in the acting club
	if made.text("state") != "temp" || made.text("clubId") != client.club {
		t.Errorf("made %s", made.raw)
	}
}

// TestAnonymise: a contact loses its personal data for good, unless it is an active member, and is found by that.
func TestAnonymise(t *testing.T) {
	client := newTestClient(t, "demo-anonymise")
	client.put("contacts/1001/anonymize", nil).want(400).wantCode("api.error.anonymisation.is-client")
	iri := client.newContact(nil)
	client.control("PUT", "clock", body{"advance": "PT30M"}).want(200)
	for range 2 {
		client.put(client.relative(iri)+"/anonymize", nil).want(200)
	}
	read := client.get(client.relative(iri)).want(200)
	for _, name := range []string{"email", "mobile", "address", "gender", "birthDate"} {
		if read.json[name] != nil {
			t.Errorf("it still has %s: %v", name, read.json[name])
		}
	}
	if read.json["isAnonymous"] != true || read.text("familyName") == "Martin" || client.get("contacts/1001").json["isAnonymous"] != false {
		t.Errorf("it is %s", read.raw)
	}
	if events := client.world.Events(); events[len(events)-1].Event != "contact.updated" {
		t.Errorf("the last event is %+v", events[len(events)-1])
	}
	changed, later := today.Add(30*time.Minute), today.Add(time.Hour)
	for query, found := range map[string]bool{
		"isAnonymous=true": true, "isAnonymous=false": false,
		"isAnonymous=true&updatedAt[after]=" + changed.Format(time.RFC3339): true,
		"updatedAt[after]=" + changed.Format(time.DateOnly):                 true,
		"updatedAt[after]=" + later.Format(time.RFC3339):                    false,
	} {
		list := client.get("contacts?" + query).want(200).members()
		has := false
		for _, contact := range list {
			has = has || contact["@id"] == iri
		}
		if has != found {
			t.Errorf("%s: %v", query, list)
		}
	}
	client.get("contacts?updatedAt[after]=" + url.QueryEscape("last week")).want(400).wantField("updatedAt[after]")
}
