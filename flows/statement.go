package flows

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"frontdesk/upstream/club"
)

const (
	// ConfirmStatementWithin is how long a statement can be confirmed: an interrupted visitor returns on the same day.
	ConfirmStatementWithin = 24 * time.Hour
	// RefundWithin is when the money of a withdrawal must be back, after its receipt (Directive 2011/83/EU, article 13).
	RefundWithin = 14 * 24 * time.Hour
	// AnswerWithin is when a cancellation must be answered with the end of the contract. The law says without delay; three days
	// leave the staff a weekend.
	AnswerWithin = 3 * 24 * time.Hour
)

// StatementKind is what a statement declares.
type StatementKind string

// The kinds of statements.
const (
	Withdrawal   StatementKind = "withdrawal"   // from the contract, within the withdrawal period
	Cancellation StatementKind = "cancellation" // of the contract, with its notice or for good cause
)

// StatementKinds lists every kind.
var StatementKinds = []StatementKind{Withdrawal, Cancellation}

// StatementState is the state of a statement: stated ─→ received ─→ done.
type StatementState string

// The states of a statement.
const (
	Stated   StatementState = "stated"   // not confirmed; deleted after ConfirmStatementWithin
	Received StatementState = "received" // confirmed by the person: it has arrived, and the club must act on it
	Done     StatementState = "done"     // an operator has acted on it
)

// Declaration is what a person declares. Empty members were not declared.
type Declaration struct {
	Name          string `json:"name"`
	Email         string `json:"email"`                  // for the acknowledgement
	Contract      string `json:"contract,omitempty"`     // what identifies the contract, in the person's words
	ClubID        string `json:"clubId,omitempty"`       // of the contract
	Language      string `json:"language"`               // of the acknowledgement, such as en
	Extraordinary bool   `json:"extraordinary,omitzero"` // a cancellation for good cause
	EndDate       string `json:"endDate,omitempty"`      // YYYY-MM-DD, of a cancellation; empty: the earliest possible day
	Reason        string `json:"reason,omitempty"`       // of an extraordinary cancellation
	PostalAddress string `json:"postalAddress,omitempty"`
	// Membership is what the membership is called that an identified contact cancels; empty: it is not known.
	Membership string `json:"membership,omitempty"`
}

// Statement is the record of what a person declared about a contract: a withdrawal or a cancellation. A confirmed one is the proof
// of its receipt.
type Statement struct {
	// ID names it to operators, subscribers and its person. It is StatementID of the secret with which the person confirms it.
	ID          string         `json:"id"`
	Schema      int            `json:"schema"`
	Version     int64          `json:"-"` // set by the store
	Kind        StatementKind  `json:"kind"`
	State       StatementState `json:"state"`
	ClientToken string         `json:"clientToken"`
	Declared    Declaration    `json:"declared"`
	// Online is the end of the membership that the club system itself carries out; nil: it does not.
	Online     *OnlineCancellation `json:"online,omitempty"`
	Contact    *ContactIdentity    `json:"contact,omitempty"` // identified by the club's own login; nil: not identified
	StatedAt   time.Time           `json:"statedAt"`
	ReceivedAt time.Time           `json:"receivedAt,omitzero"`
	Text       string              `json:"text,omitempty"` // the acknowledgement, as it was sent
	// AcknowledgedEnd is when the contract ends, as the acknowledgement says, YYYY-MM-DD; empty: that follows by mail.
	AcknowledgedEnd string `json:"acknowledgedEnd,omitempty"`
	EndDate         string `json:"endDate,omitempty"` // the same, as an operator said it afterwards
	// Replaced are the ends that were told to the person and corrected afterwards, oldest first.
	Replaced []string  `json:"replaced,omitempty"`
	Deadline time.Time `json:"deadline,omitzero"` // when the club must have acted
	// Notified is the latest state of which the person and the subscribers to events were notified; empty: of none.
	Notified StatementState `json:"notified,omitempty"`
	// Counted reports that the acknowledgement was counted for its address, so that a repetition is not.
	Counted bool `json:"counted,omitzero"`
	// Unmailed reports that the acknowledgement was not mailed, because its address had too many in a day.
	Unmailed bool `json:"unmailed,omitzero"`
	// Searched reports whether Contracts was filled.
	Searched  bool            `json:"searched,omitzero"`
	Contracts []FoundContract `json:"contracts,omitempty"` // what the statement may be about, latest first
	Outcome   *Outcome        `json:"outcome,omitempty"`   // nil until it is done
	Notes     []Note          `json:"notes,omitempty"`     // of operators, oldest first
}

