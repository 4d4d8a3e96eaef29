package cmd

import (
	"encoding/json"
	"strings"
)

// mcpTool is what a coding agent can do: one call of a control endpoint.
type mcpTool struct {
	name string
	does string // for the agent, which knows nothing else of it
	// call is a method and a path. An argument whose name is in braces there replaces it. The others are parameters of a GET,
	// members of another request's body.
	call      string
	arguments []mcpArgument
	body      string // the argument that is the body instead of one of its members; empty: none
	snapshot  bool   // the body, of the response to a GET, else of the request, is the file that the argument name names
}

type mcpArgument struct {
	name, kind string // kind is a type of JSON Schema
	does       string
	optional   bool
}

var (
	worldArgument = mcpArgument{
		name: "world", kind: "string", optional: true,
		does: "demo, or demo- and letters, digits, dots, underscores or hyphens; created at first use. Without it: the server's.",
	}
	paymentArgument = mcpArgument{
		name: "payment", kind: "string", does: "The processor's id of the payment: pi_…, or the client secret that begins with it.",
	}
	snapshotArgument = mcpArgument{name: "name", kind: "string", does: "Letters, digits, underscores and hyphens."}
)

// mcpTools are all tools.
var mcpTools = []mcpTool{
	{
		name: "reset_world", call: "POST /sim/{world}/_control/reset",
		does: "Puts a world back to its start: its registrations, contacts, sales, messages, ledger, faults, clock and settings, and its " +
			"card payments.",
	},
	{
		name: "delete_world", call: "DELETE /sim/{world}/_control/",
		does: "Deletes a world with all that it has. The next request that names it makes a new one.",
	},
	{
		name: "list_personas", call: "GET /sim/{world}/_control/personas",
		does: "Lists the people that the clubs know (a member, a debtor, a banned one, a minor …), each with a login token, " +
			"identityToken, for the header Authorization: Bearer of the API.",
	},
	{
		name: "list_sms", call: "GET /sim/{world}/_control/sms",
		does: "Lists the SMS that were sent, the newest last, with their codes: what a visitor enters to sign a mandate or a transfer.",
	},
	{
		name: "list_mails", call: "GET /sim/{world}/_control/mail",
		does: "Lists the mails that arrived, the newest last: recipient, subject, text, HTML and attachments.",
	},
	{
		name: "read_ledger", call: "GET /sim/{world}/_control/ledger",
		does: "Lists the payments that the club system has recorded, in cents. Compare with it whether a signup was paid once.",
	},
	{
		name: "read_audit", call: "GET /sim/{world}/_control/audit",
		does: "Checks a world's records: ok is false if a sale was paid twice, a payment settled nothing or an SMS was not delivered.",
	},
	{
		name: "list_requests", call: "GET /sim/{world}/_control/requests",
		does: "Lists the calls that the club system has received, with status and the fault that hit them. Long: use the arguments.",
		arguments: []mcpArgument{
			{name: "after", kind: "integer", optional: true, does: "Only calls after this number."},
			{name: "traceId", kind: "string", optional: true, does: "Only calls of this trace: the 32 digits in the caller's traceparent."},
		},
	},
	{
		name: "get_faults", call: "GET /sim/{world}/_control/faults", does: "Lists the faults that are set, with how often each has hit.",
	},
	{
		name: "set_faults", call: "PUT /sim/{world}/_control/faults", body: "faults",
		does: "Replaces the faults of a world; an empty list ends all of them. Calls of the club system that match fail " +
			"as they say; a path that begins with /v1/ is one of the gateway, with the kinds problem (with code), delay, hang and drop_after.",
		arguments: []mcpArgument{{
			name: "faults", kind: "array",
			does: `Such as [{"match": {"method": "POST", "path": "/sales/*/payments"}, "kind": "drop_after", "times": 1}], which loses ` +
				`the response to the recording of a payment. A * in the path is one segment. Kinds: error_before (nothing done), error_after, ` +
				`drop_after, delay (with delayMs), hang, malformed, foreign_page, foreign_json, empty_success, unauthorized_once, too_many. ` +
				`Optional: status, times, probability.`,
		}},
	},
	{
		name: "get_clock", call: "GET /sim/{world}/_control/clock", does: "Reads a world's time.",
	},
	{
		name: "set_clock", call: "PUT /sim/{world}/_control/clock",
		does: "Moves a world's time, with what depends on it, such as the end of a registration: give one of the two arguments.",
		arguments: []mcpArgument{
			{name: "now", kind: "string", optional: true, does: "An instant, such as 2030-01-15T10:00:00Z."},
			{name: "advance", kind: "string", optional: true, does: "A duration, such as P1M, P14D or PT2H."},
		},
	},
	{
		name: "get_settings", call: "GET /sim/{world}/_control/settings", does: "Reads how the club system behaves.",
	},
	{
		name: "set_settings", call: "PUT /sim/{world}/_control/settings", body: "settings",
		does: "Changes how the club system behaves; what the argument leaves out stays as it is.",
		arguments: []mcpArgument{{
			name: "settings", kind: "object",
			does: `Members as get_settings returns them, such as {"smsCode": {"fixed": "123456"}}, {"withdrawnOffers": ["201"]} or ` +
				`{"askRepeats": true}.`,
		}},
	},
	{
		name: "emit_event", call: "POST /sim/{world}/_control/events",
		does: "Sends an event of the club system, and changes its records accordingly.",
		arguments: []mcpArgument{
			{name: "event", kind: "string", does: "Its name, such as contact.updated; a wrong one is refused with the list of names."},
			{name: "object", kind: "object", does: "The ids of its object, as the event has them."},
		},
	},
	{
		name: "save_snapshot", call: "GET /sim/{world}/_control/state", arguments: []mcpArgument{snapshotArgument}, snapshot: true,
		does: "Saves a world under a name, with its registrations and card payments, to restore it later.",
	},
	{
		name: "restore_snapshot", call: "PUT /sim/{world}/_control/state", arguments: []mcpArgument{snapshotArgument}, snapshot: true,
		body: "state",
		does: "Puts a world back to a snapshot of save_snapshot. Another world takes over the club system alone.",
	},
	{
		name: "list_payments", call: "GET /sandbox/payments?world={world}",
		does: "Lists a world's payments at the sandbox card processor, with state and amount in cents.",
	},
	{
		name: "confirm_payment", call: "POST /sandbox/payments/{payment}/confirm",
		does: "Pays with a card, as the buyer does in the processor's fields.",
		arguments: []mcpArgument{paymentArgument, {
			name: "card", kind: "string",
			does: "4242424242424242 succeeds, 4000000000000002 is declined, 4000000000009995 has insufficient funds, 4000002500003155 needs " +
				"answer_challenge.",
		}},
	},
	{
		name: "answer_challenge", call: "POST /sandbox/payments/{payment}/challenge",
		does: "Answers the question of the buyer's bank (3-D Secure) about a payment whose state is requires_action.",
		arguments: []mcpArgument{paymentArgument, {
			name: "approve", kind: "boolean", does: "Whether the buyer approves.",
		}},
	},
	{
		name: "get_card_settings", call: "GET /sandbox/settings?world={world}", does: "Reads how the card processor behaves in a world.",
	},
	{
		name: "set_card_settings", call: "PUT /sandbox/settings?world={world}", body: "settings",
		does: "Replaces how the card processor behaves in a world; what the argument leaves out has its default.",
		arguments: []mcpArgument{{
			name: "settings", kind: "object",
			does: `Such as {"webhooks": "drop"} (normal, drop, duplicate, late, reorder), {"refunds": "refused"} (or pending), ` +
				`{"errors": "after"} (or before), {"confirmations": "processing"}, {"captures": "processing"}.`,
		}},
	},
}

// reads reports whether the tool changes nothing.
func (tool mcpTool) reads() bool { return strings.HasPrefix(tool.call, "GET ") }

// all are the tool's arguments; world is one of each that acts on a world.
func (tool mcpTool) all() []mcpArgument {
	if strings.Contains(tool.call, "{world}") {
		return append([]mcpArgument{worldArgument}, tool.arguments...)
	}
	return tool.arguments
}

// MarshalJSON writes the tool as the protocol's tools/list has it.
func (tool mcpTool) MarshalJSON() ([]byte, error) {
	properties, required := map[string]any{}, []string{}
	for _, argument := range tool.all() {
		property := map[string]any{"type": argument.kind, "description": argument.does}
		if argument.kind == "array" {
			property["items"] = map[string]any{"type": "object"}
		}
		properties[argument.name] = property
		if !argument.optional {
			required = append(required, argument.name)
		}
	}
	return json.Marshal(map[string]any{
		"name": tool.name, "description": tool.does,
		"inputSchema": map[string]any{
			"type": "object", "properties": properties, "required": required, "additionalProperties": false,
		},
		"annotations": map[string]any{"readOnlyHint": tool.reads(), "openWorldHint": false},
	})
}
