package simulation

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"frontdesk/flows"
)

// The accounts that the buyer enters, one after the other.
var accounts = []string{"FR1420041010050500013M02606", "DE89370400440532013000"}

// smsPause is a little longer than the time between two codes.
const smsPause = 61 * time.Second

// scheduleMandate has the buyer set up the direct debit. While the club system checks a code, the buyer goes back,
// enters another account, asks for another code or cancels.
func (f *journey) scheduleMandate() {
	if !f.plan.mandate {
		return
	}
	f.enterAccount(0)
	for n := range 3 {
		at := time.Duration(n+1)*smsPause + f.between(0, 2*time.Second)
		f.enterCode(at)
		at += f.between(0, 20*time.Second)
		if f.chance(0.8) {
			f.fault(buyerWentBack)
			f.enterAccount(at)
		}
		f.read(at)
		f.enterCode(at + f.between(5*time.Second, 20*time.Second))
	}
}

func (f *journey) enterAccount(d time.Duration) {
	f.spawn(d, func(ctx context.Context, t *task) {
		_, err := t.gateway.registrations.CreateMandate(ctx, f.registration, f.token,
			flows.NewMandate{Holder: "the buyer", IBAN: oneOf(f, accounts...)})
		f.tracef("%s: account: %v", t.gateway.name, err)
	})
}

func (f *journey) enterCode(d time.Duration) {
	f.spawn(d, func(ctx context.Context, t *task) {
		sent := f.sim.SMS()
		if len(sent) == 0 {
			return
		}
		_, err := t.gateway.registrations.SignMandate(ctx, f.registration, f.token, sent[len(sent)-1].Code, "en")
		f.tracef("%s: code: %v", t.gateway.name, err)
	})
}

// checkCode carries a transition of a signature request to the club system: slowly, without a response, or so late
// that its caller has given up.
func (c clubTransport) checkCode(r *http.Request, t *task) (*http.Response, error) {
	journey := t.journey
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch journey.rng.IntN(5) {
	case 0:
		journey.fault(codeSlow)
		t.yield(journey.between(time.Second, 14*time.Second))
		if t.dead.Load() {
			return nil, errDead
		}
	case 1:
		journey.fault(codeUnanswered)
		_, _ = c.simulate(r, nil)
		t.yield(journey.between(time.Second, 14*time.Second))
		return nil, io.ErrUnexpectedEOF
	case 2:
		journey.fault(codeLate)
		later := r.Clone(context.Background())
		journey.after(journey.between(time.Second, 30*time.Second), func() {
			later.Body = io.NopCloser(bytes.NewReader(body))
			_, _ = c.simulate(later, nil)
		})
		return nil, io.ErrUnexpectedEOF
	case 3:
		journey.fault(crashed)
		_, _ = c.simulate(r, nil)
		journey.crash(t.gateway)
		return nil, errDead
	}
	return c.simulate(r, nil)
}

// checksCode reports whether a request is a transition of a signature request.
func checksCode(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/signature_requests/")
}
