package probe_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
	"frontdesk/upstream/probe"
)

// today is the day on which every world starts.
var today = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// installation is a simulator with settings, to be probed. Its clock advances with each pause of the probe and each request
// of the journey.
type installation struct {
	t         *testing.T
	url       string
	transport http.RoundTripper // to it; nil: the default
	world     *clubsim.World
	elapsed   atomic.Int64
}

func (i *installation) now() time.Time { return today.Add(time.Duration(i.elapsed.Load())) }

// after ends a pause at once.
func (i *installation) after(pause time.Duration) <-chan time.Time {
	i.elapsed.Add(int64(pause))
	ended := make(chan time.Time, 1)
	ended <- i.now()
	return ended
}

// install starts a simulator that plays a file of settings.
func install(t *testing.T, file []byte) *installation {
	t.Helper()
	settings, err := clubsim.ParseSettings(file)
	if err != nil {
		t.Fatalf("%v in %s", err, file)
	}
	i := &installation{t: t}
	simulator := clubsim.New(clubsim.Config{Now: i.now, Settings: &settings})
	server := httptest.NewServer(http.StripPrefix("/sim", simulator))
	t.Cleanup(func() { server.Close(); simulator.Close() })
	i.url, i.world = server.URL+"/sim", simulator.World(clubsim.DemoClientToken)
	return i
}

// probe probes the installation with a budget of calls.
func (i *installation) probe(calls int) (*probe.Report, error) {
	return probe.Run(i.t.Context(), i.config(calls))
}

func (i *installation) config(calls int) probe.Config {
	return probe.Config{
		Club: club.Config{
			BaseURL:      i.url,
			ClientID:     clubsim.DemoClientID,
			ClientSecret: clubsim.DemoClientSecret,
			GatewayKey:   clubsim.DemoGatewayKey,
		},
		Token:     clubsim.DemoClientToken,
		Calls:     calls,
		Transport: cmp.Or(i.transport, http.DefaultTransport),
		Now:       i.now,
		After:     i.after,
	}
}

func (i *installation) mustProbe() *probe.Report {
	i.t.Helper()
	report, err := i.probe(300)
	if err != nil {
		i.t.Fatal(err)
	}
	return report
}

// journey makes a recorded journey, from the token to a mandate, and returns what each response looks like.
func (i *installation) journey() (seen []string) {
	i.t.Helper()
	token := struct {
		Access string `json:"access_token"`
	}{}
	form := "grant_type=client_credentials&client_id=demo&client_secret=" + clubsim.DemoClientSecret
	status, header, body := i.send(http.MethodPost, "/oauth/v2/token", "application/x-www-form-urlencoded", form, "")
	seen = append(seen, "token "+look(status, header, body))
	if err := json.Unmarshal(body, &token); err != nil {
		i.t.Fatalf("%v in %s", err, body)
	}
	for _, request := range recorded {
		status, header, body := i.send(request[0], "/demo/"+request[1], "application/json", request[2], token.Access)
		seen = append(seen, request[0]+" "+request[1]+" "+look(status, header, body))
	}
	return seen
}

// recorded is the journey: method, path and body of each request.
var recorded = [][3]string{
	{"GET", "network_nodes"},
	{"GET", "network_nodes?unknown=1"},
	{"GET", "clubs/11"},
	{"GET", "clubs"},
	{"GET", "checkouts"},
	{"GET", "referentials/cancellation_motives"},
	{"GET", "identify_sale_terms?club=/demo/clubs/11"},
	{"GET", "sales?contactId[]=/demo/contacts/1"},
	{"GET", "products"},
	{"GET", "products?page=2"},
	{"GET", "products?itemsPerPage=1000"},
	{"GET", "products?context[channel]=web&type=subscription"},
	{"GET", "products/1"},
	{"GET", "offers?product=/demo/products/1"},
	{"GET", "offers?product=/demo/products/9"},
	{"GET", "allowed_debit_days?startDate=2026-12-01"},
	{"GET", "contacts"},
	{"GET", "contacts/1001"},
	{"GET", "contacts/1004"},
	{"GET", "contacts/0"},
	{"GET", "stats/accounts/contacts/1002"},
	{"GET", "optins?contactId=/demo/contacts/1001"},
	{"GET", "class_events"},
	{"GET", "attendees"},
	{"POST", "contacts", `{"familyName": "Martin", "givenName": "Lea", "clubId": "/demo/clubs/11", "status": "temp"}`},
	{"POST", "contacts", `{"familyName": ""}`},
	{"POST", "sales", `{"contactId": "/demo/contacts/1001", "clubId": "/demo/clubs/11", "clubCode": "PARIS11"}`},
	{"POST", "sales/1/articles", `{"offerId": "/demo/offers/901", "implementation": {"startDate": "2026-12-01"}}`},
	{"GET", "sales/1"},
	{"GET", "sales/1/check"},
	{"GET", "sales/1/articles"},
	{"PUT", "sales/1", `{"contactGivenName": "Lea"}`},
}

func (i *installation) send(method, path, kind, content, token string) (status int, header http.Header, body []byte) {
	i.t.Helper()
	i.after(100 * time.Millisecond)
	request, err := http.NewRequestWithContext(context.WithoutCancel(i.t.Context()), method, i.url+path, strings.NewReader(content))
	if err != nil {
		i.t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type":           kind,
		"X-Gateway-Api-Key":      clubsim.DemoGatewayKey,
		"Authorization":          "Bearer " + token,
		"X-User-Club-Id":         "/demo/clubs/11",
		"X-User-Network-Node-Id": "/demo/network_nodes/1",
	} {
		request.Header.Set(name, value)
	}
	if path == "/demo/clubs" {
		request.Header.Set("Accept", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		i.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	if err != nil {
		i.t.Fatal(err)
	}
	return response.StatusCode, response.Header, body
}

// look is what a response looks like: status, limits and shape. It shares no code with the probe.
func look(status int, header http.Header, body []byte) string {
	limits := []string{}
	for name := range header {
		if strings.HasSuffix(name, "-Limit") || strings.HasSuffix(name, "-Period") {
			limits = append(limits, name+"="+header.Get(name))
		}
	}
	slices.Sort(limits)
	var value any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	_ = decoder.Decode(&value) // an empty body has no value
	return fmt.Sprint(status, " ", limits, " ", form("", value))
}

// form is a value without what identifies it: of a list its length and the forms of its entries.
func form(name string, value any) string {
	switch value := value.(type) {
	case map[string]any:
		members := []string{}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			members = append(members, name+": "+form(name, value[name]))
		}
		return "{" + strings.Join(members, ", ") + "}"
	case []any:
		forms := map[string]bool{}
		for _, entry := range value {
			forms[form("", entry)] = true
		}
		return fmt.Sprint(len(value), slices.Sorted(maps.Keys(forms)))
	case json.Number:
		if name == "expires_in" || name == "taxRate" {
			return string(value)
		}
		return fmt.Sprintf("number with%s fraction", map[bool]string{false: "out"}[strings.Contains(string(value), ".")])
	case string:
		if name == "status" || name == "state" {
			return value
		}
		_, noDate := time.Parse(time.DateOnly, value)
		_, noInstant := time.Parse("2006-01-02T15:04:05", value)
		_, noZone := time.Parse(time.RFC3339, value)
		return fmt.Sprint("text ", noDate == nil, noInstant == nil, noZone == nil, strings.HasPrefix(value, "/demo/"))
	}
	return fmt.Sprintf("%T", value)
}
