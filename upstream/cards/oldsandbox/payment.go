package oldsandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"frontdesk/upstream/cards"
)

// Payment is a payment as the sandbox keeps and sends it. It is a value: a transition
// returns the next one, so that a stored response stays as it was.
type Payment struct {
	ID            string            `json:"id"`                      // "pay_" and 26 characters
	Amount        int64             `json:"amount"`                  // minor units
	Currency      string            `json:"currency"`                // ISO 4217, upper case
	Captured      int64             `json:"captured"`                // minor units taken, refunds not deducted
	Refunded      int64             `json:"refunded"`                // minor units given back
	Refunding     int64             `json:"refunding,omitempty"`     // minor units of pending refunds
	FailedRefunds int               `json:"failedRefunds,omitempty"` // refunds that failed
	Disputed      bool              `json:"disputed,omitempty"`      // the buyer demanded the money back from their bank
	State         cards.State       `json:"state"`                   // see transition
	Challenge     bool              `json:"challenge"`               // the buyer's bank waits for an approval (state requires_action)
	Processing    bool              `json:"processing,omitempty"`    // the buyer's confirmation is being processed (state requires_action)
	DeclineCode   string            `json:"declineCode"`             // why the last attempt was declined; empty: it was not
	Declines      int               `json:"declines"`                // attempts that were declined
	Metadata      map[string]string `json:"metadata"`                // as given and merged; never changed in place
	CreatedAt     time.Time         `json:"createdAt"`               // by the server's clock
	RedirectURL   string            `json:"redirectUrl"`             // the hosted page
	Description   string            `json:"description,omitempty"`   // the payee on the hosted page; empty: the host of ReturnURL
	ReturnURL     string            `json:"returnUrl"`               // where the hosted page sends the buyer; empty: nowhere
	WebhookURL    string            `json:"webhookUrl"`              // where events go; empty: nowhere

	// card is the test card of the last attempt, which distinguishes a double click from a
	// second card; empty: another number.
	card string
}

// The types of the events that the sandbox sends.
const (
	EventAuthorised    = "payment.authorised"     // the money is reserved
	EventDeclined      = "payment.declined"       // an attempt was declined
	EventCaptured      = "payment.captured"       // the money was taken
	EventCancelled     = "payment.cancelled"      // the payment was cancelled
	EventRefunded      = "payment.refunded"       // money was given back, all or part of it
	EventRefundPending = "payment.refund_pending" // a refund was accepted, and is not done
	EventRefundFailed  = "payment.refund_failed"  // a refund failed, perhaps after it had succeeded
	EventDisputed      = "payment.disputed"       // the buyer demanded the money back from their bank
)

// maxAmount has eight digits, as at the large processors: a larger number is an amount in
// the wrong unit.
const maxAmount = 99_999_999

// minAmount is what the large processors require at least, in euros and many other currencies.
const minAmount = 50

// The limits of metadata, as cards.NewPayment states them.
const (
	maxMetadata      = 50
	maxMetadataKey   = 40
	maxMetadataValue = 500
)

// transition computes a payment's next value and names the event for the merchant; empty:
// no event.
//
//	requires_action ⇄ declined ─→ authorised ─→ captured ─→ refunded
//	       └─────────────┴────────────┴─→ cancelled
type transition func(Payment) (next Payment, event string, err error)

// requireState fails unless the payment is in one of the states in which it can be done; that is
// a participle for the error message.
func (p Payment) requireState(done string, in ...cards.State) error {
	if !slices.Contains(in, p.State) {
		return errState(p, done)
	}
	return nil
}

// confirm is the buyer entering a card. The same card on an authorised payment changes
// nothing, so that a double click is harmless.
func confirm(number string, mode ConfirmationMode) transition {
	return func(p Payment) (Payment, string, error) {
		card, err := readCard(number)
		if err != nil {
			return p, "", err
		}
		if card.Number == p.card && p.State == cards.Authorised {
			return p, "", nil
		}
		if err := p.requireState("confirmed with a card", cards.RequiresAction, cards.Declined); err != nil {
			return p, "", err
		}
		if p.Processing {
			return p, "", errState(p, "confirmed again while a confirmation is processed")
		}
		p.card = card.Number
		switch {
		case mode == ConfirmationsProcessing:
			p.State, p.Processing, p.Challenge, p.DeclineCode = cards.RequiresAction, true, false, ""
			return p, "", nil
		case card.challenge:
			p.State, p.Challenge, p.DeclineCode = cards.RequiresAction, true, ""
			return p, "", nil
		case card.declineCode != "":
			return p.declined(card.declineCode)
		}
		return p.authorised()
	}
}

// challenge is the buyer's response to the bank. The same response again changes nothing.
func challenge(approve bool) transition {
	return func(p Payment) (Payment, string, error) {
		if p.answeredChallenge(approve) {
			return p, "", nil
		}
		if !p.Challenge {
			return p, "", errState(p, "answered for by the buyer's bank")
		}
		if !approve {
			return p.declined(declineAuthentication)
		}
		return p.authorised()
	}
}

func (p Payment) answeredChallenge(approve bool) bool {
	if p.card != challengeCard {
		return false
	}
	if approve {
		return p.State == cards.Authorised
	}
	return p.State == cards.Declined && p.DeclineCode == declineAuthentication
}

// settleConfirmation ends the processing of the buyer's confirmation.
func settleConfirmation(succeeded bool) transition {
	return func(p Payment) (Payment, string, error) {
		if !p.Processing {
			return p, "", errState(p, "settled as a confirmation")
		}
		p.Processing = false
		if !succeeded {
			return p.declined(declineCard)
		}
		return p.authorised()
	}
}

