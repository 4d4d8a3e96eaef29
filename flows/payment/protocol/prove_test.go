package protocol_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
)

// claimant holds claims to record.
const claimant = "1772476200000-5ae8a1a6-6a0f-4b7a-8f3c-0e4f5a1b2c3d"

// givenUp returns a journal of n claims that their holders gave up, and then the entries.
func givenUp(n int, then ...protocol.Entry) protocol.Journal {
	return protocol.Journal{Entries: append(slices.Repeat([]protocol.Entry{{Attempt: claimant, Release: claimant}}, n), then...)}
}

// TestProve: what the processor's payment proves without Redis.
func TestProve(t *testing.T) {
	t.Parallel()
	open, refund := protocol.Entry{Attempt: claimant}, protocol.Entry{Attempt: refundAttempt}
	accepted := givenUp(0, open)
	accepted.Accepted = true
	old := func(r *protocol.Remote) { r.CreatedAt = now.Add(-protocol.MaxBuyerWait - time.Second) }
	for _, row := range []struct {
		name    string
		there   cards.State
		journal protocol.Journal
		with    func(r *protocol.Remote)
		want    string // the state with its reason; empty: nothing
		claim   int
	}{
		{"nothing done yet", cards.RequiresAction, givenUp(0), nil, "intent: rebuilt: nothing captured yet", 0},
		{"authorised", cards.Authorised, givenUp(0), nil, "intent: rebuilt: nothing captured yet", 0},
		{"the buyer has left", cards.RequiresAction, givenUp(0), old, "cancelling: rebuilt: the buyer has left", 0},
		{"authorised, and the buyer has left", cards.Authorised, givenUp(0), old, "cancelling: rebuilt: the buyer has left", 0},
		{"processed", cards.Processing, givenUp(0), nil, "intent: rebuilt: nothing captured yet", 0},
		{"processed for long, perhaps a capture of ours", cards.Processing, givenUp(0), old, "intent: rebuilt: nothing captured yet", 0},
		{"cancelled", cards.Cancelled, givenUp(0), old, "cancelled: rebuilt: nothing was captured", 0},
		{"captured", cards.Captured, givenUp(0), old, "captured: rebuilt: captured by the processor", 0},
		{"two claims were given up", cards.Captured, givenUp(2), nil, "captured: rebuilt: captured by the processor", 2},
		{"a claim is open", cards.Captured, givenUp(1, open), nil, "in_doubt: rebuilt: a gateway was recording it", 2},
		{"another released the claim", cards.Captured, givenUp(0, protocol.Entry{Attempt: claimant, Release: "other"}), nil,
			"in_doubt: rebuilt: a gateway was recording it", 1},
		{"every claim but one was given up", cards.Captured, givenUp(protocol.MaxClaims - 1), nil,
			"captured: rebuilt: captured by the processor", protocol.MaxClaims - 1},
		{"every claim was given up", cards.Captured, givenUp(protocol.MaxClaims), nil,
			"refund_due: rebuilt: every claim was released", protocol.MaxClaims},
		{"a refund has the claim", cards.Captured, givenUp(1, refund), nil, "refunding: rebuilt: a refund holds the last claim", 2},
		{"a refund gave its claim up", cards.Captured, givenUp(1, protocol.Entry{Attempt: refundAttempt, Release: refundAttempt}), nil,
			"refunding: rebuilt: a refund holds the last claim", 2},
		{"accepted", cards.Captured, accepted, nil, "recorded: rebuilt: the journal holds the club system's acceptance", 1},
		{"accepted, and refunded", cards.Refunded, accepted, nil, "recorded: rebuilt: the journal holds the club system's acceptance", 1},
		{"refunded", cards.Refunded, givenUp(0), nil, "refunded: rebuilt: refunded", 0},
		{"refunded under a claim", cards.Refunded, givenUp(1, refund), nil, "refunded: rebuilt: refunded", 2},
		{"refunded after its claims", cards.Refunded, givenUp(1), nil, "refunded: rebuilt: refunded", 1},
		{"refunded under an open claim", cards.Refunded, givenUp(0, open), nil,
			"in_doubt: rebuilt: it was refunded while it was being recorded", 1},
		{"another amount was captured", cards.Captured, givenUp(0, open), func(r *protocol.Remote) { r.Captured = 1 },
			"blocked: rebuilt: the processor captured another amount", 0},
		{"another amount", cards.Refunded, accepted, func(r *protocol.Remote) { r.Amount = 1 },
			"blocked: rebuilt: the processor holds another amount or currency", 0},
		{"of others", cards.Captured, givenUp(0), func(r *protocol.Remote) { r.Ours = false }, "", 0},
		{"not signed by us", cards.Captured, givenUp(0), func(r *protocol.Remote) { r.Signed = false }, "", 0},
		{"ended by an operator", cards.Captured, givenUp(0), func(r *protocol.Remote) { r.Ended = true }, "", 0},
		{"of another version", cards.Captured, givenUp(0), func(r *protocol.Remote) { r.Terms.Version = "1" }, "", 0},
		{"without an amount", cards.Captured, givenUp(0), func(r *protocol.Remote) { r.Terms.Amount = "" }, "", 0},
		{"without a number", cards.Captured, givenUp(0), func(r *protocol.Remote) { r.Terms.Generation = "0" }, "", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := record(flows.Intent)
			r := remote(&p, row.there)
			r.CreatedAt, r.Journal = now.Add(-time.Hour), row.journal
			if row.with != nil {
				row.with(r)
			}
			got, said := protocol.Prove(r, now), ""
			if got != nil {
				said = string(got.State) + ": " + got.Reason
			}
			switch {
			case said != row.want:
				t.Errorf("got %q, want %q", said, row.want)
			case got != nil && (got.Claim != row.claim || (got.AttemptID != "") != (row.claim > 0)):
				t.Errorf("claim %d of %q", got.Claim, got.AttemptID)
			}
		})
	}
}

