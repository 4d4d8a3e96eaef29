package handlers

import (
	"strconv"
	"time"

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

// policyHeader describes the limit in the form of RateLimit-Policy.
func (l limit) policyHeader() string {
	return strconv.Quote(l.name) + ";q=" + strconv.Itoa(l.Requests) + ";w=" + seconds(l.Period)
}

// rateLimitHeader describes what is left of the limit in the form of RateLimit.
func (l limit) rateLimitHeader(taken store.RateStatus) string {
	return strconv.Quote(l.name) + ";r=" + strconv.Itoa(taken.Remaining) + ";t=" + seconds(taken.ResetAfter)
}
