package clubsim_test

import (
	"slices"
	"strings"
	"testing"

	"frontdesk/upstream/clubsim"
)

func TestEventsOfOperations(t *testing.T) {
	receiver := newReceiver(t)
	client := newTestClient(t, "demo-events")
	client.control("PUT", "settings", body{"webhookUrl": receiver.URL}).want(200)
	contact := client.newContact(nil)
	client.put(client.relative(contact), body{"email": "new@example.com"}).want(200)
	client.put(client.relative(contact), body{"email": "new@example.com"}).want(200) // no change, no event
	consent := client.get("optins?contactId=" + contact).members()[0]["@id"].(string)
	client.put(client.relative(consent), body{"isAuthorized": true}).want(200)
	sale := client.filledSale(contact, 2501)
	client.post(sale+"/postpone_due", body{"date": "2026-12-31"}).want(201)
	client.pay(sale, contact, 500).want(201)
	want := []string{"contact.created", "contact.updated", "optin.updated", "identificator.created", "contact.updated",
		"accounting_contact_tag.created", "accounting_contact_tag.deleted"}
	if names := receiver.wait(t, len(want)); !slices.Equal(names, want) {
		t.Fatalf("events %v, want %v", names, want)
	}
	badge := receiver.events[3]["data"].(body)["object"].(body)
	if badge["targetId"] != contact || !strings.HasPrefix(badge["indentificatorId"].(string), "/demo-events/identificators/") ||
		len(badge) != 2 {
		t.Errorf("badge: %v", badge)
	}
	if object := receiver.events[2]["data"].(body)["object"].(body); object["optinId"] != consent || object["contactId"] != contact ||
		object["clubId"] != client.club {
		t.Errorf("optin: %v", object)
	}
}

func TestEventsOfAMigration(t *testing.T) {
	d := newTestClient(t, "demo-migrated")
	prospect, token := d.persona("prospect")
	temp := d.newContact(nil)
	d.bearer = token
	d.put(d.relative(prospect)+"/migrate", body{"targetContactId": temp, "targetClubId": d.club}).want(204)
	events := d.world.Events()
	if n := len(events); n != 3 || events[1].Event != "contact.updated" || events[1].Object["contactId"] != prospect ||
		events[2].Event != "contact.deleted" || events[2].Object["contactId"] != temp {
		t.Errorf("events: %+v", events)
	}
}

func TestEveryEventByHand(t *testing.T) {
	receiver := newReceiver(t)
	client := newTestClient(t, "demo-by-hand")
	client.control("PUT", "settings", body{"webhookUrl": receiver.URL}).want(200)
	names := clubsim.EventNames()
	if len(names) != 20 {
		t.Fatalf("%d events", len(names))
	}
	for _, name := range names {
		client.control("POST", "events", body{"event": name}).want(200)
	}
	if got := receiver.wait(t, 20); !slices.Equal(got, names) {
		t.Errorf("got %v", got)
	}
	for _, answer := range receiver.events {
		object := answer["data"].(body)["object"].(body)
		if len(answer) != 2 || len(object) < 2 {
			t.Errorf("event: %v", answer)
		}
		for member, iri := range object {
			if !strings.HasPrefix(iri.(string), "/demo-by-hand/") {
				t.Errorf("%s of %v is %v", member, answer["event"], iri)
			}
		}
	}
	contact := client.iri("contacts", 1002)
	client.control("POST", "events", body{"event": "contact.updated", "data": body{"object": body{"contactId": contact}}}).want(200)
	receiver.wait(t, 1)
	if object := receiver.events[20]["data"].(body)["object"].(body); object["contactId"] != contact || object["clubId"] == nil {
		t.Errorf("object: %v", object)
	}
	client.control("POST", "events", body{"event": "contact.exploded"}).want(400).wantText("contact.exploded")
	client.control("POST", "events", body{"event": "contact.updated", "object": body{"saleId": "x"}}).want(400).wantText("saleId")
}

