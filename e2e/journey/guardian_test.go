package journey_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/mail/sink"
)

// guardianClub asks for a guardian of buyers below 18.
const guardianClub = "12"

// minor is a person of sixteen, without a guardian.
func minor() *api.Person {
	person := frontdesktest.Person()
	person.GivenName, person.BirthDate = "Lou", time.Now().AddDate(-16, 0, -1).Format(time.DateOnly)
	return person
}

func guardian() *api.Guardian {
	email := "anne@example.com"
	return &api.Guardian{GivenName: "Anne", FamilyName: "Martin", Relation: api.Parent, Phone: "+33687654321", Email: &email}
}

// TestGuardian: a guardian concludes a minor's contract, pays, and signs the mandate with a code to the guardian's phone. The minor becomes
// the member. Both get the confirmation, which names the guardian.
func TestGuardian(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	mails := frontdesktest.NewMailServer(t, sink.Config{})
	_, client := env.Gateway(t, mails.Environment()...)
	person := minor()
	person.Guardian = guardian()
	start := frontdesktest.Day(60)
	registration := client.RegisterWith(guardianClub, person, frontdesktest.DebitItem(start))
	path := "/v1/registrations/" + registration.Id
	party := frontdesktest.Value(registration.Guardian)
	ending := frontdesktest.Value(party.PhoneEnding)
	party.PhoneEnding = nil // a confirmation has none
	if party != (api.GuardianParty{GivenName: "Anne", FamilyName: "Martin", Relation: api.Parent}) || ending != "21" ||
		frontdesktest.Value(registration.Contact.MobileEnding) != "21" || frontdesktest.Value(registration.Contact.GivenName) != "Lou" {
		t.Errorf("the registration is of %+v, by %+v", registration.Contact, party)
	}
	var again api.Registration
	client.Do("PUT", path+"/person", person).Into(http.StatusOK, &again)
	if again.Contact.Number != registration.Contact.Number {
		t.Error("the same details made another contact")
	}
	client.Do("POST", path+"/mandate", api.NewMandate{Holder: "Lou Martin", Iban: frontdesktest.GoodIBAN}, frontdesktest.Key("")).
		Into(http.StatusCreated, &registration)
	if !strings.HasPrefix(registration.Mandate.Text, "Debtor: Anne Martin, as a parent of the member.\n\n") {
		t.Errorf("the mandate's text is %q", registration.Mandate.Text)
	}
	sent := env.Upstreams.Sim.SMS()
	if len(sent) != 1 || sent[0].To != "+33687654321" {
		t.Fatalf("the code went to %+v, want the guardian's phone", sent)
	}
	if state := client.Control("GET", "state", nil).Body; !strings.Contains(string(state), `"holder":"Anne Martin"`) {
		t.Error("the debtor is not the guardian")
	}
	client.Do("POST", path+"/mandate/signature", api.Signature{Code: sent[0].Code}, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	client.Confirm(client.Pay(registration.Id), frontdesktest.ApprovedCard)
	done := client.Await(registration.Id, api.Completed)
	if to := frontdesktest.Value(done.Confirmation.MailedTo); !slices.Equal(to, []string{"a•••@example.com", "a•••@example.com"}) {
		t.Errorf("the confirmation goes to %v", to)
	}
	var confirmation api.Confirmation
	client.Do("GET", confirmationOf(done.Id), nil).Into(http.StatusOK, &confirmation)
	if frontdesktest.Value(confirmation.Guardian) != party || frontdesktest.Value(confirmation.Buyer.GivenName) != "Lou" ||
		!strings.Contains(frontdesktest.Value(confirmation.Mandate.Text), "Debtor: Anne Martin") {
		t.Errorf("the confirmation is %+v", confirmation)
	}
	frontdesktest.Eventually(t, "both get the confirmation", func() bool { return len(mails.Taken()) == 2 })
	var to []string
	for _, mail := range mails.Taken() {
		to = append(to, mail.To)
		if !strings.Contains(mail.Text, "Anne Martin, as a parent of the member") {
			t.Errorf("a mail says %s", mail.Text)
		}
	}
	if slices.Sort(to); !slices.Equal(to, []string{"ada@example.com", "anne@example.com"}) {
		t.Errorf("the confirmation went to %q", to)
	}
}

// TestGuardianRequired: a club's rule asks for a guardian before anything is created. A correction keeps to the rule.
func TestGuardianRequired(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	var club api.ClubDetails
	client.Do("GET", "/v1/clubs/"+guardianClub, nil).Into(http.StatusOK, &club)
	if frontdesktest.Value(club.GuardianBelow) != 18 {
		t.Errorf("the club asks below %v", club.GuardianBelow)
	}
	refused := func(response *frontdesktest.Response, pointer string, code api.FieldCode) {
		t.Helper()
		problem := response.Problem(api.InvalidRequest)
		fields := frontdesktest.Value(problem.Errors)
		if len(fields) != 1 || frontdesktest.Place(fields[0]) != pointer || fields[0].Code != code {
			t.Errorf("refused with %+v, want %s at %s", fields, code, pointer)
		}
	}
	start := func(person *api.Person) *frontdesktest.Response {
		return client.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: guardianClub, Person: person}, frontdesktest.Key(""))
	}
	refused(start(minor()), "/person/guardian", "guardian_required")
	if operations := client.Operations(0); slices.Contains(operations, "createContact") {
		t.Errorf("it called %q", operations)
	}
	for pointer, change := range map[string]func(*api.Guardian){
		"/person/guardian/givenName": func(g *api.Guardian) { g.GivenName = " " },
		"/person/guardian/phone":     func(g *api.Guardian) { g.Phone = "+33612" },
		"/person/guardian/relation":  func(g *api.Guardian) { g.Relation = "friend" },
	} {
		person := minor()
		person.Guardian = guardian()
		change(person.Guardian)
		problem := start(person).Problem(api.InvalidRequest)
		if fields := frontdesktest.Value(problem.Errors); len(fields) != 1 || frontdesktest.Place(fields[0]) != pointer {
			t.Errorf("%s: refused with %+v", pointer, fields)
		}
	}

	grown := client.RegisterWith(guardianClub, frontdesktest.Person())
	path := "/v1/registrations/" + grown.Id + "/person"
	born := map[string]any{"birthDate": minor().BirthDate}
	refused(client.Do("PATCH", path, born), "/guardian", "guardian_required")
	born["guardian"] = guardian()
	var corrected api.Registration
	client.Do("PATCH", path, born).Into(http.StatusOK, &corrected)
	if corrected.Guardian == nil || frontdesktest.Value(corrected.Contact.MobileEnding) != "21" {
		t.Errorf("the correction made %+v", corrected)
	}
	client.Do("PATCH", path, map[string]any{"familyName": "Durand"}).Into(http.StatusOK, &corrected)
	if corrected.Guardian == nil {
		t.Error("another correction lost the guardian")
	}
	var adult api.Registration
	client.Do("PATCH", path, map[string]any{"birthDate": "1990-05-17"}).Into(http.StatusOK, &adult)
	if adult.Guardian != nil || frontdesktest.Value(adult.Contact.MobileEnding) != "78" {
		t.Errorf("the buyer of age is %+v, with the guardian %+v", adult.Contact, adult.Guardian)
	}
}

