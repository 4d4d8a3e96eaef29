package clubsim_test

import (
	"testing"
)

// newMembers is a client for the club of the two members with an engagement, with online cancellation.
func newMembers(t *testing.T, world string) *testClient {
	client := newTestClient(t, world)
	client.club, client.node = client.iri("clubs", 13), client.iri("network_nodes", 5)
	client.control("PUT", "settings", body{"onlineCancellation": true}).want(200)
	return client
}

func (d *testClient) subscriptions(contact int) []body {
	d.t.Helper()
	list, _ := d.get("subscription_summary?contact=" + d.iri("contacts", contact)).want(200).json["subscriptions"].([]any)
	return bodies(list)
}

func (d *testClient) cancel(subscription any, date string) *result {
	d.t.Helper()
	return d.post(d.relative(subscription.(string))+"/online_cancellation",
		body{"cancellationDate": date, "cancellationMotiveId": d.iri("referentials/cancellation_motives", 4)})
}

func TestSubscriptionSummary(t *testing.T) {
	client := newMembers(t, "demo-summary")
	if n := len(client.get("referentials/cancellation_motives").want(200).members()); n != 4 {
		t.Errorf("%d motives", n)
	}
	committed, flexible := client.subscriptions(1007)[0], client.subscriptions(1008)[0]
	for member, want := range map[string]any{
		"name": "Flex, monthly", "validFrom": "2026-06-21", "validThrough": nil, "engagedThrough": "2027-06-20", "noticePeriod": "P2W",
		"debitDay": 1.0, "canceledAt": nil, "clubId": client.iri("clubs", 13),
	} {
		if committed[member] != want {
			t.Errorf("%s is %v, want %v", member, committed[member], want)
		}
	}
	if flexible["engagedThrough"] != "2026-09-20" || committed["offer"].(body)["@id"] != client.iri("offers", 901) {
		t.Errorf("%v and %v", committed, flexible)
	}
	client.get("subscription_summary").want(404)
	client.get("subscription_summary?contact=" + client.iri("contacts", 1001)).want(404) // of another club

	client.club, client.node = client.iri("clubs", 11), client.iri("network_nodes", 1)
	buyer := client.newContact(nil)
	sale := client.newSale(buyer, "PARIS11")
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 1101), "implementation": body{"startDate": "2026-12-01"},
		"repaymentSchedule": body{"specificDay": true, "debitDay": 10}}).want(201)
	client.pay(sale, buyer, 4890).want(201)
	list, _ := client.get("subscription_summary?contact=" + buyer).want(200).json["subscriptions"].([]any)
	sold := bodies(list)
	if len(sold) != 1 || sold[0]["engagedThrough"] != "2027-11-30" || sold[0]["debitDay"] != 10.0 || sold[0]["validFrom"] != "2026-12-01" {
		t.Errorf("sold: %v", sold)
	}
	if sold[0]["noticePeriod"] != "P1M" {
		t.Errorf("the notice of the club: %v", sold[0])
	}
	weekly := client.newContact(nil)
	sale = client.newSale(weekly, "PARIS11")
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 1001), "implementation": body{"startDate": "2026-12-01"}}).want(201)
	client.pay(sale, weekly, 990).want(201)
	list, _ = client.get("subscription_summary?contact=" + weekly).want(200).json["subscriptions"].([]any)
	if sold := bodies(list); len(sold) != 1 || sold[0]["noticePeriod"] != "P1W" {
		t.Errorf("the notice of the product: %v", sold)
	}
	client.control("PUT", "clock", body{"now": "2027-12-01T09:00:00Z"}).want(200)
	client.bearer = client.login(client.token) // the old one has expired
	if left, _ := client.get("subscription_summary?contact=" + buyer).want(200).json["subscriptions"].([]any); len(left) != 0 {
		t.Errorf("a subscription that has ended: %v", left)
	}
}

