package journey_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

const refusedIBAN = "FR40 9999 9000 0000 0000 0000 099"

// debtor is a visitor whose cart needs a mandate, at a gateway in test mode.
type debtor struct {
	*frontdesktest.Client
	t         *testing.T
	upstreams *frontdesktest.Upstreams
	gateway   *frontdesktest.Process
	redis     string
	id        string
	path      string
}

func newDebtor(t *testing.T) *debtor {
	t.Helper()
	d := &debtor{t: t, upstreams: frontdesktest.NewUpstreams(t), redis: frontdesktest.NewRedis(t)}
	d.gateway = frontdesktest.NewGateway(t, d.upstreams, d.redis)
	d.Client = frontdesktest.NewClient(t, d.gateway.URL)
	d.UpstreamsURL = d.upstreams.URL
	d.register()
	return d
}

// register starts a registration with an offer that is paid by direct debit.
func (d *debtor) register() api.Registration {
	d.t.Helper()
	return d.registerWith(frontdesktest.Person().Mobile)
}

func (d *debtor) registerWith(mobile string) api.Registration {
	d.t.Helper()
	person := frontdesktest.Person()
	person.Mobile, d.Token = mobile, ""
	var registration api.Registration
	d.Do("POST", "/v1/registrations", api.StartRegistration{
		ClubId: "11", Person: person, Items: &[]api.NewItem{frontdesktest.DebitItem("2031-03-01")},
	}, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	d.Token, d.id, d.path = *registration.Token, registration.Id, "/v1/registrations/"+registration.Id
	return registration
}

// namedKey is the idempotency key of a name, or a fresh one without a name.
func namedKey(name []string) [2]string {
	if key := strings.Join(name, ""); key != "" {
		return frontdesktest.Key("the key named " + key)
	}
	return frontdesktest.Key("")
}

func (d *debtor) post(path string, body any, key ...string) *frontdesktest.Response {
	d.t.Helper()
	return d.Do("POST", d.path+path, body, namedKey(key))
}

func (d *debtor) read() api.Registration { return d.Registration(d.id) }

// mandate requests the mandate, which must then have the given state.
func (d *debtor) mandate(state api.SignatureState) api.Registration {
	d.t.Helper()
	return d.answered(d.post("/mandate", api.NewMandate{Holder: "Ada Martin", Iban: frontdesktest.GoodIBAN}), state)
}

func (d *debtor) answered(response *frontdesktest.Response, state api.SignatureState) (registration api.Registration) {
	d.t.Helper()
	response.Into(http.StatusCreated, &registration)
	if registration.Mandate == nil || registration.Mandate.State != state || registration.Mandate.Iban != "FR** **** 2606" {
		d.t.Fatalf("the mandate is %+v, want %s", registration.Mandate, state)
	}
	return registration
}

// code returns the latest code that the club system sent.
func (d *debtor) code() string {
	d.t.Helper()
	messages := d.upstreams.Sim.SMS()
	if len(messages) == 0 {
		d.t.Fatal("no SMS was sent")
	}
	return messages[len(messages)-1].Code
}

// number returns the number in a text, or 0.
func number(text string) (n int) {
	fmt.Sscan(text, &n)
	return n
}

func (d *debtor) sent(want int) {
	d.t.Helper()
	if got := len(d.upstreams.Sim.SMS()); got != want {
		d.t.Errorf("%d codes were sent, want %d", got, want)
	}
}

// later resets the caps on codes: their clock is the gateway's, which is real.
func (d *debtor) later() {
	d.t.Helper()
	client := d.redisClient()
	defer client.Close()
	for _, key := range client.Keys(context.Background(), "fd:sms:*").Val() {
		client.Del(context.Background(), key)
	}
}

func (d *debtor) redisClient() *redis.Client {
	d.t.Helper()
	options, err := redis.ParseURL(d.redis)
	if err != nil {
		d.t.Fatal(err)
	}
	return redis.NewClient(options)
}

func (d *debtor) fault(kind, method, path string) {
	d.t.Helper()
	once := 1
	fault := clubsim.Fault{Match: clubsim.FaultMatch{Method: method, Path: path}, Kind: kind, Times: &once}
	if err := d.upstreams.Sim.SetFaults([]clubsim.Fault{fault}); err != nil {
		d.t.Fatal(err)
	}
}

func actions(r api.Registration) string {
	var names []string
	for _, next := range r.Next {
		names = append(names, string(next.Action))
	}
	return strings.Join(names, " ")
}

// TestDirectDebit covers the journey from the cart over the signature to the first payment. Redis, the
// log and the responses contain no secret.
func TestDirectDebit(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	secrets := []string{"20041010050500013M02606", "2004 1010 0505", "20041010", "3M02"}
	before := debtor.read()
	if got := actions(before); !strings.HasPrefix(got, "mandate ") || strings.Contains(got, "pay") || before.Cart.Valid {
		t.Errorf("before the mandate one can %s with cart %+v", got, before.Cart)
	}
	debtor.post("/payment", `{"method":"card"}`).Problem(api.MandateRequired)
	body, _ := json.Marshal(api.NewMandate{Holder: "Grace Hopper", Iban: frontdesktest.GoodIBAN})
	// Guessing finds the text of a plain hash.
	for _, guess := range []string{frontdesktest.GoodIBAN, "FR1420041010050500013M02606", string(body), "\n" + string(body)} {
		sum := sha256.Sum256([]byte(guess))
		secrets = append(secrets, hex.EncodeToString(sum[:]), string(sum[:]))
	}
	first := debtor.post("/mandate", string(body), "one")
	debtor.answered(first, api.SignatureAwaitingCode)
	again := debtor.post("/mandate", api.NewMandate{Holder: "Grace Hopper", Iban: frontdesktest.GoodIBAN}, "one")
	if again.Header.Get("Idempotent-Replayed") != "true" || string(again.Body) != string(first.Body) {
		t.Errorf("the repetition is answered by %s", again.Body)
	}
	debtor.post("/mandate", api.NewMandate{Holder: "Grace Hopper", Iban: "DE89370400440532013000"}, "one").Problem(api.KeyReused)
	debtor.sent(1)
	code := debtor.code()
	secrets = append(secrets, code)
	debtor.post("/payment", `{"method":"card"}`).Problem(api.MandateRequired)

	wrongAnswer := debtor.post("/mandate/signature", api.Signature{Code: frontdesktest.WrongCode(code)}, "wrong")
	if left := frontdesktest.Value(wrongAnswer.Problem(api.CodeWrong).Params)["left"]; left != "4" {
		t.Errorf("after a wrong code %q attempts are left", left)
	}
	debtor.post("/mandate/signature", api.Signature{Code: frontdesktest.WrongCode(code)}, "wrong").
		Problem(api.CodeWrong)
		// a repeated request does not count as an attempt
	if m := debtor.read().Mandate; frontdesktest.Value(m.AttemptsLeft) != 4 {
		t.Errorf("after a wrong code: %+v", m)
	}
	signed := debtor.answered(debtor.post("/mandate/signature", api.Signature{Code: code}), api.SignatureSigned)
	if !strings.HasPrefix(actions(signed), "pay ") || !signed.Cart.Valid {
		t.Errorf("after the signature one can %s with cart %+v", actions(signed), signed.Cart)
	}
	debtor.expectNoSecrets(secrets, first.Body, wrongAnswer.Body)
	payment := debtor.Pay(debtor.id)
	debtor.Confirm(payment, "4242424242424242")
	debtor.Await(debtor.id, api.Completed)
	audit := debtor.upstreams.Sim.Audit()
	if ledger := debtor.upstreams.Sim.Ledger(); len(ledger) != 1 || !audit.OK {
		t.Errorf("the ledger holds %+v, the audit %+v", ledger, audit)
	}
	debtor.expectNoSecrets(secrets)
}

// expectNoSecrets looks for secrets in all of Redis, in the log, and in responses.
func (d *debtor) expectNoSecrets(secrets []string, responses ...[]byte) {
	d.t.Helper()
	client := d.redisClient()
	defer client.Close()
	text := d.gateway.Log()
	for _, response := range responses {
		text += string(response)
	}
	keys := client.Keys(context.Background(), "*").Val()
	if len(keys) < 3 {
		d.t.Fatalf("Redis holds %v", keys)
	}
	for _, key := range keys {
		dump := client.Dump(context.Background(), key).Val()
		text += key + dump
		switch client.Type(context.Background(), key).Val() { // a dump may be compressed
		case "hash":
			text += fmt.Sprint(client.HGetAll(context.Background(), key).Val())
		case "zset":
			text += fmt.Sprint(client.ZRange(context.Background(), key, 0, -1).Val())
		case "string":
			text += client.Get(context.Background(), key).Val()
		}
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			d.t.Errorf("%q is readable in Redis, the log or a response", secret)
		}
	}
}

