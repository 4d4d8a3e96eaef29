package docs_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// nodeProject is a web developer's folder: a package with what npm has installed, and copies of
// examples.
type nodeProject struct {
	t       *testing.T
	dir     string
	gateway string
}

// newNodeProject copies examples. They call the test's gateway instead of the one at the usual address.
func newNodeProject(t *testing.T, gateway string, examples ...string) nodeProject {
	t.Helper()
	project := nodeProject{t, t.TempDir(), gateway}
	project.write("package.json", `{"type": "module"}`)
	project.must("sh", "-ec", installing(project.packClient(), nodeModules(t)))
	for _, name := range examples {
		project.write(name, read(t, filepath.Join("docs", "examples", name)))
	}
	return project
}

// packClient packs the client, and returns the package's file.
func (w nodeProject) packClient() string {
	w.t.Helper()
	folder := w.t.TempDir()
	w.must("node", filepath.Join(frontdesktest.Root(), "client", "pack.mjs"), "1.0.0-test", folder)
	return filepath.Join(folder, "frontdesk-client-1.0.0-test.tgz")
}

// installing is a command that installs a package from its file, and links the packages of another folder: nothing is fetched.
func installing(file, linked string) string {
	return fmt.Sprintf("npm install --offline --no-audit --no-fund --silent %q\nln -s %q/* %q node_modules", file, linked, linked+"/.bin")
}

// nodeModules is the folder of the packages that e2e/web/package.json pins.
func nodeModules(t *testing.T) string {
	t.Helper()
	installed := filepath.Join(frontdesktest.Root(), "e2e", "web", "node_modules")
	if _, err := os.Stat(filepath.Join(installed, "esbuild")); err != nil {
		t.Fatal("these tests need node and the packages of e2e/web: run .ci/tools")
	}
	return installed
}

