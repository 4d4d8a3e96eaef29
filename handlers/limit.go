package handlers

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"

	"frontdesk/flows"
	"frontdesk/flows/registration"
	"frontdesk/flows/store"
)

// limit is a bucket of requests that refills at an even pace.
type limit struct {
	name string // in the headers and in openapi.yaml
	store.Rate
	per subject
}

// subject says whose requests a limit counts: it is the detail of a refusal.
type subject = flows.DetailCode

const (
	// perAddress counts by address (and by the networks of an IPv6 address), in each gateway separately.
	// It shields the process without asking Redis.
	perAddress subject = flows.DetailRequestsOfAddress
	// perAddressShared counts by address over all gateways, in Redis. Staff are not counted: a
	// club's kiosk signs up every visitor from one address.
	perAddressShared subject = flows.DetailRequestsOfKind
	// perHolder counts what the holder of a registration does from any device, over all gateways,
	// in Redis; for an identified contact, what they do with one token. Requests without the token
	// do not count.
	perHolder subject = flows.DetailChangesTooFast
)

// The limits. SMS codes are also counted by person, phone, address and club when one is certain
// to be sent: flows/registration.
var (
	// requests: 60 a minute is a page that is loaded twice as often as a person can read it;
	// 120 at once is a household, or a shop's guests, behind one address.
	requests = limit{"requests", store.Rate{Requests: 120, Period: 2 * time.Minute}, perAddress}
	// starts: a registration may create a contact at the club, which is never deleted, and a statement is work for its staff; 20 an
	// hour is more people than sign up from one guest network.
	starts = limit{"starts", store.Rate{Requests: 20, Period: time.Hour}, perAddressShared}
	// writes: ten a minute is a visitor who changes their mind at every step; each is up to six
	// calls to the club system.
	writes = limit{"writes", store.Rate{Requests: 10, Period: time.Minute}, perHolder}
	// people: other details of a buyer are another contact at the club, which is never deleted; 30 an hour is more than
	// anyone corrects.
	people = limit{"people", store.Rate{Requests: 30, Period: time.Hour}, perHolder}
	// payments: five in ten minutes are three declined cards and two slips; trying out stolen
	// cards takes many more.
	payments = limit{"payments", store.Rate{Requests: 5, Period: 10 * time.Minute}, perHolder}
)

func (l limit) policyHeader() string {
	return strconv.Quote(l.name) + ";q=" + strconv.Itoa(l.Requests) + ";w=" + seconds(l.Period)
}

// addTo reports the limit and what is left of it in RateLimit and RateLimit-Policy, as the IETF
// draft has them since its eighth version (draft-ietf-httpapi-ratelimit-headers).
func (l limit) addTo(header http.Header, taken store.RateStatus) {
	header.Add("RateLimit-Policy", l.policyHeader())
	header.Add("RateLimit", strconv.Quote(l.name)+";r="+strconv.Itoa(taken.Remaining)+";t="+seconds(taken.ResetAfter))
}

// seconds rounds up.
func seconds(d time.Duration) string {
	return strconv.Itoa(int(math.Ceil(max(0, d.Seconds()))))
}

// maxAddresses limits the buckets of this process to a few megabytes. Counting does not stop an
// attacker with more addresses at once.
const maxAddresses = 1 << 16

// buckets count requests in this process: *rate.Limiter by address. They share the response
// cache's instance of the library's generic type.
type buckets struct{ byAddress *otter.Cache[any, any] }

// newBuckets returns full buckets. One that is idle for the period is full again, and is dropped.
func newBuckets() *buckets {
	return &buckets{otter.Must(&otter.Options[any, any]{
		MaximumSize: maxAddresses, ExpiryCalculator: otter.ExpiryAccessing[any, any](requests.Period),
	})}
}

// take counts a request from an address under the limit requests.
func (b *buckets) take(networks []flows.ClientNetwork, at time.Time) store.RateStatus {
	taken, _ := tightest(networks, func(network flows.ClientNetwork) (store.RateStatus, error) { return b.takeOf(network, at), nil })
	return taken
}

