package ops_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows/payment"
)

// operatorRoutes returns the operators' routes, as requests: those of the server's source.
func operatorRoutes(t *testing.T) (routes []string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "handlers", "ops", "server.go"))
	frontdesktest.Must(t, err)
	for _, found := range regexp.MustCompile(`"(\w+ )/ops/(\S+)": `).FindAllStringSubmatch(string(source), -1) {
		routes = append(routes, found[1]+regexp.MustCompile(`\{\w+\}`).ReplaceAllString(found[2], "a-1"))
	}
	for _, known := range []string{"GET payments", "POST statements/a-1/not-cancelled", "GET mail/a-1", "GET confirmations/a-1"} {
		if !slices.Contains(routes, known) {
			t.Fatalf("the routes %v lack %q", routes, known)
		}
	}
	return routes
}

// TestOperatorsAreIdentified checks that no route below /ops serves a caller without an operator's
// token, and that a name in the request has no effect.
func TestOperatorsAreIdentified(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := frontdesktest.NewClient(t, mock.URL)
	_, id := inDoubtPayment(t, client)
	base, routes := "http://"+mock.OpsAddress()+"/ops/", append(operatorRoutes(t), "POST payments/"+id+"/confirm-recorded")
	for _, credential := range []string{
		"", "Bearer", "Bearer ", "Bearer guessed", "Bearer " + tokenHash(frontdesktest.OperatorToken),
		"Basic " + frontdesktest.OperatorToken, frontdesktest.OperatorToken,
	} {
		for _, route := range routes {
			method, path, _ := strings.Cut(route, " ")
			response := client.Do(method, base+path, map[string]string{"by": "grace"}, [2]string{"Authorization", credential})
			var problem api.Problem
			response.Into(http.StatusUnauthorized, &problem)
			if problem.Code != api.NotIdentified || response.Header.Get("WWW-Authenticate") != `Bearer realm="operators"` {
				t.Errorf("%s with %q: %s, %v", route, credential, response.Body, response.Header)
			}
		}
	}
	expectLogged(t, mock, "operator not identified", "POST /ops/erasures")
	if strings.Contains(mock.Log(), "guessed") {
		t.Error("the log has a token")
	}
	var shown payment.Detail
	client.Do("GET", base+"payments/"+id, nil).Into(http.StatusOK, &shown)
	if shown.State != "in_doubt" {
		t.Errorf("the payment is %s", shown.State)
	}
	client.Do("GET", "http://"+mock.OpsAddress()+"/metrics", nil).Into(http.StatusOK, nil)
}

// TestAuditNamesTheOperator checks that a decision with a token from frontdesk operators add is audited
// under the configured name, and that the demo token is refused.
func TestAuditNamesTheOperator(t *testing.T) {
	t.Parallel()
	tokens, entries := map[string]string{}, []string{}
	for _, name := range []string{"ada", "grace.h"} {
		out, err := exec.CommandContext(t.Context(), frontdesktest.Binary(t), "operators", "add", name).Output()
		found := regexp.MustCompile(`(?s)\n  ([0-9a-f]{64})\n.*\n  (` + regexp.QuoteMeta(name) + `:[0-9a-f]{64})\n$`).
			FindStringSubmatch(string(out))
		if err != nil || found == nil {
			t.Fatalf("%v: %s", err, out)
		}
		tokens[name], entries = found[1], append(entries, found[2])
	}
	out, err := exec.CommandContext(t.Context(), frontdesktest.Binary(t), "operators", "add", "ada rose").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "name: must be a login name") {
		t.Errorf("an odd name: %v, %s", err, out)
	}
	file := filepath.Join(t.TempDir(), "operators")
	if err := os.WriteFile(file, []byte(strings.Join(entries, ",")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mock := frontdesktest.Start(t, "FRONTDESK_OPERATORS_FILE="+file)
	c := frontdesktest.NewClient(t, mock.URL)
	_, id := inDoubtPayment(t, c)
	if said, ok := runCLI(t, mock.OpsAddress(), "show", id); ok || !strings.Contains(said, "Set FRONTDESK_OPERATOR_TOKEN") {
		t.Errorf("the demo token: %s", said)
	}
	mustRunCLI(t, mock.OpsAddress(), "note", id, "called the club", "--operator-token", tokens["ada"])
	mustRunCLI(t, mock.OpsAddress(), "confirm-recorded", id, "--operator-token", tokens["grace.h"])
	var shown payment.Detail
	printed := mustRunCLI(t, mock.OpsAddress(), "show", id, "--json", "--operator-token", tokens["ada"])
	if err := json.Unmarshal([]byte(printed), &shown); err != nil {
		t.Fatal(err)
	}
	decided := ""
	for _, transition := range shown.History {
		decided += transition.Operator
	}
	if len(shown.Notes) != 1 || shown.Notes[0].Operator != "ada" || decided != "grace.h" {
		t.Errorf("noted by %+v, decided by %q", shown.Notes, decided)
	}
}
