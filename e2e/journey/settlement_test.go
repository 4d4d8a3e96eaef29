package journey_test

import (
	"net/http"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// TestPaymentMethods tries each method, without faults and with each failure of the club system.
func TestPaymentMethods(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	later := map[string]string{"method": "later", "dueDate": time.Now().AddDate(0, 1, 0).Format(time.DateOnly)}
	for name, way := range map[string]struct {
		body   any
		path   string
		ledger int
	}{
		"later": {later, "/sales/*/postpone_due", 0},
		"free":  {map[string]string{"method": "free"}, "/sales/*/transitions", 0},
		"desk":  {map[string]string{"method": "desk", "mean": "cash"}, "/sales/*/payments", 1},
	} {
		// In this order: the brake holds after three in a row that the club system did not record.
		for _, test := range []struct {
			name    string
			fault   *clubsim.Fault
			status  int
			state   api.PaymentState
			applied bool
		}{
			{"rejected", &clubsim.Fault{Kind: "error_before", Status: 422}, http.StatusCreated, api.Cancelled, false},
			{"error before effect", &clubsim.Fault{Kind: "error_before", Status: 503}, http.StatusAccepted, api.InDoubt, false},
			{"well", nil, http.StatusCreated, api.Recorded, true},
			{"answer lost", &clubsim.Fault{Kind: "drop_after"}, http.StatusAccepted, api.InDoubt, true},
			{"error after effect", &clubsim.Fault{Kind: "error_after", Status: 500}, http.StatusAccepted, api.InDoubt, true},
			{"token refused once", &clubsim.Fault{Kind: "unauthorized_once"}, http.StatusCreated, api.Recorded, true},
		} {
			t.Run(name+": "+test.name, func(t *testing.T) {
				before := len(env.Upstreams.Sim.Ledger())
				client := client.WithT(t)
				var registration api.Registration
				if name == "free" {
					registration = client.RegisterWith("11", frontdesktest.Person(), api.NewItem{OfferId: frontdesktest.FreeTrial})
				} else {
					registration = client.Register()
				}
				if test.fault != nil {
					test.fault.Match, test.fault.Times = clubsim.FaultMatch{Method: "POST", Path: way.path}, frontdesktest.Times(1)
					env.SetFaults(t, *test.fault)
				}
				var payment api.Payment
				client.RequestPayment(registration.Id, way.body, frontdesktest.StaffKey()).Into(test.status, &payment)
				if payment.State != test.state || payment.Card != nil || string(payment.Method) != name {
					t.Errorf("the payment is %+v", payment)
				}
				if due := payment.DueDate; (due != nil) != (name == "later") || due != nil && *due != later["dueDate"] {
					t.Errorf("it is due by %v", due)
				}
				if got := len(env.Upstreams.Sim.Ledger()) - before; test.applied && got != way.ledger || !test.applied && got != 0 {
					t.Errorf("the ledger has %d lines more", got)
				}
				end := client.Registration(registration.Id)
				want := map[api.PaymentState]api.RegistrationState{
					api.Recorded: api.Completed, api.Cancelled: api.Open, api.InDoubt: api.Attention,
				}[test.state]
				if end.State != want {
					t.Errorf("the registration is %s", end.State)
				}
				if !env.Upstreams.Sim.Audit().OK {
					t.Errorf("the audit finds %+v", env.Upstreams.Sim.Audit())
				}
			})
		}
	}
}

// TestPaymentExamples checks that the examples of openapi.yaml can be pasted.
func TestPaymentExamples(t *testing.T) {
	t.Parallel()
	document := frontdesktest.Document(t)
	examples := document.Paths.Value("/v1/registrations/{id}/payment").Post.RequestBody.Value.Content.Get("application/json").Examples
	if len(examples) < 6 {
		t.Errorf("there are %d examples", len(examples))
	}
	client, _ := frontdesktest.NewWorld(t)
	later := time.Now().AddDate(0, 0, 20).Format(time.DateOnly) // after the days of a withdrawal
	due := time.Now().AddDate(0, 1, 0).Format(time.DateOnly)
	for name, example := range examples {
		body := example.Value.Value.(map[string]any)
		delete(body, "cart") // that of the cart of this test is sent
		if name == "later" { // no date in the contract stays within the bound
			body["dueDate"] = due
		}
		offer := "201" // it costs the sum of the examples' cards and cheques
		if name == "free" {
			offer = frontdesktest.FreeTrial
		}
		var registration api.Registration
		client.Do("POST", "/v1/registrations", api.StartRegistration{
			ClubId: client.Club(), Person: frontdesktest.Person(), Items: &[]api.NewItem{{OfferId: offer, StartDate: &later}},
		}, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
		client.Token = *registration.Token
		if _, agrees := body["agreements"]; agrees { // to other bytes than this club's
			body["agreements"] = frontdesktest.AgreementsOf(registration)
		}
		response := client.RequestPayment(registration.Id, example.Value.Value, frontdesktest.StaffKey())
		if response.Status != http.StatusCreated {
			t.Errorf("%s: status %d: %s", name, response.Status, response.Body)
		}
	}
}

// TestClosedRegistrationIsNotRetried checks that a client that follows "retry" is not sent to a closed
// registration.
func TestClosedRegistrationIsNotRetried(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id
	started := func(status int) (payment api.Payment) {
		client.Do("POST", path+"/payment", map[string]string{"method": "card"}, frontdesktest.Key("the first payment")).Into(status, &payment)
		return payment
	}
	if payment := started(http.StatusCreated); payment.State != api.RequiresAction {
		t.Fatalf("the payment is %+v", payment)
	}
	var abandoned api.Registration
	client.Do("DELETE", path, nil).Into(http.StatusOK, &abandoned)
	for where, seen := range map[string]api.Payment{
		"abandoning":       *abandoned.Payment,
		"the registration": *client.Registration(registration.Id).Payment,
		"the replay":       started(http.StatusCreated),
	} {
		if seen.State != api.Cancelled || seen.PayAgain != api.PayAgainNo {
			t.Errorf("%s shows %+v", where, seen)
		}
	}
	client.RequestPayment(registration.Id, map[string]string{"method": "card"}).Problem(api.RegistrationClosed)
}

// TestRefusedPaymentMethods covers methods that do not fit the amount, and those reserved for staff.
func TestRefusedPaymentMethods(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	cash := map[string]string{"method": "desk", "mean": "cash"}
	wrong := [2]string{"X-Frontdesk-Staff-Key", "not-a-staff-key-1"}
	registration := client.Register()
	client.RequestPayment(registration.Id, cash).Problem(api.StaffOnly)
	refused := client.RequestPayment(registration.Id, cash, wrong)
	refused.Problem(api.StaffKeyUnknown)
	if refused.Status != http.StatusUnauthorized || refused.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("a wrong key is answered by %d", refused.Status)
	}
	client.RequestPayment(registration.Id, map[string]string{"method": "free"}).Problem(api.AmountDue)
	tooLittle := `{"method":"desk","mean":"card","cards":[{"paid":{"amount":1,"currency":"EUR"},"network":"CBGroup"}]}`
	sum := client.RequestPayment(registration.Id, tooLittle, frontdesktest.StaffKey()).Problem(api.InvalidRequest)
	if frontdesktest.Place((*sum.Errors)[0]) != "/cards" {
		t.Errorf("points at %+v", sum.Errors)
	}
	for name, headers := range map[string][][2]string{"the buyer": nil, "staff": {frontdesktest.StaffKey()}} {
		var seen api.Registration
		client.Do("GET", "/v1/registrations/"+registration.Id, nil, headers...).Into(http.StatusOK, &seen)
		want := []api.PaymentMethod{api.PaymentMethodCard, api.PaymentMethodLater}
		if headers != nil {
			want = append(want, api.PaymentMethodDesk)
		}
		if got := frontdesktest.Value(seen.Next[0].Methods); !slices.Equal(got, want) {
			t.Errorf("%s can settle by %v", name, got)
		}
	}
	free := client.RegisterWith("11", frontdesktest.Person(), api.NewItem{OfferId: frontdesktest.FreeTrial})
	client.RequestPayment(free.Id, map[string]string{"method": "card"}).Problem(api.NothingDue)
	if r := client.Records(); len(r.Ledger) != 0 {
		t.Errorf("the ledger holds %+v", r.Ledger)
	}
}

// TestConcurrentPaymentMethods has many callers request to pay later and at the desk at once; one
// settles.
func TestConcurrentPaymentMethods(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, one := env.Gateway(t)
	_, other := env.Gateway(t)
	registration := one.Register()
	other.Token = one.Token
	later := map[string]string{"method": "later", "dueDate": time.Now().AddDate(0, 1, 0).Format(time.DateOnly)}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { one.RequestPayment(registration.Id, later) })
		group.Go(func() {
			other.RequestPayment(registration.Id, map[string]string{"method": "desk", "mean": "cash"}, frontdesktest.StaffKey())
		})
	}
	group.Wait()
	end := one.Await(registration.Id, api.Completed)
	want := map[api.PaymentMethod]int{api.PaymentMethodLater: 0, api.PaymentMethodDesk: 1}[end.Payment.Method]
	settled := 0
	for _, request := range env.Upstreams.Sim.Requests() {
		postponed, _ := path.Match("/sales/*/postpone_due", request.Path)
		paid, _ := path.Match("/sales/*/payments", request.Path)
		if request.Method == http.MethodPost && (postponed || paid) {
			settled++
		}
	}
	if got := len(env.Upstreams.Sim.Ledger()); got != want || settled != 1 {
		t.Errorf("settled by %s: %d lines in the ledger after %d requests", end.Payment.Method, got, settled)
	}
}

