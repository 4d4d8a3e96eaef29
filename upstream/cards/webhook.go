package cards

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// SignatureHeader is the header of a delivery with its signature (https://docs.stripe.com/webhooks/signature).
const SignatureHeader = "Stripe-Signature"

// event has the fields of a delivery that are read. They are the same in all API versions.
type event struct {
	ID       string `json:"id"`
	Object   string `json:"object"`
	Type     string `json:"type"`
	Livemode bool   `json:"livemode"`
	Data     struct {
		Object json.RawMessage `json:"object"`
	} `json:"data"`
}

type eventObject struct {
	ID            string            `json:"id"`
	PaymentIntent string            `json:"payment_intent"`
	Metadata      map[string]string `json:"metadata"`
}

// Webhook verifies a delivery and returns its event, or ErrSignature. An event is a hint: read the payment before acting on
// it. One of the other mode is refused like a forged one, because a
// test payment must never count as a live one. An event that is not about a payment has no
// PaymentID and no metadata; it is accepted so that the processor does not deliver it again.
//
// A charge has the payment's metadata as of the time when the card was charged, a refund or a dispute none of it.
func (c *Client) Webhook(header http.Header, body []byte) (Event, error) {
	if err := c.verify(header.Get(SignatureHeader), body); err != nil {
		return Event{}, err
	}
	var in event
	if err := json.Unmarshal(body, &in); err != nil || in.Object != "event" || in.ID == "" {
		return Event{}, fmt.Errorf("stripe: webhook: not an event: %w", ErrSignature)
	}
	if in.Livemode != c.live {
		return Event{}, fmt.Errorf("stripe: webhook: live and test mode are mixed up: %w", ErrSignature)
	}
	var about eventObject
	unreadable := json.Unmarshal(in.Data.Object, &about)
	out := Event{ID: in.ID, Type: in.Type}
	switch {
	case strings.HasPrefix(in.Type, "payment_intent."):
		out.PaymentID, out.Metadata = about.ID, about.Metadata
	case in.Type == "charge.refunded":
		out.PaymentID, out.Metadata, out.Reversal = about.PaymentIntent, about.Metadata, true
	case in.Type == "refund.updated", in.Type == "refund.failed", in.Type == "charge.refund.updated", in.Type == "charge.dispute.created":
		out.PaymentID, out.Reversal = about.PaymentIntent, true
	default:
		return out, nil
	}
	if unreadable != nil {
		return Event{}, fmt.Errorf("stripe: webhook: %s has an object that cannot be read: %w", in.Type, ErrSignature)
	}
	return out, nil
}

// verify checks signature and age. The library's own check reads the wall clock and
// accepts deliveries from the future, so only its signature is used.
func (c *Client) verify(header string, body []byte) error {
	err := fmt.Errorf("%w: no secret is configured", ErrSignature)
	for _, secret := range c.webhookSecrets {
		if err = checkSignature(header, body, secret, c.now()); err == nil {
			return nil
		}
	}
	return fmt.Errorf("stripe: webhook: %w", err)
}
