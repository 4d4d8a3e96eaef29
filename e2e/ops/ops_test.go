package ops_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/upstream/clubsim"
)

// runCLI runs the command as an operator does, with the address of a gateway's operators' listener, and
// returns its output.
func runCLI(t *testing.T, at string, words ...string) (said string, ok bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), frontdesktest.Binary(t), append([]string{"payments"}, words...)...)
	cmd.Env = []string{"FRONTDESK_OPS_ADDR=" + at}
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func mustRunCLI(t *testing.T, at string, words ...string) string {
	t.Helper()
	said, ok := runCLI(t, at, words...)
	if !ok {
		t.Fatalf("payments %s: %s", strings.Join(words, " "), said)
	}
	return said
}

// inDoubtPayment brings a registration's payment into doubt: the club system fails before any effect,
// and does not say so.
func inDoubtPayment(t *testing.T, client *frontdesktest.Client) (registration api.Registration, payment string) {
	t.Helper()
	registration = client.Register()
	started := client.Pay(registration.Id)
	fault := clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "error_before", Status: 503, Times: frontdesktest.Times(1)}
	client.Do("PUT", "/sim/demo/_control/faults", []clubsim.Fault{fault}).Into(http.StatusOK, nil)
	client.Confirm(started, "4242424242424242")
	client.AwaitPayment(registration.Id, api.InDoubt)
	return registration, registration.Id + "-1"
}

func TestOperatorAtTheTerminal(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := frontdesktest.NewClient(t, mock.URL)
	at := mock.OpsAddress()
	expectAll(t, mustRunCLI(t, at, "list"), "No payment waits for an operator.")
	registration, id := inDoubtPayment(t, client)

	expectAll(t, mustRunCLI(t, at, "list"), "PAYMENT", id, "in_doubt", registration.Contact.Number, "/demo/sales/")
	expectAll(t, mustRunCLI(t, at, "list", "--state", "recorded"), "No payment is in state recorded.")
	expectAll(t, mustRunCLI(t, at, "show", id), "in_doubt since", "captured", "fd_post_1", "before the capture", "building", "temp",
		"What it means", "frontdesk payments confirm-recorded "+id, "can be decided from")
	var listed payment.Page
	err := json.Unmarshal([]byte(mustRunCLI(t, at, "--json", "list", "--all")), &listed)
	if err != nil || len(listed.Items) != 1 || string(listed.Items[0].ID) != id {
		t.Errorf("listed: %+v, %v", listed, err)
	}
	expectAll(t, mustRunCLI(t, at, "list", "--operator-token="), id) // an empty token counts as not set: the demo operator's
	expectAll(t, mustRunCLI(t, at, "note", id, "called the club"), "Noted at")

	for _, wrong := range []struct {
		words []string
		said  string
	}{
		{[]string{"confirm-not-recorded", id, "--send-again"}, "possible from"},
		{[]string{"confirm-not-recorded", id, "--cancel"}, "cannot be cancelled"},
		{[]string{"confirm-not-recorded", id}, "at least one of the flags in the group [send-again refund cancel] is required"},
		{[]string{"confirm-not-recorded", id, "--send-again", "--refund"}, "none of the others can be"},
		{[]string{"confirm-recorded", id, "--operator-token", "guessed"}, "The operator's token is not known here"},
		{[]string{"list", "--operator-token", "guessed"}, "Set FRONTDESK_OPERATOR_TOKEN"},
		{[]string{"confirm-recorded", "nothing-1"}, "No such payment"},
		{[]string{"show", "../../healthz"}, "Invalid payment id"},
		{[]string{"show"}, "<id>"},
		{[]string{"list", "--state", "lost"}, "must be one of priced, intent, "},
	} {
		if said, ok := runCLI(t, at, wrong.words...); ok || !strings.Contains(said, wrong.said) {
			t.Errorf("payments %s: %t, %s", strings.Join(wrong.words, " "), ok, said)
		}
	}
	expectAll(t, mustRunCLI(t, at, "confirm-recorded", id, "--reason", "seen on the sale"), "is recorded")
	done := client.AwaitPayment(registration.Id, api.Recorded)
	if done.State != api.Completed {
		t.Errorf("the visitor sees %+v", done)
	}
	expectAll(
		t, mustRunCLI(t, at, "show", id), "(demo: seen on the sale)", "fd_done_1", "fd_op_1", "confirm-recorded by demo",
		"called the club",
	)
	if said, ok := runCLI(t, at, "confirm-recorded", id); ok || !strings.Contains(said, "is recorded, not in_doubt") {
		t.Errorf("decided twice: %s", said)
	}
	expectAll(t, mustRunCLI(t, at, "calibrate"), "Too few known payments: 0 recorded of at least 20")
}

