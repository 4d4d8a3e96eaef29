package flows

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// The figures of the looks at registrations that somebody at the club may have changed.
const (
	// refreshBurst and refreshInterval are the budget of all gateways that share a Redis, and
	// thereby of the organisation that they serve: 20 looks at once, one a second
	// after that. A look makes six calls at most, so that a storm of events asks the
	// club system for less than the signup of one visitor a second does.
	refreshBurst    = 20
	refreshInterval = time.Second
	// refreshRetry: a look that failed, or whose gateway died, is repeated after this.
	refreshRetry = time.Minute
	// FirstPoll: how old a registration with a cart is when it is read without any
	// hint. Who pays within minutes does so here; at the desk people take longer.
	FirstPoll = 15 * time.Minute
	// evidenceEvery: hints at a doubt lead to a reading no more often than its own
	// schedule begins.
	evidenceEvery = 30 * time.Second
)

// refreshRate is the budget of the looks.
func refreshRate() RateLimit { return RateLimit{Burst: refreshBurst, Interval: refreshInterval} }

// The jobs of events: they say "work on what waits", never what to do.
const (
	eventsJob       = "club:events"       // work on the events that wait
	dueRefreshesJob = "registration:due"  // look at the registrations that are due
	refreshJob      = "registration:look" // look at one registration
)

// enqueueEvents asks for work on the events that wait. No retry by the queue: the
// sweep comes to what is left.
func (q *Queue) enqueueEvents(ctx context.Context) error {
	return q.enqueue(ctx, newJob(ctx, eventsJob, nil), asynq.MaxRetry(0), asynq.Timeout(jobTimeout))
}

// enqueueDueRefreshes asks for the looks that will be due in a moment, once for all who
// ask for it: the queue runs a job within a second of its time at the latest.
func (q *Queue) enqueueDueRefreshes(ctx context.Context, in time.Duration) error {
	err := q.enqueue(ctx, newJob(ctx, dueRefreshesJob, nil), asynq.MaxRetry(0), asynq.Timeout(jobTimeout),
		asynq.ProcessIn(in+time.Second), asynq.Unique(in+time.Second))
	if errors.Is(err, asynq.ErrDuplicateTask) {
		return nil
	}
	return err
}

// enqueueRefresh asks for a look at a registration that was put off to taken.
func (q *Queue) enqueueRefresh(ctx context.Context, id string, taken time.Time) error {
	return q.enqueue(ctx, newJob(ctx, refreshJob, fmt.Appendf(nil, "%s %d", id, taken.UnixMilli())), asynq.MaxRetry(0), asynq.Timeout(jobTimeout))
}

func (q *Queue) enqueue(ctx context.Context, job *asynq.Task, options ...asynq.Option) error {
	if _, err := q.client.EnqueueContext(ctx, job, options...); err != nil {
		return &Error{Code: StorageUnavailable, Err: err}
	}
	return nil
}

// start begins the work on events that the queue hands out, beside that of a worker,
// and the deliveries to subscribers; both end with the worker.
func (e *ClubEvents) start(mux *asynq.ServeMux, kept trace.TracerProvider) error {
	mux.HandleFunc(eventsJob, func(ctx context.Context, _ *asynq.Task) error { return e.ProcessPending(ctx) })
	mux.HandleFunc(dueRefreshesJob, func(ctx context.Context, _ *asynq.Task) error { return e.enqueueDue(ctx) })
	mux.HandleFunc(refreshJob, func(ctx context.Context, job *asynq.Task) error {
		id, at, _ := strings.Cut(string(job.Payload()), " ")
		taken, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return err
		}
		return e.refresh(ctx, id, time.UnixMilli(taken))
	})
	return e.cfg.Relay.start(kept)
}

func (e *ClubEvents) stop(wait *sync.WaitGroup) { wait.Go(e.cfg.Relay.stop) }

// sweep comes to the events whose work was lost, and to the looks that are due.
func (e *ClubEvents) sweep(ctx context.Context) error {
	waiting, err := e.cfg.Store.ClubEventsWaiting(ctx)
	if err == nil && waiting > 0 {
		err = e.cfg.Queue.enqueueEvents(ctx)
	}
	return errors.Join(err, e.enqueueDue(ctx))
}

func (e *ClubEvents) enqueueDue(ctx context.Context) error {
	now := e.cfg.Now()
	taken := now.Add(refreshRetry)
	due, err := e.cfg.Store.DueRefreshes(ctx, now, taken, refreshRate())
	for _, id := range due {
		if err := e.cfg.Queue.enqueueRefresh(ctx, id, taken); err != nil {
			return err
		}
	}
	return err
}

// refresh looks at a registration, and says when the next look is due. One that
// failed stays where it was put off to.
func (e *ClubEvents) refresh(ctx context.Context, id string, taken time.Time) error {
	next, err := e.cfg.Registrations.Refresh(ctx, id)
	if err != nil {
		e.cfg.Log.WarnContext(ctx, "registration not refreshed", "error", err)
		return nil
	}
	return e.cfg.Store.FinishRefresh(ctx, id, taken, next)
}

