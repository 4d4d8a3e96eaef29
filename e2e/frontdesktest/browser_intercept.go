package frontdesktest

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/chromedp"
)

// InterceptHosts puts doubles in the place of other hosts: what the page asks of them by
// https is answered here, and nothing of it leaves the machine. A page asks by
// name, so the test says with Expect that it is meant to.
func (b *Browser) InterceptHosts(doubles map[string]http.Handler) {
	b.t.Helper()
	var patterns []*fetch.RequestPattern
	for host := range doubles {
		patterns = append(patterns, &fetch.RequestPattern{URLPattern: "https://" + host + "/*"})
	}
	err := chromedp.Listen(b.ctx, func(event any) {
		if e, ok := event.(*fetch.EventRequestPaused); ok {
			go b.fulfill(e, doubles) // a listener may not ask the browser anything itself
		}
	})
	if err == nil {
		_, err = chromedp.Call(b.ctx, fetch.Enable, fetch.EnableParams{Patterns: patterns})
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// fulfill lets a double answer a request that the browser has held up.
func (b *Browser) fulfill(e *fetch.EventRequestPaused, doubles map[string]http.Handler) {
	var body bytes.Buffer
	for _, entry := range e.Request.PostDataEntries {
		body.Write(entry.Bytes)
	}
	r := httptest.NewRequest(e.Request.Method, e.Request.URL, &body)
	for name, value := range e.Request.Headers {
		r.Header.Set(name, fmt.Sprint(value))
	}
	w := httptest.NewRecorder()
	doubles[r.URL.Hostname()].ServeHTTP(w, r)
	answer := fetch.FulfillRequestParams{RequestID: e.RequestID, ResponseCode: int64(w.Code), Body: w.Body.Bytes()}
	for name := range w.Header() {
		answer.ResponseHeaders = append(answer.ResponseHeaders, &fetch.HeaderEntry{Name: name, Value: w.Header().Get(name)})
	}
	if _, err := chromedp.Call(b.ctx, fetch.FulfillRequest, answer); err != nil && b.ctx.Err() == nil {
		b.t.Errorf("%s: %v", e.Request.URL, err)
	}
}
