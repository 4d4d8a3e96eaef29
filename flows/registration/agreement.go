package registration

import (
	"context"
	"errors"
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/contract"
)

// termsPatience is how long a response waits for a club's own terms of sale that no gateway has cached.
const termsPatience = 2 * time.Second

// checkAgreements returns AgreementMissing unless a request to pay agrees to what it must. It writes nothing. A request that
// continues the latest payment agrees to nothing again: what was agreed when it started is enough, and need not be said.
func (s *Service) checkAgreements(
	ctx context.Context, r *flows.Registration, latest *flows.Payment, isReplaced bool, in flows.StartPayment,
) error {
	continues := latest.Live() && !isReplaced
	isClosed := !continues && !isReplaced && r.Phase(latest, s.cfg.Now()) != flows.Open
	switch {
	case isClosed || r.Sale == "", in.Agreements == nil && (continues || !s.cfg.AgreementsRequired):
		return nil
	case continues && len(latest.Agreements) > 0 && latest.IsAgreedBy(in.Agreements):
		return nil
	}
	club, err := s.cfg.Catalogue.DetailsWithTerms(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return err
	}
	return s.agreementsMissing(r, club, in)
}

// agreementsMissing returns AgreementMissing unless a request agrees to what a club needs and has now.
func (s *Service) agreementsMissing(r *flows.Registration, club catalogue.Details, in flows.StartPayment) error {
	return flows.AgreementsMissing(s.required(r, club), in.Agreements, func(seen flows.Agreed) bool {
		_, ok := club.Agreed(seen, in.Language)
		return ok
	})
}

// required lists what a payment must agree to. Without FRONTDESK_AGREEMENTS=required, a club need not have the documents.
func (s *Service) required(r *flows.Registration, club catalogue.Details) []flows.Agreed {
	required := contract.Required(r, club, s.cfg.Now())
	if s.cfg.AgreementsRequired {
		return required
	}
	return slices.DeleteFunc(required, func(document flows.Agreed) bool { return document.Version == "" })
}

// NeededAgreements lists what a payment of a registration must agree to: while one is in progress, what was agreed when it started. A
// club's own terms of sale are missing as long as they cannot be read; the payment then fails.
func (s *Service) NeededAgreements(ctx context.Context, view flows.View) []flows.Agreed {
	if view.Payment.Live() && len(view.Payment.Agreements) > 0 {
		return view.Payment.Agreed()
	}
	ctx, cancel := context.WithTimeout(catalogue.AsCached(ctx), termsPatience)
	defer cancel()
	club, err := s.cfg.Catalogue.DetailsWithTerms(ctx, view.ClientToken, view.ClubID)
	if err != nil {
		club = s.cfg.Catalogue.Details(view.ClubID)
	}
	needed := s.required(view.Registration, club)
	return slices.DeleteFunc(needed, func(document flows.Agreed) bool { return document.Version == "" }) // the club lacks it
}

// agree keeps what the buyer agrees to with a request, before there is a payment: the bytes of the documents, which the confirmation
// has attached. Documents that the request need not name count if it names the club's version. Of several entries about one document,
// the first that the club has counts.
func (s *Service) agree(ctx context.Context, r *flows.Registration, in flows.StartPayment, now time.Time) ([]flows.Agreement, error) {
	if in.Agreements == nil {
		if len(s.required(r, s.cfg.Catalogue.Details(r.ClubID))) > 0 {
			s.cfg.Log.WarnContext(ctx, "payment without agreements", "registration", r.ID, "error",
				errors.New("the request does not say what the buyer agreed to; FRONTDESK_AGREEMENTS=required refuses it"))
		}
		return nil, nil
	}
	club, err := s.cfg.Catalogue.DetailsWithTerms(ctx, r.ClientToken, r.ClubID)
	if err == nil { // again, because the club's own terms may have changed since
		err = s.agreementsMissing(r, club, in)
	}
	if err != nil {
		return nil, err
	}
	var documents []flows.Document
	var agreements []flows.Agreement
	for _, agreed := range in.Agreements {
		document, ok := club.Agreed(agreed, in.Language)
		isNamed := func(earlier flows.Agreement) bool { return earlier.Document == document.Name }
		if !ok || slices.ContainsFunc(agreements, isNamed) {
			continue
		}
		documents = append(documents, document)
		agreements = append(agreements, flows.Agreement{
			Document: document.Name,
			Version:  document.Version,
			Language: document.Language,
			SHA256:   document.SHA256,
			At:       now,
		})
	}
	return agreements, flows.StorageFailed(s.cfg.Store.KeepDocuments(ctx, documents, s.cfg.ProofsKept))
}

// Document returns a document of a club by the hash of its bytes, in hex: one of today's, or one that a buyer has agreed to. NotFound if
// there is neither.
func (s *Service) Document(ctx context.Context, clientToken, clubID, sha256 string) (flows.Document, error) {
	if document, ok := s.cfg.Catalogue.Details(clubID).DocumentBySHA256(sha256); ok {
		return document, nil
	}
	document, err := s.cfg.Store.Document(ctx, sha256)
	if !errors.Is(err, flows.ErrNotFound) {
		return document, flows.StorageFailed(err)
	}
	club, err := s.cfg.Catalogue.DetailsWithTerms(ctx, clientToken, clubID)
	if err != nil {
		return flows.Document{}, err
	}
	document, ok := club.DocumentBySHA256(sha256)
	if !ok {
		return flows.Document{}, flows.StorageFailed(flows.ErrNotFound)
	}
	return document, nil
}
