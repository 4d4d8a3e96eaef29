package sandbox

import (
	"encoding/json"
	"maps"
	"slices"
)

// object is an object of the API.
type object = map[string]any

// rendering makes an object when it is written. It refers to nothing that changes, so it can be stored.
type rendering func() object

// MarshalJSON writes the object.
func (r rendering) MarshalJSON() ([]byte, error) { return json.Marshal(r()) }

// orNull returns a value, or null for a zero one.
func orNull[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}

// expansion is what a call asks for instead of its id, and what a caller may not see.
type expansion uint8

const (
	withCharge expansion = 1 << iota
	withRefunds
	withoutMetadata // a buyer's browser
)

// listOf returns a page of a list.
func listOf(url string, page []rendering, more bool) object {
	return object{"object": "list", "url": url, "has_more": more, "data": append([]rendering{}, page...)} // [], not null
}

// rendered renders the payment intent as it is now.
func (v view) rendered(expand expansion) rendering {
	return func() object {
		capturable, capture := int64(0), "automatic_async"
		if v.status == requiresCapture {
			capturable = v.amount
		}
		if v.manual {
			capture = "manual"
		}
		out := object{
			"object": "payment_intent", "id": v.id, "amount": v.amount, "amount_capturable": capturable, "amount_received": v.captured,
			"automatic_payment_methods": nil, "canceled_at": orNull(v.canceledAt), "cancellation_reason": orNull(v.cancellationReason),
			"capture_method": capture, "client_secret": v.clientSecret(), "confirmation_method": "automatic", "created": v.created.Unix(),
			"currency": v.currency, "customer": nil, "description": orNull(v.description), "last_payment_error": orNull(v.lastError),
			"latest_charge": nil, "livemode": v.account.live, "metadata": v.metadata.texts(), "next_action": v.nextAction(),
			"payment_method": orNull(v.method), "payment_method_types": append([]string{}, v.types...), "processing": nil, "status": v.status,
		}
		if c := v.charge(); c != nil && expand&withCharge != 0 {
			out["latest_charge"] = v.renderedCharge(c, expand)() // a rendering within one is written twice
		} else if c != nil {
			out["latest_charge"] = c.id
		}
		if expand&withoutMetadata != 0 {
			delete(out, "metadata")
		}
		maps.Copy(out, v.distorted)
		return out
	}
}

// nextAction is what the buyer's browser must do.
func (v view) nextAction() any {
	switch {
	case v.status != requiresAction:
		return nil
	case v.pending == nil || v.pending.bankURL == "":
		return object{"type": "use_stripe_sdk", "use_stripe_sdk": object{"type": "stripe_3ds2_fingerprint"}}
	}
	return object{"type": "redirect_to_url", "redirect_to_url": object{"return_url": v.pending.returnURL, "url": v.pending.bankURL}}
}

// renderedCharge renders a charge, and its refunds, newest first, if they are asked for.
func (v view) renderedCharge(charge *charge, expand expansion) rendering {
	return func() object {
		details := object{}
		out := object{
			"object": "charge", "id": charge.id, "amount": v.amount, "amount_captured": int64(0), "amount_refunded": int64(0), "captured": false,
			"created": charge.created.Unix(), "currency": v.currency, "disputed": charge.disputed, "failure_code": nil, "failure_message": nil,
			"livemode": v.account.live, "metadata": charge.metadata.texts(), "paid": charge.failed == nil, "payment_intent": v.id,
			"payment_method": charge.card.method, "payment_method_details": object{"type": charge.card.kind, charge.card.kind: details},
			"refunded": false, "status": succeeded,
		}
		var refunds []rendering
		if charge == v.charge() {
			back, _ := v.refundsIn(succeeded)
			pending, _ := v.refundsIn("pending")
			back += pending // which count
			out["captured"], out["amount_captured"] = v.captured > 0, v.captured
			out["refunded"], out["amount_refunded"] = back > 0 && back == v.captured, back
			for _, r := range slices.Backward(v.refunds) {
				refunds = append(refunds, v.renderedRefund(r))
			}
		}
		if charge.reversed {
			out["refunded"], out["amount_refunded"] = true, v.amount
		}
		if charge.failed != nil {
			out["status"], out["failure_code"], out["failure_message"] = "failed", charge.failed.Code, charge.failed.Message
		} else if !charge.captureBefore.IsZero() && v.manual && out["captured"] == false {
			details["capture_before"] = charge.captureBefore.Unix()
		}
		if expand&withoutMetadata != 0 {
			delete(out, "metadata")
		}
		if expand&withRefunds != 0 {
			out["refunds"] = listOf("/v1/charges/"+charge.id+"/refunds", refunds, false)
		}
		return out
	}
}

func (v view) renderedRefund(refund *refund) rendering {
	return func() object {
		out := object{
			"object": "refund", "id": refund.id, "amount": refund.amount, "charge": v.charge().id, "created": refund.created.Unix(),
			"currency": v.currency, "metadata": object{}, "payment_intent": v.id, "reason": orNull(refund.reason), "status": refund.status,
		}
		switch refund.status {
		case "pending":
			out["pending_reason"] = "processing"
		case "failed":
			out["failure_reason"] = "unknown"
		}
		return out
	}
}

func (v view) renderedDispute(id string) rendering {
	return func() object {
		return object{
			"object": "dispute", "id": id, "amount": v.captured, "charge": v.charge().id, "currency": v.currency, "livemode": v.account.live,
			"metadata": object{}, "payment_intent": v.id, "reason": "fraudulent", "status": "needs_response",
		}
	}
}
