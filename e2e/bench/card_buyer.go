package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"frontdesk/api"
	"frontdesk/e2e/campaign/rig"
	"frontdesk/e2e/frontdesktest"
)

// buyers walk card journeys at a gateway, each from an address of their own.
type buyers struct {
	gateway string
	outside *countingUpstreams
	http    http.Client
	walked  atomic.Int64
}

func newBuyers(gateway string, outside *countingUpstreams) *buyers {
	return &buyers{gateway: gateway, outside: outside,
		http: http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 2 * atOnce}}}
}

const (
	// atOnce is how many journeys are under way together: enough to keep one core busy
	// while each waits for the disk of Redis.
	atOnce = 16
	// cardOnlyOffer is an offer that needs nothing of the buyer but the money.
	oneOff = "2501"
)

// journey is one buyer's way.
type journey struct {
	*buyers
	address string
	api.Registration
}

// start registers, with a person and an item.
func (b *buyers) start(ctx context.Context) (*journey, error) {
	return b.register(ctx, api.NewItem{OfferId: oneOff})
}

func (b *buyers) register(ctx context.Context, item api.NewItem) (*journey, error) {
	n := b.walked.Add(1)
	j := &journey{buyers: b, address: fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)}
	return j, j.ask(ctx, http.MethodPost, b.gateway+"/v1/registrations",
		api.StartRegistration{ClubId: "11", Person: frontdesktest.Person(), Items: &[]api.NewItem{item}}, &j.Registration)
}

// path is the registration's.
func (j *journey) path() string { return j.gateway + "/v1/registrations/" + j.Id }

// pay asks for the payment and enters a card at the processor; after that it is done for.
func (j *journey) pay(ctx context.Context) (confirm func() error, ended <-chan struct{}, err error) {
	var payment api.Payment
	if err := j.ask(ctx, http.MethodPost, j.path()+"/payment", map[string]string{"method": "card"}, &payment); err != nil {
		return nil, nil, err
	}
	page := *payment.Card.RedirectUrl
	confirm = func() error {
		return j.ask(ctx, http.MethodPost, page+"/confirm", map[string]string{"card": "4242424242424242"}, nil)
	}
	return confirm, j.outside.ends(path.Base(page)), nil
}

// whole walks a journey from its start to its end.
func (b *buyers) whole(ctx context.Context) error {
	j, err := b.start(ctx)
	if err != nil {
		return err
	}
	if err := j.ask(ctx, http.MethodGet, j.path(), nil, nil); err != nil {
		return err
	}
	confirm, ended, err := j.pay(ctx)
	if err != nil {
		return err
	}
	if err := confirm(); err != nil {
		return err
	}
	select {
	case <-ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	var last api.Registration
	err = j.ask(ctx, http.MethodGet, j.path(), nil, &last)
	if err == nil && last.State != api.Completed {
		err = fmt.Errorf("a journey ended as %s", last.State)
	}
	return err
}

// crowd walks so many journeys, atOnce together.
func (b *buyers) crowd(ctx context.Context, journeys int) error {
	var left atomic.Int64
	left.Store(int64(journeys))
	failed := make([]error, atOnce)
	var all sync.WaitGroup
	for i := range atOnce {
		all.Go(func() {
			for failed[i] == nil && left.Add(-1) >= 0 {
				failed[i] = b.whole(ctx)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// recorded walks a journey, and gives the time from the processor's confirmation until its
// buyer, who follows the registration, is told that the payment is recorded.
func (b *buyers) recorded(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	j, err := b.start(ctx)
	if err != nil {
		return 0, err
	}
	confirm, ended, err := j.pay(ctx)
	if err != nil {
		return 0, err
	}
	request, err := j.request(ctx, http.MethodGet, j.path()+"/events", nil)
	if err != nil {
		return 0, err
	}
	stream, err := b.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer stream.Body.Close()
	lines := bufio.NewReader(stream.Body)
	if err := awaitState(lines, api.RequiresAction); err != nil {
		return 0, err
	}
	if err := confirm(); err != nil {
		return 0, err
	}
	confirmed := time.Now()
	if err := awaitState(lines, api.Recorded); err != nil {
		return 0, err
	}
	took := time.Since(confirmed)
	<-ended // else it would be in the way of the next one
	return took, nil
}

// awaitState reads a stream until the payment is in a state.
func awaitState(lines *bufio.Reader, state api.PaymentState) error {
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		data, is := strings.CutPrefix(line, "data: ")
		var seen api.Registration
		if is && json.Unmarshal([]byte(data), &seen) == nil && seen.Payment != nil && seen.Payment.State == state {
			return nil
		}
	}
}

func (j *journey) request(ctx context.Context, method, url string, body any) (*http.Request, error) {
	text := []byte{}
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Forwarded-For", j.address)
	if j.Token != nil {
		request.Header.Set("Authorization", "Bearer "+*j.Token)
	}
	if method == http.MethodPost {
		request.Header.Set("Idempotency-Key", uuid.NewString())
	}
	return request, nil
}

// ask sends a request, and decodes the answer, which has to be a success.
func (j *journey) ask(ctx context.Context, method, url string, body, into any) error {
	request, err := j.request(ctx, method, url, body)
	if err != nil {
		return err
	}
	return rig.DoJSON(&j.http, request, into)
}
