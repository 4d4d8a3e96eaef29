package journey_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// bornOn is the birth date of an adult whom no persona shares it with.
const bornOn = "1991-02-03"

// staffChange changes a value in the records of a world, as the club's staff do in the club system.
func staffChange(t *testing.T, client *frontdesktest.Client, field, from, to string) {
	t.Helper()
	state := client.Control("GET", "state", nil).Body
	old, changed := []byte(`"`+field+`":"`+from+`"`), []byte(`"`+field+`":"`+to+`"`)
	if !bytes.Contains(state, old) {
		t.Fatalf("no record has the %s %s", field, from)
	}
	client.Control("PUT", "state", string(bytes.ReplaceAll(state, old, changed))).Into(http.StatusNoContent, nil)
}

// guardianJourney is a registration at the club that asks for guardians.
type guardianJourney struct {
	*frontdesktest.Client
	t    *testing.T
	env  frontdesktest.Env
	path string
	api.Registration
}

func newGuardianJourney(t *testing.T, env frontdesktest.Env, client *frontdesktest.Client, person *api.Person) *guardianJourney {
	t.Helper()
	registration := client.RegisterWith(guardianClub, person, frontdesktest.DebitItem(frontdesktest.Day(60)))
	return &guardianJourney{client, t, env, "/v1/registrations/" + registration.Id, registration}
}

// grown is an adult.
func grown() *api.Person {
	person := frontdesktest.Person()
	person.BirthDate = bornOn
	return person
}

// mandate requests the mandate, long after any earlier code.
func (j *guardianJourney) mandate() *frontdesktest.Response {
	j.t.Helper()
	limits := frontdesktest.RedisClient(j.t, j.env.Redis)
	for _, key := range limits.Keys(context.Background(), "fd:sms:*").Val() {
		limits.Del(context.Background(), key)
	}
	return j.Do("POST", j.path+"/mandate", api.NewMandate{Holder: "Ada Martin", Iban: frontdesktest.GoodIBAN}, frontdesktest.Key(""))
}

// enter enters the code of the latest SMS.
func (j *guardianJourney) enter() *frontdesktest.Response {
	j.t.Helper()
	sent := j.SMS()
	return j.Do("POST", j.path+"/mandate/signature", api.Signature{Code: sent[len(sent)-1].Code}, frontdesktest.Key(""))
}

func (j *guardianJourney) pay() *frontdesktest.Response {
	j.t.Helper()
	return j.RequestPayment(j.Id, `{"method":"card"}`)
}

// lacks expects that the registration asks for a guardian, and offers neither a signature nor a payment.
func (j *guardianJourney) lacks() {
	j.t.Helper()
	asked := j.Client.Registration(j.Id)
	if offered := actions(asked); asked.Step != api.StepGuardian || asked.Next[0].Action != api.ActionNameGuardian ||
		strings.Contains(offered, "pay") || strings.Contains(offered, "mandate") || strings.Contains(offered, "sign") {
		j.t.Errorf("the step is %s, with the actions %s", asked.Step, offered)
	}
	if asked.Message.Code != "step_guardian" {
		j.t.Errorf("it says %+v", asked.Message)
	}
}

// TestBirthDateIsCorrected: the club's staff correct a buyer's birth date after the mandate was signed. Nothing is paid without a
// guardian. With one, another mandate is signed, by the guardian's phone, even if the club has that number of another contact.
func TestBirthDateIsCorrected(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	j := newGuardianJourney(t, env, client, grown())
	j.mandate().Into(http.StatusCreated, nil)
	j.enter().Into(http.StatusCreated, nil)
	staffChange(t, client, "birthDate", bornOn, minor().BirthDate)
	problem := j.pay().Problem(api.GuardianRequired)
	asked := frontdesktest.Value(problem.Registration)
	if asked.Step != api.StepGuardian || !strings.Contains(frontdesktest.Value(problem.Detail), "18") {
		t.Errorf("the problem is %+v", problem)
	}
	j.lacks()
	if payments := client.ProcessorPayments(); len(payments) != 0 {
		t.Errorf("the processor has %+v", payments)
	}

	by := guardian()
	by.GivenName, by.FamilyName = "ADA", "Martin"
	refused := frontdesktest.Value(client.Do("PUT", j.path+"/guardian", by).Problem(api.InvalidRequest).Errors)
	if len(refused) != 1 || frontdesktest.Place(refused[0]) != "/givenName" || refused[0].Code != "guardian_is_buyer" {
		t.Errorf("the minor as the guardian is refused with %+v", refused)
	}
	by = guardian()
	by.Phone = "+33601020301" // that of the persona customer
	var signing api.Registration
	client.Do("PUT", j.path+"/guardian", by).Into(http.StatusOK, &signing)
	party := frontdesktest.Value(signing.Guardian)
	if signing.Mandate != nil || signing.Step != api.StepMandate || frontdesktest.Value(party.PhoneEnding) != "01" ||
		signing.Contact.Number == j.Contact.Number {
		t.Errorf("with a guardian it is %+v, by %+v", signing, party)
	}
	j.mandate().Into(http.StatusCreated, nil)
	if sent := client.SMS(); len(sent) != 2 || sent[1].To != by.Phone {
		t.Errorf("the codes went to %+v", sent)
	}
	j.enter().Into(http.StatusCreated, nil)
	client.Confirm(client.Pay(j.Id), frontdesktest.ApprovedCard)
	done := client.Await(j.Id, api.Completed)
	if done.Guardian == nil || done.Contact.Number != signing.Contact.Number {
		t.Errorf("it ended as %+v", done)
	}
	if state := string(client.Control("GET", "state", nil).Body); !strings.Contains(state, `"holder":"Anne Martin"`) {
		t.Error("the guardian is not the debtor")
	}
	client.Records().ExpectOnePayment(t, done.Cart.DueNow.Amount)
}

