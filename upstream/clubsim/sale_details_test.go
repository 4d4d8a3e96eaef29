package clubsim_test

import "testing"

// TestSaleDetails reads what installations add to sales and articles.
func TestSaleDetails(t *testing.T) {
	client := newTestClient(t, "demo-details")
	contact := client.newContact(nil)
	sale := client.newSale(contact, "PARIS11")
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 301)}).want(201)
	lines := bodies(client.get(sale).want(200).json["articles"].([]any))
	wrong := lines[0]["implementationErrors"].([]any)
	if lines[0]["mandatory"] != false || lines[1]["mandatory"] != true || lines[0]["hasImplementationErrors"] != true || len(wrong) != 1 {
		t.Errorf("the articles are %+v", lines)
	}
	sale = client.filledSale(contact, 201)
	before := client.get(sale).want(200)
	if before.json["invoiceId"] != nil || before.json["invoiceReference"] != nil || before.text("channel") != "web" {
		t.Errorf("an open sale is %s", before.raw)
	}
	client.pay(sale, contact, 14900).want(201)
	after := client.get(sale).want(200)
	if after.text("invoiceId") != after.text("invoice") || after.text("invoiceReference") == "" || after.text("updatedAt") == "" {
		t.Errorf("a settled sale is %s", after.raw)
	}
}
