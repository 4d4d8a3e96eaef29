package protocol_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

const attempt = "1772476200000-4a2f1d3c-0b7e-4a57-9a37-6f1d9d1f0c11"

// seen returns a change of a record: its sale was seen as agreed so long ago.
func seen(ago time.Duration) func(p *flows.Payment) {
	return func(p *flows.Payment) { p.Payer = &flows.Payer{Contact: "/club/contacts/1", ReadAt: now.Add(-ago)} }
}

// since returns a change of a record: it entered its state so long ago.
func since(ago time.Duration) func(p *flows.Payment) {
	return func(p *flows.Payment) { p.UpdatedAt = now.Add(-ago) }
}

// notBefore returns a change of a record: its pause ends so much later.
func notBefore(later time.Duration) func(p *flows.Payment) {
	return func(p *flows.Payment) { p.NotBefore = now.Add(later) }
}

// all joins changes of a record.
func all(changes ...func(p *flows.Payment)) func(p *flows.Payment) {
	return func(p *flows.Payment) {
		for _, change := range changes {
			change(p)
		}
	}
}

// lastAccepted returns facts: the club system accepted another payment so long ago.
func lastAccepted(ago time.Duration) func(f *protocol.Facts) {
	return func(f *protocol.Facts) {
		at := now.Add(-ago)
		f.Accepted = &at
	}
}

// TestPrepare: a captured payment is sent once its pause is over, the processor can be read, the brake lets it pass, and its sale
// was seen as agreed.
func TestPrepare(t *testing.T) {
	t.Parallel()
	taken, passes := shows(cards.Captured), brake(0)
	ready := and(taken, passes, withID)
	owed := func(p *flows.Payment) { p.Claim, p.ReleasePending = 2, true }
	long := notBefore(6 * time.Hour)
	check(t, record(flows.Captured), []row{
		{name: "begins", with: seen(time.Second), facts: ready, want: "→ sending: about to be recorded, owned for 1m0s",
			wrote: claims(1, "1772476200000-", 0)},
		{name: "begins again", with: all(seen(time.Second), func(p *flows.Payment) { p.Claim = 2 }), facts: ready,
			want: "→ sending: about to be recorded, owned for 1m0s", wrote: claims(3, "1772476200000-", 0)},
		{name: "in its pause", with: notBefore(10 * time.Second), facts: ready, want: "wait 10s"},
		{name: "in the pause of a limit", with: long, facts: ready, want: "ask_accepted"},
		{name: "nothing was accepted", with: long, facts: func(f *protocol.Facts) { f.Accepted = new(time.Time) }, want: "wait 2m0s"},
		{name: "accepted before the refusal", with: long, facts: lastAccepted(11 * time.Second), want: "wait 2m0s"},
		{name: "accepted since the refusal", with: long, facts: lastAccepted(9 * time.Second), want: "read"},
		{name: "accepted by a clock that is ahead", with: long, facts: lastAccepted(-time.Second), want: "wait 2m0s"},
		{name: "a pause by a clock that is ahead", with: notBefore(25 * time.Hour), want: "read"},
		{name: "the processor first", with: seen(time.Second), facts: passes, want: "read"},
		{name: "the processor cannot be read", facts: shows(cards.Captured, func(r *protocol.Remote) { r.Err = errDown }),
			want: "wait 15s: no answer"},
		{name: "the processor's payment differs", facts: shows(cards.Captured, func(r *protocol.Remote) { r.Amount++ }),
			want: "→ blocked: the processor holds another amount or currency"},
		{name: "the bank still decides", with: seen(time.Second), facts: and(shows(cards.Processing), passes), want: "wait 15s"},
		{name: "was missing", with: func(p *flows.Payment) { p.MissingSince = now.Add(-time.Minute) }, want: "read"},
		{name: "is there again", with: func(p *flows.Payment) { p.MissingSince = now.Add(-time.Minute) }, facts: taken,
			want: "→ captured: as before"},
		{name: "a release is owed", with: owed, facts: ready, want: "release"},
		{name: "the release cannot be written", with: owed, facts: and(taken, released(protocol.Failed)), want: "wait 15s: no answer"},
		{name: "the release is written", with: owed, facts: and(taken, released(protocol.Done)), want: "→ captured: as before",
			wrote: func(p *flows.Payment) string {
				if p.ReleasePending || p.Claim != 2 {
					return "the release is still owed"
				}
				return ""
			}},
		{name: "the brake next", with: seen(time.Second), facts: taken, want: "ask_brake"},
		{name: "the brake holds", with: seen(time.Second), facts: and(taken, brake(time.Minute)), want: "wait 15s"},
		{name: "the brake holds for a moment", with: seen(time.Second), facts: and(taken, brake(3*time.Second)), want: "wait 3s"},
		{name: "the brake has held for 29 minutes", with: all(seen(time.Second), since(29*time.Minute)), facts: and(taken, brake(time.Minute)),
			want: "wait 15s"},
		{name: "the brake has held for long", with: all(seen(time.Second), since(31*time.Minute)), facts: and(taken, withID),
			want: "→ sending: about to be recorded, owned for 1m0s"},
		{name: "the brake holds what was taken long ago, and sent in vain since", with: all(seen(time.Second), takenBefore(flows.Sending)),
			facts: and(taken, withID), want: "→ sending: about to be recorded, owned for 1m0s"},
		{name: "the brake holds what an operator has sent again", with: all(seen(time.Second), takenBefore(flows.Sending, flows.InDoubt)),
			facts: taken, want: "ask_brake"},
		{name: "the sale was never seen", facts: ready, want: "recheck_sale"},
		{name: "the sale was seen a minute ago", with: seen(51 * time.Second), facts: ready, want: "recheck_sale"},
	})
}

