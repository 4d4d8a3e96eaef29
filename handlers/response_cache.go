package handlers

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/maypok86/otter/v2"

	"frontdesk/api"
	"frontdesk/flows"
)

// This file keeps the answers to what everybody reads as they go over the wire, so
// that the next one who asks costs no more than the bytes: what was read of the club
// system is encoded and compressed once.

// cacheableRoutes are the routes whose answers are kept: those that change with what is
// read of the club system, and with nothing else.
var cacheableRoutes = map[string]bool{
	"/v1/clubs": true, "/v1/clubs/:clubId/products": true, "/v1/clubs/:clubId/debit-days": true,
}

// The figures of answers that are kept.
const (
	// maxCacheBytes bounds what they take together: a thousand pages with 30 KB and what is
	// made of them. Who asks for many pages that nobody else wants drives out their own.
	maxCacheBytes = 64 << 20
	// maxCacheAge: no page is shown for longer, whatever the club system does.
	maxCacheAge = 10 * time.Minute
	// minGzipBytes: what fits into one packet is not there sooner for being compressed.
	minGzipBytes = 1400
)

// The ages in Cache-Control are those of flows/cache.go: a minute without a question, a
// minute more while a new one is fetched, ten in all while the gateway fails. What is
// somebody's own is kept by their browser alone, which asks each time whether it still
// holds; so it is in mock mode, where worlds change under their developer's hands.
var (
	publicCacheControl  = []string{"public, max-age=60, s-maxage=60, stale-while-revalidate=60, stale-if-error=600"}
	privateCacheControl = []string{"private, no-cache"}
)

// cacheKey is what an answer depends on, beside the club system and the half of the day.
// Where there is one organisation alone, what anybody asks is its address, as it was sent.
type cacheKey struct {
	clientToken string
	address     string
	buyer       flows.Buyer // the zero value is anybody
}

// cachedResponse is an answer as it goes over the wire.
type cachedResponse struct {
	of            *flows.Version
	half          int64    // see halfDay
	route         string   // as the router has it
	plain, packed encoding // packed has no body where it is not worth it
	vary          []string // by what the answers to one address differ
}

// encoding is an answer in one encoding, with its headers as they are.
type encoding struct {
	body                  []byte
	tag, length, encoding []string
	lines                 []byte // all other headers of an answer to anybody, as whole lines
}

func newResponseCache() *otter.Cache[any, any] { // a string or a question, to *remembered; as in flows, so that the program has one type of it
	return otter.Must(&otter.Options[any, any]{
		MaximumWeight: maxCacheBytes, ExpiryCalculator: otter.ExpiryWriting[any, any](maxCacheAge),
		Weigher: func(_, kept any) uint32 {
			a := kept.(*cachedResponse)
			return uint32(len(a.plain.body) + len(a.packed.body) + len(a.plain.lines) + len(a.packed.lines)) // #nosec G115 -- a page is far below 4 GB
		},
	})
}

// serveCached answers what everybody may read from memory, while what it was made of is fresh.
// Whatever has to be looked at goes on: who says who they are, what was not asked before,
// and all in mock mode, where a world may begin anew at any moment.
func (s *Server) serveCached(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Method != http.MethodGet || !cacheableRoutes[c.Path()] {
			return next(c)
		}
		if !s.cfg.Worlds && fromAnybody(r) {
			now := s.cfg.Now()
			if kept := s.remembers(r.RequestURI, now); kept != nil {
				c.Set(recalledKey, true)
				return kept.write(c.Response(), r, publicCacheControl)
			}
		}
		c.SetRequest(r.WithContext(context.WithValue(r.Context(), askedKey{}, asked{r, c.Path()})))
		return next(c)
	}
}

// recalledKey is where recall notes that an answer came from memory.
const recalledKey = "recalled"

// remembers is what anybody is answered who asks for an address now; nil where somebody has to look.
func (s *Server) remembers(address string, now time.Time) *cachedResponse {
	found, _ := s.responses.GetIfPresent(address)
	if kept, ok := found.(*cachedResponse); ok && kept.of.Fresh(now) && kept.half == halfDay(now) {
		return kept
	}
	return nil
}

// fromAnybody tells whether a request says nothing of who sends it, and has nothing else
// that would have to be looked at.
func fromAnybody(r *http.Request) bool {
	return r.Header["Authorization"] == nil && r.Header[staffHeader] == nil && r.ContentLength == 0 && r.URL.RawPath == ""
}

// halfDay counts halves of days since 1970: a day is another one at noon or at midnight,
// depending on where one asks.
func halfDay(now time.Time) int64 {
	const half = 12 * 60 * 60
	return now.Unix() / half
}

// asked is a request, which recall leaves to a handler, which sees the context alone.
type asked struct {
	*http.Request
	route string
}

type askedKey struct{}

