package simulation

import (
	"encoding/json"
	"math/rand/v2"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/clubsim"
)

// The kinds of faults, as the report counts them. Those of the club system's
// calls are the simulator's own, with "reading" or "posting" in front.
const (
	redisRefused   = "redis: command refused"
	redisLost      = "redis: response lost"
	redisRollback  = "redis: rolled back"
	redisWiped     = "redis: wiped"
	cardsError     = "processor: error"
	cardsLost      = "processor: response lost"
	cardsSlow      = "processor: slow"
	cardsLate      = "processor: request arrives late"
	cardsDown      = "processor: captures nothing for a day"
	cardsForgot    = "processor: keys forgotten"
	cardsMissing   = "processor: does not know the payment"
	cardsStored    = "processor: error stored under the key"
	cardsTooMany   = "processor: too many requests"
	cardsHeld      = "processor: a write is in progress for some time"
	cardsKeyInUse  = "processor: key in use"
	cardsLocked    = "processor: payment locked"
	cardsOvertaken = "processor: another gateway overtook a write"
	bankSlow       = "bank: decides later"
	postLate       = "posting: arrives late"
	postSlow       = "posting: slow"
	crashed        = "gateway: killed"
	slept          = "gateway: suspended"
	hookLost       = "webhook: lost"
	hookTwice      = "webhook: doubled"
	hookLate       = "webhook: late"
	jobLost        = "job: lost"
	buyerDeclined  = "buyer: declined"
	buyerLeft      = "buyer: left"
	buyerLate      = "buyer: came back late"
	buyerTwice     = "buyer: paid twice"
	buyerPressed   = "buyer: pressed twice"
	buyerAbandoned = "buyer: gave up"
	buyerAdded     = "buyer: added an item"
	startRepeated  = "buyer: started again after a failure"
	oddAnswers     = "club: odd answers in a journey"
	itemHung       = "club: an item hung"
	clubChanged    = "club: the cart changed"
	brakeEngaged   = "club: no payment recorded, the brake engaged"
	restricted     = "club: a payment refused for a restriction"
	deskSettled    = "desk: settled the sale"
	refundFailed   = "processor: refund failed"
	opRefundAgain  = "operator: refund again"
	refundedByHand = "desk: refunded a recorded payment at the processor"
	buyerWentBack  = "buyer: another account while the code is checked"
	codeSlow       = "code: slow"
	codeUnanswered = "code: response lost"
	codeLate       = "code: arrives late"
	strangerAsked  = "stranger: asked for the registration"
	opRecorded     = "operator: it was recorded"
	opAgain        = "operator: not recorded, send again"
	opRefund       = "operator: not recorded, refund"
	opGaveUp       = "operator: not recorded, given up"
	reading        = "reading: "
	posting        = "posting: "
	adding         = "adding: "
)

// clubKinds are what the simulator can do to a call, and what something in front of the club system can.
var clubKinds = []string{"error_before", "error_after", "drop_after", "delay", "hang", "malformed", "unauthorized_once", "too_many",
	"foreign_page", "foreign_json", falseAcceptance}

// falseAcceptance is a success without a body, of something in front of the club system. A payment counts as accepted.
const falseAcceptance = "empty_success"

// oddKinds are what something in front of the club system answers instead of it.
var oddKinds = []string{"foreign_page", "foreign_json", falseAcceptance, "too_many"}

// readKinds are what can happen to a read: also an empty success, which shows nothing.
var readKinds = append([]string{"empty_success"}, clubKinds...)

// limits are the limits of the API gateway that a 429 can name; empty: none, and the 429 may come from anywhere.
var limits = []string{"", "rate", "quota", "spike_arrest"}

// foreignBodies are JSON that is not the club system's; nil: an object.
var foreignBodies = []json.RawMessage{nil, []byte(`{}`), []byte(`[]`), []byte(`["ok"]`), []byte(`"ok"`), []byte(`null`), []byte(`true`)}

// faultKinds returns all faults that must happen for a run to count.
func faultKinds() []string {
	kinds := []string{
		redisRefused, redisLost, redisRollback, redisWiped,
		cardsError, cardsLost, cardsSlow, cardsLate, cardsDown, cardsForgot, cardsMissing, cardsStored, cardsTooMany, cardsHeld,
		cardsKeyInUse, cardsLocked, cardsOvertaken,
		bankSlow, refundFailed, postLate, postSlow, crashed, slept, hookLost, hookTwice, hookLate, jobLost,
		buyerDeclined, buyerLeft, buyerLate, buyerTwice, buyerPressed, buyerAbandoned, buyerAdded, buyerWentBack, startRepeated,
		oddAnswers, itemHung, clubChanged, brakeEngaged, restricted, deskSettled, refundedByHand, strangerAsked, codeSlow, codeUnanswered,
		codeLate,
		opRecorded, opAgain, opRefund, opGaveUp, opRefundAgain,
	}
	for _, kind := range clubKinds {
		kinds = append(kinds, posting+kind)
	}
	for _, kind := range readKinds {
		kinds = append(kinds, reading+kind)
	}
	for _, kind := range oddKinds {
		kinds = append(kinds, adding+kind)
	}
	return kinds
}

