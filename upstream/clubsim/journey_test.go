package clubsim_test

import (
	"net/http"
	"testing"
)

// The journey of a new customer with a card payment: from the token to a settled sale.
func TestCardJourney(t *testing.T) {
	d := newTestClient(t, "demo-journey")
	nodes := d.get("network_nodes").want(200).members()
	if len(nodes) != 2 {
		t.Fatalf("two chains expected, got %d", len(nodes))
	}
	code := d.get("clubs/11").want(200).text("code")
	contact := d.newContact(nil)
	if debt := d.get("stats/accounts/" + d.relative(contact)).want(200).number("totalRealDebt"); debt != 0 {
		t.Errorf("a new contact owes %v", debt)
	}
	products := d.get("products?context[channel]=web&context[club]=" + d.iri("clubs", 11)).want(200).members()
	if len(products) != 30 {
		t.Errorf("a first page of 30 products expected, got %d", len(products))
	}
	offers := d.get("offers?product=" + d.iri("products", 1)).want(200).members()
	sale := d.newSale(contact, code)
	d.get(sale + "/check").want(400).wantCode("api.error.sale.empty")
	d.post(sale+"/articles", body{"offerId": offers[0]["@id"], "implementation": body{"startDate": "2026-12-01"}}).want(201)
	d.get(sale + "/check").want(204)
	read := d.get(sale).want(200)
	if read.text("state") != "building" || read.number("totalTI") != 45900 || read.text("checkoutId") != d.iri("checkouts", 111) {
		t.Errorf("unexpected sale: %v", read.json)
	}
	d.pay(sale, contact, 45900).want(http.StatusCreated)
	read = d.get(sale).want(200)
	if read.text("state") != "settled" || read.text("invoice") == "" {
		t.Errorf("the sale is not settled: %v", read.json)
	}
	if status := d.get(d.relative(contact)).want(200).text("status"); status != "customer" {
		t.Errorf("the buyer is a %s", status)
	}
	if audit := d.world.Audit(); !audit.OK {
		t.Errorf("audit: %+v", audit)
	}
	if ledger := d.world.Ledger(); len(ledger) != 1 || ledger[0].Amount != 45900 || ledger[0].OnAccount != 0 {
		t.Errorf("ledger: %+v", ledger)
	}
}