// StatementID returns the id of a statement by its secret, which the public API calls id. The secret gives access to the statement,
// so it is not stored.
func StatementID(secret string) string {
	digest := sha256.Sum256([]byte("statement " + secret))
	return hex.EncodeToString(digest[:16])
}

// StatementSchema is the version of the record's layout. A record with a higher one is ErrNewer.
const StatementSchema = 1

// FoundBy is how a contract was found that a statement may be about.
type FoundBy string

// The values of FoundBy, the most certain first.
const (
	ByLogin        FoundBy = "login"        // the club's own login identified the contact
	ByRegistration FoundBy = "registration" // the statement has its id
	ByNumber       FoundBy = "number"       // the statement has the contact's number
	ByEmail        FoundBy = "email"
	ByName         FoundBy = "name" // others may have it; it is searched for only when nothing else finds a contract
)

// FoundContract is a contract that a statement may be about, as it was confirmed.
type FoundContract struct {
	By            FoundBy     `json:"by"`
	Registration  string      `json:"registration"`
	ContactNumber string      `json:"contactNumber,omitempty"`
	ClubID        string      `json:"clubId"`
	At            time.Time   `json:"at"`              // when it was concluded
	Amount        int64       `json:"amount"`          // paid then; minor units
	Currency      string      `json:"currency"`        // ISO 4217
	Items         []FoundItem `json:"items,omitempty"` // empty: what was ordered is not known
}

// FoundItem is a line of a contract, with the right to withdraw from it.
type FoundItem struct {
	Name  string    `json:"name"`
	Price Money     `json:"price"`          // paid for it then
	Right bool      `json:"right"`          // to withdraw
	Until time.Time `json:"until,omitzero"` // the end of the withdrawal period; zero: there is no right, or it begins with the delivery
}

// Period says whether an instant is within the withdrawal period of any item.
func (c FoundContract) Period(at time.Time) Period {
	period := NoRight
	for _, item := range c.Items {
		switch {
		case item.Right && at.Before(item.Until):
			return WithinPeriod
		case item.Right && item.Until.IsZero():
			period = PeriodUnknown
		case item.Right && period == NoRight:
			period = OutsidePeriod
		}
	}
	if len(c.Items) == 0 {
		period = PeriodUnknown
	}
	return period
}

// Outcome is what an operator did about a statement.
type Outcome struct {
	At        time.Time `json:"at"`
	Operator  string    `json:"by"`
	Reference string    `json:"reference,omitempty"` // of the refund or of the letter, where the club keeps it
}

// Period is whether a withdrawal arrived within the period of the contract that was found. It is a hint: a person decides.
type Period string

// The values of Period.
const (
	WithinPeriod  Period = "within"
	OutsidePeriod Period = "outside"
	NoRight       Period = "no_right" // nothing that was ordered can be withdrawn from
	PeriodUnknown Period = "unknown"  // no contract was found yet, several people have the name, or the period begins with a delivery
)

// periods orders the values of Period: which contract a withdrawal is about is decided in favour of its person.
var periods = []Period{WithinPeriod, PeriodUnknown, OutsidePeriod, NoRight}

// Likely returns the contract that a statement is probably about, and whether it arrived within the withdrawal period: the latest of those
// with the most favourable period. Nil without one, or if contracts were found by a name alone that several have.
func (s *Statement) Likely() (likely *FoundContract, period Period) {
	if len(s.Contracts) > 1 && s.Contracts[0].By == ByName {
		return nil, PeriodUnknown
	}
	period = PeriodUnknown
	for i := range s.Contracts {
		of := s.Contracts[i].Period(s.ReceivedAt)
		if likely == nil || slices.Index(periods, of) < slices.Index(periods, period) {
			likely, period = &s.Contracts[i], of
		}
	}
	return likely, period
}

// ContactIRI is the identified contact of a statement; empty without one.
func (s *Statement) ContactIRI() club.IRI {
	if s.Contact == nil {
		return ""
	}
	return s.Contact.IRI()
}

// InDoubt reports whether the club system may have carried out a cancellation: an operator looks there, and decides.
func (s *Statement) InDoubt() bool { return s.Online != nil && s.Online.State == OnlineInDoubt }

// StatementCounts is what operators must still act on.
type StatementCounts struct {
	InDoubt int64 // their online cancellation is in doubt
	Open    int
	Overdue int       // after their deadline
	Oldest  time.Time // the receipt of the oldest open one; zero: there is none
	Next    time.Time // the earliest deadline of the open ones; zero: there is none
}
