package site_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// WithoutScript switches JavaScript off for pages that are opened from now on.
func (b browser) WithoutScript() browser {
	b.t.Helper()
	frontdesktest.Command(b.Browser, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	return b
}

// SlowNetwork emulates the network of a train: every response takes 300 ms, and 100 kB take a second.
func (b browser) SlowNetwork() {
	b.t.Helper()
	const latency, throughput = 300, 100_000
	b.emulateNetwork(network.Conditions{Latency: latency, DownloadThroughput: throughput, UploadThroughput: throughput})
}

// Offline disconnects the network. The page's requests fail meanwhile.
func (b browser) Offline() {
	b.t.Helper()
	b.AllowConsole("ERR_INTERNET_DISCONNECTED")
	b.emulateNetwork(network.Conditions{Offline: true, DownloadThroughput: -1, UploadThroughput: -1})
}

// Online reconnects the network.
func (b browser) Online() {
	b.t.Helper()
	b.emulateNetwork(network.Conditions{DownloadThroughput: -1, UploadThroughput: -1})
}

// Sleep emulates a closed laptop: the network is gone, and the page is frozen.
func (b browser) Sleep() {
	b.t.Helper()
	b.Offline()
	frontdesktest.Command(b.Browser, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateFrozen})
}

// Wake opens the laptop again: the page continues, and then the network returns.
func (b browser) Wake() {
	b.t.Helper()
	frontdesktest.Command(b.Browser, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateActive})
	b.Online()
}

// emulateNetwork sets the network conditions, and whether the page considers itself online.
func (b browser) emulateNetwork(conditions network.Conditions) {
	b.t.Helper()
	frontdesktest.Command(
		b.Browser, network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{&conditions}},
	)
	frontdesktest.Command(b.Browser, network.OverrideNetworkState, network.OverrideNetworkStateParams{
		Offline: conditions.Offline, Latency: conditions.Latency,
		DownloadThroughput: conditions.DownloadThroughput, UploadThroughput: conditions.UploadThroughput,
	})
}

// Interception holds back requests of a page, or their responses.
type Interception struct {
	b    browser
	stop context.CancelFunc

	mu     sync.Mutex
	paused []fetch.RequestID
}

// HoldRequests holds back the page's requests before they leave, until it is released. A pattern may
// have asterisks, such as "*/v1/*".
func (b browser) HoldRequests(pattern string) *Interception {
	return b.hold(pattern, fetch.RequestStageRequest)
}

// HoldResponses holds back responses after their effect, until they are released or dropped.
func (b browser) HoldResponses(pattern string) *Interception {
	return b.hold(pattern, fetch.RequestStageResponse)
}

func (b browser) hold(pattern string, stage fetch.RequestStage) *Interception {
	b.t.Helper()
	ctx, stop := context.WithCancel(b.Context())
	i := &Interception{b: b, stop: stop}
	err := chromedp.Listen(ctx, func(event any) {
		if e, ok := event.(*fetch.EventRequestPaused); ok {
			i.mu.Lock()
			defer i.mu.Unlock()
			i.paused = append(i.paused, e.RequestID)
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	frontdesktest.Command(
		b.Browser, fetch.Enable,
		fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: pattern, RequestStage: stage}}},
	)
	return i
}

// Await waits until something is held.
func (i *Interception) Await() {
	i.b.t.Helper()
	frontdesktest.Eventually(i.b.t, "something is held", func() bool { return len(i.held()) > 0 })
}

func (i *Interception) held() []fetch.RequestID {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.paused
}

// Release continues all held requests.
func (i *Interception) Release() {
	i.b.t.Helper()
	i.stop()
	frontdesktest.Command(i.b.Browser, fetch.Disable, cdp.Empty{})
}

// Refuse answers the next held request in place of the gateway with a problem document, and a
// Retry-After in seconds.
func (i *Interception) Refuse(code api.ProblemCode, status, retryAfter int) {
	i.b.t.Helper()
	i.Await()
	i.mu.Lock()
	next := i.paused[0]
	i.paused = i.paused[1:]
	i.mu.Unlock()
	body, err := json.Marshal(
		api.Problem{
			Type:   "/docs/problems#" + string(code),
			Title:  string(code),
			Status: status,
			Code:   code,
			Retry:  api.ProblemRetryAfter,
			Then:   api.SendAgain,
		},
	)
	if err != nil {
		i.b.t.Fatal(err)
	}
	frontdesktest.Command(
		i.b.Browser,
		fetch.FulfillRequest,
		fetch.FulfillRequestParams{
			RequestID:    next,
			ResponseCode: int64(status),
			Body:         body,
			ResponseHeaders: []*fetch.HeaderEntry{
				{Name: "Content-Type", Value: "application/problem+json"},
				{Name: "Retry-After", Value: strconv.Itoa(retryAfter)},
			},
		},
	)
}

// Drop breaks the connections of the held requests, and continues all others.
func (i *Interception) Drop() {
	i.b.t.Helper()
	i.Await()
	for _, id := range i.held() {
		frontdesktest.Command(
			i.b.Browser, fetch.FailRequest,
			fetch.FailRequestParams{RequestID: id, ErrorReason: network.ErrorReasonConnectionReset},
		)
	}
	i.Release()
}

// InterceptHosts replaces other hosts by doubles: the page's https requests to them are answered here,
// and none leaves the machine. A page may request another host only by name, and the test must Expect
// it.
func (b browser) InterceptHosts(doubles map[string]http.Handler) {
	b.t.Helper()
	var patterns []*fetch.RequestPattern
	for host := range doubles {
		patterns = append(patterns, &fetch.RequestPattern{URLPattern: "https://" + host + "/*"})
	}
	err := chromedp.Listen(b.Context(), func(event any) {
		if e, ok := event.(*fetch.EventRequestPaused); ok {
			go b.fulfill(e, doubles) // a listener may not send commands to the browser itself
		}
	})
	if err == nil {
		_, err = chromedp.Call(b.Context(), fetch.Enable, fetch.EnableParams{Patterns: patterns})
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// fulfill lets a double answer a request that the browser has held back.
func (b browser) fulfill(event *fetch.EventRequestPaused, doubles map[string]http.Handler) {
	var body bytes.Buffer
	for _, entry := range event.Request.PostDataEntries {
		body.Write(entry.Bytes)
	}
	r := httptest.NewRequest(event.Request.Method, event.Request.URL, &body)
	for name, value := range event.Request.Headers {
		r.Header.Set(name, fmt.Sprint(value))
	}
	w := httptest.NewRecorder()
	doubles[r.URL.Hostname()].ServeHTTP(w, r)
	response := fetch.FulfillRequestParams{RequestID: event.RequestID, ResponseCode: int64(w.Code), Body: w.Body.Bytes()}
	for name := range w.Header() {
		response.ResponseHeaders = append(response.ResponseHeaders, &fetch.HeaderEntry{Name: name, Value: w.Header().Get(name)})
	}
	if _, err := chromedp.Call(b.Context(), fetch.FulfillRequest, response); err != nil && b.Context().Err() == nil {
		b.t.Errorf("%s: %v", event.Request.URL, err)
	}
}
