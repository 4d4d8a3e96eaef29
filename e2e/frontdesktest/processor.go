package frontdesktest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"frontdesk/api"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
)

// MerchantPage is the path of the processor's page that lists its payments, in mock mode.
const MerchantPage = "/sandbox/payments"

// ProcessorClient returns a test's own access to the processor at an address of upstreams.
func ProcessorClient(upstreams string) *cards.Client {
	client, err := cards.New(cards.Config{URL: upstreams + "/sandbox", SecretKey: sandbox.DemoSecretKey, Now: time.Now})
	if err != nil {
		panic(err) // a mistake in the address
	}
	return client
}

// PaymentID returns the processor's id of a payment that waits for its buyer; empty: it does not.
func PaymentID(payment api.Payment) string {
	if payment.Card == nil {
		return ""
	}
	id, _, _ := strings.Cut(Value(payment.Card.ClientSecret), "_secret_")
	return id
}

// CardEvent returns an event of the processor about a payment, which a test signs itself.
func CardEvent(kind string, p sandbox.Payment) []byte {
	body, err := json.Marshal(map[string]any{
		"id": "evt_" + rand.Text(), "object": "event", "type": kind, "livemode": false, "data": map[string]any{"object": map[string]any{
			"id": p.ID, "payment_intent": p.ID, "status": p.Status, "amount": p.Amount, "amount_received": p.Captured, "metadata": p.Metadata,
		}},
	})
	if err != nil {
		panic(err) // all of it has JSON
	}
	return body
}

// actionAt returns the address of an action on a payment that no gateway can perform, such as confirm.
func actionAt(upstreams, payment, action string) string {
	return upstreams + "/sandbox/payments/" + payment + "/" + action
}

// Pay requests the payment by card, and returns its id at the processor.
func (b *Buyer) Pay(ctx context.Context) (id string, err error) {
	var paying api.Registration
	err = b.Do(ctx, http.MethodPost, b.Gateway+b.Path()+"/payment", b.ByCard(), &paying)
	return PaymentID(Value(paying.Payment)), err
}

// Confirm enters a card for a payment, given by its id at the processor.
func (b *Buyer) Confirm(ctx context.Context, payment, card string) error {
	return b.Do(ctx, http.MethodPost, actionAt(b.Upstreams, payment, "confirm"), map[string]string{"card": card}, nil)
}

// Confirm enters a card at the processor, as the buyer does.
func (c *Client) Confirm(payment api.Payment, card string) {
	c.t.Helper()
	c.EnterCard(payment, card).Into(http.StatusOK, nil)
}

// EnterCard is Confirm for a card that the processor may not accept.
func (c *Client) EnterCard(payment api.Payment, card string) *Response {
	c.t.Helper()
	return c.AtProcessor(PaymentID(payment), "confirm", map[string]string{"card": card})
}

// AnswerChallenge approves or refuses a payment, as the buyer does on the page of their bank.
func (c *Client) AnswerChallenge(payment api.Payment, approve bool) {
	c.t.Helper()
	c.AtProcessor(PaymentID(payment), "challenge", map[string]bool{"approve": approve}).Into(http.StatusOK, nil)
}

// AtProcessor performs an action that no gateway can perform, such as confirm or settle-refund, on a payment that is given by
// its id at the processor.
func (c *Client) AtProcessor(payment, action string, body any) *Response {
	c.t.Helper()
	return c.Do("POST", actionAt(cmp.Or(c.UpstreamsURL, c.URL), payment, action), body)
}

// ProcessorPayments returns the processor's payments, newest first; in mock mode those of the front end's world.
func (c *Client) ProcessorPayments() []sandbox.Payment {
	c.t.Helper()
	var list struct{ Items []sandbox.Payment }
	c.Do("GET", cmp.Or(c.UpstreamsURL, c.URL)+MerchantPage, nil).Into(http.StatusOK, &list)
	return list.Items
}

// SetProcessor replaces the processor's settings; in mock mode those of the front end's world.
func (c *Client) SetProcessor(settings any) {
	c.t.Helper()
	c.Do("PUT", cmp.Or(c.UpstreamsURL, c.URL)+"/sandbox/settings", settings).Into(http.StatusOK, nil)
}

// ProcessorSettings returns what SetProcessor replaces.
func (c *Client) ProcessorSettings() (settings sandbox.Settings) {
	c.t.Helper()
	c.Do("GET", cmp.Or(c.UpstreamsURL, c.URL)+"/sandbox/settings", nil).Into(http.StatusOK, &settings)
	return settings
}
