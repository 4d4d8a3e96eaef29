package relay

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

const (
	// maxWait is heeded of what a subscriber asks for: with it in the place of every
	// shorter pause, a delivery's tries take a day and seven hours at most.
	maxWait = time.Hour
	// maxSecrets of a subscriber: the current one, and the one before it while it is changed.
	maxSecrets = 2
)

// deliveryResponse is what a subscriber said to a delivery; as an error, one that is no success.
type deliveryResponse struct {
	status int
	wait   time.Duration // until which it wants to hear nothing; 0 where it does not say
}

// Error implements error.
func (a deliveryResponse) Error() string { return fmt.Sprintf("status %d", a.status) }

// readResponse reads an answer. When to come again is asked for with 429 and 503 (RFC
// 9110, section 10.2.3); with any other status it is no wish about a delivery.
func readResponse(response *http.Response, now func() time.Time) deliveryResponse {
	a := deliveryResponse{status: response.StatusCode}
	if a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable {
		a.wait = min(club.RetryAfter(response.Header, now), maxWait)
	}
	return a
}

// pauseAfter is how long after its n-th failure a delivery is tried again: not
// before the subscriber wants to hear of it.
func pauseAfter(n int, failure error, _ *asynq.Task) time.Duration {
	pause, _ := RetryAfterFailure(n)
	var asked deliveryResponse
	if errors.As(failure, &asked) {
		return max(flows.Jitter(pause), asked.wait)
	}
	return flows.Jitter(pause)
}

// secrets are what a subscriber verifies with: one, or while it is changed two, either of which will do.
func (s Subscriber) secrets() []string { return strings.Split(s.Secret, ",") }

// sign signs a delivery with each of the subscriber's secrets (Standard Webhooks, section Signature scheme).
func (s Subscriber) sign(event string, at time.Time, text []byte) (string, error) {
	var signatures []string
	for _, secret := range s.secrets() {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return "", errors.New("the secret is not one")
		}
		signature, err := signer.Sign(event, at, text)
		if err != nil {
			return "", errors.New("it could not be signed")
		}
		signatures = append(signatures, signature)
	}
	return strings.Join(signatures, " "), nil
}
