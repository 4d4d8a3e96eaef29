package statements

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"time"

	"frontdesk/flows"
)

const (
	// followLease is the pause after a follow-up that failed, or whose gateway died.
	followLease = time.Minute
	// followBatch is taken at once; more are taken afterwards.
	followBatch = 20
	// withdrawalPeriod in days, of contracts that say nothing else (Directive 2011/83/EU, article 9).
	withdrawalPeriod = 14
)

// Awake has a value when FollowUp should be called at once, because a statement was just received here.
func (s *Service) Awake() <-chan struct{} { return s.wake }

// FollowUp searches for the contracts of the statements that are due. One that was received is due until that succeeded: a gateway that
// dies in between loses nothing, and the next one does it.
func (s *Service) FollowUp(ctx context.Context) error {
	for {
		due, err := s.cfg.Store.DueStatements(ctx, s.cfg.Now(), followLease, followBatch)
		if err != nil {
			return flows.StorageFailed(err)
		}
		for _, id := range due {
			if err := s.follow(ctx, id); err != nil && ctx.Err() == nil {
				s.cfg.Log.WarnContext(ctx, "statement not followed up; retried later", "statement", id, "error", err)
			}
		}
		if len(due) < followBatch {
			return nil
		}
	}
}

// follow does what is due for one statement.
func (s *Service) follow(ctx context.Context, id string) error {
	statement, err := s.cfg.Store.Statement(ctx, id)
	if errors.Is(err, flows.ErrNotFound) {
		return s.cfg.Store.ForgetStatement(ctx, id)
	}
	if err != nil {
		return err
	}
	if !statement.Searched {
		if statement.Contracts, err = s.search(ctx, statement); err != nil {
			return err
		}
		statement.Searched = true
	}
	return s.save(ctx, statement, s.cfg.Now(), time.Time{}) // a conflict leaves it due: an operator changed it meanwhile
}

// registrationID finds the id of a registration in what a person wrote about the contract.
var registrationID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// search finds the completed registrations that a statement may be about: those of its e-mail address, of the identified contact, and
// that whose id it names.
func (s *Service) search(ctx context.Context, statement *flows.Statement) (found []flows.FoundContract, err error) {
	names := s.cfg.Keys.PersonPseudonyms(statement.ClientToken, statement.Declared.Email, "")
	ids, err := s.cfg.Store.RegistrationsOfPerson(ctx, names...)
	if err != nil {
		return nil, err
	}
	if contact := statement.ContactIRI(); contact != "" {
		more, err := s.cfg.Store.RegistrationsOf(ctx, contact)
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
	}
	if id := registrationID.FindString(statement.Declared.Contract); id != "" {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		registration, payment, err := s.cfg.Store.Registration(ctx, id)
		switch {
		case errors.Is(err, flows.ErrNotFound) || flows.Unreadable(err):
			continue
		case err != nil:
			return nil, err
		case registration.ClientToken == statement.ClientToken && payment != nil && payment.State == flows.Recorded:
			found = append(found, s.contractOf(registration, payment))
		}
	}
	slices.SortFunc(found, func(a, b flows.FoundContract) int { return b.At.Compare(a.At) })
	return found, nil
}

func (s *Service) contractOf(registration *flows.Registration, payment *flows.Payment) flows.FoundContract {
	at := payment.StateSince()
	contract := flows.FoundContract{
		Registration: registration.ID,
		ClubID:       registration.ClubID,
		At:           at,
		Until:        s.cfg.Catalogue.Details(registration.ClubID).DayEnds(at.AddDate(0, 0, withdrawalPeriod)),
		Amount:       payment.Amount,
		Currency:     payment.Currency,
	}
	if registration.Contact != nil {
		contract.ContactNumber = registration.Contact.Number
	}
	return contract
}
