package clubsim_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestSaleCreation(t *testing.T) {
	client := newTestClient(t, "demo-sales")
	contact := client.newContact(nil)
	sale := client.post("sales", body{"contactId": contact, "clubId": client.club, "clubCode": "PARIS11"}).want(201)
	if sale.text("@type") != "Sale" || sale.text("@context") == "" || sale.number("totalTI") != 0 || sale.json["invoice"] != nil {
		t.Errorf("sale: %s", sale.raw)
	}
	path := client.relative(sale.text("@id"))
	client.get(path+"/check").want(400).wantCode("api.error.sale.contact-incomplete").
		wantField("contactFamilyName", "contactGivenName", "contactNumber", "address.streetAddress", "articles")
	client.put(path, body{"contactFamilyName": "Martin", "contactGivenName": "Alex", "contactNumber": "1", "address": homeAddress}).want(200)
	client.post(path+"/articles", body{"offerId": client.iri("offers", 2801)}).want(201)
	client.get(path + "/check").want(204)

	client.post("sales", body{}).want(400).wantField("contactId", "clubId", "clubCode")
	client.post("sales", body{"contactId": contact, "clubId": client.club, "clubCode": "LYON02"}).want(400).wantField("clubCode")
	client.post("sales", body{"contactId": "1001", "clubId": client.club, "clubCode": "PARIS11"}).want(404)
	client.post("sales", body{"contactId": client.iri("contacts", 4242), "clubId": client.club, "clubCode": "PARIS11"}).want(404)
	client.post("sales", body{"contactId": contact, "clubId": client.iri("contacts", 11), "clubCode": "PARIS11"}).want(404)
	client.get("sales/1").want(404)
	client.get("sales/1/check").want(404)

	client.control("PUT", "settings", body{"fillSaleFromContact": true, "createdStatus": 200, "writeBodies": false}).want(200)
	if r := client.post("sales", body{"contactId": contact, "clubId": client.club, "clubCode": "PARIS11"}).want(200); r.raw != "" {
		t.Errorf("body: %s", r.raw)
	}
}

func TestArticles(t *testing.T) {
	client := newTestClient(t, "demo-articles")
	sale := client.newSale(client.newContact(nil), "PARIS11")
	client.post(sale+"/articles", body{}).want(400).wantField("offerId")
	client.post(sale+"/articles", body{"offerId": 101}).want(404)
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 99999)}).want(404)
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 101), "parent": client.iri("articles", 1)}).want(404)
	client.post(sale+"/articles", body{
		"offerId": client.iri("offers", 101), "implementation": body{"startDate": "tomorrow"},
		"repaymentSchedule": body{"debitDay": 32, "specificDay": "yes", "startDate": "x"},
	}).want(400).wantField(
		"implementation.startDate",
		"repaymentSchedule.debitDay", "repaymentSchedule.specificDay", "repaymentSchedule.startDate",
	)
	result := client.post(sale+"/articles", body{
		"offerId":         client.iri("offers", 101),
		"parent":          nil,
		"implementation":  nil,
		"implementations": nil,
	}).
		want(201)
	if result.text("@type") != "Article" || result.number("priceTI") != 45900 || result.text("productId") != client.iri("products", 1) {
		t.Errorf("article: %s", result.raw)
	}
	client.get(sale + "/check").want(400).wantCode("api.error.sale.article.start-date-required")
	if n := len(client.get(sale + "/articles").want(200).members()); n != 1 {
		t.Errorf("%d articles", n)
	}
}

func TestMandatoryOptionIsAddedOnce(t *testing.T) {
	client := newTestClient(t, "demo-option")
	sale := client.filledSale(client.newContact(nil), 301)
	read := client.get(sale).want(200)
	lines := bodies(read.json["articles"].([]any))
	if len(lines) != 2 || lines[1]["name"] != "Access Badge" || lines[1]["parent"] != lines[0]["@id"] || read.number("totalTI") != 70400 {
		t.Fatalf("sale: %s", read.raw)
	}
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 301)}).want(201)
	if n := len(bodies(client.get(sale).json["articles"].([]any))); n != 3 {
		t.Errorf("%d lines, the badge came twice", n)
	}
}

