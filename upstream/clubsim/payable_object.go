package clubsim

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// payableObject is a request for a payment at the club's own processor. It is not paid here, so that it stays requested; the description
// of the API has no such operations.
type payableObject struct {
	ContactID int       `json:"contactId"`
	ClubID    int       `json:"clubId"`
	Amount    int       `json:"amount"` // cents
	SaleIDs   []int     `json:"saleIds"`
	ValidURL  string    `json:"validUrl"` // where the processor's page returns to; empty: the payment is in the caller's own page
	CreatedAt time.Time `json:"createdAt"`
}

func (w *World) payableRecord(id int) record {
	payable := w.state.Payables[id-1]
	at := w.catalogue.club(payable.ClubID)
	reference := fmt.Sprintf("pi_demo_%d", id)
	members := record{
		"id": id, "contactId": w.iri("contacts", payable.ContactID), "amount": payable.Amount, "currency": currency,
		"token": reference + "_secret_demo", "externalReference": reference, "redirectUrl": orNil(payable.ValidURL), "webRedirectUrl": nil,
		"clubId": w.iri("clubs", at.ID), "clubCode": at.Code, "checkout": w.iri("checkouts", at.checkout()), "state": "requested",
		"payableObjects":     record{"sales": records(payable.SaleIDs, func(id int) string { return w.iri("sales", id) })},
		"useAvailableAmount": false, "payment": nil, "createdAt": w.timestamp(payable.CreatedAt), "canceledAt": nil,
	}
	return w.record("PayableObject", "payable_objects", id, members)
}

// createPayableObject: POST payable_objects.
func createPayableObject(c *request) (response, error) {
	f := c.form()
	payable := payableObject{
		ContactID: f.iri("contactId", "contacts", true),
		ClubID:    f.iri("clubId", "clubs", true),
		Amount:    f.integer("amount", true, 1, maxAmount),
		ValidURL:  f.text("validUrl", false),
		CreatedAt: c.now,
	}
	checkout, code := f.iri("checkout", "checkouts", true), f.text("clubCode", true)
	f.choice("currency", true, currency)
	if paid := f.object("payableObjects", true); paid != nil {
		payable.SaleIDs = paid.iris("sales", "sales")
	}
	_, noContact := c.contactAt(payable.ContactID)
	at, noClub := c.clubAt(payable.ClubID)
	if err := cmp.Or(f.err(), noContact, noClub); err != nil {
		return response{}, err
	}
	if checkout != at.checkout() || slices.ContainsFunc(payable.SaleIDs, func(id int) bool { _, err := c.saleAt(id); return err != nil }) {
		return response{}, itemNotFound()
	}
	if code != at.Code {
		return response{}, invalid(violation{PropertyPath: "clubCode", Message: "This is not the code of the club."})
	}
	c.w.state.Payables = append(c.w.state.Payables, payable)
	return c.created(c.w.payableRecord(len(c.w.state.Payables)))
}

// iris reads a list of identifiers of a collection; a 404 when one is not.
func (f *form) iris(name, collection string) (ids []int) {
	var texts []string
	f.decode(name, false, &texts)
	for _, text := range texts {
		id := f.w.parseIRI(collection, text)
		if id == 0 {
			f.errors.refusal = itemNotFound()
		}
		ids = append(ids, id)
	}
	return ids
}

// payableAt returns the number of a request for a payment.
func (c *request) payableAt(id int) (int, error) {
	if id > len(c.w.state.Payables) || !c.sees(c.w.state.Payables[id-1].ClubID) {
		return 0, itemNotFound()
	}
	return id, nil
}
