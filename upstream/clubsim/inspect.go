package clubsim

import (
	"slices"
	"time"
)

// Contact is a contact with everything that the world knows of it.
type Contact struct {
	ID         string // IRI
	Status     string
	ClubID     string
	GivenName  string
	FamilyName string
	Mobile     string
	Tags       []string  // accounting tags included
	Debt       int       // cents, as in the account statistics
	Credit     int       // cents on account that paid for nothing yet
	Benefits   []Benefit // what sales brought the contact
	Deleted    bool      // deleted, or merged into another contact
}

// Benefit is what a contact got from a sale: a subscription, an option, a badge, a
// booklet, a package, a countermark, a trial, goods from the shop.
type Benefit struct {
	ID           string // IRI
	Kind         string // product category
	SaleID       string // empty: older than the world
	Name         string
	ValidFrom    string
	ValidThrough string    // empty: without end
	Quantity     int       // sessions or tokens credited
	State        string    // empty: in force; else "disabled" or "deleted"
	CanceledAt   time.Time // online, and valid until ValidThrough; zero: not cancelled
}

// Sale is a sale with its lines.
type Sale struct {
	ID        string // IRI
	State     string // building, settled or deferred
	Buyer     string // the contact's name
	ClubCode  string
	Total     int    // cents
	DueFrom   string // of a deferred sale; overdue after this date
	Lines     []Line
	Problems  []string // building: the codes of what its check finds
	CreatedAt time.Time
	SignedAt  time.Time // zero: not signed, which is usual

	TermsAccepted []time.Time // the terms of sale, where the clubs have them: each time
	Contract      []byte      // its document, where installations have one; nil: the sale is open
}

// Line is an article of a sale.
type Line struct {
	Name   string
	Price  int    // cents
	Parent string // IRI of the line that brought it along; empty: added by the buyer
}

// Contacts returns all contacts, oldest first.
func (w *World) Contacts() []Contact {
	return inspectAll(w, func(st *state) []*contact { return st.Contacts.Rows }, w.inspectContact)
}

// Sales returns all sales, oldest first.
func (w *World) Sales() []Sale {
	return inspectAll(w, func(st *state) []*sale { return st.Sales.Rows }, w.inspectSale)
}

// inspectAll describes all records of one kind, under the world's lock.
func inspectAll[T, R any](world *World, of func(*state) []*T, describe func(*T) R) []R {
	world.mu.Lock()
	defer world.mu.Unlock()
	return records(of(world.state), describe)
}

// Sale returns a sale by its IRI.
func (w *World) Sale(iri string) (Sale, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.state.Sales.get(w.parseIRI("sales", iri))
	if s == nil {
		return Sale{}, false
	}
	return w.inspectSale(s), true
}

func (w *World) inspectContact(contact *contact) Contact {
	seen := Contact{
		ID:         w.iri("contacts", contact.ID),
		Status:     w.status(contact),
		ClubID:     w.iri("clubs", contact.ClubID),
		GivenName:  contact.GivenName,
		FamilyName: contact.FamilyName,
		Mobile:     contact.Mobile,
		Debt:       w.debt(contact.ID, w.now()),
		Deleted:    contact.Deleted,
	}
	for _, t := range w.state.tagsOf(contact.ID) {
		if !t.Deleted {
			seen.Tags = append(seen.Tags, t.Name)
		}
	}
	for _, p := range w.state.paymentsOf(contact.ID) {
		seen.Credit += p.Left
	}
	own := filter(w.state.Benefits.Rows, func(b *benefit) bool { return b.ContactID == contact.ID })
	seen.Benefits = records(own, w.inspectBenefit)
	return seen
}

func (w *World) inspectBenefit(benefit *benefit) Benefit {
	seen := Benefit{
		ID:           w.iri(benefitCollections[benefit.Kind], benefit.ID),
		Kind:         benefit.Kind,
		Name:         benefit.Name,
		ValidFrom:    benefit.ValidFrom,
		ValidThrough: benefit.ValidThrough,
		Quantity:     benefit.Quantity,
		State:        benefit.State,
		CanceledAt:   benefit.CanceledAt,
	}
	if benefit.SaleID != 0 {
		seen.SaleID = w.iri("sales", benefit.SaleID)
	}
	return seen
}

func (w *World) inspectSale(sale *sale) Sale {
	k := w.state.Contacts.get(sale.ContactID)
	seen := Sale{
		ID:        w.iri("sales", sale.ID),
		State:     sale.State,
		Buyer:     k.GivenName + " " + k.FamilyName,
		ClubCode:  sale.ClubCode,
		Total:     w.state.total(sale),
		DueFrom:   sale.OverdueAt,
		CreatedAt: sale.CreatedAt,
		SignedAt:  sale.SignedAt,

		TermsAccepted: slices.Clone(sale.TermsAccepted),
	}
	if sale.State != saleBuilding {
		seen.Contract = contractOf(sale)
	}
	for _, a := range w.articles(sale) {
		line := Line{Name: a.Name, Price: a.Price}
		if a.Parent != 0 {
			line.Parent = w.iri("articles", a.Parent)
		}
		seen.Lines = append(seen.Lines, line)
	}
	if sale.State == saleBuilding {
		seen.Problems = records(w.check(sale, w.now()), func(v violation) string { return v.Code })
	}
	return seen
}
