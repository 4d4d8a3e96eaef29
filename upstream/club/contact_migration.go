package club

import "context"

// Migration moves a prospect's data into the contact of a purchase.
type Migration struct {
	Contact IRI `json:"targetContactId"` // of status temp, in another club than the source
	Club    IRI `json:"targetClubId"`    // the target's club
}

// MigrateContact makes a person who is known already, as a prospect of another
// club, the buyer: their data goes from source to the target contact; club
// system API, section Contacts. The caller proves to be that person by
// accessTokenPattern, the source contact's own, which is used for this request and
// kept nowhere. UpdateSaleContact follows.
//
// Rejected when the source is no prospect, the target not of status temp, or
// both are of one club. Refused when the token is not the source's.
func (c *Client) MigrateContact(ctx context.Context, s Scope, source IRI, accessToken string, target Migration) error {
	r := put("MigrateContact", s, "contacts/{id}/migrate", source, target)
	_, err := do[noContent](ctx, c, r.withToken(accessToken))
	return err
}

// CreateContactMigrationRequest starts the move of a contact to another club of
// the chain and sends them an SMS code; ValidateSignatureRequest finishes it;
// club system API, section Contact migration between clubs. Act from a node
// above both clubs. Rejected with ErrMigrationClub, ErrMigrationContact or
// ErrOutOfReach.
func (c *Client) CreateContactMigrationRequest(ctx context.Context, s Scope, contact, club IRI) (SignatureRequest, error) {
	body := struct {
		Club    IRI `json:"clubId"`
		Contact IRI `json:"contactId"`
	}{club, contact}
	return do[SignatureRequest](ctx, c, post("CreateContactMigrationRequest", s, "contact_migration_requests", "", body))
}
