package statements

import (
	"context"
	"errors"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/registration"
	"frontdesk/upstream/club"
)

const (
	// claimLife is how old a claim may be when the first byte of a cancellation leaves: a process may sleep at any line.
	claimLife = 10 * time.Second
	// doubtAfter is when a claimed cancellation is in doubt whose gateway has stored no outcome. The request itself ends within half a
	// minute.
	doubtAfter = time.Minute
	// sendingPoll is the pause between two looks for the outcome of a cancellation that another request sends.
	sendingPoll = 100 * time.Millisecond
	// holdPlanned is how long a statement holds the subscription that it ends: until every other one that was planned before has expired,
	// and the club system shows the end to those that come later. In doubt, it holds it until an operator has decided.
	holdPlanned = 2 * flows.ConfirmStatementWithin
)

// online is who has acted on a statement that the club system itself has carried out.
const online = "frontdesk"

// plan has the club system end the membership that a cancellation is about, if it can, and names the membership in the declaration.
// What cannot be planned waits for an operator, as everybody's statements do.
func (s *Service) plan(ctx context.Context, in *Request) (*flows.OnlineCancellation, error) {
	if in.Kind != flows.Cancellation || in.Contact == nil {
		return nil, nil
	}
	own, err := s.sent(ctx, *in.Contact)
	if err != nil {
		return nil, flows.StorageFailed(err)
	}
	planned, name, err := s.cfg.Contacts.PlanCancellation(ctx, *in.Contact, registration.Leaving{
		Membership: in.Membership,
		EndDate:    in.Declared.EndDate,
		Language:   in.Declared.Language,
		Own:        own,
	})
	if flows.CodeOf(err) == flows.NotFound {
		return nil, flows.Invalid(flows.FieldProblem{Pointer: "/membership", Code: flows.FieldInvalid})
	}
	in.Declared.Membership = flows.SingleLine(name, maxKnown)
	if err != nil {
		s.cfg.Log.WarnContext(ctx, "cancellation not planned online; it waits for an operator", "error", err)
	}
	if err != nil || in.Declared.Extraordinary {
		return nil, nil
	}
	return planned, nil
}

// sent returns the online cancellations of a contact that the club system has carried out, or may have.
func (s *Service) sent(ctx context.Context, contact flows.ContactIdentity) (own []flows.OnlineCancellation, err error) {
	ids, err := s.cfg.Store.StatementsOfContact(ctx, contact.IRI())
	for _, id := range ids {
		statement, err := s.cfg.Store.Statement(ctx, id)
		switch {
		case errors.Is(err, flows.ErrNotFound), flows.Unreadable(err):
		case err != nil:
			return nil, err
		case statement.Online.Sent():
			own = append(own, *statement.Online)
		}
	}
	return own, err
}

// Memberships reads what an identified contact is subscribed to, and what has become of the contact's own cancellations.
func (s *Service) Memberships(ctx context.Context, contact flows.ContactIdentity) (registration.Memberships, error) {
	own, err := s.sent(ctx, contact)
	if err != nil {
		return registration.Memberships{}, flows.StorageFailed(err)
	}
	return s.cfg.Contacts.Memberships(ctx, contact, own)
}

// claim reserves the one attempt at a planned cancellation, and reports whether the gateway that saves the claim sends it. It does
// not where another statement has ended the membership, or may have: then this one waits for an operator. The notice period counts from
// now, so that midnight may have moved the last day.
func (s *Service) claim(ctx context.Context, statement *flows.Statement, now time.Time) (bool, error) {
	if statement.Online == nil {
		return false, nil
	}
	claimed := *statement.Online
	statement.Online = &claimed
	holds, err := s.cfg.Store.HoldSubscription(ctx, claimed.Subscription, statement.ID, holdPlanned)
	if err == nil && !holds {
		claimed.State, claimed.Seen = flows.OnlineRefused, "not sent: another cancellation of this membership came before"
	}
	if err != nil || !holds {
		return false, err
	}
	claimed.State, claimed.ClaimedAt, claimed.Date = flows.OnlineSending, now, s.cfg.Contacts.LastDay(claimed, now)
	return true, nil
}

// hold has a statement hold its subscription for some time, or give it up with zero. If that fails, the subscription may be held for
// longer: the next cancellation then waits for an operator.
func (s *Service) hold(ctx context.Context, statement *flows.Statement, keep time.Duration) {
	if _, err := s.cfg.Store.HoldSubscription(ctx, statement.Online.Subscription, statement.ID, keep); err != nil {
		s.cfg.Log.WarnContext(ctx, "membership not held or given up by its cancellation", "statement", statement.ID, "error", err)
	}
}

// holdAs has a statement hold its subscription as long as the state of its cancellation needs that.
func (s *Service) holdAs(ctx context.Context, statement *flows.Statement) {
	switch statement.Online.State {
	case flows.OnlineRefused:
		s.hold(ctx, statement, 0)
	case flows.OnlineInDoubt:
		s.hold(ctx, statement, s.cfg.Kept)
	default:
		s.hold(ctx, statement, holdPlanned)
	}
}

