package ops_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// clubsWith writes an operator's file in which nothing is missing, but for one change, and returns its path.
func clubsWith(t *testing.T, name, old, text string) string {
	t.Helper()
	clubs := frontdesktest.ApprovedClubs(t)
	path := filepath.Join(filepath.Dir(clubs), name)
	content, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(content), old) {
		t.Fatalf("%s has no %q", path, old)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(content), old, text, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return clubs
}

// TestLiveRefusesDocuments: live mode starts with no document that is a placeholder, and with no club that lacks one, but for terms,
// which the club system may have.
func TestLiveRefusesDocuments(t *testing.T) {
	t.Parallel()
	l := frontdesktest.NewLive(t)
	const privacy = `    privacy: {version: "3.1", files: {en: privacy.txt}}` + "\n"
	for name, test := range map[string]struct {
		clubs string
		more  map[string]string
		says  []string
	}{
		"a placeholder": {clubsWith(t, "terms.txt", "What", "Frontdesk placeholder. What"), nil, []string{"terms.txt is a placeholder"}},
		"a placeholder, optional": {
			clubsWith(t, "terms.txt", "What", "Frontdesk placeholder. What"), map[string]string{"FRONTDESK_AGREEMENTS": "optional"},
			[]string{"terms.txt is a placeholder"},
		},
		"no privacy": {clubsWith(t, "clubs.yaml", privacy, ""), nil, []string{"defaults: documents lacks privacy: "}},
		"no documents": {
			"", map[string]string{"FRONTDESK_CLUBS": `{"clubs": {"11": {}, "12": {}}}`},
			[]string{"club 11: documents lacks privacy, withdrawal_information, early_start_request", "club 12:"},
		},
		"a missing file":    {clubsWith(t, "clubs.yaml", "terms.txt", "gone.txt"), nil, []string{`"gone.txt" cannot be read`}},
		"a file elsewhere":  {clubsWith(t, "clubs.yaml", "terms.txt", "../terms.txt"), nil, []string{`"../terms.txt" must be a file below`}},
		"a creditor's typo": {clubsWith(t, "clubs.yaml", "FR72ZZZ123456", "FR72ZZZ123465"), nil, []string{"check digits do not fit"}},
		"a creditor's address": {
			clubsWith(t, "clubs.yaml", "street: 1 rue du Lac, ", ""), nil, []string{"defaults.creditor.address.street: is missing"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes := map[string]string{"FRONTDESK_CLUBS_FILE": test.clubs}
			for variable, value := range test.more {
				changes[variable] = value
			}
			lines := complaints(t, l.Environment(changes))
			if len(lines) != len(test.says) {
				t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, ""))
			}
			for _, says := range test.says {
				if !strings.Contains(strings.Join(lines, ""), says) {
					t.Errorf("%q is missing in:\n%s", says, strings.Join(lines, ""))
				}
			}
		})
	}
}

// TestDoctorReadsTerms: terms that the club system has are not missing in the operator's file.
func TestDoctorReadsTerms(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	clubs := "FRONTDESK_CLUBS_FILE=" + clubsWith(t, "clubs.yaml", `    terms: {version: "3.1", files: {en: terms.txt}}`+"\n", "")
	for own, line := range map[bool]string{
		false: "FAIL     club system contracts   all 5 clubs without terms: no order can be placed",
		true:  "ok       club system contracts   all 5 clubs: time zone, documents,",
	} {
		frontdesktest.Must(t, env.Upstreams.Sim.Configure(func(s *clubsim.Settings) { s.SaleTerms = own }))
		printed, _ := doctor(t, append(testMode(env), clubs, "FRONTDESK_AGREEMENTS=required"))
		if !strings.Contains(printed, "\n"+line) {
			t.Errorf("%q is missing in:\n%s", line, printed)
		}
	}
}
