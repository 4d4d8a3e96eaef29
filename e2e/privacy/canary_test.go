package privacy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/campaign"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/mail/sink"
)

// minLines is how many lines the gateways must log before the absence of personal data proves anything.
const minLines = 10_000

const (
	canaryIBAN  = "DE89370400440532013000"
	wrongIBAN   = "GB33BUKB20201555555556" // its check digits are wrong
	refusedCard = "4000000000009995"       // not ….0002: a metric such as 0.24000000000000002 has these digits, too
	foreignCard = "5555555555554444"
)

// canaryRun runs journeys of people, and searches for each of their details afterwards.
type canaryRun struct {
	*testEnv
	c         *frontdesktest.Client
	gateway   *frontdesktest.Process   // the gateway of most journeys
	gateways  []*frontdesktest.Process // all of them
	spans     *frontdesktest.Collector // the spans that they export
	secrets   secrets
	redisText strings.Builder // all contents of Redis that were recorded
	persons   uint64
}

// TestCanaries runs every kind of journey, including some with a failing club system and bad input. It then
// searches all logs, all of Redis including queues, the metrics and the spans of all traces for what
// people entered. A planted text, the name of a subscriber, must be found in each of them by the same
// means.
func TestCanaries(t *testing.T) {
	t.Parallel()
	run := &canaryRun{testEnv: newTestEnv(t), spans: frontdesktest.NewCollector(t)}
	subscriber := `FRONTDESK_SUBSCRIBERS=[{"name":"zqplanted","url":"http://127.0.0.1:9/zqsubscriberpath",` +
		`"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}]`
	mails := frontdesktest.NewMailServer(t, sink.Config{})
	mails.Fail(-1, sink.Fault{Status: 450}) // so that they stay in Redis
	environment := append(mails.Environment(), "FRONTDESK_LOG_LEVEL=debug", "OTEL_EXPORTER_OTLP_ENDPOINT="+run.spans.URL, subscriber)
	run.gateway, run.c = run.testEnv.gateway(environment...)
	second, elsewhere := run.testEnv.gateway(append(environment, "FRONTDESK_RATE_LIMITS=on", "FRONTDESK_TRUSTED_PROXIES=127.0.0.1")...)
	run.gateways = []*frontdesktest.Process{run.gateway, second}
	run.secrets.add("the subscriber's path", "zqsubscriberpath")
	frontdesktest.Must(t, run.upstreams.Sim.Configure(func(settings *clubsim.Settings) {
		settings.WebhookURL, settings.Webhooks, settings.WebhookDelay = run.gateway.URL+"/v1/webhooks/club/demo-webhook-secret", "normal", 1
	}))

	webhooks := run.throughSandbox()
	toldByStripe := run.byStripe(environment...)
	run.byCard()
	run.byMandate()
	run.byGuardian()
	run.asProspect()
	run.identified()
	run.inPerson()
	run.byMail(mails)
	run.byStatement()
	run.byOnlineCancellation()
	run.badInput()
	run.withFailingClub()
	run.exceedRateLimit(elsewhere)
	run.fillLogs()
	run.recordRedis()
	run.expectRecords()
	run.expectLifetimes()
	if webhooks.taken.Load() == 0 || toldByStripe.taken.Load() == 0 {
		t.Errorf("the processors' webhooks were not taken: %d and %d", webhooks.taken.Load(), toldByStripe.taken.Load())
	}
	run.search(run.collectOutput())
}

// collectOutput returns every place in which personal data could have been left. The gateways have
// already ended, so all output is complete.
func (w *canaryRun) collectOutput() map[string]string {
	scraped := ""
	for _, gateway := range w.gateways {
		scraped += metrics(gateway)
	}
	frontdesktest.Eventually(w.t, "there are spans of every kind of work", func() bool { return len(w.missingSpans()) == 0 })
	for _, gateway := range w.gateways {
		if err := gateway.Stop(); err != nil {
			w.t.Error(err)
		}
	}
	w.expectSpans()
	if lines := strings.Count(w.logs(), "\n"); lines < minLines {
		w.t.Errorf("only %d lines were logged", lines)
	}
	// Events of the club system pass through Redis only while no worker is idle, so none is waited for.
	if queue := "asynq:{relay-zqplanted}:retry"; !strings.Contains(w.redisText.String(), queue) {
		w.t.Errorf("%s was never looked into", queue)
	}
	return map[string]string{"the logs": w.logs(), "Redis": w.redisText.String(), "the metrics": scraped, "the spans": w.spans.Raw()}
}

