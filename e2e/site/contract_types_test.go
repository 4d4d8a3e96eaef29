package site_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// npmTool returns a program that checks the site, from the pinned packages of e2e/web.
func npmTool(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(frontdesktest.Root(), "e2e", "web", "node_modules", ".bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("this test needs %s: npm ci --prefix e2e/web", name)
	}
	return path
}

// TestTypesMatchContract compares the client's types with openapi.yaml.
func TestTypesMatchContract(t *testing.T) {
	t.Parallel()
	npmTool(t, "openapi-typescript")
	file := filepath.Join(t.TempDir(), "openapi.d.ts")
	generate := exec.CommandContext(t.Context(), "node", "e2e/web/types.mjs", "openapi.yaml", file)
	generate.Dir = frontdesktest.Root()
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	generated, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "client", "openapi.d.ts"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(generated, committed) {
		t.Error("client/openapi.d.ts is not what openapi.yaml says: make generate")
	}
}

// TestSiteTypechecks has the compiler check every file of the site and of the client, which have no build step.
func TestSiteTypechecks(t *testing.T) {
	t.Parallel()
	check := exec.CommandContext(t.Context(), npmTool(t, "tsc"), "-p", filepath.Join(frontdesktest.Root(), "web-example", "jsconfig.json"))
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// siteImport finds what a file of the site imports.
var siteImport = regexp.MustCompile(`(?m)^(?:import|export) .*from "(\./|\.\./)(.+)";$`)

// TestSiteImportsFormNoCircle follows the imports of every file of the site and of the client.
func TestSiteImportsFormNoCircle(t *testing.T) {
	t.Parallel()
	site := filepath.Join(frontdesktest.Root(), "web-example")
	imports := map[string][]string{}
	scan := func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".js" {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range siteImport.FindAllSubmatch(source, -1) {
			imports[path] = append(imports[path], filepath.Join(filepath.Dir(path), string(found[1]), string(found[2])))
		}
		return err
	}
	for _, folder := range []string{"web-example", "client"} {
		if err := filepath.WalkDir(filepath.Join(frontdesktest.Root(), folder), scan); err != nil {
			t.Fatal(err)
		}
	}
	if entry := imports[filepath.Join(site, "main.js")]; len(entry) < 10 {
		t.Fatalf("main.js imports %q: are imports written differently now?", entry)
	}
	done := map[string]bool{}
	var follow func(path []string)
	follow = func(path []string) {
		file := path[len(path)-1]
		if start := slices.Index(path, file); start < len(path)-1 {
			t.Errorf("files import each other in a circle: %s", strings.ReplaceAll(strings.Join(path[start:], " → "), site+"/", ""))
			return
		}
		if done[file] {
			return
		}
		for _, imported := range imports[file] {
			follow(append(path, imported))
		}
		done[file] = true
	}
	for file := range imports {
		follow([]string{file})
	}
}
