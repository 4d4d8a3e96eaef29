package flowstest

import (
	"context"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/background"
	"frontdesk/flows/statements"
	"frontdesk/flows/tracing"
)

// Background is what the background work of a gateway needs, which relays events to subscribers.
func (w *World) Background(gateway *Gateway, subscribers ...background.Subscriber) background.Config {
	w.Helper()
	worker := background.Config{
		Store:         gateway.Store,
		Queue:         gateway.Queue,
		Payments:      gateway.Machine,
		Registrations: gateway.Registrations,
		Keys:          NewKeyring(w, "one"),
		ClientToken:   "demo",
		Subscribers:   subscribers,
		Client:        background.EgressPolicy{Loopback: true}.NewClient(),
		Traces:        tracing.IDOnlyProvider(),
		Now:           w.Clock.Now,
		Log:           gateway.Log,
	}
	worker.Statements = statements.New(statements.Config{
		Store:     gateway.Store,
		Catalogue: gateway.Catalogue,
		Contacts:  gateway.Registrations.Contacts,
		Keys:      worker.Keys,
		Kept:      365 * 24 * time.Hour,
		SendMail:  gateway.Queue.SendMail,
		Publish:   func(context.Context, flows.OwnEvent) error { return nil },
		Now:       w.Clock.Now,
		Log:       gateway.Log,
	})
	return worker
}

// RunBackground runs background work until the test ends. Each value sent to the returned channel starts the next sweep.
func (w *World) RunBackground(cfg background.Config) chan<- time.Time {
	w.Helper()
	sweeps := make(chan time.Time)
	cfg.After = func(d time.Duration) <-chan time.Time {
		if d <= time.Second { // between two verifications, or until the lanes are looked at again
			return time.After(min(d, 20*time.Millisecond))
		}
		return sweeps
	}
	ctx, stop := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- background.New(cfg).Run(ctx) }()
	w.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			w.Errorf("the worker ended with %v", err)
		}
	})
	return sweeps
}
