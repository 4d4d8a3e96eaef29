package model

import (
	"cmp"
	"slices"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
)

// Config defines what is explored.
type Config struct {
	Replicas int // gateways that work at the same time; zero: 2, at most 3
	Claims   int // the protocol's MaxClaims; zero: 2, at most 2
	Payments int // payments of the sale, one after the other; zero: 1, at most 2

	// The budgets: how often each fault may happen. Zero: never. Any: any number of times. Messages and
	// responses get lost, late or refused without a budget.
	Crashes   int // a replica dies while it records, in a rebuild or in a command, and forgets everything; at most 6, or Any
	Sleeps    int // a process becomes a zombie: it sleeps while it records for longer than its deadlines, and continues; at most 6, or Any
	Rollbacks int // Redis falls back to an earlier state; at most 3
	Wipes     int // Redis loses everything; at most 6, or Any
	Days      int // 24 h pass, and the processor forgets its idempotency keys; at most 6
	Operator  int // commands of an operator on a payment in doubt; at most 6, or Any

	Mislaid     int  // how often a gateway with another account's key blocks a captured payment; at most 3
	Desk        bool // the club's staff may settle the sale while it is open, once, at any step
	RefundsFail int  // how often the processor may fail a refund that was pending at first; at most 3. Zero: refunds are immediate
	Strangers   bool // a gateway has another account's key for good, and knows it
	UsedKeys    int  // calls to the processor whose key replays a server error from then on, with or without an effect; at most 3
	Foreign     int  // POSTs that something in front of the club system accepts, and that book nothing; at most 6
	Brake       bool // the brake may hold at any time, until it is released
	Quota       bool // the API gateway may refuse a POST, because a quota is used up until the next day
	Causes      bool // a doubt needs a cause: an unknown outcome, or a process that died. Without the other faults

	Declines bool     // the first card that a buyer tries may be declined
	Methods  []Method // the methods to choose from when a payment is started; empty: ByCard

	Variant        Variant  // of the protocol, with a mistake; zero: as it is
	ReleaseInsists bool     // a mistake of the gateways: a pending release is retried forever although another one exists
	Except         []string // invariants that are not checked; empty: all are
	Limit          int      // worlds after which the search gives up; zero: 20 million, which take about 1.5 GB
}

// Variant is a small change of the protocol: what it sees instead of a record and facts, which are copies, and what it says instead.
type Variant struct {
	See func(p *flows.Payment, f *protocol.Facts)
	Say func(p *flows.Payment, f protocol.Facts, a protocol.Action, c *protocol.Change) (protocol.Action, *protocol.Change)
}

// Any is an unlimited budget.
const Any = 7

// Method is a way to settle a sale.
type Method uint8

// The methods. A deferral (postpone_due) and a free sale (transitions) are the same to the model: the
// club system itself refuses both on a recorded sale.
const (
	ByCard   Method = iota // a card processor that keeps claims in its metadata
	Deferred               // without a processor: later, and free
	InPerson               // without a processor: cash, cheque or a card at the desk, which the club system books every time
)

func (c Config) withDefaults() Config {
	c.Replicas = cmp.Or(c.Replicas, 2)
	c.Claims = cmp.Or(c.Claims, 2)
	c.Payments = cmp.Or(c.Payments, 1)
	c.Limit = cmp.Or(c.Limit, 20_000_000)
	if len(c.Methods) == 0 {
		c.Methods = []Method{ByCard}
	}
	endless := slices.Max([]int{c.Crashes, c.Sleeps, c.Wipes, c.Operator})
	if c.Replicas > maxReplicas || c.Claims >= maxClaims || c.Payments > slots || c.Rollbacks > maxBackups || c.Days >= Any || endless > Any {
		panic("model: the configuration is larger than a world has room for")
	}
	return c
}

// start is the initial world: a registration without a payment.
func (c Config) start() world {
	world := world{redis: record{exists: true}, left: budget{
		crashes:     uint8(c.Crashes),
		rollbacks:   uint8(c.Rollbacks),
		wipes:       uint8(c.Wipes),
		usedKeys:    uint8(c.UsedKeys),
		foreign:     uint8(c.Foreign),
		sleeps:      uint8(c.Sleeps),
		days:        uint8(c.Days),
		operator:    uint8(c.Operator),
		refundsFail: uint8(c.RefundsFail),
		mislaid:     uint8(c.Mislaid),
	}}
	if c.Desk {
		world.left.desk = 1
	}
	return world
}

func spend(left *uint8) {
	if *left != Any {
		*left--
	}
}
