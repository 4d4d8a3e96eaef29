package handlers

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"

	"frontdesk/flows"
	"frontdesk/flows/store"
)

// mostAddresses bounds what the buckets of this process take: some ten megabytes. Who
// has more addresses than that at once is not stopped by counting them.
const mostAddresses = 1 << 16

// buckets count requests in this process.
type buckets struct {
	of  limit
	now func() time.Time
	by  *otter.Cache[string, *rate.Limiter]
}

// newBuckets makes the buckets of a limit. One that nobody touched until it was full again is as good as none.
func newBuckets(of limit, now func() time.Time) *buckets {
	return &buckets{of: of, now: now, by: otter.Must(&otter.Options[string, *rate.Limiter]{
		MaximumSize: mostAddresses, ExpiryCalculator: otter.ExpiryAccessing[string, *rate.Limiter](of.Within),
	})}
}

// take counts a request.
func (b *buckets) take(who string) store.Taken {
	bucket, ok := b.by.GetIfPresent(who)
	if !ok {
		// Whoever comes at the same moment finds the first one's.
		bucket, _ = b.by.SetIfAbsent(who, rate.NewLimiter(rate.Limit(float64(b.of.Requests)/b.of.Within.Seconds()), b.of.Requests))
	}
	now := b.now()
	taken := store.Taken{Allowed: bucket.AllowN(now, 1)}
	left := bucket.TokensAt(now)
	taken.Left = max(0, int(left))
	wait := func(tokens float64) time.Duration {
		return time.Duration(tokens / float64(bucket.Limit()) * float64(time.Second))
	}
	taken.ResetAfter = wait(float64(b.of.Requests) - left)
	if !taken.Allowed {
		taken.RetryAfter = wait(1 - left)
	}
	return taken
}

// limit turns away who asks too often, before anything else is done for them. It
// tells how much is left in RateLimit and RateLimit-Policy, structured fields as the
// IETF draft has them since its eighth version (draft-ietf-httpapi-ratelimit-headers).
//
// When Redis is away, what is counted there is refused: money, codes and new
// registrations cannot do without Redis anyway, so a count that failed open would
// serve nobody but who waits for that moment. Reads are counted here, and go on.
func (s *Server) limit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.buckets == nil {
			return next(c)
		}
		s.noticeProxy(c.Request())
		staff, _ := s.isStaff(c.Request()) // a key that is wrong is told of later
		if !staff {
			c.SetRequest(c.Request().WithContext(flows.FromAddress(c.Request().Context(), s.addressOf(c))))
		}
		header := c.Response().Header()
		for _, l := range limits[c.Request().Method+" "+c.Path()] {
			taken, counted, err := s.take(c, l, staff)
			switch {
			case err != nil:
				return err
			case !counted:
				continue
			}
			header.Add("RateLimit-Policy", l.policy())
			header.Add("RateLimit", strconv.Quote(l.name)+";r="+strconv.Itoa(taken.Left)+";t="+seconds(taken.ResetAfter))
			if !taken.Allowed {
				return &flows.Error{Code: flows.RateLimited, RetryAfter: taken.RetryAfter, Detail: tooOften[l.of]}
			}
		}
		return next(c)
	}
}

// tooOften says to a person what was counted.
var tooOften = map[subject]string{
	perAddress:      "There were too many requests from this address.",
	perAddressOfAll: "There were too many requests of this kind from this address.",
	perHolder:       "There were too many changes in a short time.",
}

// take counts a request under a limit, unless it is nobody's whom that counts.
func (s *Server) take(c echo.Context, l limit, staff bool) (taken store.Taken, counted bool, err error) {
	who := ""
	switch l.of {
	case perAddress:
		return s.buckets.take(s.addressOf(c)), true, nil
	case perAddressOfAll:
		if staff {
			return taken, false, nil
		}
		who = "address " + s.addressOf(c)
	case perHolder:
		if who = s.holderOf(c); who == "" {
			return taken, false, nil
		}
	}
	taken, err = s.cfg.Store.TakeRequest(c.Request().Context(), l.name, who, l.Rate)
	return taken, true, err
}

// holderOf names who holds what a request is about: the registration whose token it
// shows, or else the token of the club's login. Empty for everybody else, who is
// refused soon.
func (s *Server) holderOf(c echo.Context) string {
	token := bearerOf(c.Request())
	id := c.Param("id")
	if cookie, err := c.Cookie(s.cookieName(id)); err == nil && token == "" {
		token = cookie.Value
	}
	switch {
	case id == "" && token != "":
		digest := sha256.Sum256([]byte(token))
		return "token " + hex.EncodeToString(digest[:])
	case id != "" && s.cfg.Registrations.Issued(id, token):
		return "registration " + id
	}
	return ""
}

// seconds is a time to wait, in whole seconds.
func seconds(d time.Duration) string {
	return strconv.Itoa(int(math.Ceil(max(0, d.Seconds()))))
}