// TestDeskWhileTheBrakeHolds: staff take money three times while the club system records nothing, so the brake engages. Two more
// members of staff take money: one payment is the probe, and the other waits until that was accepted. Each is recorded once.
func TestDeskWhileTheBrakeHolds(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	pay := func(holder *frontdesktest.Client, registration api.Registration) *frontdesktest.Response {
		return holder.RequestPayment(registration.Id, map[string]string{"method": "desk", "mean": "cash"}, frontdesktest.StaffKey())
	}
	booked := func() int { return len(env.Upstreams.Sim.Ledger()) }
	env.SetFaults(t, clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "error_before", Status: 502, Times: frontdesktest.Times(3)})
	for range 3 {
		var doubt api.Payment
		pay(client, client.Register()).Into(http.StatusAccepted, &doubt)
		if doubt.State != api.InDoubt {
			t.Fatalf("the payment is %+v", doubt)
		}
	}
	probe, first := *client, client.Register()
	probe.Token = client.Token
	waiting, second := *client, client.Register()
	waiting.Token = client.Token
	env.SetFaults(t, clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "delay", DelayMs: 20_000, Times: frontdesktest.Times(1)})
	var group sync.WaitGroup
	group.Go(func() { pay(&probe, first) })
	frontdesktest.Eventually(t, "the club system has booked the probe, and its response is on its way", func() bool { return booked() == 1 })
	var held api.Payment
	pay(&waiting, second).Into(http.StatusCreated, &held)
	if held.State != api.Processing || booked() != 1 {
		t.Errorf("the payment is %+v, and %d are booked", held, booked())
	}
	group.Wait()
	probe.AwaitPayment(first.Id, api.Recorded)
	waiting.AwaitPayment(second.Id, api.Recorded)
	if audit := env.Upstreams.Sim.Audit(); booked() != 2 || !audit.OK {
		t.Errorf("%d payments are booked, and the audit finds %+v", booked(), audit)
	}
}

