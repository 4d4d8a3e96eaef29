package clubsim

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The status values of a contact. On the wire, the literal for a former customer is a
// setting.
const (
	statusProspect = "prospect"
	statusTemp     = "temp"
	statusCustomer = "customer"
	statusFormer   = "former_customer"
	statusBanned   = "banned"
)

// contact is a person known to a club.
type contact struct {
	numbered
	ClubID     int              `json:"clubId"`
	Number     string           `json:"number"`
	Status     string           `json:"status"`
	FamilyName string           `json:"familyName"`
	GivenName  string           `json:"givenName"`
	Gender     string           `json:"gender"`
	BirthDate  string           `json:"birthDate"`
	Email      string           `json:"email"`
	Mobile     string           `json:"mobile"`
	Address    address          `json:"address"`
	SourceID   int              `json:"sourceId,omitempty"` // where the contact comes from; zero: unknown
	Optins     [optinCount]bool `json:"optins"`             // the consents, in the order of optinTypes and optinChannels
	Deleted    bool             `json:"deleted"`
	MergedInto int              `json:"mergedInto"` // the contact that took this one over; zero: none
	Anonymous  bool             `json:"anonymous"`  // its personal data was removed for good
	CreatedAt  time.Time        `json:"createdAt"`
	UpdatedAt  time.Time        `json:"updatedAt"`
}

// The codes with which a contact is refused.
const (
	codeEmailUsed = "api.error.contact.email-already-used"
	codeIsClient  = "api.error.anonymisation.is-client"
)

