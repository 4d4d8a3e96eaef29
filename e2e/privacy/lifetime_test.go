package privacy_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/campaign"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows"
	"frontdesk/flows/registration"
	"frontdesk/flows/statements"
)

const day = 24 * time.Hour

// lifetimes lists every key that Redis may hold, with its longest lifetime. Zero means unlimited: the
// key holds no personal data, or is processed and removed. docs/reference/personal-data.md has the same
// rows.
var lifetimes = []struct {
	row  string // as in that table
	form *regexp.Regexp
	most time.Duration
	open bool // unlimited while the payment of the registration has not ended
}{
	{"fd:{…}:registration", regexp.MustCompile(`^fd:\{[0-9a-f-]{36}\}:registration$`), 2 * day, true},
	{"fd:{…}:payment:…", regexp.MustCompile(`^fd:\{[0-9a-f-]{36}\}:payment:\d+$`), 30 * day, true},
	{"fd:{…}:notes:…", regexp.MustCompile(`^fd:\{[0-9a-f-]{36}\}:notes:\d+$`), 60 * day, false},
	{"fd:payments:…", regexp.MustCompile(`^fd:(payments:[a-z_]+|\{fd:payments:open\}:states)$`), 0, false},
	{"fd:person:…", regexp.MustCompile(`^fd:person:[0-9a-f]{72}$`), 2 * day, false},
	{"fd:contact:…", regexp.MustCompile(`^fd:contact:[0-9a-f]{72}$`), 2 * day, false},
	{"fd:response:…", regexp.MustCompile(`^fd:response:[0-9a-f]{64}$`), day, false},
	{"fd:attempt:…", regexp.MustCompile(`^fd:attempt:[0-9a-f]{64}$`), day, false},
	{"fd:sms:…", regexp.MustCompile(`^fd:sms:[0-9a-f]{72}$`), day, false},
	{"fd:{purchases}:…", regexp.MustCompile(`^fd:\{purchases\}:[0-9a-f]{72}$`), day, false},
	{"rate:fd:…", regexp.MustCompile(`^rate:fd:[a-z]+:[0-9a-f]{72}$`), day, false},
	{"fd:transfer:…", regexp.MustCompile(`^fd:transfer:[0-9a-f]{72}$`), day, false},
	{"fd:invitation:…", regexp.MustCompile(`^fd:invitation:[0-9a-f]{64}$`), 30 * day, false},
	{"fd:document:…", regexp.MustCompile(`^fd:document:[0-9a-f]{64}$`), 3 * 365 * day, false},
	{"fd:{…}:confirmation", regexp.MustCompile(`^fd:\{[0-9a-f-]{36}\}:confirmation$`), 3 * 365 * day, false},
	{"fd:unmailed", regexp.MustCompile(`^fd:unmailed$`), 0, false},
	{"fd:held", regexp.MustCompile(`^fd:held$`), 0, false},
	{"fd:confirmations:…", regexp.MustCompile(`^fd:confirmations:[0-9a-f]{72}$`), 3 * 365 * day, false},
	{"fd:receipts:…", regexp.MustCompile(`^fd:receipts:[0-9a-f]{64}$`), 3 * 365 * day, false},
	{"fd:{…}:copy", regexp.MustCompile(`^fd:\{[0-9a-f]{72}\}:copy$`), 10 * time.Minute, false},
	{"fd:{statements}:statement:…", regexp.MustCompile(`^fd:\{statements\}:statement:[0-9a-f]{32}$`), 3 * 365 * day, false},
	{"fd:{statements}:of:…", regexp.MustCompile(`^fd:\{statements\}:of:[0-9a-f]{72}$`), 3 * 365 * day, false},
	{"fd:{statements}:leaving:…", regexp.MustCompile(`^fd:\{statements\}:leaving:[0-9a-f]{64}$`), 3 * 365 * day, false},
	{"fd:{statements}:due", regexp.MustCompile(`^fd:\{statements\}:(due|open|doubtful|received)$`), 0, false},
	{"fd:{club}:…", regexp.MustCompile(`^fd:\{club\}:(events|counts)$`), 0, false},
	{"fd:{refreshes}:…", regexp.MustCompile(`^fd:\{refreshes\}:(registrations|budget)$`), 0, false},
	{"fd:once:…", regexp.MustCompile(`^fd:once:[0-9a-f]{64}$`), 7 * day, false},
	{"fd:heartbeat:…", regexp.MustCompile(`^fd:heartbeat:`), time.Hour, false},
	{"fd:probe:…", regexp.MustCompile(`^fd:probe:`), time.Hour, false},
	{"fd:rule:…", regexp.MustCompile(`^fd:rule:[a-z]+$`), 0, false},
	{"fd:{quota:…}:…", regexp.MustCompile(`^fd:\{quota:[A-Za-z0-9._-]+\}:(calls|turn:[0-9a-f]{64})$`), 2 * day, false},
	{"fd:comparison:…", regexp.MustCompile(`^fd:comparison:[a-z]+$`), 0, false},
	{"fd:seals", regexp.MustCompile(`^fd:seals$`), 0, false},
	{"fd:unverifiable", regexp.MustCompile(`^fd:unverifiable$`), 0, false},
	{"fd:unique-emails", regexp.MustCompile(`^fd:unique-emails$`), 0, false},
	{"fd:brakes", regexp.MustCompile(`^fd:brakes$`), 0, false},
	{"fd:{fd:payments:open}:unverified", regexp.MustCompile(`^fd:\{fd:payments:open\}:unverified$`), 0, false},
	{"fd:fingerprint", regexp.MustCompile(`^fd:fingerprint$`), 0, false},
	{"fd:audit", regexp.MustCompile(`^fd:audit$`), 0, false},
	{"asynq:…", regexp.MustCompile(`^asynq:`), 0, false},
}

