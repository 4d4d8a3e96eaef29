package handlers

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"frontdesk/flows"
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
	"GET /v1/clubs/:clubId":                               {anyone, []limit{requests}},
	"GET /v1/clubs/:clubId/products":                      {anyone | identified | staff, []limit{requests}},
	"GET /v1/clubs/:clubId/offers/:offerId":               {anyone | identified | staff, []limit{requests}},
	"GET /v1/clubs/:clubId/offers/:offerId/schedule":      {anyone | identified | staff, []limit{requests}},
	"GET /v1/clubs/:clubId/debit-days":                    {anyone, []limit{requests}},
	"GET /v1/clubs/:clubId/documents":                     {anyone, []limit{requests}},
	"GET " + documentRoute:                                {anyone, []limit{requests}},
	"POST /v1/registrations":                              {anyone | identified | staff, []limit{requests, starts}},
	"GET /v1/registrations/current":                       {holder, []limit{requests}}, // by its cookie
	"GET /v1/registrations/:id":                           {holder | staff, []limit{requests}},
	"DELETE /v1/registrations/:id":                        {holder | staff, []limit{requests, writes}},
	"PUT /v1/registrations/:id/person":                    {holder | staff, []limit{requests, writes, people}},
	"PATCH /v1/registrations/:id/person":                  {holder | staff, []limit{requests, writes, people}},
	"PUT /v1/registrations/:id/guardian":                  {holder | staff, []limit{requests, writes, people}},
	"GET /v1/registrations/:id/consents":                  {holder, []limit{requests}},
	"PATCH /v1/registrations/:id/consents":                {holder, []limit{requests, writes}},
	"POST /v1/registrations/:id/items":                    {holder | staff, []limit{requests, writes}},
	"DELETE /v1/registrations/:id/items":                  {holder | staff, []limit{requests, writes}},
	"DELETE /v1/registrations/:id/items/:itemId":          {holder | staff, []limit{requests, writes}},
	"GET /v1/registrations/:id/schedule":                  {holder, []limit{requests}},
	"GET /v1/registrations/:id/confirmation":              {holder, []limit{requests}},
	"POST /v1/registrations/:id/check":                    {holder, []limit{requests, writes}}, // as expensive for the club system as a write
	"POST /v1/registrations/:id/resume-link":              {holder, []limit{requests, writes}},
	"POST /v1/resumptions":                                {anyone | staff, []limit{requests, starts}},
	"DELETE /v1/registrations/:id/session":                {holder, []limit{requests, writes}},
	"GET /v1/registrations/:id/events":                    {holder | staff, []limit{requests}},
	"POST /v1/registrations/:id/mandate":                  {holder | staff, []limit{requests, writes}},
	"POST /v1/registrations/:id/mandate/signature":        {holder | staff, []limit{requests, writes}}, // and five codes for each SMS
	"DELETE /v1/registrations/:id/mandate/signature":      {holder | staff, []limit{requests, writes}},
	"POST /v1/registrations/:id/mandate/signature/resend": {holder | staff, []limit{requests, writes}},
	"POST /v1/registrations/:id/prospect":                 {holder | staff, []limit{requests, writes}},
	"POST /v1/registrations/:id/payment":                  {holder | staff, []limit{requests, writes, payments}},
	"DELETE /v1/registrations/:id/payment":                {holder | staff, []limit{requests, writes}},
	"GET " + cardPageRoute:                                {anyone, []limit{requests}}, // with the proof in the path
	"GET /v1/me":                                          {identified, []limit{requests}},
	"GET /v1/me/memberships":                              {identified, []limit{requests}},
	"GET /v1/me/consents":                                 {identified, []limit{requests}},
	"PATCH /v1/me/consents":                               {identified, []limit{requests, writes}},
	"GET /v1/me/transfer":                                 {identified, []limit{requests}},
	"POST /v1/me/transfer":                                {identified, []limit{requests, writes}},
	"POST /v1/me/transfer/signature":                      {identified, []limit{requests, writes}},
	"POST /v1/withdrawals":                                {anyone | identified | staff, []limit{requests, starts}},
	"POST /v1/withdrawals/:statementId/confirm":           {anyone, []limit{requests}},
	"POST /v1/cancellations":                              {anyone | identified | staff, []limit{requests, starts}},
	"POST /v1/cancellations/:statementId/confirm":         {anyone, []limit{requests}},
	"POST /v1/webhooks/card":                              {webhook, nil}, // a refused event may never come again; a forged one fails
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
			problems = append(problems, listed.compareAccess(name, op), listed.compareLimits(name, op), listed.compareProblems(name, op))
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
		return fmt.Errorf("%s has %d limits, but openapi.yaml has a 429 response there: %t", name, len(r.limits), refusal != nil)
	}
	for _, l := range r.limits {
		if text := refusal.Value.Description; text == nil || !strings.Contains(*text, "`"+l.policyHeader()+"`") {
			return fmt.Errorf("%s: the 429 response in openapi.yaml does not document %s", name, l.policyHeader())
		}
	}
	return nil
}

// compareProblems compares the problem codes that the contract lists for a route with those that the
// middleware answers with there. The end-to-end tests compare the codes of the services, as they come.
func (r route) compareProblems(name string, op operation) error {
	webhook := strings.HasPrefix(op.Path, webhookPrefix)
	hasBody := op.Operation.RequestBody != nil && !webhook
	for code, can := range map[flows.Code]bool{
		flows.Internal: true, flows.MalformedRequest: true, flows.TooLarge: true, flows.StaffKeyUnknown: true,
		flows.InvalidRequest:       strings.HasPrefix(op.Path, "/v1/") && !webhook,
		flows.UnsupportedMediaType: hasBody, flows.CardNumberRefused: hasBody,
		flows.TokenRequired:        r.access&holder != 0,
		flows.RegistrationNotFound: r.access&holder != 0 || hasHeader(op.Operation, "Set-Cookie"), // a session may have ended
		flows.ClubNotFound:         strings.Contains(op.Path, "{clubId}"), flows.OfferNotFound: strings.Contains(op.Path, "{offerId}"),
		flows.NotFound: strings.Contains(op.Path, "{itemId}") || strings.Contains(op.Path, "{secret}") ||
			strings.Contains(op.Path, "{proof}") || strings.Contains(op.Path, "{statementId}") || strings.Contains(op.Path, "{sha256}"),
		flows.ForbiddenOrigin:     strings.Contains(op.Path, "{id}") && op.Method != http.MethodGet,
		flows.NotIdentified:       r.access&identified != 0,
		flows.IdentityUnavailable: r.access&identified != 0 || hasBody && op.bodySchema().Properties["identityToken"] != nil,
		flows.KeyReused:           op.takesKey, flows.KeyInUse: op.takesKey,
		flows.ChallengeRequired: op.needsCaptcha,
		flows.RateLimited:       len(r.limits) > 0,
		// A limit of the API gateway in front of the club system can hold back every operation that calls it.
		flows.Overloaded: shares[classOf(op.Method, op.Path)] > 0 || slices.Contains(op.codes, flows.ClubSystemUnavailable),
	} {
		if slices.Contains(op.codes, code) != can {
			return fmt.Errorf("%s can answer %s: %t, but openapi.yaml says otherwise in x-problem-codes", name, code, can)
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
	"stripeSignature": webhook}

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
