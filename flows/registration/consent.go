package registration

import (
	"context"

	"frontdesk/flows"
)

// Consents lists what a registration's buyer has consented to, and the latest receipts.
func (s *Service) Consents(ctx context.Context, id, token string) ([]flows.Consent, []flows.Receipt, error) {
	buyer, err := s.buyer(ctx, id, token)
	if err != nil {
		return nil, nil, err
	}
	consents, receipts, err := s.cfg.Contacts.Consents(ctx, buyer)
	return consents, receipts, withoutLogin(err)
}

// ChangeConsents changes the consents of a registration's buyer, in every state of the registration:
// withdrawing is possible as long as giving was.
func (s *Service) ChangeConsents(ctx context.Context, id, token string, requests []ConsentRequest, wording string) ([]ConsentChange, *flows.Receipt, error) {
	buyer, err := s.buyer(ctx, id, token)
	if err != nil {
		return nil, nil, err
	}
	changes, receipt, err := s.cfg.Contacts.ChangeConsents(ctx, buyer, requests, wording)
	return changes, receipt, withoutLogin(err)
}

// buyer returns the contact of a registration, unless it may be another person's.
func (s *Service) buyer(ctx context.Context, id, token string) (flows.ContactIdentity, error) {
	r, _, err := s.load(ctx, id, token)
	switch {
	case err != nil:
		return flows.ContactIdentity{}, err
	case r.Contact == nil:
		return flows.ContactIdentity{}, &flows.Error{Code: flows.PersonRequired, Detail: "Enter the buyer's details first."}
	case r.IsMerged():
		return flows.ContactIdentity{}, personKnown()
	}
	return flows.ContactIdentity{ClientToken: r.ClientToken, ContactID: r.Contact.IRI.ID(), ClubID: r.ClubID}, nil
}

// withoutLogin replaces NotIdentified, for a contact that the club system no longer has: a buyer has
// no login to renew.
func withoutLogin(err error) error {
	if flows.CodeOf(err) == flows.NotIdentified {
		return &flows.Error{Code: flows.ClubSystemFailed, Detail: "The club system does not know the buyer any more.", Err: err}
	}
	return err
}