// search looks for every person's secrets in places, and for what must be there.
func (w *canaryRun) search(places map[string]string) {
	var planted secrets
	planted.add("the subscriber's name", "zqplanted")
	for name, place := range places {
		if found := w.secrets.in(place); found != nil {
			w.t.Errorf("in %s stand %q", name, found)
		}
		if planted.in(place) == nil {
			w.t.Errorf("in %s what was planted is not found: the search is blind", name)
		}
	}
}

func (w *canaryRun) logs() (all string) {
	for _, gateway := range w.gateways {
		all += gateway.Log()
	}
	return all
}

// minSpans: each of the requests that fill the logs has a span, and a slow collector drops a few.
const minSpans = 1_000

// tracedJobs are the names of the spans of all of a gateway's work. All must appear, so that the
// absence of personal data proves something.
var tracedJobs = []string{
	"POST /v1/registrations",
	"POST /v1/registrations/:id/payment",
	"POST /v1/registrations/:id/mandate",
	"POST /v1/registrations/:id/mandate/signature",
	"POST /v1/registrations/:id/prospect",
	"GET /v1/me",
	"POST /v1/me/transfer",
	"GET /pay/:payment/:proof",
	"POST /v1/webhooks/card",
	"POST /v1/webhooks/club/:secret",
	"page",
	"GET /metrics",
	"POST /ops/payments/{id}/notes",
	"POST /ops/erasures",
	"POST /v1/withdrawals",
	"POST /v1/cancellations/:statementId/confirm",
	"GET /v1/me/memberships",
	"POST /ops/statements/{id}/note",
	"follow up statements",
	"scrape",
	"club Token",
	"club CreateContact",
	"club CreateSale",
	"club CreateMandate",
	"club CreatePayment",
	"cards create",
	"cards capture",
	"cards update_metadata",
	"cards list",
	"advance",
	"verify",
	"job club:events",
	"job registration:due",
	"job registration:refresh",
	"job webhook:deliver",
	"job mail:send",
	"sweep",
	"rebuild",
}

// missingSpans returns the kinds of work that have no span yet.
func (w *canaryRun) missingSpans() (missing []string) {
	named := map[string]bool{}
	for _, span := range w.spans.Spans() {
		named[span.Name] = true
	}
	for _, name := range tracedJobs {
		if !named[name] {
			missing = append(missing, name)
		}
	}
	return missing
}

// expectSpans checks the spans that have arrived in the end.
func (w *canaryRun) expectSpans() {
	if n := len(w.spans.Spans()); n < minSpans {
		w.t.Errorf("only %d spans arrived", n)
	}
	if missing := w.missingSpans(); len(missing) > 0 {
		w.t.Errorf("no spans of %q arrived", missing)
	}
}

// newPerson returns a new person, whose details are secrets from then on.
func (w *canaryRun) newPerson() *api.Person { return person(w.newCanary()) }

func (w *canaryRun) newCanary() campaign.Canary {
	w.persons++
	who := campaign.NewCanary(48151623 + w.persons*1_010_101)
	for what, text := range map[string]string{"a given name": who.GivenName, "a family name": who.FamilyName, "an e-mail": who.Email,
		"a mobile number": who.Mobile, "its digits": strings.TrimPrefix(who.Mobile, "+33"), "a street": who.Street} {
		w.secrets.add(what, text)
	}
	return who
}

// register starts a person's registration.
func (w *canaryRun) register(item api.NewItem) api.Registration {
	registration := register(w.c, w.newPerson(), item)
	w.secrets.add("a registration's token", w.c.Token)
	return registration
}

// recordRedis remembers what Redis holds now.
func (w *canaryRun) recordRedis() { w.recordRedisOf(w.testEnv) }

func (w *canaryRun) recordRedisOf(s *testEnv) {
	for key, value := range s.redisContents() {
		w.redisText.WriteString(key + "\n" + value + "\n")
	}
}

func (w *canaryRun) post(path string, body any, headers ...[2]string) *frontdesktest.Response {
	return w.c.Do("POST", path, body, append(headers, frontdesktest.Key(""))...)
}

