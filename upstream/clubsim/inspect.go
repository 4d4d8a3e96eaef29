package clubsim

import "time"

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
	ValidThrough string // empty: without end
	Quantity     int    // sessions or tokens credited
	State        string // empty: in force; else "disabled" or "deleted"
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
func inspectAll[T, R any](w *World, of func(*state) []*T, describe func(*T) R) []R {
	w.mu.Lock()
	defer w.mu.Unlock()
	return records(of(w.state), describe)
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

func (w *World) inspectContact(k *contact) Contact {
	seen := Contact{
		ID:         w.iri("contacts", k.ID),
		Status:     w.status(k),
		ClubID:     w.iri("clubs", k.ClubID),
		GivenName:  k.GivenName,
		FamilyName: k.FamilyName,
		Mobile:     k.Mobile,
		Debt:       w.debt(k.ID, w.now()),
		Deleted:    k.Deleted,
	}
	for _, t := range w.state.tagsOf(k.ID) {
		if !t.Deleted {
			seen.Tags = append(seen.Tags, t.Name)
		}
	}
	for _, p := range w.state.paymentsOf(k.ID) {
		seen.Credit += p.Left
	}
	own := filter(w.state.Benefits.Rows, func(b *benefit) bool { return b.ContactID == k.ID })
	seen.Benefits = records(own, w.inspectBenefit)
	return seen
}

func (w *World) inspectBenefit(b *benefit) Benefit {
	seen := Benefit{
		ID:           w.iri(benefitCollections[b.Kind], b.ID),
		Kind:         b.Kind,
		Name:         b.Name,
		ValidFrom:    b.ValidFrom,
		ValidThrough: b.ValidThrough,
		Quantity:     b.Quantity,
		State:        b.State,
	}
	if b.SaleID != 0 {
		seen.SaleID = w.iri("sales", b.SaleID)
	}
	return seen
}

func (w *World) inspectSale(s *sale) Sale {
	k := w.state.Contacts.get(s.ContactID)
	seen := Sale{
		ID:        w.iri("sales", s.ID),
		State:     s.State,
		Buyer:     k.GivenName + " " + k.FamilyName,
		ClubCode:  s.ClubCode,
		Total:     w.state.total(s),
		DueFrom:   s.OverdueAt,
		CreatedAt: s.CreatedAt,
	}
	for _, a := range w.articles(s) {
		line := Line{Name: a.Name, Price: a.Price}
		if a.Parent != 0 {
			line.Parent = w.iri("articles", a.Parent)
		}
		seen.Lines = append(seen.Lines, line)
	}
	if s.State == saleBuilding {
		seen.Problems = records(w.check(s, w.now()), func(v violation) string { return v.Code })
	}
	return seen
}
