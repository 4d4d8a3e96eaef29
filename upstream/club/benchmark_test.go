package club_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/upstream/club"
)

// BenchmarkGetContact measures the read of a record from the call to the decoded response, over HTTP. The
// server writes fixed bytes.
func BenchmarkGetContact(b *testing.B) {
	const token = `{"access_token":"a","token_type":"Bearer","expires_in":3600}`
	const contact = `{"@context":"/contexts/Contact","@id":"/demo/contacts/1001","@type":"Person","number":"11-001001","status":"customer",` +
		`"familyName":"Laurent","givenName":"Camille","gender":"female","birthDate":"1988-04-12",` +
		`"email":"customer@example.com","mobile":"+33601020301","clubId":"/demo/clubs/11",` +
		`"address":{"addressCountry":"FR","addressLocality":"Paris","postalCode":"75011","streetAddress":"14 rue de la Roquette"},` +
		`"tags":[{"@id":"/demo/contact_tags/1","@type":"ContactTag","name":"member","validFrom":"2026-08-21","validThrough":"2027-08-20"}]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := contact
		if r.Method == http.MethodPost {
			body = token
		}
		w.Header().Set("Content-Type", "application/ld+json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		io.WriteString(w, body)
	}))
	b.Cleanup(server.Close)
	client := club.New(club.Config{
		BaseURL:      server.URL,
		ClientID:     "demo",
		ClientSecret: "secret",
		GatewayKey:   "key",
		Now:          time.Now,
	})
	at := club.Scope{ClientToken: "demo", Club: club.NewIRI("demo", "clubs", "11"), Node: club.NewIRI("demo", "network_nodes", "3")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.GetContact(b.Context(), at, club.NewIRI("demo", "contacts", "1001")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkListOffers measures the decoding of a page of thirty offers with their schedules.
func BenchmarkListOffers(b *testing.B) {
	const entry = `{"offset":"P0W","interval":"P1M","loop":11,"taxRate":20,"priceTI":4990,"priceTE":4158,"tax":832,"priceCurrency":"EUR"}`
	offers := make([]string, 30)
	for i := range offers {
		offers[i] = fmt.Sprintf(`{"@id":"/demo/offers/%d","@type":"Offer","id":1,"name":"Monthly","priceCurrency":"EUR","product":`+
			`{"@id":"/demo/products/1","name":"Gym","type":"subscription","productBehaviors":[{"@type":"ProductBehavior","type":"subscription",`+
			`"configuration":{"validityPeriod":"P52W"}}]},"registrationFeeTI":2000,"registrationFeeName":"Fee","totalPriceTI":6990,`+
			`"isFirstMonthPayed":true,"rhythmBilling":"monthly","articleBehaviors":{"implementation":{"isProrated":false}},`+
			`"repaymentSchedule":{"occurrences":[`+entry+`],"recurrences":[`+entry+`]}}`, i+1)
	}
	c := tasting(http.StatusOK, []byte(`{"hydra:member":[`+strings.Join(offers, ",")+`],"hydra:totalItems":30}`))
	b.ReportAllocs()
	for b.Loop() {
		if got, err := c.ListOffers(b.Context(), demo, "/demo/products/1"); err != nil || len(got) != 30 {
			b.Fatal(len(got), err)
		}
	}
}