// byCard pays after a decline, on another device.
func (w *canaryRun) byCard() {
	registration := w.register(cardItem())
	path := "/v1/registrations/" + registration.Id
	var link api.ResumeLink
	w.post(path+"/resume-link", nil).Into(http.StatusCreated, &link)
	_, code, _ := strings.Cut(link.Url, "resume=")
	w.secrets.add("a link's secret", code[strings.Index(code, ".")+1:])
	payment := w.c.Pay(registration.Id)
	w.recordRedis()
	w.c.EnterCard(payment, refusedCard)
	var resumed api.Registration
	w.post("/v1/resumptions", api.Resumption{Resume: code}).Into(http.StatusCreated, &resumed)
	w.c.Token = *resumed.Token
	w.secrets.add("another device's token", w.c.Token)
	for _, card := range []string{goodCard, refusedCard, foreignCard} {
		w.secrets.add("a card number", card)
	}
	w.c.Confirm(payment, goodCard)
	w.recordRedis()
	w.c.Await(registration.Id, api.Completed)
}

// byMandate signs a mandate, after wrong codes and an invalid account.
func (w *canaryRun) byMandate() {
	registration := w.register(debitItem())
	path := "/v1/registrations/" + registration.Id
	w.secrets.add("an account", canaryIBAN)
	w.secrets.add("an account", "DE89 3704 0044 0532 0130 00")
	w.secrets.add("an account with an error", wrongIBAN)
	w.secrets.add("an account's holder", "Zqholder Wcarlsson")
	w.secrets.add("a wrong code", "Zq7wrong19")
	w.post(path+"/mandate", map[string]string{"holder": "Zqholder Wcarlsson", "iban": wrongIBAN}).Problem(api.InvalidRequest)
	w.post(path+"/mandate", map[string]string{"holder": "Zqholder Wcarlsson", "iban": canaryIBAN}).Into(http.StatusCreated, nil)
	code := w.latestCode()
	w.secrets.codes = append(w.secrets.codes, code)
	w.post(path+"/mandate/signature", api.Signature{Code: "Zq7wrong19"})
	w.recordRedis()
	w.post(path+"/mandate/signature", api.Signature{Code: code}).Into(http.StatusCreated, nil)
	pay(w.c, registration.Id)
}

// byGuardian has a guardian conclude the contract, in place of another one: at a club that does not ask for it, any buyer may have one.
func (w *canaryRun) byGuardian() {
	who, of := w.newPerson(), w.newCanary()
	who.Guardian = &api.Guardian{GivenName: of.GivenName, FamilyName: of.FamilyName, Relation: api.Parent, Phone: of.Mobile, Email: &of.Email}
	registration := register(w.c, who, debitItem())
	path := "/v1/registrations/" + registration.Id
	by := w.newCanary() // in place of the first one
	other := api.Guardian{GivenName: by.GivenName, FamilyName: by.FamilyName, Relation: api.Parent, Phone: by.Mobile, Email: &by.Email}
	w.c.Do("PUT", path+"/guardian", other).Into(http.StatusOK, nil)
	w.post(path+"/mandate", map[string]string{"holder": "Zqholder Wcarlsson", "iban": canaryIBAN}).Into(http.StatusCreated, nil)
	code := w.latestCode()
	w.secrets.codes = append(w.secrets.codes, code)
	w.recordRedis()
	w.post(path+"/mandate/signature", api.Signature{Code: code}).Into(http.StatusCreated, nil)
	pay(w.c, registration.Id)
}

// asProspect brings along an account of another club.
func (w *canaryRun) asProspect() {
	registration := w.register(cardItem())
	token := w.c.Persona("prospect").AccessToken
	w.secrets.add("an access token of the club system", token)
	w.secrets.add("an invalid access token", "zqnobodysaccesstoken31")
	w.post("/v1/registrations/"+registration.Id+"/prospect", api.Prospect{AccessToken: "zqnobodysaccesstoken31"}).
		Problem(api.AccessTokenRefused)
	w.post("/v1/registrations/"+registration.Id+"/prospect", api.Prospect{AccessToken: token}).Into(http.StatusCreated, nil)
	w.recordRedis()
}

