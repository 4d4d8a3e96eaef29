package clubsim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"frontdesk/upstream/clubsim"
)

// saleModel drives a world with random sales and payments, and keeps its own simpler books for comparison.
type saleModel struct {
	world    *clubsim.World
	server   *clubsim.Server
	bearer   string
	contacts []string
	sales    map[string]*trackedSale // by path
	paid     int                     // cents, all payments
}

type trackedSale struct {
	buyer    string
	total    int
	state    string
	payments int
	paid     int
}

func newSaleModel(t *rapid.T) *saleModel {
	s := &saleModel{server: clubsim.New(clubsim.Config{Now: func() time.Time { return today }}), sales: map[string]*trackedSale{}}
	t.Cleanup(s.server.Close)
	s.world = s.server.World("demo")
	s.contacts = []string{"/demo/contacts/1001", "/demo/contacts/1002", "/demo/contacts/1006"}
	return s
}

// call sends HTTP requests to the simulator without a network.
func (s *saleModel) call(t *rapid.T, method, path string, b any) (int, body) {
	encoded, _ := json.Marshal(b)
	r := httptest.NewRequest(method, "/demo/"+path, bytes.NewReader(encoded))
	for name, value := range map[string]string{
		"x-gateway-api-key": clubsim.DemoGatewayKey, "x-user-club-id": "/demo/clubs/11", "x-user-network-node-id": "/demo/network_nodes/1",
		"authorization": "Bearer " + s.token(t),
	} {
		r.Header.Set(name, value)
	}
	rec := httptest.NewRecorder()
	s.server.ServeHTTP(rec, r)
	answer := body{}
	json.Unmarshal(rec.Body.Bytes(), &answer)
	return rec.Code, answer
}

func (s *saleModel) token(t interface{ Fatalf(string, ...any) }) string {
	if s.bearer == "" {
		r := httptest.NewRequest(
			"POST", "/oauth/v2/token",
			strings.NewReader("grant_type=client_credentials&client_id=demo&client_secret="+clubsim.DemoClientSecret),
		)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("x-gateway-api-key", clubsim.DemoGatewayKey)
		rec := httptest.NewRecorder()
		s.server.ServeHTTP(rec, r)
		var answer struct {
			Token string `json:"access_token"`
		}
		if json.Unmarshal(rec.Body.Bytes(), &answer); answer.Token == "" {
			t.Fatalf("no token: %s", rec.Body)
		}
		s.bearer = answer.Token
	}
	return s.bearer
}

// anySale picks a sale from the sorted paths, so that a run can be repeated.
func (s *saleModel) anySale(t *rapid.T) string {
	if len(s.sales) == 0 {
		t.Skip("no sale yet")
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(s.sales))).Draw(t, "sale")
}

// NewSale makes a sale with a few articles, some of which do not suit their buyer.
func (s *saleModel) NewSale(t *rapid.T) {
	buyer := rapid.SampledFrom(s.contacts).Draw(t, "buyer")
	status, answer := s.call(t, "POST", "sales", body{
		"contactId": buyer, "clubId": "/demo/clubs/11", "clubCode": "PARIS11",
		"contactFamilyName": "A", "contactGivenName": "B", "contactNumber": "1", "address": homeAddress,
	})
	if status != 201 {
		t.Fatalf("POST sales: %d %v", status, answer)
	}
	path := strings.TrimPrefix(answer["@id"].(string), "/demo/")
	for _, offer := range rapid.SliceOfN(rapid.SampledFrom([]int{401, 1301, 1401, 2801, 301, 3801, 4001, 4801}), 0, 3).Draw(t, "offers") {
		start := rapid.SampledFrom([]string{"2026-11-21", "2026-12-01"}).Draw(t, "start")
		s.call(t, "POST", path+"/articles", body{"offerId": fmt.Sprintf("/demo/offers/%d", offer), "implementation": body{"startDate": start}})
	}
	_, read := s.call(t, "GET", path, nil)
	s.sales[path] = &trackedSale{buyer: buyer, total: int(read["totalTI"].(float64)), state: "building"}
}

// Pay pays for a sale: by its buyer or another contact, with the right or a wrong amount.
func (s *saleModel) Pay(t *rapid.T) {
	path := s.anySale(t)
	sold := s.sales[path]
	amount := rapid.SampledFrom([]int{sold.total, sold.total / 2, sold.total + 700, 1, 15000}).Draw(t, "amount")
	if amount < 1 {
		t.Skip("nothing to pay")
	}
	payer := rapid.SampledFrom(s.contacts).Draw(t, "payer")
	status, answer := s.call(
		t, "POST", path+"/payments", body{"contactId": payer, "amount": amount, "mean": "CBWeb", "clubId": "/demo/clubs/11"},
	)
	if status != 201 {
		t.Fatalf("POST payments: %d %v", status, answer)
	}
	sold.paid += amount
	sold.payments++
	s.paid += amount
}

