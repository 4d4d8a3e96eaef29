package handlers

import (
	"errors"
	"fmt"
	"strings"

	"github.com/labstack/echo/v4"
)

// access says who may call a route.
type access uint8

// The kinds of callers. A route may admit several.
const (
	anyone     access = 1 << iota // nothing is asked of the caller
	holder                        // who has the registration's token; to everybody else it does not exist
	identified                    // a contact for whom the club's own login vouches
	staff                         // a kiosk or the desk, with a staff key
	webhook                       // another system, known by its signature or its secret path
)

// accessTable is the one table of who may call what. The edge does not start with a
// route that is missing here, nor when openapi.yaml says anything else.
var accessTable = map[string]access{
	"GET /v1/clubs":                                       anyone,
	"GET /v1/clubs/:clubId/products":                      anyone | identified,
	"GET /v1/clubs/:clubId/offers/:offerId/schedule":      anyone,
	"GET /v1/clubs/:clubId/debit-days":                    anyone,
	"POST /v1/registrations":                              anyone | identified | staff,
	"GET /v1/registrations/:id":                           holder,
	"DELETE /v1/registrations/:id":                        holder,
	"PUT /v1/registrations/:id/person":                    holder,
	"POST /v1/registrations/:id/items":                    holder,
	"DELETE /v1/registrations/:id/items":                  holder,
	"POST /v1/registrations/:id/check":                    holder,
	"POST /v1/registrations/:id/resume-link":              holder,
	"POST /v1/resumptions":                                anyone,
	"GET /v1/registrations/:id/events":                    holder,
	"POST /v1/registrations/:id/mandate":                  holder,
	"POST /v1/registrations/:id/mandate/signature":        holder,
	"DELETE /v1/registrations/:id/mandate/signature":      holder,
	"POST /v1/registrations/:id/mandate/signature/resend": holder,
	"POST /v1/registrations/:id/prospect":                 holder,
	"POST /v1/registrations/:id/payment":                  holder | staff,
	"GET /v1/registrations/:id/payment":                   holder,
	"GET /v1/me":                                          identified,
	"GET /v1/me/consents":                                 identified,
	"PATCH /v1/me/consents":                               identified,
	"POST /v1/me/transfer":                                identified,
	"POST /v1/me/transfer/signature":                      identified,
	"POST /v1/webhooks/card":                              webhook,
	"POST /v1/webhooks/club/:secret":                      webhook,
	"GET /healthz":                                        anyone,
	"GET /readyz":                                         anyone,
	"GET /openapi.yaml":                                   anyone,
	"GET /docs":                                           anyone,
}

// schemeAccess says which security schemes of the contract stand for which caller.
var schemeAccess = map[string]access{"token": holder, "session": holder, "identity": identified, "staffKey": staff,
	"sandboxSignature": webhook, "stripeSignature": webhook}

// webhookPrefix are the routes of other systems. A proof that is part of the path
// has no word in the contract's language, so that anybody seems to be admitted there.
const webhookPrefix = "/v1/webhooks/"

// compareAccess holds the table, the routes and the contract's security equal.
func (s *Server) compareAccess(routes []*echo.Route) error {
	var problems []error
	routed := map[string]bool{}
	for _, route := range routes {
		name := route.Method + " " + route.Path
		routed[name] = true
		policy, ok := accessTable[name]
		if !ok {
			problems = append(problems, fmt.Errorf("%s has no policy: say in policy.go who may call it", name))
			continue
		}
		if said := s.operations[name].access(); said != policy {
			problems = append(problems, fmt.Errorf("%s admits %s, but openapi.yaml says %s", name, policy, said))
		}
	}
	for name := range accessTable {
		if !routed[name] {
			problems = append(problems, fmt.Errorf("%s has a policy, but is not routed", name))
		}
	}
	return errors.Join(problems...)
}

// access reads the contract's security of an operation.
func (op operation) access() (who access) {
	if op.Operation == nil {
		return 0
	}
	requirements := op.Spec.Security
	if op.Operation.Security != nil {
		requirements = *op.Operation.Security
	}
	for _, requirement := range requirements {
		if len(requirement) == 0 {
			who |= anyone
		}
		for scheme := range requirement {
			who |= schemeAccess[scheme]
		}
	}
	switch {
	case strings.HasPrefix(op.Path, webhookPrefix):
		return who&^anyone | webhook
	case len(requirements) == 0:
		return anyone
	}
	return who
}

// String lists the callers, for people who have to mend the table.
func (a access) String() string {
	var names []string
	for i, name := range []string{"anyone", "holder", "identified", "staff", "webhook"} {
		if a&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return "[" + strings.Join(names, " ") + "]"
}
