package security_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// The tests TestAPI1… to TestAPI10… attack a running gateway, in the order of the OWASP API Security
// Top 10 (2023). docs/explanation/security.md describes the defence against each attack.

// route is an operation of the contract.
type route struct {
	method, path string
	op           *openapi3.Operation
}

// routes returns the operations of the contract.
func routes(t *testing.T) (all []route) {
	t.Helper()
	document := frontdesktest.Document(t)
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			all = append(all, route{method, path, op})
		}
	}
	slices.SortFunc(all, func(a, b route) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return all
}

// eve is the person of the bodies.
const eve = `{"givenName":"Eve","familyName":"Martin","birthDate":"1990-05-17","email":"eve@example.com",` +
	`"mobile":"+33612345678","address":{"street":"1 rue","postalCode":"75011","city":"Paris","country":"FR"}}`

// requestBodies are valid bodies, by operation.
var requestBodies = map[string]string{
	"startRegistration":    `{"clubId":"11","person":` + eve + `,"items":[{"offerId":"2501"}]}`,
	"resumeRegistration":   `{"resume":"no such code"}`,
	"putPerson":            eve,
	"correctPerson":        `{"email":"eve@example.org"}`,
	"putGuardian":          `{"givenName":"Eve","familyName":"Martin","relation":"parent","phone":"+33687654321"}`,
	"addItem":              `{"offerId":"2501"}`,
	"startPayment":         `{"method":"card","cart":"q0WDkV3nUf7s2aYH"}`,
	"createMandate":        `{"holder":"Eve Martin","iban":"FR7630006000011234567890189"}`,
	"signMandate":          `{"code":"123456"}`,
	"migrateProspect":      `{"accessToken":"no such token"}`,
	"startTransfer":        `{"clubId":"13"}`,
	"signTransfer":         `{"code":"123456"}`,
	"stateWithdrawal":      `{"name":"Eve Martin","email":"eve@example.com"}`,
	"stateCancellation":    `{"name":"Eve Martin","email":"eve@example.com"}`,
	"changeBuyersConsents": `{"items":[{"id":"12012","authorized":true}]}`,
	"changeConsents":       `{"items":[{"id":"12012","authorized":true}]}`,
}

// pathFor fills in a route's path.
func (r route) pathFor(id string) string {
	return strings.NewReplacer("{clubId}", "11", "{offerId}", "2501", "{itemId}", "no-such-item", "{id}", id, "{secret}", "guessed",
		"{statementId}", id, "{payment}", id+"-1", "{proof}", strings.Repeat("A", 43), "{sha256}", strings.Repeat("0", 64)).Replace(r.path)
}

// body is the route's body; nil for none.
func (r route) body() any {
	if text, ok := requestBodies[r.op.OperationID]; ok {
		return text
	}
	return nil
}

// bearerHeader is the header of a bearer token.
func bearerHeader(token string) [2]string { return [2]string{"Authorization", "Bearer " + token} }

// attacker returns a front end in the same world, without any credentials.
func attacker(c *frontdesktest.Client) *frontdesktest.Client {
	other := *c
	other.Token = ""
	return &other
}

// expectUnchanged returns a check that the club system has received no request since, and that the
// ledger is unchanged.
func expectUnchanged(t *testing.T, client *frontdesktest.Client) func(what string) {
	t.Helper()
	calls, held := len(client.Calls()), len(client.Records().Ledger)
	return func(what string) {
		t.Helper()
		if made := client.Operations(calls); len(made) > 0 {
			t.Errorf("%s made the gateway ask the club system for %v", what, made)
		}
		if now := len(client.Records().Ledger); now != held {
			t.Errorf("%s moved money: %d payments, not %d", what, now, held)
		}
	}
}

// trapServer is the attacker's server, which counts its visitors.
type trapServer struct {
	*httptest.Server
	requests atomic.Int64
}

func newTrapServer(t *testing.T) *trapServer {
	t.Helper()
	server := &trapServer{}
	server.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		server.requests.Add(1)
		io.WriteString(w, `{"keys":[],"success":true}`)
	}))
	t.Cleanup(server.Close)
	return server
}

// dial sends raw text to a gateway, without an HTTP library, and returns everything that comes back
// until it closes the connection.
func dial(t *testing.T, c *frontdesktest.Client, text string) string {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(c.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(frontdesktest.Patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(connection, text); err != nil {
		return "" // it closed the connection before it had read everything
	}
	if !strings.Contains(text, "Connection: close\r\n") { // otherwise the gateway closes it, and half-closed means that the caller has left
		connection.(*net.TCPConn).CloseWrite()
	}
	response, _ := io.ReadAll(bufio.NewReader(connection)) // a reset connection has sent all that it will
	return string(response)
}

// startIn starts an empty registration.
func startIn(t *testing.T, c *frontdesktest.Client, headers ...[2]string) (registration api.Registration) {
	t.Helper()
	attacker(
		c,
	).Do("POST", "/v1/registrations", `{"clubId":"11"}`, append(headers, frontdesktest.Key(""))...).
		Into(http.StatusCreated, &registration)
	return registration
}

// TestSecurityPage checks that the page names every attack, and only tests that exist.
func TestSecurityPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "docs", "explanation", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir(frontdesktest.Root(), func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "node_modules" {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, found := range test.FindAllStringSubmatch(string(text), -1) {
			declared[found[1]] = true
			if strings.HasPrefix(found[1], "TestAPI") && !strings.Contains(string(page), "`"+found[1]+"`") {
				t.Errorf("%s is not on the page", found[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, named := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(page), -1) {
		if !declared[named[1]] {
			t.Errorf("the page names %s, which is nowhere", named[1])
		}
	}
}
