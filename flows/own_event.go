package flows

import (
	"time"

	"github.com/google/uuid"
)

// Frontdesk's own events, of which subscribers get the data described in asyncapi.yaml.
const (
	RegistrationCompleted = "registration.completed" // it is paid and recorded
	RegistrationAbandoned = "registration.abandoned" // its visitor has not continued for AbandonedAfter, and agreed to advertising by e-mail
	PaymentRecorded       = "payment.recorded"
	PaymentInDoubt        = "payment.in_doubt"
	MandateSignedEvent    = "mandate.signed"
	WithdrawalReceived    = "withdrawal.received"
	CancellationReceived  = "cancellation.received"
)

// ownEvents are the names of Frontdesk's own events but for EmailInUse.
var ownEvents = []string{RegistrationCompleted, RegistrationAbandoned, PaymentRecorded, PaymentInDoubt, MandateSignedEvent,
	WithdrawalReceived, CancellationReceived}

// OwnEvent is an event of Frontdesk's own.
type OwnEvent struct {
	ID   string // by its name and its subject, so that it is the same whenever it is published
	Type string
	At   time.Time
	Data any // encoded as JSON; an object
}

// NewOwnEvent returns an event about a subject, such as the id of a registration. A subject has each event at most once.
func NewOwnEvent(name, subject string, at time.Time, data any) OwnEvent {
	return OwnEvent{ID: OwnEventID(name, subject), Type: name, At: at, Data: data}
}

// ownEventIDs is the namespace of the ids.
var ownEventIDs = uuid.MustParse("6f0c4f5c-3c0e-4e5a-9a0e-5d4bbd3f6c1e")

// OwnEventID returns the id of the event about a subject.
func OwnEventID(name, subject string) string {
	return "evt_" + uuid.NewSHA1(ownEventIDs, []byte(name+" "+subject)).String()
}

// Money is an amount as the public API shows it.
type Money struct {
	Amount   int64  `json:"amount"`   // minor units
	Currency string `json:"currency"` // ISO 4217
}
