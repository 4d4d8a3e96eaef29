package handlers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/handlers"
)

// requests are those that recipes name. {world}, {id}, {payment} and {code} stand for the world, the id of the registration, the
// payment's id at the processor (what stands before _secret_ in its client secret), and the code of the latest SMS.
var requests = []struct{ name, request string }{
	{"start", `POST /v1/registrations {"clubId":"11","person":{person},"items":[{"offerId":"201","startDate":"2031-03-01"}]}`},
	{"start with a debit", `POST /v1/registrations {"clubId":"11","person":{person},` +
		`"items":[{"offerId":"901","startDate":"2031-03-01","debit":{"day":10}}]}`},
	{"pay", `POST /v1/registrations/{id}/payment {"method":"card","cart":"{cart}","agreements":{agreements}}`},
	{"card 4242", `POST /sandbox/payments/{payment}/confirm {"card":"4242424242424242"}`},
	{"mandate", `POST /v1/registrations/{id}/mandate {"holder":"Ada Martin","iban":"FR1420041010050500013M02606"}`},
	{"sign", `POST /v1/registrations/{id}/mandate/signature {"code":"{code}"}`},
	{"wrong code", `POST /v1/registrations/{id}/mandate/signature {"code":"000000"}`},
	{"faults", `PUT /sim/{world}/_control/faults`},
	{"settings", `PUT /sim/{world}/_control/settings`},
	{"change", `GET /sim/{world}/_control/state; PUT it with the first text replaced by the second`},
	{"processor", `PUT /sandbox/settings?world={world}`},
}

// recipes lead to every step and state of the contract. A call is the name of a request, which may have another body after it, or a
// request.
var recipes = []struct {
	step, registration, payment, mandate string
	calls                                []string
}{
	{"person", "open", "", "", []string{`POST /v1/registrations {"clubId":"11"}`}},
	{"items", "open", "", "", []string{`POST /v1/registrations {"clubId":"11","person":{person}}`}},
	{"ready", "open", "", "", []string{"start"}},
	{"fix_cart", "open", "", "", []string{"start", `POST /v1/registrations/{id}/items {"offerId":"401","startDate":"2031-03-01"}`,
		`PATCH /v1/registrations/{id}/person {"birthDate":"2020-05-17"}`}},
	{"guardian", "open", "", "", []string{
		`start {"clubId":"12","person":{person},"items":[{"offerId":"201","startDate":"2031-03-01"}]}`,
		`change "birthDate":"1990-05-17" "birthDate":"2020-05-17"`, "pay",
	}},
	{"abandoned", "abandoned", "", "", []string{"start", "DELETE /v1/registrations/{id}"}},
	{"expired", "expired", "", "", []string{"start", `PUT /sim/{world}/_control/clock {"advance":"P1D"}`}},
	{"mandate", "open", "", "", []string{"start with a debit"}},
	{"code", "open", "", "awaiting_code", []string{"start with a debit", "mandate"}},
	{"ready", "open", "", "signed", []string{"start with a debit", "mandate", "sign"}},
	{"code", "open", "", "no_code", []string{"start with a debit",
		`faults [{"match":{"method":"POST","path":"/signature_requests"},"kind":"error_before","status":503}]`, "mandate"}},
	{"code", "open", "", "unconfirmed", []string{"start with a debit", "mandate",
		`faults [{"match":{"path":"/signature_requests/*/transitions"},"kind":"drop_after"},` +
			`{"match":{"path":"/mandates/*"},"kind":"error_before"}]`, "sign"}},
	{"mandate", "open", "", "cancelled", []string{"start with a debit", "mandate", "DELETE /v1/registrations/{id}/mandate/signature"}},
	{"code", "open", "", "blocked", []string{"start with a debit", `settings {"smsCode":{"attempts":1}}`, "mandate", "wrong code"}},
	{"code", "open", "", "expired", []string{"start with a debit", `settings {"smsCode":{"validity":1}}`, "mandate",
		`PUT /sim/{world}/_control/clock {"advance":"PT1M"}`, "sign"}},
	{"at_processor", "paying", "requires_action", "", []string{"start", "pay"}},
	{"declined", "paying", "declined", "", []string{"start", "pay", `card 4242 {"card":"4000000000000002"}`}},
	{"ready", "open", "cancelled", "", []string{"start", "pay", "DELETE /v1/registrations/{id}/payment"}},
	{"waiting", "paying", "processing", "", []string{"start", "pay", `processor {"confirmations":"processing"}`, "card 4242"}},
	{"done", "completed", "recorded", "", []string{"start", "pay", "card 4242"}},
	{"with_staff", "attention", "in_doubt", "", []string{"start", "pay",
		`faults [{"match":{"method":"POST","path":"/sales/*/payments"},"kind":"error_before","status":503}]`, "card 4242"}},
	{"ready", "open", "refunded", "", []string{"start", "pay",
		`faults [{"match":{"method":"POST","path":"/sales/*/payments"},"kind":"error_before","status":422}]`, "card 4242"}},
}

