package journey_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// documentsIn lists the documents of club 11 in a language, as agreements that say which bytes the buyer saw.
func documentsIn(c *frontdesktest.Client, language string) (seen []api.Agreement) {
	var list api.DocumentList
	c.Do("GET", "/v1/clubs/11/documents?language="+language, nil).Into(http.StatusOK, &list)
	for _, document := range list.Items[:4] { // without the authorisation of debits
		seen = append(seen, api.Agreement{Document: document.Document, Version: document.Version, Sha256: &document.Sha256})
	}
	return seen
}

// recorded lists what a payment says was agreed, such as "terms fr 60303ae…".
func recorded(payment *api.Payment) (all []string) {
	for _, agreement := range frontdesktest.Value(payment.Agreements) {
		all = append(all, string(agreement.Document)+" "+agreement.Language+" "+agreement.Sha256)
	}
	return all
}

// expected is what recorded returns for documents that were seen in a language.
func expected(language string, seen []api.Agreement) (all []string) {
	for _, agreement := range seen {
		all = append(all, string(agreement.Document)+" "+language+" "+*agreement.Sha256)
	}
	return all
}

// problems lists what a refusal says, such as "/agreements/0/sha256 document_changed terms 3.1".
func problems(t *testing.T, response *frontdesktest.Response) (all []string) {
	t.Helper()
	for _, field := range *response.Problem(api.AgreementMissing).Errors {
		params := frontdesktest.Value(field.Params)
		all = append(all, strings.Join([]string{frontdesktest.Place(field), string(field.Code), params["document"], params["version"]}, " "))
	}
	return all
}

// TestAgreementsNameBytes: the hash of what the buyer saw decides which language was agreed to, whatever the language of the request.
// Bytes that the club does not have now are refused before anything is written or called.
func TestAgreementsNameBytes(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, c := env.Gateway(t)
	registration := c.Register()
	french, english := documentsIn(c, "fr"), documentsIn(c, "en")
	strange := strings.Repeat("0", 64)
	begun := len(env.Upstreams.Sim.Requests())
	changed := func(at int, with api.Agreement) []api.Agreement {
		other := slices.Clone(french)
		other[at] = with
		return other
	}
	for name, test := range map[string]struct {
		agreements []api.Agreement
		want       []string
	}{
		"unknown bytes": {
			changed(0, api.Agreement{Document: "terms", Version: "2026-11", Sha256: &strange}),
			[]string{"/agreements/0/sha256 document_changed terms 2026-11"},
		},
		"those of another document": {
			changed(1, api.Agreement{Document: "privacy", Version: "2026-11", Sha256: french[0].Sha256}),
			[]string{"/agreements/1/sha256 document_changed privacy 2026-11"},
		},
		"those of another version": {
			changed(2, api.Agreement{Document: "withdrawal_information", Version: "2026-10", Sha256: french[2].Sha256}),
			[]string{"/agreements/2/sha256 document_changed withdrawal_information 2026-10"},
		},
		"a document that need not be named": {
			append(slices.Clone(french), api.Agreement{Document: "newsletter", Version: "1", Sha256: &strange}),
			[]string{"/agreements/4/sha256 document_changed newsletter 1"},
		},
		"one changed and others missing": {
			[]api.Agreement{french[1], {Document: "terms", Version: "2026-11", Sha256: &strange}},
			[]string{
				"/agreements/1/sha256 document_changed terms 2026-11", "/agreements agreement_missing withdrawal_information 2026-11",
				"/agreements agreement_missing early_start_request 2026-11",
			},
		},
	} {
		response := c.RequestPayment(registration.Id, agreeing(registration, test.agreements...), [2]string{"Accept-Language", "fr"})
		if got := problems(t, response); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q instead of %q", name, got, test.want)
		}
		problem := response.Problem(api.AgreementMissing)
		if !strings.Contains(*problem.Detail, "modifié un document") || !strings.Contains((*problem.Errors)[0].Text, "a changé") {
			t.Errorf("%s: %s", name, response.Body)
		}
	}
	hash := *french[0].Sha256
	for _, malformed := range []any{hash + "0", hash[1:], strings.ToUpper(strange[1:] + "a"), "", 7, nil, []string{strange}} {
		refused := c.RequestPayment(registration.Id, map[string]any{"method": "card", "cart": registration.Cart.Revision,
			"agreements": []any{map[string]any{"document": "terms", "version": "2026-11", "sha256": malformed}}}).Problem(api.InvalidRequest)
		if place := frontdesktest.Place((*refused.Errors)[0]); place != "/agreements/0/sha256" {
			t.Errorf("%v is refused at %s", malformed, place)
		}
	}
	if calls := env.Upstreams.Sim.Requests()[begun:]; len(calls) > 0 || len(c.ProcessorPayments()) > 0 {
		t.Errorf("the club system was called: %+v", calls)
	}
	if after := c.Registration(registration.Id); after.Version != registration.Version || after.Payment != nil {
		t.Errorf("a refused payment has changed the registration: %+v", after)
	}

	agreements := changed(3, api.Agreement{Document: "early_start_request", Version: "2026-11"}) // without: the request's language
	agreements = append(agreements, english[0])                                                  // once more: the first counts
	accepted := c.RequestPayment(registration.Id, agreeing(registration, agreements...), [2]string{"Accept-Language", "en"})
	accepted.Into(http.StatusCreated, &registration)
	want := append(expected("fr", french[:3]), expected("en", english[3:])...)
	if got := recorded(registration.Payment); !slices.Equal(got, want) {
		t.Errorf("agreed is %q instead of %q", got, want)
	}
	c.Confirm(*registration.Payment, frontdesktest.ApprovedCard)
	c.Await(registration.Id, api.Completed)
	if got := confirmedAgreements(c, registration.Id); !slices.Equal(got, want) {
		t.Errorf("the confirmation has %q instead of %q", got, want)
	}
}

