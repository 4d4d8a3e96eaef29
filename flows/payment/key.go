package payment

import (
	"cmp"
	"fmt"
	"strconv"

	"frontdesk/flows"
)

// The idempotency keys of our calls to the card processor. It replays the first response to a
// repeated key, so two places that make the same call must use the same key. Keys have the
// processor's id, because Redis may know the payment under two names, and two under one.

// creationKey gives each generation of a sale one payment. The registration is part of it
// because a club system restored from a backup reuses the numbers of sales.
func creationKey(p *flows.Payment) string {
	return numbered(fmt.Sprintf("payment:%s:%s:%d", p.Registration, p.Sale, p.Generation), p.UsedKeys)
}

func captureKey(p *flows.Payment) string { return numbered("capture:"+p.ProcessorID, p.UsedKeys) }

func cancelKey(p *flows.Payment) string { return numbered("cancel:"+p.ProcessorID, p.UsedKeys) }

// refundKey changes with each retry that an operator requests, because a refusal is replayed too.
func refundKey(p *flows.Payment) string {
	return numbered("refund:"+cmp.Or(p.RefundRetry, p.ProcessorID), p.UsedKeys)
}

// journalKey is for the n-th entry of a kind in the processor's journal: claim, done, release or op.
func journalKey(kind string, p *flows.Payment, n int) string {
	return fmt.Sprintf("%s:%s:%d", kind, p.ProcessorID, n)
}

// numbered returns a call's key after some of its keys were used up.
func numbered(key string, used int) string {
	if used == 0 {
		return key
	}
	return key + ":" + strconv.Itoa(used+1)
}
