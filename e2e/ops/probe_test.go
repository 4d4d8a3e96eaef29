package ops_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
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
