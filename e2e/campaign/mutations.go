package campaign

// Mutations are the mistakes that the campaigns are tried on: mostly what an honest programmer would
// have written first.
var Mutations = []Mutation{
	{Name: "retry-unknown", Description: "a POST whose outcome is not known is sent again", Edits: []Edit{{
		File: "flows/payment/record.go",
		Old:  `			return outcome{step: step{to: flows.InDoubt, reason: "the answer of the club system is not known"}}`,
		New: `			if try < triesPerClaim {
				continue
			}
			return outcome{step: step{to: flows.InDoubt, reason: "the answer of the club system is not known"}}`,
	}}},
	{Name: "take-over", Description: "a payment in sending whose owner is silent is sent by whoever finds it", Edits: []Edit{{
		File: "flows/payment/advance.go",
		Old:  `return step{to: flows.InDoubt, reason: "the process that was recording it is gone", leaseExpiredFor: leaseGrace}, nil`,
		New:  `return step{to: flows.Captured, reason: "the process that was recording it is gone", leaseExpiredFor: leaseGrace, edit: func(p *flows.Payment) { p.ReleasePending = true }}, nil`,
	}}},
	{Name: "overwritable-claim", Description: "the claim is an entry that is read and then written, without a key that makes one winner", Edits: []Edit{{
		File: "flows/payment/record.go",
		Old:  `	key := fmt.Sprintf("claim:%s:%d", p.ProcessorID, p.Claim) // the processor's id, because Redis may know the payment under two names`,
		New:  `	key := "claim:" + newAttemptID(m.cfg.Now())`,
	}}},
	{Name: "no-compare-and-set", Description: "a commit does not ask whether the payment is still what was read", Edits: []Edit{{
		File: "flows/store/payment.go",
		Old:  `if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return 0 end`,
		New:  `if not held[1] then return 0 end`,
	}}},
	{Name: "no-write-gate", Description: "nobody looks at the age of a claim before the first byte leaves", Edits: []Edit{{
		File: "flows/payment/record.go",
		Old:  `		if expired(m.cfg.Now(), asked, claimLife) {`,
		New:  `		if expired(m.cfg.Now(), asked, 1000*claimLife) {`,
	}}},
	{Name: "key-per-attempt", Description: "the key under which a payment is created belongs to the attempt, not to the sale", Edits: []Edit{{
		File: "flows/payment/step.go",
		Old:  `fmt.Sprintf("payment:%s:%s:%d", p.Registration, p.Sale, p.Generation)`,
		New:  `fmt.Sprintf("payment:%s:%s:%d:%s", p.Registration, p.Sale, p.Generation, newAttemptID(m.cfg.Now()))`,
	}}},
	{Name: "refund-in-doubt", Description: "a machine refunds what may have been recorded", Edits: []Edit{{
		File: "flows/payment/record.go",
		Old:  `return outcome{step: step{to: flows.InDoubt, reason: "the answer of the club system is not known"}}`,
		New:  `return outcome{step: step{to: flows.RefundDue, reason: "the answer of the club system is not known"}, journalEntry: "release"}`,
	}}},
	{Name: "release-although-sent", Description: "an unknown outcome is taken for not sent, and the claim is released", Edits: []Edit{{
		File: "flows/payment/record.go",
		Old:  `			return outcome{step: step{to: flows.InDoubt, reason: "the answer of the club system is not known"}}`,
		New:  `			return m.notSent(p, "the answer of the club system is not known")`,
	}}},
	{Name: "blind-cancel", Description: "a payment counts as cancelled once that was asked for, not once it was read back", Edits: []Edit{{
		File: "flows/payment/step.go",
		Old:  "	case remote.State == cards.Cancelled:\n		return step{to: flows.Cancelled, reason: p.Reason}, nil",
		New:  "	case remote.State != cards.Refunded:\n		return step{to: flows.Cancelled, reason: p.Reason}, nil",
	}}},
	{Name: "cart-unchecked", Description: "the cart is not compared again before the money is taken", Edits: []Edit{{
		File: "flows/sale.go",
		Old:  "	case !p.MatchesSale(sale):\n",
		New:  "	case sale.TotalTI < 0:\n",
	}}},
	{Name: "trust-any-release", Description: "a release of a claim counts, whoever wrote it and whoever holds the claim", Edits: []Edit{{
		File: "flows/payment/claim.go",
		Old:  `	return release != "" && (post == "" || post == release)`,
		New:  `	return release != "" || post == "never"`,
	}}},
	{Name: "claim-unread", Description: "the journal is not read before a claim, which leaves the one winner to the memory of the processor's keys", Edits: []Edit{{
		File: "flows/payment/record.go",
		Old:  `	case !claimAvailable(remote, p.Claim, ""):`,
		New:  `	case remote.ID == "":`,
	}, {
		File: "flows/payment/record.go",
		Old:  `	case !claimAvailable(remote, p.Claim, p.AttemptID):`,
		New:  `	case remote.Metadata[claimKey("post", p.Claim)] != p.AttemptID:`,
	}}},
	{Name: "trusted-webhook", Description: "an event is believed without reading the payment", Edits: []Edit{{
		File: "flows/payment/machine.go",
		Old:  `	name := "event:" + m.cfg.Cards.Name() + ":" + event.ID`,
		New: `	if p, err := m.cfg.Store.Payment(ctx, flows.NewPaymentID(registration, generation)); err == nil && p.State == flows.Intent && event.Type == "payment.cancelled" {
			_, _ = m.commit(ctx, p, step{to: flows.Cancelling, reason: "the event says so"})
	} else if err == nil && p.State != flows.Recorded && event.Type == "payment.captured" {
		next := *p
		next.State = flows.Captured
		_ = m.cfg.Store.Commit(ctx, flows.StateChange{From: p.State, Version: p.Version, Next: &next, Operation: "event:" + event.ID})
	}
	name := "event:" + m.cfg.Cards.Name() + ":" + event.ID`,
	}}},
	{Name: "redis-alone", Description: "the compare-and-set in Redis is the right to send; no claim is asked for", Edits: []Edit{{
		File: "flows/payment/record.go",
		Old:  `func (m *Machine) claimAndSend(ctx context.Context, p *flows.Payment, captured *cards.Payment, gate club.Gate) outcome {`,
		New: `func (m *Machine) claimAndSend(ctx context.Context, p *flows.Payment, captured *cards.Payment, gate club.Gate) outcome {
	if p.AttemptID != "" {
		return m.send(ctx, p, gate)
	}`,
	}}},
	{Name: "no-answer-no-effect", Description: "a POST that got no answer is taken for one that was not sent", Edits: []Edit{{
		File: "upstream/club/outcome.go",
		Old:  `	case sent == 0:`,
		New:  `	case sent == 0 || status == 0:`,
	}}},
	{Name: "no-sweep", Description: "nobody looks at a payment whose webhook got lost", Edits: []Edit{{
		File: "flows/worker/worker.go",
		Old:  `	for _, id := range due {`,
		New:  `	for _, id := range due[:0] {`,
	}}},
	{Name: "no-rebuild", Description: "what Redis lost is not brought back from the processor", Edits: []Edit{{
		File: "flows/payment/rebuild.go",
		Old:  `		switch err := m.restore(ctx, group); {`,
		New:  `		switch err := error(nil); {`,
	}}},
	{Name: "any-record-matches", Description: "a record without a processor's id counts as that of any payment of its number, also one of another method", Edits: []Edit{{
		File: "flows/payment/rebuild.go",
		Old:  `	return p.HasProcessor() && (p.ProcessorID == processorID || p.State == flows.Priced && p.ProcessorID == "")`,
		New:  `	return p.ProcessorID == processorID || p.ProcessorID == ""`,
	}}},
	{Name: "rebuilt-for-all", Description: "a rebuilt registration, whose holders Redis lost, is served whoever asks", Edits: []Edit{{
		File: "flows/registration.go",
		Old:  `	return isHolder || r.Rebuilt && signed`,
		New:  `	return isHolder || r.Rebuilt || signed`,
	}}},
	{Name: "state-unlisted", Description: "a transition leaves the payment in the operators' list where it was before", Edits: []Edit{{
		File: "flows/store/payment.go",
		Old:  `if KEYS[3] and ARGV[8] == '0' then`,
		New:  `if KEYS[3] and ARGV[8] == 'never' then`,
	}, {
		File: "flows/store/payment.go",
		Old:  `		all.ZAdd(ctx, paymentStates, stateEntry(p))`,
		New:  ``,
	}}},
	{Name: "stored-decline", Description: "a decline is answered as it is stored, without a look at the processor", Edits: []Edit{{
		File: "flows/registration/registration.go",
		Old:  `	if p == nil || !p.Declined() {`,
		New:  `	if p == nil || p.ID != "" {`,
	}}},
	{Name: "sale-unseen", Description: "a captured payment is sent to its sale in whatever state that is", Edits: []Edit{{
		File: "flows/payment/record.go",
		Old: `	reason := p.ChangedSinceAgreed(sale, check)
	if reason == "" {`,
		New: `	reason := p.ChangedSinceAgreed(sale, check)
	if reason != "never" {`,
	}}},
	{Name: "unsigned-webhook", Description: "the signature of an event is not looked at", Edits: []Edit{{
		File: "upstream/cards/sandbox/client.go",
		Old:  `c.cfg.Now(), signature); err != nil {`,
		New:  `c.cfg.Now(), signature); err != nil && len(body) == 0 {`,
	}}},
	{Name: "key-any-body", Description: "an idempotency key is taken for the same request whatever comes with it", Edits: []Edit{{
		File: "flows/store/idempotency.go",
		Old:  `if not same then return {'reused'} end`,
		New:  ``,
	}}},
}
