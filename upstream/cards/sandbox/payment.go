package sandbox

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
	"unique"

	"frontdesk/upstream/cards"
)

// The statuses of a payment intent that the double knows (https://docs.stripe.com/payments/paymentintents/lifecycle).
const (
	requiresPaymentMethod = "requires_payment_method"
	requiresAction        = "requires_action"
	requiresCapture       = "requires_capture"
	processing            = "processing"
	succeeded             = "succeeded"
	canceled              = "canceled"
)

// Payment is a payment intent as a developer or a test sees it. Its JSON is that of the buyer's door.
type Payment struct {
	ID            string            `json:"id"`
	Amount        int64             `json:"amount"`                  // minor units
	Currency      string            `json:"currency"`                // ISO 4217, upper case
	Captured      int64             `json:"captured"`                // minor units taken, refunds not deducted
	Refunded      int64             `json:"refunded"`                // minor units given back
	Refunding     int64             `json:"refunding,omitempty"`     // minor units of pending refunds
	FailedRefunds int               `json:"failedRefunds,omitempty"` // refunds that failed
	Disputed      bool              `json:"disputed,omitempty"`      // the buyer demanded the money back from their bank
	State         cards.State       `json:"state"`                   // what Status means; empty: nothing that the double knows
	Challenge     bool              `json:"challenge"`               // the buyer's bank waits for an approval
	Processing    bool              `json:"processing,omitempty"`    // a confirmation or a capture is being processed
	DeclineCode   string            `json:"declineCode"`             // why the last attempt was declined; empty: it was not
	Declines      int               `json:"declines"`                // attempts that were declined, failed challenges included
	Metadata      map[string]string `json:"metadata"`                // shared: do not change it
	CreatedAt     time.Time         `json:"createdAt"`
	Description   string            `json:"description,omitempty"`

	Status       string `json:"-"` // as on the wire, such as requires_capture
	ClientSecret string `json:"-"`
	Charges      int    `json:"-"` // attempts that reached the bank
	Refunds      int    `json:"-"` // refunds made
}

// intent is a payment intent. The lock of the Server guards it.
type intent struct {
	view
	busy  atomic.Bool // a write is held, and locks the payment
	gone  bool        // dropped from the store
	bytes int         // see store.write
}

// view is a payment at one moment. Nothing that it refers to is changed, so it is also what an idempotency key
// stores, and is rendered without a lock.
type view struct {
	*made
	*state
}

// made is what does not change of a payment.
type made struct {
	id, secret  string // secret is what follows _secret_
	seq         int64  // its place in the order of creation
	account     *account
	world       string
	amount      int64
	currency    string // lower case
	manual      bool   // capture_method
	types       []string
	description string
	created     time.Time
	webhookURL  string // that the caller names; empty: none
}

// state is what changes of a payment.
type state struct {
	status             string
	captured           int64
	canceledAt         int64 // seconds; zero: it is not
	cancellationReason string
	lastError          *apiError
	declines           int
	method             string    // the payment method, pm_…
	pending            *pending  // what a bank has to decide
	capturing          int64     // minor units of a capture that is processed
	charges            []*charge // attempts that reached the bank, oldest first
	refunds            []*refund // of the latest charge, oldest first
	metadata           metadata
	distorted          map[string]any    // see Distort
	all                map[string]string // the metadata as a map, made when it is first shown
}

// pending is an attempt that waits for the card's bank, which asks the buyer or takes its time.
type pending struct {
	card               *testCard
	bankURL, returnURL string // the bank's page, and where it leads back; empty: it is shown in a frame
}

// edit begins a change: it replaces the state by a copy.
func (in *intent) edit() *state {
	next := *in.state
	in.state = &next
	return in.state
}

func (v view) clientSecret() string { return v.id + "_secret_" + v.secret }

// charge returns the latest charge; nil: none exists.
func (v view) charge() *charge {
	if len(v.charges) == 0 {
		return nil
	}
	return v.charges[len(v.charges)-1]
}

// final reports whether no money moves any more, refunds aside. Final payments make room
// for new ones in a full double.
func (v view) final() bool { return v.status == succeeded || v.status == canceled }

// refundsIn sums the refunds in a status.
func (v view) refundsIn(status string) (sum int64, count int) {
	for _, r := range v.refunds {
		if r.status == status {
			sum += r.amount
			count++
		}
	}
	return sum, count
}

