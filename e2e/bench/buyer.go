package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

const (
	// buyersAtOnce keep one core busy, although each of them waits for the disk of Redis.
	buyersAtOnce = 16
	// oneOffOffer is an offer that needs only money from the buyer.
	oneOffOffer = "2501"
)

// buyers walk card journeys at a gateway, each from an address of their own.
type buyers struct {
	*harness
	gateway   string
	upstreams *countingUpstreams
	http      http.Client
	started   atomic.Int64
}

func (h *harness) buyers(gateway string, upstreams *countingUpstreams) *buyers {
	return &buyers{harness: h, gateway: gateway, upstreams: upstreams, http: http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 2 * buyersAtOnce}}}
}

// buyer is one of them, with a registration.
type buyer struct {
	*buyers
	address string
	api.Registration
}

// register starts a registration, with a person and an item.
func (b *buyers) register(item api.NewItem) *buyer {
	one := &buyer{buyers: b, address: callerAddress(int(b.started.Add(1)))}
	one.do(http.MethodPost, b.gateway+"/v1/registrations", api.StartRegistration{ClubId: "11", Person: frontdesktest.Person(), Items: &[]api.NewItem{item}}, &one.Registration)
	return one
}

// url is the registration's.
func (b *buyer) url() string { return b.gateway + "/v1/registrations/" + b.Id }

// pay requests the payment, and returns the processor's page, and a channel that receives
// when nothing is left to do for the payment.
func (b *buyer) pay() (page string, done <-chan struct{}) {
	var payment api.Payment
	b.do(http.MethodPost, b.url()+"/payment", map[string]string{"method": "card"}, &payment)
	page = *payment.Card.RedirectUrl
	return page, b.upstreams.lastCall(path.Base(page))
}

// confirm enters a card.
func (b *buyer) confirm(page string) {
	b.do(http.MethodPost, page+"/confirm", map[string]string{"card": "4242424242424242"}, nil)
}

// journey walks a whole journey.
func (b *buyers) journey() {
	one := b.register(api.NewItem{OfferId: oneOffOffer})
	one.do(http.MethodGet, one.url(), nil, nil)
	page, done := one.pay()
	one.confirm(page)
	b.await(done)
	var last api.Registration
	one.do(http.MethodGet, one.url(), nil, &last)
	if last.State != api.Completed {
		b.Fatalf("a journey ended as %s", last.State)
	}
}

// await waits until nothing is left to do for a payment.
func (b *buyers) await(done <-chan struct{}) {
	select {
	case <-done:
	case <-b.Context().Done():
		b.Fatal(b.Context().Err())
	}
}

// recording walks a journey, and returns the time from the processor's confirmation until
// the buyer, who follows the registration, is notified that the payment is recorded.
func (b *buyers) recording() time.Duration {
	one := b.register(api.NewItem{OfferId: oneOffOffer})
	page, done := one.pay()
	stream, err := b.http.Do(one.request(http.MethodGet, one.url()+"/events", nil))
	b.must(err)
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	b.awaitState(lines, api.RequiresAction)
	one.confirm(page)
	confirmed := time.Now()
	b.awaitState(lines, api.Recorded)
	took := time.Since(confirmed)
	b.await(done) // its last calls would delay the next journey
	return took
}

// awaitState reads a stream until the payment is in a state.
func (b *buyers) awaitState(lines *bufio.Scanner, state api.PaymentState) {
	for lines.Scan() {
		data, found := strings.CutPrefix(lines.Text(), "data: ")
		var seen api.Registration
		if found && json.Unmarshal([]byte(data), &seen) == nil && seen.Payment != nil && seen.Payment.State == state {
			return
		}
	}
	b.Fatalf("a stream ended before %s: %v", state, lines.Err())
}

func (b *buyer) request(method, url string, body any) *http.Request {
	text := []byte{}
	if body != nil {
		var err error
		text, err = json.Marshal(body)
		b.must(err)
	}
	request, err := http.NewRequestWithContext(b.Context(), method, url, bytes.NewReader(text))
	b.must(err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Forwarded-For", b.address)
	if b.Token != nil {
		request.Header.Set("Authorization", "Bearer "+*b.Token)
	}
	if method == http.MethodPost {
		request.Header.Set("Idempotency-Key", uuid.NewString())
	}
	return request
}

// do sends a request, and decodes the response, which must be a success.
func (b *buyer) do(method, url string, body, into any) {
	_, text := b.exchange(&b.http, b.request(method, url, body))
	if into != nil {
		b.must(json.Unmarshal(text, into))
	}
}
