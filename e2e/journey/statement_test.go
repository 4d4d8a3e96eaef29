package journey_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

const unknownStatement = "00000000-0000-4000-8000-000000000000"

// stated is the path of a statement that a client makes.
func stated(t *testing.T, client *frontdesktest.Client, kind string, body any) (api.Statement, string) {
	t.Helper()
	var statement api.Statement
	client.Do("POST", "/v1/"+kind+"s", body, frontdesktest.Key("")).Into(http.StatusCreated, &statement)
	if statement.State != api.StatementStated || string(statement.Kind) != kind {
		t.Errorf("a new %s is %+v", kind, statement)
	}
	return statement, "/v1/" + kind + "s/" + statement.Id + "/confirm"
}

// confirmed confirms a statement twice, and expects the same acknowledgement.
func confirmed(t *testing.T, client *frontdesktest.Client, path string) (acknowledgement api.Acknowledgement) {
	t.Helper()
	first := client.Do("POST", path, nil)
	first.Into(http.StatusOK, &acknowledgement)
	if again := client.Do("POST", path, nil); again.Status != first.Status || !bytes.Equal(again.Body, first.Body) {
		t.Errorf("confirmed again, it is %s, not %s", again.Body, first.Body)
	}
	if acknowledgement.State != api.StatementReceived || time.Since(acknowledgement.ReceivedAt) > frontdesktest.Patience {
		t.Errorf("it is acknowledged as %+v", acknowledgement)
	}
	return acknowledgement
}

// TestWithdrawal: the two steps without an account. A repetition gets the stored response, and another front end does not find the
// statement.
func TestWithdrawal(t *testing.T) {
	t.Parallel()
	client := world(t)
	key, body := frontdesktest.Key(""), api.NewWithdrawal{Name: new("Ada Martin"), Email: new("ada@example.com"), Contract: new("11-001007")}
	first := client.Do("POST", "/v1/withdrawals", body, key)
	var statement api.Statement
	first.Into(http.StatusCreated, &statement)
	if statement.Statement.Name != *body.Name || statement.Statement.Email != *body.Email || *statement.Statement.Contract != *body.Contract {
		t.Errorf("%+v is repeated as %+v", body, statement.Statement)
	}
	again := client.Do("POST", "/v1/withdrawals", body, key)
	if !bytes.Equal(again.Body, first.Body) || again.Status != http.StatusCreated || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("with its key again, %s is %d %s", first.Body, again.Status, again.Body)
	}
	other := body
	other.Name = new("Someone Else")
	client.Do("POST", "/v1/withdrawals", other, key).Problem(api.KeyReused)
	acknowledgement := confirmed(t, client, "/v1/withdrawals/"+statement.Id+"/confirm")
	for _, part := range []string{*body.Name, *body.Email, *body.Contract, "withdraw", "14 days", acknowledgement.ReceivedAt.Format("2006")} {
		if !strings.Contains(acknowledgement.Text, part) {
			t.Errorf("the acknowledgement lacks %q:\n%s", part, acknowledgement.Text)
		}
	}
	if strings.Contains(strings.ToLower(acknowledgement.Text), "accepted") {
		t.Errorf("the acknowledgement accepts something:\n%s", acknowledgement.Text)
	}
	expectMail(t, client, acknowledgement.Text)
	client.Do("POST", "/v1/cancellations/"+statement.Id+"/confirm", nil).Problem(api.NotFound)
	for _, path := range []string{"/v1/withdrawals/", "/v1/cancellations/"} {
		client.Do("POST", path+unknownStatement+"/confirm", nil).Problem(api.NotFound)
	}
	elsewhere := *client
	elsewhere.World = "demo-elsewhere"
	elsewhere.Do("POST", "/v1/withdrawals/"+statement.Id+"/confirm", nil).Problem(api.NotFound)
}