// tightest counts a request against each network of its caller until one refuses, and returns the
// status with the fewest requests left.
func tightest(
	networks []flows.ClientNetwork, take func(flows.ClientNetwork) (store.RateStatus, error),
) (least store.RateStatus, err error) {
	for i, network := range networks {
		taken, err := take(network)
		if err != nil {
			return taken, err
		}
		if i == 0 || !taken.Allowed || taken.Remaining < least.Remaining {
			least = taken
		}
		if !least.Allowed {
			break
		}
	}
	return least, nil
}

func (b *buckets) takeOf(network flows.ClientNetwork, at time.Time) store.RateStatus {
	most := requests.Requests * network.Share
	perSecond := float64(most) / requests.Period.Seconds()
	bucket, _ := b.byAddress.ComputeIfAbsent(network.Name, func() (any, bool) {
		return rate.NewLimiter(rate.Limit(perSecond), most), false
	})
	limiter := bucket.(*rate.Limiter)
	allowed, tokens := limiter.AllowN(at, 1), limiter.TokensAt(at)
	until := func(level float64) time.Duration {
		return time.Duration((level - tokens) / perSecond * float64(time.Second))
	}
	taken := store.RateStatus{Allowed: allowed, Remaining: int(tokens), ResetAfter: until(float64(most))}
	if !allowed {
		taken.RetryAfter = until(1)
	}
	return taken
}

// limit refuses callers who exceed a limit, before any other work.
//
// When Redis does not respond, requests that are counted there are refused: payments, codes and
// new registrations need Redis anyway, and failing open would help only an attacker who waits
// for it. Reads are counted in this process and continue.
func (s *Server) limit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.buckets == nil {
			return next(c)
		}
		networks := s.clientNetworks(c.Request())
		staff, _ := s.isStaff(c.Request())                  // resolveCaller reports a wrong key
		if !staff && c.Request().Method != http.MethodGet { // a read sends no code
			c.SetRequest(c.Request().WithContext(registration.WithClientNetworks(c.Request().Context(), networks)))
		}
		hidden := s.operationOf(c).shared && s.mayShare(c.Request()) // what is left for one visitor is not for the next
		for _, limit := range routes[c.Request().Method+" "+c.Path()].limits {
			taken, counted, err := s.take(c, limit, networks, staff)
			switch {
			case err != nil:
				return err
			case !counted:
				continue
			}
			if !hidden || !taken.Allowed {
				limit.addTo(c.Response().Header(), taken)
			}
			if !taken.Allowed {
				return &flows.Error{Code: flows.RateLimited, RetryAfter: taken.RetryAfter, Detail: limit.per}
			}
		}
		return next(c)
	}
}

// take counts a request under a limit, if that limit counts the caller.
func (s *Server) take(
	c echo.Context, limit limit, networks []flows.ClientNetwork, staff bool,
) (taken store.RateStatus, counted bool, err error) {
	ctx := c.Request().Context()
	switch limit.per {
	case perAddress:
		return s.buckets.take(networks, exchangeOf(ctx).At), true, nil
	case perAddressShared:
		if staff {
			return taken, false, nil
		}
		taken, err = tightest(networks, func(network flows.ClientNetwork) (store.RateStatus, error) {
			rate := store.Rate{Requests: limit.Requests * network.Share, Period: limit.Period}
			return s.cfg.Store.TakeRequest(ctx, limit.name, "address "+network.Name, rate)
		})
		return taken, true, err
	}
	who := s.holderOf(c)
	if who == "" {
		return taken, false, nil
	}
	taken, err = s.cfg.Store.TakeRequest(ctx, limit.name, who, limit.Rate)
	return taken, true, err
}

// holderOf names the registration whose token a request has, or else its token of the club's
// login. It is empty for other callers, which a later middleware refuses.
func (s *Server) holderOf(c echo.Context) string {
	token, _ := bearerToken(c.Request())
	id := c.Param("id")
	if cookie, err := c.Cookie(s.cookieName(id)); err == nil && token == "" {
		token = cookie.Value
	}
	switch {
	case id == "" && token != "":
		digest := sha256.Sum256([]byte(token))
		return "token " + hex.EncodeToString(digest[:])
	case id != "" && s.cfg.Registrations.TokenIssued(id, token):
		return "registration " + id
	}
	return ""
}
