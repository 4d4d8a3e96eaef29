// Package main_test checks that every linked module has a permissive licence.
package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/licensecheck"
)

// permissive are the licences under which a module may be linked. They ask only for
// attribution.
var permissive = map[string]bool{"Apache-2.0": true, "MIT": true, "BSD-2-Clause": true, "BSD-3-Clause": true, "ISC": true}

// minMatchPercent is the smallest part of a file, in percent, that must match a known licence.
// Copyright lines and titles are the rest.
const minMatchPercent = 75

// TestLicences checks the licence of every module with linked code.
func TestLicences(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "frontdesk")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, dir, found := strings.Cut(strings.TrimSpace(line), " "); found {
			modules[path] = dir
		}
	}
	if len(modules) < 20 {
		t.Fatalf("only %d modules were found", len(modules))
	}
	for path, dir := range modules {
		if found := checkLicence(t, dir); found != "" {
			t.Errorf("%s: %s", path, found)
		}
	}
}

// checkLicence returns what is wrong with the licence in a folder; empty: nothing.
func checkLicence(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := "has no licence file"
	for _, entry := range entries {
		name := strings.ToUpper(entry.Name())
		if entry.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found = checkText(text)
		if found != "" {
			return entry.Name() + " " + found
		}
	}
	return found
}

// checkText returns what is wrong with the text of a licence; empty: nothing.
func checkText(text []byte) string {
	cover := licensecheck.Scan(text)
	if cover.Percent < minMatchPercent {
		return "is not a known licence"
	}
	for _, match := range cover.Match {
		if !permissive[match.ID] {
			return "is not permissive: " + match.ID
		}
	}
	return ""
}

// TestUnacceptableLicencesAreReported checks that the classifier rejects other texts.
func TestUnacceptableLicencesAreReported(t *testing.T) {
	t.Parallel()
	const copyleft = "Licensed under the GNU General Public License v3.0 <https://www.gnu.org/licenses/gpl-3.0.html>"
	if found := checkText([]byte(copyleft)); found == "" {
		t.Error("a copyleft licence is accepted")
	}
	if found := checkText([]byte("All rights are reserved. Ask us before you use any of this.")); found == "" {
		t.Error("a text that is not a licence is accepted")
	}
}