func TestProrata(t *testing.T) {
	client := newTestClient(t, "demo-prorata")
	for name, test := range map[string]struct {
		offer int
		start string
		lines int
		total int
	}{
		"added for the rest of the month":      {1301, "2026-11-21", 2, 1500 + 1263}, // 3790 × 10/30
		"half a cent goes up":                  {1301, "2026-11-16", 2, 1500 + 1895},
		"taken off the first month":            {1401, "2026-11-21", 2, 1097}, // 3290 × 10/30
		"the last day":                         {1301, "2026-12-31", 2, 1500 + 122},
		"nothing on the first of the month":    {1301, "2026-12-01", 1, 1500},
		"nothing without a start date":         {1301, "", 1, 1500},
		"nothing for an offer without prorata": {901, "2026-11-21", 1, 6890},
	} {
		sale := client.newSale(client.newContact(nil), "PARIS11")
		article := body{"offerId": client.iri("offers", test.offer)}
		if test.start != "" {
			article["implementation"] = body{"startDate": test.start}
		}
		client.post(sale+"/articles", article).want(201)
		read := client.get(sale).want(200)
		if lines := read.json["articles"].([]any); len(lines) != test.lines || read.number("totalTI") != test.total {
			t.Errorf("%s: %d lines, total %d: %s", name, len(lines), read.number("totalTI"), read.raw)
		}
	}
}

func TestPackageTakesItsStartDateFromImplementations(t *testing.T) {
	client := newTestClient(t, "demo-package")
	for name, implementations := range map[string]any{
		"list":      []body{{"type": "subscription", "startDate": "2026-12-01"}, {"type": "counter"}},
		"by name":   body{"subscription": body{"startDate": "2026-12-01"}, "counter": body{}},
		"with null": body{"subscription": body{"startDate": "2026-12-01"}, "counter": nil},
	} {
		sale := client.newSale(client.newContact(nil), "PARIS11")
		client.post(sale+"/articles", body{"offerId": client.iri("offers", 3201), "implementations": implementations}).want(201)
		if r := client.get(sale + "/check"); r.status != 204 {
			t.Errorf("%s: %s", name, r.raw)
		}
	}
	sale := client.newSale(client.newContact(nil), "PARIS11")
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 3201),
		"implementations": []any{7}}).want(400).wantField("implementations")
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 3201), "implementations": body{"subscription": 7}}).want(400)
}

// A sale accepts articles that do not suit the buyer, and the check finds them.
func TestCheckFindsWhatIsWrong(t *testing.T) {
	client := newTestClient(t, "demo-check")
	client.control("PUT", "settings", body{"mandateRequired": true}).want(200)
	for name, test := range map[string]struct {
		contact string
		article body
		code    string
	}{
		"minor and an adult offer": {
			client.iri("contacts", 1006), body{"offerId": client.iri("offers", 401)},
			"api.error.sale.article.age-restricted",
		},
		"adult and a junior offer": {
			client.iri("contacts", 1001), body{"offerId": client.iri("offers", 601)},
			"api.error.sale.article.age-restricted",
		},
		"unknown age": {
			client.newContact(body{"birthDate": nil}), body{"offerId": client.iri("offers", 401)},
			"api.error.sale.article.age-restricted",
		},
		"too much debt": {client.iri("contacts", 1002), body{"offerId": client.iri("offers", 101)}, "api.error.sale.debt"},
		"banned":        {client.iri("contacts", 1005), body{"offerId": client.iri("offers", 2801)}, "api.error.sale.contact-banned"},
		"no mandate":    {client.iri("contacts", 1001), body{"offerId": client.iri("offers", 901)}, "api.error.sale.mandate-required"},
		"not sold here": {client.iri("contacts", 1001), body{"offerId": client.iri("offers", 2401)}, "api.error.sale.article.not-available"},
		"not a debit day": {client.iri("contacts", 1001), body{
			"offerId":           client.iri("offers", 901),
			"repaymentSchedule": body{"specificDay": true, "debitDay": 17},
		},
			"api.error.sale.article.debit-day-not-allowed"},
	} {
		sale := client.newSale(test.contact, "PARIS11")
		test.article["implementation"] = body{"startDate": "2026-12-01"}
		client.post(sale+"/articles", test.article).want(201)
		if r := client.get(sale + "/check"); r.status != 400 {
			t.Errorf("%s: the check answers %d", name, r.status)
		} else {
			r.wantCode(test.code)
		}
	}
}

// TestWithdrawnOffer: a withdrawn offer disappears from the catalogue, and a sale that contains it fails its
// check.
func TestWithdrawnOffer(t *testing.T) {
	client := newTestClient(t, "demo-withdrawn")
	sale := client.filledSale(client.iri("contacts", 1001), 2901)
	client.get(sale + "/check").want(204)
	client.control("PUT", "settings", body{"withdrawnOffers": []int{2901}}).want(200)
	if r := client.get(sale + "/check"); r.status != 400 {
		t.Errorf("the check answers %d", r.status)
	} else {
		r.wantCode("api.error.sale.article.not-available")
	}
	client.get("offers/2901").want(404)
	client.control("PUT", "settings", body{"withdrawnOffers": []int{}}).want(200)
	client.get("offers/2901").want(200)
}

