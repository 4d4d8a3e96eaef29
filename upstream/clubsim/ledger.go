package clubsim

import (
	"fmt"
	"slices"
	"time"
)

// entry is a booking in double entry: its lines add up to zero.
//
// A contact has two accounts with the club: "due", what it owes for sales, and "account",
// what it paid that is not used up. A club has a till per mean of payment and an account of
// its sales. Debits are positive:
//
//	payment      till +        account −
//	invoice      due +         sales −
//	settlement   account +     due −
//	transfer     moves a balance between two contacts that were merged
type entry struct {
	numbered
	At        time.Time `json:"at"`
	Kind      string    `json:"kind"`
	SaleID    int       `json:"saleId"`
	PaymentID int       `json:"paymentId"` // zero: no payment
	Lines     []posting `json:"lines"`
}

// posting is a line of an entry.
type posting struct {
	Account string `json:"account"`
	Amount  int    `json:"amount"` // cents; debit above zero, credit below
}

func dueAccount(contactID int) string  { return "contact:" + itoa(contactID) + ":due" }
func cashAccount(contactID int) string { return "contact:" + itoa(contactID) + ":account" }
func salesAccount(clubID int) string   { return "club:" + itoa(clubID) + ":sales" }
func tillAccount(clubID int, mean string) string {
	return "club:" + itoa(clubID) + ":till:" + mean
}

func (st *state) postEntry(e entry, debit, credit string, amount int, now time.Time) {
	if amount == 0 {
		return
	}
	e.At, e.Lines = now, []posting{{debit, amount}, {credit, -amount}}
	st.Entries.add(&e)
}

// receivePayment books a payment. A payment for an open sale settles the sale, if the sale
// is valid and its payments cover it; otherwise the money stays on the account. A payment
// for a recorded sale pays what is left of that sale's due, and the rest is an overpayment
// that settles the payer's other dues, oldest first.
func (c *request) receivePayment(payment *payment, sale *sale) {
	c.w.state.postEntry(entry{Kind: "payment", SaleID: sale.ID, PaymentID: payment.ID},
		tillAccount(payment.ClubID, payment.Mean), cashAccount(payment.ContactID), payment.Amount, c.now)
	if sale.State == saleBuilding && !c.settleIfPaid(sale) {
		return
	}
	for _, d := range c.w.state.duesFor(sale.ID) {
		c.applyToDue(payment, d)
	}
	for _, earlier := range c.w.state.paymentsFor(sale.ID) {
		c.applyToDues(earlier)
	}
	c.updateDebtTag(sale.ContactID)
	c.updateDebtTag(payment.ContactID)
}

// settleIfPaid records a sale as settled if it is valid and its payments cover it.
func (c *request) settleIfPaid(sale *sale) bool {
	paid := 0
	for _, p := range c.w.state.paymentsFor(sale.ID) {
		paid += p.Left
	}
	if paid < c.w.state.total(sale) || len(c.w.check(sale, c.now)) > 0 {
		return false
	}
	c.recordSale(sale, saleSettled)
	return true
}

// recordSale makes the invoice of a sale, uses what was paid for it so far, and
// runs the behaviours of what was sold.
func (c *request) recordSale(sale *sale, state string) {
	st := c.w.state
	amount := st.total(sale)
	sale.State, sale.UpdatedAt = state, c.now
	sale.Invoice = sale.ID
	due := st.Dues.add(&due{
		SaleID:    sale.ID,
		ContactID: sale.ContactID,
		ClubID:    sale.ClubID,
		Amount:    amount,
		Left:      amount,
		OverdueAt: sale.OverdueAt,
		CreatedAt: c.now,
	})
	st.postEntry(entry{Kind: "invoice", SaleID: sale.ID}, dueAccount(sale.ContactID), salesAccount(sale.ClubID), amount, c.now)
	for _, p := range st.paymentsFor(sale.ID) {
		c.applyToDue(p, due)
	}
	c.runBehaviors(sale)
	c.updateDebtTag(sale.ContactID)
}

func (c *request) updateDebtTag(contactID int) {
	owes := slices.ContainsFunc(c.w.state.duesOf(contactID), func(d *due) bool { return d.Left > 0 })
	c.setAccountingTag(contactID, tagInDebt, owes)
}

func (c *request) applyToDue(payment *payment, due *due) {
	amount := min(payment.Left, due.Left)
	if amount == 0 {
		return
	}
	payment.Left -= amount
	due.Left -= amount
	payment.Settled = append(payment.Settled, settlement{due.SaleID, amount})
	c.w.state.postEntry(entry{Kind: "settlement", SaleID: due.SaleID, PaymentID: payment.ID},
		cashAccount(payment.ContactID), dueAccount(due.ContactID), amount, c.now)
	if due.Left == 0 {
		c.w.state.Sales.get(due.SaleID).State = saleSettled
	}
}

