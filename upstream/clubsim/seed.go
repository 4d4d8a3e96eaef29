package clubsim

import (
	"cmp"
	"slices"
	"time"
)

// firstContact is the number of the first person of the catalogue; the others follow.
const firstContact = 1001

// seed makes the data of a new world: the persons of the catalogue with what they own and owe, and a
// timetable. All dates derive from the day of the seed.
func (w *World) seed(now time.Time) *state {
	st := &state{
		Contacts:    table[*contact]{First: firstContact},
		Sales:       table[*sale]{First: 5001},
		Articles:    table[*article]{First: 6001},
		Payments:    table[*payment]{First: 7001},
		Dues:        table[*due]{First: 1},
		Entries:     table[*entry]{First: 1},
		Benefits:    table[*benefit]{First: 1},
		Tags:        table[*contactTag]{First: 1},
		Mandates:    table[*mandate]{First: 3001},
		Signatures:  table[*signatureRequest]{First: 4001},
		SMS:         table[*sms]{First: 1},
		Attendees:   table[*attendee]{First: 1},
		ClassEvents: table[*classEvent]{First: 1},
		Events:      table[*eventRecord]{First: 1},
	}
	st.index()
	for _, p := range w.catalogue.Persons {
		w.seedPerson(st, p, now)
	}
	w.seedTimetable(st, now)
	return st
}

// seedPerson adds a person with what it owns and owes.
func (w *World) seedPerson(st *state, p *person, now time.Time) {
	contact, first := st.addContact(p.contact(w.catalogue.club(p.Club), now)), now
	for _, held := range p.Owns {
		start := held.boughtAt(now)
		if start.Before(first) {
			first = start
		}
		w.seedBenefits(st, contact, held, start)
	}
	for _, name := range p.Tags {
		st.Tags.add(&contactTag{ContactID: contact.ID, Name: name, ValidFrom: first.Format(time.DateOnly), ValidThrough: noEndDate})
	}
	w.seedDebts(st, contact, p.Owes, now)
}

// seedBenefits gives a contact what it has bought.
func (w *World) seedBenefits(st *state, contact *contact, held holding, start time.Time) {
	offer, from := w.catalogue.offers[held.Offer], start.Format(time.DateOnly)
	for _, b := range offer.product.behaviors {
		through := lastDay(start, b.Validity)
		made := st.Benefits.add(&benefit{
			Kind:         b.Kind,
			ContactID:    contact.ID,
			ClubID:       contact.ClubID,
			Name:         cmp.Or(held.Name, offer.Name),
			ValidFrom:    from,
			ValidThrough: through,
			Quantity:     b.Quantity,
		})
		if b.Kind != kindSubscription {
			continue
		}
		made.terms = terms{OfferID: offer.ID, EngagedThrough: cmp.Or(lastDay(start, held.Commitment), through)}
		if offer.debited() {
			made.DebitDay = w.catalogue.club(contact.ClubID).DebitDays[0]
		}
		st.Tags.add(&contactTag{ContactID: contact.ID, Name: tagMember, ValidFrom: from, ValidThrough: cmp.Or(through, noEndDate)})
	}
}

// lastDay is the last day of a duration that begins on a day; empty if there is none.
func lastDay(start time.Time, duration string) string {
	if duration == "" {
		return ""
	}
	return mustPeriod(duration).after(start).AddDate(0, 0, -1).Format(time.DateOnly)
}

