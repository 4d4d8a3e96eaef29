package sandbox

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// encoder is JSON that grows by its methods, which return it as append does.
type encoder []byte

// rendering appends an object. It refers to nothing that changes.
type rendering = func(encoder) encoder

// expansion is what a call asks for instead of its id, and what a caller may not see.
type expansion uint8

const (
	withCharge expansion = 1 << iota
	withRefunds
	withoutMetadata // a buyer's browser
)

// open begins an object of the API, whose members all follow a comma.
func (b encoder) open(kind string) encoder {
	return append(append(append(b, `{"object":"`...), kind...), '"')
}

func (b encoder) end() encoder { return append(b, '}') }

// name appends a comma and the name of a member.
func (b encoder) name(name string) encoder {
	return append(append(append(b, `,"`...), name...), `":`...)
}

func (b encoder) text(name, value string) encoder { return appendText(b.name(name), value) }

func (b encoder) textOrNull(name, value string) encoder { return b.name(name).orNull(value) }

// orNull appends a value, or null for an empty one.
func (b encoder) orNull(value string) encoder {
	if value == "" {
		return append(b, "null"...)
	}
	return appendText(b, value)
}

func (b encoder) number(name string, value int64) encoder {
	return strconv.AppendInt(b.name(name), value, 10)
}

func (b encoder) numberOrNull(name string, value int64) encoder {
	if value == 0 {
		return b.null(name)
	}
	return b.number(name, value)
}

func (b encoder) truth(name string, value bool) encoder {
	return strconv.AppendBool(b.name(name), value)
}

// raw appends JSON as it is.
func (b encoder) raw(name, value string) encoder { return append(b.name(name), value...) }

// null appends members that are always null here.
func (b encoder) null(names ...string) encoder {
	for _, name := range names {
		b = b.raw(name, "null")
	}
	return b
}

func (b encoder) texts(name string, values []string) encoder {
	b = append(b.name(name), '[')
	for i, value := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, value)
	}
	return append(b, ']')
}

func (b encoder) metadata(m metadata) encoder {
	b = append(b.name("metadata"), '{')
	first := true
	for key, value := range m.each {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendText(append(appendText(b, key), ':'), value)
	}
	return append(b, '}')
}

// appendText appends a string. Most have nothing to escape.
func appendText(b encoder, value string) encoder {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			escaped, _ := json.Marshal(value) // a string can always be encoded
			return append(b, escaped...)
		}
	}
	return append(append(append(b, '"'), value...), '"')
}

// rendered renders the payment as it is now.
func (v view) rendered(x expansion) rendering {
	return func(b encoder) encoder { return v.append(b, x) }
}

// append renders the payment intent as the API does.
func (v view) append(b encoder, x expansion) encoder {
	if v.distorted != nil {
		return v.appendDistorted(b, x)
	}
	capturable, capture := int64(0), "automatic_async"
	if v.status == requiresCapture {
		capturable = v.amount
	}
	if v.manual {
		capture = "manual"
	}
	b = b.open("payment_intent").text("id", v.id).number("amount", v.amount).number("amount_capturable", capturable).
		number("amount_received", v.captured).null("automatic_payment_methods").numberOrNull("canceled_at", v.canceledAt).
		textOrNull("cancellation_reason", v.cancellationReason).text("capture_method", capture).text("client_secret", v.clientSecret()).
		text("confirmation_method", "automatic").number("created", v.created.Unix()).text("currency", v.currency).null("customer").
		textOrNull("description", v.description).truth("livemode", v.account.live)
	if v.lastError == nil {
		b = b.null("last_payment_error")
	} else {
		b = v.lastError.append(b.name("last_payment_error"))
	}
	switch c := v.charge(); {
	case c == nil:
		b = b.null("latest_charge")
	case x&withCharge != 0:
		b = v.appendCharge(b.name("latest_charge"), c, x)
	default:
		b = b.text("latest_charge", c.id)
	}
	if x&withoutMetadata == 0 {
		b = b.metadata(v.metadata)
	}
	b = v.appendNextAction(b.name("next_action"))
	return b.textOrNull("payment_method", v.method).texts("payment_method_types", v.types).null("processing").text("status", v.status).end()
}

