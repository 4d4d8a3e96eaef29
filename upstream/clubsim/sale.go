package clubsim

import (
	"cmp"
	"fmt"
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
	SignedAt   time.Time `json:"signedAt"`  // with the mandate; zero: not signed, which is usual
	UpdatedAt  time.Time `json:"updatedAt"` // when it was recorded; zero: not yet

	TermsAccepted []time.Time `json:"termsAccepted,omitempty"` // the terms of sale: each time
}

// total is the amount to collect, in cents. A reduction never makes it negative.
func (st *state) total(sale *sale) int {
	sum := 0
	for _, id := range sale.Articles {
		sum += st.Articles.get(id).Price
	}
	return max(0, sum)
}

// channelWeb is the channel of every sale.
const channelWeb = "web"

// invoiceReference is what an invoice shows as its number; empty if there is none yet.
func (s *sale) invoiceReference() string {
	if s.Invoice == 0 {
		return ""
	}
	return fmt.Sprintf("%s-%06d", s.ClubCode, s.Invoice)
}

func (w *World) saleRecord(sale *sale) record {
	members := record{
		"state": sale.State, "contactId": w.iri("contacts", sale.ContactID), "clubId": w.iri("clubs", sale.ClubID), "clubCode": sale.ClubCode,
		"contactFamilyName": orNil(sale.FamilyName), "contactGivenName": orNil(sale.GivenName), "contactNumber": orNil(sale.Number),
		"address": orNil(sale.Address), "checkoutId": w.iri("checkouts", w.catalogue.club(sale.ClubID).checkout()),
		"totalTI": w.state.total(sale), "priceCurrency": currency, "invoice": w.iriOrNil("invoices", sale.Invoice),
		"postponedTo": orNil(sale.OverdueAt), "articles": records(w.articles(sale), w.articleRecord), "createdAt": w.timestamp(sale.CreatedAt),
		"invoiceId": w.iriOrNil("invoices", sale.Invoice), "invoiceReference": orNil(sale.invoiceReference()), "channel": channelWeb,
		"updatedAt": w.timestamp(cmp.Or(sale.UpdatedAt, sale.CreatedAt)),
	}
	if !sale.SignedAt.IsZero() {
		members["signedAt"] = w.timestamp(sale.SignedAt)
	}
	return w.record("Sale", "sales", sale.ID, members)
}

// listSales: GET sales. The description does not show it, installations have it.
func listSales(call *request) (response, error) {
	matches, err := call.saleFilter("")
	if err != nil {
		return response{}, err
	}
	return paginate(call, "Sale", filter(call.w.state.Sales.Rows, matches), call.w.saleRecord)
}

// saleFilter reads the filters by which installations list sales. In a list of articles, their names begin with "sale.". What the request
// may not see never matches.
func (c *request) saleFilter(prefix string) (matches func(*sale) bool, err error) {
	if !c.w.settings.SaleFilters {
		return func(s *sale) bool { return c.listed(s.ClubID, nil) && c.caller.maySee(s.ContactID) }, nil
	}
	clubIDs, noClub := c.filterIRIs(prefix+"clubId", "clubs")
	contactIDs, noContact := c.filterIRIs(prefix+"contactId", "contacts")
	invoiceIDs, noInvoice := c.filterIRIs(prefix+"invoiceId", "invoices")
	_, noMoment := c.within(prefix+"createdAt", c.now)
	query := c.req.query
	references, channels, states := query.all(prefix+"invoiceReference"), query.all(prefix+"channel"), query.all(prefix+"state")
	return func(s *sale) bool {
		created, _ := c.within(prefix+"createdAt", s.CreatedAt)
		return c.listed(s.ClubID, clubIDs) && c.caller.maySee(s.ContactID) && created && wanted(contactIDs, s.ContactID) &&
			wanted(invoiceIDs, s.Invoice) &&
			wanted(references, s.invoiceReference()) && wanted(channels, channelWeb) && wanted(states, s.State)
	}, cmp.Or(noClub, noContact, noInvoice, noMoment)
}

