package protocol_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/club"
)

// TestWalk follows the protocol from every state, by every method, with a dozen histories and whatever can be asked. It begins with no
// facts and lets each action end in every way, until the protocol waits, refuses or changes the record. What it finds must keep the
// laws below. They do not know the rules, only what the other systems have shown on the way, and what that means.
func TestWalk(t *testing.T) {
	t.Parallel()
	w := &walk{t: t, met: map[string]bool{}}
	for _, state := range flows.PaymentStates {
		again := starts(state)
		for i, s := range starts(state) {
			w.follow(&journey{start: s, f: s.asked, now: now})
			if !reflect.DeepEqual(s, again[i]) {
				t.Errorf("%s: the protocol changed in passing what it was given", s.name)
			}
		}
	}
	for _, kind := range []protocol.Kind{protocol.Wait, protocol.Refuse, protocol.Read, protocol.Search, protocol.CheckSale, protocol.Recheck,
		protocol.ReadEvidence, protocol.ReadSale, protocol.ReadCheck, protocol.ReadDebt, protocol.ReadLatest, protocol.AskAccepted,
		protocol.AskBrake, protocol.Create, protocol.Capture, protocol.Cancel, protocol.Refund, protocol.Claim, protocol.Post,
		protocol.Release, protocol.ReleaseByOperator} {
		if !w.met[string(kind)] {
			t.Errorf("the walk never meets %s", kind)
		}
	}
	for _, from := range flows.PaymentStates {
		for _, to := range flows.PaymentStates {
			if from.CanBecome(to) && !w.met[string(from+" → "+to)] {
				t.Errorf("the walk never meets %s → %s", from, to)
			}
		}
	}
	t.Logf("%d answers of the protocol", w.answers)
}

// walk is what was met so far.
type walk struct {
	t       *testing.T
	met     map[string]bool // actions and transitions
	answers int
}

// journey is one way through the protocol, and what the walk knows of it.
type journey struct {
	*start
	f      protocol.Facts
	now    time.Time
	before *journey // the last step
	did    string   // then
	steps  int

	brakePasses bool
	sale        *saleReading   // as it was read last
	there       *reading       // what the processor showed last; nil: nothing since the latest call that may have changed it
	won         *reading       // what it showed when the claim was written
	posts       []club.Outcome // how each POST ended
	created     bool           // the processor has shown the payment
	notCreated  bool           // the processor's list lacks it
	usedUp      bool           // the latest call's key is
	released    bool           // the latest claim
	trouble     bool           // something did not respond, or not as it should
	slept       bool
}

// maxSteps is more than a payment needs between two changes.
const maxSteps = 12

// follow does what the protocol says, in every way in which it can end.
func (w *walk) follow(j *journey) {
	w.answers++
	action, change := protocol.Next(j.p, j.f, j.now)
	broken := ""
	switch {
	case change != nil && action.Kind != "":
		broken = "a change comes with an action"
	case change != nil:
		w.met[string(j.p.State+" → "+change.Record.State)] = true
		broken = j.wrote(change)
	case action.Kind == protocol.Wait, action.Kind == protocol.Refuse:
		w.met[string(action.Kind)] = true
		broken = j.ended(action)
	default:
		w.met[string(action.Kind)] = true
		if broken = j.does(action); broken == "" {
			j.perform(action, w.follow)
		}
	}
	if broken == "" || w.met[broken] {
		return
	}
	w.met[broken] = true // one way that breaks it is enough
	way := text(action, change)
	for ; j.before != nil; j = j.before {
		way = j.did + "\n\t" + way
	}
	w.t.Errorf("%s\n\t%s\n\t%s", broken, j.name, way)
}

// perform lets an action end in every way. A process that owns the payment may sleep then.
func (j *journey) perform(action protocol.Action, then func(next *journey)) {
	end := func(name string, change func(next *journey)) {
		next := *j
		next.before, next.did, next.steps = j, string(action.Kind)+": "+name, j.steps+1
		change(&next)
		then(&next)
		if !j.f.Owner.IsZero() && !j.slept {
			late := next
			late.did, late.now, late.slept = next.did+", and 11 s pass", j.now.Add(11*time.Second), true
			then(&late)
		}
	}
	switch action.Kind {
	case protocol.Read:
		for _, r := range j.readings {
			end(r.name, func(next *journey) { next.f.Remote, next.there, next.trouble = r.Remote, r, j.trouble || r.Err != nil })
		}
	case protocol.Search:
		for _, name := range []string{"requires_action", "another amount", "unreadable"} {
			end(name, func(next *journey) {
				r := j.shown(name)
				next.f.Listed, next.created, next.trouble = &protocol.Listed{Payment: r.Remote, Err: r.Err}, !r.wrong, r.Err != nil
			})
		}
		end("nothing", func(next *journey) { next.f.Listed, next.notCreated = &protocol.Listed{}, true })
	case protocol.CheckSale, protocol.ReadEvidence, protocol.ReadSale, protocol.Recheck:
		for _, s := range j.sales {
			end(s.name, func(next *journey) {
				if next.f.Sale, next.sale = s.Sale, s; action.Kind == protocol.Recheck {
					next.f, next.there = j.f.Rechecked(s.Sale), nil
				}
			})
		}
	case protocol.Create, protocol.Capture, protocol.Cancel, protocol.Refund:
		j.call(action.Kind, end)
	case protocol.Claim:
		for _, r := range j.readings {
			if r.Journal.Entry(j.p.Claim).Attempt == j.p.AttemptID {
				end(r.name, func(next *journey) {
					next.f.Claim, next.won = &protocol.Call{Outcome: protocol.Done, Response: r.Remote}, r
				})
			}
		}
		for _, outcome := range failures {
			end(string(outcome), func(next *journey) {
				next.f.Claim, next.usedUp = &protocol.Call{Outcome: outcome, Err: errDown}, outcome == protocol.KeyUsedUp
			})
		}
	case protocol.Post:
		for _, way := range posted {
			end(way.name, func(next *journey) {
				next.f, next.posts = j.f.Sent(way.Posted), append(slices.Clip(j.posts), way.Outcome)
				next.now = j.now.Add(action.For)
			})
		}
	case protocol.Release, protocol.ReleaseByOperator:
		j.release(action, end)
	default:
		j.ask(action.Kind, end)
	}
}

