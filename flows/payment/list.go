package payment

import (
	"context"
	"errors"
	"slices"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

// Summary is a payment in one line, for operators.
type Summary struct {
	ID            flows.PaymentID    `json:"id"`
	State         flows.PaymentState `json:"state"`
	Reason        string             `json:"reason"`
	Since         time.Time          `json:"since"` // of the last transition
	Method        flows.Method       `json:"method"`
	Amount        int64              `json:"amount"` // minor units
	Currency      string             `json:"currency"`
	Sale          club.IRI           `json:"sale"`
	Club          club.IRI           `json:"club"`
	ContactNumber string             `json:"contactNumber,omitempty"` // the buyer's at the club; not of final payments
	Processor     string             `json:"processor,omitempty"`
	ProcessorID   string             `json:"processorId,omitempty"`
	Claim         int                `json:"claim"`
	Version       int64              `json:"version"`
	CreatedAt     time.Time          `json:"createdAt"`
}

func summary(p *flows.Payment) Summary {
	s := Summary{
		ID: p.ID, State: p.State, Reason: p.Reason, Since: p.UpdatedAt, Method: p.Method, Amount: p.Amount, Currency: p.Currency, Sale: p.Sale, Club: p.Club,
		Processor: p.Processor, ProcessorID: p.ProcessorID, Claim: p.Claim, Version: p.Version, CreatedAt: p.CreatedAt,
	}
	if p.Payer != nil {
		s.ContactNumber = p.Payer.Number
	}
	return s
}

// ListOptions selects payments.
type ListOptions struct {
	State flows.PaymentState // one state; empty: see All
	All   bool               // every state; else in_doubt and blocked, which wait for an operator
}

func (in ListOptions) matches(state flows.PaymentState) bool {
	if in.State != "" {
		return state == in.State
	}
	return in.All || state == flows.InDoubt || state == flows.Blocked
}

// The bounds of a listing: what an operator can look through, and what Redis is asked for.
const (
	maxListed  = 200
	maxScanned = 2000
)

// Page holds payments; More tells whether there may be others.
type Page struct {
	Items []Summary `json:"items"`
	More  bool      `json:"more"`
}

// List lists open payments, the longest waiting first, then final ones, latest first.
func (m *Machine) List(ctx context.Context, in ListOptions) (Page, error) {
	if in.State != "" && !slices.Contains(flows.PaymentStates, in.State) {
		return Page{}, &flows.Error{Code: flows.InvalidRequest, Fields: []flows.FieldProblem{{Pointer: "/state", Message: "There is no such state."}}}
	}
	open, err := m.cfg.Store.OpenPayments(ctx, maxScanned)
	listed := Page{Items: []Summary{}, More: len(open) == maxScanned}
	if err == nil {
		err = m.list(ctx, in, open, &listed)
	}
	slices.SortStableFunc(listed.Items, func(a, b Summary) int { return a.Since.Compare(b.Since) })
	for _, state := range []flows.PaymentState{flows.Recorded, flows.Cancelled, flows.Refunded} {
		var finished []flows.PaymentID
		if err == nil && in.matches(state) {
			finished, err = m.cfg.Store.FinishedPayments(ctx, state, maxListed)
		}
		if err == nil {
			err = m.list(ctx, in, finished, &listed)
		}
	}
	if err != nil {
		return Page{}, flows.StorageFailed(err)
	}
	return listed, nil
}

// list adds those of the payments that were asked for, each once.
func (m *Machine) list(ctx context.Context, in ListOptions, ids []flows.PaymentID, to *Page) error {
	for _, id := range ids {
		if len(to.Items) >= maxListed {
			to.More = true
			return nil
		}
		p, err := m.cfg.Store.Payment(ctx, id)
		if errors.Is(err, flows.ErrNotFound) {
			continue // it expired, or its start was not completed
		}
		if err != nil {
			return err
		}
		listed := slices.ContainsFunc(to.Items, func(s Summary) bool { return s.ID == id })
		if in.matches(p.State) && !listed {
			to.Items = append(to.Items, summary(p))
		}
	}
	return nil
}

// StateCount is the number of open payments in one state.
type StateCount struct {
	Payments int
	Oldest   time.Time // when the oldest of them entered the state
}

// Counts counts the open payments by state, the first maxScanned of their schedule.
// StorageUnavailable if Redis does not answer.
func (m *Machine) Counts(ctx context.Context) (map[flows.PaymentState]StateCount, error) {
	open, err := m.cfg.Store.OpenPayments(ctx, maxScanned)
	if err != nil {
		return nil, flows.StorageFailed(err)
	}
	counts := map[flows.PaymentState]StateCount{}
	for _, id := range open {
		p, err := m.cfg.Store.Payment(ctx, id)
		switch {
		case errors.Is(err, flows.ErrNotFound):
			continue // its start was not completed
		case errors.Is(err, flows.ErrDamaged), errors.Is(err, flows.ErrNewer):
			p = &flows.Payment{State: flows.Blocked, UpdatedAt: m.cfg.Now()} // this version does not touch it either
		case err != nil:
			return nil, flows.StorageFailed(err)
		}
		s, since := counts[p.State], p.UpdatedAt
		if p.State == flows.InDoubt {
			since = p.InDoubtSince()
		}
		if s.Payments == 0 || since.Before(s.Oldest) {
			s.Oldest = since
		}
		s.Payments++
		counts[p.State] = s
	}
	return counts, nil
}
