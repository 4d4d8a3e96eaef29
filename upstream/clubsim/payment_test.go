package clubsim_test

import (
	"fmt"
	"testing"
)

func (d *testClient) debt(contact string) int {
	d.t.Helper()
	return d.get("stats/accounts/" + d.relative(contact)).want(200).number("totalRealDebt")
}

func TestPaymentBodies(t *testing.T) {
	d := newTestClient(t, "demo-bodies")
	contact := d.newContact(nil)
	sale := d.filledSale(contact, 2801)
	with := func(change body) body {
		b := d.paymentBody(contact, 9900)
		for name, value := range change {
			b[name] = value
		}
		return b
	}
	cheque := body{"amount": 9900, "bank": "Banque", "code": "123", "depositDesiredDate": "2026-12-01", "owner": "A. Martin"}
	d.post(sale+"/payments", body{}).want(400).wantField("contactId", "clubId", "amount", "mean")
	d.post(sale+"/payments", with(body{"amount": 0, "mean": "gold"})).want(400).wantField("amount", "mean")
	d.post(sale+"/payments", with(body{"amount": 99.5})).want(400).wantField("amount")
	d.post(sale+"/payments", with(body{"clubCode": "LYON02"})).want(400).wantField("clubCode")
	d.post(sale+"/payments", with(body{"contactId": 1001})).want(404)
	d.post(sale+"/payments", with(body{"checkout": "111"})).want(404)
	d.post(sale+"/payments", with(body{"checkout": d.iri("checkouts", 121)})).want(404)
	d.post(sale+"/payments", with(body{"mean": "card"})).want(400).wantField("paymentCards")
	d.post(sale+"/payments", with(body{"mean": "card", "paymentCards": []body{{"amount": 1}}})).
		want(400).wantField("paymentCards[0].network", "paymentCards")
	d.post(sale+"/payments", with(body{"mean": "cash", "paymentCards": []body{{"amount": 9900, "network": "CBGroup"}}})).
		want(400).wantField("paymentCards")
	d.post(sale+"/payments", with(body{"mean": "cheque"})).want(400).wantField("cheques")
	d.post(sale+"/payments", with(body{"mean": "cheque", "cheques": []body{{}}})).
		want(400).wantField("cheques[0].amount", "cheques[0].bank", "cheques[0].code", "cheques[0].owner")
	d.post("sales/1/payments", with(nil)).want(404)
	if n := len(d.world.Ledger()); n != 0 {
		t.Fatalf("a refused payment was booked: %d", n)
	}
	for i, b := range []body{
		with(body{"mean": "cash"}),
		with(body{"mean": "cheque", "cheques": []body{cheque}}),
		with(body{"mean": "card", "paymentCards": []body{{"amount": 5000, "network": "CBGroup"}, {"amount": 4900, "network": "External"}}}),
		with(nil),
	} {
		r := d.post(sale+"/payments", b).want(201)
		if r.text("@type") != "Payment" || r.number("amount") != 9900 || len(d.world.Ledger()) != i+1 {
			t.Errorf("payment %d: %s", i, r.raw)
		}
	}
	d.control("PUT", "settings", body{"cardNetworks": []string{"CBGroup"}}).want(200)
	d.post(sale+"/payments", with(body{"mean": "card", "paymentCards": []body{{"amount": 9900, "network": "External"}}})).
		want(400).wantField("paymentCards[0].network")
}

// A second payment is an overpayment: it settles other debts, oldest first, and the rest is kept as credit.
func TestOverpaymentSettlesDebts(t *testing.T) {
	d := newTestClient(t, "demo-overpaid")
	debtor := d.iri("contacts", 1002)
	if debt := d.debt(debtor); debt != 12400 {
		t.Fatalf("the debtor owes %d", debt)
	}
	sale := d.filledSale(debtor, 2901)
	d.pay(sale, debtor, 17900).want(201)
	if debt := d.debt(debtor); debt != 12400 {
		t.Errorf("after the first payment: %d", debt)
	}
	d.pay(sale, debtor, 11000).want(201)
	if debt := d.debt(debtor); debt != 1400 {
		t.Errorf("after the second payment: %d", debt)
	}
	old, young := d.get("sales/5001").text("state"), d.get("sales/5002").text("state")
	if old != "settled" || young != "deferred" {
		t.Errorf("older due %s, younger due %s", old, young)
	}
	d.pay(sale, debtor, 2000).want(201)
	ledger := d.world.Ledger()
	if last := ledger[2]; d.debt(debtor) != 0 || last.OnAccount != 600 || len(last.Settled) != 1 {
		t.Errorf("third payment: %+v", last)
	}
	audit := d.world.Audit()
	if audit.OK || len(audit.SalesPaidTwice) != 1 || len(audit.SalesPaidTwice[0].PaymentIDs) != 3 || len(audit.PaymentsSettlingNothing) != 0 ||
		len(audit.Unbalanced) != 0 {
		t.Errorf("audit: %+v", audit)
	}
	d.pay(sale, debtor, 100).want(201)
	if audit := d.world.Audit(); len(audit.PaymentsSettlingNothing) != 1 {
		t.Errorf("audit: %+v", audit)
	}
}

