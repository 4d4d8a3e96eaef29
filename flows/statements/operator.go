package statements

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/flows"
)

// maxListed is what is read for a listing or an export at once.
const maxListed = 5000

// ListOptions selects received statements.
type ListOptions struct {
	Kind flows.StatementKind // empty: every kind
	All  bool                // done ones too; else those that wait for an operator
	// Since and Until select the statements that were received from the one instant until before the other; zero: no bound.
	Since, Until time.Time
}

// Summary is a statement in one line, for operators.
type Summary struct {
	ID           string               `json:"id"`
	Kind         flows.StatementKind  `json:"kind"`
	State        flows.StatementState `json:"state"`
	ReceivedAt   time.Time            `json:"receivedAt"`
	Deadline     time.Time            `json:"deadline"` // when the club must have acted
	Overdue      bool                 `json:"overdue"`
	Name         string               `json:"name"`
	Email        string               `json:"email"`
	Contract     string               `json:"contract,omitempty"`     // in the person's words
	ClubID       string               `json:"clubId,omitempty"`       // that the person named
	Period       flows.Period         `json:"period,omitempty"`       // of a withdrawal; a hint, a person decides
	AtStake      *flows.Money         `json:"atStake,omitempty"`      // of a withdrawal: paid for the contract that it is probably about
	Type         string               `json:"type,omitempty"`         // of a cancellation: ordinary or extraordinary
	RequestedEnd string               `json:"requestedEnd,omitempty"` // YYYY-MM-DD; empty: the earliest possible day
	EndDate      string               `json:"endDate,omitempty"`      // as the person has read it
	Online       *Online              `json:"online,omitempty"`       // the outcome of the online cancellation
	Outcome      *flows.Outcome       `json:"outcome,omitempty"`
	Unreadable   string               `json:"unreadable,omitempty"` // why this gateway cannot read it; only its times are known then
	Version      int64                `json:"version"`
}

// Detail is everything that is known about a statement.
type Detail struct {
	Summary
	Reason        string                `json:"reason,omitempty"`
	PostalAddress string                `json:"postalAddress,omitempty"`
	Identified    bool                  `json:"identified"` // the club's own login named the contact
	Contact       string                `json:"contact,omitempty"`
	Text          string                `json:"text"`              // the acknowledgement
	Notified      bool                  `json:"notified"`          // the acknowledgement is on its way
	Contracts     []flows.FoundContract `json:"contracts"`         // what it may be about, latest first
	Notes         []flows.Note          `json:"notes"`             // oldest first
	Commands      []string              `json:"commands,omitzero"` // what an operator can do
	Warnings      []string              `json:"warnings,omitempty"`
}

// Page holds statements; More reports whether there may be others.
type Page struct {
	Items []Summary `json:"items"`
	More  bool      `json:"more"`
}

// Online is the end of a membership that the club system itself carries out, for operators.
type Online struct {
	State      flows.OnlineState `json:"state"`
	Membership string            `json:"membership"`     // its name in the club system
	EndDate    string            `json:"endDate"`        // that was sent or, once it is carried out, that of the club system; YYYY-MM-DD
	Seen       string            `json:"seen,omitempty"` // what the club system responded
}

func (s *Service) summary(statement *flows.Statement) Summary {
	declared := statement.Declared
	shown := Summary{
		ID:           statement.ID,
		Kind:         statement.Kind,
		State:        statement.State,
		ReceivedAt:   statement.ReceivedAt,
		Deadline:     flows.Instant(statement.Deadline),
		Overdue:      statement.State == flows.Received && !s.cfg.Now().Before(statement.Deadline),
		Name:         declared.Name,
		Email:        declared.Email,
		Contract:     declared.Contract,
		ClubID:       declared.ClubID,
		RequestedEnd: declared.EndDate,
		EndDate:      cmp.Or(statement.EndDate, statement.AcknowledgedEnd),
		Outcome:      statement.Outcome,
		Version:      statement.Version,
	}
	likely, period := statement.Likely()
	switch {
	case statement.Kind == flows.Withdrawal:
		shown.Period = period
		if likely != nil {
			shown.AtStake = &flows.Money{Amount: likely.Amount, Currency: likely.Currency}
		}
	case declared.Extraordinary:
		shown.Type = "extraordinary"
	case statement.Kind == flows.Cancellation:
		shown.Type = "ordinary"
	}
	if online := statement.Online; online != nil {
		shown.Online = &Online{online.State, online.Name, online.Date, online.Seen}
	}
	return shown
}

