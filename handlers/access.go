package handlers

import (
	"strings"
)

// access says who may call a route.
type access uint8

// The kinds of callers. A route may admit several.
const (
	anyone     access = 1 << iota
	holder            // of the registration's token; for others it does not exist
	identified        // a contact with a token of the club's own login
	staff             // a kiosk or the desk, with a staff key
	webhook           // another system, known by its signature or its secret path
)

// schemeAccess maps the security schemes of the contract to callers.
var schemeAccess = map[string]access{"token": holder, "session": holder, "identity": identified, "staffKey": staff,
	"sandboxSignature": webhook, "stripeSignature": webhook}

// webhookPrefix begins the routes of other systems. OpenAPI cannot describe a secret in a path, so
// the contract seems to admit anyone there.
const webhookPrefix = "/v1/webhooks/"

// access reads the contract's security of an operation.
func (op operation) access() (callers access) {
	requirements := op.Spec.Security
	if op.Operation.Security != nil {
		requirements = *op.Operation.Security
	}
	for _, requirement := range requirements {
		if len(requirement) == 0 {
			callers |= anyone
		}
		for scheme := range requirement {
			callers |= schemeAccess[scheme]
		}
	}
	switch {
	case strings.HasPrefix(op.Path, webhookPrefix):
		return callers&^anyone | webhook
	case len(requirements) == 0:
		return anyone
	}
	return callers
}

// String lists the callers, for messages about the table.
func (a access) String() string {
	var names []string
	for i, name := range []string{"anyone", "holder", "identified", "staff", "webhook"} {
		if a&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return "[" + strings.Join(names, " ") + "]"
}
