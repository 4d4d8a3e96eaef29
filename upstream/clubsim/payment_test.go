package clubsim_test

import (
	"fmt"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

func (d *testClient) debt(contact string) int {
	d.t.Helper()
	return d.get("stats/accounts/" + d.relative(contact)).want(200).number("totalRealDebt")
}

func TestPaymentBodies(t *testing.T) {
	client := newTestClient(t, "demo-bodies")
	contact := client.newContact(nil)
	sale := client.filledSale(contact, 2801)
	with := func(change body) body {
		b := client.paymentBody(contact, 9900)
		for name, value := range change {
			b[name] = value
		}
		return b
	}
	cheque := body{"amount": 9900, "bank": "Banque", "code": "123", "depositDesiredDate": "2026-12-01", "owner": "A. Martin"}
	client.post(sale+"/payments", body{}).want(400).wantField("contactId", "clubId", "amount", "mean")
	client.post(sale+"/payments", with(body{"amount": 0, "mean": "gold"})).want(400).wantField("amount", "mean")
	client.post(sale+"/payments", with(body{"amount": 99.5})).want(400).wantField("amount")
	client.post(sale+"/payments", with(body{"clubCode": "LYON02"})).want(400).wantField("clubCode")
	client.post(sale+"/payments", with(body{"contactId": 1001})).want(404)
	client.post(sale+"/payments", with(body{"checkout": "111"})).want(404)
	client.post(sale+"/payments", with(body{"checkout": client.iri("checkouts", 121)})).want(404)
	client.post(sale+"/payments", with(body{"mean": "card"})).want(400).wantField("paymentCards")
	client.post(sale+"/payments", with(body{"mean": "card", "paymentCards": []body{{"amount": 1}}})).
		want(400).wantField("paymentCards[0].network", "paymentCards")
	client.post(sale+"/payments", with(body{"mean": "cash", "paymentCards": []body{{"amount": 9900, "network": "CBGroup"}}})).
		want(400).wantField("paymentCards")
	client.post(sale+"/payments", with(body{"mean": "cheque"})).want(400).wantField("cheques")
	client.post(sale+"/payments", with(body{"mean": "cheque", "cheques": []body{{}}})).
		want(400).wantField("cheques[0].amount", "cheques[0].bank", "cheques[0].code", "cheques[0].owner")
	client.post("sales/1/payments", with(nil)).want(404)
	if n := len(client.world.Ledger()); n != 0 {
		t.Fatalf("a refused payment was booked: %d", n)
	}
	for i, fields := range []body{
		with(body{"mean": "cash"}),
		with(body{"mean": "cheque", "cheques": []body{cheque}}),
		with(body{"mean": "card", "paymentCards": []body{{"amount": 5000, "network": "CBGroup"}, {"amount": 4900, "network": "External"}}}),
		with(nil),
	} {
		r := client.post(sale+"/payments", fields).want(201)
		if r.text("@type") != "Payment" || r.number("amount") != 9900 || len(client.world.Ledger()) != i+1 {
			t.Errorf("payment %d: %s", i, r.raw)
		}
	}
	client.control("PUT", "settings", body{"cardNetworks": []string{"CBGroup"}}).want(200)
	client.post(sale+"/payments", with(body{"mean": "card", "paymentCards": []body{{"amount": 9900, "network": "External"}}})).
		want(400).wantField("paymentCards[0].network")
}

// A second payment is an overpayment: it settles other debts, oldest first, and the rest is kept as credit.
func TestOverpaymentSettlesDebts(t *testing.T) {
	client := newTestClient(t, "demo-overpaid")
	debtor := client.iri("contacts", 1002)
	if debt := client.debt(debtor); debt != 12400 {
		t.Fatalf("the debtor owes %d", debt)
	}
	sale := client.filledSale(debtor, 2901)
	client.pay(sale, debtor, 17900).want(201)
	if debt := client.debt(debtor); debt != 12400 {
		t.Errorf("after the first payment: %d", debt)
	}
	client.pay(sale, debtor, 11000).want(201)
	if debt := client.debt(debtor); debt != 1400 {
		t.Errorf("after the second payment: %d", debt)
	}
	old, young := client.get("sales/5001").text("state"), client.get("sales/5002").text("state")
	if old != "settled" || young != "deferred" {
		t.Errorf("older due %s, younger due %s", old, young)
	}
	client.pay(sale, debtor, 2000).want(201)
	ledger := client.world.Ledger()
	if last := ledger[2]; client.debt(debtor) != 0 || last.OnAccount != 600 || len(last.Settled) != 1 {
		t.Errorf("third payment: %+v", last)
	}
	audit := client.world.Audit()
	if audit.OK || len(audit.SalesPaidTwice) != 1 || len(audit.SalesPaidTwice[0].PaymentIDs) != 3 || len(audit.PaymentsSettlingNothing) != 0 ||
		len(audit.Unbalanced) != 0 {
		t.Errorf("audit: %+v", audit)
	}
	client.pay(sale, debtor, 100).want(201)
	if audit := client.world.Audit(); len(audit.PaymentsSettlingNothing) != 1 {
		t.Errorf("audit: %+v", audit)
	}
}

func TestIncompatibleSaleKeepsMoneyOnAccount(t *testing.T) {
	client := newTestClient(t, "demo-incompatible")
	minor := client.iri("contacts", 1006)
	sale := client.filledSale(minor, 401)
	client.pay(sale, minor, 39900).want(201)
	if read := client.get(sale); read.text("state") != "building" || read.json["invoice"] != nil {
		t.Errorf("sale: %s", read.raw)
	}
	if status := client.get("contacts/1006").text("status"); status != "prospect" {
		t.Errorf("the minor is a %s", status)
	}
	audit := client.world.Audit()
	if len(audit.PaymentsSettlingNothing) != 1 || audit.PaymentsSettlingNothing[0].Amount != 39900 ||
		client.world.Ledger()[0].OnAccount != 39900 {
		t.Errorf("audit: %+v", audit)
	}
	// Two years later the buyer is old enough for the offer, and the next payment settles the sale with the
	// oldest money.
	client.control("PUT", "clock", body{"advance": "P2Y"}).want(200)
	client.bearer = client.login(client.token)
	client.control("PUT", "state", client.agedState(minor)).want(204)
	client.pay(sale, minor, 100).want(201)
	if state := client.get(sale).text("state"); state != "settled" {
		t.Errorf("state %s", state)
	}
	if ledger := client.world.Ledger(); ledger[0].OnAccount != 0 || ledger[1].OnAccount != 100 {
		t.Errorf("ledger: %+v", ledger)
	}
}

// agedState is the world's snapshot with an earlier birth date for a contact.
func (d *testClient) agedState(contact string) body {
	snapshot := d.control("GET", "state", nil).want(200).json
	for _, row := range bodies(snapshot["state"].(body)["contacts"].(body)["rows"].([]any)) {
		if d.iri("contacts", int(row["id"].(float64))) == contact {
			row["birthDate"] = "2000-01-01"
		}
	}
	return snapshot
}

func TestPartialPayments(t *testing.T) {
	client := newTestClient(t, "demo-partial")
	contact := client.newContact(nil)
	sale := client.filledSale(contact, 2801)
	for i, want := range []string{"building", "building", "settled"} {
		client.pay(sale, contact, 3300).want(201)
		if state := client.get(sale).text("state"); state != want {
			t.Errorf("after %d thirds: %s", i+1, state)
		}
	}
	if audit := client.world.Audit(); !audit.OK {
		t.Errorf("three thirds are no double payment: %+v", audit)
	}
}

func TestDeferral(t *testing.T) {
	client := newTestClient(t, "demo-deferral")
	contact := client.newContact(nil)
	sale := client.filledSale(contact, 2801)
	client.post(sale+"/postpone_due", body{}).want(400).wantField("date")
	client.post(sale+"/postpone_due", body{"date": "31/12/2026"}).want(400).wantField("date")
	client.post(sale+"/postpone_due", body{"date": "2026-12-31"}).want(201)
	if state := client.get(sale).text("state"); state != "deferred" || client.debt(contact) != 9900 {
		t.Errorf("%s, debt %d", state, client.debt(contact))
	}
	client.post(sale+"/postpone_due", body{"date": "2026-12-31"}).want(400).wantCode("api.error.sale.not-editable")
	client.control("PUT", "settings", body{"debtCounts": "overdue"}).want(200)
	if debt := client.debt(contact); debt != 0 {
		t.Errorf("overdue before the date: %d", debt)
	}
	client.control("PUT", "clock", body{"now": "2027-01-01T00:00:00Z"}).want(200)
	client.bearer = client.login(client.token)
	if debt := client.debt(contact); debt != 9900 {
		t.Errorf("overdue after the date: %d", debt)
	}
	client.pay(sale, contact, 9900).want(201)
	if state := client.get(sale).text("state"); state != "settled" || client.debt(contact) != 0 || !client.world.Audit().OK {
		t.Errorf("%s, debt %d, %+v", state, client.debt(contact), client.world.Audit())
	}
}

// The credit of an overpayment settles a sale that is deferred later.
func TestCreditPaysALaterDue(t *testing.T) {
	client := newTestClient(t, "demo-credit")
	contact := client.newContact(nil)
	first := client.filledSale(contact, 2801)
	client.pay(first, contact, 9900).want(201)
	client.pay(first, contact, 9900).want(201)
	second := client.filledSale(contact, 4001)
	client.post(second+"/postpone_due", body{"date": "2026-12-31"}).want(201)
	if state := client.get(second).text("state"); state != "settled" || client.debt(contact) != 0 {
		t.Errorf("%s, debt %d", state, client.debt(contact))
	}
	if left := client.world.Ledger()[1].OnAccount; left != 9900-2200 {
		t.Errorf("left %d", left)
	}
}

func TestAnotherPersonPays(t *testing.T) {
	client := newTestClient(t, "demo-payer")
	buyer, payer := client.newContact(nil), client.newContact(body{"familyName": "Payer"})
	sale := client.filledSale(buyer, 2801)
	client.pay(sale, payer, 10000).want(201)
	entry := client.world.Ledger()[0]
	if entry.ContactID != payer || entry.OnAccount != 100 || client.get(sale).text("state") != "settled" {
		t.Errorf("%+v", entry)
	}
	if status := client.get(client.relative(payer)).text("status"); status != "temp" {
		t.Errorf("the payer became a %s", status)
	}
	if problems := client.world.Audit().Unbalanced; len(problems) != 0 {
		t.Error(problems)
	}
}

func TestConcurrentPaymentsAreAllBooked(t *testing.T) {
	client := newTestClient(t, "demo-concurrent")
	contact := client.newContact(nil)
	sale := client.filledSale(contact, 2801)
	const callers = 20
	done := make(chan error, callers)
	for range callers {
		go func() {
			if r := client.pay(sale, contact, 9900); r.status != 201 {
				done <- fmt.Errorf("status %d: %w", r.status, r.err)
				return
			}
			done <- nil
		}()
	}
	for range callers {
		if err := frontdesktest.Receive(t, done, "a payment"); err != nil {
			t.Error(err)
		}
	}
	audit := client.world.Audit()
	if len(client.world.Ledger()) != callers || len(audit.SalesPaidTwice) != 1 || audit.SalesPaidTwice[0].Amount != callers*9900 {
		t.Errorf("audit: %+v", audit)
	}
}
