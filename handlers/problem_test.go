package handlers

import (
	"testing"

	"frontdesk/api"
	"frontdesk/flows"
)

// TestSendAgainHasATime: a client that sends a request again because a problem says so never does it at once, so that it cannot loop.
func TestSendAgainHasATime(t *testing.T) {
	t.Parallel()
	for code := range problems {
		problem, wait := ProblemOf(&flows.Error{Code: code}, "")
		if again := problem.Then == api.SendAgain; again != (wait > 0) || again != (problem.RetryAfter != nil) ||
			again == (problem.Retry == api.ProblemRetryNever) {
			t.Errorf("%s: then %s, retry %s, after %d s", code, problem.Then, problem.Retry, wait)
		}
	}
}