// carryOut sends a claimed cancellation, once, and stores what became of it. It returns the statement as it is stored: without an outcome,
// it is in doubt later.
func (s *Service) carryOut(ctx context.Context, statement *flows.Statement) *flows.Statement {
	ctx = context.WithoutCancel(ctx)
	claimed := *statement.Online
	last, outcome := s.cfg.Contacts.CancelOnline(ctx, *statement.Contact, claimed, func() error {
		if s.cfg.Now().Sub(claimed.ClaimedAt) > claimLife {
			return errors.New("the claim is too old")
		}
		return nil
	})
	if outcome != nil {
		s.cfg.Log.WarnContext(ctx, "membership not cancelled online; it waits for an operator", "statement", statement.ID,
			"outcome", club.OutcomeOf(outcome), "error", outcome)
	}
	for range maxConfirmAttempts {
		next := *statement
		s.settle(ctx, &next, last, outcome)
		now := s.cfg.Now()
		err := s.save(ctx, &next, now, now)
		if err == nil {
			s.holdAs(ctx, &next)
			s.signal()
			return &next
		}
		if errors.Is(err, flows.ErrConflict) {
			var current *flows.Statement
			if current, err = s.cfg.Store.Statement(ctx, statement.ID); err == nil {
				statement = current
				continue
			}
		}
		s.cfg.Log.ErrorContext(ctx, "outcome of an online cancellation not stored; it will be in doubt", "statement", statement.ID,
			"outcome", club.OutcomeOf(outcome), "error", err)
		return statement
	}
	return statement
}

// settle adds the outcome of a cancellation to its statement. Only a success acts on it; everything else waits for an operator. last is
// the last day that the club system has then: it counts, also where another one was sent.
func (s *Service) settle(ctx context.Context, statement *flows.Statement, last string, outcome error) {
	settled := *statement.Online
	wasSending := settled.State == flows.OnlineSending
	switch club.OutcomeOf(outcome) {
	case club.Accepted:
		settled.State = flows.OnlineCarriedOut
		if last != settled.Date {
			settled.Seen = "another last day than the " + settled.Date + " that was sent"
		}
		settled.Date = last
	case club.Unknown:
		settled.State = flows.OnlineInDoubt
	default:
		settled.State = flows.OnlineRefused
	}
	if outcome != nil {
		settled.Seen = string(club.OutcomeOf(outcome))
	}
	if failure, ok := errors.AsType[*club.Error](outcome); ok {
		settled.Seen += failure.Seen()
	}
	statement.Online = &settled
	if settled.State != flows.OnlineCarriedOut || statement.State == flows.Done {
		return
	}
	s.end(statement, online, "")
	if wasSending { // so that the acknowledgement is not on its way
		statement.AcknowledgedEnd, statement.EndDate = settled.Date, ""
		statement.Text = s.acknowledge(ctx, statement)
	}
}

// end makes a statement done, because the club system has ended the membership.
func (s *Service) end(statement *flows.Statement, operator, reference string) {
	statement.State, statement.EndDate = flows.Done, statement.Online.Date
	statement.Outcome = &flows.Outcome{At: flows.Instant(s.cfg.Now()), Operator: operator, Reference: reference}
}

// await waits for the outcome of a cancellation that another request is sending.
func (s *Service) await(ctx context.Context, statement *flows.Statement) (*flows.Statement, error) {
	for statement.Online != nil && statement.Online.State == flows.OnlineSending && s.cfg.Now().Sub(statement.Online.ClaimedAt) < doubtAfter {
		select {
		case <-ctx.Done():
			return statement, nil
		case <-time.After(sendingPoll):
		}
		current, err := s.cfg.Store.Statement(ctx, statement.ID)
		if err != nil {
			return nil, err
		}
		statement = current
	}
	return statement, nil
}

// doubt makes a cancellation in doubt whose gateway has stored no outcome in time. It reports whether it was, or may still be, being sent.
func (s *Service) doubt(ctx context.Context, statement *flows.Statement) (isSending bool, err error) {
	if statement.Online == nil || statement.Online.State != flows.OnlineSending {
		return false, nil
	}
	now := s.cfg.Now()
	if left := statement.Online.ClaimedAt.Add(doubtAfter).Sub(now); left > 0 {
		return true, s.save(ctx, statement, now, now.Add(left))
	}
	stuck := *statement.Online
	stuck.State, stuck.Seen = flows.OnlineInDoubt, "the gateway that sent it stopped"
	statement.Online = &stuck
	s.cfg.Log.WarnContext(ctx, "online cancellation in doubt: an operator decides", "statement", statement.ID)
	s.holdAs(ctx, statement)
	return true, s.save(ctx, statement, now, now)
}

// EndDoubt records what an operator has found in the club system about an online cancellation in doubt: that it has ended the membership,
// or that it has not, and the statement waits for an operator. NotDecidable if it is not in doubt.
func (s *Service) EndDoubt(ctx context.Context, id, operator string, isCarriedOut bool) (Detail, error) {
	if err := (flows.Decision{Operator: operator}).Validate(); err != nil {
		return Detail{}, err
	}
	action := flows.AuditNotCancelled
	if isCarriedOut {
		action = flows.AuditCancelled
	}
	return s.amend(ctx, id, operator, action, func(statement *flows.Statement, _ time.Time) error {
		if !statement.InDoubt() {
			return &flows.Error{Code: flows.NotDecidable, Operator: "This statement has no online cancellation in doubt."}
		}
		decided := *statement.Online
		decided.State = flows.OnlineRefused
		if isCarriedOut {
			decided.State = flows.OnlineCarriedOut
		}
		statement.Online = &decided
		if isCarriedOut && statement.State != flows.Done {
			s.end(statement, operator, "")
		}
		s.holdAs(ctx, statement)
		return nil
	})
}
