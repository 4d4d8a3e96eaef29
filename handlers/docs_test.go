package handlers_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/handlers"
)

// TestDocsPages: every page below /docs exists, has the right content, and loads nothing from other sites.
func TestDocsPages(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for path, want := range map[string][2]string{
		"/docs":                               {"text/html", `<a href="/docs/tutorials/first-signup.md">`},
		"/docs/":                              {"text/html", `<a href="/docs/api">`},
		"/docs/api":                           {"text/html", "swagger-ui"},
		"/docs/reference/limits.md":           {"text/html", "<h1"},
		"/docs/reference/problems.md":         {"text/html", "cart_changed"},
		"/docs/explanation/exactly-once.md":   {"text/html", "<h1"},
		"/docs/explanation/schedules.md":      {"text/html", `<a href="/docs/api">`},
		"/docs/explanation/contract.md":       {"text/html", "2011/83/EU"},
		"/docs/reference/accessibility.md":    {"text/html", "EN 301 549"},
		"/docs/contract.js":                   {"text/javascript", "SwaggerUIBundle"},
		"/docs/swagger-ui.css":                {"text/css", ".swagger-ui"},
		"/docs/try.js":                        {"text/javascript", "export async function prepare"},
		"/docs/page.css":                      {"text/css", ".docs-page"},
		"/asyncapi.yaml":                      {"application/yaml", "asyncapi: 3.0.0"},
		"/docs/problems":                      {"text/html", "<title>When a request fails - Frontdesk</title>"},
		"/docs/README.md":                     {"text/html", "Run parallel tests"},
		"/docs/tutorials/first-signup.md":     {"text/html", "<h1"},
		"/docs/how-to/build-a-website.md":     {"text/html", "<h1"},
		"/docs/how-to/build-an-app.md":        {"text/html", "<h1"},
		"/docs/reference/simulator.md":        {"text/html", "<h1"},
		"/docs/reference/assumptions.md":      {"text/html", "<h1"},
		"/docs/examples/client.ts":            {"text/plain", "createClient"},
		"/docs/examples/Frontdesk.swift":      {"text/plain", "struct Frontdesk"},
		"/docs/examples/Frontdesk.kt":         {"text/plain", "class Frontdesk"},
		"/docs/examples/signup.ts":            {"text/plain", "import"},
		"/docs/examples/parallel-signups.mjs": {"text/plain", "import"},
		"/docs/tutorials/direct-debit.md":     {"text/html", client.URL},
		"/docs/frontdesk.d.ts":                {"text/plain", "export type Step = "},
		"/docs/session.sh":                    {"text/plain", "base=" + client.URL + "\n"},
		"/frontdesk.d.ts":                     {"application/typescript", "export type Step = "},
		"/problem-codes.d.ts":                 {"application/typescript", `export type ProblemCode = "malformed_request" | `},
	} {
		response := client.Do("GET", path, nil)
		if response.Status != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), want[0]) ||
			!strings.Contains(string(response.Body), want[1]) {
			t.Errorf("%s: status %d, %s", path, response.Status, response.Header.Get("Content-Type"))
		}
		policy := response.Header.Get("Content-Security-Policy")
		scripts, _, _ := strings.Cut(policy, "style-src")
		if !strings.Contains(policy, "default-src 'self'") || strings.Contains(policy, "http") || strings.Contains(scripts, "unsafe") {
			t.Errorf("%s has the policy %q", path, policy)
		}
	}
	for _, path := range []string{"/docs/runbook.md", "/docs/docs.go", "/docs/examples/", "/docs/..%2fmain.go"} {
		if response := client.Do("GET", path, nil); response.Status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, response.Status)
		}
	}
}