// List lists statements: the open ones with the earliest deadline first, or all of them, latest first.
func (s *Service) List(ctx context.Context, in ListOptions) (Page, error) {
	page := Page{Items: []Summary{}}
	if in.Kind != "" && !slices.Contains(flows.StatementKinds, in.Kind) {
		return page, flows.Invalid(flows.FieldProblem{Pointer: flows.InQuery + "kind", Message: "must be withdrawal or cancellation"})
	}
	ids, err := s.cfg.Store.OpenStatements(ctx)
	if in.All && err == nil {
		ids, err = s.cfg.Store.ReceivedStatements(ctx, in.Since)
	}
	if err != nil {
		return page, flows.StorageFailed(err)
	}
	for _, id := range ids {
		why := ""
		statement, err := s.cfg.Store.Statement(ctx, id)
		if flows.Unreadable(err) {
			why = flows.WhyUnreadable(err)
			statement, err = s.cfg.Store.ListedStatement(ctx, id)
		}
		switch {
		case errors.Is(err, flows.ErrNotFound): // it expired
			if err := s.cfg.Store.ForgetStatement(ctx, id); err != nil {
				return page, flows.StorageFailed(err)
			}
			continue
		case err != nil:
			return page, flows.StorageFailed(err)
		case !in.selects(statement):
			continue
		}
		if page.More = len(page.Items) == maxListed; page.More {
			break
		}
		shown := s.summary(statement)
		shown.Unreadable = why
		page.Items = append(page.Items, shown)
	}
	return page, nil
}

// selects reports whether a statement is wanted; one whose kind is not known, with every kind.
func (in ListOptions) selects(statement *flows.Statement) bool {
	at := statement.ReceivedAt
	isKind := in.Kind == "" || statement.Kind == "" || in.Kind == statement.Kind
	return isKind && !at.Before(in.Since) && (in.Until.IsZero() || at.Before(in.Until))
}

// reference returns the reference of a statement that an operator names by it, or by the id that the API gives its person.
func reference(id string) string {
	if id = strings.TrimSpace(id); strings.Contains(id, "-") {
		return flows.StatementID(id)
	}
	return id
}

// Show returns everything that is known about a received statement: of one that this gateway cannot read, its times, and why. id is the
// statement's reference, or its id in the API.
func (s *Service) Show(ctx context.Context, id string) (Detail, error) {
	id = reference(id)
	statement, err := s.received(ctx, id)
	if flows.Unreadable(err) {
		listed, unlisted := s.cfg.Store.ListedStatement(ctx, id)
		if unlisted != nil || listed.ReceivedAt.IsZero() { // it is not confirmed
			return Detail{}, cmp.Or(flows.StorageFailed(unlisted), err)
		}
		shown := Detail{Summary: s.summary(listed), Contracts: []flows.FoundContract{}, Notes: []flows.Note{}}
		shown.Unreadable = flows.WhyUnreadable(err)
		return shown, nil
	}
	if err != nil {
		return Detail{}, err
	}
	return s.detail(statement), nil
}

func (s *Service) detail(statement *flows.Statement) Detail {
	shown := Detail{
		Summary:       s.summary(statement),
		Reason:        statement.Declared.Reason,
		PostalAddress: statement.Declared.PostalAddress,
		Identified:    statement.Contact != nil,
		Text:          statement.Text,
		Notified:      s.cfg.SendMail != nil && statement.Notified != "" && !statement.Unmailed,
		Contracts:     slices.Concat([]flows.FoundContract{}, statement.Contracts),
		Notes:         slices.Concat([]flows.Note{}, statement.Notes),
		Commands:      []string{"frontdesk statements note " + statement.ID + ` "…"`},
	}
	if statement.Contact != nil {
		shown.Contact = statement.Contact.ContactID
	}
	if statement.InDoubt() {
		shown.Commands = append(shown.Commands, "frontdesk statements cancelled "+statement.ID,
			"frontdesk statements not-cancelled "+statement.ID)
		shown.Warnings = append(shown.Warnings, "The club system may have ended the membership: look there. It is not asked again.")
	}
	if s.cfg.SendMail == nil {
		shown.Warnings = append(shown.Warnings, "No mail server is set, so the person gets no mail: send the acknowledgement, and the end of "+
			"the contract, to "+flows.SingleLine(statement.Declared.Email, maxKnown)+".")
	}
	if statement.Unmailed {
		shown.Warnings = append(shown.Warnings,
			"The acknowledgement was not mailed: its address had ten within a day. Send the text if it is wanted.")
	}
	if statement.State == flows.Received && !statement.InDoubt() {
		done := "frontdesk statements done " + statement.ID + ` --reference "…"`
		if statement.Kind == flows.Cancellation {
			done += " --end-date YYYY-MM-DD"
		}
		shown.Commands = append(shown.Commands, done)
	}
	if statement.State == flows.Done && statement.Kind == flows.Cancellation {
		shown.Commands = append(shown.Commands, "frontdesk statements done "+statement.ID+" --end-date YYYY-MM-DD")
	}
	return shown
}