// Postpone defers a sale if that is possible.
func (s *saleModel) Postpone(t *rapid.T) {
	path := s.anySale(t)
	checked, _ := s.call(t, "GET", path+"/check", nil)
	status, _ := s.call(t, "POST", path+"/postpone_due", body{"date": "2026-12-31"})
	sold := s.sales[path]
	if possible := sold.state == "building" && checked == 204 && sold.total > 0; possible != (status == 201) {
		t.Fatalf("postpone_due of a %s sale of %d, check %d: %d", sold.state, sold.total, checked, status)
	}
}

// Validate settles a free sale.
func (s *saleModel) Validate(t *rapid.T) {
	path := s.anySale(t)
	status, _ := s.call(t, "POST", path+"/transitions", body{"transition": "validate"})
	if sold := s.sales[path]; status == 201 && (sold.total != 0 || sold.state != "building") {
		t.Fatalf("a %s sale of %d was validated", sold.state, sold.total)
	}
}

// Wait lets time pass, and with it the access token's life.
func (s *saleModel) Wait(*rapid.T) {
	s.world.Advance(time.Minute)
	s.bearer = ""
}

// Check compares the world's books with the model's after every step.
func (s *saleModel) Check(t *rapid.T) {
	audit := s.world.Audit()
	if len(audit.Unbalanced) != 0 {
		t.Fatalf("the double entry does not add up: %v", audit.Unbalanced)
	}
	settled, onAccount, received := map[string]int{}, 0, 0
	for _, entry := range s.world.Ledger() {
		received += entry.Amount
		onAccount += entry.OnAccount
		spent := 0
		for _, part := range entry.Settled {
			settled[strings.TrimPrefix(part.SaleID, "/demo/")] += part.Amount
			spent += part.Amount
		}
		if spent+entry.OnAccount != entry.Amount || entry.OnAccount < 0 {
			t.Fatalf("a payment lost money: %+v", entry)
		}
	}
	if received != s.paid {
		t.Fatalf("%d came in, the ledger knows %d", s.paid, received)
	}
	s.checkSales(t, settled)
	s.checkTwice(t, audit)
}

// checkSales checks the rules of every sale: a settled sale is paid in full, and no sale receives more than
// its total.
func (s *saleModel) checkSales(t *rapid.T, settled map[string]int) {
	owed := map[string]int{}
	for path, sold := range s.sales {
		_, read := s.call(t, "GET", path, nil)
		now := read["state"].(string)
		if before := sold.state; before == "settled" && now != "settled" || before == "deferred" && now == "building" {
			t.Fatalf("%s went from %s to %s", path, before, now)
		}
		sold.state = now
		switch {
		case settled[path] > sold.total:
			t.Fatalf("%s of %d took %d", path, sold.total, settled[path])
		case now == "settled" && settled[path] != sold.total, now == "building" && settled[path] != 0:
			t.Fatalf("%s %s of %d took %d", now, path, sold.total, settled[path])
		case (now == "building") != (read["invoice"] == nil):
			t.Fatalf("%s %s with invoice %v", now, path, read["invoice"])
		case now == "deferred":
			owed[sold.buyer] += sold.total - settled[path]
		}
	}
	for path, amount := range map[string]int{"sales/5001": 9900, "sales/5002": 2500} {
		owed["/demo/contacts/1002"] += amount - settled[path]
	}
	for _, contact := range s.contacts {
		_, stats := s.call(t, "GET", "stats/accounts/"+strings.TrimPrefix(contact, "/demo/"), nil)
		if debt := int(stats["totalRealDebt"].(float64)); debt != owed[contact] {
			t.Fatalf("%s owes %d, should owe %d", contact, debt, owed[contact])
		}
	}
}

// checkTwice: the audit reports every sale that was paid twice, and no other.
func (s *saleModel) checkTwice(t *rapid.T, audit clubsim.Audit) {
	named := map[string]bool{}
	for _, twice := range audit.SalesPaidTwice {
		named[strings.TrimPrefix(twice.SaleID, "/demo/")] = true
	}
	for path, sold := range s.sales {
		if guilty := sold.payments > 1 && sold.paid > sold.total; guilty != named[path] {
			t.Fatalf("%s of %d got %d in %d payments, named by the audit: %v", path, sold.total, sold.paid, sold.payments, named[path])
		}
	}
}

func TestMoneyPhysics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSaleModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"NewSale": s.NewSale, "Pay": s.Pay, "Postpone": s.Postpone, "Validate": s.Validate, "Wait": s.Wait, "": s.Check,
		})
	})
}
