package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"frontdesk/upstream/club"
	"frontdesk/upstream/clubsim"
)

// maxLifetime in seconds, for tokens without an end.
const maxLifetime = 1_000_000_000

// maxBody is the longest response that is read, as the client's: a hundred times a page of offers.
const maxBody = 4 << 20

// recorder is the transport of a probe: it sends one call at a time, ends the probe at the budget and below the limits,
// and keeps the shape of each response. Of the values it keeps identifiers until the probe ends, to read the records, the
// words of enumerations, and numbers that are no one's: lengths, limits, the life of a token.
type recorder struct {
	base   http.RoundTripper
	prefix string // of the paths, up to the client token
	after  func(time.Duration) <-chan time.Time
	limits func() club.CallLimits // in the latest response
	now    func() time.Time
	budget int // 0: no limit

	mu       sync.Mutex
	calls    int
	halted   error            // why no more calls are made; nil: they are
	shapes   map[string]shape // by operation, such as "GET contacts/{id}"; those of errors below "error"
	statuses map[string][]int // by operation
	refused  []string         // operations that are not granted
	words    map[string][]string
	ids      map[string][]club.IRI // by operation
	pages    []page
	seen     club.CallLimits
	lifetime int     // of the token, in seconds; 0: unknown
	taxRate  float64 // the highest
	filtered int     // the status of a read with unknownFilter; 0: there is none
	narrowed narrowed
}

// narrowed is the response to a read with contactFilter.
type narrowed struct{ status, length int }

// page is a page of a list.
type page struct {
	first      bool
	asked      int // for so many records; 0: for none
	length     int
	incomplete bool // the list has more records
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.halted = r.mayCall(); r.halted != nil {
		return nil, r.halted
	}
	if seen := r.seen; seen.Spike > 0 {
		<-r.after(2 * seen.Slice / time.Duration(seen.Spike)) // half of what the limit allows
	}
	r.calls++
	if r.operation(request) == plainOperation {
		request = request.Clone(request.Context())
		request.Header.Set("Accept", "application/json")
	}
	response, err := r.base.RoundTrip(request)
	if err != nil {
		r.halted = errors.New("the club system does not respond")
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	r.record(request, response.StatusCode, body)
	return response, nil
}

// mayCall returns why the next call must not be made; nil if it may. Half of each limit is left to the gateways.
func (r *recorder) mayCall() error {
	limits := r.limits()
	if limits.Rate.Limit+limits.Quota.Limit+limits.Spike > 0 {
		r.seen = limits
	}
	for _, limit := range []club.CallLimit{limits.Rate, limits.Quota} {
		if limit.Remaining < limit.Limit/2 && limit.Reset.After(r.now()) {
			return fmt.Errorf("the API gateway allows %d calls, and the probe leaves half of them to the gateways", limit.Limit)
		}
	}
	if r.halted == nil && r.budget > 0 && r.calls >= r.budget {
		return fmt.Errorf("%d calls were made, as many as --calls allows", r.calls)
	}
	return r.halted
}

// record keeps what a response shows.
func (r *recorder) record(request *http.Request, status int, body []byte) {
	operation := r.operation(request)
	if !slices.Contains(r.statuses[operation], status) {
		r.statuses[operation] = append(r.statuses[operation], status)
	}
	if request.URL.Query().Has(unknownFilter) {
		r.filtered = status
	}
	if request.URL.Query().Has(contactFilter) {
		r.narrowed.status = status
	}
	if status == http.StatusTooManyRequests {
		r.halted = errors.New("a call was refused with 429: a limit of calls is used up")
	}
	value, ok := decode(body)
	switch {
	case status == http.StatusForbidden && bytes.Contains(body, []byte(club.CodeUnauthorizedEndpoint)):
		r.refused = append(r.refused, operation)
	case !ok || status == http.StatusUnauthorized || status == http.StatusTooManyRequests || status >= 500:
		return // not from the club system, or without a shape
	}
	if status >= http.StatusBadRequest {
		operation = errorsSeen
	}
	if r.shapes[operation] == nil {
		r.shapes[operation] = shape{}
	}
	r.shapes[operation].add("", value)
	r.note(operation, request, value)
}

const (
	// errorsSeen names the shape of the club system's errors.
	errorsSeen = "errors"
	tokenSeen  = "POST token"
	// plainOperation is asked for as plain JSON.
	plainOperation = "GET clubs"
)

const (
	// unknownFilter is a parameter that no club system knows.
	unknownFilter = "frontdeskProbe"
	// contactFilter is a filter that some installations have for sales.
	contactFilter = "contactId[]"
)

// isWord reports whether a segment of a path is a word of the club system's paths. Any other one is an identifier.
func isWord(segment string) bool {
	return slices.ContainsFunc(clubsim.Endpoints(), func(endpoint string) bool {
		_, path, _ := strings.Cut(endpoint, " ")
		return slices.Contains(strings.Split(path, "/"), segment)
	})
}

// operation names what a request calls, with {id} for identifiers.
func (r *recorder) operation(request *http.Request) string {
	path, business := strings.CutPrefix(request.URL.Path, r.prefix)
	if !business || request.Method == http.MethodPost {
		return tokenSeen
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if !isWord(segment) {
			segments[i] = "{id}"
		}
	}
	return request.Method + " " + strings.Join(segments, "/")
}

// note keeps the identifiers, numbers and words of a response.
func (r *recorder) note(operation string, request *http.Request, value any) {
	if operation == tokenSeen {
		members, _ := value.(map[string]any)
		seconds, _ := strconv.ParseFloat(fmt.Sprint(members["expires_in"]), 64) // a number, or one in a string
		r.lifetime = int(min(max(0, seconds), maxLifetime))
		return
	}
	r.noteValues(recordOf(operation), value)
	members, more, isList := membersOf(value)
	if !isList {
		return
	}
	query := request.URL.Query()
	if query.Has(contactFilter) {
		r.narrowed.length = len(members)
		return
	}
	for _, member := range members {
		fields, _ := member.(map[string]any)
		if id, _ := fields["@id"].(string); id != "" {
			r.ids[operation] = append(r.ids[operation], club.IRI(id))
		}
	}
	asked, _ := strconv.Atoi(query.Get("itemsPerPage"))
	first := query.Get("page") == "" || query.Get("page") == "1"
	r.pages = append(r.pages, page{first, asked, len(members), more(len(members))})
}

// noteValues keeps the words of enumerations and the tax rates in a value at a path.
func (r *recorder) noteValues(path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			within := path + "." + name
			if plain(name) == "member" || indexPattern.MatchString(name) {
				within = path
			}
			r.noteValues(within, member)
		}
	case []any:
		for _, entry := range value {
			r.noteValues(path, entry)
		}
	case json.Number:
		if rate, err := value.Float64(); err == nil && strings.HasSuffix(path, ".taxRate") {
			r.taxRate = max(r.taxRate, rate)
		}
	case string:
		if words, known := enumerations[path]; known && wordPattern.MatchString(value) && !slices.Contains(words, value) &&
			!slices.Contains(r.words[path], value) {
			r.words[path] = append(r.words[path], value)
		}
	}
}