// TestKnownMinor: a known minor needs a guardian as well, and no code goes to another phone than the guardian's.
func TestKnownMinor(t *testing.T) {
	t.Parallel()
	for phone, sends := range map[string]bool{"+33601020309": true, "+33687654321": false} {
		t.Run(phone, func(t *testing.T) {
			t.Parallel()
			client, _ := frontdesktest.NewWorld(t)
			known := client.As("ward")
			item := frontdesktest.DebitItem(frontdesktest.Day(60))
			body := api.StartRegistration{ClubId: guardianClub, Items: &[]api.NewItem{item}}
			problem := known.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Problem(api.InvalidRequest)
			if fields := frontdesktest.Value(problem.Errors); len(fields) != 1 || frontdesktest.Place(fields[0]) != "/guardian" {
				t.Errorf("refused with %+v", fields)
			}
			body.Guardian = guardian()
			body.Guardian.Phone = phone
			var registration api.Registration
			known.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
			known.Token = *registration.Token
			response := known.Do("POST", "/v1/registrations/"+registration.Id+"/mandate",
				api.NewMandate{Holder: "Lou Garnier", Iban: frontdesktest.GoodIBAN}, frontdesktest.Key(""))
			if !sends {
				response.Problem(api.MobileUnreachable)
			}
			if sent := client.SMS(); len(sent) == 1 != sends || sends && sent[0].To != phone {
				t.Errorf("%d codes were sent: %+v", len(sent), sent)
			}
		})
	}
	client, _ := frontdesktest.NewWorld(t)
	client.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: guardianClub, Guardian: guardian()}, frontdesktest.Key("")).
		Problem(api.InvalidRequest)
}
