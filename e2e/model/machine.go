package model

// machine gives the steps that lead on from a world.
type machine struct {
	cfg   Config
	who   int // the replica whose step it is, or nobody
	steps []step
	moves [states][states]bool // the transitions that were committed
}

// nobody takes the steps of the world outside.
const nobody = -1

// kind tells steps apart by what has to happen for them.
type kind uint8

const (
	good kind = iota // nothing: a gateway does its work
	late             // what was under way arrives
	may              // something fails, or people do something
)

// step is one way on.
type step struct {
	to     world
	who    int
	what   string
	kind   kind
	broken string // the invariant that the step itself breaks
}

// onwards lists every step from w. Gateways come first, those that are at work
// before the idle ones, and of a gateway's steps the first is that of a good day.
func (m *machine) onwards(w *world) []step {
	m.steps = m.steps[:0]
	free := nobody
	for i := range m.cfg.Replicas {
		if w.process[i].at == idle {
			free = i
			continue
		}
		m.who = i
		m.proceed(w, i)
	}
	if free != nobody { // one of them speaks for all
		m.who = free
		m.rebuild(w, free)
		m.next(w)
		m.operator(w, free)
	}
	m.who = nobody
	m.arrivals(w)
	m.buyer(w)
	m.faults(w)
	return m.steps
}

// proceed lets a process cause its next effect.
func (m *machine) proceed(w *world, i int) {
	switch w.process[i].at {
	case toRebuild:
		m.storeRebuilt(w, i)
	case toSettle:
		m.settle(w, i)
	case toDecide:
		m.finish(w, i, inDoubt)
	case toKeep:
		m.finish(w, i, capturing)
	case toPrepare:
		m.finish(w, i, captured)
	case toTrust:
		m.trust(w, i)
	case toLook:
		m.look(w, i)
	case toClaim:
		m.claim(w, i)
	case toSend:
		m.send(w, i)
	case toInquire:
		m.inquire(w, i)
	case toRelease:
		m.release(w, i)
	case toEnd, toAccept:
		m.finish(w, i, sending)
	case toJournal:
		m.journal(w, i)
	}
}

func (m *machine) good(to world, what string) { m.emit(to, what, good) }
func (m *machine) may(to world, what string)  { m.emit(to, what, may) }

func (m *machine) emit(to world, what string, how kind) {
	for i := range to.slot {
		to.slot[i].tidy()
	}
	m.steps = append(m.steps, step{to: to, who: m.who, what: what, kind: how})
}

// wrong is a step that breaks an invariant by itself.
func (m *machine) wrong(to world, what, invariant string) {
	m.steps = append(m.steps, step{to: to, who: m.who, what: what, kind: may, broken: invariant})
}

// weak tells whether any of the weaknesses is built in.
func (m *machine) weak(of Weakness) bool { return m.cfg.Weakness&of != 0 }