// walk follows recipes in a world.
type walk struct {
	*frontdesktest.Client
	t           *testing.T
	id, payment string
}

// take sends a request of a recipe, and notes what the next ones name.
func (w *walk) take(call string) {
	w.t.Helper()
	if texts := strings.Fields(call); texts[0] == "change" {
		state := string(w.Control("GET", "state", nil).Body)
		if !strings.Contains(state, texts[1]) {
			w.t.Errorf("the state has no %s", texts[1])
		}
		w.Control("PUT", "state", strings.ReplaceAll(state, texts[1], texts[2])).Into(http.StatusNoContent, nil)
		return
	}
	for _, one := range requests {
		body, named := strings.CutPrefix(call, one.name)
		if named && (body == "" || strings.HasPrefix(body, " {") || strings.HasPrefix(body, " [")) {
			method, rest, _ := strings.Cut(one.request, " ")
			path, standard, _ := strings.Cut(rest, " ")
			if body == "" {
				body = " " + standard
			}
			call = method + " " + path + body
		}
	}
	person, err := json.Marshal(frontdesktest.Person())
	frontdesktest.Must(w.t, err)
	if strings.Contains(call, "{code}") {
		call = strings.ReplaceAll(call, "{code}", w.LatestCode())
	}
	call = strings.NewReplacer("{world}", w.World, "{id}", w.id, "{payment}", w.payment, "{person}", string(person),
		`,"cart":"{cart}","agreements":{agreements}`, "").Replace(call) // the client adds these
	method, rest, _ := strings.Cut(call, " ")
	path, body, hasBody := strings.Cut(rest, " ")
	var sent any
	if hasBody {
		sent = body
	}
	if !strings.HasPrefix(path, "/v1/") {
		path = w.URL + path // not of the contract
	}
	response := w.Do(method, path, sent, frontdesktest.Key(""), [2]string{"Content-Type", "application/json"})
	var seen api.Registration
	_ = json.Unmarshal(response.Body, &seen) // some responses are no registration
	if seen.Token != nil {
		w.Token, w.id = *seen.Token, seen.Id
	}
	if seen.Payment != nil && seen.Payment.Card != nil && seen.Payment.Card.ClientSecret != nil {
		w.payment = frontdesktest.PaymentID(*seen.Payment)
	}
}

// TestRecipes follows every recipe in a world of its own, and compares the steps and states that they reach with the contract's.
func TestRecipes(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.NewMock(t)
	reached := map[string]bool{}
	for i, recipe := range recipes {
		w := &walk{Client: frontdesktest.NewClient(t, gateway.URL), t: t}
		w.World = fmt.Sprintf("demo-recipe-%d", i)
		for _, call := range recipe.calls {
			w.take(call)
		}
		frontdesktest.Eventually(t, fmt.Sprintf("the end of the recipe %+v", recipe), func() bool {
			r := w.Registration(w.id)
			payment, mandate := frontdesktest.Value(r.Payment).State, frontdesktest.Value(r.Mandate).State
			return fmt.Sprintln(r.Step, r.State, payment, mandate) ==
				fmt.Sprintln(recipe.step, recipe.registration, recipe.payment, recipe.mandate)
		})
		reached["Step "+recipe.step], reached["RegistrationState "+recipe.registration] = true, true
		reached["PaymentState "+recipe.payment], reached["SignatureState "+recipe.mandate] = true, true
	}
	for _, schema := range []string{"Step", "RegistrationState", "PaymentState", "SignatureState"} {
		for _, value := range knownValues(t, schema) {
			if !reached[schema+" "+value] {
				t.Errorf("no recipe leads to the %s %s", schema, value)
			}
		}
	}
}

// knownValues lists the values of a list of the contract that can grow.
func knownValues(t *testing.T, schema string) (values []string) {
	t.Helper()
	list, _ := frontdesktest.Document(t).Components.Schemas[schema].Value.Extensions["x-extensible-enum"].([]any)
	for _, value := range list {
		values = append(values, fmt.Sprint(value))
	}
	return values
}

// provoked is where the reference provokes a code.
type provoked struct {
	code   string
	at     handlers.Operation
	action string // empty: by no e-mail address
}

// provokedCodes finds an operation for each code, one that an e-mail address can name if there is one.
func provokedCodes(t *testing.T) (all []provoked) {
	t.Helper()
	operations, err := handlers.Operations(frontdesktest.Contract(t))
	frontdesktest.Must(t, err)
	actions := slices.Insert(slices.Sorted(maps.Keys(handlers.Provokable())), 0, "pay", "start", "sign", "mandate") // the best known first
	for _, code := range knownValues(t, "ProblemCode") {
		one := provoked{code: code}
		for _, action := range actions {
			for _, op := range operations {
				name := op.Method + " " + strings.NewReplacer("{", ":", "}", "").Replace(op.Path)
				if one.action == "" && slices.Contains(op.Codes, code) && slices.Contains(handlers.Provokable()[action], name) {
					one.at, one.action = op, action
				}
			}
		}
		for _, op := range operations {
			if one.at.Path == "" && slices.Contains(op.Codes, code) {
				one.at = op
			}
		}
		all = append(all, one)
	}
	return all
}

