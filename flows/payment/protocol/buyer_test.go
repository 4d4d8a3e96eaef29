package protocol_test

import (
	"fmt"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
)

func usedKeys(n int) func(p *flows.Payment) string {
	return func(p *flows.Payment) string {
		if p.UsedKeys != n {
			return fmt.Sprintf("%d keys are used up, not %d", p.UsedKeys, n)
		}
		return ""
	}
}

func listed(change func(l *protocol.Listed)) func(f *protocol.Facts) {
	return func(f *protocol.Facts) {
		f.Listed = &protocol.Listed{}
		change(f.Listed)
	}
}

// TestCreate: a payment of a sale is created once; what the processor's list has, whatever was lost, continues.
func TestCreate(t *testing.T) {
	t.Parallel()
	nothing := listed(func(*protocol.Listed) {})
	unread := listed(func(l *protocol.Listed) { l.Err = errDown })
	there := listed(func(l *protocol.Listed) { p := record(flows.Priced); l.Payment = remote(&p, cards.RequiresAction) })
	differs := listed(func(l *protocol.Listed) {
		p := record(flows.Priced)
		l.Payment = remote(&p, cards.RequiresAction)
		l.Payment.Amount = 1
	})
	old := func(p *flows.Payment) { p.CreatedAt = now.Add(-3*time.Hour - time.Second) }
	known := func(p *flows.Payment) string {
		if p.ProcessorID != "pi_1" || p.ClientSecret != "secret" {
			return "the buyer cannot pay it"
		}
		return ""
	}
	const waiting = "→ intent: waiting for the buyer at the processor"
	check(t, record(flows.Priced), []row{
		{name: "begins", want: "create"},
		{name: "created", facts: called(protocol.Done, cards.RequiresAction), want: waiting, wrote: known},
		{name: "no answer", facts: called(protocol.Failed, ""), want: "wait 15s: no answer"},
		{name: "too old", with: old, want: "search 3h5m1s"},
		{name: "too old, and created", with: old, facts: there, want: waiting, wrote: known},
		{name: "too old, and not created", with: old, facts: nothing, want: "→ cancelled: too old to be created at the processor"},
		{name: "too old, and the list cannot be read", with: old, facts: unread, want: "wait 15s: no answer"},
		{name: "the key belongs to another request", facts: called(protocol.KeyReused, ""), want: "search 72h1m0s"},
		{name: "another payment holds the key", facts: and(called(protocol.KeyReused, ""), nothing),
			want: "→ blocked: the processor holds another payment for this sale and generation"},
		{name: "the list has another amount", facts: and(called(protocol.KeyReused, ""), differs),
			want: "→ blocked: created before, and the processor holds another amount or currency"},
		{name: "the key is used up", facts: called(protocol.KeyUsedUp, ""), want: "search 72h1m0s"},
		{name: "the key is used up, and nothing was created", facts: and(called(protocol.KeyUsedUp, ""), nothing),
			want: "→ priced: as before", wrote: usedKeys(1)},
		{name: "the key is used up, and it was created", facts: and(called(protocol.KeyUsedUp, ""), there), want: waiting, wrote: usedKeys(0)},
		{name: "the key is used up, and the list cannot be read", facts: and(called(protocol.KeyUsedUp, ""), unread),
			want: "wait 15s: no answer"},
		{name: "refused", facts: called(protocol.Refused, ""), want: "search 6m0s"},
		{name: "refused, and not created", facts: and(called(protocol.Refused, ""), nothing),
			want: "→ cancelled: the processor refused to create it",
			wrote: func(p *flows.Payment) string {
				if !p.CreationRefused {
					return "the buyer would try the same again"
				}
				return ""
			}},
		{name: "not possible there", facts: called(protocol.WrongState, ""), want: "wait 15s: no answer"},
		{name: "given up", facts: wish(protocol.GiveUp), want: "search 72h1m0s"},
		{name: "given up, and not created", facts: and(wish(protocol.GiveUp), nothing), want: "→ cancelled: the buyer gave up"},
		{name: "given up, and created", facts: and(wish(protocol.GiveUp), there), want: waiting},
	})
}

