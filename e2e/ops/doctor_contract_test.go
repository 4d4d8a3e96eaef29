package ops_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// contractLines returns what doctor prints about the clubs' contracts and agreements, without its columns' spaces.
func contractLines(t *testing.T, environment []string, args ...string) (lines []string) {
	t.Helper()
	printed, _ := doctor(t, environment, args...)
	for line := range strings.Lines(printed) {
		text := strings.Join(strings.Fields(line), " ")
		if strings.Contains(text, " club system contracts ") || strings.Contains(text, " agreements ") {
			lines = append(lines, strings.Replace(text, " club system contracts ", " ", 1))
		}
	}
	return lines
}

const (
	asksLittle = "ok agreements optional: a payment may leave out its agreements, and a missing document is not asked for; " +
		"live mode requires them by default"
	optional = "no payment asks for it while agreements are optional"
	asksAll  = "ok agreements required: every payment must agree to its club's documents"
	allWell  = "ok all 5 clubs: time zone, documents, seller, creditor, mediator, address for proofs, effects of a cancellation"
	noRule   = "ok all 5 clubs: no buyer needs a guardian"
)

// clubsBut is clubsWith without a part of the defaults, and with entries of clubs.
func clubsBut(t *testing.T, part, clubs string) (path string) {
	t.Helper()
	path = clubsWith(t, "clubs.yaml", part, "")
	content, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append([]byte("clubs:\n"+clubs), content...), 0o600)
	}
	frontdesktest.Must(t, err)
	return path
}

// TestDoctorReadsContracts: doctor says what the contracts of each club lack, and which clubs lack nothing.
func TestDoctorReadsContracts(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	set := func(key string) string { return ": set " + key + " in FRONTDESK_CLUBS_FILE" }
	const rest = "warning all 5 clubs without "
	bare := []string{
		rest + "a seller: the order does not say who sells" + set("trader"),
		rest + "a creditor: mandates do not name its SEPA identifier" + set("creditor"),
		rest + "the EU's notice on the legal guarantee: orders of goods have a short text in its place" + set("documents.guarantee_notice"),
		rest + "a mediator: confirmations do not name one" + set("mediator"),
		rest + "an address for proofs of a cancellation's reason" + set("proofs.email"),
		rest + "the effects of a cancellation: acknowledgements do not say them" + set("cancellation.effects"),
		noRule,
	}
	documents := func(verdict, effect string) (lines []string) {
		for _, name := range []string{"terms", "privacy", "withdrawal_information", "early_start_request"} {
			lines = append(lines, verdict+" all 5 clubs without "+name+": "+effect+set("documents."+name))
		}
		return lines
	}
	const mediator = `  mediator: {name: Mediation 4711, url: "https://mediation.gym-4711.fr"}` + "\n"
	noZone := rest + "a time zone: withdrawal periods begin by the UTC day" + set("timeZone")
	for name, test := range map[string]struct {
		more, lines []string
	}{
		"nothing missing": {
			[]string{"FRONTDESK_CLUBS_FILE=" + frontdesktest.ApprovedClubs(t)}, []string{allWell, noRule, asksLittle},
		},
		"nothing there": {
			[]string{"FRONTDESK_CLUBS={}"},
			slices.Concat([]string{noZone}, documents("warning", optional), bare, []string{asksLittle}),
		},
		"nothing there, required": {
			[]string{"FRONTDESK_CLUBS={}", "FRONTDESK_AGREEMENTS=required"},
			slices.Concat([]string{noZone}, documents("FAIL", "no order can be placed"), bare, []string{asksAll}),
		},
		"a creditor without a mandate text": {
			[]string{"FRONTDESK_CLUBS_FILE=" + clubsBut(t, `    mandate_text: {version: "3.1", files: {en: mandate.txt}}`+"\n", "  \"11\": {}\n")},
			[]string{
				rest + "a mandate text: a direct debit is authorised in the usual words, which the club has not approved" +
					set("documents.mandate_text"),
				noRule, asksLittle,
			},
		},
		"gaps of some clubs": {
			[]string{"FRONTDESK_CLUBS_FILE=" + clubsBut(t, mediator, `  "12": {guardian: {below: 18}, `+strings.TrimSpace(mediator)+"}\n"+
				`  "13": {documents: {terms: {version: "3.1", files: {en: terms.txt, fr: terms.txt}}}}`+"\n")},
			[]string{
				"warning clubs 11, 13, 21, 22 without a mediator: confirmations do not name one" + set("mediator"),
				"warning club 13 without privacy in fr, a language of other documents" + set("documents.privacy"),
				"warning club 13 without withdrawal_information in fr, a language of other documents" + set("documents.withdrawal_information"),
				"warning club 13 without early_start_request in fr, a language of other documents" + set("documents.early_start_request"),
				"warning club 13 without mandate_text in fr, a language of other documents" + set("documents.mandate_text"),
				"warning club 13 without guarantee_notice in fr, a language of other documents" + set("documents.guarantee_notice"),
				strings.Replace(allWell, "all 5 clubs", "club 12", 1),
				strings.Replace(noRule, "all 5 clubs", "clubs 11, 13, 21, 22", 1),
				"ok club 12: buyers below 18 need a guardian",
				asksLittle,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if lines := contractLines(t, append(testMode(env), test.more...)); strings.Join(lines, "\n") != strings.Join(test.lines, "\n") {
				t.Errorf("instead of\n%s\nit prints\n%s", strings.Join(test.lines, "\n"), strings.Join(lines, "\n"))
			}
		})
	}
}