// TestAgreeToRecord: a sale that is not as agreed takes no money. It goes back only if nothing of ours can be booked.
func TestAgreeToRecord(t *testing.T) {
	t.Parallel()
	const changed, gone = "the sale changed after the buyer agreed to the price", "the club system no longer has the sale"
	other := func(s *protocol.Sale) { s.Sale.TotalTI++ }
	unread := func(s *protocol.Sale) { s.Err = errDown }
	missing := func(s *protocol.Sale) { s.Err, s.Gone = errDown, true }
	ready := func(with func(s *protocol.Sale), entries map[string]string) func(f *protocol.Facts) {
		return and(shows(cards.Captured, journal(entries)), brake(0), sale(with))
	}
	goneSince := func(ago time.Duration) func(p *flows.Payment) {
		return func(p *flows.Payment) { p.SaleMissingSince = now.Add(-ago) }
	}
	been := func(state flows.PaymentState) func(p *flows.Payment) {
		return func(p *flows.Payment) {
			p.History = append(p.History, flows.Transition{State: state, At: now.Add(-time.Minute)})
		}
	}
	rebuilt := func(p *flows.Payment) { p.Rebuilt = true }
	check(t, record(flows.Captured), []row{
		{name: "as agreed", with: goneSince(time.Minute), facts: ready(func(*protocol.Sale) {}, nil), want: "→ captured: as before",
			wrote: func(p *flows.Payment) string {
				if p.Payer == nil || !p.Payer.ReadAt.Equal(now) || !p.SaleMissingSince.IsZero() {
					return fmt.Sprintf("seen %+v, missing since %s", p.Payer, p.SaleMissingSince)
				}
				return ""
			}},
		{name: "not found", facts: ready(missing, nil), want: "→ captured: as before", wrote: func(p *flows.Payment) string {
			if !p.SaleMissingSince.Equal(now) {
				return "it is not noted since when the sale is missing"
			}
			return ""
		}},
		{name: "not found for a while", with: goneSince(flows.GoneAfter), facts: ready(missing, nil), want: "wait 15s: no answer"},
		{name: "gone", with: goneSince(flows.GoneAfter + 1), facts: ready(missing, nil), want: "→ refund_due: " + gone,
			wrote: notSeenSettled},
		{name: "unreadable", facts: ready(unread, nil), want: "wait 15s: no answer"},
		{name: "unreadable, and missing before", with: goneSince(time.Hour), facts: ready(unread, nil), want: "wait 15s: no answer"},
		{name: "unreadable for a day", with: since(24*time.Hour + 1), facts: ready(unread, nil),
			want: "→ in_doubt: the sale could not be read for a day"},
		{name: "unreadable since its pause", with: all(since(25*time.Hour), notBefore(-time.Hour)), facts: ready(unread, nil),
			want: "wait 15s: no answer"},
		{name: "changed", facts: ready(other, nil), want: "→ refund_due: " + changed, wrote: func(p *flows.Payment) string {
			if n := len(p.Readings); n != 1 || p.Readings[0].SaleState == nil || *p.Readings[0].SaleState != "draft" {
				return fmt.Sprintf("%d readings", n)
			}
			return ""
		}},
		{name: "another article", facts: ready(func(s *protocol.Sale) { s.Sale.Articles = []club.Article{{}} }, nil),
			want: "→ refund_due: " + changed},
		{name: "fails its check", facts: ready(func(s *protocol.Sale) { s.Check.Valid = false }, nil),
			want: "→ refund_due: the sale no longer passes the check"},
		{name: "settled", facts: ready(func(s *protocol.Sale) { s.Sale.State = "validated" }, nil),
			want: "→ refund_due: the sale was settled by something else"},
		{name: "changed, and the journal was read before", want: "read", facts: func(f *protocol.Facts) {
			ready(other, nil)(f)
			*f = f.Rechecked(f.Sale)
		}},
		{name: "unreadable, and the journal was read before", want: "wait 15s: no answer", facts: func(f *protocol.Facts) {
			ready(unread, nil)(f)
			*f = f.Rechecked(f.Sale)
		}},
		{name: "changed, with an earlier claim released", with: func(p *flows.Payment) { p.Claim = 1 },
			facts: ready(other, map[string]string{"fd_post_1": attempt, "fd_release_1": attempt}), want: "→ refund_due: " + changed},
		{name: "changed, with an earlier claim open", with: func(p *flows.Payment) { p.Claim = 1 },
			facts: ready(other, map[string]string{"fd_post_1": attempt}), want: "→ in_doubt: " + changed},
		{name: "changed, with the next claim taken", facts: ready(other, map[string]string{"fd_post_1": attempt}),
			want: "→ in_doubt: " + changed},
		{name: "changed, with an acceptance", facts: ready(other, map[string]string{"fd_done_1": attempt}), want: "→ in_doubt: " + changed},
		{name: "changed, released by an operator", facts: ready(other, map[string]string{protocol.ByOperator: "operator"}),
			want: "→ in_doubt: " + changed},
		{name: "changed, and was in doubt", with: been(flows.InDoubt), facts: ready(other, nil), want: "→ in_doubt: " + changed},
		{name: "changed, and was blocked", with: been(flows.Blocked), facts: ready(other, nil), want: "→ in_doubt: " + changed},
		{name: "changed, and Redis lost its past", with: rebuilt, facts: ready(other, nil), want: "→ in_doubt: " + changed},
		{name: "changed, captured since Redis lost it", with: all(rebuilt, been(flows.Capturing)), facts: ready(other, nil),
			want: "→ refund_due: " + changed},
	})
}

