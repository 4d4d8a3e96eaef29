package clubsim_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/clubsim"
)

// FuzzRequest: no input causes a panic, and no bad input gets a server error.
func FuzzRequest(f *testing.F) {
	sim := clubsim.New(clubsim.Config{Now: func() time.Time { return today }})
	f.Cleanup(sim.Close)
	contact := sim.World("demo").Personas()[2].AccessToken
	s := &saleModel{server: sim, world: sim.World("demo")}
	bearer := s.token(f)
	for _, seed := range []struct{ method, path, body string }{
		{"POST", "/oauth/v2/token", "grant_type=client_credentials"},
		{"POST", "/demo/sales", `{"contactId":"/demo/contacts/1001","clubId":"/demo/clubs/11","clubCode":"PARIS11"}`},
		{"POST", "/demo/sales/5001/articles", `{"offerId":"/demo/offers/101","implementations":{"a":{"startDate":"2026-12-01"}}}`},
		{
			"POST", "/demo/sales/5001/payments",
			`{"contactId":"/demo/contacts/1001","clubId":"/demo/clubs/11","amount":1,"mean":"card",
				"paymentCards":[{"amount":1,"network":"CBGroup"}]}`,
		},
		{"POST", "/demo/sales/5001/postpone_due", `{"date":"2026-12-31"}`},
		{"POST", "/demo/mandates", `{"iban":"FR1420041010050500013M02606","contactAddress":{}}`},
		{"POST", "/demo/signature_requests", `{"contactId":"/demo/contacts/1001","targetId":"/demo/mandates/3001"}`},
		{"POST", "/demo/contact_migration_requests", `{"clubId":"/demo/clubs/12","contactId":"/demo/contacts/1003"}`},
		{"PUT", "/demo/contacts/1003/migrate", `{"targetContactId":"/demo/contacts/1007","targetClubId":"/demo/clubs/11"}`},
		{"PUT", "/demo/optins/12012", `{"isAuthorized":true}`},
		{"POST", "/demo/contacts", `{"familyName":"A","givenName":"B","clubId":"/demo/clubs/11","address":{}}`},
		{"GET", "/demo/products?context[contactTag][]=a&context[debt]=-9999999999999999999&page=2", ""},
		{"GET", "/demo/allowed_debit_days?startDate=9999-12-31", ""},
		{"PUT", "/demo/_control/settings", `{"pageSize":5}`},
		{"PUT", "/demo/_control/clock", `{"advance":"P1M"}`},
		{"PUT", "/demo/_control/state", `{"version":4,"state":{}}`},
		{"POST", "/demo/_control/events", `{"event":"contact.updated","object":{"contactId":"x"}}`},
		{"POST", "/demo/_control/", `do=fault&kind=delay`},
		{"GET", "/demo/_control/", ""},
	} {
		f.Add(seed.method, seed.path, seed.body, "application/json", false)
		f.Add(seed.method, seed.path, seed.body, "application/x-www-form-urlencoded", true)
	}
	f.Fuzz(func(t *testing.T, method, path, content, contentType string, asContact bool) {
		if strings.Contains(path, "_control") && strings.Contains(content, "fault") || strings.Contains(path, "faults") ||
			strings.Contains(path, "settings") {
			return // faults and settings can break things on purpose
		}
		r, err := http.NewRequest(method, "http://sim"+path, strings.NewReader(content))
		if err != nil || !strings.HasPrefix(path, "/") {
			return // not a request
		}
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("x-gateway-api-key", clubsim.DemoGatewayKey)
		r.Header.Set("authorization", "Bearer "+map[bool]string{true: contact, false: bearer}[asContact])
		r.Header.Set("x-user-club-id", "/demo/clubs/11")
		r.Header.Set("x-user-network-node-id", "/demo/network_nodes/1")
		rec := httptest.NewRecorder()
		sim.ServeHTTP(rec, r)
		if rec.Code >= 500 {
			t.Errorf("%s %s: %d %s", method, path, rec.Code, rec.Body)
		}
		if problems := sim.World("demo").Audit().Unbalanced; len(problems) != 0 {
			t.Error(problems)
		}
	})
}