// shown returns the payment for a developer. The lock of the Server is held.
func (in *intent) shown() Payment {
	if in.all == nil {
		in.all = in.metadata.texts()
	}
	payment := Payment{
		ID:           in.id,
		Amount:       in.amount,
		Currency:     strings.ToUpper(in.currency),
		Captured:     in.captured,
		Challenge:    in.status == requiresAction,
		Processing:   in.status == processing,
		Declines:     in.declines,
		Metadata:     in.all,
		CreatedAt:    in.created.UTC(),
		Description:  in.description,
		Status:       in.status,
		ClientSecret: in.clientSecret(),
		Charges:      len(in.charges),
		Refunds:      len(in.refunds),
		State:        in.meaning(),
	}
	payment.Refunded, _ = in.refundsIn(succeeded)
	payment.Refunding, _ = in.refundsIn("pending")
	_, payment.FailedRefunds = in.refundsIn("failed")
	if c := in.charge(); c != nil {
		payment.Disputed = c.disputed
	}
	if in.lastError != nil && in.status != canceled {
		payment.DeclineCode = in.lastError.reason()
	}
	return payment
}

// meaning translates the status for a developer.
func (v view) meaning() cards.State {
	switch v.status {
	case requiresPaymentMethod:
		if v.lastError != nil {
			return cards.Declined
		}
		return cards.RequiresAction
	case requiresAction:
		return cards.RequiresAction
	case processing:
		if v.capturing > 0 {
			return cards.Authorised
		}
		return cards.RequiresAction
	case requiresCapture:
		return cards.Authorised
	case succeeded:
		if back, _ := v.refundsIn(succeeded); back > 0 && back >= v.captured {
			return cards.Refunded
		}
		return cards.Captured
	case canceled:
		return cards.Cancelled
	}
	return ""
}

// intern returns a text that many payments have once for all of them, and without the form that it is a part of.
func intern(text string) string { return unique.Make(strings.Clone(text)).Value() }

// Stripe's bounds of metadata, in characters (https://docs.stripe.com/api/metadata).
const (
	maxMetadataKeys  = 50
	maxMetadataKey   = 40
	maxMetadataValue = 500
)

// metadata is the metadata of a payment as the entries that were written, oldest first: a later entry replaces an earlier one,
// and an empty value removes its key. Entries are only appended, so that all moments of a payment share them.
type metadata []metadataEntry

type metadataEntry struct{ key, value string }

// each calls yield with the keys and values that are in force.
func (m metadata) each(yield func(key, value string) bool) {
	for i, e := range m {
		replaced := slices.ContainsFunc(m[i+1:], func(later metadataEntry) bool { return later.key == e.key })
		if !replaced && e.value != "" && !yield(e.key, e.value) {
			return
		}
	}
}

// texts returns the keys and values that are in force, as a map.
func (m metadata) texts() map[string]string { return maps.Collect(m.each) }

// merge returns the metadata with that of a call. Metadata that is itself empty removes all. m must be the newest of the payment.
func (m metadata) merge(form url.Values) (metadata, error) {
	next := m
	if form.Has("metadata") {
		next = nil
	}
	var added metadata
	for param, values := range form {
		key, ok := strings.CutPrefix(param, "metadata[")
		if !ok {
			continue
		}
		key, value := strings.TrimSuffix(key, "]"), values[0]
		switch n := utf8.RuneCountInString(key); {
		case n == 0 || n > maxMetadataKey || strings.ContainsAny(key, "[]"):
			return nil, invalidRequest("", param, "Invalid metadata key.")
		case utf8.RuneCountInString(value) > maxMetadataValue:
			return nil, invalidRequest("", param, "Metadata values can have up to 500 characters.")
		}
		added = append(added, metadataEntry{intern(key), strings.Clone(value)})
	}
	slices.SortFunc(added, func(a, b metadataEntry) int { return strings.Compare(a.key, b.key) })
	next = append(next, added...)
	if len(next) <= maxMetadataKeys {
		return next, nil
	}
	inForce := metadata{}
	for key, value := range next.each {
		inForce = append(inForce, metadataEntry{key, value})
	}
	switch {
	case len(inForce) > maxMetadataKeys:
		return nil, invalidRequest("", "metadata", "Metadata can have up to 50 keys.")
	case len(next) <= 2*maxMetadataKeys: // a copy for each change would hold much
		return next, nil
	}
	return inForce, nil
}