// takenBefore makes a payment one that was captured forty minutes ago, and again a minute ago, after the states in between.
func takenBefore(between ...flows.PaymentState) func(p *flows.Payment) {
	return func(payment *flows.Payment) {
		for i, state := range slices.Concat([]flows.PaymentState{flows.Captured}, between, []flows.PaymentState{flows.Captured}) {
			payment.UpdatedAt = now.Add(time.Duration(i-40) * time.Minute)
			if i > len(between) {
				payment.UpdatedAt = now.Add(-time.Minute)
			}
			payment.History = append(payment.History, flows.Transition{State: state, At: payment.UpdatedAt})
		}
	}
}

// notSeenSettled checks that a sale that was not found does not count as settled.
func notSeenSettled(p *flows.Payment) string {
	if protocol.SeenSettled(p) {
		return "the evidence shows a settled sale"
	}
	return ""
}

// TestSettle: a payment without a processor is sent if its sale is as agreed; what is not sent is given up, or, after staff have
// received the money, left to operators.
func TestSettle(t *testing.T) {
	t.Parallel()
	by := func(method flows.Method) func(p *flows.Payment) { return func(p *flows.Payment) { p.Method = method } }
	desk, old := by(flows.InPerson), func(p *flows.Payment) { p.CreatedAt = now.Add(-protocol.SettleWithin - 1) }
	given := func(p *flows.Payment) { p.AttemptID, p.Claim = attempt, 1 }
	ready := and(brake(0), withID)
	other := sale(func(s *protocol.Sale) { s.Sale.TotalTI++ })
	unread := sale(func(s *protocol.Sale) { s.Err, s.Seen = errDown, nil })
	noAttempt := func(p *flows.Payment) string {
		if p.AttemptID != "" {
			return "an attempt of before looks like one that may have left"
		}
		return ""
	}
	const sends = "→ sending: the sale is as agreed, and about to be settled, owned for 1m0s"
	check(t, record(flows.Priced), []row{
		{name: "given up", with: desk, facts: wish(protocol.GiveUp), want: "→ cancelled: the buyer gave up"},
		{name: "given up later", with: all(desk, old, given), facts: wish(protocol.GiveUp), wrote: noAttempt,
			want: "→ in_doubt: the buyer gave up"},
		{name: "too late", with: all(by(flows.Deferred), since(protocol.SettleWithin+1)), facts: ready,
			want: "→ cancelled: it could not be sent in time"},
		{name: "late at the desk", with: all(desk, since(protocol.SettleWithin+1)), facts: ready, want: "check_sale"},
		{name: "in its pause", with: all(desk, notBefore(10*time.Second)), facts: ready, want: "wait 10s"},
		{name: "in the pause of a limit", with: all(desk, notBefore(time.Hour)), facts: ready, want: "ask_accepted"},
		{name: "the limit was raised", with: all(desk, notBefore(time.Hour)), facts: lastAccepted(time.Second), want: "ask_brake"},
		{name: "the brake first", with: desk, facts: sale(), want: "ask_brake"},
		{name: "no brake for what is free", with: by(flows.Free), want: "check_sale"},
		{name: "no brake for what is due later", with: by(flows.Deferred), want: "check_sale"},
		{name: "no brake for money that has been at the desk for long", with: all(desk, since(protocol.MaxCapturedHold+1)), want: "check_sale"},
		{name: "the brake holds", with: desk, facts: brake(time.Minute), want: "→ priced: as before"},
		{name: "the brake still holds", with: all(desk, heldBefore), facts: brake(time.Minute), want: "wait 15s"},
		{name: "the sale next", with: desk, facts: ready, want: "check_sale"},
		{name: "as agreed", with: all(desk, heldBefore), facts: and(ready, sale()), want: sends, wrote: func(p *flows.Payment) string {
			if p.Payer == nil || p.Snapshot == nil || p.OnHold {
				return "what was seen is not in the record"
			}
			return claims(1, "1772476200000-", 0)(p)
		}},
		{name: "as agreed a minute ago", with: desk, want: "check_sale",
			facts: and(ready, sale(func(s *protocol.Sale) { s.At = now.Add(-protocol.FreshSale - 1) }))},
		{name: "free", with: by(flows.Free), facts: and(sale(), withID), want: sends},
		{name: "again", with: all(desk, given), facts: and(ready, sale()), want: sends, wrote: claims(2, "1772476200000-", 0)},
		{name: "unreadable", with: desk, facts: and(ready, unread), want: "wait 15s: no answer"},
		{name: "unreadable for a day", with: all(desk, old, given, since(24*time.Hour+1)), facts: and(ready, unread),
			want: "→ in_doubt: the sale could not be read for a day", wrote: noAttempt},
		{name: "settled", with: all(desk, given), facts: and(ready, sale(func(s *protocol.Sale) { s.Sale.State = "validated" })),
			want: "→ in_doubt: the sale is settled already", wrote: noAttempt},
		{name: "changed", with: all(by(flows.Free), given), facts: and(ready, other), wrote: noAttempt,
			want: "→ cancelled: the sale changed after the buyer agreed to the price"},
		{name: "changed at the desk", with: desk, facts: and(ready, other),
			want: "→ cancelled: the sale changed after the buyer agreed to the price"},
		{name: "changed at the desk, later", with: all(desk, old, given), facts: and(ready, other), wrote: noAttempt,
			want: "→ in_doubt: the sale changed after the buyer agreed to the price"},
	})
}