// TestOperatorSeesPair: the operator's list names the payment that a purchase at the desk repeats, and both show the other.
func TestOperatorSeesPair(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := frontdesktest.NewClient(t, mock.URL)
	client.Control("PUT", "settings", `{"askRepeats": true}`).Into(http.StatusOK, nil)
	at := mock.OpsAddress()
	first := client.Register()
	client.Confirm(client.Pay(first.Id), "4242424242424242")
	client.Await(first.Id, api.Completed)
	second := client.Register()
	client.RequestPayment(second.Id, `{"method":"desk","mean":"cash"}`, frontdesktest.StaffKey()).Into(http.StatusCreated, nil)
	earlier, later := first.Id+"-1", second.Id+"-1"
	expectAll(t, mustRunCLI(t, at, "list", "--all"), later, "; repeats "+earlier)
	expectAll(t, mustRunCLI(t, at, "show", later), "Repeats", "undo one of them in the club system", earlier)
	expectAll(t, mustRunCLI(t, at, "show", earlier), "bought again", later)
}

// TestOperatorDecidesOnAnOutage decides on the payments of a time together: each as if alone, whatever happens to the others.
func TestOperatorDecidesOnAnOutage(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := frontdesktest.NewClient(t, mock.URL)
	at := mock.OpsAddress()
	_, before := inDoubtPayment(t, client)
	var listed payment.Page
	list := func() {
		if err := json.Unmarshal([]byte(mustRunCLI(t, at, "--json", "list")), &listed); err != nil {
			t.Fatal(err)
		}
	}
	list()
	_, first := inDoubtPayment(t, client)
	_, second := inDoubtPayment(t, client)
	list()
	if len(listed.Items) != 3 || len(listed.Brakes) != 1 {
		t.Fatalf("listed: %+v", listed)
	}
	since, until := listed.Items[1].Since.Format(time.RFC3339Nano), listed.Items[2].Since.Add(time.Millisecond).Format(time.RFC3339Nano)
	outage := []string{"--since", since, "--until", until}
	command := func(words ...string) []string { return append(words, outage...) }

	said := mustRunCLI(t, at, command("confirm-recorded")...)
	expectAll(t, said, "The brake of demo has held since", "Call the club system's provider.", first, second,
		"Nothing was decided. To decide on these 2 payments, repeat the command with --yes.")
	if strings.Contains(said, before) {
		t.Errorf("a payment from before is listed: %s", said)
	}
	for _, wrong := range []struct {
		words []string
		said  string
	}{
		{command("confirm-not-recorded", "--refund", "--yes"), "nothing was decided on 2 of 2 payments"}, // they are too young, one by one
		{command("confirm-not-recorded", "--refund", "--override", "--yes"), "none of the others can be"},
		{command("confirm-recorded", first), "unexpected argument"},
		{[]string{"confirm-recorded", "--since", since}, "missing"},
		{[]string{"confirm-recorded", "--since", since, "--until", "2100-01-01T00:00:00Z"}, "must be in the past"},
		{[]string{"confirm-recorded", "--since", "yesterday", "--until", until}, "must be a time"},
	} {
		if said, ok := runCLI(t, at, wrong.words...); ok || !strings.Contains(said, wrong.said) {
			t.Errorf("payments %s: %t, %s", strings.Join(wrong.words, " "), ok, said)
		}
	}
	// The first one was refunded at the processor, so it cannot be recorded.
	processor := frontdesktest.ProcessorClient(mock.URL)
	refunded := listed.Items[1]
	if _, err := processor.Refund(t.Context(), "by hand", refunded.ProcessorID, refunded.Amount); err != nil {
		t.Fatal(err)
	}
	said, ok := runCLI(t, at, command("confirm-recorded", "--yes", "--reason", "the provider found both")...)
	if ok {
		t.Error("a failure is not in the exit code")
	}
	expectAll(t, said, "Payment "+first+": nothing was decided", "refunded in full", "Payment "+second+" is recorded",
		"nothing was decided on 1 of 2 payments")
	expectAll(t, mustRunCLI(t, at, "show", second), "(demo: the provider found both)", "confirm-recorded by demo")
	list()
	if len(listed.Items) != 2 || string(listed.Items[0].ID) != before || string(listed.Items[1].ID) != first {
		t.Errorf("afterwards: %+v", listed.Items)
	}
}