// TestDoctorNamesPlaceholders: doctor names the documents that live mode refuses.
func TestDoctorNamesPlaceholders(t *testing.T) {
	t.Parallel()
	lines := contractLines(t, nil)
	if says := "warning placeholders, which live mode refuses: documents/early_start_request.en.html, "; len(lines) < 2 ||
		!strings.HasPrefix(lines[1], says) {
		t.Errorf("%q is not the second of:\n%s", says, strings.Join(lines, "\n"))
	}
}

// TestDoctorReadsLargeChains: of hundreds of clubs, doctor names twenty.
func TestDoctorReadsLargeChains(t *testing.T) {
	t.Parallel()
	lines := contractLines(t, nil, "--clubs=300")
	for _, line := range lines {
		if strings.Contains(line, "buyer needs") && strings.HasPrefix(line, "ok 298 clubs (11, 13, ") &&
			strings.Count(line, ",") == 19 && strings.HasSuffix(line, " and others): no buyer needs a guardian") {
			return
		}
	}
	t.Errorf("no line has twenty of 298 clubs:\n%s", strings.Join(lines, "\n"))
}

// TestLiveDoctorDemandsTimeZones: with live keys, a club without a time zone fails, and is named.
func TestLiveDoctorDemandsTimeZones(t *testing.T) {
	t.Parallel()
	l := frontdesktest.NewLive(t)
	own := clubsBut(t, "  timeZone: Europe/Paris\n", `  "11": &paris {timeZone: Europe/Paris}`+"\n"+
		`  "12": *paris`+"\n"+`  "13": *paris`+"\n"+`  "21": *paris`+"\n")
	lines := contractLines(t, l.Environment(map[string]string{"FRONTDESK_CLUBS_FILE": own}))
	says := "FAIL club 22 without a time zone: withdrawal periods begin by the UTC day: set timeZone in FRONTDESK_CLUBS_FILE"
	if len(lines) == 0 || lines[0] != says {
		t.Errorf("%q is not the first of:\n%s", says, strings.Join(lines, "\n"))
	}
}

// TestDoctorCannotReadTerms: where the terms of the club system's clubs cannot be read now, doctor says so, and not that they have none.
func TestDoctorCannotReadTerms(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	frontdesktest.Must(t, env.Upstreams.Sim.Configure(func(s *clubsim.Settings) { s.SaleTerms = true }))
	env.SetFaults(t, clubsim.Fault{Match: clubsim.FaultMatch{Path: "/identify_sale_terms"}, Kind: "foreign_page", Status: 403})
	own := clubsWith(t, "clubs.yaml", `    terms: {version: "3.1", files: {en: terms.txt}}`+"\n", "")
	lines := contractLines(t, append(testMode(env), "FRONTDESK_CLUBS_FILE="+own, "FRONTDESK_AGREEMENTS=required"))
	const unread = "whose terms cannot be read from the club system now"
	if all := strings.Join(lines, "\n"); strings.Contains(all, "without terms") || !strings.Contains(all, unread) {
		t.Errorf("it prints\n%s", all)
	}
}