func TestFreeSale(t *testing.T) {
	client := newTestClient(t, "demo-free")
	contact := client.newContact(nil)
	sale := client.filledSale(contact, 3801)
	client.post(sale+"/transitions", body{}).want(400).wantField("transition")
	client.post(sale+"/transitions", body{"transition": "cancel"}).want(400).wantField("transition")
	client.post(sale+"/postpone_due", body{"date": "2026-12-31"}).want(400).wantCode("api.error.sale.nothing-due")
	client.post(sale+"/transitions", body{"transition": "validate"}).want(201)
	read := client.get(sale)
	if read.text("state") != "settled" || read.text("invoice") == "" {
		t.Errorf("sale: %s", read.raw)
	}
	client.post(sale+"/transitions", body{"transition": "validate"}).want(400).wantCode("api.error.sale.not-editable")
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 101)}).want(400).wantCode("api.error.sale.not-editable")
	if n := len(client.get("attendees?contactId=" + contact).members()); n != 1 {
		t.Errorf("the trial booked %d classes", n)
	}
	client.post(client.newSale(contact, "PARIS11")+"/transitions", body{"transition": "validate"}).want(400).wantCode("api.error.sale.empty")
	client.post(client.filledSale(contact, 101)+"/transitions", body{"transition": "validate"}).
		want(400).wantCode("api.error.sale.transition-not-allowed")
}

// Each category creates its record and makes the buyer a customer.
func TestBehaviors(t *testing.T) {
	receiver := newReceiver(t)
	for name, test := range map[string]struct {
		offer  int
		left   string // the kinds of records, in order
		events []string
	}{
		"subscription": {101, "subscription", []string{"contact_tag.created", "contact.updated"}},
		"option":       {1901, "subscription_option", []string{"contact.updated"}},
		"badge":        {2501, "badge", []string{"identificator.created", "contact.updated"}},
		"booklet":      {2801, "counter", []string{"contact.updated"}},
		"package":      {3201, "package subscription badge counter", []string{"contact_tag.created", "identificator.created", "contact.updated"}},
		"countermark":  {3501, "countermark", []string{"contact.updated"}},
		"trial":        {3901, "test_session", []string{"attendee.booked", "class_event.updated", "contact.updated"}},
		"shop":         {4001, "regular", []string{"contact.updated"}},
	} {
		t.Run(name, func(t *testing.T) {
			client := newTestClient(t, "demo-behavior-"+name)
			contact := client.newContact(body{"status": "prospect"})
			sale := client.filledSale(contact, test.offer)
			client.control("PUT", "settings", body{"webhookUrl": receiver.URL}).want(200)
			client.pay(sale, contact, client.get(sale).number("totalTI")).want(201)
			if status := client.get(client.relative(contact)).text("status"); status != "customer" {
				t.Errorf("the buyer is a %s", status)
			}
			kept := client.contact(contact)
			var left []string
			for _, b := range kept.Benefits {
				left = append(left, b.Kind)
			}
			if strings.Join(left, " ") != test.left || kept.Benefits[0].SaleID != client.iri("sales", 5003) {
				t.Errorf("the sale left %+v", kept.Benefits)
			}
			var names []string
			for _, e := range client.world.Events() {
				if e.URL != "" {
					names = append(names, e.Event)
				}
			}
			if len(names) != len(test.events) {
				t.Fatalf("events %v, want %v", names, test.events)
			}
			for i := range names {
				if names[i] != test.events[i] {
					t.Errorf("events %v, want %v", names, test.events)
				}
			}
			receiver.wait(t, len(names))
		})
	}
}

// An article shows the requested start and debits.
func TestArticlesShowTheRequest(t *testing.T) {
	client := newTestClient(t, "demo-wish")
	sale := client.newSale(client.newContact(nil), "PARIS11")
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 901), "implementation": body{"startDate": "2026-12-01"},
		"repaymentSchedule": body{"specificDay": true, "debitDay": 10, "startDate": "2026-12-10", "debitWeekDay": 0}}).want(201)
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 4001)}).want(201)
	articles := client.get(sale + "/articles").want(200).members()
	if articles[0]["sale"] != client.iri("sales", 5003) || fmt.Sprint(articles[0]["implementation"]) != "map[startDate:2026-12-01]" ||
		fmt.Sprint(articles[0]["repaymentSchedule"]) != "map[debitDay:10 debitWeekDay:0 specificDay:true startDate:2026-12-10]" {
		t.Errorf("subscription: %v", articles[0])
	}
	if articles[1]["implementation"] != nil || articles[1]["repaymentSchedule"] != nil {
		t.Errorf("bottle: %v", articles[1])
	}
}
