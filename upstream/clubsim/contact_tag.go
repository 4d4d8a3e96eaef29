package clubsim

import "time"

// contactTag marks a contact; some offers are for certain tags only.
type contactTag struct {
	ID           int    `json:"id"`
	ContactID    int    `json:"contactId"`
	Name         string `json:"name"`
	ValidFrom    string `json:"validFrom"`
	ValidThrough string `json:"validThrough"`
	// Accounting tags describe the account. They have their own events and are not listed with the contact.
	Accounting bool `json:"accounting"`
	Deleted    bool `json:"deleted"`
}

// The names of the accounting tags.
const (
	tagInDebt      = "in debt"
	tagDirectDebit = "direct debit"
)

// noEndDate means no end, because a tag's validThrough is documented as a date.
const noEndDate = "2099-12-31"

// tagRecords are the tags that a contact is shown with, never null.
func (w *World) tagRecords(contactID int) []record {
	shown := w.state.Tags.where(func(t *contactTag) bool { return t.ContactID == contactID && !t.Accounting && !t.Deleted })
	return records(shown, w.tagRecord)
}

func (w *World) tagRecord(t *contactTag) record {
	return w.record("ContactTag", "contact_tags", t.ID, record{
		"contact": w.iri("contacts", t.ContactID), "name": t.Name, "validFrom": t.ValidFrom, "validThrough": t.ValidThrough,
	})
}

// tagAt returns a tag of a contact that the request may see. Accounting tags are only
// known from their events.
func (c *request) tagAt(id int) (*contactTag, error) {
	return visible(c.w.state.Tags.get(id), func(t *contactTag) bool {
		_, err := c.contactAt(t.ContactID)
		return err == nil && !t.Accounting && !t.Deleted
	})
}

// tagNames are the names of the contact's tags that are valid on a day.
func (st *state) tagNames(contactID int, on time.Time) []string {
	var names []string
	day := on.Format(time.DateOnly)
	for _, t := range st.Tags.Rows {
		if t.ContactID == contactID && !t.Deleted && !t.Accounting && t.ValidFrom <= day && day <= t.ValidThrough {
			names = append(names, t.Name)
		}
	}
	return names
}

// addTag gives a contact a tag, or extends the one of that name.
func (c *request) addTag(contactID int, name, from, through string) {
	for _, t := range c.w.state.Tags.Rows {
		if t.ContactID == contactID && t.Name == name && !t.Accounting && !t.Deleted {
			t.ValidThrough = max(t.ValidThrough, through)
			c.emit("contact_tag.updated", c.w.tagObject(t))
			return
		}
	}
	t := c.w.state.Tags.add(func(id int) contactTag {
		return contactTag{ID: id, ContactID: contactID, Name: name, ValidFrom: from, ValidThrough: through}
	})
	c.emit("contact_tag.created", c.w.tagObject(t))
}

// setAccountingTag sets or removes an accounting tag.
func (c *request) setAccountingTag(contactID int, name string, wanted bool) {
	for _, t := range c.w.state.Tags.Rows {
		if t.ContactID == contactID && t.Name == name && t.Accounting && !t.Deleted {
			if !wanted {
				t.Deleted = true
				c.emit("accounting_contact_tag.deleted", c.w.tagObject(t))
			}
			return
		}
	}
	if !wanted {
		return
	}
	t := c.w.state.Tags.add(func(id int) contactTag {
		from := c.now.Format(time.DateOnly)
		return contactTag{ID: id, ContactID: contactID, Name: name, ValidFrom: from, ValidThrough: noEndDate, Accounting: true}
	})
	c.emit("accounting_contact_tag.created", c.w.tagObject(t))
}
