package statements

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/text"
	"frontdesk/upstream/mail"
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

// FollowUp sends the acknowledgements and events that are due, and searches for the contracts. A statement that was received, or done,
// is due until all of it succeeded: a gateway that dies in between loses nothing, and the next one sends it again.
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
	if isSending, err := s.doubt(ctx, statement); isSending || err != nil {
		return err
	}
	if statement.Notified == "" {
		if err := s.notifyReceived(ctx, statement); err != nil {
			return err
		}
		statement.Notified = flows.Received
	}
	if statement.State == flows.Done && statement.Notified == flows.Received {
		if err := s.notifyEnd(ctx, statement); err != nil {
			return err
		}
		statement.Notified = flows.Done
	}
	if !statement.Searched {
		if statement.Contracts, err = s.search(ctx, statement); err != nil {
			return err
		}
		statement.Searched = true
	}
	return s.save(ctx, statement, s.cfg.Now(), time.Time{}) // a conflict leaves it due: an operator changed it meanwhile
}

// receivedData is the data of the event about a statement. It names no person.
type receivedData struct {
	StatementID string    `json:"statementId"`
	ReceivedAt  time.Time `json:"receivedAt"`
	Deadline    time.Time `json:"deadline"`
}

// notifyReceived sends the acknowledgement to the person, and the event to subscribers. Each has an id of its own, so that a repetition
// is recognised.
func (s *Service) notifyReceived(ctx context.Context, statement *flows.Statement) error {
	if err := s.mailReceipt(ctx, statement); err != nil {
		return err
	}
	name := flows.WithdrawalReceived
	if statement.Kind == flows.Cancellation {
		name = flows.CancellationReceived
	}
	return s.cfg.Publish(ctx, flows.NewOwnEvent(name, statement.ID, statement.ReceivedAt,
		receivedData{statement.ID, statement.ReceivedAt, flows.Instant(statement.Deadline)}))
}

// notifyEnd tells the person when the contract ends, which the acknowledgement left open.
func (s *Service) notifyEnd(ctx context.Context, statement *flows.Statement) error {
	if statement.Kind != flows.Cancellation || statement.EndDate == "" {
		return nil
	}
	write := writeIn(text.Match(statement.Declared.Language))
	parts := []string{write(textEndSubject), write(textEnds, "date", statement.EndDate), write(textReference, "id", statement.ID)}
	return s.cfg.SendMail(ctx, mailTo(statement, "end", strings.Join(parts, "\n\n")))
}

// mailTo writes a mail to the person of a statement: a text whose first part is the subject. name distinguishes the mails about it.
func mailTo(statement *flows.Statement, name, written string) flows.Mail {
	parts := strings.Split(written, "\n\n")
	page := mail.Page{Language: statement.Declared.Language, Title: parts[0], Blocks: []mail.Block{{Paragraphs: parts[1:]}}}
	html, _ := mail.Render(page)
	return flows.Mail{
		ID:           "statement:" + statement.ID + ":" + name,
		Organisation: statement.ClientToken,
		To:           statement.Declared.Email,
		Language:     page.Language,
		Subject:      page.Title,
		Text:         written + "\n",
		HTML:         html,
	}
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
