package payment

import (
	"cmp"
	"fmt"

	"frontdesk/flows"
)

// The idempotency keys of our calls to the card processor. It replays the first response to a
// repeated key, so two places that make the same call must use the same key.

// creationKey gives each generation of a sale one payment. The registration is part of it
// because a club system restored from a backup reuses the numbers of sales.
func creationKey(p *flows.Payment) string {
	return fmt.Sprintf("payment:%s:%s:%d", p.Registration, p.Sale, p.Generation)
}

func captureKey(p *flows.Payment) string { return "capture:" + string(p.ID) }

func cancelKey(p *flows.Payment) string { return "cancel:" + string(p.ID) }

// refundKey changes with each retry that an operator requests, because a refusal is replayed too.
func refundKey(p *flows.Payment) string { return "refund:" + cmp.Or(p.RefundRetry, string(p.ID)) }

// journalKey is for the n-th entry of a kind in the processor's journal: claim, done, release or
// op. It has the processor's id, because Redis may know the payment under two names.
func journalKey(kind string, p *flows.Payment, n int) string {
	return fmt.Sprintf("%s:%s:%d", kind, p.ProcessorID, n)
}
