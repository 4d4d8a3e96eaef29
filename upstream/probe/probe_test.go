package probe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/probe"
)

func (i *installation) fault(faults ...clubsim.Fault) {
	i.t.Helper()
	if err := i.world.SetFaults(faults); err != nil {
		i.t.Fatal(err)
	}
}

func on(path, kind string) clubsim.Fault {
	return clubsim.Fault{Match: clubsim.FaultMatch{Method: http.MethodGet, Path: path}, Kind: kind}
}

func withStatus(fault clubsim.Fault, status int) clubsim.Fault {
	fault.Status = status
	return fault
}

// TestReadsOnly checks that a probe writes nothing.
func TestReadsOnly(t *testing.T) {
	t.Parallel()
	origin := install(t, nil)
	report := origin.mustProbe()
	for _, request := range origin.world.Requests() {
		if request.Method != http.MethodGet && request.Operation != "token" {
			t.Errorf("the probe called %s", request.Operation)
		}
	}
	if len(report.Differences) > 0 || report.Halted != nil || len(origin.world.Requests()) != report.Calls {
		t.Errorf("%d calls, counted as %d; %v; %v", len(origin.world.Requests()), report.Calls, report.Halted, report.Differences)
	}
}

// TestEndsEarly checks that a probe ends at its budget and at half of a limit, says so, and guesses nothing.
func TestEndsEarly(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settings string
		budget   int
		fault    clubsim.Fault
		calls    int // the most
		says     string
	}{
		"budget":       {"", 10, clubsim.Fault{}, 10, "10 calls were made, as many as --calls allows"},
		"minute":       {"callLimits: {perMinute: 40}", 300, clubsim.Fault{}, 21, "allows 40 calls, and the probe leaves half"},
		"day":          {"callLimits: {perDay: 50}", 300, clubsim.Fault{}, 26, "allows 50 calls, and the probe leaves half"},
		"429":          {"", 300, on("/class_events", "too_many"), 300, "refused with 429"},
		"no responses": {"", 300, on("/attendees", "drop_after"), 300, "does not respond"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin := install(t, []byte(test.settings))
			if test.fault.Kind != "" {
				origin.fault(test.fault)
			}
			report, err := origin.probe(test.budget)
			if err != nil {
				t.Fatal(err)
			}
			if calls := len(origin.world.Requests()); calls > test.calls || !strings.Contains(fmt.Sprint(report.Halted), test.says) {
				t.Errorf("%d calls; ended by %v", calls, report.Halted)
			}
			if file := string(report.File()); strings.Contains(file, "GET offers") { // which are read last
				t.Errorf("the file says what was not seen:\n%s", file)
			}
			for _, unseen := range []string{"maxPageSize", "GET offers"} {
				gap := func(gap probe.Gap) bool { return gap.What == unseen }
				if _, seen := report.Settings[unseen]; seen || !slices.ContainsFunc(report.NotSeen, gap) {
					t.Errorf("not seen: %v", report.NotSeen)
				}
			}
		})
	}
}

// TestCannotProbe checks what a probe says of a club system that shows it nothing.
func TestCannotProbe(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault clubsim.Fault
		cause error
	}{
		"a firewall's page": {on("/network_nodes", "foreign_page"), club.ErrForeign},
		"another service":   {on("/network_nodes", "foreign_json"), club.ErrForeign},
		"401":               {withStatus(on("/network_nodes", "error_before"), 401), club.ErrUnauthorized},
		"not granted":       {on("/network_nodes", "error_before"), nil},
	} {
		origin := install(t, nil)
		origin.fault(test.fault)
		if _, err := origin.probe(300); err == nil || test.cause != nil && !errors.Is(err, test.cause) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := install(t, nil).probe(1); !strings.Contains(fmt.Sprint(err), "as many as --calls allows") {
		t.Errorf("one call: %v", err)
	}
	origin := install(t, nil)
	origin.url = "http://127.0.0.1:1"
	_, err := origin.probe(300)
	if said := fmt.Sprint(err); !strings.Contains(said, "connection refused") || strings.Contains(said, "127.0.0.1") {
		t.Errorf("unreachable: %v", err)
	}
}

// TestNoPersonalValue checks that a report has shapes only, also of records that an installation keys by personal values.
func TestNoPersonalValue(t *testing.T) {
	t.Parallel()
	origin := install(t, []byte("formerStatus: Lea Martin\n"))
	person := []string{"lea@example.org", "Martin", "+33600000001", "/demo/contacts/77", "Lea Martin", "1990-01-31", "SECRET7"}
	record := map[string]any{"@id": "/demo/contacts/77", "status": "SECRET7", "state": "lead", "family name": "Martin", "born": "1990-01-31"}
	for _, value := range person {
		record[value] = map[string]any{value: value}
	}
	record["family"] = map[string]any{"marie": map[string]any{"born": "2020-01-31"}} // so that the name looks like a member's
	person = append(person, "marie")
	listed, err := json.Marshal(map[string]any{"hydra:member": []any{record}})
	if err != nil {
		t.Fatal(err)
	}
	fault := on("/contacts", "foreign_json")
	fault.Body, fault.Times = listed, new(1)
	origin.fault(fault)
	report := origin.mustProbe()
	said := fmt.Sprintf("%+v", *report) + string(report.File())
	for _, contact := range origin.world.Contacts() {
		person = append(person, contact.ID, contact.GivenName, contact.FamilyName, contact.Mobile)
	}
	for _, value := range person {
		if strings.Contains(said, value) {
			t.Errorf("the report has %q:\n%s", value, said)
		}
	}
	for _, shown := range []string{"born", "member[].family", "contacts.state Here:lead"} {
		if !strings.Contains(said, shown) {
			t.Errorf("the report lacks %q:\n%s", shown, said)
		}
	}
}

