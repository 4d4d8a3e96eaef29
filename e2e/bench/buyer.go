package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

const (
	buyersAtOnce = 16     // enough to keep one core busy, although each buyer waits for the disk of Redis
	oneOffOffer  = "2501" // needs only money from the buyer
)

// buyers complete card journeys at a gateway, each from its own address.
type buyers struct {
	*harness
	gateway   string
	upstreams *countingUpstreams
	http      http.Client
	started   atomic.Int64
}

func (h *harness) buyers(gateway string, upstreams *countingUpstreams) *buyers {
	return &buyers{
		harness:   h,
		gateway:   gateway,
		upstreams: upstreams,
		http:      http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 2 * buyersAtOnce}},
	}
}

func (b *buyers) register(item api.NewItem) *frontdesktest.Buyer {
	header := http.Header{"X-Forwarded-For": {callerAddress(int(b.started.Add(1)))}}
	buyer := &frontdesktest.Buyer{Gateway: b.gateway, HTTP: &b.http, Header: header}
	_, err := buyer.Register(b.Context(), api.StartRegistration{ClubId: "11", Person: frontdesktest.Person(), Items: &[]api.NewItem{item}})
	b.must(err)
	return buyer
}

func (b *buyers) read(buyer *frontdesktest.Buyer) api.Registration {
	registration, err := buyer.Read(b.Context())
	b.must(err)
	return registration
}

// pay requests the payment. It returns a function that enters a card, and one that waits
// until nothing is left to do for the payment.
func (b *buyers) pay(buyer *frontdesktest.Buyer) (confirm, await func()) {
	buyer.Upstreams = b.upstreams.URL
	payment, err := buyer.Pay(b.Context())
	b.must(err)
	done := b.upstreams.lastCall(payment)
	confirm = func() { b.must(buyer.Confirm(b.Context(), payment, frontdesktest.ApprovedCard)) }
	await = func() {
		select {
		case <-done:
		case <-b.Context().Done():
			b.Fatal(b.Context().Err())
		}
	}
	return confirm, await
}

func (b *buyers) journey() {
	buyer := b.register(api.NewItem{OfferId: oneOffOffer})
	b.read(buyer)
	confirm, await := b.pay(buyer)
	confirm()
	await()
	if last := b.read(buyer); last.State != api.Completed {
		b.Fatalf("a journey ended as %s", last.State)
	}
}

// recording completes a journey, and returns the time from the processor's confirmation until the
// buyer, who follows the registration, is notified that the payment is recorded.
func (b *buyers) recording() time.Duration {
	buyer := b.register(api.NewItem{OfferId: oneOffOffer})
	confirm, await := b.pay(buyer)
	client := frontdesktest.NewClient(b, b.gateway)
	client.Token = buyer.Token
	stream := client.Follow(buyer.ID, "")
	defer stream.Close()
	awaitState := func(state api.PaymentState) {
		stream.Until(string(state), func(r api.Registration) bool { return r.Payment != nil && r.Payment.State == state })
	}
	awaitState(api.RequiresAction)
	confirm()
	confirmed := time.Now()
	awaitState(api.Recorded)
	took := time.Since(confirmed)
	await() // its last calls would delay the next journey
	return took
}

// callerAddress is the address of one of many callers.
func callerAddress(n int) string { return fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255) }

// get sends a GET request that needs no registration.
func (b *buyers) get(url string) {
	b.must((&frontdesktest.Buyer{HTTP: &b.http}).Do(b.Context(), http.MethodGet, url, nil, nil))
}

// bareTransport is an http.RoundTripper without goroutines: a refusal costs net/http's transport more
// CPU time than it costs the gateway. A request ends at its context's deadline, but not when the
// context is cancelled. Responses are read whole. It holds the idle connections of each host, the one used
// longest ago first, so that none is idle for as long as servers allow.
type bareTransport map[string]chan *bareConnection

type bareConnection struct {
	net.Conn
	buffered *bufio.ReadWriter
}

func (t bareTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	var conn *bareConnection
	select {
	case conn = <-t[r.URL.Host]:
	default:
		deadline, _ := r.Context().Deadline()
		opened, err := (&net.Dialer{Deadline: deadline}).Dial("tcp", r.URL.Host)
		if err != nil {
			return nil, err
		}
		conn = &bareConnection{opened, bufio.NewReadWriter(bufio.NewReader(opened), bufio.NewWriter(opened))}
	}
	response, err := conn.send(r)
	if err == nil && !response.Close {
		select {
		case t[r.URL.Host] <- conn:
			return response, nil
		default: // enough are idle
		}
	}
	_ = conn.Close()
	return response, err
}

func (c *bareConnection) send(r *http.Request) (*http.Response, error) {
	deadline, _ := r.Context().Deadline() // none: no limit
	if err := errors.Join(c.SetDeadline(deadline), r.Write(c.buffered), c.buffered.Flush()); err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(c.buffered.Reader, r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}
