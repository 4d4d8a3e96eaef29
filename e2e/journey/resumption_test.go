package journey_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// resumeCode makes a link as the registration's holder, and returns its code.
func resumeCode(t *testing.T, client *frontdesktest.Client, id string) string {
	t.Helper()
	var link api.ResumeLink
	client.Do("POST", "/v1/registrations/"+id+"/resume-link", nil, frontdesktest.Key("")).Into(http.StatusCreated, &link)
	address, err := url.Parse(link.Url)
	code := address.Query().Get("resume")
	if err != nil || !strings.HasSuffix(client.URL, ":"+address.Port()) || address.Path != "/" || code == "" {
		t.Fatalf("the link is %q", link.Url)
	}
	if left := time.Until(link.ExpiresAt); left < 23*time.Hour || left > 24*time.Hour {
		t.Errorf("the link is good for %s", left)
	}
	return code
}

// exchange sends a code as the link's page does.
func exchange(c *frontdesktest.Client, code string, headers ...[2]string) *frontdesktest.Response {
	return c.Do("POST", "/v1/resumptions", api.Resumption{Resume: code}, append(headers, frontdesktest.Key(""))...)
}

// resume continues a registration on another device, through another gateway if its address is given.
func resume(t *testing.T, client *frontdesktest.Client, id string) (*frontdesktest.Client, api.Registration) {
	t.Helper()
	other := *client
	other.Token = ""
	var seen api.Registration
	exchange(&other, resumeCode(t, client, id)).Into(http.StatusCreated, &seen)
	if seen.Id != id || seen.Token == nil || *seen.Token == client.Token {
		t.Fatalf("resumed as %+v", seen)
	}
	other.Token = *seen.Token
	return &other, seen
}

func TestResumeOnAnotherDevice(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := frontdesktest.NewClient(t, mock.URL)
	registration := client.Register()
	replaced := resumeCode(t, client, registration.Id)
	code := resumeCode(t, client, registration.Id)
	stranger := frontdesktest.NewClient(t, mock.URL)
	stranger.Do("POST", "/v1/registrations/"+registration.Id+"/resume-link", nil, frontdesktest.Key("")).Problem(api.TokenRequired)
	exchange(stranger, replaced).Problem(api.ResumptionInvalid)

	key := frontdesktest.Key("")
	body := api.Resumption{Resume: code}
	var seen, replayed api.Registration
	stranger.Do("POST", "/v1/resumptions", body, key).Into(http.StatusCreated, &seen)
	stranger.Do("POST", "/v1/resumptions", body, key).Into(http.StatusCreated, &replayed) // the response was lost
	if seen.Id != registration.Id || seen.State != api.Open || seen.Cart.DueNow != registration.Cart.DueNow ||
		frontdesktest.Value(replayed.Token) != *seen.Token {
		t.Errorf("resumed as %+v, again as %+v", seen, replayed)
	}
	other := *stranger
	other.Token = *seen.Token
	other.Do("POST", "/v1/registrations/"+registration.Id+"/items", `{"offerId":"2501"}`, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	if both := client.Registration(registration.Id); len(both.Cart.Items) != 2 {
		t.Errorf("the first device sees %+v", both.Cart)
	}

	cookie := exchange(stranger, resumeCode(t, &other, registration.Id), [2]string{"X-Frontdesk-Session", "cookie"})
	var inCookie api.Registration
	cookie.Into(http.StatusCreated, &inCookie)
	set, err := http.ParseSetCookie(cookie.Header.Get("Set-Cookie"))
	if err != nil || inCookie.Token != nil || !set.HttpOnly || set.Name != "frontdesk-"+registration.Id {
		t.Fatalf("the session is %v, %v, with %s", set, err, cookie.Body)
	}
	stranger.Do("GET", "/v1/registrations/"+registration.Id, nil, [2]string{"Cookie", set.Name + "=" + set.Value}).Into(http.StatusOK, nil)
	client.Registration(registration.Id)
	other.Registration(registration.Id)

	before := len(client.Calls())
	details := map[string]bool{}
	for _, wrong := range []string{
		code, replaced, "made-up", registration.Id, registration.Id + ".", registration.Id + ".wrong", "00000000-0000-0000-0000-000000000000.x",
		"}:registration", *seen.Token,
	} {
		details[*exchange(stranger, wrong).Problem(api.ResumptionInvalid).Detail] = true
	}
	if len(details) != 1 || len(client.Calls()) != before {
		t.Errorf("invalid links differ in %v, and in %d calls", details, len(client.Calls())-before)
	}
	if strings.Contains(mock.Log(), code) || strings.Contains(mock.Log(), *seen.Token) {
		t.Error("the log holds a secret")
	}
}

func TestBadInputForResumptions(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	registration := client.Register()
	for name, test := range map[string]struct {
		path, body string
		headers    [][2]string
		code       api.ProblemCode
	}{
		"no code": {"/v1/resumptions", `{}`, [][2]string{frontdesktest.Key("")}, api.InvalidRequest},
		"empty":   {"/v1/resumptions", `{"resume":""}`, [][2]string{frontdesktest.Key("")}, api.InvalidRequest},
		"too long": {
			"/v1/resumptions", `{"resume":"` + strings.Repeat("x", 201) + `"}`, [][2]string{frontdesktest.Key("")},
			api.InvalidRequest,
		},
		"a number":       {"/v1/resumptions", `{"resume":1}`, [][2]string{frontdesktest.Key("")}, api.InvalidRequest},
		"unknown member": {"/v1/resumptions", `{"resume":"x","id":"y"}`, [][2]string{frontdesktest.Key("")}, api.InvalidRequest},
		"broken":         {"/v1/resumptions", `{`, [][2]string{frontdesktest.Key("")}, api.MalformedRequest},
		"no key":         {"/v1/resumptions", `{"resume":"x"}`, nil, api.MalformedRequest},
		"another session": {
			"/v1/resumptions", `{"resume":"x"}`, [][2]string{frontdesktest.Key(""), {"X-Frontdesk-Session", "token"}},
			api.MalformedRequest,
		},
		"a link, no key":          {"/v1/registrations/" + registration.Id + "/resume-link", ``, nil, api.MalformedRequest},
		"a link, no registration": {"/v1/registrations/nothing/resume-link", ``, [][2]string{frontdesktest.Key("")}, api.RegistrationNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			var body any
			if test.body != "" {
				body = test.body
			}
			client.WithT(t).Do("POST", test.path, body, test.headers...).Problem(test.code)
		})
	}
	client.Do("GET", "/v1/resumptions", nil).Problem(api.MethodNotAllowed)
}

