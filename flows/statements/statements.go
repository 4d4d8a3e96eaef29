// Package statements takes what people declare about their contracts: withdrawals and cancellations. No account is
// needed. A statement has two steps, as the law asks: it is stated, and then confirmed. The confirmation is acknowledged at once, with
// the content and the time, and by mail. From then on the statement is a proof, and waits for an operator until its deadline.
//
// Where the club system ends memberships online, a cancellation of an identified contact is carried out, at most once (online.go).
//
// Stating and confirming call no other system, unless the club's own login has identified the contact: the response is the same,
// also in its time, whether or not the contract is known. What it may be about is searched for afterwards (follow.go), and a
// person decides. No money moves here: the club refunds where it holds the money, and an operator records that it did (operator.go).
//
// Start reading at Service.State and Service.Confirm.
package statements

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/flows/keyring"
	"frontdesk/flows/registration"
	"frontdesk/flows/store"
	"frontdesk/flows/text"
)

// Config is what the service needs; every field is required unless noted.
type Config struct {
	Store     *store.Store
	Catalogue *catalogue.Catalogue   // knows the clubs' time zones, and the operator's texts
	Contacts  *registration.Contacts // reads the contacts that the club's own login identifies
	Keys      *keyring.Keyring       // make the pseudonyms by which contracts are found
	Kept      time.Duration          // how long a received statement is kept after its receipt
	// SendMail sends a mail, at least once; nil: none is sent.
	SendMail func(ctx context.Context, mail flows.Mail) error
	// Publish sends an event to its subscribers, at least once.
	Publish func(ctx context.Context, event flows.OwnEvent) error
	Now     func() time.Time
	Log     *slog.Logger
}

// Service takes statements, and shows them to operators.
type Service struct {
	cfg  Config
	wake chan struct{} // has a value when a statement was just received or done
}

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg, wake: make(chan struct{}, 1)} }

// Request is a statement as its person makes it.
type Request struct {
	Kind        flows.StatementKind
	ClientToken string
	Contact     *flows.ContactIdentity // nil: only the declaration names the person
	Declared    flows.Declaration
	Membership  string // of the contact: the one that a cancellation ends; empty: the only one
}

// State stores an unconfirmed statement, and returns it with the secret that confirms it. An identified contact need not give a name, an
// e-mail address or a contract.
func (s *Service) State(ctx context.Context, in Request) (statement *flows.Statement, secret string, err error) {
	if in.Contact != nil {
		if err := s.complete(ctx, &in); err != nil {
			return nil, "", err
		}
	}
	in.Declared = clean(in.Declared)
	if err := s.validate(in); err != nil {
		return nil, "", err
	}
	planned, err := s.plan(ctx, &in)
	if err != nil {
		return nil, "", err
	}
	now := s.cfg.Now()
	secret = uuid.NewString() // 122 random bits
	statement = &flows.Statement{
		ID:          flows.StatementID(secret),
		Kind:        in.Kind,
		State:       flows.Stated,
		ClientToken: in.ClientToken,
		Declared:    in.Declared,
		Online:      planned,
		Contact:     in.Contact,
		StatedAt:    flows.Instant(now),
	}
	err = s.cfg.Store.SaveStatement(ctx, statement, now, time.Time{}, flows.ConfirmStatementWithin)
	return statement, secret, flows.StorageFailed(err)
}

// complete adds what the club system knows of an identified contact, and the request leaves out. A request that has the name and the
// e-mail address goes on without it: who is logged in can state no less than a stranger.
func (s *Service) complete(ctx context.Context, in *Request) error {
	known, err := s.cfg.Contacts.Me(ctx, *in.Contact)
	isWhole := in.Declared.Name != "" && in.Declared.Email != ""
	if err != nil && isWhole && flows.CodeOf(err) != flows.NotIdentified {
		s.cfg.Log.WarnContext(ctx, "identified contact not read; the statement has what it declares", "error", err)
		in.Declared.ClubID = cmp.Or(in.Declared.ClubID, in.Contact.ClubID)
		return nil
	}
	if err != nil {
		return err
	}
	for member, value := range map[*string]string{
		&in.Declared.Name:     strings.TrimSpace(known.GivenName + " " + known.FamilyName),
		&in.Declared.Email:    known.Email,
		&in.Declared.Contract: known.Number,
		&in.Declared.ClubID:   in.Contact.ClubID,
	} {
		if *member == "" {
			*member = flows.SingleLine(value, maxKnown)
		}
	}
	return nil
}

// maxDeclared bounds what a person declares, in characters; the contract has narrower limits.
const maxDeclared = 2000

