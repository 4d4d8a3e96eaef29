package clubsim

import "encoding/json"

// optinTypes and optinChannels make the consents of every contact: each type on each channel. Their
// order determines their numbers.
var optinTypes = [...]string{"news", "legal", "advertising", "partners"}
var optinChannels = [...]string{"email", "text_message", "postal_mail"}

const optinCount = len(optinTypes) * len(optinChannels)

// optin is one consent; its number follows from the contact's.
type optin struct {
	contact *contact
	index   int
}

func (o optin) id() int         { return o.contact.ID*optinCount + o.index }
func (o optin) kind() string    { return optinTypes[o.index/len(optinChannels)] }
func (o optin) channel() string { return optinChannels[o.index%len(optinChannels)] }
func (o optin) locked() bool    { return o.kind() == "legal" }

// defaultOptins are those of a new contact: all disabled except the legal ones.
func defaultOptins() (consents [optinCount]bool) {
	for i := range consents {
		consents[i] = optin{index: i}.locked()
	}
	return consents
}

func (w *World) optinRecord(optin optin) record {
	return w.record("Optin", "optins", optin.id(), record{
		"isAuthorized": optin.contact.Optins[optin.index], "channel": optin.channel(), "type": optin.kind(),
		"contact": w.iri("contacts", optin.contact.ID),
	})
}

// listOptins: GET optins (section Opt-ins), of one contact or of the contacts of the acting club.
func listOptins(call *request) (response, error) {
	ids, err := call.filterIRIs("contactId", "contacts")
	if err != nil {
		return response{}, err
	}
	contacts := filter(call.w.state.Contacts.Rows, func(k *contact) bool {
		return len(ids) == 0 && !k.Deleted && call.caller.maySee(k.ID) && call.listed(k.ClubID, nil)
	})
	for _, id := range ids {
		contact, err := call.contactAt(id)
		if err != nil {
			return response{}, err
		}
		contacts = append(contacts, contact)
	}
	kinds, channels := call.req.query.all("type"), call.req.query.all("channel")
	var found []optin
	for _, k := range contacts {
		for i := range optinCount {
			if consent := (optin{k, i}); wanted(kinds, consent.kind()) && wanted(channels, consent.channel()) {
				found = append(found, consent)
			}
		}
	}
	return paginate(call, "Optin", found, call.w.optinRecord)
}

func (c *request) optinAt(id int) (optin, error) {
	k, err := c.contactAt(id / optinCount)
	return optin{k, id % optinCount}, err
}

// updateOptin: PUT optins/{id}. isAuthorized is the only thing that can change, and not on legal ones.
func updateOptin(call *request, optin optin) (response, error) {
	contact := optin.contact
	f := call.form()
	authorized := f.boolean("isAuthorized", true)
	f.unchanged("channel", optin.channel())
	f.unchanged("type", optin.kind())
	f.unchanged("contact", call.w.iri("contacts", contact.ID))
	if err := f.err(); err != nil {
		return response{}, err
	}
	if optin.locked() {
		return response{}, badRequest("api.error.optin.legal-not-editable", "A legal opt-in cannot be modified.")
	}
	if contact.Optins[optin.index] != authorized {
		contact.Optins[optin.index] = authorized
		call.emit("optin.updated", call.w.optinObject(optin))
	}
	return ok(call.w.optinRecord(optin))
}

// unchanged refuses a property that cannot be changed, unless it is sent unchanged: a
// client may send back what it read.
func (f *form) unchanged(name, is string) {
	var sent string
	if f.has(name) && (json.Unmarshal(f.values[name], &sent) != nil || sent != is) {
		f.addViolationCode(name, "This property cannot be changed.", "api.error.optin.property-not-editable")
	}
}
