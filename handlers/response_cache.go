package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/maypok86/otter/v2"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
	"frontdesk/upstream/identity"
)

// This file caches responses that are the same for every visitor: those of the operations that have a Cache-Control in the
// contract. Each is encoded and compressed once, and then served without the router.

const (
	maxCacheBytes = 64 << 20         // keys included; a thousand pages of 30 KB with their compressed forms
	entryOverhead = 2 << 10          // per entry, for the headers of its encodings
	maxCacheAge   = 10 * time.Minute // whatever the club system does
	dayless       = 24 * time.Hour   // how long what does not change with the day of the club is known
)

// The ages in Cache-Control are those of the catalogue's cache: fresh for a minute, current for
// another while it is read again, ten minutes in all while the gateway fails. In mock mode, where developers change
// their worlds, browsers revalidate.
const (
	publicCacheControl   = "public, max-age=60, s-maxage=60, stale-while-revalidate=60, stale-if-error=600"
	mockCacheControl     = "private, no-cache"
	personalCacheControl = "no-store"
	sharedAge            = time.Minute // max-age, and stale-while-revalidate
	// A stale response is followed by a newer one, or by another attempt to read the club system, seconds later.
	staleAge = 5 * time.Second
)

// cacheKey is what a response depends on, besides the catalogue's version and the day.
type cacheKey struct {
	home     string // where the caller reaches Frontdesk, which addresses in the response name
	address  string
	language string
	staff    bool
	buyer    flows.Buyer // the zero value is every visitor
}

// addressOf returns the path and the parsed query of a request in one form, however they were written. A question mark
// in the path stays escaped, or the path would be another page's address.
func addressOf(r *http.Request) string {
	if query := r.URL.Query(); len(query) > 0 {
		return r.URL.EscapedPath() + "?" + query.Encode()
	}
	return r.URL.EscapedPath()
}

// size is the memory that a key takes, which callers with valid parameters choose.
func (k cacheKey) size() int {
	return len(k.home) + len(k.address) + len(k.buyer.Contact) + len(k.buyer.Club) + len(k.buyer.Tags)
}

type cacheEntry struct {
	version     *catalogue.Version // nil: it does not depend on the catalogue
	until       time.Time          // when the club's day ends
	stale       bool               // see catalogue.Version.Stale
	route, path string             // for the log, metrics and the developer panel
	encodings
}

// responseCache maps cacheKey to *cacheEntry. It shares the catalogue cache's instance of the library's
// generic type, because a second one would add 80 KB to the program.
type responseCache = *otter.Cache[any, any]

func newResponseCache() responseCache {
	return otter.Must(&otter.Options[any, any]{
		MaximumWeight: maxCacheBytes, ExpiryCalculator: otter.ExpiryWriting[any, any](maxCacheAge),
		Weigher: func(key, cached any) uint32 {
			e := cached.(*cacheEntry)
			return uint32(entryOverhead + key.(cacheKey).size() + len(e.plain.body) + len(e.gzip.body)) // #nosec G115 -- a page is far below 4 GB
		},
	})
}

// serveCached serves anonymous reads from the cache while their version of the catalogue is current.
// All other requests go to next: credentials, bodies, other origins, exhausted limits, cache misses.
func (s *Server) serveCached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entry := s.cachedFor(r)
		if entry == nil || !s.limitCached(w, r) {
			next.ServeHTTP(w, r)
			return
		}
		x := exchangeOf(r.Context())
		x.Route, x.Path = entry.route, entry.path
		trace.SpanFromContext(r.Context()).SetName(r.Method + " " + entry.route)
		_ = entry.write(w, r, s.cacheControl(r, entry.until, false)) // a visitor who left needs no response
	})
}

// cachedFor returns the current entry for an anonymous read; nil without one.
func (s *Server) cachedFor(r *http.Request) *cacheEntry {
	if s.cfg.Provoke != nil || s.isElsewhere(r) {
		return nil // the router asks for faults, and refuses
	}
	if r.Method != http.MethodGet || r.Header["Origin"] != nil || hasCredentials(r) || r.ContentLength != 0 || r.URL.RawPath != "" {
		return nil // personal, or there is more to validate
	}
	now := exchangeOf(r.Context()).At
	key := cacheKey{home: s.home(r), address: addressOf(r), language: languageOf(r).Tag}
	cached, ok := s.responses.GetIfPresent(key)
	if !ok {
		return nil
	}
	entry := cached.(*cacheEntry)
	if entry.stale || !now.Before(entry.until) ||
		entry.version != nil && !s.cfg.Catalogue.Current(s.cfg.ClientToken, entry.version, now) {
		return nil
	}
	return entry
}

// limitCached counts a read against its address. It is false when the limit is exhausted; then the
// router's middleware refuses the request.
func (s *Server) limitCached(w http.ResponseWriter, r *http.Request) bool {
	if s.buckets == nil {
		return true
	}
	taken := s.buckets.take(s.clientNetworks(r), exchangeOf(r.Context()).At)
	if taken.Allowed && !s.mayShare(r) {
		requests.addTo(w.Header(), taken)
	}
	return taken.Allowed
}

