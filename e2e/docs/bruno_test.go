package docs_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

var update = flag.Bool("update", false, "write the requests in docs/bruno instead of comparing them")

// ours are the folders of docs/bruno that are written by hand.
var ours = []string{"signup", "mock", "environments"}

// TestBrunoCollection compares the collection's folders of operations with the contract.
func TestBrunoCollection(t *testing.T) {
	t.Parallel()
	root := filepath.Join(frontdesktest.Root(), "docs", "bruno")
	unseen := map[string]bool{}
	found, err := filepath.Glob(filepath.Join(root, "*", "*.bru"))
	frontdesktest.Must(t, err)
	for _, path := range found {
		if !slices.Contains(ours, filepath.Base(filepath.Dir(path))) {
			unseen[path] = true
		}
	}
	for at, op := range operationsOf(t) {
		name := filepath.Join(root, op.Tags[0], op.OperationID+".bru")
		want := op.bruno(t, at+1)
		delete(unseen, name)
		if *update {
			frontdesktest.Must(t, os.MkdirAll(filepath.Dir(name), 0o755))
			frontdesktest.Must(t, os.WriteFile(name, []byte(want), 0o644))
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s differs from the contract: run go generate ./handlers/docs", name)
		}
	}
	for name := range unseen {
		if *update {
			frontdesktest.Must(t, os.Remove(name))
			continue
		}
		t.Errorf("%s is of no operation: run go generate ./handlers/docs", name)
	}
}

// bruno writes the operation as a request of Bruno, with the examples of the contract.
func (op operation) bruno(t *testing.T, number int) string {
	t.Helper()
	var file strings.Builder
	block := func(name, content string) {
		if content != "" {
			fmt.Fprintf(&file, "%s {\n  %s\n}\n\n", name, strings.ReplaceAll(strings.TrimSpace(content), "\n", "\n  "))
		}
	}
	address := strings.NewReplacer("{", ":", "}", "").Replace(op.Path)
	var parameters [2]string // of the path and of the query
	var required []string
	for _, ref := range op.Parameters {
		p, example := ref.Value, ""
		if ref.Value.Example != nil {
			example = fmt.Sprint(" ", ref.Value.Example)
		}
		switch {
		case p.In == "path" && p.Name == "id":
			parameters[0] += "id: {{id}}\n"
		case p.In == "path":
			parameters[0] += p.Name + ":" + example + "\n"
		case p.In == "query" && p.Required:
			required = append(required, p.Name+"="+strings.TrimSpace(example))
			parameters[1] += p.Name + ":" + example + "\n"
		case p.In == "query":
			parameters[1] += "~" + p.Name + ":" + example + "\n" // sent when the reader ticks it
		}
	}
	if len(required) > 0 {
		address += "?" + strings.Join(required, "&")
	}
	body, example := "none", op.brunoBody(t)
	if example != "" {
		body = "json"
	}
	token := op.brunoToken()
	auth := "none"
	if token != "" {
		auth = "bearer"
	}
	block("meta", fmt.Sprintf("name: %s\ntype: http\nseq: %d", strings.TrimSuffix(op.Summary, "."), number))
	block(strings.ToLower(op.Method), fmt.Sprintf("url: {{base}}%s\nbody: %s\nauth: %s", address, body, auth))
	block("params:query", parameters[1])
	block("params:path", parameters[0])
	block("auth:bearer", token)
	block("body:json", example)
	block("assert", fmt.Sprintf("res.status: eq %d", op.Status))
	block("docs", op.Description)
	return strings.TrimSuffix(file.String(), "\n")
}

// brunoToken returns the credential that the operation needs, if it needs one.
func (op operation) brunoToken() string {
	if op.Security == nil {
		return ""
	}
	for _, scheme := range *op.Security {
		switch {
		case len(scheme) == 0:
			return ""
		case scheme["token"] != nil:
			return "token: {{token}}"
		case scheme["identity"] != nil:
			return "token: {{identity}}"
		}
	}
	return ""
}

// brunoBody returns the first example of the body.
func (op operation) brunoBody(t *testing.T) string {
	t.Helper()
	if op.RequestBody == nil {
		return ""
	}
	media := op.RequestBody.Value.Content["application/json"]
	example := media.Example
	if example == nil && len(media.Examples) > 0 {
		example = media.Examples[slices.Sorted(maps.Keys(media.Examples))[0]].Value.Value
	}
	if example == nil {
		example = media.Schema.Value.Example
	}
	text, err := json.MarshalIndent(example, "", "  ")
	frontdesktest.Must(t, err)
	return string(text)
}

// TestBrunoRuns runs the signup of the collection with Bruno's own program, and every read that needs nothing else.
func TestBrunoRuns(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(frontdesktest.Root(), "e2e", "web", "bruno")
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal("this test needs the packages of e2e/web/bruno: run .ci/tools")
	}
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	client.World = "demo-bruno"
	w := nodeProject{t, t.TempDir(), client.URL}
	frontdesktest.Must(t, os.Symlink(filepath.Join(folder, "node_modules"), filepath.Join(w.dir, "node_modules")))
	frontdesktest.Must(t, os.CopyFS(w.dir, os.DirFS(filepath.Join(frontdesktest.Root(), "docs", "bruno"))))
	run := []string{"run", "signup", "mock"}
	// These need more, or do not end.
	other := []string{"getDocument", "getCardPage", "getCurrentRegistration", "followRegistration", "getTransfer"}
	for _, op := range operationsOf(t) {
		if op.Method == http.MethodGet && !slices.Contains(other, op.OperationID) {
			run = append(run, path.Join(op.Tags[0], op.OperationID+".bru"))
		}
	}
	out := w.must("bru", append(run, "--env", "mock", "--env-var", "base="+client.URL, "--noproxy")...)
	if !strings.Contains(out, "signup/10-ledger (200 OK)") || !strings.Contains(out, "me/getMe (200 OK)") {
		t.Errorf("Bruno ran:\n%s", out)
	}
	client.Records().ExpectOnePayment(t, 6890)
}