func (p Payment) authorised() (Payment, string, error) {
	p.State, p.Challenge, p.DeclineCode = cards.Authorised, false, ""
	return p, EventAuthorised, nil
}

func (p Payment) declined(code string) (Payment, string, error) {
	p.State, p.Challenge, p.DeclineCode = cards.Declined, false, code
	p.Declines++
	return p, EventDeclined, nil
}

// capture takes the authorised money in full: another amount is another price than the
// buyer saw.
func capture(amount int64) transition {
	return func(p Payment) (Payment, string, error) {
		if err := p.requireState("captured", cards.Authorised); err != nil {
			return p, "", err
		}
		switch {
		case amount > p.Amount:
			return p, "", errInvalid("amount_too_large", fmt.Sprintf("Only %d is authorised.", p.Amount))
		case amount < p.Amount:
			return p, "", errInvalid("amount_too_small", fmt.Sprintf("A payment is captured in full: %d is authorised.", p.Amount))
		}
		p.State, p.Captured = cards.Captured, amount
		return p, EventCaptured, nil
	}
}

func cancel(p Payment) (Payment, string, error) {
	if err := p.requireState("cancelled", cards.RequiresAction, cards.Declined, cards.Authorised); err != nil {
		return p, "", err
	}
	if p.Processing {
		return p, "", errState(p, "cancelled while the buyer's confirmation is processed")
	}
	p.State, p.Challenge = cards.Cancelled, false
	return p, EventCancelled, nil
}

// refund returns captured money, at once or in parts, as the settings say.
func refund(amount int64, mode RefundMode) transition {
	return func(p Payment) (Payment, string, error) {
		if err := p.requireState("refunded", cards.Captured); err != nil {
			return p, "", err
		}
		if left := p.Captured - p.Refunded - p.Refunding; amount > left {
			return p, "", errInvalid("amount_too_large", fmt.Sprintf("Only %d is left to refund.", left))
		}
		switch mode {
		case RefundsRefused:
			return p, "", errInvalid("balance_insufficient", "The merchant's balance is too low for this refund.")
		case RefundsPending:
			p.Refunding += amount
			return p, EventRefundPending, nil
		}
		return p.refunded(amount)
	}
}

func (p Payment) refunded(amount int64) (Payment, string, error) {
	p.Refunded += amount
	if p.Refunded == p.Captured {
		p.State = cards.Refunded
	}
	return p, EventRefunded, nil
}

// settleRefund ends what is pending, or else has what succeeded fail later: the buyer's bank
// returned the money.
func settleRefund(succeeded bool) transition {
	return func(p Payment) (Payment, string, error) {
		pending := p.Refunding
		if pending == 0 && (succeeded || p.Refunded == 0) {
			return p, "", errState(p, "settled as a refund")
		}
		p.Refunding = 0
		switch {
		case succeeded:
			return p.refunded(pending)
		case pending == 0:
			p.State, p.Refunded = cards.Captured, 0
		}
		p.FailedRefunds++
		return p, EventRefundFailed, nil
	}
}

// dispute is the buyer demanding the money back from their bank, once. As with the large processors, the mark stays
// whatever comes of it.
func dispute(p Payment) (Payment, string, error) {
	if p.Captured == 0 || p.Disputed {
		return p, "", errState(p, "disputed")
	}
	p.Disputed = true
	return p, EventDisputed, nil
}

// updateMetadata merges metadata. As with the large processors, an empty value removes its
// key and the limits apply to the result.
func updateMetadata(metadata map[string]string) transition {
	return func(p Payment) (Payment, string, error) {
		merged := maps.Clone(p.Metadata)
		maps.Copy(merged, metadata)
		maps.DeleteFunc(merged, func(_, value string) bool { return value == "" })
		if len(merged) > maxMetadata {
			return p, "", errInvalid("metadata_too_large", fmt.Sprintf("A payment holds at most %d metadata keys.", maxMetadata))
		}
		p.Metadata = merged
		return p, "", nil
	}
}

// final reports whether no money moves any more, refunds aside. Final payments make room
// for new ones in a full sandbox.
func (p Payment) final() bool {
	return p.State == cards.Captured || p.State == cards.Cancelled || p.State == cards.Refunded
}

// paid reports whether the buyer has done their part.
func (p Payment) paid() bool {
	return p.State == cards.Authorised || p.State == cards.Captured
}

func checkAmount(amount int64) error {
	switch {
	case amount <= 0:
		return errInvalid("invalid_amount", "amount must be an integer of minor units above zero.")
	case amount > maxAmount:
		return errInvalid("amount_too_large", fmt.Sprintf("amount must be at most %d.", maxAmount))
	}
	return nil
}

// checkMinimum refuses a new payment that is too small to be charged.
func checkMinimum(amount int64) error {
	if amount < minAmount {
		return errInvalid("amount_too_small", fmt.Sprintf("amount must be at least %d.", minAmount))
	}
	return nil
}

func checkCurrency(currency string) error {
	if len(currency) != 3 || strings.Trim(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return errInvalid("invalid_currency", "currency must be three upper-case letters, such as EUR.")
	}
	return nil
}

func checkMetadata(metadata map[string]string) error {
	if len(metadata) > maxMetadata {
		return errInvalid("metadata_too_large", fmt.Sprintf("A payment holds at most %d metadata keys.", maxMetadata))
	}
	for key, value := range metadata {
		if n := utf8.RuneCountInString(key); n == 0 || n > maxMetadataKey {
			return errInvalid("invalid_metadata", fmt.Sprintf("A metadata key has 1 to %d characters.", maxMetadataKey))
		}
		if utf8.RuneCountInString(value) > maxMetadataValue {
			return errInvalid("invalid_metadata", fmt.Sprintf("A metadata value has at most %d characters.", maxMetadataValue))
		}
	}
	return nil
}