// createSale: POST sales (section Sales).
func createSale(call *request) (response, error) {
	form := call.form()
	sale := sale{State: saleBuilding, CreatedAt: call.now, Articles: []int{}}
	sale.ContactID = form.iri("contactId", "contacts", true)
	sale.ClubID = form.iri("clubId", "clubs", true)
	sale.ClubCode = form.text("clubCode", true)
	sale.readBuyer(form)
	if at := call.w.catalogue.club(sale.ClubID); at != nil && sale.ClubCode != "" && sale.ClubCode != at.Code {
		form.addViolation("clubCode", "This is not the code of the club.")
	}
	contact, noContact := call.contactAt(sale.ContactID)
	_, noClub := call.clubAt(sale.ClubID)
	if err := cmp.Or(form.err(), noContact, noClub); err != nil {
		return response{}, err
	}
	if call.w.settings.FillSaleFromContact {
		sale.FamilyName, sale.GivenName = cmp.Or(sale.FamilyName, contact.FamilyName), cmp.Or(sale.GivenName, contact.GivenName)
		sale.Number, sale.Address = cmp.Or(sale.Number, contact.Number), cmp.Or(sale.Address, contact.Address)
	}
	return call.created(call.w.saleRecord(call.w.state.Sales.add(&sale)))
}

// readBuyer reads the buyer's details, all of them optional.
func (s *sale) readBuyer(form *form) {
	s.FamilyName = cmp.Or(form.text("contactFamilyName", false), s.FamilyName)
	s.GivenName = cmp.Or(form.text("contactGivenName", false), s.GivenName)
	s.Number = cmp.Or(form.text("contactNumber", false), s.Number)
	if home := form.object("address", false); home != nil {
		s.Address = home.address(false)
	}
}

// updateSale: PUT sales/{saleId} fills in the buyer's particulars. An assumption: they are
// "optional at creation" and "needed before validation", so there must be a way to send
// them.
func updateSale(call *request, sale *sale) (response, error) {
	f := call.form()
	next := *sale
	next.readBuyer(f)
	if err := f.err(); err != nil {
		return response{}, err
	}
	*sale = next
	return ok(call.w.saleRecord(sale))
}

func (c *request) openSaleAt(id int) (*sale, error) {
	sale, err := c.saleAt(id)
	if err != nil {
		return nil, err
	}
	if sale.State != saleBuilding {
		return nil, badRequest("api.error.sale.not-editable", "The sale is recorded and cannot be changed any more.")
	}
	return sale, nil
}

// postponeDue: POST sales/{saleId}/postpone_due. The contact owes the amount from then
// on; what was bought is delivered.
func postponeDue(call *request, sale *sale) (response, error) {
	f := call.form()
	date := f.date("date", true)
	if err := cmp.Or(f.whole(), call.validForRecording(sale), call.firstPayment(sale)); err != nil {
		return response{}, err
	}
	if call.w.state.total(sale) == 0 {
		return response{}, badRequest("api.error.sale.nothing-due", "A sale of zero amount cannot be postponed.")
	}
	sale.OverdueAt = date
	call.recordSale(sale, saleDeferred)
	call.applyCredit(sale.ContactID)
	return call.created(call.w.saleRecord(sale))
}

// transitionSale: POST sales/{id}/transitions with validate, for zero amounts only.
func transitionSale(call *request, sale *sale) (response, error) {
	f := call.form()
	f.choice("transition", true, "validate")
	if err := f.whole(); err != nil {
		return response{}, err
	}
	if call.w.state.total(sale) != 0 {
		return response{}, badRequest("api.error.sale.transition-not-allowed", "Only a sale of zero amount can be validated without a payment.")
	}
	if err := cmp.Or(call.validForRecording(sale), call.firstPayment(sale)); err != nil {
		return response{}, err
	}
	call.recordSale(sale, saleSettled)
	return call.created(call.w.saleRecord(sale))
}

func (c *request) validForRecording(sale *sale) error {
	if wrong := c.w.check(sale, c.now); len(wrong) > 0 {
		return invalid(wrong...)
	}
	return nil
}