// TestPagesMatchTheirSources: the served pages match their sources and the contract's table of problems.
func TestPagesMatchTheirSources(t *testing.T) {
	t.Parallel()
	made := t.TempDir()
	generate := exec.CommandContext(t.Context(), "go", "run", "frontdesk/handlers/docs/generate", frontdesktest.Root(), made)
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pages := 0
	err := filepath.WalkDir(made, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		pages++
		page, _ := filepath.Rel(made, path)
		want, err := os.ReadFile(path)
		if kept, missing := os.ReadFile(filepath.Join("docs", page)); missing != nil || !bytes.Equal(kept, want) {
			t.Errorf("docs/%s is not of its text any more: run go generate ./handlers/docs (%v)", page, missing)
		}
		return err
	})
	if err != nil || pages < 10 {
		t.Errorf("%d pages were made: %v", pages, err)
	}
}

// TestLinksOfThePages: no link on our pages is dead.
func TestLinksOfThePages(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	links := regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	for _, page := range []string{
		"/docs", "/docs/api", "/docs/problems", "/docs/README.md", "/docs/tutorials/first-signup.md",
		"/docs/how-to/build-a-website.md", "/docs/how-to/build-an-app.md", "/docs/how-to/run-parallel-tests.md",
	} {
		found := links.FindAllStringSubmatch(string(client.Do("GET", page, nil).Body), -1)
		if len(found) < 5 {
			t.Errorf("%s has %d links", page, len(found))
		}
		for _, link := range found {
			address := strings.Replace(link[1], client.URL, "", 1)
			path, _, _ := strings.Cut(address, "#")
			switch {
			case path == "", strings.Contains(path, "://"): // this page, or another site's
				continue
			case !strings.HasPrefix(path, "/"):
				path = filepath.Join(filepath.Dir(page), path)
			}
			if response := client.Do("GET", path, nil); response.Status != http.StatusOK {
				t.Errorf("%s leads to %s: status %d", page, link[1], response.Status)
			}
		}
	}
}

// TestEveryProblemIsExplained: a problem's type links to a page that explains when it happens and what to do.
func TestEveryProblemIsExplained(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	document := frontdesktest.Document(t)
	page := string(client.Do("GET", "/docs/problems", nil).Body)
	codes := document.Components.Schemas["ProblemCode"].Value.Enum
	for _, code := range codes {
		row := regexp.MustCompile(fmt.Sprintf(`(?s)<tr id="%s"><td>.*?</td>\s*<td>\d{3}</td>\s*`+
			`<td><code>(never|same_key|after)</code></td>\s*<td>.{10,}?</td>\s*<td>.{10,}?</td>\s*</tr>`, code))
		if len(row.FindAllString(page, -1)) != 1 {
			t.Errorf("%s is not explained once on the page", code)
		}
	}
	if rows := strings.Count(page, `<tr id="`); rows != len(codes) {
		t.Errorf("the page explains %d codes of %d", rows, len(codes))
	}
	problem := client.Do("GET", unknownRegistration, nil).Problem(api.TokenRequired)
	path, anchor, _ := strings.Cut(problem.Type, "#")
	if !strings.Contains(string(client.Do("GET", path, nil).Body), `id="`+anchor+`"`) || anchor != string(problem.Code) {
		t.Errorf("the type of %+v leads nowhere", problem)
	}
}

// TestTableOfProblemsIsTheCodes: the edge does not start if the contract's status or retry of a problem
// differs from its own.
func TestTableOfProblemsIsTheCodes(t *testing.T) {
	t.Parallel()
	contract := string(frontdesktest.Contract(t))
	for was, becomes := range map[string]string{
		"| `cart_empty` | 409 | `never` |":              "| `cart_empty` | 400 | `never` |",
		"| `conflict` | 409 | `never` | `read_again` |": "| `conflict` | 409 | `never` | `send_again` |",
		"| `sms_limited` | 429 | `after` | ":            "| `sms_limit` | 429 | `after` | ",
	} {
		if !strings.Contains(contract, was) {
			t.Fatalf("the contract has no %s", was)
		}
		_, err := handlers.New(handlers.Config{Contract: []byte(strings.Replace(contract, was, becomes, 1))})
		if err == nil || !strings.Contains(err.Error(), "table of problem codes") {
			t.Errorf("with %s the edge says %v", becomes, err)
		}
	}
}