// TestProvenRecord: a rebuilt record has what the processor keeps of it, and the protocol finds it as agreed.
func TestProvenRecord(t *testing.T) {
	t.Parallel()
	payment := record(flows.Intent)
	r := remote(&payment, cards.Processing)
	r.CreatedAt, r.DeclineCode, r.Metadata = payment.CreatedAt, "expired_card", map[string]string{"fd_mac": "a1"}
	got := protocol.Prove(r, now)
	if differs := protocol.Differs(got, r); differs != "" {
		t.Error(differs)
	}
	payment.Rebuilt, payment.Processing = true, true
	payment.ClientSecret, payment.DeclineCode, payment.Signature = "secret", "expired_card", "a1"
	payment.Reason, payment.UpdatedAt, payment.EndsAt = "rebuilt: nothing captured yet", now, payment.CreatedAt.Add(flows.PayableFor)
	if payment.CartDigest = got.CartDigest; !reflect.DeepEqual(*got, payment) {
		t.Errorf("got  %+v\nwant %+v", *got, payment)
	}
	if !got.MaybeCapturing() {
		t.Error("a rebuilt payment that is processed is not one that may be a capture of ours")
	}
}

// TestUnverifiable: whose record cannot be trusted or read is listed until its end shows.
func TestUnverifiable(t *testing.T) {
	t.Parallel()
	accepted := givenUp(1)
	accepted.Accepted = true
	for _, row := range []struct {
		name    string
		there   cards.State
		journal protocol.Journal
		with    func(r *protocol.Remote)
		want    bool
	}{
		{"not signed", cards.Captured, givenUp(0), nil, true},
		{"not signed, and open", cards.RequiresAction, givenUp(0), nil, true},
		{"signed", cards.Captured, givenUp(0), func(r *protocol.Remote) { r.Signed = true }, false},
		{"signed, and not readable", "", givenUp(0), func(r *protocol.Remote) { r.Signed, r.Unreadable = true, errors.New("no amount") }, true},
		{"of others", cards.Captured, givenUp(0), func(r *protocol.Remote) { r.Ours = false }, false},
		{"of no registration", cards.Captured, givenUp(0), func(r *protocol.Remote) { r.Terms.Registration = "" }, false},
		{"ended by an operator", cards.Captured, givenUp(0), func(r *protocol.Remote) { r.Ended = true }, false},
		{"cancelled", cards.Cancelled, givenUp(0), nil, false},
		{"accepted", cards.Captured, accepted, nil, false},
		{"refunded", cards.Refunded, givenUp(1), nil, false},
		{"refunded under a claim", cards.Refunded, givenUp(0, protocol.Entry{Attempt: refundAttempt}), nil, false},
		{"refunded while it was sent", cards.Refunded, givenUp(0, protocol.Entry{Attempt: claimant}), nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := record(flows.Intent)
			r := remote(&p, row.there)
			if r.Signed, r.Journal = false, row.journal; row.with != nil {
				row.with(r)
			}
			if got := protocol.Unverifiable(r); got != row.want {
				t.Errorf("got %v", got)
			}
			if p := protocol.Prove(r, now); row.want && r.Unreadable == nil && p != nil {
				t.Errorf("and it proves that it is %s", p.State)
			}
		})
	}
}

// TestReturned: what the processor may hold of a payment that ended without.
func TestReturned(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		state flows.PaymentState
		there cards.State
		want  bool
	}{
		{flows.Refunded, cards.Refunded, false},
		{flows.Refunded, cards.Captured, true},
		{flows.Refunded, "", true},
		{flows.Cancelled, cards.Captured, true},
		{flows.Cancelled, cards.Cancelled, false},
		{flows.Cancelled, cards.Refunded, false},
		{flows.Cancelled, "", false},
		{flows.Recorded, cards.Captured, false},
		{flows.Captured, cards.Captured, false},
	} {
		p := record(row.state)
		if got := protocol.Returned(&p, row.there); got != row.want {
			t.Errorf("%s, and %q there: %v", row.state, row.there, got)
		}
	}
}