func (p provoked) address() string { return p.action + "." + p.code + "@fault.example" }

// TestProvokingAddresses provokes every code of the reference's table by its e-mail address.
func TestProvokingAddresses(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.NewMock(t)
	for _, one := range provokedCodes(t) {
		if one.action == "" {
			continue
		}
		client, person := frontdesktest.NewClient(t, gateway.URL), frontdesktest.Person()
		person.Email = one.address()
		started := client.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: "11", Person: person}, frontdesktest.Key(""))
		if one.action == "start" {
			started.Problem(api.ProblemCode(one.code))
			continue
		}
		var registration api.Registration
		started.Into(http.StatusCreated, &registration)
		client.Token = *registration.Token
		at := strings.NewReplacer("{id}", registration.Id, "{itemId}", "1").Replace(one.at.Path)
		client.Do(one.at.Method, at, "{}").Problem(api.ProblemCode(one.code))
	}
}

// provokeReference is the page without its table rows.
const provokeReference = `# Provoke every answer

<!-- Generated from handlers/provoke_reference_test.go and openapi.yaml: go generate ./handlers -->

` + "How a test gets each answer of the API from mock mode. Every world has its own faults and settings, and ~POST " +
	"/sim/{world}/_control/reset~ ends them. [Inject faults](../how-to/inject-faults.md) explains the control " +
	"calls. The tests follow every line of both tables." + `

## Steps and states

` + "Each line leads to a step, a state of the registration, and where there are any of its payment and its " +
	"mandate. A call is one of these, sometimes with another body:" + `

| Call | Request |
|---|---|
%s
` + "~{person}~ is that of [Your first signup](../tutorials/first-signup.md), ~{cart}~ and ~{agreements}~ are what " +
	"the registration shows, ~{payment}~ is what stands before ~_secret_~ in the payment's client secret, ~{code}~ " +
	"is in ~GET /sim/{world}/_control/sms~. Every ~POST~ below ~/v1~ has an ~Idempotency-Key~. What a fault of a " +
	"payment leads to is there a moment later." + `

| Step | Registration | Payment | Mandate | Calls |
|---|---|---|---|---|
%s
A statement is ~stated~ after ~POST /v1/withdrawals~, and ~received~ after ~POST /v1/withdrawals/{statementId}/confirm~.

## Problems

` + "This provokes a problem at the operation of its line, once; most problems can be provoked at many others, too: " +
	"at all that list the code in their ~x-problem-codes~." + `

~~~sh
curl -s -X PUT http://localhost:8080/sim/demo/_control/faults` +
	` -d '[{"match": {"method": "POST", "path": "/v1/registrations/{id}/payment"}, "kind": "problem", "code": "conflict", "times": 1}]'
~~~

` + "A browser test that cannot make this call enters the e-mail address of the line for the buyer. The problem " +
	"then comes whenever that buyer does what the first word says." + `

| Code | Operation | E-mail address |
|---|---|---|
%s`

// TestProvokeReference compares docs/reference/provoke.md with the recipes and the contract.
func TestProvokeReference(t *testing.T) {
	t.Parallel()
	var named, states, codes strings.Builder
	for _, one := range requests {
		fmt.Fprintf(&named, "| %s | `%s` |\n", one.name, one.request)
	}
	quoted := func(texts ...string) string {
		return strings.ReplaceAll("`"+strings.Join(texts, "`<br>`")+"`", "``", "")
	}
	for _, one := range recipes {
		fmt.Fprintf(&states, "| %s | %s | %s | %s | %s |\n",
			quoted(one.step), quoted(one.registration), quoted(one.payment), quoted(one.mandate), quoted(one.calls...))
	}
	for _, one := range provokedCodes(t) {
		address := ""
		if one.action != "" {
			address = one.address()
		}
		if one.at.Path == "" { // where no operation is
			one.at = handlers.Operation{Method: "PUT", Path: "/v1/clubs"}
		}
		fmt.Fprintf(&codes, "| `%s` | `%s %s` | %s |\n", one.code, one.at.Method, one.at.Path, quoted(address))
	}
	text := strings.ReplaceAll(provokeReference, "~", "`")
	want := fmt.Sprintf(text, &named, &states, &codes)
	const page = "../docs/reference/provoke.md"
	if *update {
		frontdesktest.Must(t, os.WriteFile(page, []byte(want), 0o644))
	}
	got, err := os.ReadFile(page)
	frontdesktest.Must(t, err)
	if string(got) != want {
		t.Errorf("%s differs from the code: run go generate ./handlers", page)
	}
}