// owns returns facts: this process has owned the payment for so long.
func owns(age time.Duration) func(f *protocol.Facts) {
	return func(f *protocol.Facts) { f.Owner = now.Add(-age) }
}

// sending returns a payment under its n-th claim.
func sending(n int) flows.Payment {
	p := record(flows.Sending)
	p.Claim, p.AttemptID = n, attempt
	seen(5 * time.Second)(&p)
	return p
}

// TestClaim: only the owner claims, only while its time lasts, and only what the journal shows as free.
func TestClaim(t *testing.T) {
	t.Parallel()
	const unconfirmed = "release → captured: the claim was not confirmed by the processor"
	own, taken := owns(time.Second), shows(cards.Captured)
	held := map[string]string{"fd_post_1": attempt}
	elsewhere := map[string]string{"fd_post_1": refundAttempt}
	released := map[string]string{"fd_post_1": refundAttempt, "fd_release_1": refundAttempt}
	check(t, sending(1), []row{
		{name: "not the owner", facts: taken, want: "→ in_doubt: the process that was recording it ended, if its owner has been gone for 30s"},
		{name: "the journal first", facts: own, want: "read"},
		{name: "free", facts: and(own, taken), want: "claim"},
		{name: "at the end of its time", facts: and(owns(protocol.ClaimLife), taken), want: "claim"},
		{name: "after its time", facts: and(owns(protocol.ClaimLife+1), taken), want: unconfirmed, wrote: pauses(15 * time.Second)},
		{name: "the processor cannot be read", facts: and(own, shows(cards.Captured, func(r *protocol.Remote) { r.Err = errDown })),
			want: "release → captured: the processor could not be asked before the claim", wrote: pauses(15 * time.Second)},
		{name: "the processor does not have it", want: "release → captured: the processor could not be asked before the claim",
			facts: and(own, shows("", func(r *protocol.Remote) { r.Absent, r.Err = protocol.UnknownThere, errDown }))},
		{name: "it differs there", facts: and(own, shows(cards.Captured, func(r *protocol.Remote) { r.Signed = false })),
			want: "→ blocked: the processor's metadata does not match or is not signed by us"},
		{name: "not by card", facts: and(own, shows(cards.Captured, func(r *protocol.Remote) { r.OtherMethod = "paypal" })),
			want: "→ blocked: the buyer paid by paypal and not by card"},
		{name: "not by card, and only reserved", facts: and(own, shows(cards.Authorised, func(r *protocol.Remote) { r.OtherMethod = "paypal" })),
			want: "→ blocked: the buyer paid by paypal and not by card"},
		{name: "another holds it", facts: and(own, shows(cards.Captured, journal(elsewhere))),
			want: "→ in_doubt: the processor's journal holds another attempt"},
		{name: "accepted", facts: and(own, shows(cards.Captured, journal(map[string]string{"fd_done_1": attempt}))),
			want: "→ in_doubt: the processor's journal holds another attempt"},

		{name: "claimed", facts: and(own, taken, claimed(protocol.Done, cards.Captured, held)), want: "post"},
		{name: "claimed, after its time", facts: and(owns(protocol.ClaimLife+1), claimed(protocol.Done, cards.Captured, held)),
			want: "release → captured: the club system could not be reached", wrote: pauses(15 * time.Second)},
		{name: "another was faster", facts: and(own, claimed(protocol.KeyReused, "", nil)),
			want: "→ in_doubt: claim 1 is held by another process"},
		{name: "the response shows another", facts: and(own, claimed(protocol.Done, cards.Captured, elsewhere)),
			want: "→ in_doubt: the processor's journal holds another attempt"},
		{name: "given up by another meanwhile", want: "→ in_doubt: the processor's journal holds another attempt",
			facts: and(own, claimed(protocol.Done, cards.Captured, map[string]string{"fd_post_1": attempt, "fd_release_1": "another"}))},
		{name: "accepted meanwhile", want: "→ in_doubt: the processor's journal holds another attempt",
			facts: and(own, claimed(protocol.Done, cards.Captured, map[string]string{"fd_post_1": attempt, "fd_done_2": "another"}))},
		{name: "refunded meanwhile", facts: and(own, claimed(protocol.Done, cards.Refunded, held)),
			want: "release → blocked: not recordable: at the processor it is refunded"},
		{name: "refunded in part meanwhile", want: "release → blocked: not recordable: at the processor it is captured",
			facts: and(own, claimed(protocol.Done, cards.Captured, held), func(f *protocol.Facts) { f.Claim.Response.Refunding = 1 })},
		{name: "not known", facts: and(own, claimed(protocol.Failed, "", nil)), want: unconfirmed, wrote: pauses(15 * time.Second)},
		{name: "its key is used up", facts: and(own, claimed(protocol.KeyUsedUp, "", nil)), want: unconfirmed},
	})
	check(t, sending(2), []row{
		{name: "a later claim", facts: and(own, shows(cards.Captured, journal(released))), want: "claim"},
		{name: "a later claim, the first not released", facts: and(own, shows(cards.Captured, journal(held))),
			want: "→ in_doubt: the processor's journal holds another attempt"},
	})
	check(t, sending(protocol.MaxClaims), []row{
		{name: "the last claim", facts: and(own, claimed(protocol.Failed, "", nil)),
			want: "release → refund_due: the claim was not confirmed by the processor; no attempt is left"},
	})
}