// TestConcurrentResumption has many devices follow one link, at two gateways.
func TestConcurrentResumption(t *testing.T) {
	t.Parallel()
	s := frontdesktest.NewEnv(t)
	_, client := s.Gateway(t)
	_, elsewhere := s.Gateway(t)
	registration := client.Register()
	code := resumeCode(t, client, registration.Id)
	var won atomic.Int32
	var racers sync.WaitGroup
	for i := range 10 {
		racers.Go(func() {
			device := frontdesktest.NewClient(t, []string{client.URL, elsewhere.URL}[i%2])
			if response := exchange(device, code); response.Status == http.StatusCreated {
				won.Add(1)
			} else if !strings.Contains(string(response.Body), `"resumption_invalid"`) {
				t.Errorf("status %d: %s", response.Status, response.Body)
			}
		})
	}
	racers.Wait()
	if won.Load() != 1 {
		t.Errorf("%d devices resumed with one link", won.Load())
	}
	client.Registration(registration.Id)
}

func TestResumeOnlyInItsWorld(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	one, other := frontdesktest.NewClient(t, mock.URL), frontdesktest.NewClient(t, mock.URL)
	one.World, other.World = "demo-one", "demo-other"
	r := one.Register()
	code := resumeCode(t, one, r.Id)
	exchange(other, code).Problem(api.ResumptionInvalid)
	other.World = "demo-one"
	exchange(other, code).Into(http.StatusCreated, nil)
}

// reprice changes the price of the only sale's line at the club system.
func reprice(t *testing.T, world *clubsim.World, from, to int64) {
	t.Helper()
	old, changed := fmt.Sprintf(`"price":%d,`, from), fmt.Sprintf(`"price":%d,`, to)
	state := string(world.Snapshot())
	if !strings.Contains(state, old) {
		t.Fatalf("no article costs %d", from)
	}
	if err := world.Restore([]byte(strings.Replace(state, old, changed, 1))); err != nil {
		t.Fatal(err)
	}
}

