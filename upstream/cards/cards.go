// Package cards is the card processor as the payment machine sees it: one
// interface with the few verbs that the machine needs, and the words for their
// outcomes. It holds no rule about when money moves; those stand in flows.
// The adapters are its children: sandbox (the processor that Frontdesk brings
// along). Start reading at Processor.
package cards

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Processor is a company that takes card money, with manual capture.
//
// Every writing call carries an idempotency key and behaves as the processors
// document it: the same key with the same request replays the first answer and
// does nothing more; the same key with another request is refused with
// ErrKeyReused. The payment machine builds its one-shot claim on exactly that.
//
// A call fails with one of the Err values of this package (errors.Is), or with
// an error that wraps none of them: then its effect is unknown and the payment
// has to be read again.
type Processor interface {
	// Name is the processor's name in the public API and in the payment's record, such as "sandbox".
	Name() string
	// Create makes a payment that the buyer can authorise, not captured by itself.
	Create(ctx context.Context, key string, in NewPayment) (Payment, error)
	// Get reads a payment. ErrNotFound when there is none.
	Get(ctx context.Context, id string) (Payment, error)
	// Capture takes the authorised money, in full. ErrState when the payment is not authorised.
	Capture(ctx context.Context, key, id string, amount int64) (Payment, error)
	// Cancel gives up a payment that is not captured. ErrState when it cannot be cancelled any more.
	Cancel(ctx context.Context, key, id string) (Payment, error)
	// Refund gives captured money back, amount in minor units. ErrState when nothing is captured.
	Refund(ctx context.Context, key, id string, amount int64) (Payment, error)
	// UpdateMetadata merges metadata into the payment. With a claim's key there is one
	// winner: everybody else gets ErrKeyReused.
	UpdateMetadata(ctx context.Context, key, id string, metadata map[string]string) (Payment, error)
	// List returns the payments created since an instant, newest first: all of them,
	// or an error. The list is read from the payments themselves and lags behind nothing.
	List(ctx context.Context, since time.Time) ([]Payment, error)
	// Webhook verifies the signature of a delivery and tells which payment it is
	// about. ErrSignature when the delivery cannot be trusted. An event is a hint:
	// the payment has to be read before anything follows from it.
	Webhook(header http.Header, body []byte) (Event, error)
}

// NewPayment asks a processor for a payment.
type NewPayment struct {
	Amount   int64  // minor units, above zero
	Currency string // ISO 4217, upper case
	// Metadata is kept with the payment: at most 50 keys of 40 characters, values
	// of 500. Never personal data.
	Metadata map[string]string
	// ReturnURL is where the buyer's browser goes from the hosted page.
	ReturnURL string
	// WebhookURL is where the processor reports changes, for processors that take
	// it per payment; empty means as configured at the processor.
	WebhookURL string
}

// State is where a payment stands at the processor.
type State string

// The states of a payment at the processor.
const (
	RequiresAction State = "requires_action" // the buyer has to enter a card or to pass a challenge
	Declined       State = "declined"        // the last attempt was declined; the buyer may try another card
	Authorised     State = "authorised"      // the money is reserved, nothing is taken
	Captured       State = "captured"        // the money is taken
	Cancelled      State = "cancelled"       // given up; nothing was taken and nothing ever will be
	Refunded       State = "refunded"        // the money was given back in full
)

// Payment is a payment as the processor holds it.
type Payment struct {
	ID           string            // the processor's own id
	State        State             // where it stands
	Amount       int64             // minor units
	Currency     string            // ISO 4217, upper case
	Captured     int64             // minor units taken so far, refunds not deducted
	Refunded     int64             // minor units given back so far
	DeclineCode  string            // why the last attempt was declined, such as "card_declined"; empty when it was not
	Metadata     map[string]string // as given and annotated
	RedirectURL  string            // the hosted page; empty when the processor has none
	ClientSecret string            // what the processor's own browser code needs; empty when it has none
	CreatedAt    time.Time
	Replayed     bool // the answer is the one that the same request got before: the payment may have moved on
}

// Event is a verified webhook delivery.
type Event struct {
	ID        string // unique per event; deliveries of the same event repeat it
	Type      string // such as "payment.authorised"
	PaymentID string // the processor's id of the payment
	// Metadata of the payment as it was when the event was made.
	Metadata map[string]string
}

// The outcomes that a caller has to tell apart.
var (
	// ErrKeyReused: the idempotency key was used with another request before. For a claim: somebody else won.
	ErrKeyReused = errors.New("cards: idempotency key was used with another request")
	// ErrNotFound: the processor has no such payment.
	ErrNotFound = errors.New("cards: no such payment")
	// ErrState: the payment's state does not allow the call; read it again.
	ErrState = errors.New("cards: not possible in the payment's state")
	// ErrRefused: the processor understood the request and will never accept it (bad request, bad credentials).
	ErrRefused = errors.New("cards: refused by the processor")
	// ErrSignature: a webhook delivery is not from the processor, or too old.
	ErrSignature = errors.New("cards: webhook signature does not verify")
)