// TestMandateRefused checks that a refusal names every error at once, and what is impossible.
func TestMandateRefused(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	for name, test := range map[string]struct {
		body, pointers string
	}{
		"nothing": {`{}`, "/holder /iban"},
		"everything": {
			`{"holder":" ","iban":"FR14","bic":"x","validFrom":"soon","address":{},"swift":1}`,
			"/address/city /address/country /address/postalCode /address/street /holder /swift /validFrom",
		},
		"all that we compute": {
			`{"holder":"Ada","iban":"FR15 2004 1010 0505 0001 3M02 606","bic":"NOPE","validFrom":"2001-01-01"}`,
			"/iban /bic /validFrom",
		},
		"after the debit":  {`{"holder":"Ada","iban":"` + frontdesktest.GoodIBAN + `","validFrom":"2032-01-01"}`, "/validFrom"},
		"no IBAN there":    {`{"holder":"Ada","iban":"US14 2004 1010 0505 0001"}`, "/iban"},
		"the bank says no": {`{"holder":"Ada","iban":"` + refusedIBAN + `"}`, "/iban"},
	} {
		problem := debtor.WithT(t).Do("POST", debtor.path+"/mandate", test.body, frontdesktest.Key("")).Problem(api.InvalidRequest)
		var all []string
		for _, field := range frontdesktest.Value(problem.Errors) {
			all = append(all, frontdesktest.Place(field))
		}
		if got := strings.Join(all, " "); got != test.pointers {
			t.Errorf("%s: points at %s, want %s", name, got, test.pointers)
		}
	}
	debtor.sent(0)
	debtor.post("/mandate/signature", api.Signature{Code: "123456"}).Problem(api.NoCode)
	debtor.post("/mandate/signature/resend", nil).Problem(api.NoCode)
	debtor.Do("DELETE", debtor.path+"/mandate/signature", nil).Into(http.StatusOK, nil) // without a signature to cancel
	debtor.mandate(api.SignatureAwaitingCode)                                           // refused requests were not counted
	debtor.sent(1)

	var plain api.Registration
	debtor.Do("DELETE", debtor.path+"/items", nil).Into(http.StatusOK, &plain)
	debtor.later()
	debtor.post("/mandate", api.NewMandate{Holder: "Ada", Iban: frontdesktest.GoodIBAN}).Problem(api.MandateNotNeeded)
	other := frontdesktest.NewClient(t, debtor.URL)
	other.Do("POST", debtor.path+"/mandate", api.NewMandate{Holder: "Ada", Iban: frontdesktest.GoodIBAN}, frontdesktest.Key("")).
		Problem(api.TokenRequired)
}

