package protocol_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// now is the time of every row.
var now = time.Date(2026, 3, 2, 18, 30, 0, 0, time.UTC)

var errDown = errors.New("no answer")

// row is one answer of the protocol: to a record, with facts, at now.
type row struct {
	name  string
	with  func(p *flows.Payment)  // changes the record of the table; nil: as it is
	facts func(f *protocol.Facts) // nil: none
	want  string                  // an action, such as "read" or "wait 15s: no answer", or the change, such as "→ captured: the reason"
	wrote func(p *flows.Payment) string
}

// record returns a payment that entered a state ten seconds ago.
func record(state flows.PaymentState) flows.Payment {
	payment := flows.Payment{
		ID:           "r-1",
		Schema:       flows.PaymentSchema,
		State:        state,
		Reason:       "as before",
		Method:       flows.ByCard,
		Registration: "r",
		Generation:   1,
		ClientToken:  "club",
		Sale:         "/club/sales/1",
		SaleState:    "draft",
		Club:         "/club/clubs/1",
		Node:         "/club",
		Amount:       4500,
		Currency:     "EUR",
		ProcessorID:  "pi_1",
		CreatedAt:    now.Add(-time.Minute),
		UpdatedAt:    now.Add(-10 * time.Second),
		EndsAt:       now.Add(time.Hour),
	}
	if state == flows.Priced {
		payment.ProcessorID = ""
	}
	return payment
}

// remote returns the processor's payment of a record, as it was read just now.
func remote(payment *flows.Payment, state cards.State) *protocol.Remote {
	r := &protocol.Remote{
		At:      now,
		Terms:   protocol.TermsOf(payment),
		Ours:    true,
		Signed:  true,
		Payment: cards.Payment{ID: "pi_1", State: state, Amount: payment.Amount, Currency: payment.Currency, ClientSecret: "secret"},
	}
	if state == cards.Captured || state == cards.Refunded {
		r.Captured = payment.Amount
	}
	return r
}

// shows returns facts with a reading of the processor.
func shows(state cards.State, with ...func(r *protocol.Remote)) func(f *protocol.Facts) {
	return func(f *protocol.Facts) {
		p := record(flows.Intent)
		f.Remote = remote(&p, state)
		for _, change := range with {
			change(f.Remote)
		}
	}
}

// and joins facts.
func and(all ...func(f *protocol.Facts)) func(f *protocol.Facts) {
	return func(f *protocol.Facts) {
		for _, each := range all {
			each(f)
		}
	}
}

func wish(w protocol.Wish) func(f *protocol.Facts) { return func(f *protocol.Facts) { f.Wish = w } }

// called returns facts about a call; with a response in a state if it is done.
func called(outcome protocol.Outcome, state cards.State) func(f *protocol.Facts) {
	return func(facts *protocol.Facts) {
		facts.Call = &protocol.Call{Outcome: outcome}
		if outcome != protocol.Done {
			facts.Call.Err = errDown
			return
		}
		p := record(flows.Intent)
		facts.Call.Response = remote(&p, state)
	}
}

// brake returns facts with the brake's answer.
func brake(left time.Duration) func(f *protocol.Facts) {
	return func(f *protocol.Facts) { f.Brake = &protocol.Brake{Left: left} }
}

// sale returns facts with a reading of the sale as agreed.
func sale(with ...func(s *protocol.Sale)) func(f *protocol.Facts) {
	return func(f *protocol.Facts) {
		f.Sale = &protocol.Sale{At: now, Sale: club.Sale{State: "draft", TotalTI: 4500, Contact: "/club/contacts/1"},
			Check: club.SaleCheck{Valid: true}, Seen: &flows.Evidence{At: now}}
		for _, change := range with {
			change(f.Sale)
		}
	}
}

// check compares the answers to a table's rows, and that the protocol leaves what it was given as it was.
func check(t *testing.T, of flows.Payment, rows []row) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			payment, facts := of, protocol.Facts{}
			if row.with != nil {
				row.with(&payment)
			}
			if row.facts != nil {
				row.facts(&facts)
			}
			before := payment
			action, change := protocol.Next(&payment, facts, now)
			if got := text(action, change); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if !reflect.DeepEqual(payment, before) {
				t.Error("the record was changed in passing")
			}
			if change == nil {
				return
			}
			if next := change.Record.State; next != payment.State && !payment.State.CanBecome(next) {
				t.Errorf("no transition leads from %s to %s", payment.State, next)
			}
			if row.wrote != nil {
				if wrong := row.wrote(&change.Record); wrong != "" {
					t.Error(wrong)
				}
			}
		})
	}
}

func text(action protocol.Action, c *protocol.Change) string {
	switch {
	case c != nil && action.Kind != "":
		return "an action and a change"
	case c != nil:
		return written(c)
	case action.Kind == protocol.Refuse:
		var why *flows.Error
		errors.As(action.Err, &why)
		return fmt.Sprintf("refuse, %s: %s", why.Code, why.Operator)
	case action.Kind == protocol.ReleaseByOperator:
		return fmt.Sprintf("%s %d %s", action.Kind, action.Number, action.Attempt)
	case action.Kind == protocol.Wait && action.Err != nil:
		return fmt.Sprintf("wait %s: %s", action.For, action.Err)
	case action.Kind == protocol.Wait:
		return "wait " + action.For.String()
	case action.Kind == protocol.Search:
		return "search " + now.Sub(action.Since).String()
	case action.For > 0:
		return fmt.Sprintf("%s after %s", action.Kind, action.For)
	}
	return string(action.Kind)
}

func written(change *protocol.Change) string {
	text := fmt.Sprintf("→ %s: %s", change.Record.State, change.Record.Reason)
	if change.First != "" {
		text = string(change.First) + " " + text
	}
	if change.Lease > 0 {
		text += ", owned for " + change.Lease.String()
	}
	if change.LeaseExpiredFor > 0 {
		text += ", if its owner has been gone for " + change.LeaseExpiredFor.String()
	}
	if change.Then != "" {
		text += ", then " + string(change.Then)
	}
	return text
}