// Refresh reads again what somebody at the club may have changed of a registration,
// and tells when that is worth a look without any hint; the zero instant: never.
// Whoever follows the registration sees what is new.
func (f *Registrations) Refresh(ctx context.Context, id string) (next time.Time, err error) {
	r, p, err := f.cfg.Store.Registration(ctx, id)
	switch {
	case errors.Is(err, ErrNotFound):
		return next, nil
	case err != nil:
		return next, storageFailed(err)
	}
	if p != nil && !p.State.Final() {
		return next, f.cfg.Payments.RereadEvidence(ctx, p)
	}
	if r.Phase(p, f.cfg.Now()) != Open || r.Contact == nil {
		return next, nil
	}
	at, err := f.cfg.Catalogue.Club(ctx, r.ClientToken, r.ClubID)
	if err != nil {
		return next, err
	}
	if r.Mandate != nil && r.Mandate.State == SignatureUnconfirmed {
		r = f.refreshMandate(ctx, r, at)
	}
	changed, err := f.reread(ctx, r, at)
	if err == nil && changed {
		err = storageFailed(f.cfg.Store.AmendRegistration(ctx, r))
	}
	return r.nextPoll(f.cfg.Now()), err
}

// nextPoll is when the club system is asked again without any hint: at twice the
// registration's age, since who has waited for hours comes to the desk tomorrow, if
// at all. Only a cart can be settled there.
func (r *Registration) nextPoll(now time.Time) time.Time {
	if r.Sale == "" || r.Cart.settled() {
		return time.Time{}
	}
	return now.Add(max(FirstPoll, now.Sub(r.CreatedAt)))
}

// reread reads sale, check and contact, and tells whether anything is new.
func (f *Registrations) reread(ctx context.Context, r *Registration, at Club) (changed bool, err error) {
	seen := *r
	owner := r.Contact.IRI
	if r.Sale != "" {
		sale, check, err := f.cfg.Club.GetCheckedSale(ctx, at.Scope, r.Sale)
		if err != nil {
			return false, clubFailed(err, "The cart could not be read.")
		}
		r.applySale(at.Currency, sale, check)
		if r.Cart.equal(seen.Cart) {
			r.Cart = seen.Cart // with the changes that it marks
		} else {
			r.Cart.markChanges(seen.Cart)
		}
		if sale.Contact != "" {
			owner = sale.Contact
		}
	}
	if r.Prospect == nil || r.Prospect.Done { // else the visitor is in the middle of it
		if err := f.rereadContact(ctx, r, at, owner); err != nil {
			return false, err
		}
	}
	return !reflect.DeepEqual(seen.Cart, r.Cart) || !reflect.DeepEqual(seen.Contact, r.Contact) || !reflect.DeepEqual(seen.Mandate, r.Mandate), nil
}

// equal compares carts as they were read, whatever was marked in them since.
func (c Cart) equal(before Cart) bool {
	unmarked := func(c Cart) Cart {
		c.Lines = append([]Line{}, c.Lines...)
		for i := range c.Lines {
			c.Lines[i].Was = nil
		}
		c.Gone = nil
		c.Problems = append([]CartProblem{}, c.Problems...)
		return c
	}
	return reflect.DeepEqual(unmarked(c), unmarked(before))
}

// rereadContact reads whose the cart is. One that the club has made one with
// another is that other's from now on, and a mandate goes along where the club
// system says so. A contact that is gone without a trace stays as it was known:
// the cart's check tells what follows.
func (f *Registrations) rereadContact(ctx context.Context, r *Registration, at Club, owner club.IRI) error {
	contact, err := f.cfg.Club.GetContact(ctx, at.Scope, owner)
	switch {
	case errors.Is(err, club.ErrNotFound):
		return nil
	case err != nil:
		return clubFailed(err, "The contact could not be read.")
	}
	next := Contact{IRI: contact.IRI, Number: contact.Number, Status: contact.Status}
	if r.identified() {
		statistics, err := f.cfg.Club.GetAccountStatistics(ctx, at.Scope, owner)
		if err != nil {
			return clubFailed(err, "The contact's account could not be read.")
		}
		buyer := Profile{Contact: contact, HomeClub: at, Debt: statistics.TotalRealDebt}.buyer(f.cfg.Now())
		next.Buyer = &buyer
	}
	moved := r.Contact.IRI != next.IRI
	r.Contact = &next
	if moved {
		f.followContact(ctx, r, at)
	}
	return nil
}

// RereadEvidence is Advance for whoever has heard that something happened at the club:
// a doubt is held against what the club system shows now, instead of when evidence
// is due by itself.
func (m *Machine) RereadEvidence(ctx context.Context, p *Payment) error {
	if p.State != InDoubt || p.Schema > PaymentSchema || p.readSince(m.cfg.Now(), evidenceEvery) {
		return m.cfg.Queue.EnqueueAdvance(ctx, p.ID)
	}
	var remote cards.Payment
	if p.HasProcessor() {
		var mismatch string
		var err error
		remote, mismatch, err = m.read(ctx, p)
		if err != nil || mismatch != "" || acceptanceJournaled(remote) {
			return errors.Join(err, m.cfg.Queue.EnqueueAdvance(ctx, p.ID))
		}
	}
	s, err := m.readEvidence(ctx, p, remote)
	if err != nil {
		return err
	}
	moved, err := m.commit(ctx, p, s)
	switch {
	case errors.Is(err, ErrConflict), errors.Is(err, ErrOwned):
		return nil // somebody else moved it
	case err != nil:
		return storageFailed(err)
	}
	if moved.State == Recorded && moved.HasProcessor() {
		m.journalRecorded(ctx, moved)
	}
	return nil
}

// readSince tells whether evidence was read, or was tried to be, within a time.
func (p *Payment) readSince(now time.Time, span time.Duration) bool {
	last := p.UpdatedAt
	for _, reading := range p.Readings {
		if reading.At.After(last) {
			last = reading.At
		}
	}
	return now.Sub(last) < span
}
