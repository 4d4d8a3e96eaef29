package campaign

// Weaknesses are the mistakes that the campaigns are tried on. Most are what an
// honest programmer would have written first.
func Weaknesses() []Weakness {
	return []Weakness{
		{Name: "retry-unknown", About: "a POST whose outcome is not known is sent again", Edits: []Edit{{
			File: "flows/record.go",
			Old:  `			return outcome{step: step{to: InDoubt, reason: "the answer of the club system is not known"}}`,
			New: `			if try < triesPerClaim {
				continue
			}
			return outcome{step: step{to: InDoubt, reason: "the answer of the club system is not known"}}`,
		}}},
		{Name: "take-over", About: "a payment in sending whose owner is silent is sent by whoever finds it", Edits: []Edit{{
			File: "flows/advance.go",
			Old:  `return step{to: InDoubt, reason: "the process that was recording it is gone", ownerGone: leaseGrace}, nil`,
			New:  `return step{to: Captured, reason: "the process that was recording it is gone", ownerGone: leaseGrace, edit: func(p *Payment) { p.Unrelease = true }}, nil`,
		}}},
		{Name: "overwritable-claim", About: "the claim is an entry that is read and then written, without a key that makes one winner", Edits: []Edit{{
			File: "flows/record.go",
			Old:  `	key := fmt.Sprintf("claim:%s:%d", p.ID, p.Claim)`,
			New:  `	key := "claim:" + uuid.NewString()`,
		}}},
		{Name: "no-compare-and-set", About: "a commit does not ask whether the payment is still what was read", Edits: []Edit{{
			File: "flows/store/payment.go",
			Old:  `if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return 0 end`,
			New:  `if not held[1] then return 0 end`,
		}}},
		{Name: "no-write-gate", About: "nobody looks at the age of a claim before the first byte leaves", Edits: []Edit{{
			File: "flows/record.go",
			Old:  `		if now.Sub(asked) > claimLife || now.Round(0).Sub(asked.Round(0)) > claimLife {`,
			New:  `		if now.Sub(asked) > 1000*claimLife {`,
		}}},
		{Name: "key-per-attempt", About: "the key under which a payment is created belongs to the attempt, not to the sale", Edits: []Edit{{
			File: "flows/step.go",
			Old:  `fmt.Sprintf("payment:%s:%s:%d", p.Registration, p.Sale, p.Generation)`,
			New:  `fmt.Sprintf("payment:%s:%s:%d:%s", p.Registration, p.Sale, p.Generation, uuid.NewString())`,
		}}},
		{Name: "refund-in-doubt", About: "a machine refunds what may have been recorded", Edits: []Edit{{
			File: "flows/record.go",
			Old:  `return outcome{step: step{to: InDoubt, reason: "the answer of the club system is not known"}}`,
			New:  `return outcome{step: step{to: RefundDue, reason: "the answer of the club system is not known"}, mark: "release"}`,
		}}},
		{Name: "trusted-webhook", About: "an event is believed without reading the payment", Edits: []Edit{{
			File: "flows/advance.go",
			Old:  `	name := "event:" + m.cfg.Cards.Name() + ":" + event.ID`,
			New: `	if p, err := m.cfg.Store.Payment(ctx, NewPaymentID(registration, generation)); err == nil && p.State == Intent && event.Type == "payment.cancelled" {
			_, _ = m.commit(ctx, p, step{to: Cancelling, reason: "the event says so"})
	} else if err == nil && p.State != Recorded && event.Type == "payment.captured" {
		next := *p
		next.State = Captured
		_ = m.cfg.Store.Commit(ctx, Move{From: p.State, Version: p.Version, Next: &next, Operation: "event:" + event.ID})
	}
	name := "event:" + m.cfg.Cards.Name() + ":" + event.ID`,
		}}},
	}
}