// pauses checks for how long the next claim waits, and that the sale is read again before it.
func pauses(pause time.Duration) func(p *flows.Payment) string {
	return func(p *flows.Payment) string {
		if !p.NotBefore.Equal(now.Add(pause)) || protocol.Agreed(p, now) {
			return fmt.Sprintf("not before %s, with the payer of %s", p.NotBefore, p.Payer.ReadAt)
		}
		return ""
	}
}

// TestPosted: what is certain to have changed nothing is sent again or given up; what is not certain is a doubt.
func TestPosted(t *testing.T) {
	t.Parallel()
	const unreached, refused = "the club system could not be reached", "the club system refused our credentials"
	const quota, rejected = "the quota of calls to the club system is used up", "the club system rejected it"
	ended := func(outcome club.Outcome, with ...func(p *protocol.Posted)) func(f *protocol.Facts) {
		return func(f *protocol.Facts) {
			owns(time.Second)(f)
			f.Post = &protocol.Posted{Outcome: outcome, Tries: 1}
			for _, change := range with {
				change(f.Post)
			}
		}
	}
	tries := func(n int) func(p *protocol.Posted) { return func(p *protocol.Posted) { p.Tries = n } }
	limit := func(d time.Duration) func(p *protocol.Posted) {
		return func(p *protocol.Posted) { p.Limited, p.Limit = true, d }
	}
	corrected := func(p *protocol.Posted) { p.Corrected = true }
	late := owns(protocol.ClaimLife + 1)
	stateless := func(p *flows.Payment) { p.SaleState = "" }
	blank := sale(func(s *protocol.Sale) { s.Sale.State = "" })
	last := func(p *flows.Payment) { p.Claim = protocol.MaxClaims }
	check(t, sending(1), []row{
		{name: "accepted", facts: ended(club.Accepted), want: "→ recorded: the club system accepted it, then journal"},
		{name: "accepted, late", facts: and(ended(club.Accepted), late), want: "→ recorded: the club system accepted it, then journal"},
		{name: "not sent", facts: ended(club.NotSent), want: "post"},
		{name: "not sent, twice", facts: ended(club.NotSent, tries(2)), want: "post"},
		{name: "not sent, three times", facts: ended(club.NotSent, tries(3)), want: "release → captured: " + unreached,
			wrote: pauses(15 * time.Second)},
		{name: "not sent, late", facts: and(ended(club.NotSent), late), want: "release → captured: " + unreached},
		{name: "not sent, under the last claim", with: last, facts: ended(club.NotSent, tries(3)),
			want: "release → refund_due: " + unreached + "; no attempt is left"},
		{name: "refused", facts: ended(club.Refused), want: "post"},
		{name: "refused again", facts: ended(club.Refused, corrected), want: "release → captured: " + refused, wrote: pauses(15 * time.Second)},
		{name: "refused, late", facts: and(ended(club.Refused), late), want: "release → captured: " + refused},
		{name: "a short limit", facts: ended(club.Refused, limit(protocol.ShortLimit)), want: "post after 2s"},
		{name: "a short limit again", facts: ended(club.Refused, limit(time.Second), corrected), want: "release → captured: " + quota},
		{name: "a limit of a minute", facts: ended(club.Refused, limit(time.Minute)),
			want: "release → captured: " + quota, wrote: pauses(time.Minute)},
		{name: "a limit", facts: ended(club.Refused, limit(time.Hour)), want: "release → captured: " + quota, wrote: pauses(time.Hour)},
		{name: "a limit of years", facts: ended(club.Refused, limit(9999*time.Hour)), want: "release → captured: " + quota,
			wrote: pauses(protocol.MaxLimitPause)},
		{name: "a limit, under the last claim", with: last, facts: ended(club.Refused, limit(time.Hour)),
			want: "release → refund_due: " + quota + "; no attempt is left"},
		{name: "unknown", facts: ended(club.Unknown, func(p *protocol.Posted) { p.Seen = ": 500" }),
			want: "→ in_doubt: the outcome at the club system is unknown: 500"},
		{name: "unknown, with a limit that nothing proves", facts: ended(club.Unknown, limit(time.Second)),
			want: "→ in_doubt: the outcome at the club system is unknown"},
		{name: "rejected", facts: ended(club.Rejected), want: "recheck_sale"},
		{name: "rejected, untouched", facts: and(ended(club.Rejected), sale()),
			want: "release → refund_due: " + rejected + ", and the sale is untouched"},
		{name: "rejected, unreadable", facts: and(ended(club.Rejected), sale(func(s *protocol.Sale) { s.Err = errDown })),
			want: "→ in_doubt: " + rejected + ", but the sale does not look untouched"},
		{name: "rejected, settled", facts: and(ended(club.Rejected), sale(func(s *protocol.Sale) { s.Sale.State = "validated" })),
			want: "→ in_doubt: " + rejected + ", but the sale does not look untouched"},
		{name: "rejected, changed", facts: and(ended(club.Rejected), sale(func(s *protocol.Sale) { s.Sale.TotalTI++ })),
			want: "→ in_doubt: " + rejected + ", but the sale does not look untouched"},
		{name: "rejected, failing its check", facts: and(ended(club.Rejected), sale(func(s *protocol.Sale) { s.Check.Valid = false })),
			want: "→ in_doubt: " + rejected + ", but the sale does not look untouched"},
		{name: "rejected, without states", with: stateless, facts: and(ended(club.Rejected), blank),
			want: "→ in_doubt: " + rejected + ", but the sale does not look untouched"},
	})
}