// TestResendIn checks that the seconds until a new code count down, and that a poll gets 304 meanwhile.
func TestResendIn(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	request := clubsim.FaultMatch{Method: "POST", Path: "/signature_requests"}
	debtor.faults(clubsim.Fault{Match: request, Kind: "error_before", Status: 421, Times: new(1)})
	r := debtor.mandate(api.SignatureNoCode)
	if frontdesktest.Value(r.Mandate.ResendIn) != 0 || !strings.Contains(actions(r), "resend ") {
		t.Errorf("without a code: %+v, %s", r.Mandate, actions(r))
	}
	sent := debtor.answered(debtor.post("/mandate/signature/resend", nil), api.SignatureAwaitingCode)
	first := frontdesktest.Value(sent.Mandate.ResendIn)
	if first < 50 || first > 60 || strings.Contains(actions(sent), "resend ") {
		t.Errorf("after a code: %+v, %s", sent.Mandate, actions(sent))
	}
	frontdesktest.Eventually(t, "the seconds count down", func() bool {
		now := debtor.read()
		if now.Version != sent.Version {
			t.Fatalf("%+v is another version than %+v", now, sent)
		}
		return *now.Mandate.ResendIn < first
	})
	poll := debtor.Do("GET", debtor.path, nil, [2]string{"If-None-Match", `W/"` + sent.Version + `"`})
	if poll.Status != http.StatusNotModified {
		t.Errorf("a poll gets %d", poll.Status)
	}
}

