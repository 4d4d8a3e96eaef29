package handlers_test

import (
	"bytes"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// stepWalk compares the steps that it reaches with the contract's table.
type stepWalk struct {
	t       *testing.T
	table   map[api.Step][]api.ActionName
	reached map[api.Step]bool
}

// expect waits until a registration reaches a step. The client compares its main action with the contract's.
func (w *stepWalk) expect(c *frontdesktest.Client, id string, want api.Step) (registration api.Registration) {
	w.t.Helper()
	frontdesktest.Eventually(w.t, "the step "+string(want), func() bool {
		registration = c.Registration(id)
		return registration.Step == want
	})
	if over := want == api.StepDone || want == api.StepAbandoned || want == api.StepExpired; registration.Final != over {
		w.t.Errorf("%s is final: %t", want, registration.Final)
	}
	w.reached[want] = true
	return registration
}

// becomeMinor returns a registration whose buyer is an adult until staff correct the birth date.
func becomeMinor(t *testing.T, client *frontdesktest.Client, sim *clubsim.World, item api.NewItem) (id string) {
	t.Helper()
	person := frontdesktest.Person()
	person.BirthDate = "1991-02-03"
	id = client.RegisterWith("12", person, item).Id
	corrected := strings.ReplaceAll(string(sim.Snapshot()), person.BirthDate, frontdesktest.Day(-16*365))
	frontdesktest.Must(t, sim.Restore([]byte(corrected)))
	client.RequestPayment(id, `{"method":"card"}`).Problem(api.GuardianRequired)
	return id
}

// TestSteps reaches every step of the contract's table.
func TestSteps(t *testing.T) {
	t.Parallel()
	walk := &stepWalk{t, frontdesktest.Steps(t), map[api.Step]bool{}}
	outside, redisURL, secret := frontdesktest.NewUpstreams(t), frontdesktest.NewRedis(t), bytes.Repeat([]byte("s"), 32)
	gateway := frontdesktest.Start(
		t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+outside.URL+"/sim", "FRONTDESK_SANDBOX_URL="+outside.URL+"/sandbox",
		"FRONTDESK_REDIS_URL="+redisURL, "FRONTDESK_SEAL_KEYS="+base64.StdEncoding.EncodeToString(secret),
	)
	age := ageing(t, redisURL, secret)
	visitor := func(person *api.Person, items ...api.NewItem) (*frontdesktest.Client, string) {
		c := frontdesktest.NewClient(t, gateway.URL)
		c.UpstreamsURL = outside.URL
		return c, c.RegisterWith("11", person, items...).Id
	}
	quarter, debited := api.NewItem{OfferId: "201", StartDate: new("2031-03-01")}, frontdesktest.DebitItem("2031-03-01")

	client, id := visitor(nil)
	walk.expect(client, id, api.StepPerson)
	age(id)
	walk.expect(client, id, api.StepExpired)
	client, id = visitor(frontdesktest.Person())
	walk.expect(client, id, api.StepItems)
	client.Do("DELETE", "/v1/registrations/"+id, nil).Into(http.StatusOK, nil)
	walk.expect(client, id, api.StepAbandoned)
	child := frontdesktest.Person()
	child.BirthDate = "2016-01-01"
	client, id = visitor(child, api.NewItem{OfferId: "401", StartDate: new("2031-03-01")})
	walk.expect(client, id, api.StepFixCart)

	client, _ = visitor(nil)
	walk.expect(client, becomeMinor(t, client, outside.Sim, quarter), api.StepGuardian)

	client, id = visitor(frontdesktest.Person(), debited)
	path := "/v1/registrations/" + id
	walk.expect(client, id, api.StepMandate)
	client.Do("POST", path+"/mandate", api.NewMandate{Holder: "Ada Martin", Iban: frontdesktest.GoodIBAN}, frontdesktest.Key("")).
		Into(http.StatusCreated, nil)
	if r := walk.expect(client, id, api.StepCode); r.Mandate.Covers {
		t.Error("a mandate without its code covers the cart")
	}
	sent := client.SMS()
	client.Do("POST", path+"/mandate/signature", api.Signature{Code: sent[len(sent)-1].Code}, frontdesktest.Key("")).Into(http.StatusCreated,
		nil)
	if r := walk.expect(client, id, api.StepReady); !r.Mandate.Covers {
		t.Error("the signed mandate does not cover the cart")
	}
	payment := client.Pay(id)
	walk.expect(client, id, api.StepAtProcessor)
	var clubs api.ClubList
	client.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, &clubs)
	page := client.Do("GET", *payment.Card.RedirectUrl, nil, [2]string{"Accept", "text/html"})
	if !strings.Contains(string(page.Body), clubs.Items[0].Name) {
		t.Errorf("the processor's page does not name the club %q: %s", clubs.Items[0].Name, page.Body)
	}
	client.EnterCard(payment, frontdesktest.DeclinedCard)
	walk.expect(client, id, api.StepDeclined)
	reached := outside.HoldResponses(http.MethodPost, "/sales/*/payments")
	client.Confirm(client.Pay(id), "4242424242424242")
	frontdesktest.Receive(t, reached, "the payment is being recorded")
	walk.expect(client, id, api.StepWaiting)
	outside.Release()
	walk.expect(client, id, api.StepDone)

	client, id = visitor(frontdesktest.Person(), quarter)
	payment = client.Pay(id)
	if err := outside.Sim.SetFaults([]clubsim.Fault{{Match: frontdesktest.RecordPayment, Kind: "drop_after"}}); err != nil {
		t.Fatal(err)
	}
	client.Confirm(payment, "4242424242424242")
	walk.expect(client, id, api.StepWithStaff)
	for _, step := range slices.Sorted(maps.Keys(walk.table)) {
		if !walk.reached[step] {
			t.Errorf("%s was not reached", step)
		}
	}
	if len(walk.table) != 14 {
		t.Errorf("the table has %d steps", len(walk.table))
	}
}