// TestResumeReportsChanges checks that the cart matches the club system's current state, or says that
// it does not.
func TestResumeReportsChanges(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	was := registration.Cart.DueNow.Amount

	reprice(t, env.Upstreams.Sim, was, was+1000)
	_, seen := resume(t, client, registration.Id)
	if seen.Cart.DueNow.Amount != was+1000 || !seen.Cart.Valid || frontdesktest.Value(seen.Cart.Stale) || len(seen.Cart.Changes) != 1 {
		t.Fatalf("another price is shown as %+v", seen.Cart)
	}
	if change := seen.Cart.Changes[0]; change.Kind != api.Repriced || change.Price.Amount != was+1000 || change.Was == nil ||
		change.Was.Amount != was {
		t.Errorf("the change is %+v", change)
	}
	if _, again := resume(t, client, registration.Id); len(again.Cart.Changes) != 0 {
		t.Errorf("a visitor who saw the price is notified again: %+v", again.Cart.Changes)
	}

	for kind, fault := range map[string]clubsim.Fault{
		"hangs":         {Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "hang"},
		"fails":         {Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*"}, Kind: "error_before", Status: 500},
		"fails a check": {Match: clubsim.FaultMatch{Method: "GET", Path: "/sales/*/check"}, Kind: "error_before", Status: 503},
	} {
		env.SetFaults(t, fault)
		_, stale := resume(t, client, registration.Id)
		if !frontdesktest.Value(stale.Cart.Stale) || stale.Cart.DueNow.Amount != was+1000 || stale.Message.Code != "cart_stale" ||
			stale.State != api.Open {
			t.Errorf("the club system %s: %+v, %+v", kind, stale.Cart, stale.Message)
		}
	}
	if err := env.Upstreams.Sim.SetFaults(nil); err != nil {
		t.Fatal(err)
	}

	offer := number(frontdesktest.Value(seen.Cart.Items[0].OfferId))
	if err := env.Upstreams.Sim.Configure(func(settings *clubsim.Settings) { settings.WithdrawnOffers = []int{offer} }); err != nil {
		t.Fatal(err)
	}
	phone, gone := resume(t, client, registration.Id)
	if gone.Cart.Valid || len(gone.Cart.Problems) != 1 || gone.Cart.Problems[0].Code != "not_available" ||
		strings.Contains(actions(gone), "pay") {
		t.Errorf("an offer that is gone is shown as %+v, %s", gone.Cart, actions(gone))
	}
	phone.Do("POST", "/v1/registrations/"+registration.Id+"/payment", `{"method":"card"}`, frontdesktest.Key("")).Problem(api.CartInvalid)
}

// TestResumeSignature checks that the other device sees the state of the code, and continues from
// there.
func TestResumeSignature(t *testing.T) {
	t.Parallel()
	debtor := newDebtor(t)
	debtor.mandate(api.SignatureAwaitingCode)
	laptop, seen := resume(t, debtor.Client, debtor.id)
	if seen.Mandate == nil || seen.Mandate.State != api.SignatureAwaitingCode || !strings.Contains(actions(seen), "sign ") {
		t.Errorf("a pending code is shown as %+v, %s", seen.Mandate, actions(seen))
	}
	debtor.upstreams.Sim.Advance(11 * time.Minute)
	debtor.post("/mandate/signature", api.Signature{Code: debtor.code()}).Problem(api.CodeExpired)
	debtor.later()
	tablet, late := resume(t, laptop, debtor.id)
	if late.Mandate.State != api.SignatureExpired || strings.Contains(actions(late), "sign ") || late.Message.Code != "signature_expired" {
		t.Errorf("an expired code is shown as %+v, %s", late.Mandate, actions(late))
	}
	tablet.Do("POST", debtor.path+"/mandate", api.NewMandate{Holder: "Ada Martin", Iban: frontdesktest.GoodIBAN}, frontdesktest.Key("")).
		Into(http.StatusCreated, nil)
	var signed api.Registration
	debtor.answered(tablet.Do("POST", debtor.path+"/mandate/signature", api.Signature{Code: debtor.code()}, frontdesktest.Key("")),
		api.SignatureSigned)
	laptop.Do("GET", debtor.path, nil).Into(http.StatusOK, &signed)
	if !signed.Cart.Valid || signed.Mandate.State != api.SignatureSigned {
		t.Errorf("signed elsewhere: %+v, %+v", signed.Mandate, signed.Cart)
	}
}

// TestResumeWhilePaying checks that two devices make one payment, and both see its outcome.
func TestResumeWhilePaying(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	phone, seen := resume(t, client, registration.Id)
	if seen.State != api.Paying || seen.Payment == nil || seen.Payment.Id != payment.Id || seen.Payment.State != api.RequiresAction {
		t.Fatalf("a payment in progress is shown as %+v", seen)
	}
	client.Confirm(payment, "4000000000000002")
	client.AwaitPayment(registration.Id, api.Declined)
	_, declined := resume(t, phone, registration.Id)
	if declined.Payment.State != api.Declined || declined.Payment.PayAgain != api.PayAgainNewRequest {
		t.Errorf("the decline is shown as %+v", declined.Payment)
	}
	again := phone.Pay(registration.Id)
	if again.Id != payment.Id {
		t.Errorf("the other device began payment %s besides %s", again.Id, payment.Id)
	}
	env.SetFaults(t, clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "drop_after", Times: frontdesktest.Times(1)})
	phone.Confirm(again, "4242424242424242")
	client.AwaitPayment(registration.Id, api.InDoubt)
	_, doubt := resume(t, client, registration.Id)
	if doubt.State != api.Attention || doubt.Payment.PayAgain != api.PayAgainNo || len(doubt.Next) != 0 {
		t.Errorf("the doubt is shown as %+v", doubt)
	}
	if ledger := env.Upstreams.Sim.Ledger(); len(ledger) != 1 {
		t.Errorf("the ledger holds %+v", ledger)
	}
}