func TestOperatorWithoutGateway(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{"127.0.0.1:1": "no Frontdesk at 127.0.0.1:1: is it running?", "nowhere": "nowhere"} {
		if said, ok := runCLI(t, at, "list"); ok || !strings.Contains(said, want) {
			t.Errorf("%s: %s", at, said)
		}
	}
	// Another server at the address, such as the gateway's own public listener.
	mock := frontdesktest.NewMock(t)
	if said, ok := runCLI(t, strings.TrimPrefix(mock.URL, "http://"), "list"); ok {
		t.Errorf("the public side serves operators: %s", said)
	}
}

func TestOperatorsListener(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	expectAll(t, expectStartRefused(t, nil, "FRONTDESK_OPS_ADDR="+taken.Addr().String()), "FRONTDESK_OPS_ADDR", "in use")
	if standard, err := net.Listen("tcp", "127.0.0.1:9090"); err == nil { // otherwise another process uses the port
		defer standard.Close()
	}
	several := frontdesktest.Start(t, "FRONTDESK_OPS_ADDR=127.0.0.1:9090")
	frontdesktest.NewClient(t, several.URL).Do("GET", "/healthz", nil).Into(http.StatusOK, nil)
	expectLogged(t, several, "operators are not served by this gateway", "FRONTDESK_OPS_ADDR")
	if off := frontdesktest.Start(t, "FRONTDESK_OPS_ADDR=off"); strings.Contains(off.Log(), "operators are served") {
		t.Errorf("operators are served: %s", off.Log())
	}
}

func TestBadInputOfOperators(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := frontdesktest.NewClient(t, mock.URL)
	_, id := inDoubtPayment(t, client)
	base := "http://" + mock.OpsAddress() + "/ops/payments"
	one := base + "/" + id
	type header = [2]string
	for name, test := range map[string]struct {
		method, url string
		body        any
		headers     []header
		status      int
		code        flows.Code
	}{
		"unknown payment":     {"GET", base + "/nothing-1", nil, nil, 404, flows.NotFound},
		"no payment's id":     {"GET", base + "/nothing", nil, nil, 404, flows.NotFound},
		"unknown state":       {"GET", base + "?state=lost", nil, nil, 422, flows.InvalidRequest},
		"all of what":         {"GET", base + "?all=perhaps", nil, nil, 422, flows.InvalidRequest},
		"unknown path":        {"GET", one + "/history", nil, nil, 404, flows.NotFound},
		"outside":             {"GET", "http://" + mock.OpsAddress() + "/v1/clubs", nil, nil, 404, ""},
		"wrong method":        {"DELETE", one, nil, nil, 405, flows.MethodNotAllowed},
		"a page in a browser": {"GET", base, nil, []header{{"Origin", "https://elsewhere.example"}}, 403, flows.ForbiddenOrigin},
		"a form in a browser": {
			"POST", one + "/confirm-recorded", `{}`, []header{{"Content-Type", "text/plain"}}, 403,
			flows.ForbiddenOrigin,
		},
		"a typed name":             {"POST", one + "/confirm-recorded", `{"by":"ada"}`, nil, 400, flows.MalformedRequest},
		"unknown recorded":         {"POST", base + "/nothing-1/confirm-recorded", `{}`, nil, 404, flows.NotFound},
		"recorded, no JSON":        {"POST", one + "/confirm-recorded", `by=ada`, nil, 400, flows.MalformedRequest},
		"recorded, no object":      {"POST", one + "/confirm-recorded", `["ada"]`, nil, 400, flows.MalformedRequest},
		"recorded, empty":          {"POST", one + "/confirm-recorded", ``, nil, 400, flows.MalformedRequest},
		"recorded, two objects":    {"POST", one + "/confirm-recorded", `{}{}`, nil, 400, flows.MalformedRequest},
		"recorded, unknown member": {"POST", one + "/confirm-recorded", `{"then":"refund"}`, nil, 400, flows.MalformedRequest},
		"recorded, too large":      {"POST", one + "/confirm-recorded", `{"why":"` + strings.Repeat("x", 5000) + `"}`, nil, 413, flows.TooLarge},
		"recorded, too long": {
			"POST", one + "/confirm-recorded", `{"why":"` + strings.Repeat("x", 501) + `"}`, nil, 422,
			flows.InvalidRequest,
		},
		"not recorded, what then": {"POST", one + "/confirm-not-recorded", `{}`, nil, 422, flows.InvalidRequest},
		"not recorded, nonsense":  {"POST", one + "/confirm-not-recorded", `{"then":"keep"}`, nil, 422, flows.InvalidRequest},
		"not recorded, cancel":    {"POST", one + "/confirm-not-recorded", `{"then":"cancel"}`, nil, 409, flows.NotDecidable},
		"not recorded, too early": {"POST", one + "/confirm-not-recorded", `{"then":"refund"}`, nil, 409, flows.TooEarly},
		"not recorded, unknown":   {"POST", base + "/nothing-1/confirm-not-recorded", `{"then":"refund"}`, nil, 404, flows.NotFound},
		"not recorded, large":     {"POST", one + "/confirm-not-recorded", strings.Repeat(" ", 5000), nil, 413, flows.TooLarge},
		"not recorded, member":    {"POST", one + "/confirm-not-recorded", `{"then":"refund","force":true}`, nil, 400, flows.MalformedRequest},
		"empty note":              {"POST", one + "/notes", `{"text":" "}`, nil, 422, flows.InvalidRequest},
		"note with an escape":     {"POST", one + "/notes", `{"text":"a\u001b[2Jb"}`, nil, 422, flows.InvalidRequest},
		"note, unknown member":    {"POST", one + "/notes", `{"text":"a","to":"all"}`, nil, 400, flows.MalformedRequest},
		"note, too large":         {"POST", one + "/notes", strings.Repeat(" ", 5000), nil, 413, flows.TooLarge},
		"note on nothing":         {"POST", base + "/nothing-1/notes", `{"text":"a"}`, nil, 404, flows.NotFound},
		"calibrate, member":       {"POST", base + "/calibrate", `{"least":1}`, nil, 400, flows.MalformedRequest},
		"calibrate, too large":    {"POST", base + "/calibrate", strings.Repeat(" ", 5000), nil, 413, flows.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			response := client.WithT(t).Do(test.method, test.url, test.body, test.headers...)
			if test.code == "" {
				response.Into(test.status, nil)
				return
			}
			var problem api.Problem
			response.Into(test.status, &problem)
			if flows.Code(problem.Code) != test.code || problem.Status != test.status ||
				response.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s", response.Body)
			}
			if problem.Retry == api.ProblemRetryAfter && response.Header.Get("Retry-After") == "" {
				t.Errorf("no Retry-After with %s", response.Body)
			}
		})
	}
	var shown payment.Detail
	client.Do("GET", one, nil).Into(http.StatusOK, &shown)
	if shown.State != flows.InDoubt || len(shown.Notes) != 0 {
		t.Errorf("after all that: %+v", shown)
	}
}

