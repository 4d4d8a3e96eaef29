package journey_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// accessToken returns a persona's own access token of the club system.
func (d *debtor) accessToken(key string) string {
	d.t.Helper()
	for _, persona := range d.upstreams.Sim.Personas() {
		if persona.Key == key {
			return persona.AccessToken
		}
	}
	d.t.Fatalf("no persona %s", key)
	return ""
}

// TestProspectSignsAndPays brings an account in and signs a mandate with the phone of that account. The
// access token appears nowhere.
func TestProspectSignsAndPays(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	refused := debtor.post("/prospect", api.Prospect{AccessToken: debtor.accessToken("former")})
	refused.Problem(api.MigrationContact)
	debtor.post("/prospect", `{"accessToken":"x","contactId":"/demo/contacts/1003"}`).Problem(api.InvalidRequest)
	problem := debtor.post("/prospect", api.Prospect{AccessToken: "not a token's"}).Problem(api.AccessTokenRefused)
	if frontdesktest.Place(frontdesktest.Value(problem.Errors)[0]) != "/accessToken" {
		t.Errorf("points at %+v", problem.Errors)
	}
	token := debtor.accessToken("prospect")
	first := debtor.post("/prospect", api.Prospect{AccessToken: token}, "mine")
	var r api.Registration
	first.Into(http.StatusCreated, &r)
	if r.Contact.Number != "13-001003" || strings.Contains(actions(r), "person") || strings.Contains(actions(r), "prospect") {
		t.Errorf("it is %+v's, who can %s", r.Contact, actions(r))
	}
	if again := debtor.post("/prospect", api.Prospect{AccessToken: token}, "mine"); string(again.Body) != string(first.Body) {
		t.Errorf("the repetition is answered by %s", again.Body)
	}
	debtor.Do("PUT", debtor.path+"/person", frontdesktest.Person()).Problem(api.PersonKnown)
	debtor.mandate(api.SignatureAwaitingCode)
	if messages := debtor.upstreams.Sim.SMS(); messages[len(messages)-1].To != "+33601020303" {
		t.Errorf("the code went to %s", messages[len(messages)-1].To)
	}
	debtor.answered(debtor.post("/mandate/signature", api.Signature{Code: debtor.code()}), api.SignatureSigned)
	debtor.expectNoSecrets([]string{token, token[:24], debtor.code(), "3M02"}, first.Body, refused.Body)
	debtor.Confirm(debtor.Pay(debtor.id), "4242424242424242")
	debtor.Await(debtor.id, api.Completed)
	if audit := debtor.upstreams.Sim.Audit(); !audit.OK || len(debtor.upstreams.Sim.Ledger()) != 1 {
		t.Errorf("the audit finds %+v", audit)
	}
}

// TestProspectByLogin: a person whom the club's login identifies needs no access token. The gateway gets it from the club system once
// the login token is verified, and only then: not for the address in a person's details, nor for a login token that is not valid.
func TestProspectByLogin(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	granted := func() (statuses []int) {
		for _, request := range debtor.upstreams.Sim.Requests() {
			if request.Operation == "contactToken" {
				statuses = append(statuses, request.Status)
			}
		}
		return statuses
	}
	token := debtor.Persona("prospect").IdentityToken
	forged := token[:len(token)-8] + "AAAAAAAA"
	refused := debtor.post("/prospect", api.Prospect{IdentityToken: forged})
	if at := frontdesktest.Place(frontdesktest.Value(refused.Problem(api.AccessTokenRefused).Errors)[0]); at != "/identityToken" {
		t.Errorf("points at %s", at)
	}
	missing := debtor.post("/prospect", map[string]string{}).Problem(api.InvalidRequest)
	if at := frontdesktest.Place(frontdesktest.Value(missing.Errors)[0]); at != "/accessToken" {
		t.Errorf("without a token it points at %s", at)
	}
	if len(granted()) != 0 {
		t.Errorf("granted before the proof: %v", granted())
	}
	var r api.Registration
	first := debtor.post("/prospect", api.Prospect{IdentityToken: token}, "mine")
	first.Into(http.StatusCreated, &r)
	if r.Contact.Number != "13-001003" || r.Contact.Status != "prospect" {
		t.Errorf("it is %+v's", r.Contact)
	}
	if again := debtor.post("/prospect", api.Prospect{IdentityToken: token}, "mine"); string(again.Body) != string(first.Body) {
		t.Errorf("the repetition is answered by %s", again.Body)
	}
	if got := granted(); len(got) != 1 || got[0] != http.StatusOK {
		t.Errorf("granted: %v", got)
	}
	for _, known := range debtor.upstreams.Sim.Contacts() {
		if strings.HasSuffix(known.ID, "/1003") && !strings.HasSuffix(known.ClubID, "/11") {
			t.Errorf("the contact is of %s", known.ClubID)
		}
	}
	debtor.expectNoSecrets([]string{token, token[:24], "prospect@example.com"}, first.Body, refused.Body)
}

// TestSignedMandateSurvivesProspect checks that a signature stays valid when the visitor brings an
// account in afterwards.
func TestSignedMandateSurvivesProspect(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	debtor.mandate(api.SignatureAwaitingCode)
	debtor.answered(debtor.post("/mandate/signature", api.Signature{Code: debtor.code()}), api.SignatureSigned)
	r := debtor.answered(debtor.post("/prospect", api.Prospect{AccessToken: debtor.accessToken("prospect")}), api.SignatureSigned)
	if !strings.HasPrefix(actions(r), "pay ") {
		t.Errorf("one can %s", actions(r))
	}
	debtor.sent(1)
}

// TestProspectHangs checks a club system that does not respond, first to one call and then to another. A call that hangs
// is not a failure if the sale and its contact show what became of it.
func TestProspectHangs(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	wish := api.Prospect{AccessToken: debtor.accessToken("prospect")}
	debtor.fault("hang", "PUT", "/contacts/*/migrate")
	debtor.failed(debtor.post("/prospect", wish, "mine"))
	debtor.faults(clubsim.Fault{Match: clubsim.FaultMatch{Method: "PUT", Path: "/sale/*/update_contact"}, Kind: "hang"})
	debtor.failed(debtor.post("/prospect", wish, "mine")) // before the migration, and after it
	debtor.fault("hang", "PUT", "/sale/*/update_contact")
	debtor.failed(debtor.post("/prospect", wish, "mine"))
	var r api.Registration
	debtor.post("/prospect", wish, "mine").Into(http.StatusCreated, &r)
	if r.Contact.Number != "13-001003" || r.Contact.Status != "prospect" {
		t.Errorf("it is %+v's", r.Contact)
	}
}
