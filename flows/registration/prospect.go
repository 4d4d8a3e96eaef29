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
	return s.bring(ctx, id, token, func(ctx context.Context, at catalogue.Club) (owner, error) {
		contact, err := s.cfg.Club.OwnContact(ctx, at.Scope.ClientToken, accessToken)
		if err != nil {
			return owner{}, accessTokenFailed(err)
		}
		return owner{contact, accessToken}, nil
	})
}

// MigrateIdentified is Migrate for a person whom the club's own login identifies as a contact. Because that proves who they are, the
// gateway requests their access token itself, with the e-mail address that the club system has of that contact.
func (s *Service) MigrateIdentified(ctx context.Context, id, token string, identity flows.ContactIdentity) (flows.View, error) {
	return s.bring(ctx, id, token, func(ctx context.Context, at catalogue.Club) (owner, error) {
		if !s.cfg.ContactTokens || identity.ClientToken != at.Scope.ClientToken {
			return owner{}, LoginTokenRefused(nil)
		}
		return s.identified(ctx, at, identity)
	})
}

// owner is the person whose account is brought in, with their access token.
type owner struct {
	club.Contact
	accessToken string
}

// identified gets the access token of an identified contact. The token must be that contact's: another one may have the same address.
func (s *Service) identified(ctx context.Context, at catalogue.Club, identity flows.ContactIdentity) (own owner, err error) {
	scope, err := s.cfg.Catalogue.ScopeAbove(ctx, at, club.NewIRI(identity.ClientToken, "clubs", identity.ClubID))
	if err != nil {
		return owner{}, err
	}
	known, err := s.cfg.readContact(ctx, scope, identity.IRI())
	if errors.Is(err, club.ErrNotFound) || err == nil && known.Email == "" {
		return owner{}, LoginTokenRefused(err)
	}
	if err == nil {
		own.accessToken, err = s.cfg.Club.ContactToken(ctx, identity.ClientToken, known.Email)
	}
	if err == nil {
		own.Contact, err = s.cfg.Club.OwnContact(ctx, identity.ClientToken, own.accessToken)
	}
	if errors.Is(err, club.ErrGrantRefused) || err == nil && own.IRI != known.IRI {
		return owner{}, LoginTokenRefused(err)
	}
	return own, flows.ClubFailed(err, flows.DetailAccountNotImportable)
}

// bring makes a person the buyer of a registration, unless an earlier call did.
func (s *Service) bring(
	ctx context.Context, id, token string, find func(context.Context, catalogue.Club) (owner, error),
) (flows.View, error) {
	registration, payment, at, err := s.editable(ctx, id, token)
	switch {
	case err != nil:
		return flows.View{}, err
	case registration.Contact == nil:
		return flows.View{}, &flows.Error{Code: flows.PersonRequired, Detail: flows.DetailPersonFirst}
	case registration.Sale == "":
		return flows.View{}, &flows.Error{Code: flows.CartEmpty, Detail: flows.DetailOfferFirst}
	case registration.Prospect != nil && registration.Prospect.Done:
		return s.view(registration, payment), nil
	case registration.IsMerged():
		return flows.View{}, personKnown() // the sale already belongs to a member
	}
	arrived := false
	if registration.Prospect != nil { // an earlier call got somewhere
		if arrived, err = s.takeOver(ctx, registration, at); err != nil {
			return flows.View{}, err
		}
	}
	if !arrived {
		var source owner
		if source, err = find(ctx, at); err == nil {
			err = s.migrate(ctx, registration, at, source)
		}
	}
	if err != nil {
		return flows.View{}, err
	}
	return s.saved(ctx, registration, payment)
}

