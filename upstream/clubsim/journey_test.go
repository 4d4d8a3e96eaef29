package clubsim_test

import (
	"net/http"
	"testing"
)

// The journey of a new customer with a card payment: from the token to a settled sale.
func TestCardJourney(t *testing.T) {
	client := newTestClient(t, "demo-journey")
	nodes := client.get("network_nodes").want(200).members()
	if len(nodes) != 2 {
		t.Fatalf("two chains expected, got %d", len(nodes))
	}
	code := client.get("clubs/11").want(200).text("code")
	contact := client.newContact(nil)
	if debt := client.get("stats/accounts/" + client.relative(contact)).want(200).number("totalRealDebt"); debt != 0 {
		t.Errorf("a new contact owes %v", debt)
	}
	products := client.get("products?context[channel]=web&context[club]=" + client.iri("clubs", 11)).want(200).members()
	if len(products) != 30 {
		t.Errorf("a first page of 30 products expected, got %d", len(products))
	}
	offers := client.get("offers?product=" + client.iri("products", 1)).want(200).members()
	sale := client.newSale(contact, code)
	client.get(sale + "/check").want(400).wantCode("api.error.sale.empty")
	client.post(sale+"/articles", body{"offerId": offers[0]["@id"], "implementation": body{"startDate": "2026-12-01"}}).want(201)
	client.get(sale + "/check").want(204)
	read := client.get(sale).want(200)
	if read.text("state") != "building" || read.number("totalTI") != 45900 || read.text("checkoutId") != client.iri("checkouts", 111) {
		t.Errorf("unexpected sale: %v", read.json)
	}
	client.pay(sale, contact, 45900).want(http.StatusCreated)
	read = client.get(sale).want(200)
	if read.text("state") != "settled" || read.text("invoice") == "" {
		t.Errorf("the sale is not settled: %v", read.json)
	}
	if status := client.get(client.relative(contact)).want(200).text("status"); status != "customer" {
		t.Errorf("the buyer is a %s", status)
	}
	if audit := client.world.Audit(); !audit.OK {
		t.Errorf("audit: %+v", audit)
	}
	if ledger := client.world.Ledger(); len(ledger) != 1 || ledger[0].Amount != 45900 || ledger[0].OnAccount != 0 {
		t.Errorf("ledger: %+v", ledger)
	}
}
