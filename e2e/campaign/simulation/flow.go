package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/e2e/campaign"
	"frontdesk/flows"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// flow is one journey: one registration, its buyer, and everything that goes
// wrong on the way. Its seed decides all of it.
type flow struct {
	*stage
	seed     uint64
	rng      *rand.Rand // drawn from by whoever runs alone: the agenda, or the running task
	plan     plan
	person   campaign.Canary
	gateways []*gateway

	agenda  agenda
	orders  int
	events  int // how many have happened
	tasks   map[*task]bool
	running atomic.Pointer[task]
	handoff chan struct{}
	fence   atomic.Int64 // the network orders a task and the handler that acts for it, which the race detector cannot see
	letters []letter

	registration string
	token        string
	sale         string
	answers      []campaign.Answer
	acted        map[string]bool // payments for which the buyer has plans
	settlements  []string        // ways without a payment in which the club system settled the sale, in order
	pressed      int             // how often the buyer pressed again after an error

	snapshots []snapshot
	epochs    int               // how often Redis forgot
	bodies    map[string]string // what each record last read, sealed
	versions  map[string][]int64

	mu     sync.Mutex
	faults map[string]int
	trace  []string
}

// replicas is how many gateways share the work: enough to be in each other's way.
const replicas = 3

// newFlow begins a journey on a cleared stage.
func newFlow(s *stage, seed uint64) *flow {
	s.clear()
	f := &flow{
		stage: s, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), person: campaign.NewCanary(seed), tasks: map[*task]bool{},
		handoff: make(chan struct{}), acted: map[string]bool{}, bodies: map[string]string{}, versions: map[string][]int64{},
		faults: map[string]int{},
	}
	f.plan = newPlan(f.rng)
	log := &journal{f}
	for n := range replicas {
		f.gateways = append(f.gateways, s.gateway(n+1, log))
	}
	s.mu.Lock()
	s.flow = f
	s.mu.Unlock()
	return f
}

// result is what came of a journey.
type result struct {
	state      string
	faults     map[string]int
	violations []campaign.Violation
	trace      []string
}

// run plays the journey to its end and judges it.
func (f *flow) run() (result, error) {
	if err := f.register(); err != nil {
		return result{}, err
	}
	f.buy()
	f.sweeps()
	f.rebuilds(f.plan.trouble)
	f.play(begins.Add(f.plan.trouble))
	f.plan = f.plan.calm()
	f.play(time.Time{}) // what is late arrives before things are calm
	f.calm()
	return f.judge()
}

// register fills a cart; nothing goes wrong with that.
func (f *flow) register() error {
	start := f.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	offer := "201" // costs something, and can be paid by card at once
	if f.plan.way == flows.Free {
		offer = "3801"
	}
	view, token, err := f.gateways[0].registrations.Start(context.Background(), flows.NewRegistration{
		ClientToken: "demo", ClubID: "11", Channel: "web",
		Person: &flows.Person{GivenName: f.person.GivenName, FamilyName: f.person.FamilyName, BirthDate: "1990-05-17", Email: f.person.Email,
			Mobile: f.person.Mobile, Street: f.person.Street, PostalCode: "75011", City: "Paris", Country: "FR"},
		Items: []flows.NewItem{{OfferID: offer, StartDate: start}},
	})
	if err != nil {
		return fmt.Errorf("the cart was not filled: %w", err)
	}
	f.registration, f.token, f.sale = view.ID, token, string(view.Sale)
	f.keepSnapshot()
	return nil
}

func (f *flow) anyGateway() *gateway { return f.gateways[f.rng.IntN(len(f.gateways))] }

// advance has a gateway look at a payment, as its worker does.
func (f *flow) advance(d time.Duration, id flows.PaymentID) {
	f.spawn(d, f.anyGateway(), "advance", func(ctx context.Context, t *task) {
		_, err := t.gateway.payments.Advance(ctx, id)
		if err != nil && flows.CodeOf(err) == flows.NotFound {
			if err = t.gateway.payments.Recall(ctx); err == nil {
				_, err = t.gateway.payments.Advance(ctx, id)
			}
		}
		if err != nil && flows.CodeOf(err) == flows.NotFound {
			err = f.store.LookAt(ctx, id, time.Time{})
		}
		if err != nil {
			f.tracef("%s: advance: %v", t.gateway.name, err)
		}
	})
}