// identified runs what known contacts do: register, consent, move, follow an invitation.
func (w *canaryRun) identified() {
	own := w.c.Token
	w.c.Token = w.c.Persona("customer").IdentityToken
	w.secrets.add("an identity token", w.c.Token)
	w.c.Do("GET", "/v1/me", nil).Into(http.StatusOK, nil)
	var consents api.ConsentList
	w.c.Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &consents)
	wishes := []map[string]any{}
	for _, consent := range consents.Items {
		wishes = append(wishes, map[string]any{"id": consent.Id, "authorized": !consent.Authorized})
	}
	w.secrets.add("a wording", "zqwording-2026")
	w.c.Do("PATCH", "/v1/me/consents", map[string]any{"items": wishes, "wording": "zqwording-2026"}).Into(http.StatusOK, nil)
	w.post("/v1/registrations", api.StartRegistration{ClubId: "11"}).Into(http.StatusCreated, nil)

	w.c.Token = w.c.Persona("former").IdentityToken
	w.secrets.add("an identity token", w.c.Token)
	w.post("/v1/me/transfer", api.NewTransfer{ClubId: "13"}).Into(http.StatusCreated, nil)
	code := w.latestCode()
	w.secrets.codes = append(w.secrets.codes, code)
	w.recordRedis()
	w.post("/v1/me/transfer/signature", api.Signature{Code: code}).Into(http.StatusCreated, nil)

	w.c.Token = own
	link, err := w.runCLI(w.gateway, "invite", "--contact", "1001", "--club", "11")
	if err != nil {
		w.t.Fatal(link)
	}
	address, _ := url.Parse(link)
	invitation := address.Query().Get("invitation")
	w.secrets.add("an invitation", invitation)
	w.recordRedis()
	w.c.Token = ""
	w.post("/v1/registrations", api.StartRegistration{ClubId: "11", Invitation: &invitation}).Into(http.StatusCreated, nil)
}

// inPerson pays by cheque, with staff.
func (w *canaryRun) inPerson() {
	w.secrets.add("the staff's key", "demo-staff-key-1")
	w.secrets.add("a cheque's owner", "Zqowner Wcheque")
	registration := w.register(cardItem())
	amount := registration.Cart.DueNow.Amount
	cheque := fmt.Sprintf(`{"method":"desk","mean":"cheque","cheques":[{"paid":{"amount":%d,"currency":"EUR"},"bank":"Zqbank","code":"1234567",
		"depositDesiredDate":"2031-01-31","owner":"Zqowner Wcheque"}]}`, amount)
	w.c.RequestPayment(registration.Id, cheque, frontdesktest.StaffKey()).Into(http.StatusCreated, nil)
	w.recordRedis()
	w.c.RequestPayment(w.register(cardItem()).Id, `{"method":"desk","mean":"cash"}`, frontdesktest.StaffKey()).Into(http.StatusCreated, nil)
}

// byMail sends a mail that the mail server refuses, and repeats its recipient in the refusal.
func (w *canaryRun) byMail(mails *frontdesktest.MailServer) {
	who := w.newCanary()
	w.secrets.add("a mail's text", "Zqmailtext")
	before := mails.Attempts()
	frontdesktest.SendMail(w.t, w.address, frontdesktest.DemoSealKey, flows.Mail{
		ID: "canary", To: who.Email, Language: "en", Subject: who.GivenName, Text: "Zqmailtext " + who.FamilyName, HTML: "Zqmailtext",
	})
	frontdesktest.Eventually(w.t, "the mail was refused", func() bool {
		w.recordRedis()
		return mails.Attempts() > before && w.redis.ZCard(w.t.Context(), "asynq:{mail}:retry").Val() > 0
	})
	w.recordRedis()
}

// byStatement withdraws and cancels, once without confirming it.
func (w *canaryRun) byStatement() {
	own := w.c.Token
	defer func() { w.c.Token = own }()
	w.secrets.add("a reason", "Zqreason Wmoved away")
	for i, kind := range []string{"withdrawal", "cancellation", "cancellation"} {
		who := w.newCanary()
		w.c.Token = ""
		body := map[string]any{"name": who.GivenName + " " + who.FamilyName, "email": who.Email, "contract": who.Mobile}
		if kind == "cancellation" {
			body["type"], body["reason"], body["postalAddress"] = "extraordinary", "Zqreason Wmoved away", who.Street
		}
		var statement api.Statement
		w.post("/v1/"+kind+"s", body).Into(http.StatusCreated, &statement)
		w.secrets.add("a statement's id", statement.Id)
		w.recordRedis()
		if i < 2 {
			w.c.Do("POST", "/v1/"+kind+"s/"+statement.Id+"/confirm", nil).Into(http.StatusOK, nil)
		}
		w.recordRedis()
	}
	if out, err := w.runCLI(w.gateway, "statements", "list"); err != nil || !strings.Contains(out, "withdrawal") {
		w.t.Errorf("operators see %s", out)
	}
}