// hasCredentials reports whether a request identifies a contact or staff. The holder of a registration is a visitor like any
// other here: the operations whose responses are cached read neither its token nor its cookie.
func hasCredentials(r *http.Request) bool {
	token, _ := bearerToken(r)
	return identity.LooksLikeToken(token) || r.Header[staffHeader] != nil
}

// mayShare reports whether caches may give the response to another visitor, where the operation allows that.
func (s *Server) mayShare(r *http.Request) bool { return !s.isMock() && !hasCredentials(r) }

// cacheControl is the Cache-Control of a response that changes with the club's day, which ends at until.
func (s *Server) cacheControl(r *http.Request, until time.Time, stale bool) string {
	switch {
	case hasCredentials(r):
		return personalCacheControl
	case s.isMock():
		return mockCacheControl
	}
	left := max(0, until.Sub(exchangeOf(r.Context()).At).Truncate(time.Second))
	if stale {
		fresh := min(left, staleAge)
		return fmt.Sprintf("public, max-age=%s, stale-if-error=%s", seconds(fresh), seconds(min(left-fresh, maxCacheAge)))
	}
	if left >= sharedAge+maxCacheAge {
		return publicCacheControl
	}
	fresh := min(left, sharedAge)
	return fmt.Sprintf("public, max-age=%[1]s, s-maxage=%[1]s, stale-while-revalidate=%[2]s, stale-if-error=%[3]s",
		seconds(fresh), seconds(min(left-fresh, sharedAge)), seconds(min(left-fresh, maxCacheAge)))
}

// cacheResponse returns the response that is made of a version of the catalogue, once for all equal
// requests. response receives its member stale. buyer is whose response it is; the zero value is every
// visitor. until is when it changes with the club's day.
func (s *Server) cacheResponse(
	ctx context.Context, buyer flows.Buyer, version *catalogue.Version, until time.Time, response func(stale *bool) (any, error),
) (cachedResponse, error) {
	exchange, language := exchangeOf(ctx), textsOf(ctx).Tag
	stale := version != nil && version.Stale(exchange.At)
	var failed error
	key := cacheKey{
		home:     s.home(exchange.request),
		address:  addressOf(exchange.request),
		language: language,
		staff:    callerOf(ctx).staff,
		buyer:    buyer,
	}
	cached, _ := s.responses.Compute(key, func(old any, found bool) (any, otter.ComputeOp) {
		if e, _ := old.(*cacheEntry); found && e.version == version && e.stale == stale && exchange.At.Before(e.until) {
			return old, otter.CancelOp
		}
		value, err := response(optional(stale))
		if err != nil {
			failed = err
			return nil, otter.CancelOp
		}
		body, err := json.Marshal(value)
		if err != nil {
			failed = err
			return nil, otter.CancelOp
		}
		header := http.Header{"Content-Type": {"application/json"}, "Vary": {s.cacheVary(exchange)}}
		if s.operations[http.MethodGet+" "+exchange.Route].hasTexts {
			header.Set("Content-Language", language)
		}
		return &cacheEntry{
			version:   version,
			until:     until,
			stale:     stale,
			route:     exchange.Route,
			path:      exchange.Path,
			encodings: encode(body, header),
		}, otter.WriteOp
	})
	entry, _ := cached.(*cacheEntry) // nil when it failed
	return cachedResponse{entry, exchange.request, s.cacheControl(exchange.request, until, stale)}, failed
}

// cacheVary names the request headers on which a cached response depends. A parameter takes precedence over Accept-Language.
func (s *Server) cacheVary(x *exchange) string {
	headers := "Origin, Accept-Encoding, Authorization, " + staffHeader
	if s.operations[http.MethodGet+" "+x.Route].hasTexts && namedLanguage(x.request) == "" {
		headers += ", Accept-Language"
	}
	if s.isMock() {
		headers += ", X-Frontdesk-World, Cookie"
	}
	return headers
}

// cachedResponse is an entry as the response to one request. It implements the generated interface of
// each operation whose responses are cached.
type cachedResponse struct {
	*cacheEntry
	request      *http.Request
	cacheControl string
}

func (c cachedResponse) VisitGetConfigResponse(w http.ResponseWriter) error     { return c.respond(w) }
func (c cachedResponse) VisitListClubsResponse(w http.ResponseWriter) error     { return c.respond(w) }
func (c cachedResponse) VisitGetClubResponse(w http.ResponseWriter) error       { return c.respond(w) }
func (c cachedResponse) VisitListProductsResponse(w http.ResponseWriter) error  { return c.respond(w) }
func (c cachedResponse) VisitGetOfferResponse(w http.ResponseWriter) error      { return c.respond(w) }
func (c cachedResponse) VisitGetScheduleResponse(w http.ResponseWriter) error   { return c.respond(w) }
func (c cachedResponse) VisitListDebitDaysResponse(w http.ResponseWriter) error { return c.respond(w) }
func (c cachedResponse) VisitListDocumentsResponse(w http.ResponseWriter) error { return c.respond(w) }

func (c cachedResponse) respond(w http.ResponseWriter) error {
	return c.write(w, c.request, c.cacheControl)
}