// TestDueDateIsBounded checks that a payment cannot be deferred for years, and that every offered date
// is accepted.
func TestDueDateIsBounded(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	for name, test := range map[string]struct {
		environment []string
		days        int
	}{
		"as it is":   {nil, 90},
		"configured": {[]string{"FRONTDESK_METHODS=later-days:14"}, 14},
	} {
		_, client := env.Gateway(t, test.environment...)
		before := len(env.Upstreams.Sim.Requests())
		registration := client.Register()
		later := func(dueDate string) any { return map[string]string{"method": "later", "dueDate": dueDate} }
		for _, day := range []string{"2020-01-31", time.Now().AddDate(5, 0, -1).Format(time.DateOnly), frontdesktest.Day(test.days + 2)} {
			problem := client.RequestPayment(registration.Id, later(day), frontdesktest.StaffKey()).Problem(api.InvalidRequest)
			if frontdesktest.Place((*problem.Errors)[0]) != "/dueDate" {
				t.Errorf("%s: %+v", name, problem.Errors)
			}
		}
		latest := registration.Next[0].LatestDueDate
		if latest == nil || *latest != frontdesktest.Day(test.days) && *latest != frontdesktest.Day(test.days-1) {
			t.Fatalf("%s: the latest due date is %v, want %s", name, frontdesktest.Value(latest), frontdesktest.Day(test.days))
		}
		if calls := postponed(env, before); calls != 0 {
			t.Errorf("%s: %d sales were deferred", name, calls)
		}
		client.RequestPayment(registration.Id, later(*latest)).Into(http.StatusCreated, nil)
		if calls := postponed(env, before); calls != 1 {
			t.Errorf("%s: %d sales were deferred", name, calls)
		}
	}
}

