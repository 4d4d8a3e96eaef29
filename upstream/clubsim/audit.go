package clubsim

import (
	"slices"
	"time"
)

// Audit lists the mistakes that a world's books and outbox show.
type Audit struct {
	OK             bool        `json:"ok"`             // nothing below
	SalesPaidTwice []PaidTwice `json:"salesPaidTwice"` // sales with several payments that add up to more than their total
	// PaymentsSettlingNothing are payments that are still entirely on the payer's account.
	PaymentsSettlingNothing []UnallocatedPayment `json:"paymentsSettlingNothing"`
	UndeliverableSMS        []UndeliverableSMS   `json:"undeliverableSms"`    // messages to contacts without a valid mobile number
	ContactsSignedTwice     []SignedTwice        `json:"contactsSignedTwice"` // contacts with several signed mandates for one club
	// CanceledTwice are subscriptions that a caller tried to cancel again, which was refused.
	CanceledTwice []Cancellation `json:"subscriptionsCanceledTwice"`
	// Unbalanced lists errors of the double entry; always empty unless the simulator is
	// broken.
	Unbalanced []string `json:"unbalanced"`
}

// PaidTwice is a sale that was paid more than it cost.
type PaidTwice struct {
	SaleID     string   `json:"saleId"`
	ContactID  string   `json:"contactId"`
	ClubID     string   `json:"clubId"`
	PaymentIDs []string `json:"paymentIds"`
	Total      int      `json:"total"`  // cents
	Amount     int      `json:"amount"` // cents that were paid
}

// UnallocatedPayment is a payment that settled nothing.
type UnallocatedPayment struct {
	PaymentID string    `json:"paymentId"`
	SaleID    string    `json:"saleId"`
	ContactID string    `json:"contactId"`
	ClubID    string    `json:"clubId"`
	Amount    int       `json:"amount"` // cents
	Mean      string    `json:"mean"`
	At        time.Time `json:"at"`
}

// UndeliverableSMS is a message that could not be sent.
type UndeliverableSMS struct {
	To        string    `json:"to"`
	ContactID string    `json:"contactId"`
	At        time.Time `json:"at"`
}

// SignedTwice is a contact that signed several mandates for one club.
type SignedTwice struct {
	ContactID  string   `json:"contactId"`
	ClubID     string   `json:"clubId"`
	MandateIDs []string `json:"mandateIds"`
}

// Audit checks the world's books.
func (w *World) Audit() Audit {
	w.mu.Lock()
	defer w.mu.Unlock()
	canceledTwice := filter(w.state.Benefits.Rows, func(b *benefit) bool { return b.Repeated > 0 })
	unallocated := filter(w.state.Payments.Rows, func(p *payment) bool { return p.Left == p.Amount })
	undeliverable := filter(w.state.SMS.Rows, func(m *sms) bool { return m.SignatureID == 0 })
	audit := Audit{
		SalesPaidTwice:      w.salesPaidTwice(),
		ContactsSignedTwice: w.contactsSignedTwice(),
		CanceledTwice:       records(canceledTwice, w.cancellation),
		Unbalanced:          w.state.unbalanced(),
		PaymentsSettlingNothing: records(unallocated, func(payment *payment) UnallocatedPayment {
			return UnallocatedPayment{
				w.iri("payments", payment.ID),
				w.iri("sales", payment.SaleID),
				w.iri("contacts", payment.ContactID),
				w.iri("clubs", payment.ClubID),
				payment.Amount,
				payment.Mean,
				payment.At,
			}
		}),
		UndeliverableSMS: records(undeliverable, func(m *sms) UndeliverableSMS {
			return UndeliverableSMS{m.To, w.iri("contacts", m.ContactID), m.SentAt}
		}),
	}
	audit.OK = len(audit.SalesPaidTwice)+len(audit.PaymentsSettlingNothing)+len(audit.UndeliverableSMS)+
		len(audit.ContactsSignedTwice)+len(audit.CanceledTwice)+len(audit.Unbalanced) == 0
	return audit
}

func (w *World) salesPaidTwice() []PaidTwice {
	found := []PaidTwice{}
	for _, sale := range w.state.Sales.Rows {
		twice := PaidTwice{
			SaleID:    w.iri("sales", sale.ID),
			ContactID: w.iri("contacts", sale.ContactID),
			ClubID:    w.iri("clubs", sale.ClubID),
			Total:     w.state.total(sale),
		}
		for _, p := range w.state.paymentsFor(sale.ID) {
			twice.PaymentIDs = append(twice.PaymentIDs, w.iri("payments", p.ID))
			twice.Amount += p.Amount
		}
		if len(twice.PaymentIDs) > 1 && twice.Amount > twice.Total {
			found = append(found, twice)
		}
	}
	return found
}

func (w *World) contactsSignedTwice() []SignedTwice {
	all, place := []SignedTwice{}, map[[2]int]int{} // by contact and club
	for _, mandate := range w.state.Mandates.Rows {
		if mandate.SignedAt.IsZero() {
			continue
		}
		of := [2]int{mandate.ContactID, mandate.ClubID}
		if _, known := place[of]; !known {
			place[of] = len(all)
			all = append(all, SignedTwice{ContactID: w.iri("contacts", mandate.ContactID), ClubID: w.iri("clubs", mandate.ClubID)})
		}
		signed := &all[place[of]]
		signed.MandateIDs = append(signed.MandateIDs, w.iri("mandates", mandate.ID))
	}
	return slices.DeleteFunc(all, func(c SignedTwice) bool { return len(c.MandateIDs) == 1 })
}
