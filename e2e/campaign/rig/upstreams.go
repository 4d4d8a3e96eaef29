package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// Upstreams is the process that the gateways stand in front of: the club system's
// simulator and the sandbox processor. It is never killed; its books are the truth.
type Upstreams struct {
	URL  string
	now  *Process
	http http.Client
}

// controlTime bounds a look into the books, which are long in the end.
const controlTime = 30 * time.Second

func newUpstreams(ctx context.Context, path string) (*Upstreams, error) {
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	o := &Upstreams{URL: "http://" + address, http: http.Client{Timeout: controlTime}}
	o.now, err = Start(ctx, "sandbox card processor at", nil, path, "sim", "--addr", address)
	return o, err
}

// Ledger is every payment that the club system has booked.
func (o *Upstreams) Ledger(ctx context.Context) ([]clubsim.LedgerEntry, error) {
	var list clubsim.Items[clubsim.LedgerEntry]
	return list.Items, o.do(ctx, http.MethodGet, "/sim/demo/_control/ledger", nil, &list)
}

// Audit is what the club system's books have to reproach us with.
func (o *Upstreams) Audit(ctx context.Context) (audit clubsim.Audit, err error) {
	return audit, o.do(ctx, http.MethodGet, "/sim/demo/_control/audit", nil, &audit)
}

// Payments is what the processor holds.
func (o *Upstreams) Payments(ctx context.Context) ([]sandbox.Payment, error) {
	var list struct{ Items []sandbox.Payment }
	err := o.do(ctx, http.MethodGet, "/sandbox/payments", nil, &list)
	return list.Items, err
}

// Payment is one of them.
func (o *Upstreams) Payment(ctx context.Context, id string) (p sandbox.Payment, err error) {
	return p, o.do(ctx, http.MethodGet, "/sandbox/payments/"+id, nil, &p)
}

// SetFaults makes calls to the club system go wrong; none ends that.
func (o *Upstreams) SetFaults(ctx context.Context, faults ...clubsim.Fault) error {
	return o.do(ctx, http.MethodPut, "/sim/demo/_control/faults", append([]clubsim.Fault{}, faults...), nil)
}

// Set makes the processor's webhooks behave in a way.
func (o *Upstreams) Set(ctx context.Context, settings sandbox.Settings) error {
	return o.do(ctx, http.MethodPut, "/sandbox/settings", settings, nil)
}

// Confirm enters a card on the processor's page. A payment that cannot be confirmed
// any more is no error: the page says so to the buyer, who goes back.
func (o *Upstreams) Confirm(ctx context.Context, id, card string) error {
	err := o.do(ctx, http.MethodPost, "/sandbox/payments/"+id+"/confirm", map[string]string{"card": card}, nil)
	if refused, ok := errors.AsType[*StatusError](err); ok && refused.Status < 500 {
		return nil
	}
	return err
}

func (o *Upstreams) do(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, o.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	return DoJSON(&o.http, request, out)
}
