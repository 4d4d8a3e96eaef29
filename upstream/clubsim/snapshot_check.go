package clubsim

import (
	"errors"
	"fmt"
	"slices"
)

// verify refuses a state in which a record refers to one that does not exist.
func (st *state) verify() error {
	if st.Contacts.First != firstContact || len(st.Contacts.Rows) < len(personas) {
		return errors.New("contacts: the personas are missing")
	}
	return errors.Join(
		verifyRows("contacts", st.Contacts, func(id int, k *contact) bool { return k.ID == id && clubByID(k.ClubID) != nil && st.mergesEnd(k) }),
		verifyRows("sales", st.Sales, func(id int, s *sale) bool {
			return s.ID == id && st.hasContactAndClub(s.ContactID, s.ClubID) && st.hasArticles(s)
		}),
		verifyRows("articles", st.Articles, func(id int, a *article) bool { return a.ID == id && st.Sales.get(a.SaleID) != nil }),
		verifyRows("payments", st.Payments, func(id int, p *payment) bool {
			return p.ID == id && st.hasContactAndClub(p.ContactID, p.ClubID) && st.Sales.get(p.SaleID) != nil
		}),
		verifyRows("dues", st.Dues, func(id int, d *due) bool {
			return d.ID == id && st.hasContactAndClub(d.ContactID, d.ClubID) && st.Sales.get(d.SaleID) != nil
		}),
		verifyRows("entries", st.Entries, func(id int, e *entry) bool { return e.ID == id }),
		verifyRows("benefits", st.Benefits, func(id int, b *benefit) bool { return b.ID == id && st.hasContactAndClub(b.ContactID, b.ClubID) }),
		verifyRows("tags", st.Tags, func(id int, t *contactTag) bool { return t.ID == id && st.Contacts.get(t.ContactID) != nil }),
		verifyRows("mandates", st.Mandates, func(id int, m *mandate) bool { return m.ID == id && st.hasContactAndClub(m.ContactID, m.ClubID) }),
		verifyRows("signatureRequests", st.Signatures, func(id int, q *signatureRequest) bool {
			return q.ID == id && st.hasContactAndClub(q.ContactID, q.ClubID) && (q.MandateID == 0 || st.Mandates.get(q.MandateID) != nil)
		}),
		verifyRows("sms", st.SMS, func(id int, m *sms) bool { return m.ID == id && st.Contacts.get(m.ContactID) != nil }),
		verifyRows("attendees", st.Attendees, func(id int, a *attendee) bool { return a.ID == id && st.hasContactAndClub(a.ContactID, a.ClubID) }),
		verifyRows("classEvents", st.ClassEvents, func(id int, e *classEvent) bool { return e.ID == id && clubByID(e.ClubID) != nil }),
		verifyRows("events", st.Events, func(id int, e *eventRecord) bool { return e.ID == id }),
	)
}

func (st *state) hasContactAndClub(contactID, clubID int) bool {
	return st.Contacts.get(contactID) != nil && clubByID(clubID) != nil
}

func (st *state) hasArticles(s *sale) bool {
	return !slices.ContainsFunc(s.Articles, func(id int) bool { return st.Articles.get(id) == nil })
}

// mergesEnd reports whether following MergedInto from a contact ends.
func (st *state) mergesEnd(k *contact) bool {
	for range st.Contacts.Rows {
		if k.MergedInto == 0 {
			return true
		}
		if k = st.Contacts.get(k.MergedInto); k == nil {
			return false
		}
	}
	return false
}

// maxFirst limits the first number of a table, so that numbers never overflow.
const maxFirst = 1_000_000

func verifyRows[T any](name string, t table[T], sound func(id int, row *T) bool) error {
	if t.First < 1 || t.First > maxFirst {
		return fmt.Errorf("%s: first is out of bounds", name)
	}
	for i, row := range t.Rows {
		if row == nil || !sound(t.First+i, row) {
			return fmt.Errorf("%s: record %d is not sound", name, t.First+i)
		}
	}
	return nil
}