func (w nodeProject) write(name, text string) {
	w.t.Helper()
	text = strings.ReplaceAll(text, "http://localhost:8080", w.gateway)
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// run runs a program in the folder, and returns its output.
func (w nodeProject) run(name string, args ...string) (string, error) {
	w.t.Helper()
	if tool := filepath.Join(w.dir, "node_modules", ".bin", name); name != "node" && name != "sh" {
		name = tool
	}
	command := exec.CommandContext(w.t.Context(), name, args...)
	command.Dir = w.dir
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := runCommand(command)
	return out.String(), err
}

func (w nodeProject) must(name string, args ...string) string {
	w.t.Helper()
	out, err := w.run(name, args...)
	if err != nil {
		w.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// compile runs tsc with the page's options.
func (w nodeProject) compile(args ...string) (string, error) {
	return w.run("tsc", append([]string{"--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom"}, args...)...)
}

// installs is a command of a page that installs packages.
var installs = regexp.MustCompile(`(?m)^npm install (.*)$`)

// TestTypedClient runs the page's commands: they install the client's package into an empty folder, compile the examples with it, and
// sign up. The other packages are installed already; the page must name their versions.
func TestTypedClient(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	project := nodeProject{t, t.TempDir(), localhost(client.URL)}
	var commands []string
	for _, b := range parseBlocks(read(t, "docs/how-to/build-a-website.md")) {
		if b.Language == "sh" && (strings.Contains(b.Text, "npm ") || strings.Contains(b.Text, "npx ")) {
			commands = append(commands, b.Text)
		}
	}
	if len(commands) != 2 {
		t.Fatalf("the page has the blocks %q", commands)
	}
	pinned := read(t, "e2e/web/package.json")
	lines := installs.FindAllStringSubmatch(commands[0], -1)
	if len(lines) != 2 || !strings.HasSuffix(lines[0][1], "/artefacts/frontdesk-client-*.tgz") {
		t.Fatalf("the page installs %q", lines)
	}
	name, version, _ := strings.Cut(strings.TrimPrefix(lines[1][1], "--save-dev "), "@")
	if !strings.Contains(pinned, fmt.Sprintf("%q: %q", name, version)) {
		t.Errorf("the page installs %s %s, and the tests another version", name, version)
	}
	offline := strings.NewReplacer(lines[0][0], installing(project.packClient(), nodeModules(t)), lines[1][0], "")
	project.must("sh", "-ec", offline.Replace(commands[0]))
	project.dir = filepath.Join(project.dir, "signup")
	for _, name := range []string{"client.ts", "signup.ts", "screens.ts", "tsconfig.json"} {
		project.write(name, read(t, filepath.Join("docs", "examples", name)))
	}
	said := project.must("sh", "-ec", commands[1])
	if !strings.Contains(said, "14900 cents are due: Quarter Pass, paid once") || !strings.Contains(said, "Welcome!\nmember 11-") {
		t.Errorf("the example says:\n%s", said)
	}
	expectOnePayment(t, client)

	project.expectTypeErrors()
}

// expectTypeErrors has tsc find each mistake, all in one run: a misspelled word, and a known value that a switch leaves out.
func (w nodeProject) expectTypeErrors() {
	w.t.Helper()
	mistakes := map[string][3]string{
		"field":  {"signup.ts", `clubId: "11"`, `clubID: "11"`},
		"value":  {"signup.ts", `method: "card"`, `method: "gold"`},
		"path":   {"signup.ts", `"/v1/registrations/{id}", `, `"/v1/nothing", `},
		"id":     {"signup.ts", `{ path, intention }`, `{ intention }`},
		"body":   {"signup.ts", `{ path, intention }`, `{ path }`},
		"action": {"signup.ts", `=== "pay"`, `=== "pays"`},
		"then":   {"signup.ts", `case "log_in":`, `case "captcha":`},
		"step":   {"screens.ts", `case "waiting":`, ``},
		"method": {"screens.ts", `case "desk":`, `case "card":`},
	}
	args := []string{"--noEmit"}
	for name, mistake := range mistakes {
		example := read(w.t, filepath.Join("docs", "examples", mistake[0]))
		if !strings.Contains(example, mistake[1]) {
			w.t.Errorf("the example has no %s", mistake[1])
		}
		w.write(name+".ts", strings.Replace(example, mistake[1], mistake[2], 1))
		args = append(args, name+".ts")
	}
	out, err := w.compile(args...)
	for name := range mistakes {
		if err == nil || !regexp.MustCompile(`(?m)^`+name+`\.ts\(`).MatchString(out) {
			w.t.Errorf("with a mistake in a %s tsc says %v\n%s", name, err, out)
		}
	}
}

// TestBundlerOptions compiles the examples with the options that the page names for a bundler.
func TestBundlerOptions(t *testing.T) {
	t.Parallel()
	blocks := parseBlocks(read(t, "docs/how-to/build-a-website.md"))
	at := slices.IndexFunc(blocks, func(b block) bool { return strings.Contains(b.Text, `"bundler"`) })
	if at < 0 {
		t.Fatal("the page has no options for a bundler")
	}
	project := newNodeProject(t, "http://localhost:8080", "client.ts", "signup.ts", "screens.ts")
	project.write("tsconfig.json", blocks[at].Text)
	project.must("tsc")
	if written, err := filepath.Glob(filepath.Join(project.dir, "*.js")); err != nil || len(written) > 0 {
		t.Errorf("tsc wrote %v, %v", written, err)
	}
}

// signedUp matches the example's output for each signup.
var signedUp = regexp.MustCompile(`(?m)^(demo-\S+): member (11-\d+)$`)

// TestParallelSignups runs the example of twenty signups in twenty worlds of one process, in a real
// Chromium, and checks what each world holds.
func TestParallelSignups(t *testing.T) {
	t.Parallel()
	chromium := frontdesktest.Chromium(t)
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	w := newNodeProject(t, localhost(client.URL), "parallel-signups.mjs")
	said := w.must("node", "parallel-signups.mjs", w.gateway, chromium)
	worlds := map[string]bool{}
	for _, signup := range signedUp.FindAllStringSubmatch(said, -1) {
		worlds[signup[1]] = true
	}
	if len(worlds) != 20 {
		t.Fatalf("%d worlds have a new member:\n%s", len(worlds), said)
	}
	for world := range worlds {
		client.World = world
		expectOnePayment(t, client)
	}
	client.World = ""
	var ledger clubsim.Items[clubsim.LedgerEntry]
	client.Control("GET", "ledger", nil).Into(http.StatusOK, &ledger)
	if len(ledger.Items) != 0 {
		t.Errorf("the unnamed world holds %+v", ledger.Items)
	}
}

// expectOnePayment asks the simulator what the world of a front end holds.
func expectOnePayment(t *testing.T, client *frontdesktest.Client) {
	t.Helper()
	var ledger clubsim.Items[clubsim.LedgerEntry]
	var audit clubsim.Audit
	client.Control("GET", "ledger", nil).Into(http.StatusOK, &ledger)
	client.Control("GET", "audit", nil).Into(http.StatusOK, &audit)
	if len(ledger.Items) != 1 || ledger.Items[0].Amount != 14900 || ledger.Items[0].OnAccount != 0 || !audit.OK {
		t.Errorf("the world %q holds %+v, and the audit finds %+v", client.World, ledger.Items, audit)
	}
}