// postponed counts the club system's deferrals since a request.
func postponed(s frontdesktest.Env, since int) (n int) {
	for _, request := range s.Upstreams.Sim.Requests()[since:] {
		if is, _ := path.Match("/sales/*/postpone_due", request.Path); is && request.Method == http.MethodPost {
			n++
		}
	}
	return n
}

// TestMethodsByCaller checks that each kind of caller is offered, and may use, its configured methods.
func TestMethodsByCaller(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t, "FRONTDESK_METHODS=visitor:card+free,contact:later,staff:later+free+desk")
	visitor, customer := client.Register(), api.Registration{}
	startAs(client.As("customer"), "11", "201").Into(http.StatusCreated, &customer)
	later := map[string]string{"method": "later", "dueDate": time.Now().AddDate(0, 0, 14).Format(time.DateOnly)}
	bodies := map[api.PaymentMethod]any{
		"card":  map[string]string{"method": "card"},
		"later": later,
		"desk":  map[string]string{"method": "desk", "mean": "cash"},
	}
	for name, test := range map[string]struct {
		registration api.Registration
		headers      [][2]string
		offered      []api.PaymentMethod
	}{
		"a visitor":                 {visitor, nil, []api.PaymentMethod{"card"}},
		"an identified contact":     {customer, nil, []api.PaymentMethod{"later"}},
		"staff, with a visitor":     {visitor, [][2]string{frontdesktest.StaffKey()}, []api.PaymentMethod{"later", "desk"}},
		"staff, with a known buyer": {customer, [][2]string{frontdesktest.StaffKey()}, []api.PaymentMethod{"later", "desk"}},
	} {
		holder := *client
		holder.Token = *test.registration.Token
		var seen api.Registration
		holder.Do("GET", "/v1/registrations/"+seen.Id+test.registration.Id, nil, test.headers...).Into(http.StatusOK, &seen)
		if got := frontdesktest.Value(seen.Next[0].Methods); seen.Next[0].Action != "pay" || !slices.Equal(got, test.offered) {
			t.Errorf("%s is offered %v, want %v", name, got, test.offered)
		}
		if has := seen.Next[0].LatestDueDate != nil; has != slices.Contains(test.offered, "later") {
			t.Errorf("%s: has a latest due date: %t", name, has)
		}
		for method, body := range bodies {
			if slices.Contains(test.offered, method) {
				continue
			}
			want := api.ProblemCode("method_not_offered")
			if method == "desk" {
				want = api.StaffOnly
			}
			if problem := holder.RequestPayment(seen.Id, body, test.headers...).Problem(want); problem.Status != http.StatusForbidden {
				t.Errorf("%s, %s: %+v", name, method, problem)
			}
		}
	}
	if n := postponed(env, 0); n != 0 {
		t.Errorf("%d sales were deferred for callers who may not", n)
	}
	holder := *client
	holder.Token = *customer.Token
	holder.RequestPayment(customer.Id, later).Into(http.StatusCreated, nil)
	holder.Token = *visitor.Token
	holder.RequestPayment(visitor.Id, later, frontdesktest.StaffKey()).Into(http.StatusCreated, nil)
	if n := postponed(env, 0); n != 2 || len(env.Upstreams.Sim.Ledger()) != 0 {
		t.Errorf("%d sales were deferred, want 2; ledger %+v", n, env.Upstreams.Sim.Ledger())
	}
}
