package protocol_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
)

// TestFactsAreForgotten: after a call that changed the processor's payment, a commit, or a lost race, only what still holds is
// known.
func TestFactsAreForgotten(t *testing.T) {
	t.Parallel()
	payment := record(flows.Capturing)
	facts := func() protocol.Facts {
		f := protocol.Facts{Wish: protocol.GiveUp}
		and(shows(cards.Authorised), brake(0), sale())(&f)
		return f
	}
	response := func(change func(r *protocol.Remote)) *protocol.Call {
		call := &protocol.Call{Outcome: protocol.Done, Response: remote(&payment, cards.Captured)}
		change(call.Response)
		return call
	}
	for name, test := range map[string]struct {
		kind protocol.Kind
		call *protocol.Call
		want bool // the response is the new reading
	}{
		"a response":              {protocol.Capture, response(func(*protocol.Remote) {}), true},
		"a replayed response":     {protocol.Capture, response(func(r *protocol.Remote) { r.Replayed = true }), false},
		"a response that differs": {protocol.Capture, response(func(r *protocol.Remote) { r.Amount++ }), false},
		"a cancellation":          {protocol.Cancel, response(func(*protocol.Remote) {}), false},
		"a failure":               {protocol.Capture, &protocol.Call{Outcome: protocol.Failed, Err: errDown}, false},
	} {
		f := facts().Wrote(test.kind, &payment, test.call)
		if (f.Remote != nil) != test.want || f.Call != test.call || f.Remote != nil && f.Remote.By != test.kind {
			t.Errorf("%s: %+v", name, f.Remote)
		}
	}

	claim := func(n int) flows.Payment {
		p := payment
		p.Claim = n
		return p
	}
	kept := func(age time.Duration, err error, lease time.Duration) protocol.Facts {
		f := facts()
		f.Remote.By = protocol.Capture
		f.Remote.At, f.Remote.Err = now.Add(-age), err
		return f.Committed(&protocol.Change{Record: claim(1), Lease: lease}, now)
	}
	if f := kept(time.Minute, nil, 0); f.Remote == nil || f.Brake != nil || f.Sale != nil || f.Wish != protocol.GiveUp || !f.Owner.IsZero() {
		t.Errorf("after a commit: %+v", f)
	}
	if f := kept(0, errDown, 0); f.Remote != nil {
		t.Error("a reading that failed outlives a commit")
	}
	if f := kept(10*time.Second, nil, protocol.Lease); f.Remote == nil || !f.Owner.Equal(now) {
		t.Errorf("before a claim: %+v", f)
	}
	if f := kept(11*time.Second, nil, protocol.Lease); f.Remote != nil {
		t.Error("a claim follows a reading that is older than a claim lives")
	}
	if f := facts().Committed(&protocol.Change{Record: claim(1), Lease: protocol.Lease}, now); f.Remote != nil {
		t.Error("a claim follows a reading from before this process owned the payment")
	}
	captured := facts()
	captured.Remote.By = protocol.Capture
	if f := captured.Committed(&protocol.Change{Record: claim(2), Lease: protocol.Lease}, now); f.Remote != nil {
		t.Error("a later claim follows a reading from before its release")
	}
	owner := facts()
	owner.Owner = now
	doubt := &protocol.Change{Record: record(flows.InDoubt)}
	if f := owner.Committed(doubt, now); f.Remote != nil || !f.Owner.IsZero() || f.Wish != protocol.GiveUp {
		t.Errorf("after an attempt to record: %+v", f)
	}

	same, other := record(flows.Captured), record(flows.Cancelling)
	change := &protocol.Change{Record: record(flows.Captured)}
	if f := facts().Overtaken(flows.Capturing, change, &same); f.Remote == nil || f.Sale != nil || f.Wish != protocol.GiveUp {
		t.Errorf("overtaken by the same step: %+v", f)
	}
	if f := facts().Overtaken(flows.Capturing, change, &other); f.Remote != nil {
		t.Error("a reading outlives another process' step")
	}
	if f := facts().Overtaken(flows.Captured, change, &same); f.Remote != nil {
		t.Error("a reading outlives what another process noted, and may have read later")
	}
}