// confirmedAgreements lists what the confirmation of a registration says was agreed, as recorded does.
func confirmedAgreements(c *frontdesktest.Client, registration string) (all []string) {
	var confirmation api.Confirmation
	c.Do("GET", "/v1/registrations/"+registration+"/confirmation", nil).Into(http.StatusOK, &confirmation)
	for _, agreement := range confirmation.Agreements {
		all = append(all, string(agreement.Document)+" "+agreement.Language+" "+agreement.Sha256)
	}
	return all
}

// TestReplicasWithDifferentDocuments: a file that is edited under the same version, as two replicas have it during an upgrade. The one
// that takes the payment has what the buyer saw, or refuses. A payment that has begun continues on either, with what was agreed at first.
func TestReplicasWithDifferentDocuments(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	replica := func(words string) *frontdesktest.Client {
		clubs := frontdesktest.ApprovedClubs(t)
		rewrite(t, clubs, "clubs.yaml", "{en: terms.txt}", "{en: terms.txt, de: bedingungen.txt}")
		frontdesktest.Must(t, os.WriteFile(filepath.Join(filepath.Dir(clubs), "bedingungen.txt"), []byte("Bedingungen "+words), 0o600))
		_, c := env.Gateway(t, "FRONTDESK_CLUBS_FILE="+clubs, "FRONTDESK_AGREEMENTS=required")
		return c
	}
	before, after := replica("alt"), replica("neu")
	registration := before.Register()
	after.Token = before.Token
	old, edited := documentsIn(before, "de"), documentsIn(after, "de") // the gateway has no German, the club has
	if *old[0].Sha256 == *edited[0].Sha256 || old[0].Version != edited[0].Version || *old[1].Sha256 != *edited[1].Sha256 {
		t.Fatalf("the replicas have %+v and %+v", old, edited)
	}
	pay := func(c *frontdesktest.Client, seen []api.Agreement, key [2]string) *frontdesktest.Response {
		return c.Do("POST", "/v1/registrations/"+registration.Id+"/payment", agreeing(registration, seen...), key)
	}
	stale, changed := frontdesktest.Key(""), []string{"/agreements/0/sha256 document_changed terms 3.1"}
	for range 2 { // the refusal, and its replay
		if got := problems(t, pay(after, old, stale)); !slices.Equal(got, changed) {
			t.Errorf("the replica that lacks what the buyer saw says %q", got)
		}
	}
	if shown := after.Registration(registration.Id); shown.Payment != nil || len(before.ProcessorPayments()) > 0 {
		t.Errorf("it has begun %+v", shown.Payment)
	}
	key, want := frontdesktest.Key(""), append([]string{"terms de " + *old[0].Sha256}, expected("en", old[1:])...)
	var first api.Registration
	pay(before, old, key).Into(http.StatusCreated, &first)
	if got := recorded(first.Payment); !slices.Equal(got, want) {
		t.Errorf("agreed is %q instead of %q", got, want)
	}
	before.EnterCard(*first.Payment, frontdesktest.DeclinedCard)
	before.AwaitPayment(registration.Id, api.Declined)
	for name, again := range map[string]struct {
		seen []api.Agreement
		key  [2]string
	}{
		"the same request":                    {old, key},
		"the same request, with another key":  {old, frontdesktest.Key("")},
		"what the other replica lists":        {edited, frontdesktest.Key("")},
		"what the other replica has, unnamed": {frontdesktest.AgreementsOf(first), frontdesktest.Key("")},
	} {
		var continued api.Registration
		pay(after, again.seen, again.key).Into(http.StatusCreated, &continued)
		if continued.Payment.Id != first.Payment.Id || !slices.Equal(recorded(continued.Payment), want) {
			t.Errorf("%s: %+v", name, continued.Payment)
		}
	}
	nobodys := slices.Clone(old)
	nobodys[0].Sha256 = old[1].Sha256
	if got := problems(t, pay(after, nobodys, frontdesktest.Key(""))); !slices.Equal(got, changed) {
		t.Errorf("what neither has is answered with %q", got)
	}
	kept := after.Do("GET", "/v1/clubs/11/documents/"+*old[0].Sha256, nil)
	if kept.Into(http.StatusOK, nil); string(kept.Body) != "Bedingungen alt" {
		t.Errorf("what was agreed to is kept as %q", kept.Body)
	}
}
