package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestGoMock runs the tests of the module for Go programs: with the binary, and with a program in the place of docker that starts the
// binary as docker run would start the image.
func TestGoMock(t *testing.T) {
	t.Parallel()
	binary, folder := frontdesktest.Binary(t), t.TempDir()
	calls := filepath.Join(folder, "calls")
	docker := "#!/bin/sh\necho \"$@\" >>" + calls + "\nFRONTDESK_ADDR=${4%:8080} FRONTDESK_OPS_ADDR=127.0.0.1:0 exec " + binary + "\n"
	frontdesktest.Must(t, os.WriteFile(filepath.Join(folder, "docker"), []byte(docker), 0o755))
	path := folder + string(filepath.ListSeparator) + os.Getenv("PATH") //nolint:forbidigo // of the test's own commands
	for name, environment := range map[string][]string{
		"binary": {"FRONTDESK_BINARY=" + binary},
		"image":  {"FRONTDESK_IMAGE=frontdesk:v1", "PATH=" + path},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "./...")
			command.Dir = filepath.Join(frontdesktest.Root(), "docs", "examples", "frontdeskmock")
			command.Env = append(os.Environ(), environment...)
			out, err := command.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: TestSignups/is_refunded") {
				t.Errorf("%v:\n%s", err, out)
			}
			started, _ := os.ReadFile(calls) // not there with the binary
			if name == "image" && strings.Count(string(started), "run --rm --publish 127.0.0.1:") != 2 {
				t.Errorf("docker was called with:\n%s", started)
			}
		})
	}
}
