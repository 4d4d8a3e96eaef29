package simulation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"frontdesk/e2e/campaign"
	"frontdesk/flows"
	"frontdesk/flows/payment"
	"frontdesk/flows/registration"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// journey is one journey: one registration, its buyer, and everything that goes
// wrong on the way. Its seed decides all of it.
type journey struct {
	*env
	seed     uint64
	rng      *rand.Rand // used by what runs alone: the scheduler, or the running task
	plan     plan
	person   campaign.Canary
	gateways []*gateway

	pending    []event // in the order in which they happen
	orders     int
	events     int // how many have happened
	sweepsDue  int // rebuilds to come after losses of Redis
	tasks      map[*task]bool
	running    atomic.Pointer[task]
	handoff    chan struct{}
	fence      atomic.Int64 // the network orders a task and the handler that acts for it, which the race detector cannot see
	deliveries []sandbox.Delivery

	registration string
	token        string
	others       []string // sales that are not the registration's
	contacts     int      // how many the club system had before
	started      int      // how many sales the start of the registration made, however often it was repeated
	responses    []campaign.Response
	confirmed    map[string]bool  // payments for which the buyer has plans
	settlements  []string         // ways without a payment in which the club system settled the sale, in order
	desk         []string         // ids of the payments that staff entered in the club system
	deskAt       time.Time        // when they did
	sentLate     time.Duration    // the longest time after that until a request left that would settle the sale
	byRule       bool             // the log says that evidence decided a doubt; Redis may have forgotten it since
	attempted    bool             // the journal held an open attempt then; its release may have arrived later
	heldUntil    time.Time        // another payment is the brake's probe until then
	chargedHeld  []string         // the processor's payments that were captured before
	chargedLate  []string         // those that were captured by a task that began too late
	releases     int              // of claims, in the processor's journals
	settings     sandbox.Settings // the processor's
	deciding     map[string]bool  // the processor's payments about which a bank will decide
	returned     map[string]bool  // the processor's payments whose refund the bank returned
	byHand       []string         // the processor's payments that staff refunded there
	served       []string         // what strangers were given
	retries      int              // how often the buyer pressed again after an error

	snapshots []snapshot
	epochs    int               // how often Redis lost data
	bodies    map[string]string // what each record last read, sealed
	versions  map[string][]int64

	state      string // in which it ended
	violations []campaign.Violation

	mu     sync.Mutex
	faults map[string]int
	trace  []string
}

const replicas = 3 // how many gateways share the work: enough to be in each other's way

func newJourney(env *env, seed uint64) *journey {
	env.reset(seed)
	journey := &journey{
		env:       env,
		seed:      seed,
		rng:       rand.New(rand.NewPCG(seed, 1)),
		person:    campaign.NewCanary(seed),
		tasks:     map[*task]bool{},
		handoff:   make(chan struct{}),
		confirmed: map[string]bool{},
		returned:  map[string]bool{},
		deciding:  map[string]bool{},
		bodies:    map[string]string{},
		versions:  map[string][]int64{},
		faults:    map[string]int{},
	}
	journey.plan = newPlan(journey.rng)
	for n := range replicas {
		journey.gateways = append(journey.gateways, env.gateway(n+1, journey))
	}
	env.current.Store(journey)
	return journey
}

func (f *journey) run() error {
	if err := f.register(); err != nil {
		return err
	}
	f.scheduleMandate()
	f.scheduleBuyer()
	f.scheduleFallBack()
	f.scheduleDesk()
	f.scheduleProcessor()
	f.scheduleStranger()
	f.sweeps()
	f.rebuilds(f.plan.faultWindow)
	f.play(startTime.Add(f.plan.faultWindow))
	f.plan = plan{ // without further faults
		faultWindow:   f.plan.faultWindow,
		method:        f.plan.method,
		restricts:     f.plan.restricts,
		onlyRestricts: f.plan.onlyRestricts,
	}
	f.play(time.Time{}) // late deliveries arrive before the quiet period
	f.quietPeriod()
	return f.check()
}