// sweeps has the gateways look for what nobody told them of, less and less often
// as a journey goes on: the agenda of a day would otherwise be nothing else.
func (f *flow) sweeps() {
	pause := 12 * time.Second
	for at := pause; at < f.plan.trouble; at += pause {
		f.after(at, f.sweep)
		pause = pause * 5 / 4
	}
	if f.plan.forgets {
		// So long that the processor forgets its idempotency keys.
		f.after(f.between(0, f.plan.trouble), func() {
			f.fault(cardsForgot)
			f.setNow(f.Now().Add(25 * time.Hour))
		})
	}
}

// sweep has one gateway work off the list, unless there is nothing in it.
func (f *flow) sweep() {
	scores, err := f.redis.SortedSet(openPayments)
	if err != nil {
		return
	}
	for _, score := range scores {
		if score <= float64(f.Now().UnixMilli()) {
			f.spawn(0, f.anyGateway(), "sweep", f.sweepTask)
			return
		}
	}
}

func (f *flow) sweepTask(ctx context.Context, t *task) {
	due, err := f.store.DuePayments(ctx, f.Now(), 30*time.Second, 500)
	for _, id := range due {
		err = f.queue.EnqueueAdvance(ctx, id)
	}
	if err != nil {
		f.tracef("%s: sweep: %v", t.gateway.name, err)
	}
}

// calmLooks times calmPause is campaign.CalmTime and two minutes: what becomes due in the last of the ten is looked at as well.
const (
	calmLooks = 12
	calmPause = time.Minute
)

// calm lets ten minutes pass in which nothing goes wrong, or fewer when nothing can change any more.
func (f *flow) calm() {
	for n := range calmLooks {
		if n%int(rebuildEvery/calmPause) == 0 && (n > 0 || f.epochs > 0) {
			f.rebuild(0)
		}
		f.sweep()
		f.play(f.Now().Add(calmPause))
		if p := f.last(); p != nil && (p.State.Final() || p.State == flows.Blocked) && f.epochs == 0 {
			return
		}
	}
}

// last is the latest payment as it is stored; nil when there is none.
func (f *flow) last() *flows.Payment {
	_, p, err := f.store.Registration(context.Background(), f.registration)
	if err != nil {
		return nil
	}
	return p
}

