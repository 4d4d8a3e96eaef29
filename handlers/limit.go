package handlers

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"frontdesk/flows/store"
)

// limit is how often something may be asked for. It is a bucket: so many requests
// at once, and it fills again at an even pace.
type limit struct {
	name string // in the headers and in openapi.yaml
	store.Rate
	per subject
}

// subject says whose requests a limit counts.
type subject string

const (
	// perAddress counts what comes from one address (an IPv6 network of one customer), in each gateway by itself:
	// the shield of the process, which no request has to ask Redis for.
	perAddress subject = "address"
	// perAddressShared counts by address over all gateways, in Redis. Staff are not counted: a club's
	// kiosk signs up everybody from one address.
	perAddressShared subject = "address of all"
	// perHolder counts what the holder of a registration does, whatever device they use, over all gateways, in Redis; for
	// an identified contact, what they do with one token. Nobody else can use it up: without the token it is not counted.
	perHolder subject = "holder"
)

// The limits. What costs an SMS is counted by person, phone, address and club as
// well, once it is certain that one is sent: flows/sms.go.
var (
	// requests: 60 a minute is a page that is loaded twice as often as one can look at
	// it; 120 at once is a household, or a shop's guests, behind one address.
	requests = limit{"requests", store.Rate{Requests: 120, Period: 2 * time.Minute}, perAddress}
	// starts: a registration may make a contact at the club, which nobody takes away
	// again; 20 an hour is more people than sign up from one guest network.
	starts = limit{"starts", store.Rate{Requests: 20, Period: time.Hour}, perAddressShared}
	// writes: ten a minute is somebody who changes their mind at every step; each is up to six calls to the club system.
	writes = limit{"writes", store.Rate{Requests: 10, Period: time.Minute}, perHolder}
	// payments: five wishes to pay in ten minutes are three declined cards and two slips;
	// who tries out stolen cards needs many more.
	payments = limit{"payments", store.Rate{Requests: 5, Period: 10 * time.Minute}, perHolder}
)

// limits is the one table of how often what may be called. A route without an
// entry keeps the edge from starting, and so does one of which openapi.yaml does
// not say the same. Empty: no limit, and it says why.
var limits = map[string][]limit{
	"GET /v1/clubs":                                       {requests},
	"GET /v1/clubs/:clubId/products":                      {requests},
	"GET /v1/clubs/:clubId/offers/:offerId/schedule":      {requests},
	"GET /v1/clubs/:clubId/debit-days":                    {requests},
	"POST /v1/registrations":                              {requests, starts},
	"GET /v1/registrations/:id":                           {requests},
	"DELETE /v1/registrations/:id":                        {requests, writes},
	"PUT /v1/registrations/:id/person":                    {requests, writes},
	"POST /v1/registrations/:id/items":                    {requests, writes},
	"DELETE /v1/registrations/:id/items":                  {requests, writes},
	"POST /v1/registrations/:id/check":                    {requests, writes}, // it changes nothing, and costs the club system as much
	"POST /v1/registrations/:id/resume-link":              {requests, writes},
	"POST /v1/resumptions":                                {requests, starts},
	"GET /v1/registrations/:id/events":                    {requests},
	"POST /v1/registrations/:id/mandate":                  {requests, writes},
	"POST /v1/registrations/:id/mandate/signature":        {requests, writes}, // and five codes for each SMS
	"DELETE /v1/registrations/:id/mandate/signature":      {requests, writes},
	"POST /v1/registrations/:id/mandate/signature/resend": {requests, writes},
	"POST /v1/registrations/:id/prospect":                 {requests, writes},
	"POST /v1/registrations/:id/payment":                  {requests, writes, payments},
	"GET /v1/registrations/:id/payment":                   {requests},
	"GET /v1/me":                                          {requests},
	"GET /v1/me/consents":                                 {requests},
	"PATCH /v1/me/consents":                               {requests, writes},
	"POST /v1/me/transfer":                                {requests, writes},
	"POST /v1/me/transfer/signature":                      {requests, writes},
	"POST /v1/webhooks/card":                              {}, // an event that is refused may never come again; what is forged ends at its signature
	"POST /v1/webhooks/club/:secret":                      {}, // likewise; its secret is in its path
	"GET /healthz":                                        {}, // load balancers ask all the time
	"GET /readyz":                                         {},
	"GET /openapi.yaml":                                   {}, // from memory, which costs no more than the refusal
	"GET /docs":                                           {},
}

// policyHeader describes the limit in the form of RateLimit-Policy.
func (l limit) policyHeader() string {
	return strconv.Quote(l.name) + ";q=" + strconv.Itoa(l.Requests) + ";w=" + seconds(l.Period)
}

// rateLimitHeader describes what is left of the limit in the form of RateLimit.
func (l limit) rateLimitHeader(taken store.RateStatus) string {
	return strconv.Quote(l.name) + ";r=" + strconv.Itoa(taken.Remaining) + ";t=" + seconds(taken.ResetAfter)
}

// compareLimits holds the table, the routes and the contract's answers equal: what
// is limited says 429 there, with each limit's figures, and nothing else does.
func (s *Server) compareLimits(routes []*echo.Route) error {
	var problems []error
	routed := map[string]bool{}
	for _, route := range routes {
		name := route.Method + " " + route.Path
		routed[name] = true
		of, ok := limits[name]
		if !ok {
			problems = append(problems, fmt.Errorf("%s has no limit: say in limit.go how often it may be called, or why as often as one likes", name))
			continue
		}
		op := s.operations[name]
		if op.Operation == nil {
			continue // compareRoutes tells
		}
		said := op.Operation.Responses.Value("429")
		if (said != nil) != (len(of) > 0) {
			problems = append(problems, fmt.Errorf("%s has %d limits, but openapi.yaml has an answer 429 there: %t", name, len(of), said != nil))
			continue
		}
		for _, l := range of {
			if told := said.Value.Description; told == nil || !strings.Contains(*told, "`"+l.policyHeader()+"`") {
				problems = append(problems, fmt.Errorf("%s: the answer 429 in openapi.yaml does not tell of %s", name, l.policyHeader()))
			}
		}
	}
	for name := range limits {
		if !routed[name] {
			problems = append(problems, fmt.Errorf("%s has a limit, but is not routed", name))
		}
	}
	return errors.Join(problems...)
}
