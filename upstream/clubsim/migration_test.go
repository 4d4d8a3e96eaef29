package clubsim_test

import (
	"testing"
)

func (d *testClient) persona(key string) (contact, accessToken string) {
	d.t.Helper()
	for _, p := range d.world.Personas() {
		if p.Key == key {
			return p.ContactID, p.AccessToken
		}
	}
	d.t.Fatalf("no persona %s", key)
	return "", ""
}

// A prospect of Lyon registers in Paris: the prospect replaces the registration's temporary contact and takes
// over the sale.
func TestKnownProspectRegisters(t *testing.T) {
	client := newTestClient(t, "demo-known")
	prospect, token := client.persona("prospect")
	temp := client.newContact(nil)
	sale := client.filledSale(temp, 2801)
	asOrganisation := client.bearer
	target := body{"targetContactId": temp, "targetClubId": client.club}

	client.put(client.relative(prospect)+"/migrate", target).want(403)
	client.bearer = token
	client.put(client.relative(prospect)+"/migrate", body{}).want(400).wantField("targetContactId", "targetClubId")
	client.put(client.relative(prospect)+"/migrate", body{"targetContactId": "1", "targetClubId": client.club}).want(404)
	client.put(client.relative(prospect)+"/migrate", body{"targetContactId": temp, "targetClubId": client.iri("clubs", 12)}).want(400).
		wantCode("api.error.contact.migration.club-not-valid")
	client.put(client.relative(prospect)+"/migrate", body{"targetContactId": client.iri("contacts", 1001),
		"targetClubId": client.club}).want(400).
		wantCode("api.error.contact.migration.contact-not-valid")
	client.node = client.iri("network_nodes", 2) // Paris alone has no access to Lyon's contacts
	client.put(client.relative(prospect)+"/migrate", target).want(400).wantText("resource " + prospect + " does not exist")
	client.node = client.iri("network_nodes", 1)
	if r := client.put(client.relative(prospect)+"/migrate", target).want(204); r.raw != "" {
		t.Errorf("body: %s", r.raw)
	}
	client.put(client.relative(prospect)+"/migrate", target).want(400)

	client.bearer = asOrganisation
	client.put("sale/"+sale[len("sales/"):]+"/update_contact", nil).want(204)
	read := client.get(sale).want(200)
	if read.text("contactId") != prospect || read.text("contactFamilyName") != "Silva" || read.text("contactGivenName") != "Paula" ||
		read.text("contactNumber") == "1" {
		t.Errorf("sale: %s", read.raw)
	}
	moved := client.get(client.relative(prospect)).want(200)
	if moved.text("clubId") != client.club || moved.text("status") != "prospect" {
		t.Errorf("contact: %s", moved.raw)
	}
	client.get(client.relative(temp)).want(404)
	client.get(sale + "/check").want(204)
	client.pay(sale, prospect, 9900).want(201)
	if !client.world.Audit().OK {
		t.Errorf("audit: %+v", client.world.Audit())
	}
	client.put("sale/1/update_contact", nil).want(404)
}

// What the temporary contact owns moves with it: mandate, debts and credit.
func TestMigrationMovesTheAccount(t *testing.T) {
	client := newTestClient(t, "demo-account")
	prospect, token := client.persona("prospect")
	temp := client.newContact(nil)
	request := client.signing(temp)
	client.post(request+"/transitions", body{"transition": "validate", "code": client.lastCode()}).want(201)
	sale := client.filledSale(temp, 901)
	client.pay(sale, temp, 1000).want(201)
	client.bearer = token
	client.put(client.relative(prospect)+"/migrate", body{"targetContactId": temp, "targetClubId": client.club}).want(204)
	client.bearer = client.login(client.token)
	client.get(sale + "/check").want(400)
	client.put("sale/"+sale[len("sales/"):]+"/update_contact", nil).want(204)
	client.get(sale + "/check").want(204)
	client.pay(sale, prospect, 5890).want(201)
	if state := client.get(sale).text("state"); state != "settled" || !client.world.Audit().OK {
		t.Errorf("%s, %+v", state, client.world.Audit())
	}
}

func TestMigrationMayKeepTheTarget(t *testing.T) {
	client := newTestClient(t, "demo-keeps")
	client.control("PUT", "settings", body{"migrationKeeps": "target"}).want(200)
	prospect, token := client.persona("prospect")
	temp := client.newContact(nil)
	client.bearer = token
	client.put(client.relative(prospect)+"/migrate", body{"targetContactId": temp, "targetClubId": client.club}).want(204)
	client.bearer = client.login(client.token)
	client.get(client.relative(prospect)).want(404)
	if status := client.get(client.relative(temp)).want(200).text("status"); status != "prospect" {
		t.Errorf("status %s", status)
	}
}

func TestTransferBySMS(t *testing.T) {
	client := newTestClient(t, "demo-transfer")
	for _, key := range []string{"former", "prospect"} {
		contact, _ := client.persona(key)
		r := client.post("contact_migration_requests", body{"clubId": client.club, "contactId": contact}).want(201)
		if r.text("@type") != "SignatureRequest" {
			t.Errorf("%s: %s", key, r.raw)
		}
		client.post(client.relative(r.text("@id"))+"/transitions", body{"transition": "validate", "code": client.lastCode()}).want(201)
		if club := client.get(client.relative(contact)).text("clubId"); club != client.club {
			t.Errorf("%s is in %s", key, club)
		}
	}
}

func TestTransferIsRefused(t *testing.T) {
	client := newTestClient(t, "demo-refused")
	ask := func(club int, contact string) *result {
		t.Helper()
		return client.post("contact_migration_requests", body{"clubId": client.iri("clubs", club), "contactId": contact})
	}
	prospect, _ := client.persona("prospect")
	client.post("contact_migration_requests", body{}).want(400).wantField("clubId", "contactId")
	client.post("contact_migration_requests", body{"clubId": 11, "contactId": prospect}).want(404)
	ask(13, prospect).want(400).wantCode("api.error.contact.migration.club-not-valid")
	ask(21, prospect).want(400).wantCode("api.error.contact.migration.club-not-valid")
	ask(12, client.iri("contacts", 1001)).want(400).wantCode("api.error.contact.migration.contact-not-valid")
	ask(12, client.newContact(nil)).want(400).wantCode("api.error.contact.migration.contact-not-valid")
	client.node = client.iri("network_nodes", 3)
	ask(11, prospect).want(400).wantText("resource " + prospect + " does not exist")
	if n := len(client.world.SMS()); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
}