// received reads a confirmed statement.
func (s *Service) received(ctx context.Context, id string) (*flows.Statement, error) {
	statement, err := s.cfg.Store.Statement(ctx, id)
	if err == nil && statement.State == flows.Stated {
		err = flows.ErrNotFound
	}
	if errors.Is(err, flows.ErrNotFound) {
		const unknown = "No received statement has this reference. frontdesk statements list shows the references."
		return nil, &flows.Error{Code: flows.NotFound, Operator: unknown, Err: err}
	}
	return statement, flows.StorageFailed(err)
}

// Completion is what an operator did about a statement.
type Completion struct {
	Operator  string
	Reference string // of the refund or of the letter, where the club keeps it; no names
	EndDate   string // YYYY-MM-DD, of a cancellation: when the contract ends; empty: the person has it already, or it does not end
	// NoEnd says why the contract of a cancellation does not end; it becomes a note. Empty: it ends.
	NoEnd string
}

// Done records that an operator has acted on a statement; with an end date, the person gets it by mail. A cancellation whose person has
// no end yet needs one, or why there is none. Another end than the person has corrects it, also when the statement is done, and goes
// out as a further mail. Frontdesk itself refunds nothing. NotDecidable if the statement is done already and nothing is corrected, or
// its online cancellation is in doubt.
func (s *Service) Done(ctx context.Context, id string, in Completion) (Detail, error) {
	if err := (flows.Decision{Operator: in.Operator, Reason: in.Reference}).Validate(); err != nil {
		return Detail{}, err
	}
	return s.amend(ctx, id, in.Operator, flows.AuditStatementDone, func(statement *flows.Statement, now time.Time) error {
		if statement.InDoubt() {
			return &flows.Error{Code: flows.NotDecidable, Operator: "The online cancellation of this statement is in doubt. Look in the club " +
				"system, and run frontdesk statements cancelled or not-cancelled first."}
		}
		known := cmp.Or(statement.EndDate, statement.AcknowledgedEnd)
		if statement.State == flows.Done && (in.EndDate == "" || in.EndDate == known || statement.Kind != flows.Cancellation) {
			return &flows.Error{Code: flows.NotDecidable, Operator: fmt.Sprintf("%s has recorded this statement as done at %s. "+
				"Add a note instead; another --end-date corrects that of a cancellation.", statement.Outcome.Operator,
				flows.Instant(statement.Outcome.At).Format(time.RFC3339))}
		}
		if err := flows.Invalid(s.endProblems(statement, in)...); err != nil {
			return err
		}
		if in.NoEnd != "" {
			addNote(statement, now, in.Operator, "The contract does not end: "+in.NoEnd)
		}
		if in.EndDate != "" && in.EndDate != known {
			if known != "" {
				statement.Replaced = append(statement.Replaced, known)
				addNote(statement, now, in.Operator, "The end "+known+" was corrected to "+in.EndDate+".")
			}
			statement.EndDate = in.EndDate
			if statement.Notified == flows.Done {
				statement.Notified = flows.Received // so that the person gets a mail
			}
		}
		if statement.State != flows.Done {
			statement.State = flows.Done
			statement.Outcome = &flows.Outcome{At: flows.Instant(now), Operator: in.Operator, Reference: in.Reference}
		}
		return nil
	})
}

