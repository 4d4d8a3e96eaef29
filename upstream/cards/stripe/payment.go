package stripe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"frontdesk/upstream/cards"
)

// toPayment converts the response to a call, whose error it passes on. The response must be
// about the payment id; empty: a new one.
func toPayment(verb, id string, pi *stripego.PaymentIntent, err error) (cards.Payment, error) {
	if err != nil {
		return cards.Payment{}, err
	}
	p, err := toCards(pi)
	switch {
	case err != nil:
		return cards.Payment{}, fmt.Errorf("stripe: %s: %w", verb, err)
	case p.ID == "" || id != "" && p.ID != id:
		return cards.Payment{}, fmt.Errorf("stripe: %s: returned another payment", verb)
	}
	return p, nil
}

// rawPage is a page of a list. The library's own page fails as a whole if it cannot decode one record.
type rawPage struct {
	stripego.APIResource
	stripego.ListMeta
	Object string            `json:"object"`
	Data   []json.RawMessage `json:"data"`
}

// fromList converts a record of a list. One that cannot be read, which may be another program's, has the error and
// those of ID, Metadata and CreatedAt that can be read.
func fromList(record json.RawMessage) cards.Payment {
	var pi stripego.PaymentIntent
	err := toCardsError("list", json.Unmarshal(record, &pi))
	p, err := toPayment("list", pi.ID, &pi, err)
	if err == nil {
		return p
	}
	var part struct {
		ID       string            `json:"id"`
		Metadata map[string]string `json:"metadata"`
		Created  int64             `json:"created"`
	}
	_ = json.Unmarshal(record, &part) // a field of another type leaves the others
	return cards.Payment{ID: part.ID, Metadata: part.Metadata, CreatedAt: time.Unix(part.Created, 0).UTC(), Unreadable: err}
}

// toCards converts a payment. Amounts are minor units on both sides: cents of a euro, whole
// yen.
func toCards(pi *stripego.PaymentIntent) (cards.Payment, error) {
	state, err := stateOf(pi)
	if err != nil {
		return cards.Payment{}, err
	}
	p := cards.Payment{
		ID: pi.ID, State: state, Amount: pi.Amount, Currency: strings.ToUpper(string(pi.Currency)),
		Captured: pi.AmountReceived, Metadata: pi.Metadata, ClientSecret: pi.ClientSecret,
		CreatedAt: time.Unix(pi.Created, 0).UTC(), Replayed: pi.LastResponse != nil && isReplay(pi.LastResponse.Header),
	}
	addRefunds(&p, pi)
	if state == cards.Authorised || p.Captured > 0 {
		if charge := pi.LatestCharge; charge != nil && charge.PaymentMethodDetails != nil && charge.PaymentMethodDetails.Type != card {
			p.OtherMethod = string(charge.PaymentMethodDetails.Type)
		}
	}
	if state == cards.Declined {
		// The bank's reason says more than the processor's.
		why := pi.LastPaymentError
		p.DeclineCode = cmp.Or(string(why.DeclineCode), string(why.Code))
		// A failed authentication has no charge. Each attempt has a payment method of its own.
		if p.Decline = why.ChargeID; p.Decline == "" && why.PaymentMethod != nil {
			p.Decline = why.PaymentMethod.ID
		}
	}
	return p, nil
}

// addRefunds adds the refunds and disputes of what was taken. The charge's own totals count pending refunds,
// and the whole amount of a released authorisation, of which nothing was taken.
func addRefunds(p *cards.Payment, pi *stripego.PaymentIntent) {
	if pi.LatestCharge == nil || pi.LatestCharge.Refunds == nil || pi.Status != stripego.PaymentIntentStatusSucceeded {
		return
	}
	for _, refund := range pi.LatestCharge.Refunds.Data {
		switch refund.Status {
		case stripego.RefundStatusSucceeded:
			p.Refunded += refund.Amount
		case stripego.RefundStatusFailed, stripego.RefundStatusCanceled:
			p.FailedRefunds++
		default:
			p.Refunding += refund.Amount
		}
	}
	p.Disputed = pi.LatestCharge.Disputed
	if p.Refunded > 0 && p.Refunded >= p.Captured {
		p.State = cards.Refunded
	}
}

// stateOf translates the status. Processing is RequiresAction because nothing is reserved
// yet; cards do not stay in it. An unknown status is an error, so that nothing follows from
// it.
func stateOf(pi *stripego.PaymentIntent) (cards.State, error) {
	switch pi.Status {
	case stripego.PaymentIntentStatusRequiresPaymentMethod:
		if pi.LastPaymentError != nil {
			return cards.Declined, nil
		}
		return cards.RequiresAction, nil
	case stripego.PaymentIntentStatusRequiresConfirmation, stripego.PaymentIntentStatusRequiresAction, stripego.PaymentIntentStatusProcessing:
		return cards.RequiresAction, nil
	case stripego.PaymentIntentStatusRequiresCapture:
		return cards.Authorised, nil
	case stripego.PaymentIntentStatusSucceeded:
		return cards.Captured, nil // see addRefunds
	case stripego.PaymentIntentStatusCanceled:
		return cards.Cancelled, nil
	default:
		return "", fmt.Errorf("payment %q has the unknown status %q", pi.ID, pi.Status)
	}
}
