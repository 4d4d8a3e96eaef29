package campaign

// Mutations are the mistakes that the campaigns must find. Most are what a careful programmer might write first. Mistakes in the
// protocol are variants of it in e2e/model, which finds them in every order of steps; those here are of what surrounds it, or of what
// the model leaves out.
var Mutations = []Mutation{
	{Name: "take-over", Description: "any gateway sends a payment in sending whose owner is silent", Edits: []Edit{{
		File: "flows/payment/protocol/record.go",
		Old:  `		action, change := d.to(flows.InDoubt, "the process that was recording it ended")`,
		New: `		next := *d.p
		next.ReleasePending = true
		action, change := d.write(next, flows.Captured, "the process that was recording it ended")`,
	}}},
	{Name: "overwritable-claim", Description: "the claim is read and then written, without a key that admits only one winner", Edits: []Edit{{
		File: "flows/payment/journal.go",
		Old:  `	key := journalKey("claim", payment, payment.Claim)`,
		New:  `	key := "claim:" + payment.AttemptID`,
	}}},
	{Name: "no-compare-and-set", Description: "a commit does not check that the payment is still the version that was read", Edits: []Edit{{
		File: "flows/store/payment.go",
		Old:  `if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return 0 end`,
		New:  `if not held[1] then return 0 end`,
	}}},
	{Name: "no-write-gate", Description: "the gateway does not check the age of a claim before it sends the first byte", Edits: []Edit{{
		File: "flows/payment/protocol/fact.go",
		Old:  `return Expired(now, f.Owner, ClaimLife)`,
		New:  `return Expired(now, f.Owner, 1000*ClaimLife)`,
	}}},
	{Name: "key-per-attempt", Description: "the idempotency key of a new payment derives from the attempt, not from the sale", Edits: []Edit{{
		File: "flows/payment/perform.go",
		Old:  `creationKey(payment), cards`,
		New:  `creationKey(payment)+at.String(), cards`,
	}}},
	{Name: "cart-unchecked", Description: "the cart is not compared again before the capture", Edits: []Edit{{
		File: "flows/sale.go",
		Old:  "	case !p.MatchesSale(sale):\n",
		New:  "	case sale.TotalTI < 0:\n",
	}}},
	{Name: "unmarked-write", Description: "an article is sent to a sale without its mark", Edits: []Edit{{
		File: "flows/registration/draft.go",
		Old:  "	if err := s.save(ctx, registration); err != nil {\n		return err\n	}\n	article :=",
		New:  "	article :=",
	}}},
	{Name: "start-forgotten", Description: "a repeated request does not continue with the contact that it has made", Edits: []Edit{{
		File: "flows/registration/draft.go",
		Old:  `	again := registration.Draft != nil && slices.Contains(names, registration.Draft.Person)`,
		New:  `	again := registration.Draft != nil && slices.Contains(names[:0], registration.Draft.Person)`,
	}}},
	{Name: "trusted-webhook", Description: "an event is trusted without reading the payment", Edits: []Edit{
		{
			File: "flows/payment/event.go",
			Old:  `	name := "event:" + m.cfg.Cards.Name() + ":" + event.ID`,
			New: `	p, err := m.cfg.Store.Payment(ctx, flows.NewPaymentID(registration, generation))
	if err == nil && p.State == flows.Intent && event.Type == "payment_intent.canceled" {
			_, _ = m.commit(ctx, p, protocol.Transition(p, *p, flows.Cancelling, "the event says so", flows.Decision{}, m.cfg.Now()))
	} else if err == nil && p.State != flows.Recorded && event.Type == "payment_intent.succeeded" {
		next := *p
		next.State = flows.Captured
		_ = m.cfg.Store.Commit(ctx, flows.StateChange{From: p.State, Version: p.Version, Next: &next, Operation: "event:" + event.ID})
	}
	name := "event:" + m.cfg.Cards.Name() + ":" + event.ID`,
		},
	}},
	{Name: "redis-alone", Description: "the compare-and-set in Redis grants the right to send, without a claim", Edits: []Edit{{
		File: "flows/payment/protocol/record.go",
		Old: `	case d.p.HasProcessor():
		return d.claim()
`,
		New: ``,
	}}},
	{Name: "no-response-no-effect", Description: "a POST without a response counts as not sent", Edits: []Edit{{
		File: "upstream/club/outcome.go",
		Old:  `	case sent == 0:`,
		New:  `	case sent == 0 || status == 0:`,
	}}},
	{Name: "believe-any-2xx", Description: "any 2xx counts as the club system's own, even a firewall's page", Edits: []Edit{{
		File: "upstream/club/outcome.go",
		Old: `	case response.isPage():
		return false
`,
		New: `	case response.ok():
		return true
`,
	}}},
	{Name: "no-sweep", Description: "no sweep polls a payment whose webhook was lost", Edits: []Edit{{
		File: "flows/store/due.go",
		Old:  `KEYS[1], 0, ARGV[1], 'LIMIT'`,
		New:  `KEYS[1], 0, '(0', 'LIMIT'`,
	}}},
	{Name: "no-rebuild", Description: "data that Redis lost is not rebuilt from the processor", Edits: []Edit{{
		File: "flows/payment/rebuild.go",
		Old:  `		switch err := m.restore(ctx, group); {`,
		New:  `		switch err := error(nil); {`,
	}}},
	{
		Name:        "any-record-matches",
		Description: "a record without a processor's id matches any payment with its number, even of another method",
		Edits: []Edit{{
			File: "flows/payment/rebuild.go",
			Old:  `	return p.HasProcessor() && (p.ProcessorID == processorID || p.State == flows.Priced && p.ProcessorID == "")`,
			New:  `	return p.ProcessorID == processorID || p.ProcessorID == ""`,
		}},
	},
	{Name: "rebuilt-for-all", Description: "a rebuilt registration, whose holders Redis lost, is served to any caller", Edits: []Edit{{
		File: "flows/registration.go",
		Old:  `	return isHolder || r.Rebuilt && signed`,
		New:  `	return isHolder || r.Rebuilt || signed`,
	}}},
	{Name: "state-unlisted", Description: "a transition does not move the payment in the operators' list", Edits: []Edit{{
		File: "flows/store/payment.go",
		Old:  `if KEYS[3] and ARGV[8] == '0' then`,
		New:  `if KEYS[3] and ARGV[8] == 'never' then`,
	}, {
		File: "flows/store/due.go",
		Old:  `redis.call('ZADD', KEYS[2], ARGV[5], ARGV[3], ARGV[1])`,
		New:  `redis.call('ZADD', KEYS[2], 'NX', ARGV[3], ARGV[1])`,
	}}},
	{Name: "stored-decline", Description: "a decline is returned as stored, without polling the processor", Edits: []Edit{{
		File: "flows/registration/refresh.go",
		Old:  `	if p == nil || !p.Declined() {`,
		New:  `	if p == nil || p.ID != "" {`,
	}}},
	{Name: "paid-twice-unseen", Description: "the contact's debt is not read again after a payment was recorded", Edits: []Edit{{
		File: "flows/payment/protocol/after.go",
		Old:  `	return !due.IsZero() && !due.After(d.now)`,
		New:  `	return due.IsZero() && due.After(d.now)`,
	}}},
	{Name: "unsettled-unseen", Description: "the sale of a recorded payment is not read again", Edits: []Edit{{
		File: "flows/payment/protocol/after.go",
		Old:  "	case sale == nil && (open || debt):\n		return ReadSale\n",
		New:  "	case sale == nil && (open || debt):\n		return \"\"\n",
	}}},
	{Name: "difference-unread", Description: "what staff refunded at the processor is not compared with the recorded payment", Edits: []Edit{{
		File: "flows/payment/protocol/after.go",
		Old:  `		next.Difference = Difference(payment, remote)`,
		New:  `		_ = Difference(payment, remote)`,
	}}},
	{Name: "refund-believed", Description: "a refund that was made counts as final, even if the bank returns the money", Edits: []Edit{{
		File: "flows/payment/protocol/after.go",
		Old:  `	case remote.Refunding > 0, remote.Disputed`,
		New:  `	case remote.State == cards.Captured, remote.Disputed`,
	}}},
	{Name: "no-brake", Description: "cards are charged although the club system records no payment", Edits: []Edit{{
		File: "flows/payment/brake.go",
		Old:  `	left, err := m.cfg.Store.AskBrake(ctx, request)`,
		New: `	left, err := m.cfg.Store.AskBrake(ctx, request)
	left = 0`,
	}}},
	{Name: "brake-forgiving", Description: "cards are charged in an outage when payments were recorded shortly before", Edits: []Edit{{
		File: "flows/store/brake.go",
		Old:  `math.min(pace(now) / ARGV[9], tonumber(ARGV[8]))`,
		New:  `pace(now)`,
	}}},
	{Name: "restriction-doubted", Description: "a payment that the club system refuses for a restriction is in doubt", Edits: []Edit{{
		File: "flows/payment/protocol/record.go",
		Old:  `	return d.release(d.endUnrecorded(next, "the club system refused it for a restriction"+d.f.Post.Seen))`,
		New:  `	return d.write(next, flows.InDoubt, "the club system refused it for a restriction")`,
	}}},
	{Name: "refund-forgotten", Description: "a payment that was certainly not recorded is cancelled, and its money stays taken",
		Edits: []Edit{{
			File: "flows/payment/protocol/record.go",
			Old:  `		return d.write(next, flows.RefundDue, reason)`,
			New:  `		return d.write(next, flows.Cancelled, reason)`,
		}}},
	{Name: "restriction-forgotten", Description: "a cart that the club system refuses for a restriction can be paid again", Edits: []Edit{{
		File: "flows/cart.go",
		Old:  `	return r.endedUnpaid(payment) && payment.IsRestricted() && payment.CartRevision == r.Cart.Revision()`,
		New:  `	return r.endedUnpaid(payment) && payment.IsRestricted() && payment.CartRevision == ""`,
	}}},
	{Name: "block-undecidable", Description: "an operator cannot have a blocked payment refunded", Edits: []Edit{{
		File: "flows/payment/protocol/decide.go",
		Old:  "	case choice == GiveBack:\n		return d.refundBlocked()",
		New:  "	case choice == \"never\":\n		return d.refundBlocked()",
	}}},
	{Name: "capture-whenever", Description: "a payment whose capture has begun is captured however late", Edits: []Edit{{
		File: "flows/payment/protocol/capture.go",
		Old:  "left, known := d.brake()\n\ttooOld := d.authorisedTooLong()",
		New:  "left, known := d.brake()\n\ttooOld := false",
	}}},
	{Name: "pending-code-free", Description: "a code that is being checked does not stop another account or another code", Edits: []Edit{{
		File: "flows/signature.go",
		Old:  `	return s.AcceptsCode() && (`,
		New:  `	return s.Sequence < 0 && s.AcceptsCode() && (`,
	}}},
	{Name: "unsigned-webhook", Description: "the signature of an event is not verified", Edits: []Edit{{
		File: "upstream/cards/webhook.go",
		Old:  `header.Get(SignatureHeader), body); err != nil {`,
		New:  `header.Get(SignatureHeader), body); err != nil && len(body) == 0 {`,
	}}},
	{Name: "repeats-of-a-minute", Description: "two purchases of one buyer within a minute do not see each other", Edits: []Edit{{
		File: "flows/registration/purchase.go",
		Old:  `			if purchased {`,
		New:  `			if purchased && s.cfg.Now().Sub(other.At) > time.Minute {`,
	}}},
	{Name: "key-any-body", Description: "an idempotency key replays the response even for a different body", Edits: []Edit{{
		File: "flows/store/idempotency.go",
		Old:  `if not same then return {'reused'} end`,
		New:  ``,
	}}},
	{Name: "no-priority", Description: "buyers who have begun to pay are turned away like newcomers", Edits: []Edit{{
		File: "handlers/admission.go",
		Old:  `	share, limited := shares[kind]`,
		New:  `	share, limited := shares[newcomers]`,
	}, {
		File: "handlers/admission.go",
		Old:  `	if _, limited := shares[kind]; !limited {`,
		New:  `	if _, limited := shares[newcomers]; !limited {`,
	}}},
	{Name: "no-deadline", Description: "calls to the club system have no time limit of their own", Edits: []Edit{{
		File: "upstream/club/retry.go",
		Old:  `	ctx, cancel := context.WithTimeout(ctx, total)`,
		New:  `	ctx, cancel := context.WithTimeout(ctx, 100*total)`,
	}, {
		File: "upstream/club/retry.go",
		Old:  `context.WithTimeout(ctx, each)`,
		New:  `context.WithTimeout(ctx, 100*each)`,
	}}},
	{Name: "no-retry-budget", Description: "calls to the club system are repeated, however many of them fail", Edits: []Edit{{
		File: "upstream/club/retry.go",
		Old:  `pause >= total || !bulkhead.budget.spend(bulkhead.reserve) {`,
		New:  `pause >= total {`,
	}}},
}