// register fills a cart, without faults.
func (f *journey) register() error {
	start := f.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	offer := "201" // costs something, and can be paid by card at once
	if f.plan.method == flows.Free {
		offer = "3801"
	}
	item := flows.NewItem{OfferID: offer, StartDate: start}
	birthDate := "1990-05-17"
	if f.plan.mandate {
		item.OfferID, item.Debit = "901", &flows.Debit{Day: new(10)}
	}
	if f.plan.restricts {
		item.OfferID, birthDate = "401", "2015-05-17" // from 18 years
		if err := f.sim.Configure(func(settings *clubsim.Settings) { settings.RestrictionsAtPayment = true }); err != nil {
			return err
		}
	}
	request := registration.StartRequest{
		ID:          f.newID(),
		ClientToken: "demo",
		ClubID:      "11",
		Channel:     "web",
		Person: &flows.Person{
			GivenName:  f.person.GivenName,
			FamilyName: f.person.FamilyName,
			BirthDate:  birthDate,
			Email:      f.person.Email,
			Mobile:     f.person.Mobile,
			Street:     f.person.Street,
			PostalCode: "75011",
			City:       "Paris",
			Country:    "FR",
		},
		Items: []flows.NewItem{item},
	}
	for _, sale := range f.sim.Sales() {
		f.others = append(f.others, sale.ID)
	}
	f.contacts = len(f.sim.Contacts())
	if f.chance(0.2) {
		if err := f.failStart(&request); err != nil {
			return err
		}
	}
	view, token, err := f.gateways[0].registrations.Start(context.Background(), request)
	if err != nil {
		return fmt.Errorf("the cart was not filled: %w", err)
	}
	f.started = len(f.sales())
	f.registration, f.token = view.ID, token
	if f.plan.debtor {
		err = f.sellOnCredit()
	}
	if f.plan.brakeFor > 0 {
		err = errors.Join(err, f.engageBrake())
	}
	f.takeSnapshot()
	return err
}

// failStart has the buyer start while the club system fails, with the request that is then repeated.
func (f *journey) failStart(request *registration.StartRequest) error {
	creation := oneOf(f, "/contacts", "/sales", "/sales/*/articles")
	kinds := append([]string{"error_before"}, oddKinds...)
	if creation != "/sales" { // the response that names a new sale cannot be found again
		kinds = append(kinds, "error_after", "drop_after")
	}
	kind := oneOf(f, kinds...)
	if err := f.sim.SetFaults([]clubsim.Fault{{Match: clubsim.FaultMatch{Method: http.MethodPost, Path: creation}, Kind: kind}}); err != nil {
		return err
	}
	defer f.sim.SetFaults(nil)
	for range 1 + f.rng.IntN(3) {
		_, _, err := oneOf(f, f.gateways...).registrations.Start(context.Background(), *request)
		request.Again = true
		if err != nil {
			f.fault(startRepeated)
		}
		f.tracef("start while %s at %s: %v", kind, creation, err)
	}
	f.Advance(flows.ArriveWithin + time.Second) // until an article may no longer be on its way
	return nil
}

// newID returns an id that the seed decides.
func (f *journey) newID() string {
	var bits [16]byte
	binary.BigEndian.PutUint64(bits[:8], f.rng.Uint64())
	binary.BigEndian.PutUint64(bits[8:], f.rng.Uint64())
	return uuid.NewHash(sha256.New(), uuid.Nil, bits[:], 4).String()
}

// advancePayment has a gateway process a payment, as its worker does.
func (f *journey) advancePayment(d time.Duration, id flows.PaymentID) {
	f.spawn(d, func(ctx context.Context, t *task) {
		_, err := t.gateway.payments.Advance(ctx, id)
		if err != nil && flows.CodeOf(err) == flows.NotFound {
			if err = t.gateway.payments.RebuildOnDemand(ctx); err == nil {
				_, err = t.gateway.payments.Advance(ctx, id)
			}
		}
		if err != nil && flows.CodeOf(err) == flows.NotFound {
			err = f.store.Unschedule(ctx, id)
		}
		if err != nil {
			f.tracef("%s: advance: %v", t.gateway.name, err)
		}
	})
}

