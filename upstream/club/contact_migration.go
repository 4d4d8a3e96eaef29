package club

import "context"

// Migration moves a prospect's data into the contact of a purchase.
type Migration struct {
	Contact IRI `json:"targetContactId"` // of status temp, in another club than the source
	Club    IRI `json:"targetClubId"`    // the target's club
}

// MigrateContact makes a prospect of another club the buyer: their data moves from source to
// the target contact; club system API, section Contacts. accessToken is the source contact's
// own, proves the caller's identity, and is used for this request only. UpdateSaleContact
// follows.
//
// Rejected when the source is not a prospect, the target not of status temp, or both belong
// to one club. Refused when the token is not the source's.
func (c *Client) MigrateContact(ctx context.Context, s Scope, source IRI, accessToken string, target Migration) error {
	r := put("MigrateContact", s, "contacts/{id}/migrate", source, target)
	return c.write(ctx, r.withToken(accessToken))
}

// CreateContactMigrationRequest starts the migration of a contact to another club of the
// chain and sends an SMS code, which ValidateSignatureRequest needs; club system API, section
// Contact migration between clubs. Act from a node above both clubs. Rejected with
// ErrMigrationClub, ErrMigrationContact or ErrOutOfReach.
func (c *Client) CreateContactMigrationRequest(ctx context.Context, s Scope, contact, club IRI) (SignatureRequest, error) {
	body := map[string]IRI{"clubId": club, "contactId": contact}
	return do[SignatureRequest](ctx, c, post("CreateContactMigrationRequest", s, "contact_migration_requests", "", body))
}
