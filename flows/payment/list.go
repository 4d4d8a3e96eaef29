package payment

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/flows/store"
	"frontdesk/upstream/club"
)

// Summary is a payment in one line, for operators.
type Summary struct {
	ID            flows.PaymentID    `json:"id"`
	State         flows.PaymentState `json:"state"`
	Finding       flows.PaymentState `json:"finding,omitempty"` // what an operator must look at although it is recorded
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
	Repeats       []flows.PaymentID  `json:"repeats,omitempty"`    // recent payments of the buyer, or of a similar one, for the same offer
	EmailInUse    bool               `json:"emailInUse,omitempty"` // the buyer's contact lacks the e-mail address, which another one has
}

func summary(payment *flows.Payment) Summary {
	shown := Summary{
		ID:          payment.ID,
		State:       payment.State,
		Reason:      payment.Reason,
		Since:       payment.UpdatedAt,
		Method:      payment.Method,
		Amount:      payment.Amount,
		Currency:    payment.Currency,
		Sale:        payment.Sale,
		Club:        payment.Club,
		Processor:   payment.Processor,
		ProcessorID: payment.ProcessorID,
		Claim:       payment.Claim,
		Version:     payment.Version,
		CreatedAt:   payment.CreatedAt,
		Repeats:     payment.Repeats,
		EmailInUse:  payment.EmailInUse,
	}
	if shown.Finding = payment.Finding(); shown.Finding != "" {
		shown.Reason = protocol.FindingReason(payment)
	}
	if payment.Payer != nil {
		shown.ContactNumber = payment.Payer.Number
	}
	if payment.OnHold && !payment.State.Final() {
		shown.Reason += "; held back while the club system records no payment"
	}
	return shown
}

// ListOptions selects payments.
type ListOptions struct {
	State flows.PaymentState // one state or finding; empty: see All
	All   bool               // every state; else in_doubt, blocked, the findings, and unverifiable, which wait for an operator
	// Since and Until select the payments that entered their state from the one instant until before the other; zero: no bound.
	Since, Until time.Time
}

func (in ListOptions) within(p *flows.Payment) bool {
	since := p.StateSince()
	return !since.Before(in.Since) && (in.Until.IsZero() || since.Before(in.Until))
}

func (in ListOptions) matches(state flows.PaymentState) bool {
	if in.State != "" {
		return state == in.State
	}
	return in.All || state == flows.InDoubt || state == flows.Blocked || state == flows.Unverifiable || slices.Contains(flows.Findings, state)
}

// maxListed is what an operator can look through, and what is read of one state.
const maxListed = 200

// Page holds payments; More reports whether there may be others.
type Page struct {
	Items []Summary `json:"items"`
	More  bool      `json:"more"`
	// Incomplete: Redis lost everything or is new, and has not been compared with the processor yet.
	Incomplete bool `json:"incomplete,omitempty"`
	// Brakes hold payments back, because the club system records none.
	Brakes []flows.Brake `json:"brakes,omitempty"`
	// Halted says why the gateway that lists them advances no payment: Redis holds those of others. Empty: it does.
	Halted string `json:"halted,omitempty"`
}

// attention lists the states in the order in which a listing fills: first those that wait for
// an operator or hold money.
var attention = []flows.PaymentState{
	flows.InDoubt, flows.Blocked, flows.RecordedUnsettled, flows.Contradicted, flows.PaidTwice,
	flows.RefundDue, flows.Refunding, flows.Captured, flows.Sending,
	flows.Capturing, flows.Authorised, flows.Cancelling, flows.Intent, flows.Priced,
}

// List lists open payments, the longest waiting first, then final ones, latest first.
func (m *Machine) List(ctx context.Context, in ListOptions) (Page, error) {
	if in.State != "" && !slices.Contains(listings, in.State) {
		return Page{}, flows.Invalid(flows.FieldProblem{Pointer: flows.InQuery + "state", Message: "must be one of " + stateNames()})
	}
	compared, err := m.LastComparison(ctx) // first: what is missing below may be rebuilt meanwhile
	if err != nil {
		return Page{}, err
	}
	brakes, err := m.Brakes(ctx)
	if err != nil {
		return Page{}, err
	}
	listed := Page{Items: []Summary{}, Incomplete: compared.IsZero(), Brakes: brakes}
	if wrong := m.Halted(); wrong != nil {
		listed.Halted = wrong.Error()
	}
	open := func(ctx context.Context, state flows.PaymentState, limit int) ([]flows.PaymentID, error) {
		return m.cfg.Store.PaymentsIn(ctx, state, in.Since, in.Until, limit)
	}
	if err := m.list(ctx, in, attention, open, &listed); err != nil {
		return Page{}, flows.StorageFailed(err)
	}
	if err := m.listUnverifiable(ctx, in, &listed); err != nil {
		return Page{}, flows.StorageFailed(err)
	}
	slices.SortStableFunc(listed.Items, func(a, b Summary) int { return a.Since.Compare(b.Since) })
	final := []flows.PaymentState{flows.Recorded, flows.Cancelled, flows.Refunded}
	return listed, flows.StorageFailed(m.list(ctx, in, final, m.cfg.Store.FinishedPayments, &listed))
}

// listings are the states and findings by which payments can be listed.
var listings = slices.Concat(flows.PaymentStates, flows.Findings, []flows.PaymentState{flows.Unverifiable})

// stateNames returns the states by which payments can be listed, for a message.
func stateNames() string {
	var names []string
	for _, state := range listings {
		names = append(names, string(state))
	}
	return strings.Join(names, ", ")
}

// list adds the payments of some states that match, until the page is full.
func (m *Machine) list(ctx context.Context, in ListOptions, states []flows.PaymentState,
	read func(context.Context, flows.PaymentState, int) ([]flows.PaymentID, error), to *Page) error {
	for _, state := range states {
		if !in.matches(state) {
			continue
		}
		ids, err := read(ctx, state, maxListed)
		if err != nil {
			return err
		}
		to.More = to.More || len(ids) == maxListed
		for _, id := range ids {
			if slices.ContainsFunc(to.Items, func(s Summary) bool { return s.ID == id }) {
				continue // it moved meanwhile
			}
			if len(to.Items) >= maxListed {
				to.More = true
				return nil
			}
			payment, err := m.cfg.Store.Payment(ctx, id)
			switch {
			case flows.Unreadable(err):
				payment = m.unreadable(id, err)
			case errors.Is(err, flows.ErrNotFound):
				continue // it expired, or its start was not completed
			case err != nil:
				return err
			case slices.Contains(flows.Findings, state) && payment.Finding() != state:
				// It was settled, and the gateway ended before it left the list.
				m.reschedule(ctx, payment, 0)
			}
			if (in.matches(payment.State) || in.matches(payment.Listing())) && in.within(payment) {
				to.Items = append(to.Items, summary(payment))
			}
		}
	}
	return nil
}

// unreadable represents a record that this gateway cannot read among the blocked payments.
func (m *Machine) unreadable(id flows.PaymentID, err error) *flows.Payment {
	return &flows.Payment{ID: id, State: flows.Blocked, Reason: flows.WhyUnreadable(err), UpdatedAt: m.cfg.Now()}
}

// Counts counts the open payments by state, recorded ones by finding, and those that cannot be verified. StorageUnavailable if
// Redis does not respond.
func (m *Machine) Counts(ctx context.Context) (map[flows.PaymentState]store.StateCount, error) {
	counts, err := m.cfg.Store.CountPayments(ctx)
	return counts, flows.StorageFailed(err)
}
