// Package cards is the card processor as the payment machine sees it: its calls and their
// outcomes. Package flows decides when money moves. Client is the adapter to Stripe:
// PaymentIntents with manual capture, over the company's own Go library. It never sees a
// card: the buyer's browser sends it to the processor with the payment's client secret.
//
// The claim is an update of the payment's metadata under an idempotency key. For 24 hours, a
// key replays its first response to the same parameters and refuses others. So a release
// that sends other parameters for the same call must use other keys, or it is refused while
// the previous release is still running.
//
// Every write carries an idempotency key. The same key with the same request replays the
// first response and does nothing more; with another request it fails with ErrKeyReused. A
// server error is such a first response too, and its replay is ErrKeyUsedUp.
//
// Any error other than this package's Err values means that the effect is unknown: read the
// payment again.
//
// Start reading at Client.
package cards

import (
	"errors"
	"net/http"
	"time"
)

// The times that calls may take, and the connections that are kept for them.
const (
	// CallTimeout is the time for one call: a buyer waits for it.
	CallTimeout = 10 * time.Second
	// CaptureTimeout is longer because the processor asks the card's bank, and because a
	// capture that is given up leaves a doubt about money.
	CaptureTimeout = 25 * time.Second

	// idleConnections saves a new connection for each call of a busy evening; the default
	// of net/http is two.
	idleConnections = 32
)

// MaxDescription is the length of a description in characters: that of a metadata value.
const MaxDescription = 500

// NewPayment is a payment to be created.
type NewPayment struct {
	Amount   int64  // minor units, above zero
	Currency string // ISO 4217, upper case
	// Metadata has at most 50 keys of 40 characters, with values of 500. Never personal
	// data.
	Metadata    map[string]string
	Description string // the club's name, for the processor's lists; at most MaxDescription
}

// State is the state of a payment at the processor.
type State string

// The states of a payment at the processor.
const (
	RequiresAction State = "requires_action" // the buyer must enter a card or pass a challenge
	Declined       State = "declined"        // the last attempt was declined; the buyer may try another card
	Processing     State = "processing"      // the bank decides about the buyer's attempt or about a capture; it cannot be cancelled
	Authorised     State = "authorised"      // the money is reserved, nothing is taken
	Captured       State = "captured"        // the money is taken
	Cancelled      State = "cancelled"       // nothing was taken and nothing ever will be
	Refunded       State = "refunded"        // the money was given back in full; a bank can still return it, and then it is captured
)

// Payment is a payment as the processor holds it.
type Payment struct {
	ID            string            // the processor's own id
	State         State             // one of the states above
	Capturing     bool              // of Processing: the bank decides about a capture; false: about a capture or about the card
	Amount        int64             // minor units
	Currency      string            // ISO 4217, upper case
	Captured      int64             // minor units taken so far, refunds not deducted
	Refunded      int64             // minor units given back so far, without pending and failed refunds
	Refunding     int64             // minor units of pending refunds
	FailedRefunds int               // refunds that failed or were cancelled
	Disputed      bool              // the buyer demanded the money back from their bank, whatever came of it
	DeclineCode   string            // why the last attempt was declined, such as "card_declined"; empty when it was not
	Declines      int               // attempts that the bank declined, as far as they are counted; Get counts them until one is authorised
	Decline       string            // identifies that decline; a later decline of the payment has another id
	OtherMethod   string            // how the buyer paid, such as "klarna", if it was not by card
	Metadata      map[string]string // as given and updated
	ClientSecret  string            // what the processor's own browser code needs
	CreatedAt     time.Time
	CaptureBefore time.Time // of an authorised payment: until when it can be captured; zero: the processor does not say
	Unreadable    error     // in a list: why nothing but ID, Metadata and CreatedAt can be read; perhaps another program's payment
	Replayed      bool      // the stored response to an earlier identical request: the payment may have changed since
}

// Page is a part of a list of payments.
type Page struct {
	Payments []Payment
	Next     string // continues the list; empty after the last page
}

// Event is a verified webhook delivery.
type Event struct {
	ID        string            // unique per event; deliveries of the same event repeat it
	Type      string            // such as "payment.authorised"
	PaymentID string            // the processor's id of the payment
	Metadata  map[string]string // of the payment, when the event was made; nil: read the payment
	Reversal  bool              // it is about a refund or a dispute
}

// The outcomes of a call.
var (
	// ErrKeyReused: the key was used with another request. For a claim: another caller won.
	ErrKeyReused = errors.New("cards: idempotency key was used with another request")
	// ErrKeyUsedUp: the key replays a server error, for a day, so this call needs another key.
	// The effect is unknown: read the payment first.
	ErrKeyUsedUp = errors.New("cards: idempotency key replays a server error")
	// ErrNotFound: the processor has no such payment.
	ErrNotFound = errors.New("cards: no such payment")
	// ErrState: the payment's state does not allow the call; read it again.
	ErrState = errors.New("cards: not possible in the payment's state")
	// ErrRefused: the processor will never accept the request (bad request, bad credentials).
	ErrRefused = errors.New("cards: refused by the processor")
	// ErrNoPermission: the credentials may not read what every step of a payment needs.
	ErrNoPermission = errors.New("the key may not read")
	// ErrSignature: a webhook delivery is not from the processor, or too old.
	ErrSignature = errors.New("cards: webhook signature does not verify")
)

// NewHTTPClient returns a client with its own connections. It follows no redirect, which
// would carry a secret or an event to another address.
func NewHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck // documented to be one
	transport.MaxIdleConnsPerHost = idleConnections
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