// TestAwaitBuyer: what the buyer did is read at the processor, and only that counts.
func TestAwaitBuyer(t *testing.T) {
	t.Parallel()
	declined := func(p *flows.Payment) { p.DeclineCode, p.Decline, p.Declines = "card_declined", "d1", 1 }
	deciding := func(p *flows.Payment) { p.Processing = true }
	gone := func(p *flows.Payment) { p.UpdatedAt = now.Add(-30*time.Minute - time.Second) }
	ended := func(p *flows.Payment) { p.EndsAt = now.Add(-time.Second) }
	decline := func(id string) func(r *protocol.Remote) {
		return func(r *protocol.Remote) { r.DeclineCode, r.Decline, r.Declines = "card_declined", id, 1 }
	}
	counts := func(n int) func(p *flows.Payment) string {
		return func(p *flows.Payment) string {
			if p.Declines != n || p.Processing {
				return fmt.Sprintf("%d declines, processing %t", p.Declines, p.Processing)
			}
			return ""
		}
	}
	klarna := func(r *protocol.Remote) { r.OtherMethod = "klarna" }
	check(t, record(flows.Intent), []row{
		{name: "not read yet", want: "read"},
		{name: "nothing done", facts: shows(cards.RequiresAction), want: "wait 15s"},
		{name: "authorised", facts: shows(cards.Authorised, func(r *protocol.Remote) { r.CaptureBefore = now.Add(time.Hour) }),
			want: "→ authorised: the buyer authorised it",
			wrote: func(p *flows.Payment) string {
				if !p.CaptureBefore.Equal(now.Add(time.Hour)) {
					return "the end of the authorisation is lost"
				}
				return ""
			}},
		{name: "captured before", facts: shows(cards.Captured), want: "→ authorised: the buyer authorised it"},
		{name: "being captured", facts: shows(cards.Processing, func(r *protocol.Remote) { r.Capturing = true }),
			want: "→ authorised: the buyer authorised it"},
		{name: "cancelled there", facts: shows(cards.Cancelled), want: "→ cancelling: it was cancelled at the processor"},
		{name: "refunded there", facts: shows(cards.Refunded), want: "→ blocked: it was refunded at the processor"},
		{name: "another method, reserved", facts: shows(cards.Authorised, klarna),
			want: "→ cancelling: the buyer paid by klarna and not by card"},
		{name: "another method, taken", facts: shows(cards.Captured, klarna), want: "→ blocked: the buyer paid by klarna and not by card"},
		{name: "declined", facts: shows(cards.Declined, decline("d1")), want: "→ intent: declined: card_declined", wrote: counts(1)},
		{name: "the same decline", with: declined, facts: shows(cards.Declined, decline("d1")), want: "wait 15s"},
		{name: "another decline", with: declined, facts: shows(cards.Declined, decline("d2")),
			want: "→ intent: declined: card_declined", wrote: counts(2)},
		{name: "declined while the bank decided", with: deciding, facts: shows(cards.Declined, decline("d1")),
			want: "→ intent: declined: card_declined", wrote: counts(1)},
		{name: "the fifth decline", with: func(p *flows.Payment) { p.EarlierDeclines = 4 }, facts: shows(cards.Declined, decline("d1")),
			want: "→ cancelling: declined too often", wrote: counts(1)},
		{name: "tries again there", with: declined, facts: shows(cards.RequiresAction), want: "→ intent: the buyer tries again"},
		{name: "wants to try again", with: declined, facts: wish(protocol.Again), want: "→ intent: the buyer tries again"},
		{name: "tries again already", facts: wish(protocol.Again), want: "wait 15s"},
		{name: "the bank decides", facts: shows(cards.Processing), want: "→ intent: the bank is deciding about the buyer's card"},
		{name: "the bank still decides", with: deciding, facts: shows(cards.Processing), want: "wait 15s"},
		{name: "the bank gave up", with: deciding, facts: shows(cards.RequiresAction), want: "→ intent: the buyer tries again"},
		{name: "gives up", facts: and(wish(protocol.GiveUp), shows(cards.RequiresAction)), want: "→ cancelling: the buyer gave up"},
		{name: "gives up, and paid", facts: and(wish(protocol.GiveUp), shows(cards.Authorised)), want: "→ authorised: the buyer authorised it"},
		{name: "left", with: gone, facts: shows(cards.RequiresAction), want: "→ cancelling: the buyer left"},
		{name: "left, and paid", with: gone, facts: shows(cards.Authorised), want: "→ authorised: the buyer authorised it"},
		{name: "the bank never decides", with: func(p *flows.Payment) { gone(p); deciding(p) }, facts: shows(cards.Processing),
			want: "→ cancelling: the bank did not decide about the buyer's card"},
		{name: "the registration ended", with: ended, facts: shows(cards.RequiresAction), want: "→ cancelling: the registration has ended"},
		{name: "the registration ended after a decline", with: both(declined, ended), facts: shows(cards.Declined, decline("d1")),
			want: "→ cancelling: the registration has ended"},
		{name: "idle for five minutes", with: since(5 * time.Minute), facts: shows(cards.RequiresAction), want: "wait 1m15s"},
		{name: "idle for eight minutes", with: func(p *flows.Payment) { p.UpdatedAt = now.Add(-8 * time.Minute) },
			facts: shows(cards.RequiresAction),
			want:  "wait 2m0s"},
		{name: "idle for the last seconds", with: func(p *flows.Payment) { p.UpdatedAt = now.Add(-29*time.Minute - 40*time.Second) },
			facts: shows(cards.RequiresAction), want: "wait 20s"},
	})
}