// TestRestricted: a refusal for a restriction is certain to have changed nothing, unless the sale is settled now.
func TestRestricted(t *testing.T) {
	t.Parallel()
	const forbidden = "the club system refused it for a restriction"
	refused := func(f *protocol.Facts) {
		owns(time.Second)(f)
		f.Post = new(restricted(club.Rejected))
	}
	stateless := func(p *flows.Payment) { p.SaleState = "" }
	check(t, sending(1), []row{
		{name: "unread", facts: refused, want: "recheck_sale"},
		{name: "untouched", facts: and(refused, sale()), want: "release → refund_due: " + forbidden},
		{name: "failing its check", facts: and(refused,
			sale(func(s *protocol.Sale) { s.Check.Valid = false })), want: "release → refund_due: " + forbidden},
		{name: "unreadable", facts: and(refused, sale(func(s *protocol.Sale) { s.Err = errDown })),
			want: "release → refund_due: " + forbidden},
		{name: "without states", with: stateless, facts: and(refused, sale(func(s *protocol.Sale) { s.Sale.State = "" })),
			want: "release → refund_due: " + forbidden},
		{name: "without states, failing its check", with: stateless, facts: and(refused,
			sale(func(s *protocol.Sale) { s.Sale.State, s.Check.Valid = "", false })),
			want: "→ in_doubt: " + forbidden + ", but the sale does not look untouched"},
		{name: "settled", facts: and(refused, sale(func(s *protocol.Sale) { s.Sale.State = "validated" })),
			want: "→ in_doubt: " + forbidden + ", but the sale does not look untouched"},
	})
}