// TestRuleIsChanged: an operator sets or lowers the age below which buyers need a guardian, while journeys are in progress.
func TestRuleIsChanged(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	under := func(below string) *frontdesktest.Client {
		file := filepath.Join(t.TempDir(), "clubs.yaml")
		rule := `{defaults: {timeZone: Europe/Paris}, clubs: {"12": {guardian: {below: ` + below + `}}}}`
		frontdesktest.Must(t, os.WriteFile(file, []byte(rule), 0o600))
		_, client := env.Gateway(t, "FRONTDESK_CLUBS_FILE="+file)
		return client
	}
	none, asks, lower := under("0"), under("18"), under("16")

	j := newGuardianJourney(t, env, none, minor())
	j.mandate().Into(http.StatusCreated, nil)
	j.enter().Into(http.StatusCreated, nil)
	asks.Token = none.Token
	j.Client = asks
	j.pay().Problem(api.GuardianRequired)
	j.lacks()
	asks.Do("PUT", j.path+"/guardian", guardian()).Into(http.StatusOK, nil)
	j.mandate().Into(http.StatusCreated, nil)
	if sent := env.Upstreams.Sim.SMS(); sent[len(sent)-1].To != guardian().Phone {
		t.Errorf("the codes went to %+v", sent)
	}
	j.enter().Into(http.StatusCreated, nil)
	// As if the minor came of age now, the guardian has signed, pays, and is the party to the contract.
	lower.Token = asks.Token
	lower.Confirm(lower.Pay(j.Id), frontdesktest.ApprovedCard)
	lower.Await(j.Id, api.Completed)
	var confirmation api.Confirmation
	lower.Do("GET", j.path+"/confirmation", nil).Into(http.StatusOK, &confirmation)
	if confirmation.Guardian == nil || !strings.Contains(frontdesktest.Value(confirmation.Mandate.Text), "Debtor: Anne Martin") {
		t.Errorf("the confirmation is %+v", confirmation)
	}
}

// TestBirthDateIsCorrectedAfterADecline: a declined payment is not tried again for a minor without a guardian. It is cancelled, so that
// a guardian can be entered.
func TestBirthDateIsCorrectedAfterADecline(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	j := newGuardianJourney(t, env, client, grown())
	j.mandate().Into(http.StatusCreated, nil)
	j.enter().Into(http.StatusCreated, nil)
	client.Confirm(client.Pay(j.Id), frontdesktest.DeclinedCard)
	client.AwaitPayment(j.Id, api.Declined)
	staffChange(t, client, "birthDate", bornOn, minor().BirthDate)
	j.pay().Problem(api.GuardianRequired)
	j.lacks()
	client.Do("PUT", j.path+"/guardian", guardian()).Into(http.StatusOK, nil)
	j.mandate().Into(http.StatusCreated, nil)
	j.enter().Into(http.StatusCreated, nil)
	client.Confirm(client.Pay(j.Id), frontdesktest.ApprovedCard)
	done := client.Await(j.Id, api.Completed)
	client.Records().ExpectOnePayment(t, done.Cart.DueNow.Amount)
}