// TestPresent: a payment that the processor does not have is looked for, and blocked after half an hour. One that differs is blocked.
func TestPresent(t *testing.T) {
	t.Parallel()
	absent := func(why string) func(f *protocol.Facts) {
		return func(f *protocol.Facts) { f.Remote = &protocol.Remote{At: now, Absent: why, Err: errDown} }
	}
	missing := func(ago time.Duration) func(p *flows.Payment) {
		return func(p *flows.Payment) { p.MissingSince = now.Add(-ago) }
	}
	since := func(at time.Time) func(p *flows.Payment) string {
		return func(p *flows.Payment) string {
			if !p.MissingSince.Equal(at) {
				return fmt.Sprintf("missing since %s", p.MissingSince)
			}
			return ""
		}
	}
	for _, state := range []flows.PaymentState{flows.Intent, flows.Authorised, flows.Capturing, flows.Captured, flows.Cancelling,
		flows.Refunding, flows.InDoubt} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			kept := fmt.Sprintf("→ %s: as before", state)
			check(t, record(state), []row{
				{name: "cannot be read", facts: func(f *protocol.Facts) { f.Remote = &protocol.Remote{At: now, Err: errDown} },
					want: "wait 15s: no answer"},
				{name: "unknown there", facts: absent(protocol.UnknownThere), want: kept, wrote: since(now)},
				{name: "another program's there", facts: absent(protocol.ForeignThere), want: kept, wrote: since(now)},
				{name: "looked for first", with: missing(time.Minute), want: "read"},
				{name: "looked for first, in a pause", with: both(missing(time.Minute), notBefore(time.Minute)), want: "read"},
				{name: "29 minutes", with: missing(29 * time.Minute), facts: absent(protocol.UnknownThere), want: "wait 15s: no answer"},
				{name: "half an hour", with: missing(30 * time.Minute), facts: absent(protocol.UnknownThere),
					want: "→ blocked: the processor does not know the payment"},
				{name: "half an hour without a reading", with: missing(time.Hour),
					facts: func(f *protocol.Facts) { f.Remote = &protocol.Remote{At: now, Err: errDown} },
					want:  "wait 15s: no answer"},
				{name: "found again", with: missing(time.Hour), facts: shows(cards.Authorised), want: kept, wrote: since(time.Time{})},
				{name: "found again, and it differs", with: missing(time.Hour), facts: shows(cards.Authorised, func(r *protocol.Remote) { r.Amount++ }),
					want: kept, wrote: since(time.Time{})},
				{name: "other amount", facts: shows(cards.Authorised, func(r *protocol.Remote) { r.Amount++ }),
					want: "→ blocked: the processor holds another amount or currency"},
				{name: "other currency", facts: shows(cards.Authorised, func(r *protocol.Remote) { r.Currency = "CHF" }),
					want: "→ blocked: the processor holds another amount or currency"},
				{name: "captured in part", facts: shows(cards.Captured, func(r *protocol.Remote) { r.Captured-- }),
					want: "→ blocked: the processor captured another amount"},
				{name: "ended by an operator", facts: shows(cards.Authorised, func(r *protocol.Remote) { r.Ended = true }),
					want: "→ blocked: an operator ended it while no configured key could verify it"},
				{name: "not signed", facts: shows(cards.Authorised, func(r *protocol.Remote) { r.Signed = false }),
					want: "→ blocked: the processor's metadata does not match or is not signed by us"},
				{name: "another environment's", facts: shows(cards.Authorised, func(r *protocol.Remote) { r.Ours = false }),
					want: "→ blocked: the processor's metadata does not match or is not signed by us"},
				{name: "other terms", facts: shows(cards.Authorised, func(r *protocol.Remote) { r.Terms.Cart = "other" }),
					want: "→ blocked: the processor's metadata does not match or is not signed by us"},
				{name: "others' payments", facts: and(shows(cards.Authorised), func(f *protocol.Facts) { f.Foreign = errDown }),
					want: "wait 15s: no answer"},
			})
		})
	}
}

