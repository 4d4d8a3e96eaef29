package protocol_test

import (
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

func heldBefore(p *flows.Payment) { p.OnHold = true }

func anHourAgo(p *flows.Payment) { p.UpdatedAt = now.Add(-time.Hour - time.Second) }

// blockedFor returns a change of a record: it was authorised more than so long ago, and blocked until now.
func blockedFor(ago time.Duration) func(p *flows.Payment) {
	return func(p *flows.Payment) {
		p.History = []flows.Transition{{State: flows.Authorised, At: now.Add(-ago - 1)}, {State: flows.Blocked, At: now.Add(-ago)},
			{State: p.State, At: p.UpdatedAt}}
	}
}

// TestCheckSale: no money is taken unless the sale is as agreed, the brake lets the payment pass, and the money is still reserved.
func TestCheckSale(t *testing.T) {
	t.Parallel()
	reserved, passes, holds := shows(cards.Authorised), brake(0), brake(time.Minute)
	ready := and(passes, reserved)
	unread := func(s *protocol.Sale) { s.Err, s.Seen = errDown, nil }
	onHold := func(held bool) func(p *flows.Payment) string {
		return func(p *flows.Payment) string {
			if p.OnHold != held {
				return "the buyer reads the wrong thing about the wait"
			}
			return ""
		}
	}
	check(t, record(flows.Authorised), []row{
		{name: "the brake first", facts: reserved, want: "ask_brake"},
		{name: "passes", facts: passes, want: "read"},
		{name: "holds", facts: and(holds, reserved), want: "→ authorised: as before", wrote: onHold(true)},
		{name: "still holds", with: heldBefore, facts: holds, want: "wait 15s"},
		{name: "holds for a moment", with: heldBefore, facts: brake(3 * time.Second), want: "wait 3s"},
		{name: "the sale next", facts: ready, want: "check_sale"},
		{name: "as agreed", facts: and(ready, sale()), want: "→ capturing: the sale is as agreed", wrote: func(p *flows.Payment) string {
			if p.Payer == nil || p.Payer.Contact != "/club/contacts/1" || !p.Payer.ReadAt.Equal(now) || p.Snapshot == nil {
				return "what was seen is not in the record"
			}
			return ""
		}},
		{name: "as agreed, after the brake", with: heldBefore, facts: and(ready, sale()),
			want: "→ capturing: the sale is as agreed", wrote: onHold(false)},
		{name: "fails its check", facts: and(ready, sale(func(s *protocol.Sale) { s.Check.Valid = false })),
			want: "→ cancelling: the sale no longer passes the check"},
		{name: "settled", facts: and(ready, sale(func(s *protocol.Sale) { s.Sale.State = "validated" })),
			want: "→ cancelling: the sale was settled by something else"},
		{name: "another total", facts: and(ready, sale(func(s *protocol.Sale) { s.Sale.TotalTI++ })),
			want: "→ cancelling: the sale changed after the buyer agreed to the price"},
		{name: "another article", facts: and(ready, sale(func(s *protocol.Sale) { s.Sale.Articles = []club.Article{{}} })),
			want: "→ cancelling: the sale changed after the buyer agreed to the price"},
		{name: "unreadable", facts: and(ready, sale(unread)), want: "→ cancelling: the club system was unreachable before the capture"},
		{name: "only busy", facts: and(ready, sale(unread, func(s *protocol.Sale) { s.Busy = true })), want: "wait 15s: no answer"},
		{name: "captured before", facts: and(passes, shows(cards.Captured)), want: "→ capturing: captured before"},
		{name: "being captured", facts: and(passes, shows(cards.Processing)),
			want: "→ capturing: being captured", wrote: func(p *flows.Payment) string {
				if !p.Processing {
					return "it would be captured again"
				}
				return ""
			}},
		{name: "cancelled there", facts: and(passes, shows(cards.Cancelled)),
			want: "→ cancelling: the processor no longer holds the authorisation: cancelled"},
		{name: "another method", facts: and(passes, shows(cards.Authorised, func(r *protocol.Remote) { r.OtherMethod = "klarna" })),
			want: "→ cancelling: the buyer paid by klarna and not by card"},
		{name: "an hour old", with: anHourAgo, facts: reserved, want: "→ cancelling: the authorisation is too old"},
		{name: "an hour old, on hold", with: func(p *flows.Payment) { anHourAgo(p); heldBefore(p) }, facts: reserved,
			want: "→ cancelling: the club system recorded no payment within the life of the authorisation"},
		{name: "an hour old, and blocked meanwhile", with: blockedFor(time.Hour), facts: reserved,
			want: "→ cancelling: the authorisation is too old"},
		{name: "the processor's end is near", with: func(p *flows.Payment) { p.CaptureBefore = now.Add(59 * time.Second) }, facts: reserved,
			want: "→ cancelling: the authorisation is too old"},
		{name: "the processor's end is not near", with: func(p *flows.Payment) { p.CaptureBefore = now.Add(61 * time.Second) }, facts: ready,
			want: "check_sale"},
	})
}

// TestCapture: money is taken only within a minute of a sale that was as agreed, and a capture whose outcome is not known is read.
func TestCapture(t *testing.T) {
	t.Parallel()
	agreed := func(ago time.Duration) func(p *flows.Payment) {
		return func(p *flows.Payment) { p.Payer = &flows.Payer{ReadAt: now.Add(-ago)} }
	}
	fresh := agreed(time.Second)
	deciding := func(p *flows.Payment) { fresh(p); p.Processing = true }
	passes, reserved := brake(0), shows(cards.Authorised)
	check(t, record(flows.Capturing), []row{
		{name: "the brake first", with: fresh, want: "ask_brake"},
		{name: "passes", with: fresh, facts: passes, want: "capture"},
		{name: "seen 50 s ago", with: agreed(50 * time.Second), facts: passes, want: "capture"},
		{name: "seen 51 s ago", with: agreed(51 * time.Second), facts: passes, want: "read"},
		{name: "seen by a clock that was ahead", with: agreed(-51 * time.Second), facts: passes, want: "read"},
		{name: "never seen", facts: passes, want: "read"},
		{name: "seen long ago, still reserved", facts: and(passes, reserved), want: "check_sale"},
		{name: "seen again", facts: and(passes, reserved, sale()), want: "→ capturing: the sale is as agreed"},
		{name: "settled since", facts: and(passes, reserved, sale(func(s *protocol.Sale) { s.Sale.State = "validated" })),
			want: "→ cancelling: the sale was settled by something else"},
		{name: "taken before", facts: and(passes, shows(cards.Captured)), want: "capture"},
		{name: "the brake holds", with: fresh, facts: brake(time.Minute), want: "read"},
		{name: "the brake holds what is reserved", with: fresh, facts: and(brake(time.Minute), reserved), want: "wait 15s"},
		{name: "the brake does not hold what is taken", with: fresh, facts: and(brake(time.Minute), shows(cards.Captured)), want: "capture"},
		{name: "too old", with: func(p *flows.Payment) { fresh(p); anHourAgo(p) }, facts: and(passes, reserved),
			want: "→ cancelling: the authorisation is too old"},
		{name: "too old, and blocked meanwhile", with: func(p *flows.Payment) { fresh(p); blockedFor(time.Hour)(p) },
			facts: and(passes, reserved), want: "→ cancelling: the authorisation is too old"},
		{name: "captured", with: fresh, facts: called(protocol.Done, cards.Captured), want: "→ captured: captured by the processor"},
		{name: "no answer", with: fresh, facts: called(protocol.Failed, ""), want: "wait 15s: no answer"},
		{name: "the key belongs to another request", with: fresh, facts: called(protocol.KeyReused, ""), want: "wait 15s: no answer"},
		{name: "refused, and not read", with: fresh, facts: called(protocol.WrongState, ""), want: "read"},
		{name: "refused", with: fresh, facts: and(called(protocol.Refused, ""), reserved),
			want: "→ cancelling: the processor refused the capture"},
		{name: "refused, and taken before", with: fresh, facts: and(called(protocol.WrongState, ""), shows(cards.Captured)),
			want: "→ captured: captured by the processor"},
		{name: "refused, and refunded", with: fresh, facts: and(called(protocol.WrongState, ""), shows(cards.Refunded)),
			want: "→ blocked: it was refunded at the processor"},
		{name: "the key is used up, and nothing taken", with: fresh, facts: and(called(protocol.KeyUsedUp, ""), reserved),
			want: "→ capturing: as before", wrote: usedKeys(1)},
		{name: "the key is used up, and taken", with: fresh, facts: and(called(protocol.KeyUsedUp, ""), shows(cards.Captured)),
			want: "→ captured: captured by the processor"},
		{name: "an earlier answer, and the bank gave the reservation back since", with: fresh,
			facts: and(called(protocol.Done, cards.Processing), reserved), want: "→ capturing: as before", wrote: usedKeys(1)},
		{name: "the bank decides", with: fresh, facts: and(called(protocol.Done, cards.Processing), shows(cards.Processing)),
			want: "→ capturing: the bank is deciding about the capture"},
		{name: "it decides, and the brake is not asked", with: deciding, want: "read"},
		{name: "it still decides", with: deciding, facts: shows(cards.Processing), want: "wait 15s"},
		{name: "it agreed", with: deciding, facts: shows(cards.Captured), want: "→ captured: captured by the processor"},
		{name: "it gave the reservation back", with: deciding, facts: shows(cards.Authorised),
			want: "→ capturing: as before", wrote: func(p *flows.Payment) string {
				if p.Processing {
					return "it waits for a decision that was made"
				}
				return usedKeys(1)(p)
			}},
		{name: "it refused", with: deciding, facts: shows(cards.Cancelled), want: "→ cancelling: the processor refused the capture"},
	})
}
