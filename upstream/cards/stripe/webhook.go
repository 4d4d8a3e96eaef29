package stripe

import (
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"frontdesk/upstream/cards"
)

// SignatureHeader carries "t=<unix seconds>,v1=<hex HMAC-SHA256>", with one v1
// for each secret that is valid now: two while a secret is being rolled.
const SignatureHeader = "Stripe-Signature"

// webhookTolerance is how far a delivery's time may be from ours either way: what the
// processor recommends, enough for clocks that are a little off and for a slow
// network. Every attempt of a delivery is signed anew.
const webhookTolerance = 300 * time.Second

// event is what is read of a delivery. The API version is not looked at: the
// fields have been the same in all of them, and the payment is read anyway.
type event struct {
	ID       string `json:"id"`
	Object   string `json:"object"`
	Type     string `json:"type"`
	Livemode bool   `json:"livemode"`
	Data     struct {
		Object json.RawMessage `json:"object"`
	} `json:"data"`
}

// eventObject is the payment intent or the charge of an event.
type eventObject struct {
	ID            string            `json:"id"`
	PaymentIntent string            `json:"payment_intent"`
	Metadata      map[string]string `json:"metadata"`
}

// Webhook verifies a delivery. One that is signed for the other mode is refused
// with cards.ErrSignature like a forged one: a test payment must never count as
// a live one, nor the other way round. A verified event that is not about a
// payment comes back without PaymentID and metadata, so that it is taken and
// not delivered again.
//
// A charge has the payment's metadata as it was when the card was charged.
func (c *Client) Webhook(header http.Header, body []byte) (cards.Event, error) {
	if err := c.verify(header.Get(SignatureHeader), body); err != nil {
		return cards.Event{}, err
	}
	var in event
	if err := json.Unmarshal(body, &in); err != nil || in.Object != "event" || in.ID == "" {
		return cards.Event{}, fmt.Errorf("stripe: webhook: not an event: %w", cards.ErrSignature)
	}
	if in.Livemode != c.live {
		return cards.Event{}, fmt.Errorf("stripe: webhook: live and test mode are mixed up: %w", cards.ErrSignature)
	}
	out := cards.Event{ID: in.ID, Type: in.Type}
	payment, charge := strings.HasPrefix(in.Type, "payment_intent."), in.Type == "charge.refunded"
	if !payment && !charge {
		return out, nil
	}
	var about eventObject
	if err := json.Unmarshal(in.Data.Object, &about); err != nil {
		return cards.Event{}, fmt.Errorf("stripe: webhook: %s has an object that cannot be read: %w", in.Type, cards.ErrSignature)
	}
	out.PaymentID, out.Metadata = about.ID, about.Metadata
	if charge {
		out.PaymentID = about.PaymentIntent
	}
	return out, nil
}

// verify checks signature and age. The library's own check reads the wall clock
// and takes deliveries from the future; this one uses its signature alone.
func (c *Client) verify(header string, body []byte) error {
	at, signatures := readSignature(header)
	if c.webhookSecret == "" || at.IsZero() {
		return fmt.Errorf("stripe: webhook: not signed, or no secret is configured: %w", cards.ErrSignature)
	}
	if age := c.now().Sub(at); age > webhookTolerance || age < -webhookTolerance {
		return fmt.Errorf("stripe: webhook: signed %s from now: %w", age.Round(time.Second), cards.ErrSignature)
	}
	want := stripego.ComputeSignature(at, body, c.webhookSecret)
	for _, signature := range signatures {
		if hmac.Equal(want, signature) {
			return nil
		}
	}
	return fmt.Errorf("stripe: webhook: no signature matches: %w", cards.ErrSignature)
}

// readSignature takes the header apart; what cannot be read is left out, and a
// time that cannot be read is zero.
func readSignature(header string) (at time.Time, signatures [][]byte) {
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
				at = time.Unix(seconds, 0)
			}
		case "v1":
			if signature, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, signature)
			}
		}
	}
	return at, signatures
}