// applyToDues uses what is left of a payment for the payer's dues, oldest first.
func (c *request) applyToDues(payment *payment) {
	for _, d := range c.w.state.duesOf(payment.ContactID) {
		c.applyToDue(payment, d)
	}
}

// applyCredit uses a contact's overpayments for its dues. Money that was paid for a sale
// that is still open is not an overpayment.
func (c *request) applyCredit(contactID int) {
	for _, p := range c.w.state.paymentsOf(contactID) {
		if p.Left > 0 && c.w.state.Sales.get(p.SaleID).State != saleBuilding {
			c.applyToDues(p)
		}
	}
	c.updateDebtTag(contactID)
}

// LedgerEntry is a recorded payment and what it paid for.
type LedgerEntry struct {
	ID        string       `json:"id"` // IRI of the payment
	SaleID    string       `json:"saleId"`
	ContactID string       `json:"contactId"` // the payer
	ClubID    string       `json:"clubId"`
	Checkout  string       `json:"checkout"`
	Amount    int          `json:"amount"` // cents
	Mean      string       `json:"mean"`
	At        time.Time    `json:"at"`
	Settled   []Settlement `json:"settled"`   // what it paid for
	OnAccount int          `json:"onAccount"` // cents that paid for nothing
}

// Settlement is the part of a payment that paid for one sale.
type Settlement struct {
	SaleID string `json:"saleId"`
	Amount int    `json:"amount"` // cents
}

// Ledger returns the payments that were recorded, oldest first.
func (w *World) Ledger() []LedgerEntry {
	return inspectAll(w, func(st *state) []*payment { return st.Payments.Rows }, w.ledgerEntry)
}

func (w *World) ledgerEntry(payment *payment) LedgerEntry {
	return LedgerEntry{
		ID:        w.iri("payments", payment.ID),
		SaleID:    w.iri("sales", payment.SaleID),
		ContactID: w.iri("contacts", payment.ContactID),
		ClubID:    w.iri("clubs", payment.ClubID),
		Checkout:  w.iri("checkouts", payment.CheckoutID),
		Amount:    payment.Amount,
		Mean:      payment.Mean,
		At:        payment.At,
		Settled:   records(payment.Settled, func(s settlement) Settlement { return Settlement{w.iri("sales", s.SaleID), s.Amount} }),
		OnAccount: payment.Left,
	}
}

// unbalanced lists contradictions within the books, and between books and records.
func (st *state) unbalanced() []string {
	problems, balances, expected := []string{}, map[string]int{}, map[string]int{}
	for _, entry := range st.Entries.Rows {
		sum := 0
		for _, line := range entry.Lines {
			sum += line.Amount
			balances[line.Account] += line.Amount
		}
		if sum != 0 {
			problems = append(problems, fmt.Sprintf("entry %d is out of balance by %d", entry.ID, sum))
		}
	}
	for _, d := range st.Dues.Rows {
		expected[dueAccount(d.ContactID)] += d.Left
	}
	for _, p := range st.Payments.Rows {
		expected[cashAccount(p.ContactID)] -= p.Left
	}
	for _, k := range st.Contacts.Rows {
		for _, account := range []string{dueAccount(k.ID), cashAccount(k.ID)} {
			if balances[account] != expected[account] {
				problems = append(problems, fmt.Sprintf("%s holds %d and should hold %d", account, balances[account], expected[account]))
			}
		}
	}
	return problems
}

// due is what a contact owes for one sale.
type due struct {
	numbered
	SaleID    int       `json:"saleId"`
	ContactID int       `json:"contactId"`
	ClubID    int       `json:"clubId"`
	Amount    int       `json:"amount"` // cents
	Left      int       `json:"left"`   // cents not settled yet
	OverdueAt string    `json:"overdueAt"`
	CreatedAt time.Time `json:"createdAt"`
}

// getAccountStatistics: GET stats/accounts/contacts/{id}.
func getAccountStatistics(c *request, contact *contact) (response, error) {
	debt := c.w.debt(contact.ID, c.now)
	return ok(c.w.record("AccountStatistics", "stats/accounts/contacts", contact.ID, record{"totalRealDebt": debt}))
}

// debt is what a contact owes, in cents: every due, or only overdue ones if the settings
// say so.
func (w *World) debt(contactID int, now time.Time) int {
	total := 0
	today := now.Format(time.DateOnly)
	for _, d := range w.state.duesOf(contactID) {
		if w.settings.DebtCounts == "owed" || d.OverdueAt <= today {
			total += d.Left
		}
	}
	return total
}