// stored are all payments of the registration that Redis holds.
func (f *flow) stored() (all []*flows.Payment) {
	for _, key := range f.redis.Keys() {
		_, generation, ok := strings.Cut(key, "}:payment:")
		if !ok {
			continue
		}
		if p, err := f.store.Payment(context.Background(), flows.NewPaymentID(f.registration, int(number(generation)))); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// judge collects the evidence.
func (f *flow) judge() (result, error) {
	sale, ok := f.sim.Sale(f.sale)
	if !ok {
		return result{}, fmt.Errorf("the club system has no sale %s", f.sale)
	}
	e := campaign.Evidence{Registration: f.registration, Sale: f.sale, Due: int64(sale.Total), Calm: campaign.CalmTime,
		Answers: f.answers, Versions: f.versions, Earlier: map[string]string{}}
	e.Booked, e.Settled = f.booked(), f.settlements
	if sale, ok := f.sim.Sale(f.sale); ok && len(e.Booked)+len(e.Settled) == 0 && sale.State != "building" {
		e.Settled = []string{sale.State} // by a request whose connection was cut before its end could be noted
	}
	for _, p := range f.held() {
		e.Held = append(e.Held, campaign.Held{ID: p.ID, Captured: p.Captured, Refunded: p.Refunded})
	}
	out := result{state: "no payment", faults: f.faults}
	if p := f.last(); p != nil {
		out.state, e.State, e.ProcessorID = string(p.State), p.View().State, p.ProcessorID
		if !p.Witnessed() {
			e.Way = string(p.Method)
			out.state = e.Way + ": " + out.state
		}
	}
	for _, p := range f.stored() {
		if p.Witnessed() {
			e.Earlier[p.ProcessorID] = p.View().State
		}
	}
	f.tracef("ended as %s; booked %v, the processor holds %+v", out.state, e.Booked, e.Held)
	out.violations, out.trace = e.Violated(), f.trace
	if f.restless() {
		out.violations = append(out.violations, campaign.Violation{Invariant: campaign.NeverRests, Detail: fmt.Sprintf("%d events", f.events), Flow: f.registration})
	}
	for place, text := range map[string]string{"Redis": f.redis.Dump(), "the log": strings.Join(f.trace, "\n")} {
		if found := f.person.In(text); found != nil {
			out.violations = append(out.violations, campaign.LeakedTo(place, f.registration, found))
		}
	}
	for i := range out.violations {
		out.violations[i].Seed, out.violations[i].Trace = f.seed, f.trace
	}
	return out, nil
}

// tracef adds a line to what the journey tells of itself.
func (f *flow) tracef(format string, args ...any) {
	at := f.Now().Sub(begins)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trace = append(f.trace, fmt.Sprintf("%9.3fs  %s", at.Seconds(), fmt.Sprintf(format, args...)))
}

// epoch names a record between two occasions on which Redis forgot.
func (f *flow) epoch(key string) string { return key + "#" + strconv.Itoa(f.epochs) }

func number(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}

// journal takes the gateways' log into the trace, where it is searched for
// personal data, too.
type journal struct{ flow *flow }

func (j *journal) logger(gateway string) *slog.Logger {
	return slog.New(journalOf{j.flow, gateway})
}

type journalOf struct {
	flow    *flow
	gateway string
}

// Enabled implements slog.Handler.
func (j journalOf) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler; the gateways do not use it.
func (j journalOf) WithAttrs([]slog.Attr) slog.Handler { return j }

// WithGroup implements slog.Handler; the gateways do not use it.
func (j journalOf) WithGroup(string) slog.Handler { return j }

// Handle implements slog.Handler.
func (j journalOf) Handle(ctx context.Context, line slog.Record) error {
	if t := taskOf(ctx); t != nil && t.dead.Load() {
		return nil
	}
	text := line.Message
	line.Attrs(func(a slog.Attr) bool { text += " " + a.Key + "=" + a.Value.String(); return true })
	j.flow.tracef("%s: %s", j.gateway, text)
	return nil
}

// pause is what may happen to a task before it goes on: others go on, or its
// process sleeps. It tells whether the process still lives.
func (t *task) pause() bool {
	f := t.flow
	if t.dead.Load() {
		return false
	}
	d := f.between(time.Millisecond, 40*time.Millisecond)
	if f.chance(f.plan.sleeps) {
		f.fault(slept)
		d = f.between(5*time.Second, 4*time.Minute)
		if f.chance(0.15) {
			d = f.between(15*time.Minute, 45*time.Minute) // others have drawn their conclusions meanwhile, operators too
		}
	}
	t.giveWay(d)
	return !t.dead.Load()
}

// changeCart has the club add something to the cart behind everybody's back.
func (f *flow) changeCart() {
	if p := f.last(); p != nil && !p.Witnessed() {
		return // as below: the sale is read for the last time when the payment is stored
	}
	for _, p := range f.held() {
		if p.State == cards.Authorised || p.State == cards.Captured {
			return // the cart is read for the last time before the capture; what changes after that is the club's to mend
		}
	}
	f.fault(clubChanged)
	scope := club.Scope{ClientToken: "demo", Club: "/demo/clubs/11", Node: "/demo/network_nodes/3"}
	_ = f.clubClient().AddArticle(context.Background(), scope, club.IRI(f.sale), club.NewArticle{Offer: "/demo/offers/201", StartDate: f.Now().AddDate(0, 0, 2).Format(time.DateOnly)})
}