func TestIncompatibleSaleKeepsMoneyOnAccount(t *testing.T) {
	d := newTestClient(t, "demo-incompatible")
	minor := d.iri("contacts", 1006)
	sale := d.filledSale(minor, 401)
	d.pay(sale, minor, 39900).want(201)
	if read := d.get(sale); read.text("state") != "building" || read.json["invoice"] != nil {
		t.Errorf("sale: %s", read.raw)
	}
	if status := d.get("contacts/1006").text("status"); status != "prospect" {
		t.Errorf("the minor is a %s", status)
	}
	audit := d.world.Audit()
	if len(audit.PaymentsSettlingNothing) != 1 || audit.PaymentsSettlingNothing[0].Amount != 39900 || d.world.Ledger()[0].OnAccount != 39900 {
		t.Errorf("audit: %+v", audit)
	}
	// Two years later the buyer is old enough for the offer, and the next payment settles the sale with the
	// oldest money.
	d.control("PUT", "clock", body{"advance": "P2Y"}).want(200)
	d.bearer = d.login(d.token)
	d.control("PUT", "state", d.agedState(minor)).want(204)
	d.pay(sale, minor, 100).want(201)
	if state := d.get(sale).text("state"); state != "settled" {
		t.Errorf("state %s", state)
	}
	if ledger := d.world.Ledger(); ledger[0].OnAccount != 0 || ledger[1].OnAccount != 100 {
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
	d := newTestClient(t, "demo-partial")
	contact := d.newContact(nil)
	sale := d.filledSale(contact, 2801)
	for i, want := range []string{"building", "building", "settled"} {
		d.pay(sale, contact, 3300).want(201)
		if state := d.get(sale).text("state"); state != want {
			t.Errorf("after %d thirds: %s", i+1, state)
		}
	}
	if audit := d.world.Audit(); !audit.OK {
		t.Errorf("three thirds are no double payment: %+v", audit)
	}
}

func TestDeferral(t *testing.T) {
	d := newTestClient(t, "demo-deferral")
	contact := d.newContact(nil)
	sale := d.filledSale(contact, 2801)
	d.post(sale+"/postpone_due", body{}).want(400).wantField("date")
	d.post(sale+"/postpone_due", body{"date": "31/12/2026"}).want(400).wantField("date")
	d.post(sale+"/postpone_due", body{"date": "2026-12-31"}).want(201)
	if state := d.get(sale).text("state"); state != "deferred" || d.debt(contact) != 9900 {
		t.Errorf("%s, debt %d", state, d.debt(contact))
	}
	d.post(sale+"/postpone_due", body{"date": "2026-12-31"}).want(400).wantCode("api.error.sale.not-editable")
	d.control("PUT", "settings", body{"debtCounts": "overdue"}).want(200)
	if debt := d.debt(contact); debt != 0 {
		t.Errorf("overdue before the date: %d", debt)
	}
	d.control("PUT", "clock", body{"now": "2027-01-01T00:00:00Z"}).want(200)
	d.bearer = d.login(d.token)
	if debt := d.debt(contact); debt != 9900 {
		t.Errorf("overdue after the date: %d", debt)
	}
	d.pay(sale, contact, 9900).want(201)
	if state := d.get(sale).text("state"); state != "settled" || d.debt(contact) != 0 || !d.world.Audit().OK {
		t.Errorf("%s, debt %d, %+v", state, d.debt(contact), d.world.Audit())
	}
}

// The credit of an overpayment settles a sale that is deferred later.
func TestCreditPaysALaterDue(t *testing.T) {
	d := newTestClient(t, "demo-credit")
	contact := d.newContact(nil)
	first := d.filledSale(contact, 2801)
	d.pay(first, contact, 9900).want(201)
	d.pay(first, contact, 9900).want(201)
	second := d.filledSale(contact, 4001)
	d.post(second+"/postpone_due", body{"date": "2026-12-31"}).want(201)
	if state := d.get(second).text("state"); state != "settled" || d.debt(contact) != 0 {
		t.Errorf("%s, debt %d", state, d.debt(contact))
	}
	if left := d.world.Ledger()[1].OnAccount; left != 9900-2200 {
		t.Errorf("left %d", left)
	}
}

func TestAnotherPersonPays(t *testing.T) {
	d := newTestClient(t, "demo-payer")
	buyer, payer := d.newContact(nil), d.newContact(body{"familyName": "Payer"})
	sale := d.filledSale(buyer, 2801)
	d.pay(sale, payer, 10000).want(201)
	entry := d.world.Ledger()[0]
	if entry.ContactID != payer || entry.OnAccount != 100 || d.get(sale).text("state") != "settled" {
		t.Errorf("%+v", entry)
	}
	if status := d.get(d.relative(payer)).text("status"); status != "temp" {
		t.Errorf("the payer became a %s", status)
	}
	if problems := d.world.Audit().Unbalanced; len(problems) != 0 {
		t.Error(problems)
	}
}

func TestConcurrentPaymentsAreAllBooked(t *testing.T) {
	d := newTestClient(t, "demo-concurrent")
	contact := d.newContact(nil)
	sale := d.filledSale(contact, 2801)
	const callers = 20
	done := make(chan error, callers)
	for range callers {
		go func() {
			if r := d.pay(sale, contact, 9900); r.status != 201 {
				done <- fmt.Errorf("status %d: %w", r.status, r.err)
				return
			}
			done <- nil
		}()
	}
	for range callers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	audit := d.world.Audit()
	if len(d.world.Ledger()) != callers || len(audit.SalesPaidTwice) != 1 || audit.SalesPaidTwice[0].Amount != callers*9900 {
		t.Errorf("audit: %+v", audit)
	}
}