// TestCodes covers five wrong codes, an expired one, an abandoned one, and how often one is sent.
func TestCodes(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	debtor.mandate(api.SignatureAwaitingCode)
	debtor.post("/mandate/signature", `{"code":"12"}`).Problem(api.InvalidRequest)
	for range 4 {
		debtor.post("/mandate/signature", api.Signature{Code: frontdesktest.WrongCode(debtor.code())}).Problem(api.CodeWrong)
	}
	debtor.post("/mandate/signature", api.Signature{Code: frontdesktest.WrongCode(debtor.code())}).Problem(api.CodeBlocked)
	if r := debtor.read(); r.Mandate.State != api.SignatureBlocked || strings.Contains(actions(r), "sign ") {
		t.Errorf("after five wrong codes: %+v, %s", r.Mandate, actions(r))
	}
	debtor.post("/mandate/signature", api.Signature{Code: debtor.code()}).Problem(api.NoCode)
	r := debtor.read()
	if strings.Contains(actions(r), "resend ") || r.Mandate.ResendIn == nil {
		t.Errorf("a new code is possible later: %+v, %s", r.Mandate, actions(r))
	}

	limited := debtor.post("/mandate/signature/resend", nil)
	limited.Problem(api.SmsLimited)
	if after := number(limited.Header.Get("Retry-After")); after < 1 || after > 60 {
		t.Errorf("Retry-After is %d", after)
	}
	debtor.post("/mandate", api.NewMandate{Holder: "Ada", Iban: frontdesktest.GoodIBAN}).Problem(api.SmsLimited) // nor by another mandate
	debtor.Do("PUT", debtor.path+"/person", another()).Into(http.StatusOK, nil)
	debtor.post("/mandate", api.NewMandate{Holder: "Ada", Iban: frontdesktest.GoodIBAN}).Problem(api.SmsLimited) // nor by another contact
	debtor.sent(1)

	debtor.later()
	debtor.mandate(api.SignatureAwaitingCode)
	debtor.upstreams.Sim.Configure(func(s *clubsim.Settings) { s.SMSCode.Validity = 1 })
	frontdesktest.Eventually(t, "the code is too old", func() bool {
		response := debtor.post("/mandate/signature", api.Signature{Code: frontdesktest.WrongCode(debtor.code())})
		return strings.Contains(string(response.Body), "code_expired") || response.Status == http.StatusConflict
	})
	if m := debtor.read().Mandate; m.State != api.SignatureExpired && m.State != api.SignatureBlocked {
		t.Errorf("the mandate is %+v", m)
	}
	debtor.sent(2)
	var cancelled api.Registration
	debtor.Do("DELETE", debtor.path+"/mandate/signature", nil).Into(http.StatusOK, &cancelled)
	if cancelled.Mandate.State != api.SignatureCancelled || !strings.HasPrefix(actions(cancelled), "mandate ") {
		t.Errorf("cancelled: %+v, %s", cancelled.Mandate, actions(cancelled))
	}
	debtor.post("/mandate/signature", api.Signature{Code: debtor.code()}).Problem(api.NoCode)
	debtor.post("/mandate/signature/resend", nil).Problem(api.NoCode)
}

