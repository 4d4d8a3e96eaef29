package model

// machine returns the steps that follow from a world.
type machine struct {
	cfg          Config
	replica      int // the replica whose step it is, or noReplica
	steps        []step
	stateChanges [states][states]bool // the transitions that were committed
	answers      map[question]answer  // of the protocol
}

// noReplica takes the steps of the environment.
const noReplica = -1

// kind distinguishes steps by what they require.
type kind uint8

const (
	normal  kind = iota // nothing: a gateway does its work
	delayed             // a request in transit arrives
	fault               // something fails, or people do something
)

// step is one transition to another world.
type step struct {
	to      world
	replica int
	what    string
	kind    kind
	broken  string // the invariant that the step itself breaks
}

// successors lists every step from w. Gateways come first, busy ones before idle ones. The first step
// of a gateway is that of a fault-free run.
func (m *machine) successors(world *world) []step {
	m.steps = m.steps[:0]
	free := noReplica
	for i := range m.cfg.Replicas {
		if world.process[i].at == idle {
			free = i
			continue
		}
		m.replica = i
		effects[world.process[i].at](m, world, i)
	}
	if free != noReplica { // one idle replica represents all
		m.replica = free
		m.rebuild(world, free)
		m.drive(world)
		m.operator(world, free)
	}
	m.replica = noReplica
	m.arrivals(world)
	m.buyer(world)
	m.staff(world)
	m.stranger(world)
	m.minute(world)
	m.brake(world)
	m.faults(world)
	return m.steps
}

// effects are what processes do next, by where they are.
var effects = [...]func(*machine, *world, int){
	toRebuild: (*machine).storeRebuilt,
	toSettle:  (*machine).settle,
	toDecide:  func(m *machine, w *world, i int) { m.finish(w, i, inDoubt) },
	toRefund:  (*machine).proceed,
	toKeep:    (*machine).proceed,
	toPrepare: (*machine).proceed,
	toLook:    (*machine).proceed,
	toClaim:   (*machine).proceed,
	toSend:    (*machine).proceed,
	toInquire: (*machine).proceed,
	toRelease: (*machine).giveUp,
	toEnd:     func(m *machine, w *world, i int) { m.finish(w, i, sending) },
	toAccept:  func(m *machine, w *world, i int) { m.finish(w, i, sending) },
	toJournal: (*machine).journal,
}

func (m *machine) normal(to world, what string) { m.emit(to, what, normal) }
func (m *machine) fault(to world, what string)  { m.emit(to, what, fault) }

func (m *machine) emit(to world, what string, how kind) {
	for i := range to.slot {
		to.slot[i].tidy()
	}
	m.steps = append(m.steps, step{to: to, replica: m.replica, what: what, kind: how})
}

// wrong is a step that itself breaks an invariant.
func (m *machine) wrong(to world, what, invariant string) {
	m.steps = append(m.steps, step{
		to:      to,
		replica: m.replica,
		what:    what,
		kind:    fault,
		broken:  invariant,
	})
}
