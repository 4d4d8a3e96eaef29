package clubsim_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"frontdesk/upstream/clubsim"
)

// ownSettings are the simulator's own: they play no assumption about the club system.
var ownSettings = []string{
	"webhookUrl",
	"webhookDelay",
	"withdrawnOffers",
	"extraProducts",
	"askRepeats",
}

// TestAssumptions: each row of docs/reference/assumptions.md has its own name, existing settings and existing tests,
// and each setting that plays an assumption is in a row.
func TestAssumptions(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/assumptions.md")
	if err != nil {
		t.Fatal(err)
	}
	settings, tests, seen := settingNames(t), testNames(t), map[string]bool{}
	rows := regexp.MustCompile(`(?m)^\| (\d+[a-z]?) \| .+$`).FindAllStringSubmatch(string(text), -1)
	if len(rows) < 90 {
		t.Fatalf("only %d rows", len(rows))
	}
	word := regexp.MustCompile("`([a-zA-Z0-9.]+)")
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row[0], "| "), " | ")
		if len(cells) != 6 || seen["row "+row[1]] {
			t.Errorf("row %s: %d cells instead of 6, or not the only one of this name", row[1], len(cells))
			continue
		}
		seen["row "+row[1]] = true
		setting, _, _ := strings.Cut(cells[3], "the fault")
		if !strings.HasPrefix(setting, "none") {
			for _, name := range word.FindAllStringSubmatch(setting, -1) {
				if !settings[name[1]] {
					t.Errorf("row %s: unknown setting %q", row[1], name[1])
				}
				top, _, _ := strings.Cut(name[1], ".")
				seen[top] = true
			}
		}
		covering := word.FindAllStringSubmatch(cells[5], -1)
		if len(covering) == 0 {
			t.Errorf("row %s names no test", row[1])
		}
		for _, name := range covering {
			if !tests[name[1]] {
				t.Errorf("row %s: unknown test %q", row[1], name[1])
			}
		}
	}
	for _, name := range ownSettings {
		seen[name] = true
	}
	for name := range settings {
		if top, _, _ := strings.Cut(name, "."); !seen[top] {
			t.Errorf("the setting %s is in no row", name)
		}
	}
}

// settingNames are the members of the settings, and "member.member" of those within.
func settingNames(t *testing.T) map[string]bool {
	t.Helper()
	encoded, err := json.Marshal(clubsim.DefaultSettings())
	var settings body
	if err != nil || json.Unmarshal(encoded, &settings) != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for name, value := range settings {
		names[name] = true
		if inner, isObject := value.(body); isObject {
			for member := range inner {
				names[name+"."+member] = true
			}
		}
	}
	return names
}

// testNames are those of all tests of the project.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names, function := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, match := range function.FindAllSubmatch(source, -1) {
			names[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