// seedDebts gives a contact deferred and unpaid sales.
func (w *World) seedDebts(st *state, contact *contact, owed []holding, now time.Time) {
	at, first := w.catalogue.club(contact.ClubID), now
	for _, held := range owed {
		offer, made := w.catalogue.offers[held.Offer], held.boughtAt(now)
		if made.Before(first) {
			first = made
		}
		overdue := made.AddDate(0, 1, 0).Format(time.DateOnly)
		sale := st.Sales.add(&sale{
			State:      saleDeferred,
			ContactID:  contact.ID,
			ClubID:     at.ID,
			ClubCode:   at.Code,
			FamilyName: contact.FamilyName,
			GivenName:  contact.GivenName,
			Number:     contact.Number,
			Address:    contact.Address,
			OverdueAt:  overdue,
			CreatedAt:  made,
		})
		a := st.Articles.add(&article{SaleID: sale.ID, OfferID: offer.ID, Name: cmp.Or(held.Name, offer.Name), Price: offer.Total})
		sale.Articles, sale.Invoice = []int{a.ID}, sale.ID
		st.Dues.add(&due{
			SaleID:    sale.ID,
			ContactID: contact.ID,
			ClubID:    at.ID,
			Amount:    offer.Total,
			Left:      offer.Total,
			OverdueAt: overdue,
			CreatedAt: made,
		})
		st.postEntry(entry{Kind: "invoice", SaleID: sale.ID}, dueAccount(contact.ID), salesAccount(at.ID), offer.Total, made)
	}
	if len(owed) > 0 {
		st.Tags.add(&contactTag{
			ContactID:    contact.ID,
			Name:         tagInDebt,
			ValidFrom:    first.Format(time.DateOnly),
			ValidThrough: noEndDate,
			Accounting:   true,
		})
	}
}

// classNames are the classes of a day, in the order of their hours.
var classNames = []struct {
	name   string
	hour   int
	places int
}{{"Morning Yoga", 7, 18}, {"Lunch HIIT", 12, 20}, {"Reformer Pilates", 17, 6}, {"Boxing", 19, 14}}

// maxClasses is how many classes the timetables of a world have in all, so that a world of many clubs is made as fast as others.
const maxClasses = 2400

// seedTimetable fills the timetable of every club for two weeks, more than one page of classes, or for fewer days where there are many
// clubs, and books the first customer into the first class.
func (w *World) seedTimetable(st *state, now time.Time) {
	tomorrow := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC)
	for _, at := range w.catalogue.Clubs {
		for day := range max(1, min(14, maxClasses/len(classNames)/len(w.catalogue.Clubs))) {
			for i, class := range classNames {
				start := tomorrow.AddDate(0, 0, day).Add(time.Duration(class.hour) * time.Hour)
				st.ClassEvents.add(&classEvent{
					ClubID:   at.ID,
					Activity: i + 1,
					Name:     class.name,
					StartsAt: start,
					EndsAt:   start.Add(time.Hour),
					Places:   class.places,
				})
			}
		}
	}
	member := slices.IndexFunc(w.catalogue.Persons, func(p *person) bool { return p.Status == statusCustomer })
	if first := st.ClassEvents.Rows[0]; member >= 0 {
		st.Attendees.add(&attendee{ContactID: firstContact + member, EventID: first.ID, ClubID: first.ClubID, CreatedAt: now})
	}
}

// Persona is a contact that every world has from the start, with fresh tokens.
type Persona struct {
	Key        string `json:"key"`
	ContactID  string `json:"contactId"`
	ClubID     string `json:"clubId"`
	Status     string `json:"status"`
	GivenName  string `json:"givenName"`
	FamilyName string `json:"familyName"`
	// IdentityToken is a JWT as the club's own login signs it: sub is the contact's number,
	// club its club's number, aud the client token; valid for ten minutes.
	IdentityToken string `json:"identityToken"`
	AccessToken   string `json:"accessToken"` // authenticates as this contact at the club system
	Description   string `json:"description"`
}

// Personas returns the personas in their current state.
func (w *World) Personas() []Persona {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	list := make([]Persona, len(w.catalogue.Persons))
	for i, p := range w.catalogue.Persons {
		contact := w.state.Contacts.get(firstContact + i)
		list[i] = Persona{
			Key:           p.Key,
			ContactID:     w.iri("contacts", contact.ID),
			ClubID:        w.iri("clubs", contact.ClubID),
			Status:        w.status(contact),
			GivenName:     contact.GivenName,
			FamilyName:    contact.FamilyName,
			IdentityToken: w.identityToken(contact),
			AccessToken:   w.accessToken(caller{Contact: contact.ID}, now),
			Description:   p.Description,
		}
	}
	return list
}