// TestCodesPerPhone checks that using a phone in several registrations gets it no more codes. The
// national form, with a leading 0, is not accepted.
func TestCodesPerPhone(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	debtor.mandate(api.SignatureAwaitingCode)
	debtor.registerWith("+33612345678")
	limited := debtor.post("/mandate", api.NewMandate{Holder: "Ada", Iban: frontdesktest.GoodIBAN})
	limited.Problem(api.SmsLimited)
	if after := number(limited.Header.Get("Retry-After")); after < 1 || after > 60 {
		t.Errorf("Retry-After is %d", after)
	}
	if r := debtor.read(); r.Mandate != nil {
		t.Errorf("there is a mandate: %+v", r.Mandate)
	}
	person := *frontdesktest.Person()
	person.Mobile = "+330612345678"
	debtor.Do("POST", "/v1/registrations", api.StartRegistration{ClubId: "11", Person: &person},
		frontdesktest.Key("")).Problem(api.InvalidRequest)
	debtor.sent(1)
	debtor.registerWith("+33612345679")
	debtor.mandate(api.SignatureAwaitingCode)
	debtor.sent(2)
}

// TestMandateReuse checks that other items keep the mandate, and that another buyer needs another one.
func TestMandateReuse(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	first := api.NewMandate{Holder: "Ada", Iban: frontdesktest.GoodIBAN}
	valid := "2031-02-01"
	first.ValidFrom = &valid
	debtor.answered(debtor.post("/mandate", first), api.SignatureAwaitingCode)
	debtor.answered(debtor.post("/mandate/signature", api.Signature{Code: debtor.code()}), api.SignatureSigned)
	var registration api.Registration
	debtor.Do("DELETE", debtor.path+"/items", nil).Into(http.StatusOK, &registration)
	debtor.post("/items", frontdesktest.DebitItem("2031-05-01")).Into(http.StatusCreated, &registration)
	if !strings.HasPrefix(actions(registration), "pay ") || registration.Mandate.State != api.SignatureSigned {
		t.Errorf("another item of the kind: %s with %+v", actions(registration), registration.Mandate)
	}
	debtor.post("/items", frontdesktest.DebitItem("2031-01-01")).Into(http.StatusCreated, &registration) // debited before the mandate is valid
	if !strings.HasPrefix(actions(registration), "mandate ") || registration.Cart.Valid {
		t.Errorf("an item that is debited before the mandate is valid: %s", actions(registration))
	}
	debtor.Do("DELETE", debtor.path+"/items", nil).Into(http.StatusOK, &registration)
	debtor.post("/items", frontdesktest.DebitItem("2031-05-01")).Into(http.StatusCreated, &registration)
	debtor.Do("PUT", debtor.path+"/person", another()).Into(http.StatusOK, nil)
	if r := debtor.read(); !strings.HasPrefix(actions(r), "mandate ") || r.Mandate != nil {
		t.Errorf("another contact: %s with %+v", actions(r), r.Mandate)
	}
}

// TestMandateWhereTheClubAsksForIt checks that the club system's own check requires the mandate, and
// that a contact without a valid phone gets a clear error.
func TestMandateWhereTheClubAsksForIt(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	debtor.upstreams.Sim.Configure(func(s *clubsim.Settings) { s.MandateRequired = true })
	var checked api.Registration
	debtor.Do("POST", debtor.path+"/check", nil, frontdesktest.Key("")).Into(http.StatusOK, &checked)
	if problems := checked.Cart.Problems; len(problems) != 1 || problems[0].Code != "mandate_required" {
		t.Errorf("checked: %+v", checked.Cart)
	}
	debtor.mandate(api.SignatureAwaitingCode)
	if r := debtor.answered(debtor.post("/mandate/signature", api.Signature{Code: debtor.code()}), api.SignatureSigned); !r.Cart.Valid {
		t.Errorf("signed, and the cart is %+v", r.Cart)
	}
	landline := frontdesktest.Person()
	landline.Mobile = "+33112345678"
	debtor.Do("PUT", debtor.path+"/person", landline).Into(http.StatusOK, nil)
	debtor.later()
	mandate := api.NewMandate{Holder: "Ada", Iban: frontdesktest.GoodIBAN}
	if response := debtor.post("/mandate", mandate); response.Status == http.StatusConflict {
		response.Problem(api.MobileUnreachable)
	}
}

