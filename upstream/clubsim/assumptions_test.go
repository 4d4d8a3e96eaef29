package clubsim_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"frontdesk/upstream/clubsim"
)

// The register of assumptions names existing settings, and its numbers are consecutive.
func TestRegisterOfAssumptions(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/assumptions.md")
	if err != nil {
		t.Fatal(err)
	}
	var settings body
	encoded, _ := json.Marshal(clubsim.DefaultSettings())
	json.Unmarshal(encoded, &settings)
	known := func(name string) bool {
		top, member, nested := strings.Cut(name, ".")
		value, found := settings[top]
		if nested {
			_, found = value.(body)[member]
		}
		return found
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| (.+) \| (.+) \| (.+) \|$`).FindAllStringSubmatch(string(text), -1)
	if len(rows) < 50 {
		t.Fatalf("only %d rows", len(rows))
	}
	words := regexp.MustCompile("`([a-zA-Z.]+)")
	flipped := map[string]bool{}
	for i, row := range rows {
		if row[1] != strconv.Itoa(i+1) {
			t.Errorf("row %d has the number %s", i+1, row[1])
		}
		if strings.HasPrefix(row[3], "none: ") || strings.HasPrefix(row[3], "the fault ") {
			continue
		}
		for _, name := range words.FindAllStringSubmatch(row[3], -1) {
			flipped[name[1]] = true
			if !known(name[1]) {
				t.Errorf("row %s: unknown setting %q", row[1], name[1])
			}
		}
	}
	for _, name := range []string{
		"tokenExpiresIn", "hydraPrefix", "errorShape", "createdStatus", "writeBodies",
		"debtCounts", "migrationKeeps", "fillSaleFromContact", "formerStatus", "cardNetworks",
		"mandateRequired", "dateTimeZone", "clientClubs", "grantedEndpoints", "dateTimes", "phpJson",
	} {
		if !flipped[name] {
			t.Errorf("the setting %s flips no assumption", name)
		}
	}
}
