package clubsim_test

import (
	"strings"
	"testing"

	"frontdesk/upstream/clubsim"
)

func (d *testClient) mandateBody(contact string) body {
	return body{
		"clubId": d.club, "contactId": contact, "contactFamilyName": "Martin", "contactGivenName": "Alex", "contactNumber": "1",
		"contactAddress": homeAddress, "holder": "Alex Martin", "iban": "FR14 2004 1010 0505 0001 3M02 606", "bic": "PSSTFRPPPAR",
		"bank": "La Banque", "validFrom": "2026-11-21",
	}
}

// signing makes a mandate, requests its signature, and returns the path of the signature request.
func (d *testClient) signing(contact string) string {
	d.t.Helper()
	mandate := d.post("mandates", d.mandateBody(contact)).want(201).text("@id")
	return d.relative(d.post("signature_requests", body{"contactId": contact, "targetId": mandate}).want(201).text("@id"))
}

func (d *testClient) lastCode() string {
	messages := d.world.SMS()
	return messages[len(messages)-1].Code
}

func TestMandateIsSigned(t *testing.T) {
	client := newTestClient(t, "demo-mandate")
	contact := client.newContact(nil)
	sale := client.filledSale(contact, 901)
	client.get(sale + "/check").want(204)
	client.control("PUT", "settings", body{"mandateRequired": true}).want(200)
	client.get(sale + "/check").want(400).wantCode("api.error.sale.mandate-required")
	request := client.signing(contact)
	sms := client.world.SMS()
	if len(sms) != 1 || len(sms[0].Code) != 6 || sms[0].To != "+33600000000" || sms[0].ContactID != contact ||
		client.relative(sms[0].SignatureRequestID) != request {
		t.Fatalf("sms: %+v", sms)
	}
	client.get(sale + "/check").want(400)
	client.post(request+"/transitions", body{"transition": "validate", "code": sms[0].Code}).want(201)
	client.get(sale + "/check").want(204)
	client.pay(sale, contact, 6890).want(201)
	if state := client.get(sale).text("state"); state != "settled" {
		t.Errorf("state %s", state)
	}
	client.post(request+"/transitions", body{"transition": "validate", "code": sms[0].Code}).
		want(400).wantCode("api.error.signature-request.not-pending")
}

func TestMandateBodies(t *testing.T) {
	client := newTestClient(t, "demo-mandates")
	contact := client.newContact(nil)
	client.post("mandates", body{}).want(400).wantField("clubId", "contactId", "contactFamilyName", "contactGivenName", "contactNumber",
		"contactAddress", "holder", "iban", "bic", "bank", "validFrom")
	fields := client.mandateBody(contact)
	fields["iban"], fields["bic"] = "FR1420041010050500013M02607", "X"
	fields["validFrom"], fields["contactAddress"] = "soon", body{"postalCode": "75011"}
	client.post("mandates", fields).want(400).
		wantField("iban", "bic", "validFrom", "contactAddress.streetAddress").
		wantCode("api.error.mandate.iban-not-valid")
	fields = client.mandateBody(contact)
	fields["iban"] = clubsim.RefusedIBAN
	client.post("mandates", fields).want(400).wantCode("api.error.mandate.iban-refused")
	fields["contactId"] = "1001"
	client.post("mandates", fields).want(404)
	made := client.post("mandates", client.mandateBody(contact)).want(201)
	if made.text("@type") != "Mandate" || made.text("@context") == "" || strings.Contains(made.raw, "20041010") {
		t.Errorf("mandate: %s", made.raw)
	}
	if strings.Contains(string(client.world.Snapshot()), "20041010") {
		t.Error("an account number is kept in plain")
	}
	client.post("signature_requests", body{}).want(400).wantField("contactId", "targetId")
	client.post("signature_requests", body{"contactId": contact, "targetId": client.iri("contacts", 1001)}).want(404)
	client.post("signature_requests", body{"contactId": client.iri("contacts", 1001), "targetId": made.text("@id")}).want(404)
}

func TestSMSCodes(t *testing.T) {
	client := newTestClient(t, "demo-codes")
	contact := client.newContact(nil)

	request := client.signing(contact)
	enter := func(code string) *result {
		t.Helper()
		return client.post(request+"/transitions", body{"transition": "validate", "code": code})
	}
	client.post(request+"/transitions", body{}).want(400).wantField("transition")
	client.post(request+"/transitions", body{"transition": "approve"}).want(400).wantField("transition")
	client.post(request+"/transitions", body{"transition": "validate"}).want(400).wantField("code")
	for range 4 {
		enter("x").want(400).wantCode("api.error.signature-request.code-not-valid")
	}
	enter("x").want(400).wantCode("api.error.signature-request.too-many-attempts")
	enter(client.lastCode()).want(400).wantCode("api.error.signature-request.not-pending")

	request = client.signing(contact)
	client.post(request+"/transitions", body{"transition": "cancel"}).want(201)
	enter(client.lastCode()).want(400)
	request = client.signing(contact)
	code := client.lastCode()
	client.control("PUT", "clock", body{"advance": "PT10M1S"}).want(200)
	enter(code).want(400).wantCode("api.error.signature-request.code-expired")

	client.control("PUT", "settings", body{"smsCode": body{"fixed": "123456"}}).want(200)
	request = client.signing(contact)
	if settings := client.world.Settings().SMSCode; settings.Attempts != 5 || settings.Validity != 600 {
		t.Errorf("a merge lost settings: %+v", settings)
	}
	enter("123456").want(201)
	client.post("signature_requests/1/transitions", body{"transition": "cancel"}).want(404)
}

func TestSMSToNowhere(t *testing.T) {
	client := newTestClient(t, "demo-nowhere")
	contact := client.newContact(body{"mobile": "12"})
	mandate := client.post("mandates", client.mandateBody(contact)).want(201).text("@id")
	client.post("signature_requests", body{"contactId": contact, "targetId": mandate}).
		want(400).wantCode("api.error.signature-request.mobile-not-valid")
	audit := client.world.Audit()
	if len(audit.UndeliverableSMS) != 1 || audit.UndeliverableSMS[0].To != "12" || audit.OK || len(client.world.SMS()) != 0 {
		t.Errorf("audit: %+v", audit)
	}
}

func TestCodesFollowFromTheSeed(t *testing.T) {
	codes := map[string]bool{}
	for range 2 {
		d := newTestClient(t, "demo-seeded")
		d.signing(d.newContact(nil))
		codes[d.lastCode()] = true
	}
	if len(codes) != 1 {
		t.Errorf("two worlds of one seed sent %v", codes)
	}
}
