package member

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// consentWrites: the club system takes one consent a call; so many at once.
const consentWrites = 4

// ConsentRequest asks for a consent to be given or withdrawn.
type ConsentRequest struct {
	ID         string
	Authorized bool
}

// ConsentChange is what became of a wish.
type ConsentChange struct {
	ID      string
	Code    string         // one of the Consent… codes
	Consent *flows.Consent // as it stands now; nil when there is none
}

// What can become of a wish.
const (
	ConsentChanged   = "changed"
	ConsentUnchanged = "unchanged" // it was so already
	ConsentLocked    = "locked"    // mandatory information
	ConsentUnknown   = "unknown"   // no consent of this contact
	ConsentFailed    = "failed"    // the club system did not take it
)

// Consents lists what a contact has consented to, and its latest receipts.
func (f *Contacts) Consents(ctx context.Context, identity flows.ContactIdentity) ([]flows.Consent, []flows.Receipt, error) {
	at, err := homeClub(ctx, f.cfg.Catalogue, identity)
	if err != nil {
		return nil, nil, err
	}
	consents, err := f.readConsents(ctx, at, identity)
	if err != nil {
		return nil, nil, err
	}
	receipts, err := f.cfg.Store.Receipts(ctx, identity.IRI())
	return consents, receipts, flows.StorageFailed(err)
}

// ChangeConsents carries wishes out, each by itself, and tells what became of
// each. The receipt is kept first: no consent is given at the club system that
// the contact cannot be shown to have given. Nil when there was nothing to change.
func (f *Contacts) ChangeConsents(ctx context.Context, identity flows.ContactIdentity, requests []ConsentRequest, wording string) ([]ConsentChange, *flows.Receipt, error) {
	if err := checkDistinct(requests); err != nil {
		return nil, nil, err
	}
	at, err := homeClub(ctx, f.cfg.Catalogue, identity)
	if err != nil {
		return nil, nil, err
	}
	consents, err := f.readConsents(ctx, at, identity)
	if err != nil {
		return nil, nil, err
	}
	changes, said := planConsents(consents, requests)
	if len(said) == 0 {
		return changes, nil, nil
	}
	receipt := flows.Receipt{ID: uuid.NewString(), At: f.cfg.Now().UTC(), Wording: wording, Items: said}
	if err := f.cfg.Store.SaveReceipt(ctx, identity.IRI(), receipt); err != nil {
		return nil, nil, flows.StorageFailed(err)
	}
	if f.writeConsents(ctx, at, identity, changes) {
		f.verifyFailed(ctx, at, identity, changes)
	}
	return changes, &receipt, nil
}

// checkDistinct refuses two wishes for one consent, since either could be meant.
func checkDistinct(requests []ConsentRequest) error {
	failure, seen := &flows.Error{Code: flows.InvalidRequest}, map[string]bool{}
	for i, request := range requests {
		if seen[request.ID] {
			failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: fmt.Sprintf("/items/%d/id", i), Message: "is in the list already"})
		}
		seen[request.ID] = true
	}
	if len(failure.Fields) > 0 {
		return failure
	}
	return nil
}

// readConsents reads the contact's own consents. One that does not say whose it
// is, is nobody's: it is not shown to anybody.
func (f *Contacts) readConsents(ctx context.Context, at catalogue.Club, identity flows.ContactIdentity) ([]flows.Consent, error) {
	optins, err := f.cfg.Club.ListOptins(ctx, at.Scope, identity.IRI())
	if err != nil {
		return nil, notIdentified(err, "The consents could not be read.")
	}
	consents := []flows.Consent{}
	for _, optin := range optins {
		if optin.Contact == identity.IRI() {
			consents = append(consents, flows.Consent{ID: optin.IRI.ID(), Channel: optin.Channel, Type: optin.Type, Authorized: optin.Authorized})
		}
	}
	return consents, nil
}

// planConsents says of each wish what has to become of it, and lists what the
// contact thereby says. What has to be written is marked as changed already.
func planConsents(consents []flows.Consent, requests []ConsentRequest) (changes []ConsentChange, said []flows.Consent) {
	current := map[string]flows.Consent{}
	for _, consent := range consents {
		current[consent.ID] = consent
	}
	for _, request := range requests {
		consent, known := current[request.ID]
		change := ConsentChange{ID: request.ID, Code: ConsentUnknown}
		if known {
			change.Consent = &consent
			switch {
			case consent.Authorized == request.Authorized:
				change.Code = ConsentUnchanged
			case consent.Locked():
				change.Code = ConsentLocked
			default:
				change.Code, consent.Authorized = ConsentChanged, request.Authorized
				said = append(said, consent)
			}
		}
		changes = append(changes, change)
	}
	return changes, said
}

// writeConsents carries out what was planned, and marks and reports what failed.
func (f *Contacts) writeConsents(ctx context.Context, at catalogue.Club, identity flows.ContactIdentity, changes []ConsentChange) (failed bool) {
	var writes errgroup.Group
	writes.SetLimit(consentWrites)
	for i := range changes {
		change := &changes[i]
		if change.Code != ConsentChanged {
			continue
		}
		writes.Go(func() error {
			optin := club.NewIRI(identity.ClientToken, "optins", change.ID)
			err := f.cfg.Club.UpdateOptin(ctx, at.Scope, optin, change.Consent.Authorized)
			if err != nil {
				change.Code = ConsentFailed
			}
			return err
		})
	}
	return writes.Wait() != nil
}

// verifyFailed tells what became of consents whose change failed: an answer that
// was lost may have been a change that was made. What cannot be read again stays
// failed, as it was before.
func (f *Contacts) verifyFailed(ctx context.Context, at catalogue.Club, identity flows.ContactIdentity, changes []ConsentChange) {
	now := map[string]bool{}
	consents, err := f.readConsents(ctx, at, identity)
	for _, consent := range consents {
		now[consent.ID] = consent.Authorized
	}
	for i, change := range changes {
		if change.Code != ConsentFailed {
			continue
		}
		authorized, read := now[change.ID]
		if err == nil && read && authorized == change.Consent.Authorized {
			changes[i].Code = ConsentChanged
		} else {
			change.Consent.Authorized = !change.Consent.Authorized
		}
	}
}
