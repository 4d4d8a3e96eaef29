package clubsim

import (
	"cmp"
	"fmt"
)

// The documented codes of a migration that is refused.
const (
	codeMigrationClub    = "api.error.contact.migration.club-not-valid"
	codeMigrationContact = "api.error.contact.migration.contact-not-valid"
)

// Values of Settings.MigrationNode.
const (
	migrationAbove       = "above"
	migrationDestination = "destination"
	migrationSource      = "source"
	migrationAny         = "any"
)

// contactForMove returns the contact of a request to move, or the documented 400 when the request does not act from where the
// settings want.
func (c *request) contactForMove(contactID, clubID int, disableNetwork bool) (*contact, error) {
	mover, destination := c.w.state.Contacts.get(contactID), c.w.catalogue.club(clubID)
	actsFor := func(of *club) bool { return of != nil && c.node != nil && c.node == of.node }
	switch where := c.w.settings.MigrationNode; {
	case where == migrationAny && mover != nil && !mover.Deleted,
		where == migrationDestination && mover != nil && !mover.Deleted && disableNetwork && actsFor(destination):
		return mover, nil
	case where == migrationDestination, where == migrationSource && (mover == nil || !actsFor(c.w.catalogue.club(mover.ClubID))):
		return nil, c.noContactForMigration(contactID)
	}
	return c.contactForMigration(contactID)
}

func (c *request) noContactForMigration(id int) error {
	return badRequest("", fmt.Sprintf("The resource %s does not exist.", c.w.iri("contacts", id)))
}

// contactForMigration returns a contact, or the documented 400 when the acting node has no
// right to it.
func (c *request) contactForMigration(id int) (*contact, error) {
	k, err := c.contactAt(id)
	if err != nil {
		return nil, c.noContactForMigration(id)
	}
	return k, nil
}

// createContactMigrationRequest: POST contact_migration_requests (section
// Contact migration between clubs). The code that is sent completes it.
func createContactMigrationRequest(call *request) (response, error) {
	f := call.form()
	clubID, contactID := f.iri("clubId", "clubs", true), f.iri("contactId", "contacts", true)
	disableNetwork := f.boolean("disableNetwork", false)
	if err := f.err(); err != nil {
		return response{}, err
	}
	contact, err := call.contactForMove(contactID, clubID, disableNetwork)
	if err != nil {
		return response{}, err
	}
	if err := call.w.catalogue.migratable(contact, clubID); err != nil {
		return response{}, err
	}
	return call.requestSignature(contact, signatureRequest{TargetID: clubID})
}

// migratable checks the rules for a contact that moves to another club of its chain.
func (c *Catalogue) migratable(contact *contact, clubID int) error {
	to := c.club(clubID)
	switch {
	case to == nil || clubID == contact.ClubID || !to.sameChain(c.club(contact.ClubID)):
		return badRequest(codeMigrationClub, "The destination club is not valid.")
	case contact.Status != statusProspect && contact.Status != statusFormer:
		return badRequest(codeMigrationContact, "The contact is neither a prospect nor a former member.")
	}
	return nil
}

// completeMigration moves the contact once the code was right. The rules
// are checked again, because the contact may have changed in the meantime.
func (c *request) completeMigration(signature *signatureRequest) error {
	contact := c.w.state.Contacts.get(signature.ContactID)
	if contact.Deleted {
		return itemNotFound()
	}
	if err := c.w.catalogue.migratable(contact, signature.TargetID); err != nil {
		return err
	}
	if c.w.settings.MigrationNewID {
		contact = c.renew(contact)
		signature.ResultID = contact.ID
	}
	contact.ClubID = signature.TargetID
	c.contactUpdated(contact)
	return nil
}

// renew replaces a contact by a new one with the same data.
func (c *request) renew(old *contact) *contact {
	next := *old
	next.numbered = numbered{}
	made := c.w.state.addContact(&next)
	c.replace(old, made)
	c.emit("contact.created", c.w.contactObject(made))
	c.emit("contact.deleted", c.w.contactObject(old))
	return made
}