// TestStatementsTellNothing: who states the name, address and contract of a member gets the responses that a stranger gets, in every
// byte except for these words, the ids and the times. No response waits for the club system, and no call is made for one.
func TestStatementsTellNothing(t *testing.T) {
	t.Parallel()
	client := world(t)
	bought := client.Register()
	client.Confirm(client.Pay(bought.Id), frontdesktest.ApprovedCard)
	client.Await(bought.Id, api.Completed)
	client.Token = ""
	trace, header := newTrace()
	var member api.Statement
	client.As("customer").Do("POST", "/v1/withdrawals", `{}`, frontdesktest.Key(""), header).Into(http.StatusCreated, &member)
	if len(callsOf(client, trace)) == 0 {
		t.Error("the calls for a contact's own statement are not found: the search is blind")
	}
	client.Control("PUT", "faults", []clubsim.Fault{{Kind: "hang"}}).Into(http.StatusOK, nil) // each call to the club system waits
	person, known := frontdesktest.Person(), member.Statement
	people := [][3]string{ // name, e-mail address, contract
		{"Nemo Nobody", "nemo@example.net", "11-999999"},
		{person.GivenName + " " + person.FamilyName, person.Email, bought.Id},
		{known.Name, known.Email, *known.Contract},
	}
	for _, statement := range [][2]string{
		{"withdrawals", ""}, {"withdrawals", `,"clubId":"11","language":"fr"`}, {"withdrawals", `,"reason":"none is asked for"`},
		{"cancellations", ""}, {"cancellations", `,"type":"extraordinary","reason":"I move."`},
		{"cancellations", `,"membership":"1001","endDate":"` + frontdesktest.Day(60) + `"`}, {"cancellations", `,"endDate":"2020-01-01"`},
	} {
		var stranger string
		for i, who := range people {
			said, _ := json.Marshal(map[string]string{"name": who[0], "email": who[1], "contract": who[2]})
			seen := conversation(t, client, statement[0], strings.TrimSuffix(string(said), "}")+statement[1]+"}", who[:])
			if i == 0 {
				stranger = seen
			} else if seen != stranger {
				t.Errorf("%s, %s: a stranger gets\n%s\nand a member\n%s", statement[0], statement[1], stranger, seen)
			}
		}
	}
}

// conversation states something, twice, and confirms it, twice. It returns the responses with placeholders for the visitor's own words,
// the ids and the times. No call to the club system may have been made for them.
func conversation(t *testing.T, client *frontdesktest.Client, kinds, body string, own []string) (all string) {
	t.Helper()
	trace, header := newTrace()
	twice := func(path string, body any, headers ...[2]string) (first *frontdesktest.Response) {
		first = client.Do("POST", path, body, headers...)
		again := client.Do("POST", path, body, headers...)
		if !bytes.Equal(again.Body, first.Body) && first.Status < http.StatusBadRequest {
			t.Errorf("%s again: %s, not %s", path, again.Body, first.Body)
		}
		all += anonymised(first, own) + anonymised(again, own)
		return first
	}
	first := twice("/v1/"+kinds, body, frontdesktest.Key(""), header)
	if first.Status == http.StatusCreated {
		var statement api.Statement
		first.Into(http.StatusCreated, &statement)
		twice("/v1/"+kinds+"/"+statement.Id+"/confirm", nil, header)
	}
	if calls := callsOf(client, trace); len(calls) > 0 {
		t.Errorf("%s, %s: the gateway calls %+v", kinds, body, calls)
	}
	return all
}

