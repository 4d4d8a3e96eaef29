package ops_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/handlers"
	"frontdesk/upstream/clubsim"
)

const (
	browserTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	browserSpan  = "00f067aa0ba902b7"
)

// traceparent is the header of a browser that traces its requests.
func traceparent(value string) [2]string { return [2]string{"traceparent", value} }

// answersOf returns the requests that the panel knows of a world.
func answersOf(c *frontdesktest.Client, world string) []handlers.RequestInfo {
	var list struct{ Items []handlers.RequestInfo }
	c.Do("GET", "/panel/requests?world="+world, nil).Into(http.StatusOK, &list)
	return list.Items
}

// TestTraceReachesTheClubSystem follows requests to the calls that they cause.
func TestTraceReachesTheClubSystem(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	client.Do("GET", "/v1/clubs", nil, traceparent("00-"+browserTrace+"-"+browserSpan+"-01")).Into(http.StatusOK, nil)
	var all clubsim.Items[clubsim.Request]
	client.Control("GET", "requests", nil).Into(http.StatusOK, &all)
	if len(all.Items) < 2 { // the token, and the request that needed it
		t.Errorf("the club system was asked %+v", all.Items)
	}
	for _, call := range all.Items {
		if call.TraceID != browserTrace {
			t.Errorf("%s came with the trace %q", call.Operation, call.TraceID)
		}
	}
	registration := client.Register()
	made := answersOf(client, "demo")
	started := slices.IndexFunc(made, func(r handlers.RequestInfo) bool {
		return r.Path == "/v1/registrations" && r.Status == http.StatusCreated
	})
	if started < 0 {
		t.Fatalf("the start of the registration is not among %+v", made)
	}
	start := made[started]
	if start.TraceID == browserTrace {
		t.Errorf("the registration was started in the trace of an earlier request")
	}
	expectCalls(t, client, start.TraceID, "createContact", "createSale", "addArticle")

	problem := client.Do("GET", "/v1/registrations/"+registration.Id+"/nowhere", nil, traceparent("00-"+browserTrace+"-"+browserSpan+"-01")).
		Problem(api.NotFound)
	if problem.TraceId == nil || *problem.TraceId != browserTrace {
		t.Errorf("the problem names the trace %v", problem.TraceId)
	}
}

// expectCalls expects operations among the calls of a trace.
func expectCalls(t *testing.T, c *frontdesktest.Client, trace string, operations ...string) {
	t.Helper()
	var calls clubsim.Items[clubsim.Request]
	c.Control("GET", "requests?traceId="+trace, nil).Into(http.StatusOK, &calls)
	made := map[string]bool{}
	for _, call := range calls.Items {
		made[call.Operation] = true
	}
	for _, operation := range operations {
		if !made[operation] {
			t.Errorf("%s is not among the calls of trace %s: %+v", operation, trace, calls.Items)
		}
	}
}

// TestTraceContinuesInBackground checks that work caused by a webhook is in the webhook's trace.
func TestTraceContinuesInBackground(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	registration := client.Register()
	client.Confirm(client.Pay(registration.Id), "4242424242424242")
	recorded := func() (trace string) { // the visitor does not poll: only the webhook advances it
		for _, call := range client.Calls() {
			if call.Operation == "createPayment" {
				trace = call.TraceID
			}
		}
		return trace
	}
	frontdesktest.Eventually(t, "the payment is recorded", func() bool { return recorded() != "" })
	frontdesktest.Eventually(t, "the webhook's request has the trace of the recording", func() bool {
		return slices.ContainsFunc(answersOf(client, "demo"), func(r handlers.RequestInfo) bool {
			return r.TraceID == recorded() && r.Method+" "+r.Path == "POST /v1/webhooks/card"
		})
	})
}

func TestBadTraceIsIgnored(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	id := regexp.MustCompile(`^[0-9a-f]{32}$`)
	for _, header := range []string{
		"nonsense", "00-00000000000000000000000000000000-" + browserSpan + "-01",
		"00-" + browserTrace + "-0000000000000000-01", "ff-" + browserTrace + "-" + browserSpan + "-01",
	} {
		problem := client.Do("GET", "/v1/nowhere", nil, traceparent(header)).Problem(api.NotFound)
		if problem.TraceId == nil || !id.MatchString(*problem.TraceId) || *problem.TraceId == browserTrace ||
			strings.Contains(header, *problem.TraceId) {
			t.Errorf("%s gives the trace %v", header, problem.TraceId)
		}
	}
}