// plan says how much goes wrong in one journey: a probability for each call.
type plan struct {
	reads, posts, cards, redis, webhooks float64
	held                                 float64 // at each write at the processor: it is in progress there for some time
	crashes, sleeps                      float64 // at each call to Redis or to the processor
	rollbacks                            float64 // at each call to Redis
	overtakes                            float64 // at each write at the processor: Redis falls back, and another gateway overtakes it
	odd                                  float64 // at each call to the club system: something in front of it answers
	dayPasses                            bool    // a day passes in between
	capturesDown                         bool    // until then the processor captures nothing
	method                               flows.Method
	mixed                                bool   // a buyer without success tries another method
	choosesAgain                         bool   // Redis forgets the payment, and the buyer chooses a method again
	fallsBackThen                        bool   // Redis does so as soon as money was taken
	desk                                 bool   // staff settle the sale, too
	debtor                               bool   // the buyer owes the club something else
	refunds, captures                    string // of the processor's settings
	stranger                             bool   // someone else knows the registration's address
	mandate                              bool   // the cart is paid by direct debit, and the buyer changes the account
	restricts                            bool   // the club system refuses each payment, and only then: the buyer is too young
	onlyRestricts                        bool   // and nothing keeps the gateways from reading that
	faultWindow                          time.Duration
	brakeFor                             time.Duration // other payments met an outage before, and one of them probes for so long; 0: none did
}

// newPlan draws a journey's plan. Most journeys meet few kinds of faults, because many at once mostly
// end them early in the same way.
func newPlan(rng *rand.Rand) plan {
	some := func(often, least, most float64) float64 {
		if rng.Float64() >= often {
			return 0
		}
		return least + rng.Float64()*(most-least)
	}
	drawn := plan{
		method:      flows.ByCard,
		reads:       some(0.25, 0.02, 0.4),
		posts:       some(0.5, 0.2, 1),
		cards:       some(0.35, 0.02, 0.3),
		redis:       some(0.3, 0.01, 0.2),
		webhooks:    some(0.6, 0.1, 1),
		crashes:     some(0.3, 0.01, 0.1),
		sleeps:      some(0.3, 0.02, 0.15),
		held:        some(0.4, 0.2, 0.8),
		rollbacks:   some(0.25, 0.02, 0.12),
		dayPasses:   rng.Float64() < 0.06,
		faultWindow: time.Minute + time.Duration(rng.Int64N(int64(14*time.Minute))),
	}
	drawn = drawn.orHard(rng, some)
	withoutProcessor := []flows.Method{flows.Deferred, flows.Free, flows.InPerson}
	if n := rng.IntN(20); n < len(withoutProcessor) {
		drawn.method = withoutProcessor[n]
	}
	// Staff act in more than half of the journeys, and find the sale still open in about one of four.
	drawn.desk, drawn.stranger, drawn.debtor = drawn.desk || rng.IntN(2) == 0, rng.IntN(5) == 0, rng.IntN(2) == 0
	if rng.IntN(8) == 0 {
		drawn.brakeFor = time.Minute + time.Duration(rng.Int64N(int64(9*time.Minute)))
	}
	drawn.odd = some(0.4, 0.1, 0.6) // one journey in five or more meets such an answer
	if rng.IntN(4) == 0 {
		drawn.refunds = []string{"pending", "refused"}[rng.IntN(2)]
	}
	if rng.IntN(8) == 0 {
		drawn.captures = "processing"
	}
	drawn.mixed = drawn.method != flows.Free && (drawn.mixed || rng.IntN(8) == 0)
	if drawn.method != flows.ByCard {
		// Without a processor nothing is journaled: what Redis acknowledged must stay.
		drawn.rollbacks, drawn.overtakes, drawn.choosesAgain, drawn.fallsBackThen = 0, 0, false, false
	}
	if rng.IntN(10) == 0 && drawn.method == flows.ByCard { // what Redis acknowledged must stay: nothing else remembers that a code was checked
		drawn.mandate, drawn.rollbacks, drawn.overtakes, drawn.choosesAgain, drawn.fallsBackThen, drawn.mixed = true, 0, 0, false, false, false
		drawn.faultWindow = max(drawn.faultWindow, 6*time.Minute)
	}
	drawn.capturesDown = drawn.dayPasses && rng.IntN(2) == 0
	if drawn.method != flows.Free && !drawn.mandate && rng.IntN(10) == 0 {
		drawn.restricts, drawn.onlyRestricts = true, rng.IntN(2) == 0
	}
	if drawn.onlyRestricts {
		drawn = plan{
			method:        drawn.method,
			restricts:     true,
			onlyRestricts: true,
			reads:         drawn.reads,
			webhooks:      drawn.webhooks,
			stranger:      drawn.stranger,
			desk:          drawn.desk,
			faultWindow:   drawn.faultWindow,
		}
	}
	return drawn
}

