package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/maypok86/otter/v2"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

// This file caches responses that are the same for every visitor: clubs, products, offers and debit days.
// Each is encoded and compressed once, and then served without the router.

const (
	maxCacheBytes = 64 << 20         // keys included; a thousand pages of 30 KB with their compressed forms
	entryOverhead = 2 << 10          // per entry, for the headers of its encodings
	maxCacheAge   = 10 * time.Minute // whatever the club system does
)

// The ages in Cache-Control are those of the catalogue's cache: fresh for a minute, current for
// another while it is read again, ten minutes in all while the gateway fails. Browsers revalidate
// personal responses, and in mock mode, where developers change their worlds, all responses.
const (
	publicCacheControl  = "public, max-age=60, s-maxage=60, stale-while-revalidate=60, stale-if-error=600"
	privateCacheControl = "private, no-cache"
	// A stale response is followed by a newer one, or by another attempt to read the club system, seconds later.
	staleCacheControl = "public, max-age=5, stale-if-error=600"
)

// cacheKey is what a response depends on, besides the catalogue's version and the day.
type cacheKey struct {
	clientToken string
	address     string
	language    string
	staff       bool
	buyer       flows.Buyer // the zero value is every visitor
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
	return len(k.clientToken) + len(k.address) + len(k.buyer.Contact) + len(k.buyer.Club) + len(k.buyer.Tags)
}

type cacheEntry struct {
	version     *catalogue.Version
	until       time.Time // when the club's day ends
	stale       bool      // see catalogue.Version.Stale
	route, path string    // for the log, metrics and the developer panel
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
		x.Route, x.Path, x.World = entry.route, entry.path, s.organisation(r)
		trace.SpanFromContext(r.Context()).SetName(r.Method + " " + entry.route)
		_ = entry.write(w, r, s.cacheControl(r, false)) // a visitor who left needs no response
	})
}

// cachedFor returns the current entry for an anonymous read; nil without one.
func (s *Server) cachedFor(r *http.Request) *cacheEntry {
	if r.Method != http.MethodGet || !isAnonymous(r) || r.Header["Origin"] != nil {
		return nil
	}
	organisation, now := s.organisation(r), exchangeOf(r.Context()).At
	cached, ok := s.responses.GetIfPresent(cacheKey{clientToken: organisation, address: addressOf(r), language: languageOf(r).Tag})
	if !ok {
		return nil
	}
	entry := cached.(*cacheEntry)
	if entry.stale || !now.Before(entry.until) || !s.cfg.Catalogue.Current(organisation, entry.version, now) {
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
	if taken.Allowed {
		requests.addTo(w.Header(), taken)
	}
	return taken.Allowed
}

// isAnonymous reports whether a request has no credentials, and nothing else to validate.
func isAnonymous(r *http.Request) bool {
	return r.Header["Authorization"] == nil && r.Header[staffHeader] == nil && r.ContentLength == 0 && r.URL.RawPath == ""
}

func (s *Server) cacheControl(r *http.Request, stale bool) string {
	switch {
	case s.cfg.Worlds || !isAnonymous(r):
		return privateCacheControl
	case stale:
		return staleCacheControl
	}
	return publicCacheControl
}

// cacheResponse returns the response that is made of a version of the catalogue, once for all equal
// requests. response receives its member stale. buyer is whose response it is; the zero value is every
// visitor. until is when it changes with the club's day.
func (s *Server) cacheResponse(
	ctx context.Context, buyer flows.Buyer, version *catalogue.Version, until time.Time, response func(stale *bool) (any, error),
) (cachedResponse, error) {
	x, language := exchangeOf(ctx), textsOf(ctx).Tag
	stale := version.Stale(x.At)
	var failed error
	key := cacheKey{
		clientToken: callerOf(ctx).clientToken,
		address:     addressOf(x.request),
		language:    language,
		staff:       callerOf(ctx).staff,
		buyer:       buyer,
	}
	cached, _ := s.responses.Compute(key, func(old any, found bool) (any, otter.ComputeOp) {
		if e, _ := old.(*cacheEntry); found && e.version == version && e.stale == stale && x.At.Before(e.until) {
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
		header := http.Header{"Content-Type": {"application/json"}, "Content-Language": {language}, "Vary": {s.cacheVary()}}
		return &cacheEntry{
			version:   version,
			until:     until,
			stale:     stale,
			route:     x.Route,
			path:      x.Path,
			encodings: encode(body, header),
		}, otter.WriteOp
	})
	entry, _ := cached.(*cacheEntry) // nil when it failed
	return cachedResponse{entry, x.request, s.cacheControl(x.request, stale)}, failed
}

// cacheVary names the request headers on which cached responses depend.
func (s *Server) cacheVary() string {
	headers := "Origin, Accept-Encoding, Accept-Language, Authorization"
	if s.cfg.Worlds {
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

func (c cachedResponse) VisitListClubsResponse(w http.ResponseWriter) error     { return c.respond(w) }
func (c cachedResponse) VisitGetClubResponse(w http.ResponseWriter) error       { return c.respond(w) }
func (c cachedResponse) VisitListProductsResponse(w http.ResponseWriter) error  { return c.respond(w) }
func (c cachedResponse) VisitGetOfferResponse(w http.ResponseWriter) error      { return c.respond(w) }
func (c cachedResponse) VisitListDebitDaysResponse(w http.ResponseWriter) error { return c.respond(w) }

func (c cachedResponse) respond(w http.ResponseWriter) error {
	return c.write(w, c.request, c.cacheControl)
}
