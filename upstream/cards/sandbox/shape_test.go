package sandbox_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/stripe/stripe-go/v85"

	"frontdesk/upstream/cards/sandbox"
)

// shapes are the objects of the API in the company's library, which is generated from its description of the API.
var shapes = map[string]reflect.Type{
	"payment_intent": reflect.TypeFor[stripe.PaymentIntent](), "charge": reflect.TypeFor[stripe.Charge](),
	"refund":  reflect.TypeFor[stripe.Refund](),
	"dispute": reflect.TypeFor[stripe.Dispute](), "account": reflect.TypeFor[stripe.Account](), "event": reflect.TypeFor[stripe.Event](),
	"webhook_endpoint": reflect.TypeFor[stripe.WebhookEndpoint](), "payment_method": reflect.TypeFor[stripe.PaymentMethod](),
	"list": reflect.TypeFor[struct {
		Object  string `json:"object"`
		URL     string `json:"url"`
		HasMore bool   `json:"has_more"`
		Data    []any  `json:"data"`
	}](),
}

// TestEveryShape walks payments through all statuses, and compares every object, error and event with the company's library:
// each member exists there, and has its type.
func TestEveryShape(t *testing.T) {
	t.Parallel()
	seen := &shapeCheck{T: t, objects: map[string]bool{}}
	cfg := inProcess
	cfg.Deliver = func(d sandbox.Delivery) { seen.check(d.Body); seen.objects[d.Type] = true }
	walk := newWalk(t, cfg)
	walk.SetEndpoints(sandbox.Endpoint{URL: hooks},
		sandbox.Endpoint{URL: hooks, APIVersion: "2024-06-20", Events: []string{"charge.refund.updated"}})
	call := func(what string, params ...string) {
		t.Helper()
		method, path, _ := strings.Cut(what, " ")
		body := strings.NewReader(strings.Join(params, "&"))
		r := must(http.NewRequestWithContext(t.Context(), method, walk.URL+strings.ReplaceAll(path, "{id}", walk.id), body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "Bearer "+walk.SecretKey)
		seen.check(must(io.ReadAll(must(walk.RoundTrip(r)).Body)))
	}
	const get, confirm = "GET /v1/payment_intents/{id}?expand[]=latest_charge.refunds", "POST /v1/payment_intents/{id}/confirm"
	const visa = "payment_method=pm_card_visa"
	const asked, back = "payment_method=pm_card_authenticationRequired", "return_url=https://club.example/back"

	call("POST /v1/payment_intents", "amount=4990", "currency=eur", "capture_method=manual", "description=Club",
		"payment_method_types[]=card", "metadata[a]=b")
	call("POST /v1/payment_intents", "amount=1", "currency=eur")
	for _, settings := range []sandbox.Settings{
		{}, {Captures: "processing"}, {Confirmations: "processing"}, {Refunds: "pending", Challenges: "modal"},
	} {
		walk.with(settings)
		walk.fresh("")
		call(get)
		call(confirm, asked, back)
		call(get)
		_, _ = walk.Approve(walk.id, false)
		call(get)
		call(confirm, "payment_method=pm_card_visa_chargeDeclined")
		call(confirm, visa)
		call(get)
		call("POST /v1/payment_intents/{id}/capture", "amount_to_capture=4000")
		call(get)
		_, _ = walk.Approve(walk.id, true)
		call("POST /v1/refunds", "payment_intent="+walk.id, "amount=990", "reason=requested_by_customer")
		_, _ = walk.SettleRefund(walk.id, "failed")
		_, _ = walk.Dispute(walk.id)
		call(get)
		call("POST /v1/refunds", "payment_intent="+walk.id)
		call("POST /v1/payment_intents/{id}/cancel", "cancellation_reason=abandoned")
		walk.fresh("pm_card_visa")
		_, _ = walk.Expire(walk.id)
		call(get)
	}
	call("GET /v1/payment_intents?limit=3&expand[]=data.latest_charge.refunds")
	for _, what := range []string{
		"GET /v1/charges", "GET /v1/account", "GET /v1/webhook_endpoints", "GET /v1/payment_intents/pi_none", "GET /v1/none",
	} {
		call(what)
	}
	for _, want := range []string{
		"list", "account", "webhook_endpoint", "dispute", "refund", "charge", "payment_method", "card_error", "invalid_request_error",
		"requires_payment_method", "requires_action", "processing", "requires_capture", "succeeded", "canceled",
		"payment_intent.created", "payment_intent.requires_action", "payment_intent.processing", "payment_intent.payment_failed",
		authorised, taken, "payment_intent.canceled", "charge.succeeded", "charge.failed", "charge.captured", "charge.expired", "charge.refunded",
		"charge.refund.updated", "charge.dispute.created", "refund.created", "refund.failed",
	} {
		if !seen.objects[want] {
			t.Errorf("%s was not seen: the test proves nothing of it", want)
		}
	}
}

// shapeCheck compares JSON with the company's library.
type shapeCheck struct {
	*testing.T
	objects map[string]bool // kinds of objects, statuses, and types of errors and events that were seen
}

func (c *shapeCheck) check(body []byte) {
	c.Helper()
	var value map[string]any
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&value); err != nil {
		c.Fatalf("%v: %s", err, body)
	}
	if refusal, ok := value["error"].(map[string]any); ok && len(value) == 1 {
		c.compare("error", refusal, reflect.TypeFor[stripe.Error]())
		c.objects[refusal["type"].(string)] = true
		return
	}
	c.compare("", value, nil)
}

// compare checks a value at a path. An object that names its kind is compared with that kind, whatever the type of the field.
func (c *shapeCheck) compare(path string, value any, as reflect.Type) {
	c.Helper()
	for as != nil && as.Kind() == reflect.Pointer {
		as = as.Elem()
	}
	right := true
	switch value := value.(type) {
	case map[string]any:
		if kind, ok := value["object"].(string); ok {
			as, c.objects[kind] = shapes[kind], true
			if as == nil {
				c.Fatalf("%s is a %s, which no test knows", path, kind)
			}
			if status, ok := value["status"].(string); ok && kind == "payment_intent" {
				c.objects[status] = true
			}
			path = kind
		}
		if as == nil || as.Kind() != reflect.Struct || as.NumField() == 0 { // metadata, and what only the processor's script reads
			right = as != nil && as.Kind() != reflect.Slice
			break
		}
		fields := map[string]reflect.Type{"object": reflect.TypeFor[string]()}
		for _, field := range reflect.VisibleFields(as) {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
				fields[name] = field.Type
			}
		}
		for name, member := range value {
			if fields[name] == nil {
				c.Errorf("%s has no member %s", path, name)
			}
			if path == "event" && name == "data" {
				c.compare(path, member.(map[string]any)["object"], nil)
			} else {
				c.compare(path+"."+name, member, fields[name])
			}
		}
	case []any:
		if right = as.Kind() == reflect.Slice; right {
			for _, item := range value {
				c.compare(path+"[]", item, as.Elem())
			}
		}
	case string: // also the id of an object that is not expanded
		right = as.Kind() == reflect.String || as.Kind() == reflect.Struct
	case float64:
		right = as.Kind() == reflect.Int64 || as.Kind() == reflect.Float64
	case bool:
		right = as.Kind() == reflect.Bool
	}
	if !right {
		c.Errorf("%s is a %s in the library, and here %v", path, as, value)
	}
}