var (
	ids   = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]|\d\d:\d\d:\d\d`)
)

// anonymised is a response without what differs between any two of them.
func anonymised(response *frontdesktest.Response, own []string) string {
	lines := []string{http.StatusText(response.Status)}
	for _, name := range slices.Sorted(maps.Keys(response.Header)) {
		switch name {
		case "Date", "Content-Length": // of the visitor's own words
			lines = append(lines, name)
		default:
			lines = append(lines, name+": "+strings.Join(response.Header[name], ", "))
		}
	}
	text := strings.Join(append(lines, string(response.Body)), "\n")
	_, domain, _ := strings.Cut(own[1], "@")
	for _, word := range append(own, own[1][:1]+"•••@"+domain) { // also as mailedTo shows it
		text = strings.ReplaceAll(text, word, "…")
	}
	return times.ReplaceAllString(ids.ReplaceAllString(text, "ID"), "TIME") + "\n"
}

// newTrace returns the id of a new trace, and the header that makes a request a part of it.
func newTrace() (id string, header [2]string) {
	id = strings.ReplaceAll(uuid.NewString(), "-", "")
	return id, [2]string{"traceparent", "00-" + id + "-00f067aa0ba902b7-01"}
}

// callsOf lists the calls to the club system that a gateway made for the requests of a trace.
func callsOf(client *frontdesktest.Client, trace string) []clubsim.Request {
	return slices.DeleteFunc(client.Calls(), func(call clubsim.Request) bool { return call.TraceID != trace })
}

// TestCancellation: the acknowledgement says what was declared, when the contract ends or that this follows, what the cancellation does
// and, of an extraordinary one, where proofs go. It is in the language of the statement.
func TestCancellation(t *testing.T) {
	t.Parallel()
	client := world(t)
	day := time.Now().AddDate(0, 2, 0).Format(time.DateOnly)
	for name, one := range map[string]struct {
		body string
		says []string
	}{
		"ordinary": {`{"name":"Ada Martin","email":"ada@example.com"}`,
			[]string{"“I cancel my contract for the earliest possible day.”", "follows by email", "Your access and your debits end", "UTC+0"}},
		"on a day": {`{"name":"Ada Martin","email":"ada@example.com","type":"ordinary","endDate":"` + day + `"}`,
			[]string{"otherwise for the earliest possible day"}},
		"for good cause": {`{"name":"Ada Martin","email":"ada@example.com","type":"extraordinary",
			"reason":"I move\n\nfar away.\nYour contract ends today.","postalAddress":"12 rue des Lilas\n75011 Paris"}`,
			[]string{"for good cause", "Reason: “I move / far away. / Your contract ends today.”\n",
				"12 rue des Lilas, 75011 Paris", "proofs@lumen.example"}},
		"a name that writes backwards": {
			`{"name":"Ada\u202e\u2028\u009b2JMartin","email":"ada@example.com","contract":"\u206611-001007"}`,
			[]string{"Name: Ada   2JMartin\n", "Contract:  11-001007\n"}},
		"in French": {`{"name":"Ada Martin","email":"ada@example.com","language":"fr"}`,
			[]string{"Votre résiliation a été reçue", "Votre accès et vos prélèvements prennent fin", "par e-mail"}},
	} {
		t.Run(name, func(t *testing.T) {
			client := client.WithT(t)
			_, path := stated(t, client, "cancellation", one.body)
			acknowledgement := confirmed(t, client, path)
			for _, part := range one.says {
				if !strings.Contains(acknowledgement.Text, part) {
					t.Errorf("the acknowledgement lacks %q:\n%s", part, acknowledgement.Text)
				}
			}
			expectMail(t, client, acknowledgement.Text)
			if acknowledgement.EndDate != nil {
				t.Errorf("the club has not said when it ends, and the acknowledgement has %s", *acknowledgement.EndDate)
			}
		})
	}
}

// TestAcknowledgementNamesTheClub: where a statement names a club that the gateway knows, the acknowledgement and its mail name the club
// and who sells for it. Without one, or with one that does not exist, they name nobody.
func TestAcknowledgementNamesTheClub(t *testing.T) {
	t.Parallel()
	client := world(t)
	client.Do("GET", "/v1/clubs/11", nil).Into(http.StatusOK, nil) // it is known from now on
	for _, one := range []struct{ kind, more, says string }{
		{"withdrawal", `,"clubId":"11"`, "Club: Lumen Bastille\nSeller: Lumen Fitness\n"},
		{"cancellation", `,"clubId":"11","language":"fr"`, "Club : Lumen Bastille\nVendeur : Lumen Fitness\n"},
		{"withdrawal", `,"clubId":"99"`, ""},
		{"cancellation", ``, ""},
	} {
		_, path := stated(t, client, one.kind, `{"name":"Ada Martin","email":"ada@example.com"`+one.more+`}`)
		acknowledgement := confirmed(t, client, path)
		if one.says == "" && strings.Contains(acknowledgement.Text, "Lumen") || !strings.Contains(acknowledgement.Text, one.says) {
			t.Errorf("%s%s is acknowledged by:\n%s", one.kind, one.more, acknowledgement.Text)
		}
		expectMail(t, client, acknowledgement.Text)
	}
}

// expectMail waits for the mail with an acknowledgement, and expects only one.
func expectMail(t *testing.T, client *frontdesktest.Client, acknowledgement string) {
	t.Helper()
	title, _, _ := strings.Cut(acknowledgement, "\n")
	var sent clubsim.Items[clubsim.Mail]
	count := 0
	frontdesktest.Eventually(t, "the acknowledgement is mailed", func() bool {
		client.Control("GET", "mail", nil).Into(http.StatusOK, &sent)
		count = 0
		for _, mail := range sent.Items {
			if strings.TrimSpace(strings.ReplaceAll(mail.Text, "\r\n", "\n")) == acknowledgement {
				count++
				if mail.Subject != title || mail.To != "ada@example.com" || !strings.Contains(mail.HTML, title) {
					t.Errorf("the mail is %+v", mail)
				}
			}
		}
		return count > 0
	})
	if count != 1 {
		t.Errorf("%d mails have it", count)
	}
}

// TestStatementOfContact: a contact identified by the club's own login need not say who they are. A token that is not valid is refused.
func TestStatementOfContact(t *testing.T) {
	t.Parallel()
	client := world(t)
	customer := client.As("customer")
	statement, path := stated(t, customer, "withdrawal", `{}`)
	declared := statement.Statement
	if declared.Name == "" || !strings.Contains(declared.Email, "@") || frontdesktest.Value(declared.Contract) != "11-001001" ||
		frontdesktest.Value(declared.ClubId) != "11" {
		t.Errorf("the contact's statement is %+v", declared)
	}
	anonymous := *client
	anonymous.Token = ""
	confirmed(t, &anonymous, path) // the id alone permits to confirm
	other, _ := stated(t, customer, "cancellation", `{"name":"Ada Lovelace","email":"countess@example.com"}`)
	if got := other.Statement; got.Name != "Ada Lovelace" || got.Email != "countess@example.com" {
		t.Errorf("the contact's own words became %+v", got)
	}
	forged := regexp.MustCompile(`[^.]+$`).ReplaceAllString(customer.Token, "AAAA")
	stranger := *client
	stranger.Token = forged
	stranger.Do("POST", "/v1/withdrawals", `{}`, frontdesktest.Key("")).Problem(api.NotIdentified)
	customer.Control("PUT", "faults", []clubsim.Fault{{Match: clubsim.FaultMatch{Path: "/contacts/*"}, Kind: "error_before", Status: 503}}).
		Into(http.StatusOK, nil)
	customer.Do("POST", "/v1/withdrawals", `{}`, frontdesktest.Key("")).Problem(api.ClubSystemUnavailable)
	anonymous.Do("POST", "/v1/withdrawals", `{"name":"Ada","email":"ada@example.com"}`, frontdesktest.Key("")).Into(http.StatusCreated, nil)
}

// TestBadStatements: each mistake is reported at its field, and nothing is stored.
func TestBadStatements(t *testing.T) {
	t.Parallel()
	client := world(t)
	const who = `"name":"Ada","email":"ada@example.com"`
	for name, wrong := range map[string]struct {
		path, body string
		places     string
	}{
		"nobody":                {"/v1/withdrawals", `{}`, "/email /name"},
		"blanks":                {"/v1/withdrawals", `{"name":"  ","email":"ada@example.com"}`, "/name"},
		"no address":            {"/v1/withdrawals", `{"name":"Ada","email":"ada"}`, "/email"},
		"two lines":             {"/v1/withdrawals", `{"name":"Ada\nBcc: x","email":"ada@example.com"}`, "/name"},
		"a reason":              {"/v1/withdrawals", `{` + who + `,"reason":"none is asked for"}`, "/reason"},
		"a language":            {"/v1/withdrawals", `{` + who + `,"language":"en fr"}`, "/language"},
		"a club":                {"/v1/withdrawals", `{` + who + `,"clubId":"../11"}`, "/clubId"},
		"no reason":             {"/v1/cancellations", `{` + who + `,"type":"extraordinary"}`, "/reason"},
		"an unknown type":       {"/v1/cancellations", `{` + who + `,"type":"sudden"}`, "/type"},
		"yesterday":             {"/v1/cancellations", `{` + who + `,"endDate":"2020-01-01"}`, "/endDate"},
		"no such day":           {"/v1/cancellations", `{` + who + `,"endDate":"2031-02-30"}`, "/endDate"},
		"an endless reason":     {"/v1/cancellations", `{` + who + `,"reason":"` + strings.Repeat("x", 2001) + `"}`, "/reason"},
		"an address that beeps": {"/v1/cancellations", `{` + who + `,"postalAddress":"12 rue\u0007"}`, "/postalAddress"},
	} {
		t.Run(name, func(t *testing.T) {
			problem := client.WithT(t).Do("POST", wrong.path, wrong.body, frontdesktest.Key("")).Problem(api.InvalidRequest)
			var places []string
			for _, field := range frontdesktest.Value(problem.Errors) {
				places = append(places, frontdesktest.Place(field))
			}
			if got := strings.Join(places, " "); got != wrong.places {
				t.Errorf("%s is refused at %q, not %q", wrong.body, got, wrong.places)
			}
		})
	}
	client.Do("POST", "/v1/withdrawals", `{`+who+`}`).Problem(api.MalformedRequest) // without a key
	client.Do("POST", "/v1/withdrawals", `{`+who+`}`, frontdesktest.Key(strings.Repeat("1", 32))).Problem(api.MalformedRequest)
	client.Do("POST", "/v1/cancellations", `{`+who+`,"reason":"4242 4242 4242 4242"}`, frontdesktest.Key("")).Problem(api.CardNumberRefused)
	client.Do("POST", "/v1/withdrawals/..%2F..%2Fhealthz/confirm", nil).Problem(api.NotFound)
	_, path := stated(t, client, "withdrawal", `{`+who+`}`)
	client.Do("POST", path, `{"state":"done"}`).Problem(api.MalformedRequest)
}

// TestStatementLabels: the configuration has the labels of both functions, in every language.
func TestStatementLabels(t *testing.T) {
	t.Parallel()
	var config api.Config
	world(t).Do("GET", "/v1/config", nil).Into(http.StatusOK, &config)
	got := map[string]bool{}
	for _, labels := range frontdesktest.Value(config.Statements) {
		got[strings.Join([]string{string(labels.Kind), labels.Language, labels.Start, labels.Confirm}, "|")] = true
	}
	want := map[string]bool{
		"withdrawal|en|Withdraw from contract here|Confirm withdrawal":          true,
		"withdrawal|fr|Se rétracter du contrat ici|Confirmer la rétractation":   true,
		"cancellation|en|Cancel contracts here|Cancel now":                      true,
		"cancellation|fr|Résilier votre contrat|Notification de la résiliation": true,
	}
	if !maps.Equal(got, want) {
		t.Errorf("the labels are %v", slices.Sorted(maps.Keys(got)))
	}
}

// world returns a front end in a world of its own.
func world(t *testing.T) *frontdesktest.Client {
	t.Helper()
	client, _ := frontdesktest.NewWorld(t)
	return client
}
