package handlers

import (
	"errors"
	"fmt"
	"strings"
)

// route says who may call a route, and how often.
type route struct {
	access access
	limits []limit // nil: there are none
}

// routes is the table of routes. The server does not start when it differs from the router or from
// openapi.yaml.
var routes = map[string]route{
	"GET /v1/config":                                      {anyone, []limit{requests}},
	"GET /v1/clubs":                                       {anyone, []limit{requests}},
	"GET /v1/clubs/:clubId/products":                      {anyone | identified, []limit{requests}},
	"GET /v1/clubs/:clubId/offers/:offerId/schedule":      {anyone, []limit{requests}},
	"GET /v1/clubs/:clubId/debit-days":                    {anyone, []limit{requests}},
	"POST /v1/registrations":                              {anyone | identified | staff, []limit{requests, starts}},
	"GET /v1/registrations/:id":                           {holder, []limit{requests}},
	"DELETE /v1/registrations/:id":                        {holder, []limit{requests, writes}},
	"PUT /v1/registrations/:id/person":                    {holder, []limit{requests, writes}},
	"PATCH /v1/registrations/:id/person":                  {holder, []limit{requests, writes}},
	"POST /v1/registrations/:id/items":                    {holder, []limit{requests, writes}},
	"DELETE /v1/registrations/:id/items":                  {holder, []limit{requests, writes}},
	"DELETE /v1/registrations/:id/items/:itemId":          {holder, []limit{requests, writes}},
	"POST /v1/registrations/:id/check":                    {holder, []limit{requests, writes}}, // no write, but as expensive for the club system
	"POST /v1/registrations/:id/resume-link":              {holder, []limit{requests, writes}},
	"POST /v1/resumptions":                                {anyone, []limit{requests, starts}},
	"GET /v1/registrations/:id/events":                    {holder, []limit{requests}},
	"POST /v1/registrations/:id/mandate":                  {holder, []limit{requests, writes}},
	"POST /v1/registrations/:id/mandate/signature":        {holder, []limit{requests, writes}}, // and five codes for each SMS
	"DELETE /v1/registrations/:id/mandate/signature":      {holder, []limit{requests, writes}},
	"POST /v1/registrations/:id/mandate/signature/resend": {holder, []limit{requests, writes}},
	"POST /v1/registrations/:id/prospect":                 {holder, []limit{requests, writes}},
	"POST /v1/registrations/:id/payment":                  {holder | staff, []limit{requests, writes, payments}},
	"GET /v1/registrations/:id/payment":                   {holder, []limit{requests}},
	"DELETE /v1/registrations/:id/payment":                {holder, []limit{requests, writes}},
	"GET /v1/me":                                          {identified, []limit{requests}},
	"GET /v1/me/consents":                                 {identified, []limit{requests}},
	"PATCH /v1/me/consents":                               {identified, []limit{requests, writes}},
	"POST /v1/me/transfer":                                {identified, []limit{requests, writes}},
	"POST /v1/me/transfer/signature":                      {identified, []limit{requests, writes}},
	"POST /v1/webhooks/card":                              {webhook, nil}, // a refused event may never come again; a forged one fails at its signature
	"POST /v1/webhooks/club/:secret":                      {webhook, nil}, // likewise; the secret is in the path
	"GET /healthz":                                        {anyone, nil},  // load balancers call it all the time
	"GET /readyz":                                         {anyone, nil},
	"GET /openapi.json":                                   {anyone, nil},
	"GET /openapi.yaml":                                   {anyone, nil}, // from memory, as cheap as a refusal
	"GET /docs":                                           {anyone, nil},
}

// compareRoutes compares the router, the table and the contract, both ways.
func (s *Server) compareRoutes() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	routed := map[string]bool{}
	for _, r := range s.router.Routes() {
		name := r.Method + " " + r.Path
		routed[name] = true
		listed, ok := routes[name]
		op, documented := s.operations[name]
		switch {
		case !ok:
			add("%s is routed, but not in routes.go", name)
		case !documented:
			add("%s is routed, but not in openapi.yaml", name)
		default:
			problems = append(problems, listed.compareAccess(name, op), listed.compareLimits(name, op))
		}
	}
	for name := range s.operations {
		if !routed[name] {
			add("%s is in openapi.yaml, but not routed", name)
		}
	}
	for name := range routes {
		if !routed[name] {
			add("%s is in routes.go, but not routed", name)
		}
	}
	return errors.Join(problems...)
}

// compareAccess compares the callers of a route with the contract's security.
func (r route) compareAccess(name string, op operation) error {
	if documented := op.access(); documented != r.access {
		return fmt.Errorf("%s admits %s, but openapi.yaml says %s", name, r.access, documented)
	}
	return nil
}

// compareLimits compares the limits of a route with the contract's 429: a limited route has one, which
// names each limit, and no other route does.
func (r route) compareLimits(name string, op operation) error {
	refusal := op.Operation.Responses.Value("429")
	if (refusal != nil) != (len(r.limits) > 0) {
		return fmt.Errorf("%s has %d limits, but openapi.yaml has an answer 429 there: %t", name, len(r.limits), refusal != nil)
	}
	for _, l := range r.limits {
		if text := refusal.Value.Description; text == nil || !strings.Contains(*text, "`"+l.policyHeader()+"`") {
			return fmt.Errorf("%s: the answer 429 in openapi.yaml does not tell of %s", name, l.policyHeader())
		}
	}
	return nil
}

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
