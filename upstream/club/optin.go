package club

import (
	"context"
	"net/url"
	"slices"
)

// OptinLegal is the type of mandatory messages, which a contact cannot switch off.
const OptinLegal = "legal"

// OptinAdvertising is the type of the club's own advertising.
const OptinAdvertising = "advertising"

// Optin is a contact's consent to one type of message on one channel; club system API,
// section Optin. Every contact has all of them; none can be added or deleted.
type Optin struct {
	IRI        IRI    `json:"@id"`
	Authorized bool   `json:"isAuthorized"`
	Channel    string `json:"channel"` // email, text_message, postal_mail
	Type       string `json:"type"`    // news, advertising, partners or OptinLegal
	Contact    IRI    `json:"contact"` // whose consent it is
}

// ListOptins reads the opt-ins of a contact, or of every contact in the scope if contact is
// empty; club system API, section Opt-ins. Their field names beyond isAuthorized are an
// assumption. Those of another contact, or of none, are left out, in case the filter is ignored.
func (c *Client) ListOptins(ctx context.Context, scope Scope, contact IRI) ([]Optin, error) {
	all := get("ListOptins", scope, "optins", "")
	if contact == "" {
		return list[Optin](ctx, c, all)
	}
	listed, err := list[Optin](ctx, c, all.withQuery(url.Values{"contactId": {string(contact)}}))
	return slices.DeleteFunc(listed, func(o Optin) bool { return o.Contact != contact }), err
}

// UpdateOptin gives or withdraws one consent; club system API, section Opt-ins. Data
// protection law requires the contact's own decision before one is given. Rejected for a
// legal opt-in. Unknown after an empty response.
func (c *Client) UpdateOptin(ctx context.Context, scope Scope, optin IRI, authorized bool) error {
	return c.write(ctx, put("UpdateOptin", scope, "optins/{id}", optin, map[string]bool{"isAuthorized": authorized}).withRecord())
}
