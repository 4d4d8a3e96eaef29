package handlers

import (
	"net/http"

	"frontdesk/flows"
)

// This file serves operators who look after the relay of events to subscribers.

func (o *Ops) listDeliveries(r *http.Request) (any, error) {
	return o.cfg.Relay.Deliveries(r.Context(), flows.DeliveryState(r.URL.Query().Get("state")))
}

func (o *Ops) showDelivery(r *http.Request) (any, error) {
	return o.cfg.Relay.Delivery(r.Context(), r.PathValue("id"))
}

func (o *Ops) replayDelivery(r *http.Request) (any, error) {
	var in decision
	if err := bind(r, &in); err != nil {
		return nil, err
	}
	return o.cfg.Relay.Replay(r.Context(), r.PathValue("id"), in.By)
}

func (o *Ops) replayDead(r *http.Request) (any, error) {
	var in decision
	if err := bind(r, &in); err != nil {
		return nil, err
	}
	return o.cfg.Relay.ReplayAll(r.Context(), r.PathValue("name"), in.By)
}

func (o *Ops) enableSubscriber(r *http.Request) (any, error) {
	var in decision
	if err := bind(r, &in); err != nil {
		return nil, err
	}
	return o.cfg.Relay.Enable(r.Context(), r.PathValue("name"), in.By)
}

// queues serves GET /ops/queue.
func (o *Ops) queues(r *http.Request) (any, error) {
	queues, err := o.cfg.Queue.Queues(r.Context())
	if err != nil {
		return nil, err
	}
	return map[string]any{"items": queues}, nil
}
