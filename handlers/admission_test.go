package handlers_test

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// TestNewcomersAreTurnedAwayFirst: newcomers beyond the gateway's capacity are turned away before the club
// system creates anything for them, and a visitor who has begun to pay can finish.
func TestNewcomersAreTurnedAwayFirst(t *testing.T) {
	t.Parallel()
	visitor := newGateway(t)
	registration := visitor.Register()
	visitor.Control("PUT", "faults", `[{"match":{"method":"POST","path":"/contacts"},"kind":"delay","delayMs":10000}]`).
		Into(http.StatusOK, nil)

	var sent, turnedAway atomic.Int64
	waits := sync.Map{}
	ctx, leave := context.WithCancel(t.Context())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 400}}
	defer client.CloseIdleConnections()
	var crowd sync.WaitGroup
	defer crowd.Wait()
	defer leave()
	for range 400 {
		crowd.Go(func() {
			sent.Add(1)
			response, err := (&frontdesktest.Buyer{HTTP: client}).Send(
				ctx, "POST", visitor.URL+"/v1/registrations", uuid.NewString(), `{"clubId":"11","person":`+person+`}`,
			)
			if err == nil && response.Code() == string(api.Overloaded) {
				turnedAway.Add(1)
				waits.Store(response.Header.Get("Retry-After"), response)
			}
		})
	}
	different := func() (n int) {
		waits.Range(func(any, any) bool { n++; return true })
		return n
	}
	frontdesktest.Eventually(t, "newcomers are turned away, to return at different times", func() bool { return different() > 2 })
	for range 20 {
		for _, response := range []*frontdesktest.Response{
			visitor.Do("GET", "/v1/registrations/"+registration.Id, nil),
			visitor.Do("POST", "/v1/registrations/"+registration.Id+"/payment", `{"method":"card"}`, frontdesktest.Key("")),
		} {
			if response.Code() == string(api.Overloaded) {
				t.Fatal("a buyer was turned away")
			}
		}
	}
	leave()
	crowd.Wait()

	waits.Range(func(wait, response any) bool {
		answer := response.(*frontdesktest.Response)
		seconds, err := strconv.Atoi(wait.(string))
		if err != nil || seconds < 3 || seconds > 90 || answer.Status != http.StatusServiceUnavailable {
			t.Errorf("%d %s, Retry-After %q", answer.Status, answer.Body, wait)
		}
		return true
	})
	var faults clubsim.Items[clubsim.Fault]
	visitor.Control("GET", "faults", nil).Into(http.StatusOK, &faults)
	if made := int64(faults.Items[0].Hits); made > sent.Load()-turnedAway.Load() {
		t.Errorf("%d contacts were made for %d newcomers, and %d of these were turned away", made, sent.Load(), turnedAway.Load())
	}
}