// TestDebitLeftOut: the need debit of an offer is a choice. An item without it is signed for and paid, and the club debits on its next day.
func TestDebitLeftOut(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	const start = "2031-03-07"
	var product api.Product
	client.Do("GET", "/v1/clubs/11/offers/"+frontdesktest.DirectDebit, nil).Into(http.StatusOK, &product)
	if needs := product.Offers[0].Needs; !slices.Contains(needs, api.OfferNeedDebit) {
		t.Fatalf("the offer needs %v", needs)
	}
	item := frontdesktest.DebitItem(start)
	item.Debit = nil
	registration := client.RegisterWith("11", frontdesktest.Person(), item)
	if in := registration.Cart.Items[0]; in.Debit != nil || registration.Step != api.StepMandate {
		t.Errorf("at step %s the cart has %+v", registration.Step, in)
	}
	path := "/v1/registrations/" + registration.Id
	client.Do("POST", path+"/mandate", api.NewMandate{Holder: "Ada Martin", Iban: frontdesktest.GoodIBAN}, frontdesktest.Key("")).
		Into(http.StatusCreated, nil)
	client.Do("POST", path+"/mandate/signature", api.Signature{Code: client.LatestCode()}, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	client.Confirm(client.Pay(registration.Id), frontdesktest.ApprovedCard)
	client.Await(registration.Id, api.Completed)

	const next = `"debitDay":10` // the club debits on the 5th, 10th and 20th
	var held struct {
		State struct {
			Benefits struct{ Rows []json.RawMessage }
		}
	}
	client.Control("GET", "state", nil).Into(http.StatusOK, &held)
	memberships := held.State.Benefits.Rows
	if !slices.ContainsFunc(memberships, func(m json.RawMessage) bool {
		return strings.Contains(string(m), `"validFrom":"`+start+`"`) && strings.Contains(string(m), next)
	}) {
		t.Errorf("no membership from %s has %s: %s", start, next, memberships)
	}
}

// TestDebitDays checks that a requested day becomes the date of the first debit, or is refused with the
// available days.
func TestDebitDays(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	for debit, want := range map[string]string{
		`{"day":10}`:                    `"specificDay":true,"debitDay":10,"startDate":"2031-03-10"`,
		`{"day":5,"from":"2031-04-06"}`: `"debitDay":5,"startDate":"2031-05-05"`,
		`{"weekDay":6}`:                 `"startDate":"2031-03-01","debitWeekDay":6`,
		`{"from":"2031-03-20"}`:         `"specificDay":false,"debitDay":null,"startDate":"2031-03-20"`,
	} {
		debtor.post("/items", `{"offerId":"901","startDate":"2031-03-01","debit":`+debit+`}`).Into(http.StatusCreated, nil)
		state := string(debtor.Do("GET", debtor.upstreams.URL+"/sim/demo/_control/state", nil).Body)
		for _, part := range strings.Split(want, ",") {
			if !strings.Contains(state, part) {
				t.Errorf("%s: the club system did not get %s", debit, part)
			}
		}
	}
	for body, pointer := range map[string]string{
		`{"offerId":"901","startDate":"2031-03-01","debit":{"day":6}}`:              "/debit/day",
		`{"offerId":"901","startDate":"2031-03-01","debit":{"day":5,"weekDay":1}}`:  "/debit",
		`{"offerId":"101","startDate":"2031-03-01","debit":{"day":5}}`:              "/debit",
		`{"offerId":"901","startDate":"2031-03-01","debit":{"day":5,"from":"now"}}`: "/debit/from",
	} {
		problem := debtor.post("/items", body).Problem(api.InvalidRequest)
		if frontdesktest.Place(frontdesktest.Value(problem.Errors)[0]) != pointer {
			t.Errorf("%s: %+v", body, problem.Errors)
		}
	}
}
