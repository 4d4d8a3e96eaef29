package cards

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"
)

// intent has the fields of a payment that are read (https://docs.stripe.com/api/payment_intents/object). The library's own type has
// hundreds, and decodes a payment and its charge twice. The charge must be expanded: a response with its id alone cannot be read.
type intent struct {
	stripe.APIResource
	ID             string                     `json:"id"`
	Status         stripe.PaymentIntentStatus `json:"status"`
	Amount         int64                      `json:"amount"`
	AmountReceived int64                      `json:"amount_received"`
	Currency       string                     `json:"currency"`
	ClientSecret   string                     `json:"client_secret"`
	Created        int64                      `json:"created"`
	Metadata       map[string]string          `json:"metadata"`
	LatestCharge   *charge                    `json:"latest_charge"`

	LastPaymentError *struct {
		Code          string `json:"code"`
		DeclineCode   string `json:"decline_code"`
		Charge        string `json:"charge"`
		PaymentMethod struct {
			ID string `json:"id"`
		} `json:"payment_method"`
	} `json:"last_payment_error"`
}

// charge has the fields of an attempt that are read (https://docs.stripe.com/api/charges/object).
type charge struct {
	Status   stripe.ChargeStatus `json:"status"`
	Disputed bool                `json:"disputed"`

	PaymentMethodDetails *paymentMethodDetails `json:"payment_method_details"`
	Refunds              struct {
		Data []struct {
			Amount int64               `json:"amount"`
			Status stripe.RefundStatus `json:"status"`
		} `json:"data"`
	} `json:"refunds"`
}

type paymentMethodDetails struct {
	Type string `json:"type"`
	Card struct {
		CaptureBefore int64 `json:"capture_before"`
	} `json:"card"`
}

// toPayment converts the response to a call, whose error it passes on. The response must be
// about the payment id; empty: a new one.
func toPayment(verb, id string, pi *intent, err error) (Payment, error) {
	if err != nil {
		return Payment{}, err
	}
	payment, err := toCards(pi)
	switch {
	case err != nil:
		return Payment{}, fmt.Errorf("stripe: %s: %w", verb, err)
	case payment.ID == "" || id != "" && payment.ID != id:
		return Payment{}, fmt.Errorf("stripe: %s: returned another payment", verb)
	}
	return payment, nil
}

// rawPage is a page of a list. The library's own page fails as a whole if it cannot decode one record.
type rawPage struct {
	stripe.APIResource
	stripe.ListMeta
	Object string            `json:"object"`
	Data   []json.RawMessage `json:"data"`
}

// fromList converts a record of a list. One that cannot be read, which may be another program's, has the error and
// those of ID, Metadata and CreatedAt that can be read.
func fromList(record json.RawMessage) Payment {
	var pi intent
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
	return Payment{ID: part.ID, Metadata: part.Metadata, CreatedAt: time.Unix(part.Created, 0).UTC(), Unreadable: err}
}

// toCards converts a payment. Amounts are minor units on both sides: cents of a euro, whole
// yen.
func toCards(pi *intent) (Payment, error) {
	state, err := stateOf(pi)
	if err != nil {
		return Payment{}, err
	}
	payment := Payment{
		ID:           pi.ID,
		State:        state,
		Amount:       pi.Amount,
		Currency:     strings.ToUpper(pi.Currency),
		Captured:     pi.AmountReceived,
		Metadata:     pi.Metadata,
		ClientSecret: pi.ClientSecret,
		CreatedAt:    time.Unix(pi.Created, 0).UTC(),
		Replayed:     pi.LastResponse != nil && isReplay(pi.LastResponse.Header),
	}
	// Cards and captures have the same status while the bank decides (https://docs.stripe.com/payments/paymentintents/lifecycle). A charge
	// that succeeded was authorised, so only its capture can be left (https://docs.stripe.com/api/charges/object).
	payment.Capturing = state == Processing && pi.LatestCharge != nil && pi.LatestCharge.Status == stripe.ChargeStatusSucceeded
	addRefunds(&payment, pi)
	if charge := pi.LatestCharge; (state == Authorised || payment.Captured > 0) && charge != nil && charge.PaymentMethodDetails != nil {
		addMethod(&payment, charge.PaymentMethodDetails)
	}
	if state == Declined {
		// The bank's reason says more than the processor's.
		why := pi.LastPaymentError
		payment.DeclineCode = cmp.Or(why.DeclineCode, why.Code)
		// A failed authentication has no charge. Each attempt has a payment method of its own.
		payment.Decline = cmp.Or(why.Charge, why.PaymentMethod.ID)
	}
	return payment, nil
}

// addMethod adds how the buyer paid, and until when what is authorised can be captured
// (https://docs.stripe.com/payments/place-a-hold-on-a-payment-method).
func addMethod(payment *Payment, paid *paymentMethodDetails) {
	switch {
	case paid.Type != card:
		payment.OtherMethod = paid.Type
	case payment.State == Authorised && paid.Card.CaptureBefore > 0:
		payment.CaptureBefore = time.Unix(paid.Card.CaptureBefore, 0).UTC()
	}
}

// addRefunds adds the refunds and disputes of what was taken. The charge's own totals count pending refunds,
// and the whole amount of a released authorisation, of which nothing was taken.
func addRefunds(payment *Payment, pi *intent) {
	if pi.LatestCharge == nil || pi.Status != stripe.PaymentIntentStatusSucceeded {
		return
	}
	for _, refund := range pi.LatestCharge.Refunds.Data {
		switch refund.Status {
		case stripe.RefundStatusSucceeded:
			payment.Refunded += refund.Amount
		case stripe.RefundStatusFailed, stripe.RefundStatusCanceled:
			payment.FailedRefunds++
		default:
			payment.Refunding += refund.Amount
		}
	}
	payment.Disputed = pi.LatestCharge.Disputed
	if payment.Refunded > 0 && payment.Refunded >= payment.Captured {
		payment.State = Refunded
	}
}

// stateOf translates the status (https://docs.stripe.com/payments/paymentintents/lifecycle). An unknown status is an error, so
// that nothing follows from it.
func stateOf(pi *intent) (State, error) {
	switch pi.Status {
	case stripe.PaymentIntentStatusRequiresPaymentMethod:
		if pi.LastPaymentError != nil {
			return Declined, nil
		}
		return RequiresAction, nil
	case stripe.PaymentIntentStatusRequiresConfirmation, stripe.PaymentIntentStatusRequiresAction:
		return RequiresAction, nil
	case stripe.PaymentIntentStatusProcessing:
		return Processing, nil
	case stripe.PaymentIntentStatusRequiresCapture:
		return Authorised, nil
	case stripe.PaymentIntentStatusSucceeded:
		return Captured, nil // see addRefunds
	case stripe.PaymentIntentStatusCanceled:
		return Cancelled, nil
	default:
		return "", fmt.Errorf("payment %q has the unknown status %q", pi.ID, pi.Status)
	}
}