func TestOnlineCancellation(t *testing.T) {
	client := newMembers(t, "demo-cancellation")
	committed, flexible := client.subscriptions(1007)[0]["@id"], client.subscriptions(1008)[0]["@id"]
	const engaged, notice, again = "api.error.subscription.cancellation-date-before-engagement-end",
		"api.error.subscription.cancellation-date-before-notice-end", "api.error.subscription.already-canceled"
	client.cancel(committed, "2027-06-19").want(400).wantField("cancellationDate").wantCode(engaged)
	client.cancel(flexible, "2026-12-04").want(400).wantField("cancellationDate").wantCode(notice)
	path := client.relative(flexible.(string)) + "/online_cancellation"
	client.post(path, body{}).want(400).wantField("cancellationDate", "cancellationMotiveId")
	motive := client.iri("referentials/cancellation_motives", 4)
	client.post(path, body{"cancellationDate": "2026-12-05", "cancellationMotiveId": motive, "reason": "x"}).want(400).wantField("reason")
	client.post(path, body{"cancellationDate": "2026-12-05", "cancellationMotiveId": motive + "0"}).want(404)
	if n := len(client.world.Cancellations()); n != 0 {
		t.Fatalf("%d cancellations after refusals", n)
	}

	client.cancel(flexible, "2026-12-05").want(201)
	client.cancel(flexible, "2026-12-31").want(400).wantCode(again)
	done := client.control("GET", "cancellations", nil).want(200).items()
	if len(done) != 1 || done[0]["subscriptionId"] != flexible || done[0]["cancellationDate"] != "2026-12-05" || done[0]["repeated"] != 1.0 {
		t.Errorf("cancellations: %v", done)
	}
	if shown := client.subscriptions(1008)[0]; shown["validThrough"] != "2026-12-05" || shown["canceledAt"] == nil {
		t.Errorf("cancelled: %v", shown)
	}
	if audit := client.world.Audit(); audit.OK || len(audit.CanceledTwice) != 1 {
		t.Errorf("audit: %+v", audit)
	}

	snapshot := client.world.Snapshot()
	client.world.Reset()
	if client.world.Settings().OnlineCancellation || len(client.world.Cancellations()) != 0 {
		t.Error("a reset keeps a cancellation")
	}
	client.cancel(flexible, "2026-12-05").want(404) // not in this installation
	client.get("subscription_summary?contact=" + client.iri("contacts", 1008)).want(404)
	if err := client.world.Restore(snapshot); err != nil || len(client.world.Cancellations()) != 1 {
		t.Errorf("restored: %v, %v", err, client.world.Cancellations())
	}
}

// TestClubWithoutOnlineCancellation: a club that has not switched it on refuses it.
func TestClubWithoutOnlineCancellation(t *testing.T) {
	client := newMembers(t, "demo-solo-cancellation")
	client.club, client.node = client.iri("clubs", 31), ""
	buyer := client.newContact(nil)
	sale := client.newSale(buyer, "SOLO31")
	client.post(sale+"/articles", body{"offerId": client.iri("offers", 901), "implementation": body{"startDate": "2026-12-01"}}).want(201)
	payment := client.paymentBody(buyer, 6890)
	payment["clubCode"], payment["checkout"] = "SOLO31", client.iri("checkouts", 311)
	client.post(sale+"/payments", payment).want(201)
	list, _ := client.get("subscription_summary?contact=" + buyer).want(200).json["subscriptions"].([]any)
	client.cancel(bodies(list)[0]["@id"], "2027-01-31").want(403).wantCode("api.error.subscription.online-cancellation-not-enabled")
	if n := len(client.world.Cancellations()); n != 0 {
		t.Errorf("%d cancellations", n)
	}
}

// TestContactCancels: with its own token, a contact sees and ends its own subscriptions only.
func TestContactCancels(t *testing.T) {
	client := newMembers(t, "demo-own-cancellation")
	committed, flexible := client.subscriptions(1007)[0]["@id"], client.subscriptions(1008)[0]["@id"]
	i := 0
	for client.world.Personas()[i].Key != "flexible" {
		i++
	}
	client.bearer = client.world.Personas()[i].AccessToken
	client.get("subscription_summary?contact=" + client.iri("contacts", 1007)).want(404)
	client.cancel(committed, "2027-06-20").want(404)
	client.cancel(flexible, "2026-12-05").want(201)
	done := client.world.Cancellations()
	if len(done) != 1 || done[0].ContactID != client.iri("contacts", 1008) {
		t.Errorf("cancellations: %+v", done)
	}
}
