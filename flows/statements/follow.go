package statements

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"frontdesk/flows"
	"frontdesk/flows/contract"
	"frontdesk/flows/text"
	"frontdesk/upstream/mail"
)

const (
	// followLease is the pause after a follow-up that failed, or whose gateway died.
	followLease = time.Minute
	// followBatch is taken at once; more are taken afterwards.
	followBatch = 20
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

// notifyEnd tells the person when the contract ends, which the acknowledgement left open. It says of the contract what the person declared,
// and nothing that the club knows.
func (s *Service) notifyEnd(ctx context.Context, statement *flows.Statement) error {
	if s.cfg.SendMail == nil || statement.Kind != flows.Cancellation || statement.EndDate == "" {
		return nil
	}
	write := writeIn(text.Match(statement.Declared.Language))
	parts := []string{write(textEndSubject), write(textEnds, "date", statement.EndDate)}
	if id := statement.Declared.ClubID; id != "" {
		_, _ = s.cfg.Catalogue.Locate(ctx, statement.ClientToken, id) // days later, it is no longer cached; the mail goes out without it too
	}
	club, seller := s.addressee(ctx, statement)
	about := written(write, line{textClub, "club", club}, line{textSeller, "seller", seller},
		line{textContract, "contract", statement.Declared.Contract}, line{textMembership, "membership", statement.Declared.Membership})
	if len(about) > 0 {
		parts = append(parts, strings.Join(about, "\n"))
	}
	name := "end"
	if n := len(statement.Replaced); n > 0 {
		name = fmt.Sprintf("end %d", n)
		parts = append(parts, write(textEndReplaces, "date", statement.Replaced[n-1]))
	}
	parts = append(parts, write(textReference, "id", statement.ID))
	return s.cfg.SendMail(ctx, mailTo(statement, name, strings.Join(parts, "\n\n")))
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

const (
	// maxFound contracts are listed: more than anyone concludes.
	maxFound = 100
	// maxNumbers in what a person wrote about the contract are searched for.
	maxNumbers = 10
)

// search finds the contracts that a statement may be about, latest first: those of the identified contact, that whose registration it
// names, and those of the contact's number and of its e-mail address; if there are none, those of its name. The confirmations, which say
// what was agreed, are kept as long as statements.
func (s *Service) search(ctx context.Context, statement *flows.Statement) (found []flows.FoundContract, err error) {
	token, declared := statement.ClientToken, statement.Declared
	var numbers []string
	for _, number := range numbersIn(declared.Contract) {
		numbers = append(numbers, s.cfg.Keys.NumberPseudonyms(token, number)...)
	}
	byNames := func(names ...string) func() ([]string, error) {
		return func() ([]string, error) {
			ids, err := s.cfg.Store.ConfirmationsBy(ctx, names...)
			recent, unread := s.cfg.Store.RegistrationsOfPerson(ctx, names...)
			return append(ids, recent...), cmp.Or(err, unread)
		}
	}
	byLogin := func() ([]string, error) {
		ids, err := s.cfg.Store.ConfirmationsOf(ctx, statement.ContactIRI())
		recent, unread := s.cfg.Store.RegistrationsOf(ctx, statement.ContactIRI())
		return append(ids, recent...), cmp.Or(err, unread)
	}
	for _, lookup := range []struct {
		by   flows.FoundBy
		find func() ([]string, error)
	}{
		{flows.ByLogin, byLogin},
		{flows.ByRegistration, func() ([]string, error) { return registrationID.FindAllString(declared.Contract, 1), nil }},
		{flows.ByNumber, byNames(numbers...)},
		{flows.ByEmail, byNames(s.cfg.Keys.PersonPseudonyms(token, declared.Email, "")...)},
		{flows.ByName, byNames(s.cfg.Keys.NamePseudonyms(token, declared.Name)...)},
	} {
		if lookup.by == flows.ByName && len(found) > 0 {
			break
		}
		ids, err := lookup.find()
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			isKnown := slices.ContainsFunc(found, func(known flows.FoundContract) bool { return known.Registration == id })
			if isKnown || len(found) == maxFound {
				continue
			}
			one, err := s.contractOf(ctx, token, id)
			if err != nil {
				return nil, err
			}
			if one != nil {
				one.By = lookup.by
				found = append(found, *one)
			}
		}
	}
	slices.SortFunc(found, func(a, b flows.FoundContract) int { return b.At.Compare(a.At) })
	return found, nil
}

// numbersIn returns what may be a contact's number in what a person wrote: each word with a digit, and all of it.
func numbersIn(written string) (numbers []string) {
	hasDigit := func(text string) bool { return strings.ContainsFunc(text, unicode.IsDigit) }
	for _, word := range append(strings.FieldsFunc(written, isBetweenWords), written) {
		if hasDigit(word) && len(numbers) < maxNumbers {
			numbers = append(numbers, word)
		}
	}
	return numbers
}

// isBetweenWords reports whether a character separates the words of a text. A number may have hyphens, dots and slashes.
func isBetweenWords(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;:()", r) }

// contractOf returns the contract of a registration, if it was completed; nil if it was not, or cannot be read.
func (s *Service) contractOf(ctx context.Context, clientToken, registration string) (*flows.FoundContract, error) {
	confirmation, err := s.cfg.Store.Confirmation(ctx, registration)
	if errors.Is(err, flows.ErrNotFound) {
		confirmation, err = s.unconfirmed(ctx, registration)
	}
	switch {
	case errors.Is(err, flows.ErrNotFound), flows.Unreadable(err), err == nil && confirmation.ClientToken != clientToken:
		return nil, nil
	case err != nil:
		return nil, err
	}
	found := &flows.FoundContract{
		Registration:  registration,
		ContactNumber: confirmation.ContactNumber,
		ClubID:        confirmation.ClubID,
		At:            confirmation.At,
		Amount:        confirmation.Amount,
		Currency:      confirmation.Currency,
	}
	order, err := contract.OrderIn(confirmation)
	if err != nil {
		return found, nil // what was ordered is not known
	}
	club := s.cfg.Catalogue.Details(confirmation.ClubID)
	for _, item := range order.Items {
		found.Items = append(found.Items, flows.FoundItem{Name: item.Name, Price: item.Price, Right: item.Withdrawal.Right,
			Until: club.EndOf(item.Withdrawal.Until)})
	}
	return found, nil
}

// unconfirmed returns what a completed registration's confirmation will say that is not made yet. ErrNotFound if it is not completed.
func (s *Service) unconfirmed(ctx context.Context, id string) (*flows.Confirmation, error) {
	registration, payment, err := s.cfg.Store.Registration(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case payment == nil || payment.State != flows.Recorded:
		return nil, flows.ErrNotFound
	case registration.Ordered != nil:
		return contract.Confirm(registration, payment, s.cfg.Catalogue.Details(registration.ClubID), "")
	}
	return &flows.Confirmation{ClientToken: registration.ClientToken, ClubID: registration.ClubID, At: payment.StateSince(),
		Amount: payment.Amount, Currency: payment.Currency}, nil
}
