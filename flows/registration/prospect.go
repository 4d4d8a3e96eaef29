package registration

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/club"
)

// Migrate makes a known person the buyer of a registration. Their access token of the club system
// identifies them; it is used for this call and not stored. A call that fails half-way continues when
// it is repeated.
func (s *Service) Migrate(ctx context.Context, id, token, accessToken string) (flows.View, error) {
	r, p, at, err := s.editable(ctx, id, token)
	switch {
	case err != nil:
		return flows.View{}, err
	case r.Contact == nil:
		return flows.View{}, &flows.Error{Code: flows.PersonRequired, Detail: flows.DetailPersonFirst}
	case r.Sale == "":
		return flows.View{}, &flows.Error{Code: flows.CartEmpty, Detail: flows.DetailOfferFirst}
	case r.Prospect != nil && r.Prospect.Done:
		return s.view(r, p), nil
	case r.IsMerged():
		return flows.View{}, personKnown() // the sale already belongs to a member
	}
	arrived := false
	if r.Prospect != nil { // an earlier call got somewhere
		if arrived, err = s.takeOver(ctx, r, at); err != nil {
			return flows.View{}, err
		}
	}
	if !arrived {
		err = s.migrate(ctx, r, at, accessToken)
	}
	if err != nil {
		return flows.View{}, err
	}
	return s.saved(ctx, r, p)
}

// migrate stores its intent, migrates, stores the result, and takes the contact over.
func (s *Service) migrate(ctx context.Context, r *flows.Registration, at catalogue.Club, accessToken string) error {
	source, err := s.cfg.Club.OwnContact(ctx, r.ClientToken, accessToken)
	if err != nil {
		return accessTokenFailed(err)
	}
	scope, err := s.cfg.Catalogue.ScopeAbove(ctx, at, source.Club)
	if err != nil {
		return err
	}
	before := r.Prospect
	r.Prospect = &flows.Prospect{Source: source.IRI}
	if err := s.save(ctx, r); err != nil {
		return err
	}
	err = s.cfg.Club.MigrateContact(ctx, scope, source.IRI, accessToken, club.Migration{Contact: r.Contact.IRI, Club: at.IRI})
	if err != nil && club.OutcomeOf(err) != club.Unknown {
		r.Prospect = before
		if saveErr := s.cfg.Store.SaveRegistration(ctx, r); saveErr != nil {
			s.cfg.Log.WarnContext(ctx, "registration not saved after a migration was refused", "error", saveErr)
		}
		return accessTokenFailed(err)
	}
	if err == nil {
		r.Prospect.Migrated = true
		if saveErr := s.save(ctx, r); saveErr != nil {
			return saveErr
		}
	}
	arrived, tookErr := s.takeOver(ctx, r, at)
	if tookErr != nil {
		return tookErr
	}
	if arrived {
		return nil
	}
	if err == nil { // the success was not the club system's, or is not visible yet: the visitor may try again or do without
		if err := s.save(ctx, r); err != nil {
			return err
		}
		return &flows.Error{Code: flows.ClubSystemFailed, Detail: flows.DetailAccountNotImportable}
	}
	return flows.ClubFailed(err, flows.DetailAccountNotImportable)
}

// takeOver gives the sale the remaining contact, and reads both, because no response is proof enough. False when that
// is still the temporary contact: then nothing was migrated.
func (s *Service) takeOver(ctx context.Context, r *flows.Registration, at catalogue.Club) (bool, error) {
	const part = flows.DetailAccountImportUnfinished
	unknown := s.cfg.Club.UpdateSaleContact(ctx, at.Scope, r.Sale)
	if unknown != nil && club.OutcomeOf(unknown) != club.Unknown {
		return false, flows.ClubFailed(unknown, part)
	}
	sale, check, err := s.cfg.Club.GetCheckedSale(ctx, at.Scope, r.Sale)
	if err != nil {
		return false, flows.ClubFailed(err, part)
	}
	contact, err := s.cfg.Club.GetContact(ctx, at.Scope, sale.Contact)
	if err != nil {
		return false, flows.ClubFailed(err, part)
	}
	if contact.Status == club.StatusTemp {
		if unknown != nil && r.Prospect.Migrated {
			return false, flows.ClubFailed(unknown, part)
		}
		r.Prospect.Migrated = false
		return false, nil
	}
	if err := s.followContact(ctx, r, at, contact.IRI); err != nil {
		return false, flows.ClubFailed(err, part)
	}
	r.Contact = flows.ContactOf(contact)
	s.nameBuyer(r, storedPerson(contact))
	s.indexPerson(r, at, contact.Email, contact.Mobile)
	r.Prospect.Migrated, r.Prospect.Done = true, true
	r.ApplySale(at.Currency, sale, check)
	return true, nil
}

// followContact keeps a mandate that is signed, or may be, if it moved to the remaining contact, and drops any
// other. Its error means that the club system does not say at the moment.
func (s *Service) followContact(ctx context.Context, r *flows.Registration, at catalogue.Club, remaining club.IRI) error {
	if r.Mandate == nil || r.Mandate.Contact == remaining {
		return nil
	}
	if r.Mandate.State == flows.SignatureSigned || r.Mandate.MaySign() {
		mandate, err := s.cfg.Club.GetMandate(ctx, at.Scope, r.Mandate.IRI)
		switch gone := s.noteMissing(ctx, r, r.Mandate.IRI, err); {
		case err != nil && isTemporary(err), errors.Is(err, club.ErrNotFound) && !gone:
			return err
		case err == nil && mandate.Contact == remaining:
			r.Mandate.Contact = remaining
			return nil
		}
	}
	s.dropMandate(ctx, r, at)
	return nil
}

// isTemporary reports whether the same read may succeed later. Some installations cannot read a mandate at all.
func isTemporary(err error) bool {
	upstream, ok := errors.AsType[*club.Error](err)
	if !ok || upstream.Status == 0 || upstream.Status >= http.StatusInternalServerError || errors.Is(err, club.ErrForeign) {
		return true
	}
	return slices.Contains([]int{http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests}, upstream.Status)
}

func accessTokenFailed(err error) error {
	if failure := flows.MigrationFailed(err); failure != nil {
		return failure
	}
	upstream, ok := errors.AsType[*club.Error](err)
	refused := ok && upstream.Status == 403 && upstream.Outcome == club.Rejected // not the source contact's
	if refused || errors.Is(err, club.ErrUnauthorized) || errors.Is(err, club.ErrBadToken) || errors.Is(err, club.ErrNoContactToken) {
		return &flows.Error{
			Code:   flows.AccessTokenRefused,
			Detail: flows.DetailAccessToken,
			Fields: []flows.FieldProblem{{Pointer: "/accessToken", Code: flows.FieldAccessToken}},
			Err:    err,
		}
	}
	return flows.ClubFailed(err, flows.DetailAccountNotImportable)
}
