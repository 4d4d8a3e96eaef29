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
	d := newDebtor(t)
	refused := d.post("/prospect", api.Prospect{AccessToken: d.accessToken("former")})
	refused.Problem(api.MigrationContact)
	d.post("/prospect", `{"accessToken":"x","contactId":"/demo/contacts/1003"}`).Problem(api.InvalidRequest)
	problem := d.post("/prospect", api.Prospect{AccessToken: "not a token's"}).Problem(api.AccessTokenRefused)
	if frontdesktest.Place(frontdesktest.Value(problem.Errors)[0]) != "/accessToken" {
		t.Errorf("points at %+v", problem.Errors)
	}
	token := d.accessToken("prospect")
	first := d.post("/prospect", api.Prospect{AccessToken: token}, "mine")
	var r api.Registration
	first.Into(http.StatusCreated, &r)
	if r.Contact.Number != "13-001003" || strings.Contains(actions(r), "person") || strings.Contains(actions(r), "prospect") {
		t.Errorf("it is %+v's, who can %s", r.Contact, actions(r))
	}
	if again := d.post("/prospect", api.Prospect{AccessToken: token}, "mine"); string(again.Body) != string(first.Body) {
		t.Errorf("the repetition is answered by %s", again.Body)
	}
	d.Do("PUT", d.path+"/person", frontdesktest.Person()).Problem(api.PersonKnown)
	d.mandate(api.SignatureAwaitingCode)
	if messages := d.upstreams.Sim.SMS(); messages[len(messages)-1].To != "+33601020303" {
		t.Errorf("the code went to %s", messages[len(messages)-1].To)
	}
	d.answered(d.post("/mandate/signature", api.Signature{Code: d.code()}), api.SignatureSigned)
	d.expectNoSecrets([]string{token, token[:24], d.code(), "3M02"}, first.Body, refused.Body)
	d.Confirm(d.Pay(d.id), "4242424242424242")
	d.Await(d.id, api.Completed)
	if audit := d.upstreams.Sim.Audit(); !audit.OK || len(d.upstreams.Sim.Ledger()) != 1 {
		t.Errorf("the audit finds %+v", audit)
	}
}

// TestSignedMandateSurvivesProspect checks that a signature stays valid when the visitor brings an
// account in afterwards.
func TestSignedMandateSurvivesProspect(t *testing.T) {
	t.Parallel()
	d := newDebtor(t)
	d.mandate(api.SignatureAwaitingCode)
	d.answered(d.post("/mandate/signature", api.Signature{Code: d.code()}), api.SignatureSigned)
	r := d.answered(d.post("/prospect", api.Prospect{AccessToken: d.accessToken("prospect")}), api.SignatureSigned)
	if !strings.HasPrefix(actions(r), "pay ") {
		t.Errorf("one can %s", actions(r))
	}
	d.sent(1)
}

// TestProspectHangs checks a club system that does not respond, first to one call and then to another. A call that hangs
// is not a failure if the sale and its contact show what became of it.
func TestProspectHangs(t *testing.T) {
	t.Parallel()
	d := newDebtor(t)
	wish := api.Prospect{AccessToken: d.accessToken("prospect")}
	d.fault("hang", "PUT", "/contacts/*/migrate")
	d.failed(d.post("/prospect", wish, "mine"))
	d.faults(clubsim.Fault{Match: clubsim.FaultMatch{Method: "PUT", Path: "/sale/*/update_contact"}, Kind: "hang"})
	d.failed(d.post("/prospect", wish, "mine")) // before the migration, and after it
	d.fault("hang", "PUT", "/sale/*/update_contact")
	d.failed(d.post("/prospect", wish, "mine"))
	var r api.Registration
	d.post("/prospect", wish, "mine").Into(http.StatusCreated, &r)
	if r.Contact.Number != "13-001003" || r.Contact.Status != "prospect" {
		t.Errorf("it is %+v's", r.Contact)
	}
}