// byOnlineCancellation has the club system end a member's membership, in doubt at first; an operator writes a note about it, and decides.
func (w *canaryRun) byOnlineCancellation() {
	own := w.c.Token
	defer func() { w.c.Token = own }()
	online := func(settings *clubsim.Settings) { settings.OnlineCancellation = true }
	frontdesktest.Must(w.t, w.upstreams.Sim.Configure(online))
	who, member := w.newCanary(), w.c.Persona("flexible")
	w.c.Token = member.IdentityToken
	w.secrets.add("an identity token", w.c.Token)
	w.c.Do("GET", "/v1/me/memberships", nil).Into(http.StatusOK, nil)
	var statement api.Statement
	body := map[string]string{"name": who.GivenName + " " + who.FamilyName, "email": who.Email, "postalAddress": who.Street}
	w.post("/v1/cancellations", body).Into(http.StatusCreated, &statement)
	w.secrets.add("a statement's id", statement.Id)
	w.recordRedis()
	w.setFaults(clubsim.Fault{Match: clubsim.FaultMatch{Path: "/subscriptions/*/online_cancellation"}, Kind: "error_after"})
	w.c.Token = ""
	w.c.Do("POST", "/v1/cancellations/"+statement.Id+"/confirm", nil).Into(http.StatusOK, nil)
	w.setFaults()
	w.recordRedis()
	w.secrets.add("a note", "Zqnote Wcalled them")
	id := flows.StatementID(statement.Id)
	for _, words := range [][]string{{"note", id, "Zqnote Wcalled them"}, {"cancelled", id}, {"show", id}, {"list"}} {
		if out, err := w.runCLI(w.gateway, append([]string{"statements"}, words...)...); err != nil {
			w.t.Errorf("statements %s: %s", words, out)
		}
	}
	w.recordRedis()
}

// expectRecords expects what is kept of contracts to have been in Redis, so that its absence from the findings proves something.
func (w *canaryRun) expectRecords() {
	for _, form := range []string{`fd:\{statements\}:statement:`, `fd:\{[0-9a-f-]{36}\}:confirmation`, `asynq:\{mail\}:t:confirmation`,
		`asynq:\{mail\}:t:statement:`} {
		if !regexp.MustCompile(form).MatchString(w.redisText.String()) {
			w.t.Errorf("%s was never looked into", form)
		}
	}
}

