package journey_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// agreeing is the body of a payment by card that agrees to some documents.
func agreeing(r api.Registration, agreements ...api.Agreement) map[string]any {
	if agreements == nil {
		agreements = []api.Agreement{}
	}
	return map[string]any{"method": "card", "cart": r.Cart.Revision, "agreements": agreements}
}

// missing returns what a problem says is missing, such as "terms 2026-11".
func missing(t *testing.T, problem api.Problem) (documents []string) {
	t.Helper()
	for _, field := range frontdesktest.Value(problem.Errors) {
		params := frontdesktest.Value(field.Params)
		if frontdesktest.Place(field) != "/agreements" || field.Code != "agreement_missing" || field.Text == "" {
			t.Errorf("a problem at %s: %+v", frontdesktest.Place(field), field)
		}
		documents = append(documents, params["document"]+" "+params["version"])
	}
	return documents
}

// TestPaymentNeedsAgreements: what is missing is named, and refused before anything is written or called.
func TestPaymentNeedsAgreements(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, c := env.Gateway(t)
	registration := c.Register() // starts tomorrow
	all := frontdesktest.AgreementsOf(registration)
	if len(all) != 4 {
		t.Fatalf("the order needs %+v", all)
	}
	begun := len(env.Upstreams.Sim.Requests())
	expect := func(want []string, agreements ...api.Agreement) {
		t.Helper()
		got := missing(t, c.RequestPayment(registration.Id, agreeing(registration, agreements...)).Problem(api.AgreementMissing))
		if !slices.Equal(got, want) {
			t.Errorf("missing are %v instead of %v", got, want)
		}
	}
	expect([]string{"terms 2026-11", "privacy 2026-11", "withdrawal_information 2026-11", "early_start_request 2026-11"})
	expect([]string{"early_start_request 2026-11"}, all[:3]...)
	older := slices.Clone(all)
	older[0].Version = "2026-10"
	expect([]string{"terms 2026-11"}, older...)
	expect([]string{"privacy 2026-11"}, append(slices.Delete(slices.Clone(all), 1, 2), api.Agreement{Document: "newsletter", Version: "1"})...)
	if calls := env.Upstreams.Sim.Requests()[begun:]; len(calls) > 0 || len(c.ProcessorPayments()) > 0 {
		t.Errorf("the club system was called: %+v", calls)
	}
	if after := c.Registration(registration.Id); after.Version != registration.Version || after.Payment != nil {
		t.Errorf("a refused payment has changed the registration: %+v", after)
	}
	c.Do("POST", "/v1/registrations/"+registration.Id+"/payment", map[string]any{
		"method": "card", "cart": registration.Cart.Revision, "agreements": []any{map[string]string{"document": "terms"}, "terms"},
	}, frontdesktest.Key("")).Problem(api.InvalidRequest)

	payment := c.Pay(registration.Id)
	c.Confirm(payment, frontdesktest.ApprovedCard)
	paid := c.Await(registration.Id, api.Completed)
	if got := frontdesktest.Value(paid.Payment.Agreements); len(got) != 4 || got[0].Language != "en" {
		t.Errorf("the payment has the agreements %+v", got)
	}
}

// TestEarlyStart: the request to start early is needed exactly while something starts before the right of withdrawal ends.
func TestEarlyStart(t *testing.T) {
	t.Parallel()
	c, _ := frontdesktest.NewWorld(t)
	soon, later := frontdesktest.Day(14), frontdesktest.Day(17) // a period that would end on a weekend ends on the Monday
	for start, early := range map[string]bool{frontdesktest.Day(0): true, soon: true, later: false} {
		c.Token = ""
		registration := c.RegisterWith("11", frontdesktest.Person(), frontdesktest.DebitItem(start))
		documents := ""
		for _, agreement := range frontdesktest.AgreementsOf(registration) {
			documents += string(agreement.Document) + " "
		}
		if strings.Contains(documents, "early_start_request") != early || !strings.HasPrefix(documents, "terms privacy withdrawal_information ") {
			t.Errorf("a start on %s needs %s", start, documents)
		}
	}
}

// TestAgreementsOptional: a request that does not say what is agreed is accepted or refused, as the operator says.
func TestAgreementsOptional(t *testing.T) {
	t.Parallel()
	for setting, required := range map[string]bool{"": false, "required": true, "optional": false} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			env := frontdesktest.NewEnv(t)
			process, c := env.Gateway(t, "FRONTDESK_AGREEMENTS="+setting)
			registration := c.Register()
			silent := frontdesktest.NewClient(t, c.URL) // which adds no agreements of its own
			body, holder := `{"method":"card","cart":"`+registration.Cart.Revision+`"}`, [2]string{"Authorization", "Bearer " + c.Token}
			response := silent.RequestPayment(registration.Id, body, holder)
			if required {
				if got := missing(t, response.Problem(api.AgreementMissing)); len(got) != 4 {
					t.Errorf("missing are %v", got)
				}
				c.Pay(registration.Id)
				silent.RequestPayment(registration.Id, body, holder).Into(http.StatusCreated, nil) // the agreement stands
				return
			}
			response.Into(http.StatusCreated, nil)
			if !strings.Contains(process.Log(), "payment without agreements") {
				t.Errorf("the log does not say it:\n%s", process.Log())
			}
		})
	}
}