// knownMinor is the registration of the persona ward, with the guardian whose number the club has.
func knownMinor(t *testing.T) (*guardianJourney, *api.Guardian) {
	t.Helper()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	known := client.As("ward")
	by := guardian()
	by.Phone = "+33601020309"
	body := api.StartRegistration{ClubId: guardianClub, Guardian: by, Items: &[]api.NewItem{frontdesktest.DebitItem(frontdesktest.Day(60))}}
	j := &guardianJourney{Client: known, t: t, env: env}
	known.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Into(http.StatusCreated, &j.Registration)
	known.Token, j.path = *j.Registration.Token, "/v1/registrations/"+j.Id
	return j, by
}

// TestGuardianIsReplaced: in one tab the code of a guardian's mandate is awaited, while another tab names another guardian. The code of the
// first one signs nothing any more, and no code goes to a phone that is not the second one's.
func TestGuardianIsReplaced(t *testing.T) {
	t.Parallel()
	j, by := knownMinor(t)
	j.mandate().Into(http.StatusCreated, nil)
	other := guardian()
	other.GivenName, other.Relation = "Paul", api.LegalGuardian
	var replaced api.Registration
	j.Do("PUT", j.path+"/guardian", other).Into(http.StatusOK, &replaced)
	if replaced.Mandate != nil || replaced.Guardian.GivenName != "Paul" || replaced.Contact.Number != j.Contact.Number {
		t.Errorf("the other guardian's registration is %+v", replaced)
	}
	j.enter().Problem(api.NoCode)
	j.mandate().Problem(api.MobileUnreachable)
	j.Do("PUT", j.path+"/guardian", by).Into(http.StatusOK, nil)
	j.mandate().Into(http.StatusCreated, nil)
	for _, sent := range j.SMS() {
		if sent.To != by.Phone {
			t.Errorf("a code went to %s", sent.To)
		}
	}
	j.enter().Into(http.StatusCreated, nil)
	j.Confirm(j.Pay(j.Id), frontdesktest.ApprovedCard)
	j.Await(j.Id, api.Completed)
}

// TestNumberIsChanged: the club's staff change a member's number while a guardian waits for a code. It goes nowhere else.
func TestNumberIsChanged(t *testing.T) {
	t.Parallel()
	j, by := knownMinor(t)
	status := http.StatusMisdirectedRequest
	j.Control("PUT", "faults", []clubsim.Fault{{Match: clubsim.FaultMatch{Method: "POST", Path: "/signature_requests"},
		Kind: "error_before", Status: status, Times: new(1)}}).Into(http.StatusOK, nil)
	j.mandate().Into(http.StatusCreated, nil)
	staffChange(t, j.Client, "mobile", by.Phone, "+33699999999")
	j.Do("POST", j.path+"/mandate/signature/resend", nil, frontdesktest.Key("")).Problem(api.MobileUnreachable)
	if sent := j.SMS(); len(sent) != 0 {
		t.Errorf("codes went to %+v", sent)
	}
}

// TestOwnNumberIsKept: after the club's records were read again, a minor who turns out to be of age has their own number, and no longer
// that of the guardian.
func TestOwnNumberIsKept(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	person := minor()
	person.Guardian = guardian()
	j := newGuardianJourney(t, env, client, person)
	state := string(env.Upstreams.Sim.Snapshot())
	frontdesktest.Must(t, env.Upstreams.Sim.Restore([]byte(strings.Replace(state, `"status":"temp"`, `"status":"prospect"`, 1))))
	contact := strings.TrimLeft(strings.TrimPrefix(j.Contact.Number, "12-"), "0")
	event := `{"event":"contact.updated","data":{"object":{"contactId":"/demo/contacts/` + contact + `"}}}`
	client.Do("POST", "/v1/webhooks/club/demo-webhook-secret", event).Into(http.StatusOK, nil)
	frontdesktest.Eventually(t, "the contact is read again", func() bool {
		return client.Registration(j.Id).Contact.Status == "prospect"
	})
	var adult api.Registration
	client.Do("PATCH", j.path+"/person", map[string]any{"birthDate": bornOn}).Into(http.StatusOK, &adult)
	if adult.Guardian != nil || frontdesktest.Value(adult.Contact.MobileEnding) != "78" {
		t.Errorf("the adult's number ends in %s", frontdesktest.Value(adult.Contact.MobileEnding))
	}
	j.mandate().Into(http.StatusCreated, nil)
	if sent := env.Upstreams.Sim.SMS(); len(sent) != 1 || sent[0].To != person.Mobile {
		t.Errorf("the codes went to %+v", sent)
	}
}
