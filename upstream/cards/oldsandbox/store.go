package oldsandbox

import (
	"slices"
	"sync"
	"time"
)

// store holds the payments in memory, in the order of their creation.
type store struct {
	max     int
	changed func(p Payment, event string) // called under the lock, so that events have the order of the changes

	mu    sync.Mutex
	byID  map[string]Payment
	order []string // ids, oldest first
}

// add stores a new payment. When the store is full, it drops old final ones.
func (s *store) add(p Payment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) >= s.max {
		s.makeRoom()
	}
	if len(s.order) >= s.max {
		return errFull("payments that are not final")
	}
	s.byID[p.ID] = p
	s.order = append(s.order, p.ID)
	return nil
}

// makeRoom drops the oldest final payments, a hundredth of the capacity at once, so that a
// full store is not searched for each new payment.
func (s *store) makeRoom() {
	drop := max(1, s.max/100)
	s.order = slices.DeleteFunc(s.order, func(id string) bool {
		if drop == 0 || !s.byID[id].final() {
			return false
		}
		drop--
		delete(s.byID, id)
		return true
	})
}

func (s *store) get(id string) (Payment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.byID[id]
	if !ok {
		return Payment{}, errNoPayment()
	}
	return p, nil
}

// change applies a transition and returns the payment after it. A refused transition changes
// nothing.
func (s *store) change(id string, t transition) (Payment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.byID[id]
	if !ok {
		return Payment{}, errNoPayment()
	}
	next, event, err := t(p)
	if err != nil {
		return p, err
	}
	s.byID[id] = next
	if event != "" {
		s.changed(next, event)
	}
	return next, nil
}

// listing selects payments.
type listing struct {
	since  time.Time // when the oldest was created
	before string    // the payment after which the list begins; empty: it begins with the newest
	limit  int       // zero: none
	world  string    // the demo world of the payments; empty: any
}

// list returns the payments newest first. An unknown before is an error, because a list that
// ends early would look complete.
func (s *store) list(l listing) (page paymentList, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	page.Items = []Payment{} // which encodes as [], not null
	end := len(s.order)
	if l.before != "" {
		if end = slices.Index(s.order, l.before); end < 0 {
			return paymentList{}, errInvalid("unknown_cursor", "before is not the id of a payment.")
		}
	}
	for _, id := range slices.Backward(s.order[:end]) {
		p := s.byID[id]
		switch {
		case p.CreatedAt.Before(l.since), l.world != "" && l.world != worldOf(p):
		case l.limit > 0 && len(page.Items) == l.limit:
			page.Next = page.Items[l.limit-1].ID
			return page, nil
		default:
			page.Items = append(page.Items, p)
		}
	}
	return page, nil
}