// orHard returns a plan that fails in the few ways that broke the protocol once; in half of the cases the plan as it is. some
// draws a probability.
func (p plan) orHard(rng *rand.Rand, some func(often, least, most float64) float64) plan {
	switch rng.IntN(9) {
	case 0: // only Redis fails, again and again
		return plan{method: flows.ByCard, rollbacks: some(1, 0.1, 0.25), dayPasses: p.dayPasses, faultWindow: p.faultWindow}
	case 1: // Redis falls back once, before the money is recorded: the way to two methods with one number
		return plan{
			method:        flows.ByCard,
			crashes:       some(1, 0.05, 0.2),
			choosesAgain:  true,
			fallsBackThen: rng.IntN(2) == 0,
			mixed:         true,
			faultWindow:   p.faultWindow,
		}
	case 2, 3: // Redis falls back while a POST is late and the processor fails: the way to a release by another than the holder
		return plan{
			method:      flows.ByCard,
			rollbacks:   some(1, 0.01, 0.06),
			cards:       some(1, 0.1, 0.4),
			posts:       some(1, 0.5, 1),
			desk:        true,
			faultWindow: p.faultWindow,
		}
	case 4: // Redis falls back between what two gateways write at the processor: the way to two owners of one claim
		return plan{
			method:      flows.ByCard,
			rollbacks:   some(1, 0.001, 0.02),
			overtakes:   some(1, 0.2, 0.6),
			posts:       some(0.3, 0.2, 1),
			faultWindow: p.faultWindow,
		}
	}
	return p
}

// chance reports whether an event of a given probability happens. It draws nothing for zero.
func (f *journey) chance(p float64) bool { return p > 0 && f.rng.Float64() < p }

func oneOf[T any](f *journey, all ...T) T { return all[f.rng.IntN(len(all))] }

func (f *journey) between(least, most time.Duration) time.Duration {
	return least + time.Duration(f.rng.Int64N(int64(most-least)))
}

// drawRead draws for concurrent reads. Only one of two can be hit, and the other leaves no trace, so
// that the seed repeats in either order.
func (f *journey) drawRead(check bool) (rng *rand.Rand, hit bool) {
	rng = rand.New(rand.NewPCG(f.seed, uint64(f.orders))) // the order changes with each step that the task takes
	return rng, (rng.IntN(2) == 0) == check
}

func (f *journey) fault(kind string) {
	f.mu.Lock()
	f.faults[kind]++
	f.mu.Unlock()
	f.tracef("fault: %s", kind)
}

// odd draws an answer of something in front of the club system, for a call of a kind.
func (f *journey) odd(rng *rand.Rand, call string) *clubsim.Fault {
	if f.plan.odd == 0 || rng.Float64() >= f.plan.odd {
		return nil
	}
	fault := clubFault(rng, oddKinds[rng.IntN(len(oddKinds))])
	if f.faults[oddAnswers] == 0 {
		f.fault(oddAnswers)
	}
	f.fault(call + fault.Kind)
	return &fault
}

// refusals are the statuses with which the simulator refuses. After an effect it sends none that means "certainly
// not done": no honest server does that, and no client could cope.
var refusals = map[string][]int{
	"error_before": {400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 423, 425, 428, 429, 431, 500, 502, 503, 504, 307},
	"error_after":  {400, 404, 408, 409, 422, 429, 500, 502, 503, 504, 307},
}

func clubFault(rng *rand.Rand, kind string) clubsim.Fault {
	fault := clubsim.Fault{Kind: kind, Times: new(1)}
	if statuses := refusals[kind]; statuses != nil {
		fault.Status = statuses[rng.IntN(len(statuses))]
	}
	switch kind {
	case "too_many":
		fault.Limit, fault.DelayMs = limits[rng.IntN(len(limits))], 1<<rng.IntN(18) // up to two minutes
	case "foreign_json":
		fault.Body = foreignBodies[rng.IntN(len(foreignBodies))]
	}
	return fault
}
