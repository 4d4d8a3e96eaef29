package handlers_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/handlers"
	"frontdesk/upstream/clubsim"
)

// TestFaultsBehindCaches: a fault of mock mode shows at once in what the gateway has read before, and its end does, too.
func TestFaultsBehindCaches(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	for path, of := range map[string]string{"/v1/clubs/11": "/clubs/*", "/v1/clubs/11/products": "/products",
		"/v1/clubs/11/debit-days": "/allowed_debit_days"} {
		client.Do("GET", path, nil).Into(http.StatusOK, nil)
		client.Control("PUT", "faults", `[{"match":{"path":"`+of+`"},"kind":"error_before","status":500}]`).Into(http.StatusOK, nil)
		client.Do("GET", path, nil).Problem(api.ClubSystemFailed)
		client.Control("PUT", "faults", `[]`).Into(http.StatusOK, nil)
		client.Do("GET", path, nil).Into(http.StatusOK, nil)
	}
}

// TestProvokeEveryProblem has every operation of the contract answer every problem that it can answer, by a fault, in every language's
// own words, and once. The client compares each with the contract.
func TestProvokeEveryProblem(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	client.World = "demo-provoked"
	registration := client.Register()
	operations, err := handlers.Operations(frontdesktest.Contract(t))
	frontdesktest.Must(t, err)
	provoked := map[string]bool{}
	for _, op := range operations {
		at := strings.NewReplacer("{id}", registration.Id, "{clubId}", "11", "{offerId}", "201").Replace(op.Path)
		for _, code := range op.Codes {
			client.Control("PUT", "faults", []clubsim.Fault{{
				Match: clubsim.FaultMatch{Method: op.Method, Path: op.Path}, Kind: "problem", Code: code, Times: new(1),
			}}).Into(http.StatusOK, nil)
			var body any
			if op.Method != http.MethodGet {
				body = "{}"
			}
			problem := client.Do(op.Method, at, body).Problem(api.ProblemCode(code))
			if problem.TraceId == nil || problem.Registration == nil && problem.Status == http.StatusConflict && strings.Contains(op.Path, "{id}") {
				t.Errorf("%s %s: %+v", op.Method, op.Path, problem)
			}
			if code == "challenge_required" && problem.Challenge == nil {
				t.Error("a captcha is required, but which one is not said")
			}
			provoked[code] = true
		}
	}
	client.Do("PUT", "/v1/clubs", nil).Problem(api.MethodNotAllowed)
	provoked["method_not_allowed"] = true
	for _, code := range frontdesktest.Document(t).Components.Schemas["ProblemCode"].Value.Enum {
		if !provoked[code.(string)] {
			t.Errorf("%s was not provoked", code)
		}
	}
	client.Do("GET", "/v1/registrations/"+registration.Id, nil).Into(http.StatusOK, &registration)
	client.Control("PUT", "faults", []clubsim.Fault{{
		Match: clubsim.FaultMatch{Path: "/v1/**"}, Kind: "problem", Code: "storage_unavailable", Times: new(1),
	}}).Into(http.StatusOK, nil)
	french := client.Do("GET", "/v1/registrations/"+registration.Id, nil, [2]string{"Accept-Language", "fr"})
	if french.Header.Get("Retry-After") == "" || french.Problem(api.StorageUnavailable).Title != "Momentanément indisponible" {
		t.Errorf("in French: %s", french.Body)
	}
}

// TestProvokeTime: the gateway's own routes are slow, silent, or lose their response after the effect, in one world alone.
func TestProvokeTime(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	client.World = "demo-slow"
	set := func(fault clubsim.Fault) {
		t.Helper()
		client.Control("PUT", "faults", []clubsim.Fault{fault}).Into(http.StatusOK, nil)
	}
	set(clubsim.Fault{Match: clubsim.FaultMatch{Path: "/v1/**"}, Kind: "delay", DelayMs: 700})
	client.Do("GET", "/v1/config", nil).Into(http.StatusOK, nil) // fills the cache of responses
	for _, path := range []string{"/v1/config", "/v1/clubs/11"} {
		began := time.Now()
		client.Do("GET", path, nil).Into(http.StatusOK, nil)
		if took := time.Since(began); took < 700*time.Millisecond {
			t.Errorf("%s took %s", path, took)
		}
	}
	start := api.StartRegistration{ClubId: "11", Person: frontdesktest.Person()}
	key := frontdesktest.Key("")
	set(clubsim.Fault{Match: clubsim.FaultMatch{Method: "POST", Path: "/v1/registrations"}, Kind: "drop_after"})
	if _, err := client.Try("POST", "/v1/registrations", start, key); !errors.Is(err, io.EOF) {
		t.Fatalf("a response came: %v", err)
	}
	client.Control("PUT", "faults", "[]").Into(http.StatusOK, nil)
	again := client.Do("POST", "/v1/registrations", start, key)
	again.Into(http.StatusCreated, nil)
	if again.Header.Get("Idempotent-Replayed") != "true" {
		t.Error("the request whose response was lost had no effect")
	}
	set(clubsim.Fault{Match: clubsim.FaultMatch{Path: "/v1/clubs"}, Kind: "hang"})
	ended := make(chan error, 1)
	go func() { _, err := client.Try("GET", "/v1/clubs", nil); ended <- err }()
	other := *client
	other.World = "demo-other"
	other.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, nil)
	frontdesktest.Eventually(t, "the fault is hit", func() bool {
		return strings.Contains(string(client.Control("GET", "faults", nil).Body), `"hits":1`)
	})
	if len(ended) > 0 {
		t.Error("a request that hangs has ended")
	}
}

// TestProvokingAddress: the e-mail address of a buyer provokes a problem at the action that it names, until it is corrected. One that
// can provoke nothing is refused.
func TestProvokingAddress(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	person := frontdesktest.Person()
	start := func() *frontdesktest.Response {
		return client.Do("POST", "/v1/registrations", api.StartRegistration{
			ClubId: "11", Person: person, Items: &[]api.NewItem{{OfferId: "201", StartDate: new("2031-03-01")}},
		}, frontdesktest.Key(""))
	}
	for _, wrong := range []string{"pay.unavailable", "buy.overloaded", "check.code_wrong", "overloaded", "start."} {
		person.Email = wrong + "@fault.example"
		problem := start().Problem(api.InvalidRequest)
		fields := *problem.Errors
		if len(fields) != 1 || *fields[0].Pointer != "/person/email" || !strings.Contains(fields[0].Text, "provokes nothing") {
			t.Errorf("%s: %+v", wrong, fields)
		}
	}
	person.Email = "Start.overloaded@fault.example"
	start().Problem(api.Overloaded)
	person.Email = "pay.processor_unavailable@fault.example"
	var registration api.Registration
	start().Into(http.StatusCreated, &registration)
	client.Token = *registration.Token
	for range 2 {
		client.RequestPayment(registration.Id, `{"method":"card"}`).Problem(api.ProcessorUnavailable)
	}
	client.Registration(registration.Id)
	client.Do("PATCH", "/v1/registrations/"+registration.Id+"/person", `{"email":"ada@visitor.example"}`).Into(http.StatusOK, nil)
	client.Confirm(client.Pay(registration.Id), "4242424242424242")
	client.Await(registration.Id, api.Completed)
}

// TestProvokingAddressInTestMode: elsewhere such an address is an address.
func TestProvokingAddressInTestMode(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	_, client := env.Gateway(t)
	person := frontdesktest.Person()
	person.Email = "start.overloaded@fault.example"
	client.RegisterWith("11", person)
}