// badInput sends a person's details in every place that takes a text.
func (w *canaryRun) badInput() {
	who := w.newPerson()
	open := w.register(cardItem())
	own := w.c.Token
	for _, text := range []string{who.FamilyName, who.Email, who.Mobile, foreignCard, canaryIBAN} {
		escaped := url.PathEscape(text)
		for _, path := range []string{
			"/v1/registrations/" + escaped,
			"/v1/clubs/" + escaped + "/products?type=" + escaped,
			"/v1/clubs/11/offers/" + escaped + "/schedule?startDate=" + escaped,
			"/v1/clubs?" + escaped + "=" + escaped,
			"/" + escaped,
			"/v1/" + escaped,
		} {
			w.c.Do(
				"GET", path, nil, [2]string{"traceparent", text}, [2]string{"User-Agent", text},
				[2]string{"X-Frontdesk-World", text}, [2]string{"Cookie", "frontdesk=" + escaped}, [2]string{"Origin", text},
			)
		}
		for _, body := range []string{
			`{"clubId":%q}`, `{"clubId":"11","channel":%q}`, `{"clubId":"11","invitation":%q}`,
			`{"clubId":"11","items":[{"offerId":%q,"startDate":"x"}]}`, `{"clubId":"11",%q:1}`,
			`{"clubId":"11","person":{"givenName":%[1]q,"familyName":%[1]q,"birthDate":%[1]q,"email":%[1]q,"mobile":%[1]q,
				"gender":%[1]q,"address":{"street":%[1]q,"postalCode":%[1]q,"city":%[1]q,"country":%[1]q}}}`,
			`{%q`, `%q`,
		} {
			w.c.Token = ""
			w.c.Do("POST", "/v1/registrations", fmt.Sprintf(body, text), frontdesktest.Key(text+"-0123456789abcdef"))
			w.c.Token = own
			for _, below := range []string{"/items", "/payment", "/mandate", "/mandate/signature", "/prospect"} {
				w.post("/v1/registrations/"+open.Id+below, fmt.Sprintf(body, text))
			}
		}
		w.c.Token = text
		w.c.Do("GET", "/v1/registrations/"+open.Id, nil)
		w.c.Do("GET", "/v1/me", nil)
		w.c.Token = own
		for _, secret := range []string{"demo-webhook-secret", escaped} {
			w.c.Do(
				"POST", "/v1/webhooks/club/"+secret,
				fmt.Sprintf(`{"name":"contact.updated","object":{"id":"/demo/contacts/1001"},"data":{"familyName":%q},%q:1}`, text, text),
			)
		}
		w.c.Do("POST", "/v1/webhooks/card", fmt.Sprintf(`{"id":%q}`, text), [2]string{"Stripe-Signature", text})
		w.c.Do("POST", "http://"+w.gateway.OpsAddress()+"/ops/payments/"+escaped+"/notes", fmt.Sprintf(`{"text":%q}`, text))
		w.c.Do("POST", "http://"+w.gateway.OpsAddress()+"/ops/payments/calibrate", `{}`, [2]string{"Authorization", "Bearer " + escaped})
		w.c.Do("POST", "http://"+w.gateway.OpsAddress()+"/ops/erasures", fmt.Sprintf(`{"email":%q}`, text))
	}
	w.recordRedis()
}

// withFailingClub makes the club system respond with nonsense and errors to people who give their data.
func (w *canaryRun) withFailingClub() {
	for _, kind := range []string{"malformed", "error_after", "error_before", "drop_after", "too_many"} {
		for _, path := range []string{"/contacts", "/sales", "/sales/*", "/sales/*/payments"} {
			open := w.register(cardItem())
			w.setFaults(clubsim.Fault{Match: clubsim.FaultMatch{Path: path}, Kind: kind, Times: times(2)})
			token := w.c.Token
			w.c.Token = ""
			w.post("/v1/registrations", api.StartRegistration{ClubId: "11", Person: w.newPerson(), Items: &[]api.NewItem{cardItem()}})
			w.c.Token = token
			w.c.RequestPayment(open.Id, `{"method":"desk","mean":"cash"}`, frontdesktest.StaffKey())
			w.setFaults()
		}
	}
	w.recordRedis()
}

func times(n int) *int { return &n }

// exceedRateLimit sends requests from one address until one is refused.
func (w *canaryRun) exceedRateLimit(c *frontdesktest.Client) {
	w.secrets.add("an address", "203.0.113.77")
	for range 25 {
		c.Token = ""
		c.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key(""), [2]string{"X-Forwarded-For", "203.0.113.77"})
	}
}

// fillLogs sends requests with personal data until the gateways have logged enough.
func (w *canaryRun) fillLogs() {
	missing := minLines - strings.Count(w.logs(), "\n")
	who := w.newPerson()
	client := &http.Client{Timeout: frontdesktest.Patience}
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	const askers = 8
	for i := range askers {
		all.Go(func() {
			for range missing/askers + 1 {
				request, err := http.NewRequest(
					http.MethodGet,
					w.gateway.URL+"/v1/registrations/"+url.PathEscape(who.FamilyName)+"?email="+url.QueryEscape(who.Email), nil,
				)
				if err != nil {
					w.t.Error(err)
					return
				}
				request.Header.Set("Authorization", "Bearer "+who.Address.Street)
				response, err := client.Do(request)
				if err != nil {
					w.t.Errorf("asker %d: %v", i, err)
					return
				}
				io.Copy(io.Discard, response.Body) //nolint:errcheck // it is the log that counts
				response.Body.Close()
			}
		})
	}
	all.Wait()
}

// metrics returns the metrics that a gateway exposes, if it does.
func metrics(gateway *frontdesktest.Process) string {
	response, err := http.Get("http://" + gateway.OpsAddress() + "/metrics")
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return string(text)
}
