package sandbox

import (
	"crypto/hmac"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"frontdesk/upstream/cards"
)

const (
	// webhookTolerance is how far a delivery's time may be from ours either way: a
	// recorded delivery is of no use for long, and clocks may disagree a little.
	webhookTolerance = 300 * time.Second

	// maxWebhook bounds the body that is hashed and decoded; the largest event, a
	// payment with all its metadata, is a fraction of it.
	maxWebhook = 512 << 10
)

// Webhook verifies a delivery of the sandbox and tells which payment it is
// about.
func (c *Client) Webhook(header http.Header, body []byte) (cards.Event, error) {
	if err := c.verify(header, body); err != nil {
		return cards.Event{}, err
	}
	var in event
	if err := jsonv2.Unmarshal(body, &in); err != nil || in.ID == "" || in.Data.Payment.ID == "" {
		return cards.Event{}, signatureError("the body is not an event")
	}
	p := in.Data.Payment
	return cards.Event{ID: in.ID, Type: in.Type, PaymentID: p.ID, Metadata: p.Metadata}, nil
}

func (c *Client) verify(header http.Header, body []byte) error {
	if len(body) > maxWebhook {
		return signatureError("the body is too large")
	}
	at, given, err := readSignature(header.Get(SignatureHeader))
	if err != nil {
		return err
	}
	if !hmac.Equal(given, sign(c.cfg.WebhookSecret, at, body)) {
		return signatureError("the signature is another one")
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return signatureError("its time cannot be read")
	}
	if age := c.cfg.Now().Sub(time.Unix(seconds, 0)); age.Abs() > webhookTolerance {
		return signatureError("it is not of now")
	}
	return nil
}

// readSignature takes "t=…,v1=…" apart. Parts with other names are left to
// later versions.
func readSignature(header string) (at string, signature []byte, err error) {
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			at = value
		case "v1":
			if signature, err = hex.DecodeString(value); err != nil {
				return "", nil, signatureError("the signature is not hexadecimal")
			}
		}
	}
	if at == "" || len(signature) == 0 {
		return "", nil, signatureError("there is no signature")
	}
	return at, signature, nil
}

func signatureError(why string) error { return fmt.Errorf("%w: %s", cards.ErrSignature, why) }