// TestPostedWithoutProcessor: without a claim nothing is released, and giving up loses nothing, except of money at the desk.
func TestPostedWithoutProcessor(t *testing.T) {
	t.Parallel()
	ended := func(outcome club.Outcome, limit time.Duration) func(f *protocol.Facts) {
		return func(f *protocol.Facts) {
			owns(time.Second)(f)
			f.Post = &protocol.Posted{Outcome: outcome, Tries: 3, Limited: limit > 0, Limit: limit}
		}
	}
	by := func(method flows.Method, with ...func(p *flows.Payment)) func(p *flows.Payment) {
		return all(append(with, func(p *flows.Payment) { p.Method, p.ProcessorID = method, "" })...)
	}
	last := func(p *flows.Payment) { p.Claim = protocol.MaxSettlements }
	old := func(p *flows.Payment) { p.CreatedAt = now.Add(-protocol.SettleWithin - 1) }
	failing := sale(func(s *protocol.Sale) { s.Check.Valid = false })
	const unreached, quota = "the club system could not be reached", "the quota of calls to the club system is used up"
	check(t, sending(1), []row{
		{name: "sends at once", with: by(flows.InPerson), facts: owns(time.Second), want: "post"},
		{name: "late", with: by(flows.InPerson), facts: owns(protocol.ClaimLife + 1), want: "→ priced: " + unreached,
			wrote: pauses(15 * time.Second)},
		{name: "the owner is gone", with: by(flows.Free),
			want: "→ in_doubt: the process that was recording it ended, if its owner has been gone for 30s"},
		{name: "accepted", with: by(flows.Deferred), facts: ended(club.Accepted, 0), want: "→ recorded: the club system accepted it"},
		{name: "not sent", with: by(flows.InPerson), facts: ended(club.NotSent, 0), want: "→ priced: " + unreached,
			wrote: pauses(15 * time.Second)},
		{name: "not sent, at last", with: by(flows.Free, last), facts: ended(club.NotSent, 0),
			want: "→ cancelled: " + unreached + "; no attempt is left"},
		{name: "not sent, at last, at the desk", with: by(flows.InPerson, last, old), facts: ended(club.NotSent, 0),
			want: "→ in_doubt: " + unreached + "; no attempt is left"},
		{name: "a limit", with: by(flows.Free), facts: ended(club.Refused, protocol.SettleWithin), want: "→ priced: " + quota,
			wrote: pauses(protocol.SettleWithin)},
		{name: "a limit that no buyer awaits", with: by(flows.Deferred), facts: ended(club.Refused, time.Hour),
			want: "→ cancelled: " + quota + "; no attempt is left"},
		{name: "a limit at the desk", with: by(flows.InPerson), facts: ended(club.Refused, time.Hour), want: "→ priced: " + quota,
			wrote: pauses(time.Hour)},
		{name: "rejected", with: by(flows.Free), facts: and(ended(club.Rejected, 0), failing),
			want: "→ cancelled: the club system rejected it, and the sale is untouched"},
		{name: "rejected at the desk, later", with: by(flows.InPerson, old), facts: and(ended(club.Rejected, 0), sale()),
			want: "→ in_doubt: the club system rejected it, and the sale is untouched"},
		{name: "rejected at the desk, failing its check", with: by(flows.InPerson), facts: and(ended(club.Rejected, 0), failing),
			want: "→ in_doubt: the club system rejected it, but the sale does not look untouched"},
		{name: "unknown", with: by(flows.Free), facts: ended(club.Unknown, 0), want: "→ in_doubt: the outcome at the club system is unknown"},
	})
}

// TestSent: the tries of a claim are counted over whatever refused them, and one refusal is corrected.
func TestSent(t *testing.T) {
	t.Parallel()
	var facts protocol.Facts
	for i, outcome := range []club.Outcome{club.NotSent, club.Refused, club.NotSent, club.Refused} {
		facts = facts.Sent(protocol.Posted{Outcome: outcome})
		if facts.Post.Tries != i+1 || facts.Post.Corrected != (i > 1) {
			t.Errorf("%d: %+v", i, facts.Post)
		}
	}
	if facts.Committed(&protocol.Change{}, now).Post != nil {
		t.Error("how a POST ended outlives its claim")
	}
}
