package clubsim

import (
	"cmp"
	"time"
)

// The states of a sale. "settled": paid, or free and recorded; "deferred": owed.
const (
	saleBuilding = "building"
	saleSettled  = "settled"
	saleDeferred = "deferred"
)

// sale is a cart, and what became of it.
type sale struct {
	numbered
	State      string    `json:"state"`
	ContactID  int       `json:"contactId"`
	ClubID     int       `json:"clubId"`
	ClubCode   string    `json:"clubCode"`
	FamilyName string    `json:"contactFamilyName"`
	GivenName  string    `json:"contactGivenName"`
	Number     string    `json:"contactNumber"`
	Address    address   `json:"address"`
	Articles   []int     `json:"articles"`
	Invoice    int       `json:"invoice"` // zero: none yet
	OverdueAt  string    `json:"overdueAt"`
	CreatedAt  time.Time `json:"createdAt"`
}

// total is the amount to collect, in cents. A reduction never makes it negative.
func (st *state) total(s *sale) int {
	sum := 0
	for _, id := range s.Articles {
		sum += st.Articles.get(id).Price
	}
	return max(0, sum)
}

func (w *World) saleRecord(s *sale) record {
	return w.record("Sale", "sales", s.ID, record{
		"state": s.State, "contactId": w.iri("contacts", s.ContactID), "clubId": w.iri("clubs", s.ClubID), "clubCode": s.ClubCode,
		"contactFamilyName": orNil(s.FamilyName), "contactGivenName": orNil(s.GivenName), "contactNumber": orNil(s.Number),
		"address": orNil(s.Address), "checkoutId": w.iri("checkouts", clubByID(s.ClubID).checkout()),
		"totalTI": w.state.total(s), "priceCurrency": currency, "invoice": w.iriOrNil("invoices", s.Invoice),
		"postponedTo": orNil(s.OverdueAt), "articles": records(w.articles(s), w.articleRecord), "createdAt": w.timestamp(s.CreatedAt),
	})
}

// createSale: POST sales (section Sales).
func createSale(c *request) (response, error) {
	f := c.form()
	s := sale{State: saleBuilding, CreatedAt: c.now, Articles: []int{}}
	s.ContactID = f.iri("contactId", "contacts", true)
	s.ClubID = f.iri("clubId", "clubs", true)
	s.ClubCode = f.text("clubCode", true)
	s.readBuyer(f)
	if at := clubByID(s.ClubID); at != nil && s.ClubCode != "" && s.ClubCode != at.code {
		f.addViolation("clubCode", "This is not the code of the club.")
	}
	k, noContact := c.contactAt(s.ContactID)
	_, noClub := c.clubAt(s.ClubID)
	if err := cmp.Or(f.err(), noContact, noClub); err != nil {
		return response{}, err
	}
	if c.w.settings.FillSaleFromContact {
		s.FamilyName, s.GivenName = cmp.Or(s.FamilyName, k.FamilyName), cmp.Or(s.GivenName, k.GivenName)
		s.Number, s.Address = cmp.Or(s.Number, k.Number), cmp.Or(s.Address, k.Address)
	}
	return c.created(c.w.saleRecord(c.w.state.Sales.add(&s)))
}

// readBuyer reads the buyer's details, all of them optional.
func (s *sale) readBuyer(f *form) {
	s.FamilyName = cmp.Or(f.text("contactFamilyName", false), s.FamilyName)
	s.GivenName = cmp.Or(f.text("contactGivenName", false), s.GivenName)
	s.Number = cmp.Or(f.text("contactNumber", false), s.Number)
	if home := f.object("address", false); home != nil {
		s.Address = home.address(false)
	}
}

// updateSale: PUT sales/{saleId} fills in the buyer's particulars. An assumption: they are
// "optional at creation" and "needed before validation", so there must be a way to send
// them.
func updateSale(c *request, s *sale) (response, error) {
	f := c.form()
	next := *s
	next.readBuyer(f)
	if err := f.err(); err != nil {
		return response{}, err
	}
	*s = next
	return ok(c.w.saleRecord(s))
}

func (c *request) openSaleAt(id int) (*sale, error) {
	s, err := c.saleAt(id)
	if err != nil {
		return nil, err
	}
	if s.State != saleBuilding {
		return nil, badRequest("api.error.sale.not-editable", "The sale is recorded and cannot be changed any more.")
	}
	return s, nil
}

// postponeDue: POST sales/{saleId}/postpone_due. The contact owes the amount from then
// on; what was bought is delivered.
func postponeDue(c *request, s *sale) (response, error) {
	f := c.form()
	date := f.date("date", true)
	if err := cmp.Or(f.err(), c.validForRecording(s)); err != nil {
		return response{}, err
	}
	if c.w.state.total(s) == 0 {
		return response{}, badRequest("api.error.sale.nothing-due", "A sale of zero amount cannot be postponed.")
	}
	s.OverdueAt = date
	c.recordSale(s, saleDeferred)
	c.applyCredit(s.ContactID)
	return c.created(c.w.saleRecord(s))
}

// transitionSale: POST sales/{id}/transitions with validate, for zero amounts only.
func transitionSale(c *request, s *sale) (response, error) {
	f := c.form()
	f.choice("transition", true, "validate")
	if err := f.err(); err != nil {
		return response{}, err
	}
	if c.w.state.total(s) != 0 {
		return response{}, badRequest("api.error.sale.transition-not-allowed", "Only a sale of zero amount can be validated without a payment.")
	}
	if err := c.validForRecording(s); err != nil {
		return response{}, err
	}
	c.recordSale(s, saleSettled)
	return c.created(c.w.saleRecord(s))
}

func (c *request) validForRecording(s *sale) error {
	if wrong := c.w.check(s, c.now); len(wrong) > 0 {
		return invalid(wrong...)
	}
	return nil
}