// migrate stores its intent, migrates, stores the result, and takes the contact over.
func (s *Service) migrate(ctx context.Context, registration *flows.Registration, at catalogue.Club, source owner) error {
	if err := s.checkGuardian(at, storedPerson(source.Contact), registration.Guardian, "/guardian"); err != nil {
		return err
	}
	scope, err := s.cfg.Catalogue.ScopeAbove(ctx, at, source.Club)
	if err != nil {
		return err
	}
	before := registration.Prospect
	registration.Prospect = &flows.Prospect{Source: source.IRI}
	if err := s.save(ctx, registration); err != nil {
		return err
	}
	target := club.Migration{Contact: registration.Contact.IRI, Club: at.IRI}
	err = s.cfg.Club.MigrateContact(ctx, scope, source.IRI, source.accessToken, target)
	if err != nil && club.OutcomeOf(err) != club.Unknown {
		registration.Prospect = before
		if saveErr := s.cfg.Store.SaveRegistration(ctx, registration); saveErr != nil {
			s.cfg.Log.WarnContext(ctx, "registration not saved after a migration was refused", "error", saveErr)
		}
		return accessTokenFailed(err)
	}
	if err == nil {
		registration.Prospect.Migrated = true
		if saveErr := s.save(ctx, registration); saveErr != nil {
			return saveErr
		}
	}
	arrived, tookErr := s.takeOver(ctx, registration, at)
	if tookErr != nil {
		return tookErr
	}
	if arrived {
		return nil
	}
	if err == nil { // the success was not the club system's, or is not visible yet: the visitor may try again or do without
		if err := s.save(ctx, registration); err != nil {
			return err
		}
		return &flows.Error{Code: flows.ClubSystemFailed, Detail: flows.DetailAccountNotImportable}
	}
	return flows.ClubFailed(err, flows.DetailAccountNotImportable)
}

// takeOver gives the sale the remaining contact, and reads both, because no response is proof enough. False when that
// is still the temporary contact: then nothing was migrated.
func (s *Service) takeOver(ctx context.Context, registration *flows.Registration, at catalogue.Club) (bool, error) {
	const part = flows.DetailAccountImportUnfinished
	unknown := s.cfg.Club.UpdateSaleContact(ctx, at.Scope, registration.Sale)
	if unknown != nil && club.OutcomeOf(unknown) != club.Unknown {
		return false, flows.ClubFailed(unknown, part)
	}
	sale, check, err := s.cfg.Club.GetCheckedSale(ctx, at.Scope, registration.Sale)
	if err != nil {
		return false, flows.ClubFailed(err, part)
	}
	contact, err := s.cfg.readContact(ctx, at.Scope, sale.Contact)
	if err != nil {
		return false, flows.ClubFailed(err, part)
	}
	if contact.Status == club.StatusTemp {
		if unknown != nil && registration.Prospect.Migrated {
			return false, flows.ClubFailed(unknown, part)
		}
		registration.Prospect.Migrated = false
		return false, nil
	}
	if err := s.followContact(ctx, registration, at, contact.IRI); err != nil {
		return false, flows.ClubFailed(err, part)
	}
	entered := registration.Contact
	registration.Contact = flows.ContactOf(contact)
	registration.Contact.Entered = entered.Entered
	if contact.Email == "" {
		registration.Contact.KeepEmail(entered)
	}
	s.nameBuyer(registration, storedPerson(contact))
	s.indexPerson(registration, at, contact.Email, contact.Mobile)
	registration.Prospect.Migrated, registration.Prospect.Done = true, true
	s.applySale(ctx, registration, at, sale, check)
	return true, nil
}

// followContact keeps a mandate that is signed, or may be, if it moved to the remaining contact, and drops any
// other. Its error means that the club system does not say at the moment.
func (s *Service) followContact(ctx context.Context, registration *flows.Registration, at catalogue.Club, remaining club.IRI) error {
	if registration.Mandate == nil || registration.Mandate.Contact == remaining {
		return nil
	}
	if registration.Mandate.State == flows.SignatureSigned || registration.Mandate.MaySign() {
		mandate, err := s.cfg.Club.GetMandate(ctx, at.Scope, registration.Mandate.IRI)
		switch gone := s.noteMissing(ctx, registration, registration.Mandate.IRI, err); {
		case err != nil && isTemporary(err), errors.Is(err, club.ErrNotFound) && !gone:
			return err
		case err == nil && mandate.Contact == remaining:
			registration.Mandate.Contact = remaining
			return nil
		}
	}
	s.dropMandate(ctx, registration, at)
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
		return tokenRefused("/accessToken", err)
	}
	return flows.ClubFailed(err, flows.DetailAccountNotImportable)
}

// LoginTokenRefused is the error of every login token with which no account can be brought in, so that it tells nothing about accounts.
func LoginTokenRefused(err error) error { return tokenRefused("/identityToken", err) }

func tokenRefused(pointer string, err error) error {
	return &flows.Error{
		Code:   flows.AccessTokenRefused,
		Detail: flows.DetailAccessToken,
		Fields: []flows.FieldProblem{{Pointer: pointer, Code: flows.FieldAccessToken}},
		Err:    err,
	}
}
