package background

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

// retryPauses are the pauses after each failure of a delivery: eleven attempts in about 26
// hours. The first outlast a restart, the last a night; then the delivery is dead until an
// operator replays it.
var retryPauses = [...]time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 10 * time.Hour}

// maxWait bounds the Retry-After of a subscriber. If it replaces every shorter pause, the
// attempts take about 30 hours, 35 at most.
const maxWait = time.Hour

// deliveryResponse is a subscriber's response. As an error it is one other than 2xx.
type deliveryResponse struct {
	status int
	wait   time.Duration // before the next attempt; 0: the subscriber does not say
}

// Error implements error.
func (d deliveryResponse) Error() string { return fmt.Sprintf("status %d", d.status) }

func (d deliveryResponse) ok() bool { return d.status >= 200 && d.status <= 299 }

// readResponse reads a response. Only with 429 and 503 is Retry-After about the next
// attempt (RFC 9110, section 10.2.3).
func readResponse(response *http.Response, now func() time.Time) deliveryResponse {
	d := deliveryResponse{status: response.StatusCode}
	if d.status == http.StatusTooManyRequests || d.status == http.StatusServiceUnavailable {
		d.wait = min(club.RetryAfter(response.Header, now), maxWait)
	}
	return d
}

// pauseAfter returns the pause after the n-th failure (from 0) of a delivery to a subscriber, or before its first attempt.
func (r *Relay) pauseAfter(subscriber Subscriber) asynq.RetryDelayFunc {
	return func(n int, failure error, _ *asynq.Task) time.Duration {
		if errors.Is(failure, errPaused) {
			return r.streaks[subscriber.Name].wait(r.cfg.Now())
		}
		pause := flows.Jitter(retryPauses[min(n, len(retryPauses)-1)])
		if response, ok := errors.AsType[deliveryResponse](failure); ok {
			return max(pause, response.wait)
		}
		return pause
	}
}

// secrets returns the subscriber's secrets, either of which it may verify with.
func (s Subscriber) secrets() []string { return strings.Split(s.Secret, ",") }

// sign signs a delivery with each of the subscriber's secrets (Standard Webhooks, section Signature scheme).
func (s Subscriber) sign(event string, at time.Time, text []byte) (string, error) {
	var signatures []string
	for _, secret := range s.secrets() {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return "", errors.New("the secret is invalid")
		}
		signature, err := signer.Sign(event, at, text)
		if err != nil {
			return "", errors.New("the delivery could not be signed")
		}
		signatures = append(signatures, signature)
	}
	return strings.Join(signatures, " "), nil
}
