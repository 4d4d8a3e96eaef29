// Package background is all work that no request waits for. Worker has its parts, and Worker.Run starts and stops them: start
// reading there.
//
// Payments wait in two lanes in Redis, each payment until the time when it is due: the open ones, which are advanced, and the
// recorded ones, which are verified (lane.go, payment.go). Queue.Wake has an open payment advanced at once, in this process if
// a worker is idle, else on the first gateway that has one.
//
// Events of the club system arrive at Intake, which stores them. A job passes them to Relay, which delivers them to
// subscribers, and reads the registrations again that they concern. Jobs are in queues of the library asynq. They say "work on
// this if needed", so that a job may run twice, late, or on several gateways at once; the next sweep replaces a lost job.
//
// The sweeps also leave a heartbeat in Redis. If it is gone, Redis lost writes, and the payments are rebuilt from the card
// processor (heartbeat.go).
//
// Queue.SendMail has a mail sent by Mailer, which retries it like a delivery to a subscriber (mail.go).
//
// Hub tells the visitors' event streams which registrations have changed, on any gateway.
package background

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"frontdesk/flows/keyring"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/flows/statements"
	"frontdesk/flows/store"
	"frontdesk/flows/tracing"
	"frontdesk/upstream/mail"
)

// Config is what the background work of a gateway needs; every field is required unless noted.
type Config struct {
	Store         *store.Store
	Queue         *Queue
	Payments      *payment.Machine
	Registrations *registration.Service
	Statements    *statements.Service
	Keys          *keyring.Keyring // seal deliveries and mails
	ClientToken   string           // the organisation whose events count
	Subscribers   []Subscriber     // receive the events; checked by EgressPolicy.Check; may be empty
	Client        *http.Client     // sends deliveries; see EgressPolicy.NewClient
	Mail          *mail.Client     // sends mails; nil: no mail is sent
	// ClocksAgree reports whether a clock shows the time of the other gateways; nil: not checked.
	ClocksAgree func(ctx context.Context, now func() time.Time) (bool, error)
	Traces      trace.TracerProvider // of jobs, deliveries, sweeps and rebuilds
	Now         func() time.Time
	After       func(time.Duration) <-chan time.Time
	Log         *slog.Logger
}

// Worker is the background work of one gateway.
type Worker struct {
	Queue   *Queue  // wakes payments, and shows operators what waits
	Changes *Hub    // tells event streams which registrations have changed
	Events  *Intake // receives the club system's events
	Relay   *Relay  // delivers them to subscribers
	Mailer  *Mailer // sends mails

	cfg       Config
	heartbeat heartbeat
	mayFill   atomic.Bool // the latest sweep found this machine's clock and the owner of Redis right
}

// New returns the background work of a gateway. Until Run is called, events are stored and payments become due, but nothing is
// done about them here, and no event stream is notified.
func New(cfg Config) *Worker {
	relay := newRelay(cfg)
	return &Worker{
		Queue:     cfg.Queue,
		Changes:   newHub(cfg.Store),
		Events:    &Intake{cfg: cfg, relay: relay},
		Relay:     relay,
		Mailer:    &Mailer{cfg: cfg},
		cfg:       cfg,
		heartbeat: heartbeat{gateway: uuid.NewString(), wake: make(chan struct{}, 1)},
	}
}

// Run works until the context ends, and then finishes what is in progress. It fails if a queue of jobs cannot be served.
func (w *Worker) Run(ctx context.Context) error {
	w.cfg.Payments.OweRebuild() // Redis may have lost something before the start
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return w.Events.run(ctx) })
	group.Go(func() error { return w.Mailer.run(ctx) })
	for _, s := range w.cfg.Subscribers {
		group.Go(func() error { return w.Relay.run(ctx, s) })
	}
	for _, run := range []func(context.Context){w.Changes.run, w.runPayments, w.runRebuilds, w.renewProofs, w.runStatements} {
		group.Go(func() error {
			run(ctx)
			return nil
		})
	}
	return group.Wait()
}

// renewProofs makes receipts of consents and confirmations independent of older keys, because they
// are kept longer than any key should be. A change of keys needs a start, and a start
// that fails to renew leaves it to the next one.
func (w *Worker) renewProofs(ctx context.Context) {
	ctx, span := tracing.StartTrace(ctx, w.cfg.Traces, "", "renew proofs", trace.SpanKindInternal)
	defer span.End()
	if err := w.cfg.Store.RenewReceipts(ctx); err != nil && ctx.Err() == nil {
		w.cfg.Log.WarnContext(ctx, "receipts of consents not sealed with the current key", "error", err)
	}
	if err := w.cfg.Store.RenewConfirmations(ctx); err != nil && ctx.Err() == nil {
		w.cfg.Log.WarnContext(ctx, "confirmations not sealed with the current key", "error", err)
	}
}