// cacheResponse gives the answer that is made of what was read at once. It is made once for
// all who ask the same; buyer is whose answer it is, the zero value everybody's.
func (s *Server) cacheResponse(ctx context.Context, buyer flows.Buyer, of *flows.Version, answer func() (any, error)) (heard, error) {
	r, _ := ctx.Value(askedKey{}).(asked)
	var key any = r.RequestURI
	if s.cfg.Worlds || buyer != (flows.Buyer{}) {
		key = cacheKey{callerOf(ctx).clientToken, r.RequestURI, buyer}
	}
	half := halfDay(s.cfg.Now())
	var failed error
	kept, _ := s.responses.Compute(key, func(old any, found bool) (any, otter.ComputeOp) {
		if found && old.(*cachedResponse).of == of && old.(*cachedResponse).half == half {
			return old, otter.CancelOp
		}
		body, err := answer()
		if err == nil {
			made := &cachedResponse{of: of, half: half, route: r.route}
			if err = s.encode(made, body); err == nil {
				return made, otter.WriteOp
			}
		}
		failed = err
		return nil, otter.CancelOp
	})
	if failed != nil {
		return heard{}, failed
	}
	control := publicCacheControl
	if !fromAnybody(r.Request) || s.cfg.Worlds {
		control = privateCacheControl
	}
	return heard{kept.(*cachedResponse), r.Request, control}, nil
}

// encode encodes an answer, and compresses it as well as it can: that is done once.
func (s *Server) encode(made *cachedResponse, answer any) error {
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	made.vary = []string{"Origin, Accept-Encoding, Authorization"}
	if s.cfg.Worlds {
		made.vary = []string{made.vary[0] + ", X-Frontdesk-World, Cookie"}
	}
	made.plain = newVariant(body, nil)
	made.plain.lines, err = s.linesOf(made, &made.plain)
	if len(body) < minGzipBytes || err != nil {
		return err
	}
	var packed bytes.Buffer
	packer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := packer.Write(body); err != nil {
		return err
	}
	if err := packer.Close(); err != nil {
		return err
	}
	made.packed = newVariant(packed.Bytes(), []string{"gzip"})
	made.packed.lines, err = s.linesOf(made, &made.packed)
	return err
}

// newVariant tags a body with its hash, of which half is more than any two pages of a
// club need to be told apart.
func newVariant(body []byte, contentEncoding []string) encoding {
	hash := sha256.Sum256(body)
	return encoding{
		body: body, tag: []string{strconv.Quote(base64.RawURLEncoding.EncodeToString(hash[:16]))},
		length: []string{strconv.Itoa(len(body))}, encoding: contentEncoding,
	}
}

// write answers a request. What the headers hold is shared by all answers, and nobody changes it.
func (a *cachedResponse) write(w http.ResponseWriter, r *http.Request, control []string) error {
	v, known := a.variantFor(r)
	a.label(w.Header(), v, control)
	if known {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return v.write(w)
}

// variantFor is what to send to who asks, and tells whether they have it.
func (a *cachedResponse) variantFor(r *http.Request) (v *encoding, known bool) {
	v = &a.plain
	if a.packed.body != nil && acceptsGzip(r.Header["Accept-Encoding"]) {
		v = &a.packed
	}
	return v, etagMatches(r.Header["If-None-Match"], v.tag[0])
}

// label puts into headers what one has to know to keep an answer.
func (a *cachedResponse) label(h http.Header, v *encoding, control []string) {
	h["Etag"], h["Cache-Control"], h["Vary"] = v.tag, control, a.vary
}

// write sends the body, with the headers that describe it.
func (v *encoding) write(w http.ResponseWriter) error {
	h := w.Header()
	h["Content-Type"], h["Content-Length"] = jsonType, v.length
	if v.encoding != nil {
		h["Content-Encoding"] = v.encoding
	}
	w.WriteHeader(http.StatusOK)
	_, err := w.Write(v.body) // #nosec G705 -- JSON that the gateway encoded, and said to be that
	return err
}

var jsonType = []string{"application/json"}

// acceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3): gzip, by its name or by a
// star, unless its weight is zero.
func acceptsGzip(accepted []string) bool {
	star := false
	for _, line := range accepted {
		for part := range strings.SplitSeq(line, ",") {
			name, weight, _ := strings.Cut(part, ";")
			_, weight, _ = strings.Cut(weight, "=")
			wanted := strings.Trim(weight, " 0.") != "" || strings.TrimSpace(weight) == ""
			switch strings.TrimSpace(name) {
			case "gzip", "x-gzip":
				return wanted
			case "*":
				star = wanted
			}
		}
	}
	return star
}

// etagMatches tells whether If-None-Match names a tag, or any (RFC 9110, section 13.1.2). A
// proxy that compresses by itself makes a tag weak; the page is the same.
func etagMatches(known []string, tag string) bool {
	for _, line := range known {
		for part := range strings.SplitSeq(line, ",") {
			if part = strings.TrimSpace(part); strings.TrimPrefix(part, "W/") == tag || part == "*" {
				return true
			}
		}
	}
	return false
}

// heard is an answer for one who asked.
type heard struct {
	*cachedResponse
	request *http.Request
	control []string
}

// VisitListClubsResponse implements api.ListClubsResponseObject.
func (t heard) VisitListClubsResponse(w http.ResponseWriter) error {
	return t.write(w, t.request, t.control)
}

// VisitListProductsResponse implements api.ListProductsResponseObject.
func (t heard) VisitListProductsResponse(w http.ResponseWriter) error {
	return t.write(w, t.request, t.control)
}

// VisitListDebitDaysResponse implements api.ListDebitDaysResponseObject.
func (t heard) VisitListDebitDaysResponse(w http.ResponseWriter) error {
	return t.write(w, t.request, t.control)
}

var (
	_ api.ListClubsResponseObject     = heard{}
	_ api.ListProductsResponseObject  = heard{}
	_ api.ListDebitDaysResponseObject = heard{}
)