// TestStepWithoutMethod: if the operator offers the caller no payment method for a cart, the step does not
// promise one.
func TestStepWithoutMethod(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.Start(t, "FRONTDESK_METHODS=visitor:card")
	client := frontdesktest.NewClient(t, gateway.URL)
	registration := client.RegisterWith("11", frontdesktest.Person(), api.NewItem{OfferId: frontdesktest.FreeTrial})
	if registration.Step != api.StepFixCart || registration.Cart.Valid || len(registration.Cart.Problems) != 1 ||
		registration.Cart.Problems[0].Code != "no_method" {
		t.Errorf("a cart that this visitor cannot settle is at %s: %+v", registration.Step, registration.Cart)
	}
	french := client.Do("GET", "/v1/registrations/"+registration.Id, nil, [2]string{"Accept-Language", "fr"})
	if !strings.Contains(string(french.Body), "Ce panier") {
		t.Errorf("not in French: %s", french.Body)
	}
	var staff api.Registration
	client.Do("GET", "/v1/registrations/"+registration.Id, nil, frontdesktest.StaffKey()).Into(http.StatusOK, &staff)
	if staff.Step != api.StepReady || !staff.Cart.Valid || staff.Cart.Revision != registration.Cart.Revision {
		t.Errorf("the club's staff can settle it: %s, %+v", staff.Step, staff.Cart)
	}

	registration = client.RegisterWith("11", frontdesktest.Person(), api.NewItem{OfferId: "201", StartDate: new("2031-03-01")})
	for range 5 {
		client.Confirm(client.Pay(registration.Id), "4000000000000002")
		frontdesktest.Eventually(t, "the decline", func() bool {
			return client.Registration(registration.Id).Payment.State != api.RequiresAction
		})
	}
	frontdesktest.Eventually(t, "the end of the payment",
		func() bool { return client.Registration(registration.Id).Payment.State == api.Cancelled })
	registration = client.Registration(registration.Id)
	if registration.Step != api.StepWithStaff {
		t.Errorf("a visitor whose cards are no longer accepted is at %s with %v", registration.Step, registration.Next)
	}
}