// enumerations are the members whose values the club system's description lists, by record.
var enumerations = map[string][]string{
	"contacts.status":    {club.StatusProspect, club.StatusTemp, club.StatusCustomer, club.StatusBanned},
	"contacts.state":     {club.StatusProspect, club.StatusTemp, club.StatusCustomer, "client", club.StatusBanned},
	"network_nodes.type": {"group", "franchise", "club"},
	"products.type":      {"subscription", "subscription_option", "badge", "counter", "package", "countermark", "test_session", "regular"},
	"optins.channel":     {"email", "text_message", "postal_mail"},
	"optins.type":        {"news", "legal", "advertising", "partners"},
}

// wordPattern matches a word of an enumeration.
var wordPattern = regexp.MustCompile(`^[a-z][a-z_]{1,23}$`)

// recordOf names the records of an operation, such as contacts.
func recordOf(operation string) string {
	_, path, _ := strings.Cut(operation, " ")
	return strings.TrimSuffix(path, "/{id}")
}

// membersOf returns the records of a list in any of its forms. more reports whether the list has more than so many.
func membersOf(value any) (members []any, more func(length int) bool, isList bool) {
	more = func(int) bool { return false }
	fields, isObject := value.(map[string]any)
	if !isObject || kindOf(value) == gaps {
		members, isList = entriesOf(value)
		return members, more, isList
	}
	named := func(fields map[string]any, name string) any {
		if member, ok := fields[name]; ok {
			return member
		}
		return fields["hydra:"+name]
	}
	members, isList = entriesOf(named(fields, "member"))
	view, paged := named(fields, "view").(map[string]any)
	total, _ := named(fields, "totalItems").(json.Number)
	more = func(length int) bool {
		next, _ := named(view, "next").(string)
		count, _ := total.Int64()
		return paged && next != "" || !paged && count > int64(length)
	}
	return members, more, isList
}

// entriesOf returns the entries of an array, or of an object with whole numbers as names.
func entriesOf(value any) (entries []any, ok bool) {
	if entries, ok = value.([]any); ok {
		return entries, true
	}
	fields, _ := value.(map[string]any)
	for _, entry := range fields {
		entries = append(entries, entry)
	}
	return entries, kindOf(value) == gaps
}
