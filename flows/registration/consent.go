package registration

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// consentWrites are concurrent: the club system takes one consent per call.
const consentWrites = 4

// ConsentRequest asks for a consent to be given or withdrawn.
type ConsentRequest struct {
	ID         string
	Authorized bool
}

// ConsentChange is the result of a request.
type ConsentChange struct {
	ID      string
	Code    string         // one of the Consent… codes
	Consent *flows.Consent // current; nil without one
}

// The results of a request.
const (
	ConsentChanged   = "changed"
	ConsentUnchanged = "unchanged" // it was so already
	ConsentLocked    = "locked"    // mandatory information
	ConsentUnknown   = "unknown"   // no consent of this contact
	ConsentFailed    = "failed"    // the club system did not take it
)

// Consents lists what a contact has consented to, and its latest receipts.
func (c *Contacts) Consents(ctx context.Context, identity flows.ContactIdentity) ([]flows.Consent, []flows.Receipt, error) {
	at, err := c.homeClub(ctx, identity)
	if err != nil {
		return nil, nil, err
	}
	consents, err := c.readConsents(ctx, at, identity)
	if err != nil {
		return nil, nil, err
	}
	receipts, err := c.cfg.Store.Receipts(ctx, identity.IRI())
	return consents, receipts, flows.StorageFailed(err)
}

// ChangeConsents changes each consent separately and returns each result. The receipt is stored first,
// as the proof of every consent given at the club system; nil when there was nothing to change.
func (c *Contacts) ChangeConsents(
	ctx context.Context, identity flows.ContactIdentity, requests []ConsentRequest, wording string,
) ([]ConsentChange, *flows.Receipt, error) {
	if err := checkDistinct(requests); err != nil {
		return nil, nil, err
	}
	at, err := c.homeClub(ctx, identity)
	if err != nil {
		return nil, nil, err
	}
	consents, err := c.readConsents(ctx, at, identity)
	if err != nil {
		return nil, nil, err
	}
	changes, said := planConsents(consents, requests)
	if len(said) == 0 {
		return changes, nil, nil
	}
	receipt := flows.Receipt{ID: uuid.NewString(), At: c.cfg.Now().UTC(), Wording: wording, Items: said}
	if err := c.cfg.Store.SaveReceipt(ctx, identity.IRI(), receipt); err != nil {
		return nil, nil, flows.StorageFailed(err)
	}
	if c.writeConsents(ctx, at, identity, changes) {
		c.verifyFailed(ctx, at, identity, changes)
	}
	return changes, &receipt, nil
}

// checkDistinct refuses two requests for one consent.
func checkDistinct(requests []ConsentRequest) error {
	var fields []flows.FieldProblem
	listed := map[string]bool{}
	for i, request := range requests {
		if listed[request.ID] {
			fields = append(fields, flows.FieldProblem{Pointer: fmt.Sprintf("/items/%d/id", i), Code: flows.FieldDuplicate})
		}
		listed[request.ID] = true
	}
	return flows.Invalid(fields...)
}

// readConsents reads the contact's consents.
func (c *Contacts) readConsents(ctx context.Context, at catalogue.Club, identity flows.ContactIdentity) ([]flows.Consent, error) {
	optins, err := c.cfg.Club.ListOptins(ctx, at.Scope, identity.IRI())
	if err != nil {
		return nil, notIdentified(err, flows.DetailConsentsUnread)
	}
	consents := []flows.Consent{}
	for _, optin := range optins {
		consents = append(consents, flows.Consent{ID: optin.IRI.ID(), Channel: optin.Channel, Type: optin.Type, Authorized: optin.Authorized})
	}
	return consents, nil
}

// planConsents determines the result of each request, and lists the changed consents for the receipt.
// A consent that is still to be written counts as changed.
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

// writeConsents writes the planned changes, and marks the failed ones.
func (c *Contacts) writeConsents(
	ctx context.Context, at catalogue.Club, identity flows.ContactIdentity, changes []ConsentChange,
) (failed bool) {
	var writes errgroup.Group
	writes.SetLimit(consentWrites)
	for i := range changes {
		change := &changes[i]
		if change.Code != ConsentChanged {
			continue
		}
		writes.Go(func() error {
			optin := club.NewIRI(identity.ClientToken, "optins", change.ID)
			err := c.cfg.Club.UpdateOptin(ctx, at.Scope, optin, change.Consent.Authorized)
			if err != nil {
				change.Code = ConsentFailed
			}
			return err
		})
	}
	return writes.Wait() != nil
}

// verifyFailed reads the consents whose change failed: with a lost response, it may have been made.
// What cannot be read stays failed.
func (c *Contacts) verifyFailed(ctx context.Context, at catalogue.Club, identity flows.ContactIdentity, changes []ConsentChange) {
	now := map[string]bool{}
	consents, err := c.readConsents(ctx, at, identity)
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

// Consents lists what a registration's buyer has consented to, and the latest receipts.
func (s *Service) Consents(ctx context.Context, id, token string) ([]flows.Consent, []flows.Receipt, error) {
	buyer, err := s.buyer(ctx, id, token)
	if err != nil {
		return nil, nil, err
	}
	consents, receipts, err := s.Contacts.Consents(ctx, buyer)
	return consents, receipts, withoutLogin(err)
}

// ChangeConsents changes the consents of a registration's buyer, in every state of the registration:
// withdrawing is possible as long as giving was.
func (s *Service) ChangeConsents(
	ctx context.Context, id, token string, requests []ConsentRequest, wording string,
) ([]ConsentChange, *flows.Receipt, error) {
	buyer, err := s.buyer(ctx, id, token)
	if err != nil {
		return nil, nil, err
	}
	changes, receipt, err := s.Contacts.ChangeConsents(ctx, buyer, requests, wording)
	return changes, receipt, withoutLogin(err)
}

// buyer returns the contact of a registration, unless it may be another person's.
func (s *Service) buyer(ctx context.Context, id, token string) (flows.ContactIdentity, error) {
	registration, _, err := s.load(ctx, id, token)
	switch {
	case err != nil:
		return flows.ContactIdentity{}, err
	case registration.Contact == nil:
		return flows.ContactIdentity{}, &flows.Error{Code: flows.PersonRequired, Detail: flows.DetailPersonFirst}
	case registration.IsMerged():
		return flows.ContactIdentity{}, personKnown()
	}
	return flows.ContactIdentity{ClientToken: registration.ClientToken, ContactID: registration.Contact.IRI.ID(),
		ClubID: registration.ClubID}, nil
}

// withoutLogin replaces NotIdentified, for a contact that the club system no longer has: a buyer has
// no login to renew.
func withoutLogin(err error) error {
	if flows.CodeOf(err) == flows.NotIdentified {
		return &flows.Error{Code: flows.ClubSystemFailed, Detail: flows.DetailBuyerUnknown, Err: err}
	}
	return err
}
