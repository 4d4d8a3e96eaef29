package release_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// registry is an npm registry with the packages of a release. Of the other platforms it has descriptions alone.
type registry struct {
	*httptest.Server
	version  string
	packages map[string]pack // by name
	mu       sync.Mutex
	fetched  []string // the names of the packages that were downloaded
}

// pack is a package: its tarball, and package.json.
type pack struct {
	tarball     string
	description map[string]any
}

func newRegistry(t *testing.T, source string) *registry {
	t.Helper()
	r := &registry{version: version(t, source), packages: map[string]pack{}}
	tarballs, err := filepath.Glob(filepath.Join(source, "artefacts/npm/*.tgz"))
	frontdesktest.Must(t, err)
	for _, tarball := range tarballs {
		description := describe(t, tarball)
		r.packages[description["name"].(string)] = pack{tarball, description}
	}
	if len(r.packages) != 3 {
		t.Fatalf("the packages are not frontdesk, this platform's and the client: %v", tarballs)
	}
	for name, at := range r.packages["frontdesk"].description["optionalDependencies"].(map[string]any) {
		if at != r.version {
			t.Errorf("frontdesk %s depends on %s %s", r.version, name, at)
		}
		if _, ok := r.packages[name]; !ok {
			platform := strings.Split(name, "-")
			r.packages[name] = pack{description: map[string]any{
				"name": name, "version": r.version, "os": []string{platform[1]}, "cpu": []string{platform[2]},
			}}
		}
	}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// describe returns the package.json of a tarball.
func describe(t *testing.T, tarball string) (description map[string]any) {
	t.Helper()
	file, err := os.Open(tarball)
	frontdesktest.Must(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	frontdesktest.Must(t, err)
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		frontdesktest.Must(t, err)
		if header.Name == "package/package.json" {
			frontdesktest.Must(t, json.NewDecoder(files).Decode(&description))
			return description
		}
	}
}

// ServeHTTP serves a package's description at /NAME, and its tarball at /-/NAME.
func (r *registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	name, tarball := strings.CutPrefix(strings.TrimPrefix(request.URL.Path, "/"), "-/")
	found, ok := r.packages[name]
	switch {
	case !ok:
		http.NotFound(w, request)
	case tarball:
		r.mu.Lock()
		r.fetched = append(r.fetched, name)
		r.mu.Unlock()
		http.ServeFile(w, request, found.tarball)
	default:
		found.description["dist"] = map[string]any{"tarball": r.URL + "/-/" + url.PathEscape(name)}
		json.NewEncoder(w).Encode(map[string]any{
			"name": name, "dist-tags": map[string]any{"latest": r.version}, "versions": map[string]any{r.version: found.description},
		})
	}
}

// downloaded returns the names of the packages that were downloaded since the last call.
func (r *registry) downloaded() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := strings.Join(r.fetched, " ")
	r.fetched = nil
	return names
}

// npmEnvironment is that of a developer with an empty home.
func (r *registry) npmEnvironment(t *testing.T) []string {
	path := os.Getenv("PATH") //nolint:forbidigo // it leads to node and npm
	return []string{
		"PATH=" + path, "HOME=" + t.TempDir(), "npm_config_registry=" + r.URL, "npm_config_update_notifier=false",
		"npm_config_audit=false", "npm_config_fund=false", "FRONTDESK_ADDR=127.0.0.1:0", "FRONTDESK_OPS_ADDR=127.0.0.1:0",
	}
}

// checkNpx runs what a front-end developer runs in an empty folder, and then the package as a dependency.
func checkNpx(t *testing.T, source string) {
	registry := newRegistry(t, source)
	environment := registry.npmEnvironment(t)
	folder, begun := t.TempDir(), time.Now()
	npx := "cd " + folder + " && exec npx --yes frontdesk"
	gateway, err := frontdesktest.Launch(t.Context(), frontdesktest.GatewayReady, environment, "sh", "-c", npx)
	frontdesktest.Must(t, err)
	gateway.EndWith(t)
	responds(t, gateway)
	t.Logf("from an empty folder to a running mock back end: %s", time.Since(begun).Round(10*time.Millisecond))
	if got := registry.downloaded(); strings.Count(got, " ") != 1 || !strings.Contains(got, "frontdesk") {
		t.Errorf("npx downloaded %q, not the package and this platform's", got)
	}
	pressCtrlC(t, gateway)
	if err := gateway.Wait(); err != nil && err.Error() != "signal: interrupt" { // npm ends as its shell does
		t.Errorf("after Ctrl-C npx ended with %v:\n%s", err, gateway.Log())
	}

	cmd := func(command string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir, cmd.Env = folder, environment
		return cmd
	}
	var ended *exec.ExitError
	out, err := cmd("npm install --omit=optional frontdesk && npx frontdesk version").CombinedOutput()
	if !errors.As(err, &ended) || ended.ExitCode() != 1 || !strings.Contains(string(out), "with optional dependencies") {
		t.Errorf("without the platform's package it ended with %v:\n%s", err, out)
	}
	if out, err := cmd("npm install").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = cmd("npx frontdesk serve --nonsense").CombinedOutput()
	if !errors.As(err, &ended) || ended.ExitCode() != 80 {
		t.Errorf("after a wrong command line it ended with %v:\n%s", err, out)
	}
	gateway, err = frontdesktest.Launch(t.Context(), frontdesktest.GatewayReady, environment, folder+"/node_modules/.bin/frontdesk")
	frontdesktest.Must(t, err)
	gateway.EndWith(t)
	pressCtrlC(t, gateway)
	if err := gateway.Wait(); err != nil {
		t.Errorf("after Ctrl-C the package's program ended with %v:\n%s", err, gateway.Log())
	}
}

// pressCtrlC sends what a terminal sends, to the process and to all that it has started.
func pressCtrlC(t *testing.T, gateway *frontdesktest.Process) {
	t.Helper()
	frontdesktest.Must(t, syscall.Kill(-gateway.PID(), syscall.SIGINT))
}