// proxied is a transport that changes requests or responses.
type proxied struct {
	request  func(*http.Request)
	response func(path string, body []byte) []byte
}

func (p proxied) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if p.request != nil {
		p.request(r)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || p.response == nil {
		return response, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(p.response(r.URL.Path, body))), -1
	return response, err
}

// TestPagesOfSeveralLengths: an installation whose lists have pages of different lengths can be probed and played.
func TestPagesOfSeveralLengths(t *testing.T) {
	t.Parallel()
	origin := install(t, []byte("extraProducts: 40"))
	origin.transport = proxied{request: func(r *http.Request) {
		if query := r.URL.Query(); strings.HasSuffix(r.URL.Path, "/products") {
			query.Set("itemsPerPage", "20")
			r.URL.RawQuery = query.Encode()
		}
	}}
	report := origin.mustProbe()
	if _, seen := report.Settings["maxPageSize"]; seen {
		t.Errorf("settings %v", report.Settings)
	}
}

// TestIdentifiersAndTokens: identifiers that are words are not part of an operation's name, and the life of a token may be written as text.
func TestIdentifiersAndTokens(t *testing.T) {
	t.Parallel()
	origin := install(t, nil)
	named := strings.NewReplacer("/demo/clubs/11", "/demo/clubs/bastille", `"expires_in":3600`, `"expires_in":"7200.0"`)
	origin.transport = proxied{
		func(r *http.Request) {
			r.URL.Path = strings.Replace(r.URL.Path, "/clubs/bastille", "/clubs/11", 1)
			if id := r.Header.Get("X-User-Club-Id"); id != "" {
				r.Header.Set("X-User-Club-Id", strings.Replace(id, "bastille", "11", 1))
			}
		},
		func(_ string, body []byte) []byte { return []byte(named.Replace(string(body))) },
	}
	report := origin.mustProbe()
	if said := fmt.Sprintf("%+v", *report) + string(report.File()); strings.Contains(said, "bastille") {
		t.Errorf("the report has an identifier:\n%s", said)
	}
	if life := report.Settings["tokenLifetime"]; life != 7200 {
		t.Errorf("a token lives for %v", life)
	}
}

// TestUnreadable checks that a report names what the client cannot read.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	report := install(t, []byte(`members:
  GET offers: {"member[].totalPriceTI": string}
  GET stats/accounts/contacts/{id}: {totalRealDebt: absent}
`)).mustProbe()
	said := fmt.Sprint(report.Differences)
	for _, shown := range []string{
		"ListOffers totalPriceTI unreadable in",
		"GetAccountStatistics",
		"GET offers member[].totalPriceTI string integer it is the price",
	} {
		if !strings.Contains(said, shown) {
			t.Errorf("the report lacks %q:\n%s", shown, said)
		}
	}
}

// TestDrift checks what a probe reports as changed since an earlier one.
func TestDrift(t *testing.T) {
	t.Parallel()
	usual := []byte(`members: {GET contacts: {"member[].nationalId": string}}`)
	former := install(t, usual).mustProbe().File()
	const number = `members: {GET contacts: {"member[].nationalId": string, "member[].number": absent}}`
	for settings, want := range map[string]string{
		string(usual): "[]",
		"{}":          "[{GET contacts member[].nationalId string as in the simulator}]",
		number:        "[{GET contacts member[].number as in the simulator absent}]",
		"{networkNodeShape: flat, callLimits: {perMinute: 5000}, " + string(usual) + "}": "[{callLimits.perMinute 0 5000} " +
			"{networkNodeShape nested flat}]",
	} {
		changes, err := install(t, []byte(settings)).mustProbe().Drift(former)
		if err != nil || fmt.Sprint(changes) != want {
			t.Errorf("%s: %v, %v; want %s", settings, changes, err, want)
		}
	}
	refused := install(t, usual)
	refused.fault(withStatus(on("/optins", "error_before"), http.StatusForbidden))
	changes, err := refused.mustProbe().Drift(former)
	if said := fmt.Sprint(changes); err != nil || said != "[{GET optins readable not readable, status 403}]" {
		t.Errorf("refused: %s, %v", said, err)
	}
	for file, want := range map[string]string{"pageSizes: 3": "pageSizes", "": "no settings"} {
		if _, err := refused.mustProbe().Drift([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

// TestDriftOfShortProbe: what a probe that ended early has not seen is not a change.
func TestDriftOfShortProbe(t *testing.T) {
	t.Parallel()
	settings := []byte("countryIso: true")
	former := install(t, settings).mustProbe().File()
	for calls := 4; calls <= 12; calls += 4 {
		short, err := install(t, settings).probe(calls)
		if err != nil {
			t.Fatal(err)
		}
		if changes, err := short.Drift(former); err != nil || len(changes) > 0 {
			t.Errorf("%d calls: %v, %v", calls, changes, err)
		}
	}
}

// TestSaleFiltersSeen checks that a probe sees whether the list of sales has filters.
func TestSaleFiltersSeen(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]bool{"{}": true, "saleFilters: false": false, "{saleFilters: false, refuseFilters: true}": false} {
		report := install(t, []byte(settings)).mustProbe()
		if value := report.Settings["saleFilters"]; value != want || report.Settings["checkouts"] != "hidden" {
			t.Errorf("%s: %v", settings, report.Settings)
		}
	}
}