// sweeps has the gateways find payments whose webhooks were lost, at growing intervals.
func (f *journey) sweeps() {
	pause := 12 * time.Second
	for at := pause; at < f.plan.faultWindow; at += pause {
		f.after(at, f.sweep)
		pause = pause * 5 / 4
	}
	if f.plan.dayPasses {
		// Long enough for the processor to forget its idempotency keys.
		f.after(f.between(0, f.plan.faultWindow), func() {
			f.fault(cardsForgot)
			f.Advance(25 * time.Hour)
			f.plan.capturesDown = false
		})
	}
}

// sweep has one gateway process the lists, unless nothing is due.
func (f *journey) sweep() {
	if !f.isDue(openPayments) && !f.isDue(unverifiedPayments) {
		return
	}
	f.spawn(0, func(ctx context.Context, t *task) {
		open, err := f.store.Due(ctx, flows.OpenLane, f.Now(), openLease, 40)
		for _, id := range open {
			f.work(id)
		}
		var recorded []flows.PaymentID
		if err == nil {
			recorded, err = f.store.Due(ctx, flows.VerifyLane, f.Now(), 5*time.Minute, 4)
		}
		if err != nil {
			f.tracef("%s: sweep: %v", t.gateway.name, err)
		}
		for _, id := range recorded {
			f.verify(id)
		}
	})
}

// isOpen reports whether gateways will still advance a payment. A final one stays open if its gateway was killed before it could
// plan what follows.
func (f *journey) isOpen(id flows.PaymentID) bool {
	scores, err := f.redis.SortedSet(openPayments)
	_, open := scores[string(id)]
	return err == nil && open
}

// isDue reports whether a list has a payment that is due.
func (f *journey) isDue(list string) bool {
	scores, err := f.redis.SortedSet(list)
	if err != nil {
		return false // the list exists only while it has payments
	}
	for _, score := range scores {
		if score <= float64(f.Now().UnixMilli()) {
			return true
		}
	}
	return false
}

// verify has a gateway verify a recorded payment, as its worker does.
func (f *journey) verify(id flows.PaymentID) {
	f.spawn(0, func(ctx context.Context, t *task) {
		err := t.gateway.payments.Verify(ctx, id)
		if flows.CodeOf(err) == flows.NotFound {
			err = f.store.Unschedule(ctx, id)
		}
		if err != nil {
			f.tracef("%s: verify: %v", t.gateway.name, err)
		}
	})
}

const (
	quietPause   = time.Minute
	quietSweeps  = int(campaign.QuietPeriod/quietPause) + 2 // what becomes due in the last pause is processed as well
	othersSweeps = 22                                       // outlast the 15 minutes after which a comparison shows what others did
)

// quietPeriod lets ten minutes pass without faults, or fewer when nothing can change any more. A bank that takes its time about a capture
// that only begins here is a fault: the period begins again.
func (f *journey) quietPeriod() {
	for n := 0; n < othersSweeps; n++ {
		if n%int(rebuildEvery/quietPause) == 0 && (n > 0 || f.epochs > 0) {
			f.rebuild(0)
		}
		f.sweep()
		f.play(f.Now().Add(quietPause))
		if len(f.deciding) > 0 {
			n = -1
			continue
		}
		othersActed := len(f.desk)+len(f.returned)+len(f.byHand) > 0 // a comparison finds it out
		if n+1 >= quietSweeps && !othersActed {
			return
		}
		if f.epochs > 0 || othersActed {
			continue
		}
		if _, err := f.redis.SortedSet(unverifiedPayments); err == nil {
			continue // a payment was recorded and is to be verified
		}
		if p := f.latestPayment(); p != nil && (p.State.Final() && !f.isOpen(p.ID) || p.State == flows.Blocked) {
			return
		}
	}
}

func (f *journey) latestPayment() *flows.Payment {
	_, p, err := f.store.Registration(context.Background(), f.registration)
	if err != nil {
		return nil
	}
	return p
}