// appendNextAction renders what the buyer's browser must do.
func (v view) appendNextAction(b encoder) encoder {
	switch {
	case v.status != requiresAction:
		return append(b, "null"...)
	case v.pending == nil || v.pending.bankURL == "":
		return append(b, `{"type":"use_stripe_sdk","use_stripe_sdk":{"type":"stripe_3ds2_fingerprint"}}`...)
	}
	b = appendText(append(b, `{"type":"redirect_to_url","redirect_to_url":{"return_url":`...), v.pending.returnURL)
	return append(b.text("url", v.pending.bankURL), "}}"...)
}

// appendDistorted renders a payment with the fields that a test has replaced.
func (v view) appendDistorted(b encoder, x expansion) encoder {
	whole := *v.state
	whole.distorted = nil
	fields := map[string]any{}
	_ = json.Unmarshal(view{v.made, &whole}.append(nil, x), &fields) // it is what append makes
	for field, value := range v.distorted {
		fields[field] = value
	}
	out, err := json.Marshal(fields)
	if err != nil {
		panic(err) // of a value that has no JSON
	}
	return append(b, out...)
}

// renderedCharge renders the latest charge, as events do.
func (v view) renderedCharge() rendering {
	return func(b encoder) encoder { return v.appendCharge(b, v.charge(), 0) }
}

// appendCharge renders a charge, and its refunds, newest first, if they are asked for.
func (v view) appendCharge(b encoder, c *charge, x expansion) encoder {
	captured, refunded, status := int64(0), int64(0), succeeded
	if c == v.charge() {
		captured = v.captured
		back, _ := v.refundsIn(succeeded)
		pending, _ := v.refundsIn("pending")
		refunded = back + pending // pending ones count
	}
	whole := captured > 0 && refunded == captured
	if c.reversed {
		refunded, whole = v.amount, true
	}
	b = b.open("charge").text("id", c.id).number("amount", v.amount).number("amount_captured", captured).number("amount_refunded", refunded).
		truth("captured", captured > 0).number("created", c.created.Unix()).text("currency", v.currency).truth("disputed", c.disputed)
	if c.failed != nil {
		status = "failed"
		b = b.text("failure_code", c.failed.Code).text("failure_message", c.failed.Message)
	} else {
		b = b.null("failure_code", "failure_message")
	}
	b = b.truth("livemode", v.account.live)
	if x&withoutMetadata == 0 {
		b = b.metadata(c.metadata)
	}
	b = b.truth("paid", c.failed == nil).text("payment_intent", v.id).text("payment_method", c.card.method)
	b = append(b, `,"payment_method_details":{"type":"`+c.card.kind+`","`+c.card.kind+`":{`...)
	if !c.captureBefore.IsZero() && c.failed == nil && v.manual && captured == 0 {
		b = append(b, `"capture_before":`...)
		b = strconv.AppendInt(b, c.captureBefore.Unix(), 10)
	}
	b = append(b, "}}"...).truth("refunded", whole).text("status", status)
	if x&withRefunds != 0 {
		b = append(b.name("refunds"), `{"object":"list","url":"/v1/charges/`+c.id+`/refunds","has_more":false,"data":[`...)
		if c == v.charge() {
			for i, r := range slices.Backward(v.refunds) {
				if b = v.appendRefund(b, r); i > 0 {
					b = append(b, ',')
				}
			}
		}
		b = append(b, "]}"...)
	}
	return b.end()
}

func (v view) appendRefund(b encoder, r *refund) encoder {
	b = b.open("refund").text("id", r.id).number("amount", r.amount).text("charge", v.charge().id).number("created", r.created.Unix()).
		text("currency", v.currency)
	switch r.status {
	case "pending":
		b = b.text("pending_reason", "processing")
	case "failed":
		b = b.text("failure_reason", "unknown")
	}
	return b.raw("metadata", "{}").text("payment_intent", v.id).textOrNull("reason", r.reason).text("status", r.status).end()
}

// renderedList renders a page of a list.
func renderedList[T any](url string, data []T, more bool, item func(encoder, T) encoder) rendering {
	return func(b encoder) encoder {
		b = b.open("list").text("url", url).truth("has_more", more)
		b = append(b.name("data"), '[')
		for i, each := range data {
			if i > 0 {
				b = append(b, ',')
			}
			b = item(b, each)
		}
		return append(b, "]}"...)
	}
}
