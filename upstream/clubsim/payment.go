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

func (w *World) paymentRecord(payment *payment) record {
	return w.record("Payment", "payments", payment.ID, record{
		"amount": payment.Amount, "priceCurrency": currency, "mean": payment.Mean, "saleId": w.iri("sales", payment.SaleID),
		"contactId": w.iri("contacts", payment.ContactID), "clubId": w.iri("clubs", payment.ClubID),
		"checkout": w.iri("checkouts", payment.CheckoutID), "createdAt": w.timestamp(payment.At),
	})
}

// createPayment: POST sales/{saleId}/payments. Every call makes a payment with its
// bookings, whatever was paid before. Nothing protects against a repeated call, and no
// header makes it idempotent.
func createPayment(call *request, sale *sale) (response, error) {
	f := call.form()
	payment := call.readPayment(f, sale)
	payer, noContact := call.contactAt(payment.ContactID)
	at, noClub := call.clubAt(payment.ClubID)
	if err := cmp.Or(f.whole(), noContact, noClub, call.firstPayment(sale)); err != nil {
		return response{}, err
	}
	if payment.CheckoutID != at.checkout() {
		return response{}, itemNotFound()
	}
	payment.FamilyName, payment.GivenName = cmp.Or(payment.FamilyName, payer.FamilyName), cmp.Or(payment.GivenName, payer.GivenName)
	payment.Number = cmp.Or(payment.Number, payer.Number)
	call.receivePayment(call.w.state.Payments.add(&payment), sale)
	return call.created(call.w.paymentRecord(&payment))
}

// readPayment reads the body (club system API, section Payment).
func (c *request) readPayment(form *form, sale *sale) payment {
	payment := payment{
		SaleID:     sale.ID,
		At:         c.now,
		ContactID:  form.iri("contactId", "contacts", true),
		ClubID:     form.iri("clubId", "clubs", true),
		CheckoutID: form.iri("checkout", "checkouts", false),
		Amount:     form.integer("amount", true, 1, maxAmount),
		Mean:       form.choice("mean", true, "CBWeb", "cash", "cheque", "card"),
		FamilyName: form.text("contactFamilyName", false),
		GivenName:  form.text("contactGivenName", false),
		Number:     form.text("contactNumber", false),
	}
	payment.Left = payment.Amount
	at := form.w.catalogue.club(payment.ClubID)
	if at != nil && payment.CheckoutID == 0 {
		payment.CheckoutID = at.checkout()
	}
	if code := form.text("clubCode", false); at != nil && code != "" && code != at.Code {
		form.addViolation("clubCode", "This is not the code of the club.")
	}
	payment.Cards, payment.Cheques = c.readCards(form, &payment), form.readCheques(&payment)
	return payment
}

// readCards reads paymentCards, which belong to the mean card alone and add up to the amount.
func (c *request) readCards(form *form, payment *payment) []card {
	var cards []card
	sum := 0
	for _, entry := range form.entriesFor("paymentCards", payment.Mean == "card") {
		one := card{Amount: entry.integer("amount", true, 1, maxAmount), Network: entry.matching("network", true, networkPattern)}
		if allowed := c.w.settings.CardNetworks; len(allowed) > 0 && !slices.Contains(allowed, one.Network) {
			entry.addViolation("network", "The value you selected is not a valid choice.")
		}
		cards, sum = append(cards, one), sum+one.Amount
	}
	if len(cards) > 0 && sum != payment.Amount {
		form.addViolation("paymentCards", "The amounts do not add up to the amount of the payment.")
	}
	return cards
}

// readCheques reads cheques, which belong to the mean cheque alone and add up to the amount.
func (f *form) readCheques(payment *payment) []cheque {
	var cheques []cheque
	sum := 0
	for _, entry := range f.entriesFor("cheques", payment.Mean == "cheque") {
		one := cheque{
			Amount:  entry.integer("amount", true, 1, maxAmount),
			Bank:    entry.text("bank", true),
			Code:    entry.text("code", true),
			Deposit: entry.date("depositDesiredDate", false),
			Owner:   entry.text("owner", true),
		}
		cheques, sum = append(cheques, one), sum+one.Amount
	}
	if len(cheques) > 0 && sum != payment.Amount {
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
