package background

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/hibiken/asynq"

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

// pauseAfterFailure returns the pause after the n-th failure (from 0) of a job.
func pauseAfterFailure(n int, _ error, _ *asynq.Task) time.Duration {
	return flows.Jitter(retryPauses[min(n, len(retryPauses)-1)])
}

// pauseAfter returns the pause after the n-th failure (from 0) of a delivery to a subscriber, or before its first attempt.
func (r *Relay) pauseAfter(subscriber Subscriber) asynq.RetryDelayFunc {
	return func(n int, failure error, _ *asynq.Task) time.Duration {
		if errors.Is(failure, errPaused) {
			return r.streaks[subscriber.Name].wait(r.cfg.Now())
		}
		pause := pauseAfterFailure(n, failure, nil)
		if response, ok := errors.AsType[deliveryResponse](failure); ok {
			return max(pause, response.wait)
		}
		return pause
	}
}