// endProblems returns what is wrong with the end that an operator names, or does not name.
func (s *Service) endProblems(statement *flows.Statement, in Completion) (fields []flows.FieldProblem) {
	refuse := func(pointer, message string) {
		fields = append(fields, flows.FieldProblem{Pointer: pointer, Message: message})
	}
	received := s.cfg.Catalogue.Details(statement.Declared.ClubID).LocalTime(statement.ReceivedAt).Format(time.DateOnly)
	switch {
	case statement.Kind != flows.Cancellation:
		if in.EndDate != "" || in.NoEnd != "" {
			refuse("/endDate", "must be a day such as 2030-01-31, and only of a cancellation")
		}
	case in.EndDate != "" && flows.DateFormProblem("/endDate", in.EndDate) != nil:
		refuse("/endDate", "must be a day such as 2030-01-31, and only of a cancellation")
	case in.EndDate != "" && in.EndDate < received:
		refuse("/endDate", "must not be before the receipt of the cancellation, "+received)
	case in.EndDate != "" && in.NoEnd != "":
		refuse("/noEndDate", "must be empty where the contract ends")
	case in.EndDate == "" && in.NoEnd == "" && statement.AcknowledgedEnd == "":
		refuse("/endDate", "is required: the acknowledgement promises the day on which the contract ends. "+
			"If it does not end, say why with --no-end-date")
	case in.NoEnd != "" && !flows.IsReason(in.NoEnd):
		refuse("/noEndDate", fmt.Sprintf("must be one line of at most %d bytes", flows.MaxReasonLength))
	}
	return fields
}

// addNote adds a note to a statement, whose oldest gives way.
func addNote(statement *flows.Statement, now time.Time, operator, words string) {
	statement.Notes = append(statement.Notes, flows.Note{At: flows.Instant(now), Operator: operator, Text: words})
	statement.Notes = slices.Delete(statement.Notes, 0, max(0, len(statement.Notes)-maxNotes))
}

// maxNotes about one statement; a longer conversation belongs in a ticket.
const maxNotes = 100

// AddNote adds a note to a statement, in any state.
func (s *Service) AddNote(ctx context.Context, id, operator, note string) (Detail, error) {
	fields := flows.OperatorProblems(operator)
	if note == "" || !flows.IsReason(note) {
		message := fmt.Sprintf("must be one line of 1 to %d bytes", flows.MaxReasonLength)
		fields = append(fields, flows.FieldProblem{Pointer: "/text", Message: message})
	}
	if err := flows.Invalid(fields...); err != nil {
		return Detail{}, err
	}
	return s.amend(ctx, id, operator, flows.AuditNote, func(statement *flows.Statement, now time.Time) error {
		addNote(statement, now, operator, note)
		return nil
	})
}

// amend changes a received statement by compare-and-set, and appends the change to the audit stream. The statement is followed up once
// more: a change during its follow-up leaves it due.
func (s *Service) amend(ctx context.Context, id, operator string, action flows.AuditAction,
	change func(*flows.Statement, time.Time) error) (Detail, error) {
	id = reference(id)
	for range maxConfirmAttempts {
		statement, err := s.received(ctx, id)
		if flows.Unreadable(err) {
			return Detail{}, &flows.Error{Code: flows.NotDecidable, Err: err, Operator: "This gateway cannot read this statement, so nothing can " +
				"be recorded about it: " + flows.WhyUnreadable(err) + "."}
		}
		if err != nil {
			return Detail{}, err
		}
		now := s.cfg.Now()
		if err := change(statement, now); err != nil {
			return Detail{}, err
		}
		err = s.save(ctx, statement, now, now)
		if errors.Is(err, flows.ErrConflict) {
			continue
		}
		if err != nil {
			return Detail{}, flows.StorageFailed(err)
		}
		s.signal()
		shown, entry := s.detail(statement), flows.AuditEntry{At: now, Operator: operator, Action: action, Statement: id}
		if err := s.cfg.Store.Audit(context.WithoutCancel(ctx), entry); err != nil {
			s.cfg.Log.ErrorContext(ctx, "operator's action not in the audit stream", "statement", id, "error", err)
			shown.Warnings = append(shown.Warnings, "The audit stream lacks this action: Redis did not take it.")
		}
		return shown, nil
	}
	return Detail{}, flows.StorageFailed(flows.ErrConflict)
}

// Counts counts what waits for operators.
func (s *Service) Counts(ctx context.Context) (flows.StatementCounts, error) {
	counts, err := s.cfg.Store.StatementCounts(ctx, s.cfg.Now())
	return counts, flows.StorageFailed(err)
}