// expectLifetimes compares every key in Redis with the table.
func (s *testEnv) expectLifetimes() {
	s.t.Helper()
	open := strings.Join(s.redis.ZRange(s.t.Context(), "fd:payments:open", 0, -1).Val(), " ")
	met := map[string]bool{}
	for _, key := range s.redis.Keys(s.t.Context(), "*").Val() {
		left := s.redis.PTTL(s.t.Context(), key).Val()
		known := false
		for _, row := range lifetimes {
			if !row.form.MatchString(key) {
				continue
			}
			known, met[row.row] = true, true
			waiting := row.open && strings.Contains(open, regexp.MustCompile(`[0-9a-f-]{36}`).FindString(key))
			if row.most > 0 && !waiting && (left == -1 || left > row.most) {
				s.t.Errorf("%s lives %s, at most %s is said", key, left, row.most)
			}
		}
		if !known {
			s.t.Errorf("%s is in no row of the table", key)
		}
	}
	if len(met) < 12 {
		s.t.Errorf("only %d kinds of keys were met: %v", len(met), met)
	}
}

// TestLifetimesAreDocumented compares the operators' table with this one.
func TestLifetimesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "docs", "reference", "personal-data.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range lifetimes {
		if !strings.Contains(string(page), "`"+row.row+"`") {
			t.Errorf("%s is not in docs/reference/personal-data.md", row.row)
		}
	}
}

// TestProofsOutliveRegistrations: what proves a contract or a statement is kept for FRONTDESK_PROOFS_KEPT. When the registration is
// deleted, its contract is still found by the e-mail address, the number or the name of its person, and an erasure names its confirmation.
func TestProofsOutliveRegistrations(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t)
	const kept = 2161 * time.Hour
	gateway, client := env.gateway("FRONTDESK_PROOFS_KEPT=" + kept.String())
	ada := campaign.NewCanary(14142135)
	bought := register(client, person(ada), cardItem())
	pay(client, bought.Id)
	client.Do("GET", "/v1/registrations/"+bought.Id+"/confirmation", nil).Into(http.StatusOK, nil)
	gone := slices.Concat([]string{"fd:{" + bought.Id + "}:registration"}, env.redis.Keys(t.Context(), "fd:person:*").Val(),
		env.redis.Keys(t.Context(), "fd:contact:*").Val())
	if err := env.redis.Del(t.Context(), gone...).Err(); err != nil {
		t.Fatal(err)
	}
	client.Token = ""
	for _, declared := range []map[string]string{
		{"name": "A", "email": strings.ToUpper(ada.Email)},
		{"name": "A", "email": "new@example.net", "contract": "my number is " + bought.Contact.Number},
		{"name": ada.FamilyName + " " + ada.GivenName, "email": "other@example.net"},
	} {
		var statement api.Statement
		client.Do("POST", "/v1/withdrawals", declared, frontdesktest.Key("")).Into(http.StatusCreated, &statement)
		client.Do("POST", "/v1/withdrawals/"+statement.Id+"/confirm", nil).Into(http.StatusOK, nil)
	}
	var found []string
	frontdesktest.Eventually(t, "each contract is found", func() bool {
		out, err := env.runCLI(gateway, "statements", "--json", "list")
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		found = nil
		for _, item := range decoded[statements.Page](t, out).Items {
			if item.Period == flows.WithinPeriod && item.AtStake != nil {
				found = append(found, item.ID)
			}
		}
		return len(found) == 3
	})
	for _, of := range []string{
		"fd:document:*", "fd:{*}:confirmation", "fd:confirmations:*", "fd:{statements}:statement:*", "fd:{statements}:of:*",
	} {
		keys := env.redis.Keys(t.Context(), of).Val()
		for _, key := range keys {
			if left := env.redis.PTTL(t.Context(), key).Val(); left > kept || left < kept-time.Hour {
				t.Errorf("%s lives %s", key, left)
			}
		}
		if len(keys) == 0 {
			t.Errorf("there is no %s", of)
		}
	}
	report := env.erase(gateway, "--email", ada.Email)
	if !slices.ContainsFunc(report.Kept, func(item registration.KeptItem) bool {
		return item.Registration == bought.Id && strings.Contains(item.What, "confirmation")
	}) {
		t.Errorf("the erasure does not name the confirmation: %+v", report.Kept)
	}
}
