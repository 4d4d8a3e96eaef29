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
	d := newTestClient(t, "demo-known")
	prospect, token := d.persona("prospect")
	temp := d.newContact(nil)
	sale := d.filledSale(temp, 2801)
	asOrganisation := d.bearer
	target := body{"targetContactId": temp, "targetClubId": d.club}

	d.put(d.relative(prospect)+"/migrate", target).want(403)
	d.bearer = token
	d.put(d.relative(prospect)+"/migrate", body{}).want(400).wantField("targetContactId", "targetClubId")
	d.put(d.relative(prospect)+"/migrate", body{"targetContactId": "1", "targetClubId": d.club}).want(404)
	d.put(d.relative(prospect)+"/migrate", body{"targetContactId": temp, "targetClubId": d.iri("clubs", 12)}).want(400).
		wantCode("api.error.contact.migration.club-not-valid")
	d.put(d.relative(prospect)+"/migrate", body{"targetContactId": d.iri("contacts", 1001), "targetClubId": d.club}).want(400).
		wantCode("api.error.contact.migration.contact-not-valid")
	d.node = d.iri("network_nodes", 2) // Paris alone has no access to Lyon's contacts
	d.put(d.relative(prospect)+"/migrate", target).want(400).wantText("resource " + prospect + " does not exist")
	d.node = d.iri("network_nodes", 1)
	if r := d.put(d.relative(prospect)+"/migrate", target).want(204); r.raw != "" {
		t.Errorf("body: %s", r.raw)
	}
	d.put(d.relative(prospect)+"/migrate", target).want(400)

	d.bearer = asOrganisation
	d.put("sale/"+sale[len("sales/"):]+"/update_contact", nil).want(204)
	read := d.get(sale).want(200)
	if read.text("contactId") != prospect || read.text("contactFamilyName") != "Silva" || read.text("contactGivenName") != "Paula" ||
		read.text("contactNumber") == "1" {
		t.Errorf("sale: %s", read.raw)
	}
	moved := d.get(d.relative(prospect)).want(200)
	if moved.text("clubId") != d.club || moved.text("status") != "prospect" {
		t.Errorf("contact: %s", moved.raw)
	}
	d.get(d.relative(temp)).want(404)
	d.get(sale + "/check").want(204)
	d.pay(sale, prospect, 9900).want(201)
	if !d.world.Audit().OK {
		t.Errorf("audit: %+v", d.world.Audit())
	}
	d.put("sale/1/update_contact", nil).want(404)
}

// What the temporary contact owns moves with it: mandate, debts and credit.
func TestMigrationMovesTheAccount(t *testing.T) {
	d := newTestClient(t, "demo-account")
	prospect, token := d.persona("prospect")
	temp := d.newContact(nil)
	request := d.signing(temp)
	d.post(request+"/transitions", body{"transition": "validate", "code": d.lastCode()}).want(201)
	sale := d.filledSale(temp, 901)
	d.pay(sale, temp, 1000).want(201)
	d.bearer = token
	d.put(d.relative(prospect)+"/migrate", body{"targetContactId": temp, "targetClubId": d.club}).want(204)
	d.bearer = d.login(d.token)
	d.get(sale + "/check").want(400)
	d.put("sale/"+sale[len("sales/"):]+"/update_contact", nil).want(204)
	d.get(sale + "/check").want(204)
	d.pay(sale, prospect, 5890).want(201)
	if state := d.get(sale).text("state"); state != "settled" || !d.world.Audit().OK {
		t.Errorf("%s, %+v", state, d.world.Audit())
	}
}

func TestMigrationMayKeepTheTarget(t *testing.T) {
	d := newTestClient(t, "demo-keeps")
	d.control("PUT", "settings", body{"migrationKeeps": "target"}).want(200)
	prospect, token := d.persona("prospect")
	temp := d.newContact(nil)
	d.bearer = token
	d.put(d.relative(prospect)+"/migrate", body{"targetContactId": temp, "targetClubId": d.club}).want(204)
	d.bearer = d.login(d.token)
	d.get(d.relative(prospect)).want(404)
	if status := d.get(d.relative(temp)).want(200).text("status"); status != "prospect" {
		t.Errorf("status %s", status)
	}
}

func TestTransferBySMS(t *testing.T) {
	d := newTestClient(t, "demo-transfer")
	for _, key := range []string{"former", "prospect"} {
		contact, _ := d.persona(key)
		r := d.post("contact_migration_requests", body{"clubId": d.club, "contactId": contact}).want(201)
		if r.text("@type") != "SignatureRequest" {
			t.Errorf("%s: %s", key, r.raw)
		}
		d.post(d.relative(r.text("@id"))+"/transitions", body{"transition": "validate", "code": d.lastCode()}).want(201)
		if club := d.get(d.relative(contact)).text("clubId"); club != d.club {
			t.Errorf("%s is in %s", key, club)
		}
	}
}

func TestTransferIsRefused(t *testing.T) {
	d := newTestClient(t, "demo-refused")
	ask := func(club int, contact string) *result {
		t.Helper()
		return d.post("contact_migration_requests", body{"clubId": d.iri("clubs", club), "contactId": contact})
	}
	prospect, _ := d.persona("prospect")
	d.post("contact_migration_requests", body{}).want(400).wantField("clubId", "contactId")
	d.post("contact_migration_requests", body{"clubId": 11, "contactId": prospect}).want(404)
	ask(13, prospect).want(400).wantCode("api.error.contact.migration.club-not-valid")
	ask(21, prospect).want(400).wantCode("api.error.contact.migration.club-not-valid")
	ask(12, d.iri("contacts", 1001)).want(400).wantCode("api.error.contact.migration.contact-not-valid")
	ask(12, d.newContact(nil)).want(400).wantCode("api.error.contact.migration.contact-not-valid")
	d.node = d.iri("network_nodes", 3)
	ask(11, prospect).want(400).wantText("resource " + prospect + " does not exist")
	if n := len(d.world.SMS()); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
}