// failures are the ways in which a call to the processor fails.
var failures = []protocol.Outcome{protocol.KeyReused, protocol.KeyUsedUp, protocol.Refused, protocol.WrongState, protocol.Failed}

// posted are the ways in which a POST ends. Without a proof, a limit of the API gateway does not count as one, because the payment may
// have been recorded.
var posted = []struct {
	name string
	protocol.Posted
}{
	{"accepted", protocol.Posted{Outcome: club.Accepted}},
	{"not sent", protocol.Posted{Outcome: club.NotSent}},
	{"refused", protocol.Posted{Outcome: club.Refused}},
	{"429, for a second", protocol.Posted{Outcome: club.Refused, Limited: true, Limit: time.Second}},
	{"429, for an hour", protocol.Posted{Outcome: club.Refused, Limited: true, Limit: time.Hour}},
	{"rejected", protocol.Posted{Outcome: club.Rejected}},
	{"refused for a restriction", protocol.Posted{Outcome: club.Rejected, Restrictions: []club.Violation{{Field: "articles[0]"}}}},
	{"a page", protocol.Posted{Outcome: club.Unknown, Seen: ": 200"}},
	{"429, without proof", protocol.Posted{Outcome: club.Unknown, Limited: true, Limit: time.Second}},
}

// shown returns a reading by its name.
func (j *journey) shown(name string) *reading {
	return j.readings[slices.IndexFunc(j.readings, func(r *reading) bool { return r.name == name })]
}

// call lets a call that moves money end. What was read before says nothing afterwards; a cancellation's response is not believed.
func (j *journey) call(kind protocol.Kind, end func(name string, change func(next *journey))) {
	responses := map[protocol.Kind][]string{protocol.Create: {"requires_action", "another amount"},
		protocol.Capture: {"captured", "processing", "authorised", "an older response", "another amount, taken"},
		protocol.Cancel:  {"cancelled", "authorised"}, protocol.Refund: {"refunded", "being refunded"}}
	for _, name := range responses[kind] {
		end("done, "+name, func(next *journey) {
			r := j.shown(name)
			next.f = j.f.Wrote(kind, j.p, &protocol.Call{Outcome: protocol.Done, Response: r.Remote})
			response := *r
			response.wrong = false // it is compared once it is read
			if next.there, next.created = &response, kind == protocol.Create; kind == protocol.Cancel {
				next.there = nil
			}
		})
	}
	for _, outcome := range failures {
		end(string(outcome), func(next *journey) {
			next.f = j.f.Wrote(kind, j.p, &protocol.Call{Outcome: outcome, Err: errDown})
			next.there, next.usedUp, next.trouble = nil, outcome == protocol.KeyUsedUp, true
		})
	}
}

// release lets the writing of a release end. An acceptance may come in the very moment of an operator's.
func (j *journey) release(a protocol.Action, end func(name string, change func(next *journey))) {
	names := []string{"authorised"} // what a process' own release shows is not read
	if a.Kind == protocol.ReleaseByOperator {
		names = []string{"our claim, given up", "our claim, which another gave up", "an acceptance"}
	}
	if j.p.Claim == 0 {
		names = []string{"captured", "an acceptance"}
	}
	for _, name := range names {
		end("done, "+name, func(next *journey) {
			next.f.Release, next.released = &protocol.Call{Outcome: protocol.Done, Response: j.shown(name).Remote}, true
		})
	}
	for _, outcome := range failures {
		end(string(outcome), func(next *journey) { next.f.Release = &protocol.Call{Outcome: outcome, Err: errDown} })
	}
}

// ask lets a question end.
func (j *journey) ask(kind protocol.Kind, end func(name string, change func(next *journey))) {
	switch kind {
	case protocol.AskBrake:
		end("passes", func(next *journey) { next.f.Brake, next.brakePasses = &protocol.Brake{}, true })
		end("holds", func(next *journey) { next.f.Brake = &protocol.Brake{Left: time.Minute} })
	case protocol.AskAccepted:
		for _, at := range []time.Time{{}, now.Add(-time.Hour), now} {
			end(at.String(), func(next *journey) { next.f.Accepted = &at })
		}
	case protocol.ReadCheck:
		end("valid", func(next *journey) { next.f.Check = &protocol.Check{Valid: true} })
		end("refused", func(next *journey) { next.f.Check = &protocol.Check{} })
		end("unreadable", func(next *journey) { next.f.Check = &protocol.Check{Err: errDown} })
	case protocol.ReadDebt:
		end("as before", func(next *journey) { next.f.Debt = &protocol.Debt{Total: *j.p.Snapshot.Debt} })
		end("less", func(next *journey) { next.f.Debt = &protocol.Debt{} })
		end("unreadable", func(next *journey) { next.f.Debt = &protocol.Debt{Err: errDown} })
	case protocol.ReadLatest:
		rival := *j.p
		rival.ID = "r-2"
		end("this one", func(next *journey) { next.f.Latest = &protocol.Latest{Payment: j.p} })
		end("a rival", func(next *journey) { next.f.Latest = &protocol.Latest{Payment: &rival} })
	default:
		end("in no way that the walk knows", func(*journey) {})
	}
}