// TestResumeEndedRegistration checks that an ended registration can be read, but not changed.
func TestResumeEndedRegistration(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	registration := client.Register()
	client.Confirm(client.Pay(registration.Id), "4242424242424242")
	client.Await(registration.Id, api.Completed)
	phone, seen := resume(t, client, registration.Id)
	if seen.State != api.Completed || seen.Payment.State != api.Recorded || len(seen.Next) != 0 {
		t.Errorf("a completed one is shown as %+v", seen)
	}
	phone.Do("POST", "/v1/registrations/"+registration.Id+"/items", `{"offerId":"2501"}`,
		frontdesktest.Key("")).Problem(api.RegistrationClosed)

	client.Token = ""
	registration = client.Register()
	code := resumeCode(t, client, registration.Id)
	client.Do("DELETE", "/v1/registrations/"+registration.Id, nil).Into(http.StatusOK, nil)
	before := len(client.Calls())
	var abandoned api.Registration
	exchange(frontdesktest.NewClient(t, client.URL), code).Into(http.StatusCreated, &abandoned)
	if abandoned.State != api.Abandoned || len(abandoned.Next) != 0 || len(client.Calls()) != before {
		t.Errorf("an abandoned one is shown as %+v, after %d calls", abandoned, len(client.Calls())-before)
	}
}

// TestResumeAfterRedisLoss checks that a link is lost with its registration. A visitor who resumed
// before still holds the registration, because every token is signed.
func TestResumeAfterRedisLoss(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	registration := client.Register()
	phone, _ := resume(t, client, registration.Id)
	payment := phone.Pay(registration.Id)
	code := resumeCode(t, client, registration.Id)
	frontdesktest.FlushRedis(t, env.Redis)
	stranger := frontdesktest.NewClient(t, client.URL)
	exchange(stranger, code).Problem(api.ResumptionInvalid)
	for _, device := range []*frontdesktest.Client{phone, client} {
		if seen := device.Registration(registration.Id); seen.Payment == nil || seen.Payment.Id != payment.Id {
			t.Errorf("a holder sees %+v", seen)
		}
	}
	exchange(stranger, code).Problem(api.ResumptionInvalid)
	tablet, rebuilt := resume(t, client, registration.Id)
	if rebuilt.Payment == nil || rebuilt.Payment.Id != payment.Id {
		t.Errorf("what was rebuilt is resumed as %+v", rebuilt)
	}
	phone.Confirm(payment, "4242424242424242")
	for _, device := range []*frontdesktest.Client{tablet, phone, client} {
		device.Await(registration.Id, api.Completed)
	}
	env.ExpectOnePayment(t, payment.Total.Amount)
}
