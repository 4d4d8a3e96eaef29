package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// webTool gives a program that checks the site, from the pinned packages of e2e/web.
func webTool(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(frontdesktest.Root(), "e2e", "web", "node_modules", ".bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("this test needs %s: npm ci --prefix e2e/web", name)
	}
	return path
}

// TestTypesAreTheContracts holds the types that the site is written in equal to openapi.yaml.
func TestTypesAreTheContracts(t *testing.T) {
	t.Parallel()
	generate := exec.CommandContext(t.Context(), webTool(t, "openapi-typescript"), "openapi.yaml", "--default-non-nullable=false")
	generate.Dir = frontdesktest.Root()
	generated, err := generate.Output()
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "web-example", "openapi.d.ts"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.TrimSpace(generated), bytes.TrimSpace(committed)) {
		t.Error("web-example/openapi.d.ts is not what openapi.yaml says: make generate")
	}
}

// TestSiteIsSoundlyTyped has the compiler check every file of the site, which it never builds.
func TestSiteIsSoundlyTyped(t *testing.T) {
	t.Parallel()
	check := exec.CommandContext(t.Context(), webTool(t, "tsc"), "-p", filepath.Join(frontdesktest.Root(), "web-example", "jsconfig.json"))
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
