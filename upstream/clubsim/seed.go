package clubsim

import (
	"cmp"
	"time"
)

// firstContact is the number of the first persona; the others follow.
const firstContact = 1001

// seed makes the data of a new world: the personas with what they have and owe, and a
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
	for _, p := range personas {
		st.addContact(p.contact(now))
	}
	st.seedMember(now)
	st.seedDebt(now)
	st.seedMemberships(now)
	st.seedTimetable(now)
	return st
}

func (st *state) seedMember(now time.Time) {
	contact := st.Contacts.get(personaID("customer"))
	from := now.AddDate(0, -3, 0).Format(time.DateOnly)
	through := now.AddDate(0, 9, -1).Format(time.DateOnly)
	for _, b := range []benefit{
		{
			Kind:         kindSubscription,
			Name:         "Year Pass",
			ValidFrom:    from,
			ValidThrough: through,
			terms:        terms{OfferID: 101, EngagedThrough: through},
		},
		{Kind: kindBadge, Name: "Access Badge", ValidFrom: from},
	} {
		b.ContactID, b.ClubID = contact.ID, contact.ClubID
		st.Benefits.add(&b)
	}
	for _, t := range []contactTag{{Name: "member", ValidThrough: through}, {Name: "corporate", ValidThrough: noEndDate}} {
		t.ContactID, t.ValidFrom = contact.ID, from
		st.Tags.add(&t)
	}
}

// seedMemberships gives two members a subscription without end: one whose minimum term of a year is running, and one whose has ended.
func (st *state) seedMemberships(now time.Time) {
	for _, member := range []struct {
		key    string
		months int // since the start
	}{{"committed", 5}, {"flexible", 14}} {
		contact, start := st.Contacts.get(personaID(member.key)), now.AddDate(0, -member.months, 0)
		st.Benefits.add(&benefit{
			Kind:      kindSubscription,
			ContactID: contact.ID,
			ClubID:    contact.ClubID,
			Name:      catalogue().offers[901].Name,
			ValidFrom: start.Format(time.DateOnly),
			terms: terms{
				OfferID:        901,
				DebitDay:       clubByID(contact.ClubID).debitDays[0],
				EngagedThrough: start.AddDate(1, 0, -1).Format(time.DateOnly),
			},
		})
		st.Tags.add(&contactTag{ContactID: contact.ID, Name: tagMember, ValidFrom: start.Format(time.DateOnly), ValidThrough: noEndDate})
	}
}

// seedDebt gives the debtor two deferred and unpaid sales, overdue for three months and for one. Together they exceed
// the limit of the club.
func (st *state) seedDebt(now time.Time) {
	contact := st.Contacts.get(personaID("debtor"))
	at := clubByID(contact.ClubID)
	for _, owed := range []struct {
		offer, price, months int
		name                 string
	}{{2801, 9900, -4, "10-Visit Booklet"}, {4501, 2500, -2, "Club T-Shirt"}} {
		made := now.AddDate(0, owed.months, 0)
		overdue := made.AddDate(0, 1, 0).Format(time.DateOnly)
		sale := st.Sales.add(&sale{
			State:      saleDeferred,
			ContactID:  contact.ID,
			ClubID:     at.id,
			ClubCode:   at.code,
			FamilyName: contact.FamilyName,
			GivenName:  contact.GivenName,
			Number:     contact.Number,
			Address:    contact.Address,
			OverdueAt:  overdue,
			CreatedAt:  made,
		})
		a := st.Articles.add(&article{SaleID: sale.ID, OfferID: owed.offer, Name: owed.name, Price: owed.price})
		sale.Articles, sale.Invoice = []int{a.ID}, sale.ID
		st.Dues.add(&due{
			SaleID:    sale.ID,
			ContactID: contact.ID,
			ClubID:    at.id,
			Amount:    owed.price,
			Left:      owed.price,
			OverdueAt: overdue,
			CreatedAt: made,
		})
		st.postEntry(entry{Kind: "invoice", SaleID: sale.ID}, dueAccount(contact.ID), salesAccount(at.id), owed.price, made)
	}
	from := now.AddDate(0, -4, 0).Format(time.DateOnly)
	st.Tags.add(&contactTag{
		ContactID:    contact.ID,
		Name:         tagInDebt,
		ValidFrom:    from,
		ValidThrough: noEndDate,
		Accounting:   true,
	})
}

// classNames are the classes of a day, in the order of their hours.
var classNames = []struct {
	name   string
	hour   int
	places int
}{{"Morning Yoga", 7, 18}, {"Lunch HIIT", 12, 20}, {"Reformer Pilates", 17, 6}, {"Boxing", 19, 14}}

// seedTimetable fills the timetable of every club for two weeks, more than one page of classes, and books the
// customer into the first class of its club.
func (st *state) seedTimetable(now time.Time) {
	tomorrow := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC)
	for _, at := range clubs {
		for day := range 14 {
			for i, class := range classNames {
				start := tomorrow.AddDate(0, 0, day).Add(time.Duration(class.hour) * time.Hour)
				st.ClassEvents.add(&classEvent{
					ClubID:   at.id,
					Activity: i + 1,
					Name:     class.name,
					StartsAt: start,
					EndsAt:   start.Add(time.Hour),
					Places:   class.places,
				})
			}
		}
	}
	first := st.ClassEvents.Rows[0]
	st.Attendees.add(&attendee{ContactID: personaID("customer"), EventID: first.ID, ClubID: first.ClubID, CreatedAt: now})
}