// TestCancel: a cancellation is believed only once it is read back, and never repeated under a key that only replays.
func TestCancel(t *testing.T) {
	t.Parallel()
	refused, usedUp, failed := called(protocol.WrongState, ""), called(protocol.KeyUsedUp, ""), called(protocol.Failed, "")
	done := called(protocol.Done, cards.Cancelled)
	pauses := func(pause time.Duration) func(p *flows.Payment) string {
		return func(p *flows.Payment) string {
			if want := now.Add(pause); pause > 0 && !p.NotBefore.Equal(want) || pause == 0 && !p.NotBefore.IsZero() {
				return fmt.Sprintf("the next cancellation follows at %s", p.NotBefore)
			}
			return usedKeys(1)(p)
		}
	}
	check(t, record(flows.Cancelling), []row{
		{name: "begins", want: "cancel"},
		{name: "begins, whatever was read before", facts: shows(cards.Cancelled), want: "cancel"},
		{name: "pauses", with: func(p *flows.Payment) { p.NotBefore = now.Add(10 * time.Second) }, want: "wait 10s"},
		{name: "a pause of a clock that was ahead", with: func(p *flows.Payment) { p.NotBefore = now.Add(time.Hour) }, want: "cancel"},
		{name: "no answer", facts: failed, want: "wait 15s: no answer"},
		{name: "the key belongs to another request", facts: called(protocol.KeyReused, ""), want: "wait 15s: no answer"},
		{name: "done, and not read back", facts: done, want: "read"},
		{name: "done", facts: and(done, shows(cards.Cancelled)), want: "→ cancelled: as before"},
		{name: "refused, and cancelled before", facts: and(refused, shows(cards.Cancelled)), want: "→ cancelled: as before"},
		{name: "captured meanwhile", facts: and(refused, shows(cards.Captured)),
			want: "→ blocked: cannot be cancelled: at the processor it is captured"},
		{name: "refunded meanwhile", facts: and(refused, shows(cards.Refunded)),
			want: "→ blocked: cannot be cancelled: at the processor it is refunded"},
		{name: "refused for now", facts: and(refused, shows(cards.Processing)), want: "→ cancelling: as before",
			wrote: pauses(15 * time.Second)},
		{name: "done, and still there", facts: and(done, shows(cards.Authorised)),
			want: "→ cancelling: as before", wrote: pauses(15 * time.Second)},
		{name: "the key is used up", facts: and(usedUp, shows(cards.Authorised)), want: "→ cancelling: as before", wrote: pauses(0)},
	})
}
