package clubsim

import (
	"cmp"
	"regexp"
	"slices"
	"time"
)

// networkPattern is what a card network's name may look like where the settings
// name none: two of the four documented spellings are not known.
var networkPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)

// maxAmount limits one payment, in cents: ten million euros, far above any sale and far
// below where sums overflow.
const maxAmount = 1_000_000_000

// payment is money that came in.
type payment struct {
	numbered
	SaleID     int          `json:"saleId"`
	ContactID  int          `json:"contactId"` // the payer
	ClubID     int          `json:"clubId"`
	CheckoutID int          `json:"checkoutId"`
	Amount     int          `json:"amount"` // cents
	Mean       string       `json:"mean"`
	FamilyName string       `json:"contactFamilyName"`
	GivenName  string       `json:"contactGivenName"`
	Number     string       `json:"contactNumber"`
	Cards      []card       `json:"paymentCards"`
	Cheques    []cheque     `json:"cheques"`
	At         time.Time    `json:"at"`
	Settled    []settlement `json:"settled"` // what the money paid for; Left is what stayed on the account
	Left       int          `json:"left"`
}

// settlement is a part of a payment that paid for a sale.
type settlement struct {
	SaleID int `json:"saleId"`
	Amount int `json:"amount"`
}

// card is an entry of paymentCards (section PaymentCard entry).
type card struct {
	Amount  int    `json:"amount"`
	Network string `json:"network"`
}

// cheque is an entry of cheques (section Cheque entry).
type cheque struct {
	Amount  int    `json:"amount"`
	Bank    string `json:"bank"`
	Code    string `json:"code"`
	Deposit string `json:"depositDesiredDate"`
	Owner   string `json:"owner"`
}

func (w *World) paymentRecord(p *payment) record {
	return w.record("Payment", "payments", p.ID, record{
		"amount": p.Amount, "priceCurrency": currency, "mean": p.Mean, "saleId": w.iri("sales", p.SaleID),
		"contactId": w.iri("contacts", p.ContactID), "clubId": w.iri("clubs", p.ClubID),
		"checkout": w.iri("checkouts", p.CheckoutID), "createdAt": w.timestamp(p.At),
	})
}

// createPayment: POST sales/{saleId}/payments. Every call makes a payment with its
// bookings, whatever was paid before. Nothing protects against a repeated call, and no
// header makes it idempotent.
func createPayment(c *request, s *sale) (response, error) {
	f := c.form()
	p := c.readPayment(f, s)
	payer, noContact := c.contactAt(p.ContactID)
	at, noClub := c.clubAt(p.ClubID)
	if err := cmp.Or(f.err(), noContact, noClub); err != nil {
		return response{}, err
	}
	if p.CheckoutID != at.checkout() {
		return response{}, itemNotFound()
	}
	p.FamilyName, p.GivenName = cmp.Or(p.FamilyName, payer.FamilyName), cmp.Or(p.GivenName, payer.GivenName)
	p.Number = cmp.Or(p.Number, payer.Number)
	c.receivePayment(c.w.state.Payments.add(&p), s)
	return c.created(c.w.paymentRecord(&p))
}

// readPayment reads the body (club system API, section Payment).
func (c *request) readPayment(f *form, s *sale) payment {
	p := payment{
		SaleID:     s.ID,
		At:         c.now,
		ContactID:  f.iri("contactId", "contacts", true),
		ClubID:     f.iri("clubId", "clubs", true),
		CheckoutID: f.iri("checkout", "checkouts", false),
		Amount:     f.integer("amount", true, 1, maxAmount),
		Mean:       f.choice("mean", true, "CBWeb", "cash", "cheque", "card"),
		FamilyName: f.text("contactFamilyName", false),
		GivenName:  f.text("contactGivenName", false),
		Number:     f.text("contactNumber", false),
	}
	p.Left = p.Amount
	at := clubByID(p.ClubID)
	if at != nil && p.CheckoutID == 0 {
		p.CheckoutID = at.checkout()
	}
	if code := f.text("clubCode", false); at != nil && code != "" && code != at.code {
		f.addViolation("clubCode", "This is not the code of the club.")
	}
	p.Cards, p.Cheques = c.readCards(f, &p), f.readCheques(&p)
	return p
}

// readCards reads paymentCards, which belong to the mean card alone and add up to the amount.
func (c *request) readCards(f *form, p *payment) []card {
	var cards []card
	sum := 0
	for _, entry := range f.entriesFor("paymentCards", p.Mean == "card") {
		one := card{Amount: entry.integer("amount", true, 1, maxAmount), Network: entry.matching("network", true, networkPattern)}
		if allowed := c.w.settings.CardNetworks; len(allowed) > 0 && !slices.Contains(allowed, one.Network) {
			entry.addViolation("network", "The value you selected is not a valid choice.")
		}
		cards, sum = append(cards, one), sum+one.Amount
	}
	if len(cards) > 0 && sum != p.Amount {
		f.addViolation("paymentCards", "The amounts do not add up to the amount of the payment.")
	}
	return cards
}

// readCheques reads cheques, which belong to the mean cheque alone and add up to the amount.
func (f *form) readCheques(p *payment) []cheque {
	var cheques []cheque
	sum := 0
	for _, entry := range f.entriesFor("cheques", p.Mean == "cheque") {
		one := cheque{
			Amount:  entry.integer("amount", true, 1, maxAmount),
			Bank:    entry.text("bank", true),
			Code:    entry.text("code", true),
			Deposit: entry.date("depositDesiredDate", false),
			Owner:   entry.text("owner", true),
		}
		cheques, sum = append(cheques, one), sum+one.Amount
	}
	if len(cheques) > 0 && sum != p.Amount {
		f.addViolation("cheques", "The amounts do not add up to the amount of the payment.")
	}
	return cheques
}

// entriesFor reads the entries that belong to one mean of payment: required with it, and
// a violation with any other.
func (f *form) entriesFor(name string, due bool) []*form {
	entries := f.list(name, due)
	switch {
	case due && f.has(name) && len(entries) == 0:
		f.addViolation(name, messageBlank)
	case !due && len(entries) > 0:
		f.addViolation(name, "This field does not go with the mean of payment.")
	}
	return entries
}