var (
	emailPattern  = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s]+$`)
	mobilePattern = regexp.MustCompile(`^(\+[1-9]\d{7,14}|0[67]\d{8})$`)
)

// age returns the contact's age in years on a day; known is false without a birth date.
func (k *contact) age(on time.Time) (years int, known bool) {
	born, err := time.Parse(time.DateOnly, k.BirthDate)
	if err != nil {
		return 0, false
	}
	years = on.Year() - born.Year()
	if on.Month() < born.Month() || on.Month() == born.Month() && on.Day() < born.Day() {
		years--
	}
	return years, true
}

// addContact adds a contact with a number that its club gives it, such as 11-001007.
func (st *state) addContact(contact *contact) *contact {
	st.Contacts.add(contact)
	contact.UpdatedAt = contact.CreatedAt
	contact.Number = fmt.Sprintf("%d-%06d", contact.ClubID, contact.ID)
	return contact
}

// status is the contact's status as the settings of the world write it.
func (w *World) status(contact *contact) string {
	switch {
	case contact.Status == statusFormer:
		return w.settings.FormerStatus
	case contact.Status == statusCustomer && w.settings.ContactStatus == "state":
		return "client"
	}
	return contact.Status
}

func (w *World) contactRecord(contact *contact) record {
	members := record{
		"number": contact.Number, w.settings.ContactStatus: w.status(contact), "isAnonymous": contact.Anonymous,
		"familyName": contact.FamilyName, "givenName": contact.GivenName,
		"gender": orNil(contact.Gender), "email": orNil(contact.Email), "mobile": orNil(contact.Mobile), "address": orNil(contact.Address),
		"clubId": w.iri("clubs", contact.ClubID), "tags": w.tagRecords(contact.ID),
		"createdAt": w.timestamp(contact.CreatedAt), "updatedAt": w.timestamp(contact.UpdatedAt),
	}
	if contact.BirthDate != "" { // a date or nothing
		members["birthDate"] = contact.BirthDate
	}
	if contact.SourceID != 0 {
		members["sourceId"] = w.iri("referentials/sources", contact.SourceID)
	}
	return w.record("Person", "contacts", contact.ID, members)
}

// listContacts: GET contacts of the acting club, or of those that the filter clubId names, with the filters email and number, to
// find out whether a person is known already, and isAnonymous and updatedAt[after], to find changes. An assumption, as createContact is.
func listContacts(call *request) (response, error) {
	query := call.req.query
	email, number, anonymous := query.Get("email"), query.Get("number"), query.Get("isAnonymous")
	_ = query.Get("includeNationalId") // which no contact has here
	clubIDs, err := call.filterIRIs("clubId", "clubs")
	found := filter(call.w.state.Contacts.Rows, func(k *contact) bool {
		created, noDay := call.within("createdAt", k.CreatedAt)
		updated, noMoment := call.within("updatedAt", k.UpdatedAt)
		err = cmp.Or(err, noDay, noMoment)
		return call.listed(k.ClubID, clubIDs) && !k.Deleted && call.caller.maySee(k.ID) && created && updated &&
			(email == "" || strings.EqualFold(email, k.Email)) && (number == "" || number == k.Number) &&
			(anonymous == "" || k.Anonymous == slices.Contains([]string{"true", "1"}, anonymous))
	})
	if err != nil {
		return response{}, err
	}
	return paginate(call, "Contact", found, call.w.contactRecord)
}

// createContact: POST contacts. The description needs contacts to exist and does not say how they are made.
func createContact(call *request) (response, error) {
	form := call.form()
	contact := contact{CreatedAt: call.now, Optins: defaultOptins()}
	contact.readFrom(form, true, call.now)
	if contact.ClubID = call.club.ID; form.has("clubId") {
		contact.ClubID = form.iri("clubId", "clubs", true)
	}
	status := func(member string) string { return form.choice(member, false, statusProspect, statusTemp) }
	contact.Status = cmp.Or(status("status"), status("state"), statusProspect)
	if form.has("optins") {
		form.addViolation("optins", "A contact cannot be created with other consents than the default ones.")
	}
	_, noClub := call.clubAt(contact.ClubID)
	if err := cmp.Or(form.err(), noClub, call.w.emailUsed(&contact)); err != nil {
		return response{}, err
	}
	made := call.w.state.addContact(&contact)
	call.emit("contact.created", call.w.contactObject(made))
	return response{201, call.w.contactRecord(made)}, nil
}

// updateContact: PUT contacts/{id} changes the fields that are sent. An assumption, as createContact is.
func updateContact(call *request, contact *contact) (response, error) {
	f := call.form()
	next := *contact
	next.readFrom(f, false, call.now)
	err := f.err()
	if err == nil && !strings.EqualFold(next.Email, contact.Email) {
		err = call.w.emailUsed(&next)
	}
	if err != nil {
		return response{}, err
	}
	if next != *contact {
		*contact = next
		call.contactUpdated(contact)
	}
	return ok(call.w.contactRecord(contact))
}

// contactUpdated notes and announces a change of a contact.
func (c *request) contactUpdated(contact *contact) {
	contact.UpdatedAt = c.now
	c.emit("contact.updated", c.w.contactObject(contact))
}

// emailUsed refuses an e-mail address that another contact of the organisation has, in whichever club. The setting decides
// whether there is such a rule, and whether it holds for temporary contacts.
func (w *World) emailUsed(of *contact) error {
	holds := func(k *contact) bool {
		return k.Email != "" && (w.settings.UniqueEmail == "all" || w.settings.UniqueEmail == "exceptTemp" && k.Status != statusTemp)
	}
	if holds(of) && slices.ContainsFunc(w.state.Contacts.Rows, func(k *contact) bool {
		return k.ID != of.ID && !k.Deleted && holds(k) && strings.EqualFold(k.Email, of.Email)
	}) {
		return failure(http.StatusUnprocessableEntity, codeEmailUsed, "This e-mail address is already used.")
	}
	return nil
}

// anonymizeContact: PUT contacts/{id}/anonymize removes the personal data of a contact for good. An active member is
// refused. What it leaves and its response are assumptions.
func anonymizeContact(call *request, k *contact) (response, error) {
	if k.Status == statusCustomer {
		return response{}, badRequest(codeIsClient, "An active member cannot be anonymised.")
	}
	if !k.Anonymous {
		k.FamilyName, k.GivenName, k.Gender, k.BirthDate, k.Email, k.Mobile, k.Address = "Anonymous", "Anonymous", "", "", "", "", address{}
		k.Anonymous = true
		call.contactUpdated(k)
	}
	return ok(call.w.contactRecord(k))
}

// readFrom copies the personal data that a form holds.
func (k *contact) readFrom(form *form, whole bool, now time.Time) {
	take := func(field *string, value string, name string) {
		if form.has(name) {
			*field = value
		}
	}
	needed := func(name string) bool { return whole || form.has(name) }
	take(&k.FamilyName, form.text("familyName", needed("familyName")), "familyName")
	take(&k.GivenName, form.text("givenName", needed("givenName")), "givenName")
	take(&k.Gender, form.choice("gender", false, "female", "male", "other"), "gender")
	take(&k.BirthDate, form.date("birthDate", false), "birthDate")
	take(&k.Email, form.matching("email", form.w.settings.RequireEmail && (needed("email") || form.isNull("email")), emailPattern), "email")
	if form.isNull("email") {
		k.Email = ""
	}
	take(&k.Mobile, form.text("mobile", false), "mobile")
	if k.BirthDate > now.Format(time.DateOnly) {
		form.addViolation("birthDate", "This value should not be in the future.")
	}
	if home := form.object("address", false); home != nil {
		k.Address = home.address(false)
	}
	if form.has("sourceId") {
		k.SourceID = form.source()
	}
}

// address reads an address. Where the code of a country has a member of its own, the name of a country says it as well.
func (f *form) address(required bool) address {
	country, code := f.text("addressCountry", required), ""
	if f.w.settings.CountryISO {
		code = cmp.Or(f.text("addressCountryCode", false), countryCode(country))
	}
	iso := f.text("addressCountryIso", f.w.settings.CountryISO && country != "" && code == "")
	return address{
		Country: cmp.Or(iso, code, country), Locality: f.text("addressLocality", required),
		Postal: f.text("postalCode", required), Street: f.text("streetAddress", required),
	}
}

// contactTag marks a contact; some offers are for certain tags only.
type contactTag struct {
	numbered
	ContactID    int    `json:"contactId"`
	Name         string `json:"name"`
	ValidFrom    string `json:"validFrom"`
	ValidThrough string `json:"validThrough"`
	// Accounting tags describe the account. They have their own events and are not listed with the contact.
	Accounting bool `json:"accounting"`
	Deleted    bool `json:"deleted"`
}

// Accounting tags.
const (
	tagInDebt      = "in debt"
	tagDirectDebit = "direct debit"
)

// noEndDate means no end, because a tag's validThrough is documented as a date.
const noEndDate = "2099-12-31"

// tagRecords are the tags that a contact is shown with, never null.
func (w *World) tagRecords(contactID int) []record {
	shown := filter(w.state.tagsOf(contactID), func(t *contactTag) bool { return !t.Accounting && !t.Deleted })
	return records(shown, w.tagRecord)
}

func (w *World) tagRecord(tag *contactTag) record {
	return w.record("ContactTag", "contact_tags", tag.ID, record{
		"contact": w.iri("contacts", tag.ContactID), "name": tag.Name, "validFrom": tag.ValidFrom, "validThrough": tag.ValidThrough,
	})
}

// listContactTags: GET contact_tags of the contacts of the acting club, or of those that the filter contact names.
func listContactTags(c *request) (response, error) {
	contactIDs, err := c.filterIRIs("contact", "contacts")
	if err != nil {
		return response{}, err
	}
	names := c.req.query.all("name")
	found := filter(c.w.state.Tags.Rows, func(t *contactTag) bool {
		_, hidden := c.tagAt(t.ID)
		of := c.w.state.Contacts.get(t.ContactID)
		return hidden == nil && (len(contactIDs) > 0 || c.listed(of.ClubID, nil)) && wanted(contactIDs, of.ID) && wanted(names, t.Name)
	})
	return paginate(c, "ContactTag", found, c.w.tagRecord)
}

// tagAt returns a tag of a contact that the request may see. Accounting tags are only
// known from their events.
func (c *request) tagAt(id int) (*contactTag, error) {
	return visible(c.w.state.Tags.get(id), func(t *contactTag) bool {
		_, err := c.contactAt(t.ContactID)
		return err == nil && !t.Accounting && !t.Deleted
	})
}

func (st *state) tagNames(contactID int, on time.Time) []string {
	var names []string
	day := on.Format(time.DateOnly)
	for _, t := range st.tagsOf(contactID) {
		if !t.Deleted && !t.Accounting && t.ValidFrom <= day && day <= t.ValidThrough {
			names = append(names, t.Name)
		}
	}
	return names
}

// tagNamed returns a contact's tag, or nil.
func (st *state) tagNamed(contactID int, name string, accounting bool) *contactTag {
	for _, t := range st.tagsOf(contactID) {
		if t.Name == name && t.Accounting == accounting && !t.Deleted {
			return t
		}
	}
	return nil
}

func (c *request) addTag(contactID int, name, from, through string) {
	if t := c.w.state.tagNamed(contactID, name, false); t != nil {
		t.ValidThrough = max(t.ValidThrough, through)
		c.emit("contact_tag.updated", c.w.tagObject(t))
		return
	}
	t := c.w.state.Tags.add(&contactTag{ContactID: contactID, Name: name, ValidFrom: from, ValidThrough: through})
	c.emit("contact_tag.created", c.w.tagObject(t))
}

func (c *request) setAccountingTag(contactID int, name string, wanted bool) {
	tag := c.w.state.tagNamed(contactID, name, true)
	switch {
	case tag == nil && wanted:
		from := c.now.Format(time.DateOnly)
		tag = c.w.state.Tags.add(&contactTag{
			ContactID:    contactID,
			Name:         name,
			ValidFrom:    from,
			ValidThrough: noEndDate,
			Accounting:   true,
		})
		c.emit("accounting_contact_tag.created", c.w.tagObject(tag))
	case tag != nil && !wanted:
		tag.Deleted = true
		c.emit("accounting_contact_tag.deleted", c.w.tagObject(tag))
	}
}