func (f *journey) storedPayments() (all []*flows.Payment) {
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

// evidence collects what the ledgers and responses show at the end, and notes the state in which the payment ended.
func (f *journey) evidence() (evidence campaign.Evidence, err error) {
	sale := f.saleOfInterest()
	evidence = campaign.Evidence{
		Registration:    f.registration,
		Sale:            sale.ID,
		Due:             int64(sale.Total),
		Responses:       f.responses,
		StrangersServed: f.served,
		Versions:        f.versions,
		StateByPayment:  map[string]string{},
	}
	evidence.CapturedWhileHeld, evidence.CapturedTooLate = f.chargedHeld, f.chargedLate
	evidence.Contacts, evidence.Sales = len(f.sim.Contacts())-f.contacts, f.started
	evidence.Booked, evidence.SettledBy, evidence.Desk, evidence.SentAfterDesk = f.booked(), f.settlements, f.amounts(true), f.sentLate
	evidence.Restricted = f.plan.onlyRestricts && f.faults[restricted] > 0
	evidence.FalselyAccepted = f.faults[posting+falseAcceptance] > 0
	if len(evidence.Booked)+len(evidence.SettledBy)+len(evidence.Desk) == 0 && sale.State != building {
		evidence.SettledBy = []string{sale.State} // by a request whose connection was cut before its end could be noted
	}
	for _, payment := range f.sandbox.Payments() {
		generation := payment.Metadata["fd_generation"]
		if f.faults[cardsForgot] > 0 {
			generation = payment.ID // a process that slept meanwhile may create a second payment, which the next comparison cancels
		}
		if slices.Contains(f.byHand, payment.ID) {
			payment.Refunded = 0 // not by Frontdesk
		}
		evidence.CardPayments = append(evidence.CardPayments, campaign.CardPayment{
			ID:         payment.ID,
			Generation: generation,
			Captured:   payment.Captured,
			Refunded:   payment.Refunded,
		})
	}
	f.state = "no payment"
	if payment := f.latestPayment(); payment != nil {
		f.state, evidence.State, evidence.ProcessorID = string(payment.State), payment.View().State, payment.ProcessorID
		byRule := func(moved flows.Transition) bool { return moved.Operator == flows.ByRule }
		evidence.ByRule = f.byRule || slices.ContainsFunc(payment.History, byRule)
		if payment.HasProcessor() {
			evidence.ByRule = evidence.ByRule && f.attempted
		} else {
			evidence.Method, evidence.VerificationLost = string(payment.Method), f.epochs > 0
			f.state = evidence.Method + ": " + f.state
		}
	}
	for _, twice := range f.sim.Audit().ContactsSignedTwice {
		evidence.SignedTwice = append(evidence.SignedTwice, twice.MandateIDs...)
	}
	for _, payment := range f.storedPayments() {
		if payment.HasProcessor() {
			evidence.StateByPayment[payment.ProcessorID] = payment.View().State
		}
		there := slices.ContainsFunc(f.sandbox.Payments(), func(held sandbox.Payment) bool { return held.ID == payment.ProcessorID })
		if payment.State == flows.Blocked && there && payment.Reason == "the processor does not know the payment" {
			evidence.BlockedForGood = append(evidence.BlockedForGood, string(payment.ID))
		}
	}
	evidence.CancelledAndOpen, evidence.ReservedForGood = f.cancelledAndOpen(), f.reservedForGood()
	if evidence.Records, err = f.records(); err != nil {
		return evidence, fmt.Errorf("the payments were not listed: %w", err)
	}
	evidence.BlockedForGood = append(evidence.BlockedForGood, f.undecidable()...)
	return evidence, nil
}

// check judges the journey at its end.
func (f *journey) check() error {
	evidence, err := f.evidence()
	if err != nil {
		return err
	}
	f.tracef("ended as %s; booked %v, the processor holds %+v", f.state, evidence.Booked, evidence.CardPayments)
	f.violations = evidence.Violations()
	if f.gaveUp() {
		f.violations = append(f.violations, campaign.Violation{
			Invariant:    campaign.NeverSettles,
			Detail:       fmt.Sprintf("%d events", f.events),
			Registration: f.registration,
		})
	}
	for place, text := range map[string]string{"Redis": f.redis.Dump(), "the log": strings.Join(f.trace, "\n")} {
		if found := f.person.FoundIn(text); found != nil {
			f.violations = append(f.violations, campaign.LeakViolation(place, f.registration, found))
		}
	}
	for i := range f.violations {
		f.violations[i].Seed, f.violations[i].Trace = f.seed, f.trace
	}
	return nil
}

// records returns the payments that Redis has, as the operators' list shows them.
func (f *journey) records() (records []campaign.Record, err error) {
	listed, err := f.gateways[0].payments.List(context.Background(), payment.ListOptions{})
	for _, stored := range f.storedPayments() {
		record := campaign.Record{ID: string(stored.ID), State: stored.State}
		i := slices.IndexFunc(listed.Items, func(s payment.Summary) bool { return s.ID == stored.ID && s.State == stored.State })
		switch {
		case i >= 0:
			record.Listing = cmp.Or(listed.Items[i].Finding, stored.State)
		case !stored.HasProcessor() && f.epochs > 0:
			continue // no processor helps to find it; the next read of the registration lists it
		}
		sale, known := f.sim.Sale(string(stored.Sale))
		record.Open = known && sale.State == building
		record.RefundedByHand = slices.Contains(f.byHand, stored.ProcessorID)
		wasInDebt := stored.Snapshot != nil && stored.Snapshot.Debt != nil && *stored.Snapshot.Debt > 0
		record.PaidTwice = stored.HasProcessor() && len(f.desk) > 0 && len(f.booked()) > 0 && wasInDebt
		records = append(records, record)
	}
	return records, err
}

func (f *journey) tracef(format string, args ...any) {
	at := f.Now().Sub(startTime)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trace = append(f.trace, fmt.Sprintf("%9.3fs  %s", at.Seconds(), fmt.Sprintf(format, args...)))
}

// epoch names a record between two losses of Redis.
func (f *journey) epoch(key string) string { return key + "#" + strconv.Itoa(f.epochs) }

func number(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}

// logHandler adds a gateway's log to the trace, which is also searched for personal data.
type logHandler struct {
	slog.Handler // which no gateway derives from
	journey      *journey
	gateway      string
}

func (h logHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h logHandler) Handle(ctx context.Context, line slog.Record) error {
	if t := taskOf(ctx); t != nil && t.dead.Load() {
		return nil
	}
	text := line.Message
	line.Attrs(func(a slog.Attr) bool { text += " " + a.Key + "=" + a.Value.String(); return true })
	if strings.Contains(text, "the evidence matches recorded payments") {
		h.journey.mu.Lock()
		h.journey.byRule = true
		attempted := func(p sandbox.Payment) bool { return campaign.Attempted(p.Metadata) }
		h.journey.attempted = h.journey.attempted || slices.ContainsFunc(h.journey.sandbox.Payments(), attempted)
		h.journey.mu.Unlock()
	}
	h.journey.tracef("%s: %s", h.gateway, text)
	return nil
}

// interleave is what may happen to a task before it continues: other tasks run, or its
// process sleeps. It reports whether the process is still alive.
func (t *task) interleave() bool {
	journey := t.journey
	if t.dead.Load() {
		return false
	}
	pause := journey.between(time.Millisecond, 40*time.Millisecond)
	if journey.chance(journey.plan.sleeps) {
		journey.fault(slept)
		pause = journey.between(5*time.Second, 4*time.Minute)
		if journey.chance(0.15) {
			pause = journey.between(15*time.Minute, 45*time.Minute) // meanwhile the others have decided, operators too
		}
	}
	t.yield(pause)
	return !t.dead.Load()
}

// changeCart has the club's staff add something to the cart unnoticed.
func (f *journey) changeCart() {
	if p := f.latestPayment(); p != nil && !p.HasProcessor() {
		return // as below: the sale is read for the last time when the payment is stored
	}
	for _, p := range f.sandbox.Payments() {
		if p.State == cards.Authorised || p.State == cards.Captured {
			return // the cart is read for the last time before the capture; the club must correct later changes
		}
	}
	f.fault(clubChanged)
	_ = f.clubClient().AddArticle(context.Background(), deskScope, club.IRI(f.sale()),
		club.NewArticle{Offer: "/demo/offers/201", StartDate: f.Now().AddDate(0, 0, 2).Format(time.DateOnly)})
}