// A manually sent event also changes the world accordingly.
func TestEventsByHandAreTrue(t *testing.T) {
	client := newTestClient(t, "demo-true")
	client.pay(client.filledSale(client.iri("contacts", 1001), 1901), client.iri("contacts", 1001), 9900).want(201) // an option
	emit := func(name, member, path string) body {
		t.Helper()
		return client.control("POST", "events", body{"event": name, "object": body{member: "/demo-true/" + path}}).want(200).json["object"].(body)
	}
	benefit := func(n int) string {
		return client.contact(client.iri("contacts", 1001)).Benefits[n].State
	}
	tags := func(id string) int { return len(client.get("contacts/" + id).json["tags"].([]any)) }

	emit("attendee.canceled", "attendeeId", "attendees/1")
	if a := client.get("attendees/1"); a.text("state") != "canceled" || a.text("canceledAt") == "" ||
		client.get("class_events/1").number("attendeeRemaining") != 18 {
		t.Errorf("attendee: %s", a.raw)
	}
	emit("attendee.booked", "attendeeId", "attendees/1")
	if a := client.get("attendees/1"); a.text("state") != "booked" || client.get("class_events/1").number("attendeeRemaining") != 17 {
		t.Errorf("attendee: %s", a.raw)
	}
	emit("class_event.canceled", "classEventId", "class_events/2")
	if e := client.get("class_events/2"); e.text("deletedAt") == "" {
		t.Errorf("class: %s", e.raw)
	}
	emit("class_event.updated", "classEventId", "class_events/2")
	if e := client.get("class_events/2"); e.json["deletedAt"] != nil {
		t.Errorf("class: %s", e.raw)
	}
	object := emit("subscription.deleted", "subscriptionId", "subscriptions/1")
	if benefit(0) != "deleted" || object["clubId"] != client.club {
		t.Errorf("subscription: %q, %v", benefit(0), object)
	}
	emit("subscription_option.deleted", "subscriptionOptionId", "subscription_options/5")
	if benefit(2) != "deleted" {
		t.Errorf("option: %q", benefit(2))
	}
	for _, state := range []string{"disabled", "deleted"} {
		emit("identificator."+state, "indentificatorId", "identificators/2")
		if benefit(1) != state {
			t.Errorf("badge %s: %q", state, benefit(1))
		}
		emit("identificator.updated", "indentificatorId", "identificators/2")
		if benefit(1) != "" {
			t.Errorf("badge updated: %q", benefit(1))
		}
	}
	object = emit("contact_tag.deleted", "contactTagId", "contact_tags/1")
	if tags("1001") != 1 || object["contactId"] != client.iri("contacts", 1001) {
		t.Errorf("%d tags, %v", tags("1001"), object)
	}
	client.get("contact_tags/1").want(404)
	emit("contact_tag.updated", "contactTagId", "contact_tags/1")
	if tags("1001") != 2 {
		t.Errorf("%d tags", tags("1001"))
	}
	debtor := func() []string { return client.contact(client.iri("contacts", 1002)).Tags }
	object = emit("accounting_contact_tag.deleted", "accountingContactTagId", "accounting_contact_tags/3")
	if len(debtor()) != 0 || object["contactId"] != client.iri("contacts", 1002) {
		t.Errorf("debtor: %v, %v", debtor(), object)
	}
	emit("accounting_contact_tag.created", "accountingContactTagId", "accounting_contact_tags/3")
	if len(debtor()) != 1 {
		t.Errorf("debtor: %v", debtor())
	}
	emit("contact.deleted", "contactId", "contacts/1004")
	client.get("contacts/1004").want(404)

	emit("subscription.deleted", "subscriptionId", "subscriptions/2") // a badge: no such subscription
	emit("contact_tag.deleted", "contactTagId", "contact_tags/3")     // an accounting tag
	emit("attendee.canceled", "attendeeId", "attendees/99999")        // unknown
	if benefit(1) != "" || len(debtor()) != 1 {
		t.Error("an event changed a record of another kind")
	}
	for _, wrong := range []string{"1001", "", "/demo/contacts/1001", client.iri("clubs", 11), client.iri("contacts", 0)} {
		client.control("POST", "events", body{"event": "contact.updated", "object": body{"contactId": wrong}}).want(400).wantText("contactId")
	}
	if audit := client.world.Audit(); !audit.OK {
		t.Errorf("audit: %+v", audit)
	}
}

func TestEventsAreSentOnce(t *testing.T) {
	receiver := newReceiver(t)
	receiver.status = 500
	client := newTestClient(t, "demo-once")
	client.control("PUT", "settings", body{"webhookUrl": receiver.URL}).want(200)
	client.world.Emit("contact.updated", nil)
	client.world.Emit("contact.deleted", nil)
	receiver.wait(t, 2)
	client.server.Close()
	events := client.world.Events()
	if len(receiver.names()) != 2 || len(events[0].Deliveries) != 1 || events[0].Deliveries[0].Status != 500 {
		t.Errorf("%v, %+v", receiver.names(), events[0])
	}
}

func TestWebhooksMisbehave(t *testing.T) {
	for mode, want := range map[string][]string{
		"normal":    {"contact.created", "contact.updated", "contact.deleted"},
		"duplicate": {"contact.created", "contact.created", "contact.updated", "contact.updated", "contact.deleted", "contact.deleted"},
		"reorder":   {"contact.updated", "contact.created", "contact.deleted"},
		"late":      {"contact.created", "contact.updated", "contact.deleted"},
		"drop":      {},
	} {
		t.Run(mode, func(t *testing.T) {
			receiver := newReceiver(t)
			client := newTestClient(t, "demo-mode")
			client.control("PUT", "settings", body{"webhookUrl": receiver.URL, "webhooks": mode, "webhookDelay": 0}).want(200)
			for _, name := range []string{"contact.created", "contact.updated", "contact.deleted"} {
				client.world.Emit(name, nil)
			}
			names := receiver.wait(t, len(want))
			if mode == "late" { // late events come in any order
				slices.Sort(names)
				want = slices.Sorted(slices.Values(want))
			}
			if !slices.Equal(names, want) {
				t.Errorf("events %v, want %v", names, want)
			}
			client.server.Close()
			if n := len(receiver.names()); n != len(want) {
				t.Errorf("%d events came in the end", n)
			}
		})
	}
}

func TestResetForgetsWhatWasNotSent(t *testing.T) {
	receiver := newReceiver(t)
	d := newTestClient(t, "demo-forget")
	d.control("PUT", "settings", body{"webhookUrl": receiver.URL, "webhooks": "reorder"}).want(200)
	d.world.Emit("contact.deleted", nil)
	d.control("POST", "reset", nil).want(204)
	d.control("PUT", "settings", body{"webhookUrl": receiver.URL}).want(200)
	d.world.Emit("contact.updated", nil)
	if names := receiver.wait(t, 1); names[0] != "contact.updated" {
		t.Errorf("events %v", names)
	}
}