// clean returns a declaration whose texts leave each other, and the club's, as they are: where they are mailed, printed and listed.
func clean(declared flows.Declaration) flows.Declaration {
	declared.Name, declared.Contract = flows.SingleLine(declared.Name, maxDeclared), flows.SingleLine(declared.Contract, maxDeclared)
	declared.Reason, declared.PostalAddress = flows.Lines(declared.Reason, maxDeclared), flows.Lines(declared.PostalAddress, maxDeclared)
	return declared
}

// maxKnown bounds a text of the club system, in characters, as the contract bounds those of visitors.
const maxKnown = 200

// validate returns everything that is wrong with a request and that the contract cannot say.
func (s *Service) validate(in Request) error {
	var fields []flows.FieldProblem
	require := func(pointer, value string) {
		if strings.TrimSpace(value) == "" {
			fields = append(fields, flows.FieldProblem{Pointer: pointer, Code: flows.FieldRequired})
		}
	}
	require("/email", in.Declared.Email)
	require("/name", in.Declared.Name)
	if in.Declared.Extraordinary {
		require("/reason", in.Declared.Reason)
	}
	if end := in.Declared.EndDate; end != "" {
		earliest, _ := s.cfg.Catalogue.Details(in.Declared.ClubID).StartDates(s.cfg.Now(), "") // today
		if problem := flows.DateProblem("/endDate", end, earliest, latestEnd); problem != nil {
			fields = append(fields, *problem)
		}
	}
	return flows.Invalid(fields...)
}

// latestEnd is no limit: when a contract can end at the latest is up to the club.
const latestEnd = "9999-12-31"

// maxConfirmAttempts is enough for two confirmations at the same time.
const maxConfirmAttempts = 3

// Confirm receives a statement: it becomes a proof, with the time of its receipt and the acknowledgement. Confirming again returns
// the same. NotFound if no statement has the secret, or no longer.
func (s *Service) Confirm(ctx context.Context, clientToken string, kind flows.StatementKind, secret string) (*flows.Statement, error) {
	for range maxConfirmAttempts {
		statement, err := s.cfg.Store.Statement(ctx, flows.StatementID(secret))
		if err == nil && (statement.ClientToken != clientToken || statement.Kind != kind) {
			err = flows.ErrNotFound
		}
		if err == nil && statement.State != flows.Stated {
			statement, err = s.await(ctx, statement)
		}
		if err != nil || statement.State != flows.Stated {
			return statement, flows.StorageFailed(err)
		}
		now := s.cfg.Now()
		s.receive(ctx, statement, now)
		followUp := now
		isClaimed, err := s.claim(ctx, statement, now)
		if isClaimed { // the claim is stored before the call, in the same write as the receipt
			followUp = now.Add(doubtAfter)
		}
		if err == nil {
			err = s.save(ctx, statement, now, followUp)
		}
		if errors.Is(err, flows.ErrConflict) {
			continue
		}
		if err != nil {
			return nil, flows.StorageFailed(err)
		}
		if isClaimed {
			return s.carryOut(ctx, statement), nil
		}
		s.signal()
		return statement, nil
	}
	return nil, flows.StorageFailed(flows.ErrConflict)
}

// receive makes a statement received.
func (s *Service) receive(ctx context.Context, statement *flows.Statement, now time.Time) {
	statement.State, statement.ReceivedAt = flows.Received, flows.Instant(now)
	within := flows.RefundWithin
	if statement.Kind == flows.Cancellation {
		within = flows.AnswerWithin
	}
	statement.Deadline = statement.ReceivedAt.Add(within)
	statement.Text = s.acknowledge(ctx, statement)
}

// save stores a received statement for as long as it is kept.
func (s *Service) save(ctx context.Context, statement *flows.Statement, now, followUp time.Time) error {
	return s.cfg.Store.SaveStatement(ctx, statement, now, followUp, statement.ReceivedAt.Add(s.cfg.Kept).Sub(now))
}

// Renew makes statements independent of older keys, because they are kept longer than any key should be. A change of keys needs a start,
// and a start that fails to renew leaves it to the next one.
func (s *Service) Renew(ctx context.Context) error {
	return flows.StorageFailed(s.cfg.Store.RenewStatements(ctx, s.cfg.Now(), s.cfg.Kept))
}

// signal has this process follow up at once.
func (s *Service) signal() {
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// Labels are the texts of the links and buttons of one kind of statement, in one language. The law gives their words.
type Labels struct {
	Language       string
	Start, Confirm string
}

// LabelsOf returns the labels of a kind of statement, in every language.
func LabelsOf(kind flows.StatementKind) []Labels {
	start, confirm := textWithdrawalStart, textWithdrawalConfirm
	if kind == flows.Cancellation {
		start, confirm = textCancellationStart, textCancellationConfirm
	}
	var labels []Labels
	for _, in := range text.Languages {
		labels = append(labels, Labels{in.Tag, in.Fill(in.Contract[start], nil), in.Fill(in.Contract[confirm], nil)})
	}
	return labels
}
