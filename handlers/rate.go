package handlers

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
	"frontdesk/flows/signature"
	"frontdesk/flows/store"
)

// maxAddresses bounds the buckets of this process to some megabytes. An attacker with more
// addresses at once is not stopped by counting them.
const maxAddresses = 1 << 16

// bucketShards keep requests on many cores from waiting for each other.
const bucketShards = 64

// buckets count requests in this process, by address. A bucket is the time at which it will be
// full again; the rest follows, because it fills evenly (the generic cell rate algorithm). A full
// bucket need not be stored.
type buckets struct {
	of     limit
	each   time.Duration // the time in which a bucket gains a request
	begun  time.Time     // times count from here, so that a clock that is set changes none
	shards [bucketShards]bucketShard
}

type bucketShard struct {
	mu   sync.Mutex
	full map[clientKey]time.Duration // since begun
}

// newBuckets returns full buckets of a limit.
func newBuckets(of limit, now func() time.Time) *buckets {
	b := &buckets{of: of, each: of.Period / time.Duration(of.Requests), begun: now()}
	for i := range b.shards {
		b.shards[i].full = map[clientKey]time.Duration{}
	}
	return b
}

// take counts a request.
func (b *buckets) take(who clientKey, at time.Time) store.RateStatus {
	now := at.Sub(b.begun)
	shard := &b.shards[who.shard()]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	full, known := shard.full[who]
	full = max(full, now)
	taken := store.RateStatus{Allowed: full+b.each-now <= b.of.Period}
	if taken.Allowed {
		full += b.each
		if !known && len(shard.full) >= maxAddresses/bucketShards {
			shard.tidy(now)
		}
		shard.full[who] = full
	} else {
		taken.RetryAfter = full + b.each - now - b.of.Period
	}
	taken.ResetAfter = full - now
	taken.Remaining = int((b.of.Period - taken.ResetAfter) / b.each)
	return taken
}

// shard spreads addresses, by the last byte of an IPv4 address or of an IPv6 network.
func (p clientKey) shard() int { return int(p[7]^p[15]) % bucketShards }

// tidy removes full buckets, and other ones until an eighth is gone.
func (s *bucketShard) tidy(now time.Duration) {
	before := len(s.full)
	maps.DeleteFunc(s.full, func(_ clientKey, full time.Duration) bool { return full <= now })
	for who := range s.full {
		if len(s.full) <= before*7/8 {
			return
		}
		delete(s.full, who)
	}
}

// limit refuses callers who exceed a limit, before any other work. It reports what is left in
// RateLimit and RateLimit-Policy, as the IETF draft has them since its eighth version
// (draft-ietf-httpapi-ratelimit-headers).
//
// When Redis does not answer, requests that are counted there are refused: payments, codes and
// new registrations need Redis anyway, and failing open would help only an attacker who waits
// for it. Reads are counted in this process and continue.
func (s *Server) limit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.buckets == nil {
			return next(c)
		}
		at := s.clientKey(c.Request())
		staff, _ := s.isStaff(c.Request())                  // a key that is wrong is told of later
		if !staff && c.Request().Method != http.MethodGet { // a read sends no code
			c.SetRequest(c.Request().WithContext(signature.WithClientAddress(c.Request().Context(), at.String())))
		}
		for _, l := range routes[c.Request().Method+" "+c.Path()].limits {
			taken, counted, err := s.take(c, l, at, staff)
			switch {
			case err != nil:
				return err
			case !counted:
				continue
			}
			addRateLimit(c.Response().Header(), l, taken)
			if !taken.Allowed {
				return &flows.Error{Code: flows.RateLimited, RetryAfter: taken.RetryAfter, Detail: rateLimitDetails[l.per]}
			}
		}
		return next(c)
	}
}

// addRateLimit tells the caller about a limit and what is left of it.
func addRateLimit(header http.Header, l limit, taken store.RateStatus) {
	header.Add("RateLimit-Policy", l.policyHeader())
	header.Add("RateLimit", l.rateLimitHeader(taken))
}

// rateLimitDetails are texts for people.
var rateLimitDetails = map[subject]string{
	perAddress:       "There were too many requests from this address.",
	perAddressShared: "There were too many requests of this kind from this address.",
	perHolder:        "There were too many changes in a short time.",
}

// take counts a request under a limit, unless it is nobody's whom that counts.
func (s *Server) take(c echo.Context, l limit, at clientKey, staff bool) (taken store.RateStatus, counted bool, err error) {
	who := ""
	switch l.per {
	case perAddress:
		return s.buckets.take(at, exchangeOf(c.Request().Context()).At), true, nil
	case perAddressShared:
		if staff {
			return taken, false, nil
		}
		who = "address " + at.String()
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
	token := bearerToken(c.Request())
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

// seconds is a time to wait, in whole seconds.
func seconds(d time.Duration) string {
	return strconv.Itoa(int(math.Ceil(max(0, d.Seconds()))))
}