// migrateContact: PUT contacts/{contactSourceId}/migrate (section Contacts). A known
// prospect takes the place of the temporary contact that a registration made: the two
// become one, in the target club.
func migrateContact(call *request) (response, error) {
	if call.w.state.Contacts.get(call.ids[0]) == nil {
		return response{}, itemNotFound()
	}
	f := call.form()
	targetID, clubID := f.iri("targetContactId", "contacts", true), f.iri("targetClubId", "clubs", true)
	if err := f.err(); err != nil {
		return response{}, err
	}
	if call.caller.Contact != call.ids[0] {
		return response{}, failure(
			403, "api.error.contact.migration.source-not-authenticated",
			"The caller is not authenticated as the source contact.",
		)
	}
	source, err := call.contactForMigration(call.ids[0])
	if err != nil {
		return response{}, err
	}
	target := call.w.state.Contacts.get(targetID)
	if target == nil || target.Deleted || !call.sees(target.ClubID) {
		return response{}, badRequest("", fmt.Sprintf("The resource %s does not exist.", call.w.iri("contacts", targetID)))
	}
	if err := call.w.catalogue.mergeable(source, target, clubID); err != nil {
		return response{}, err
	}
	call.merge(source, target)
	return noContent()
}

func (c *Catalogue) mergeable(source, target *contact, clubID int) error {
	switch {
	case clubID != target.ClubID || source.ClubID == target.ClubID || !c.club(clubID).sameChain(c.club(source.ClubID)):
		return badRequest(codeMigrationClub, "The target club is not valid.")
	case source.Status != statusProspect || target.Status != statusTemp:
		return badRequest(codeMigrationContact, "The source contact must be a prospect and the target contact temporary.")
	}
	return nil
}

// merge makes one contact out of two. The one that stays keeps its data and gets what is
// missing from the other; mandates and balances follow it. Sales follow by update_contact,
// which is a separate operation of the club system.
func (c *request) merge(source, target *contact) {
	kept, gone := source, target
	if c.w.settings.MigrationKeeps == "target" {
		kept, gone = target, source
	}
	kept.ClubID, kept.Status = target.ClubID, statusProspect
	kept.fillFrom(gone)
	c.replace(gone, kept)
	c.contactUpdated(kept)
	c.emit("contact.deleted", c.w.contactObject(gone))
}

// replace deletes a contact in favour of another one, which gets its mandates and balances.
func (c *request) replace(gone, kept *contact) {
	gone.Deleted, gone.MergedInto = true, kept.ID
	for _, m := range c.w.state.mandatesOf(gone.ID) {
		m.ContactID = kept.ID
	}
	c.transferBalances(gone.ID, kept.ID)
	c.w.state.index()
}

// fillFrom copies from another contact what is missing.
func (k *contact) fillFrom(from *contact) {
	k.FamilyName, k.GivenName = cmp.Or(k.FamilyName, from.FamilyName), cmp.Or(k.GivenName, from.GivenName)
	k.Gender, k.BirthDate = cmp.Or(k.Gender, from.Gender), cmp.Or(k.BirthDate, from.BirthDate)
	k.Email, k.Mobile = cmp.Or(k.Email, from.Email), cmp.Or(k.Mobile, from.Mobile)
	k.Address = cmp.Or(k.Address, from.Address)
}

// transferBalances moves dues and money on account from one contact to another.
func (c *request) transferBalances(from, to int) {
	st := c.w.state
	for _, d := range st.duesOf(from) {
		st.postEntry(entry{Kind: "transfer", SaleID: d.SaleID}, dueAccount(to), dueAccount(from), d.Left, c.now)
		d.ContactID = to
	}
	for _, p := range st.paymentsOf(from) {
		st.postEntry(entry{Kind: "transfer", SaleID: p.SaleID, PaymentID: p.ID}, cashAccount(from), cashAccount(to), p.Left, c.now)
		p.ContactID = to
	}
}

// updateSaleContact: PUT sale/{saleId}/update_contact, or sales/{saleId}/update_contact, after migrateContact.
func updateSaleContact(c *request, sale *sale) (response, error) {
	k := c.w.state.Contacts.get(sale.ContactID)
	for k.MergedInto != 0 {
		k = c.w.state.Contacts.get(k.MergedInto)
	}
	sale.ContactID, sale.Number, sale.FamilyName, sale.GivenName = k.ID, k.Number, k.FamilyName, k.GivenName
	return noContent()
}