// contact makes the persona's record, without a number.
func (p persona) contact(now time.Time) *contact {
	return &contact{
		ClubID:     p.club,
		Status:     p.status,
		FamilyName: p.familyName,
		GivenName:  p.givenName,
		Gender:     p.gender,
		BirthDate:  cmp.Or(p.birthDate, now.AddDate(-16, 0, -1).Format(time.DateOnly)),
		Email:      p.key + "@example.com",
		Mobile:     p.mobile,
		Address:    clubByID(p.club).address,
		Optins:     defaultOptins(),
		CreatedAt:  now,
	}
}

// persona is a contact that every world has from the start.
type persona struct {
	key, givenName, familyName, gender string
	birthDate                          string // empty: sixteen years before the seed
	club                               int
	status                             string
	mobile                             string
	description                        string
}

// personas are the first contacts of a world, numbered from firstContact.
var personas = []persona{
	{
		key:         "customer",
		givenName:   "Camille",
		familyName:  "Laurent",
		gender:      "female",
		birthDate:   "1988-04-12",
		club:        11,
		status:      statusCustomer,
		mobile:      "+33601020301",
		description: "a member in good standing, with a Year Pass and the tag corporate",
	},
	{
		key:         "debtor",
		givenName:   "Denis",
		familyName:  "Moreau",
		gender:      "male",
		birthDate:   "1979-09-30",
		club:        11,
		status:      statusCustomer,
		mobile:      "+33601020302",
		description: "owes 124.00 for two deferred sales, more than the club's limit for subscriptions",
	},
	{
		key:         "prospect",
		givenName:   "Paula",
		familyName:  "Silva",
		gender:      "female",
		birthDate:   "1995-01-23",
		club:        13,
		status:      statusProspect,
		mobile:      "+33601020303",
		description: "known in Lyon, about to register in Paris: migrates with her own access token",
	},
	{
		key:         "former",
		givenName:   "Felix",
		familyName:  "Bernard",
		gender:      "male",
		birthDate:   "1984-11-05",
		club:        12,
		status:      statusFormer,
		mobile:      "+33601020304",
		description: "left two years ago; may move to another club by SMS code",
	},
	{
		key:         "banned",
		givenName:   "Bruno",
		familyName:  "Keller",
		gender:      "male",
		birthDate:   "1990-07-19",
		club:        11,
		status:      statusBanned,
		mobile:      "+33601020305",
		description: "banned: sales fail their check",
	},
	{
		key:         "minor",
		givenName:   "Mia",
		familyName:  "Dubois",
		gender:      "female",
		club:        11,
		status:      statusProspect,
		mobile:      "+33601020306",
		description: "sixteen: the check refuses offers from 18 such as 401 and from 60 such as 501; the Junior Term, 601, suits",
	},
	{
		key:         "committed",
		givenName:   "Clara",
		familyName:  "Petit",
		gender:      "female",
		birthDate:   "1992-06-17",
		club:        13,
		status:      statusCustomer,
		mobile:      "+33601020307",
		description: "a member for five months, with a minimum term of twelve; can cancel online with the setting onlineCancellation",
	},
	{
		key:         "flexible",
		givenName:   "Emil",
		familyName:  "Roux",
		gender:      "male",
		birthDate:   "1986-02-08",
		club:        13,
		status:      statusCustomer,
		mobile:      "+33601020308",
		description: "a member for fourteen months, whose minimum term has ended: can leave after two weeks' notice",
	},
	{
		key:         "ward",
		givenName:   "Lou",
		familyName:  "Garnier",
		gender:      "other",
		club:        12,
		status:      statusProspect,
		mobile:      "+33601020309",
		description: "sixteen, at a club that asks for a guardian: the number is that of the mother, Anne Garnier, who concludes and pays",
	},
}

func personaID(key string) int {
	for i, p := range personas {
		if p.key == key {
			return firstContact + i
		}
	}
	return 0
}

// Persona is a contact that every world has from the start, with fresh tokens.
type Persona struct {
	Key        string `json:"key"` // customer, debtor, prospect, former, banned, minor, committed, flexible, ward
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
	list := make([]Persona, len(personas))
	for i, persona := range personas {
		contact := w.state.Contacts.get(firstContact + i)
		list[i] = Persona{
			Key:           persona.key,
			ContactID:     w.iri("contacts", contact.ID),
			ClubID:        w.iri("clubs", contact.ClubID),
			Status:        w.status(contact),
			GivenName:     contact.GivenName,
			FamilyName:    contact.FamilyName,
			IdentityToken: w.identityToken(contact),
			AccessToken:   w.accessToken(caller{Contact: contact.ID}, now),
			Description:   persona.description,
		}
	}
	return list
}