// TestRank: the money decides which payment of a sale counts; what may have been recorded counts most.
func TestRank(t *testing.T) {
	t.Parallel()
	rank := func(state flows.PaymentState, there cards.State) protocol.Rank {
		p := record(state)
		return protocol.RankOf(&p, there)
	}
	order := []protocol.Rank{rank(flows.Cancelled, cards.Cancelled), rank(flows.Intent, cards.RequiresAction),
		rank(flows.Intent, cards.Authorised), rank(flows.Captured, cards.Captured), rank(flows.InDoubt, cards.Captured)}
	for i, low := range order {
		if low.Outranks(low) || low.Taken() != (i >= 3) {
			t.Errorf("rank %d: taken %v", i, low.Taken())
		}
		for j, high := range order[i+1:] {
			if low.Outranks(high) || high.Outranks(low) != high.Taken() || high <= low {
				t.Errorf("ranks %d and %d", i, i+1+j)
			}
		}
	}
	for like, ranks := range map[protocol.Rank][]protocol.Rank{
		order[0]: {rank(flows.Refunded, cards.Refunded)},
		order[1]: {rank(flows.Cancelling, cards.RequiresAction)},
		order[2]: {rank(flows.Intent, cards.Processing), rank(flows.Cancelling, cards.Authorised)},
		order[3]: {rank(flows.RefundDue, cards.Captured), rank(flows.Refunding, cards.Captured)},
		order[4]: {rank(flows.Recorded, cards.Captured), rank(flows.Blocked, cards.Captured)},
	} {
		for i, got := range ranks {
			if got != like {
				t.Errorf("rank %d, number %d: %d", like, i, got)
			}
		}
	}
}

// TestOutranked: a payment ends whose sale another one counts for, unless it may have been recorded.
func TestOutranked(t *testing.T) {
	t.Parallel()
	asked := func(f *protocol.Facts) { f.Outranked = "pi_2" }
	for state, want := range map[flows.PaymentState]string{
		flows.Intent:     "→ cancelling: another payment of the sale takes precedence: pi_2",
		flows.Authorised: "→ cancelling: another payment of the sale takes precedence: pi_2",
		flows.Captured:   "→ refund_due: another payment of the sale takes precedence: pi_2",
	} {
		check(t, record(state), []row{{name: string(state), facts: asked, want: want},
			{name: string(state) + ", missing before", facts: asked, want: want,
				with: func(p *flows.Payment) { p.MissingSince = now.Add(-time.Minute) }},
			{name: string(state) + ", of others", want: "wait 15s: no answer",
				facts: and(asked, func(f *protocol.Facts) { f.Foreign = errDown })}})
	}
	for _, state := range []flows.PaymentState{flows.Priced, flows.Capturing, flows.Cancelling, flows.Sending, flows.Recorded, flows.InDoubt,
		flows.RefundDue, flows.Refunding, flows.Refunded, flows.Cancelled, flows.Blocked} {
		check(t, record(state), []row{{name: string(state), facts: asked, want: "wait 0s"}})
	}
}

// TestDuplicate: a proven payment that does not count is stored so that it is never recorded.
func TestDuplicate(t *testing.T) {
	t.Parallel()
	desk, gone, card := record(flows.Recorded), record(flows.Cancelled), record(flows.Captured)
	desk.Method, gone.Method = flows.InPerson, flows.InPerson
	const twice = "blocked: rebuilt: recorded, and the sale may be settled by another payment too: desk"
	for _, row := range []struct {
		name   string
		state  flows.PaymentState
		by     string
		holder *flows.Payment
		want   string
	}{
		{"open, another counts", flows.Intent, "pi_2", nil, "cancelling: another payment of the sale takes precedence: pi_2"},
		{"taken, another counts", flows.Captured, "pi_2", &desk, "refund_due: another payment of the sale takes precedence: pi_2"},
		{"open, a later one", flows.Intent, "", &card, "cancelling: rebuilt: the registration has a later payment"},
		{"taken, a later one", flows.Captured, "", nil, "refund_due: rebuilt: the registration has a later payment"},
		{"recorded, another counts", flows.Recorded, "pi_2", nil, "recorded: as before"},
		{"recorded, and its number was settled at the desk", flows.Recorded, "", &desk, twice},
		{"recorded, another counts, and its number was settled at the desk", flows.Recorded, "pi_2", &desk, twice},
		{"recorded, and what has its number was given up", flows.Recorded, "", &gone, "recorded: as before"},
		{"recorded, and its number is another card payment's", flows.Recorded, "", &card, "recorded: as before"},
		{"in doubt", flows.InDoubt, "pi_2", &desk, "in_doubt: as before"},
		{"ended", flows.Refunded, "pi_2", nil, "refunded: as before"},
	} {
		payment := record(row.state)
		before := payment
		got := protocol.Duplicate(&payment, row.by, row.holder)
		if said := string(got.State) + ": " + got.Reason; said != row.want {
			t.Errorf("%s: got %q, want %q", row.name, said, row.want)
		}
		if !reflect.DeepEqual(payment, before) {
			t.Errorf("%s: the record was changed in passing", row.name)
		}
	}
}