// TestOperatorsListenerRefusesHostnames checks that a name that a web page points at this address is
// refused.
func TestOperatorsListenerRefusesHostnames(t *testing.T) {
	t.Parallel()
	at := frontdesktest.NewMock(t).OpsAddress()
	_, port, _ := net.SplitHostPort(at)
	for host, want := range map[string]int{at: 200, "localhost:" + port: 200, "[::1]:" + port: 200, "rebound.example:" + port: 403} {
		connection, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(connection, "GET /ops/payments HTTP/1.0\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", host, frontdesktest.OperatorToken)
		response := make([]byte, 12)
		if _, err := connection.Read(response); err != nil || !strings.HasSuffix(string(response), fmt.Sprint(want)) {
			t.Errorf("Host %q: %q, %v", host, response, err)
		}
		connection.Close()
	}
}

// TestOperatorsShareDecisions checks that a decision at one gateway applies at the other.
func TestOperatorsShareDecisions(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	one, client := env.Gateway(t)
	other, _ := env.Gateway(t)
	registration := client.Register()
	payment := client.Pay(registration.Id)
	env.SetFaults(t, clubsim.Fault{Match: frontdesktest.RecordPayment, Kind: "error_before", Status: 503, Times: frontdesktest.Times(1)})
	client.Confirm(payment, "4242424242424242")
	client.AwaitPayment(registration.Id, api.InDoubt)
	id := registration.Id + "-1"
	expectAll(t, mustRunCLI(t, one.OpsAddress(), "confirm-recorded", id), "is recorded")
	said, ok := runCLI(t, other.OpsAddress(), "confirm-not-recorded", id, "--refund")
	if ok || !strings.Contains(said, "is recorded, not in_doubt") {
		t.Errorf("decided at both: %s", said)
	}
	if held := env.Upstreams.Cards.Payments()[0]; held.Metadata["fd_done_1"] == "" || !strings.HasSuffix(held.Metadata["fd_op_1"], "by demo") {
		t.Errorf("the processor holds %v", held.Metadata)
	}
}
