package ops_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// playSettings starts the simulator with a file of settings, and returns its address.
func playSettings(t *testing.T, file string) string {
	t.Helper()
	arguments := []string{"sim", "--addr=127.0.0.1:0", "--settings=" + file}
	sim, err := frontdesktest.Launch(t.Context(), "card processor at", nil, frontdesktest.Binary(t), arguments...)
	sim.EndWith(t)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`http://127\.0\.0\.1:\d+/sim`).FindString(sim.Output())
}

// writeFile writes a file that ends with the test, and returns its path.
func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "installation.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSimSettings checks that the simulator plays a file of settings after a reset too, and that it starts with no wrong one.
func TestSimSettings(t *testing.T) {
	t.Parallel()
	url := playSettings(t, writeFile(t, "networkNodeShape: flat\ncallLimits: {perMinute: 500}\n"))
	client := frontdesktest.NewClient(t, url)
	client.Do("POST", url+"/demo/_control/reset", nil).Into(http.StatusNoContent, nil)
	var settings struct {
		NetworkNodeShape string
		PageSize         int
		CallLimits       struct{ PerMinute, SliceMs int }
	}
	client.Do("GET", url+"/demo/_control/settings", nil).Into(http.StatusOK, &settings)
	limits := settings.CallLimits
	if settings.NetworkNodeShape != "flat" || settings.PageSize != 30 || limits.PerMinute != 500 || limits.SliceMs != 100 {
		t.Errorf("settings: %+v", settings)
	}
	sim := []string{"sim", "--addr=127.0.0.1:0", "--settings"}
	expectAll(t, expectStartRefused(t, append(sim, writeFile(t, "pageSizes: 9"))), "--settings", `unknown field "pageSizes"`)
	expectAll(t, expectStartRefused(t, append(sim, "/nowhere.yaml")), "--settings", "/nowhere.yaml: no such file")
}

// runProbe runs a probe of an installation, and returns what it prints and its exit code.
func runProbe(t *testing.T, clubURL string, arguments ...string) (printed string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), frontdesktest.Binary(t), append([]string{"probe"}, arguments...)...)
	cmd.Env = []string{"FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL=" + clubURL}
	output, _ := cmd.CombinedOutput() // the code says whether it failed
	return string(output), cmd.ProcessState.ExitCode()
}

// TestProbe probes an installation, plays the file that the probe writes, and probes it again after a change.
func TestProbe(t *testing.T) {
	t.Parallel()
	url := playSettings(t, writeFile(t, "networkNodeShape: flat\ncallLimits: {perMinute: 2000}\n"))
	folder := t.TempDir()
	file, metrics := filepath.Join(folder, "installation.json"), filepath.Join(folder, "probe.prom")
	printed, code := runProbe(t, url, "--settings", file, "--metrics", metrics)
	expectAll(t, printed, "networkNodeShape", "flat", "FRONTDESK_CLUB_LIMIT_HEADERS=on", "NOT SEEN", "keep their defaults: ")
	if code != 0 || strings.Contains(printed, "changed since") {
		t.Errorf("exit code %d:\n%s", code, printed)
	}
	played := playSettings(t, file)
	printed, code = runProbe(t, played, "--compare", file)
	expectAll(t, printed, "Nothing has changed since "+file)
	if code != 0 {
		t.Errorf("the played installation: exit code %d", code)
	}
	client := frontdesktest.NewClient(t, played)
	client.Do("PUT", played+"/demo/_control/settings", map[string]string{"networkNodeShape": "nested"}).Into(http.StatusOK, nil)
	printed, code = runProbe(t, played, "--compare", file, "--metrics", metrics)
	expectAll(t, printed, "CHANGED SINCE", "networkNodeShape", "the installation has changed")
	written, err := os.ReadFile(metrics)
	if code != 2 || err != nil {
		t.Errorf("after a change: exit code %d, %v", code, err)
	}
	expectAll(t, string(written), "frontdesk_probe_changes 1\n", "frontdesk_probe_complete 1\n", "frontdesk_probe_timestamp_seconds")
}

// TestProbeRefuses checks that a probe with a mistake makes no call and writes no file.
func TestProbeRefuses(t *testing.T) {
	t.Parallel()
	url := playSettings(t, writeFile(t, ""))
	unknown, gone := writeFile(t, "pageSizes: 9"), filepath.Join(t.TempDir(), "gone", "installation.json")
	unwritten := filepath.Join(t.TempDir(), "installation.json")
	for said, arguments := range map[string][]string{
		`unknown field "pageSizes"`:                {"--compare", unknown},
		"--compare: open " + gone:                  {"--compare", gone},
		"--settings: open " + gone:                 {"--settings", gone},
		"--metrics: open " + gone:                  {"--settings", unwritten, "--metrics", gone},
		"the file has no settings":                 {"--compare", writeFile(t, "")},
		"--calls must be above 0":                  {"--settings", unwritten, "--calls=0"},
		"cannot be probed: club: Token: not_sent":  {"--settings", unwritten, "--club-url=http://127.0.0.1:1"},
		"cannot be probed: club: Token: refused, ": {"--settings", unwritten, "--club-client-secret=wrong"},
	} {
		printed, code := runProbe(t, url, arguments...)
		expectAll(t, printed, said)
		if _, err := os.Stat(unwritten); code != 1 || err == nil {
			t.Errorf("%v: exit code %d, file: %v", arguments, code, err)
		}
	}
	printed, code := runProbe(t, url, "--mode=mock")
	expectAll(t, printed, "mock mode would probe its own simulator")
	if code != 1 {
		t.Errorf("in mock mode: exit code %d", code)
	}
	printed, code = runProbe(t, "")
	expectAll(t, printed, "FRONTDESK_CLUB_URL is missing")
	if code != 1 {
		t.Errorf("without an address: exit code %d", code)
	}
}
