package club

import "context"

// The means of payment; club system API, section Payment.
const (
	MeanCBWeb  = "CBWeb"  // a card, online
	MeanCash   = "cash"   // at the desk
	MeanCheque = "cheque" // at the desk, with Cheques
	MeanCard   = "card"   // a card at the desk, with Cards
)

// NewPayment is a payment to be recorded.
type NewPayment struct {
	Contact    IRI           `json:"contactId"` // the payer
	FamilyName string        `json:"contactFamilyName"`
	GivenName  string        `json:"contactGivenName"`
	Number     string        `json:"contactNumber"`
	Amount     int64         `json:"amount"` // cents
	Mean       string        `json:"mean"`   // MeanCBWeb and so on
	Club       IRI           `json:"clubId"`
	ClubCode   string        `json:"clubCode"`
	Checkout   IRI           `json:"checkout"`               // the sale's register
	Cards      []PaymentCard `json:"paymentCards,omitempty"` // only with MeanCard
	Cheques    []Cheque      `json:"cheques,omitempty"`      // only with MeanCheque
}

// PaymentCard is one card that was used at the desk.
type PaymentCard struct {
	Amount int64 `json:"amount"` // cents
	// Network is CBGroup, External or one of two others whose spelling is not documented; club
	// system API, section PaymentCard entry.
	Network string `json:"network"`
}

// Cheque is one cheque that was handed in at the desk.
type Cheque struct {
	Amount             int64  `json:"amount"`                       // cents
	Bank               string `json:"bank"`                         // its name
	Code               string `json:"code"`                         // the cheque's number
	DepositDesiredDate string `json:"depositDesiredDate,omitempty"` // YYYY-MM-DD
	Owner              string `json:"owner"`                        // the signer
}

// Gate is called immediately before the first byte of a request is written. Its error
// closes the connection with nothing sent: the outcome is NotSent, and errors.Is finds the
// error. It must return at once.
type Gate func() error

// Receipt is a payment that the club system accepted.
type Receipt struct {
	Status  int // 2xx
	Payment IRI // empty when the response could not be read
}

// CreatePayment records a payment on a sale; club system API, section Sales.
//
// Every call books money: the club system has no idempotency key, shows no payments and
// cancels none. A caller makes at most one call per sale that is not NotSent or Refused.
// The request is sent at most once, and the Outcome says what happened to it:
//
//   - nil error, Accepted: recorded, even if the response body was cut. After an empty one, which another system
//     may have sent, the caller reads the sale.
//   - NotSent: it may be tried again. A refusal by the gate is NotSent.
//   - Refused: not booked, because of the way it was sent. After a 401 the next call uses a
//     new token. After a 429 it is time for the next call when RetryAfter is over.
//   - Rejected: the application refused it.
//   - Unknown: it may have been booked, also if the response is not the club system's own (ErrForeign). It must
//     not be sent again.
//
// The end of ctx does not end the call, which takes at most Limits.PaymentTimeout: a buyer who
// closes the page does not make the outcome any clearer. The access token was fetched, or
// accepted by the club system, less than a minute ago. A nil gate allows everything.
func (c *Client) CreatePayment(ctx context.Context, scope Scope, sale IRI, in NewPayment, gate Gate) (Receipt, error) {
	response, err := c.sendOnce(ctx, post("CreatePayment", scope, "sales/{id}/payments", sale, in), gate)
	if err != nil {
		return Receipt{}, err
	}
	var payment lenient[identified]
	_ = unmarshal(response.body, &payment) // the status is enough
	return Receipt{Status: response.status, Payment: payment.value.IRI}, nil
}
