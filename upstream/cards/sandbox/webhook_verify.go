package sandbox

import (
	"fmt"
	"net/http"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"frontdesk/upstream/cards"
)

// maxWebhook limits the body that is hashed and decoded. The largest event, a payment
// with all its metadata, is a fraction of it.
const maxWebhook = 512 << 10

// Webhook verifies a delivery of the sandbox and returns its event.
func (c *Client) Webhook(header http.Header, body []byte) (cards.Event, error) {
	if len(body) > maxWebhook {
		return cards.Event{}, fmt.Errorf("%w: the body is too large", cards.ErrSignature)
	}
	signature := func(at time.Time) []byte { return sign(c.cfg.WebhookSecret, at, body) }
	if err := cards.CheckSignature(header.Get(SignatureHeader), c.cfg.Now(), signature); err != nil {
		return cards.Event{}, err
	}
	var in event
	if err := jsonv2.Unmarshal(body, &in); err != nil || in.ID == "" || in.Data.Payment.ID == "" {
		return cards.Event{}, fmt.Errorf("%w: the body is not an event", cards.ErrSignature)
	}
	p := in.Data.Payment
	return cards.Event{ID: in.ID, Type: in.Type, PaymentID: p.ID, Metadata: p.Metadata}, nil
}
