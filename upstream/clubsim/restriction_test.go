package clubsim_test

import "testing"

// TestRestrictions has what a child and a stranger to the club may not buy refused when it is added, or when it is paid.
func TestRestrictions(t *testing.T) {
	client := newTestClient(t, "demo-restrictions")
	const age, tag = "api.error.sale.article.age-restricted", "api.error.sale.article.tag-required"
	add := func(sale string, offer int) *result {
		return client.post(sale+"/articles", body{
			"offerId":        client.iri("offers", offer),
			"implementation": body{"startDate": "2026-12-01"},
		})
	}
	client.control("PUT", "settings", body{"refuseAtAdd": true}).want(200)
	child := client.newContact(body{"birthDate": "2012-05-01"})
	sale := client.newSale(child, "PARIS11")
	add(sale, 401).want(400).wantCode(age).wantField("offerId")
	add(sale, 1901).want(400).wantCode(tag)
	add(sale, 201).want(201)
	add(sale, 1901).want(201) // the subscription gives the tag
	if n := len(client.get(sale + "/articles").members()); n != 2 {
		t.Errorf("%d articles", n)
	}

	client.control("PUT", "settings", body{"refuseAtAdd": false, "restrictionsAtPayment": true}).want(200)
	sale = client.newSale(child, "PARIS11")
	add(sale, 401).want(201)
	client.get(sale + "/check").want(204)
	payment := body{"contactId": child, "clubId": client.club, "amount": 39900, "mean": "CBWeb"}
	client.post(sale+"/payments", payment).want(400).wantCode(age).wantField("articles[0]")
	client.post(sale+"/postpone_due", body{"date": "2026-12-31"}).want(400).wantCode(age)
	if ledger := client.world.Ledger(); len(ledger) != 0 {
		t.Errorf("booked: %+v", ledger)
	}
	client.control("PUT", "settings", body{"restrictionsAtPayment": false}).want(200)
	client.post(sale+"/payments", payment).want(201) // on the account: the check refuses the sale
	client.control("PUT", "settings", body{"restrictionsAtPayment": true}).want(200)
	client.post(sale+"/payments", payment).want(201) // no longer the first
}

// TestRemovedArticle removes articles. What was added with one goes with it, and by a setting what depends on its tag.
func TestRemovedArticle(t *testing.T) {
	client := newTestClient(t, "demo-removed")
	for _, removes := range []bool{false, true} {
		client.control("PUT", "settings", body{"removeDependents": removes}).want(200)
		sale := client.filledSale(client.newContact(nil), 301) // with a badge
		client.post(sale+"/articles", body{"offerId": client.iri("offers", 1901)}).want(201)
		client.post(sale+"/articles", body{"offerId": client.iri("offers", 4001)}).want(201)
		articles := client.get(sale + "/articles").members()
		first := client.relative(articles[0]["@id"].(string))
		client.call("DELETE", first, nil).want(204)
		client.call("DELETE", first, nil).want(404)
		left := len(client.get(sale + "/articles").members())
		if want := 2; removes && left != want-1 || !removes && left != want {
			t.Errorf("%d of %d articles are left, removeDependents is %t", left, len(articles), removes)
		}
	}
}