// TestAgreementsOutliveChanges: a payment in progress can be requested again, with another key and after a decline, although the club
// has other documents since. Its agreements stay, with bytes that the gateway still has. A new payment needs the new documents.
func TestAgreementsOutliveChanges(t *testing.T) {
	t.Parallel()
	env, clubs := frontdesktest.NewEnv(t), frontdesktest.ApprovedClubs(t)
	required := []string{"FRONTDESK_CLUBS_FILE=" + clubs, "FRONTDESK_AGREEMENTS=required"}
	doomed, c := env.Gateway(t, required...)
	registration := c.Register()
	agreed := frontdesktest.AgreementsOf(registration)
	key, body := frontdesktest.Key(""), agreeing(registration, agreed...)
	pay := func(body any, key [2]string) *frontdesktest.Response {
		return c.Do("POST", "/v1/registrations/"+registration.Id+"/payment", body, key)
	}
	var first, replayed api.Payment
	pay(body, key).Into(http.StatusCreated, &first)
	before := *first.Agreements
	doomed.Kill()

	rewrite(t, clubs, "clubs.yaml", `terms: {version: "3.1"`, `terms: {version: "4"`)
	rewrite(t, clubs, "terms.txt", "What the club says", "What the club says now")
	_, c2 := env.Gateway(t, required...)
	c.URL = c2.URL
	pay(body, key).Into(http.StatusCreated, &replayed)
	if replayed.Id != first.Id || !slices.Equal(*replayed.Agreements, before) {
		t.Errorf("after the kill the payment is %+v instead of %+v", replayed, first)
	}
	c.EnterCard(replayed, frontdesktest.DeclinedCard)
	c.AwaitPayment(registration.Id, api.Declined)
	pay(body, frontdesktest.Key("")).Into(http.StatusCreated, &replayed) // another card, the same payment
	if replayed.Id != first.Id {
		t.Errorf("after the decline the payment is %+v", replayed)
	}
	if needed := frontdesktest.AgreementsOf(c.Registration(registration.Id)); !slices.Equal(needed, agreed) {
		t.Errorf("the payment in progress needs %+v instead of %+v", needed, agreed)
	}
	for _, agreement := range before {
		document := c.Do("GET", "/v1/clubs/11/documents/"+agreement.Sha256, nil)
		document.Into(http.StatusOK, nil)
		if hash := sha256.Sum256(document.Body); hex.EncodeToString(hash[:]) != agreement.Sha256 {
			t.Errorf("%s is %q", agreement.Document, document.Body)
		}
	}
	c.Do("DELETE", "/v1/registrations/"+registration.Id+"/payment", nil).Into(http.StatusOK, nil)
	if got := missing(t, pay(body, frontdesktest.Key("")).Problem(api.AgreementMissing)); !slices.Equal(got, []string{"terms 4"}) {
		t.Errorf("a new payment lacks %v", got)
	}
	now := c.Pay(registration.Id)
	if got := (*now.Agreements)[0]; got.Version != "4" || got.Sha256 == before[0].Sha256 || now.Id == first.Id {
		t.Errorf("the new payment has %+v", now)
	}
}

// rewrite replaces a text in a file next to the operator's.
func rewrite(t *testing.T, clubs, name, old, text string) {
	t.Helper()
	path := filepath.Join(filepath.Dir(clubs), name)
	content, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(content), old) {
		t.Fatalf("%s has no %q", path, old)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(content), old, text, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestEveryMethodNeedsAgreements: payments at the desk and later, and free carts, need them too.
func TestEveryMethodNeedsAgreements(t *testing.T) {
	t.Parallel()
	c, _ := frontdesktest.NewWorld(t)
	for method, body := range map[string]map[string]any{
		"later": {"method": "later", "dueDate": frontdesktest.Day(20)},
		"desk":  {"method": "desk", "mean": "cash"},
		"free":  {"method": "free"},
	} {
		c.Token = ""
		offer := c.CardOffer("11").Id
		if method == "free" {
			offer = frontdesktest.FreeTrial
		}
		start := frontdesktest.Day(30)
		registration := c.RegisterWith("11", frontdesktest.Person(), api.NewItem{OfferId: offer, StartDate: &start})
		body["agreements"] = []api.Agreement{}
		if got := missing(t, c.RequestPayment(registration.Id, body, frontdesktest.StaffKey()).Problem(api.AgreementMissing)); len(got) != 3 {
			t.Errorf("%s lacks %v", method, got)
		}
		delete(body, "agreements") // the front end adds what the order needs
		var payment api.Payment
		c.RequestPayment(registration.Id, body, frontdesktest.StaffKey()).Into(http.StatusCreated, &payment)
		if got := frontdesktest.Value(payment.Agreements); len(got) != 3 || payment.State != api.Recorded {
			t.Errorf("%s: %+v", method, payment)
		}
	}
}
