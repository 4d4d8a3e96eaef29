package club

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// pageSize is the documented size of a page. It ends a list that has neither a length nor
	// a next page.
	pageSize = 30
	// maxPages is 6,000 records at thirty a page, far beyond any catalogue. A longer list
	// comes from a server that never ends it. maxRecords is the same limit for longer pages.
	maxPages   = 200
	maxRecords = maxPages * pageSize
	// concurrentPages are read in parallel once the first page shows the length of the
	// list: 240 records, more than any known catalogue, and a quarter of the permits of the lane Browsers.
	concurrentPages = 8
)

// collection is a page of a list in any of its forms: hydra:Collection with or
// without the prefix, or a bare array.
type collection[T any] struct {
	members records[T]
	total   *int
	bare    bool // an array, without anything around it
	paged   bool // the page says whether there is a next one
	next    bool
}

// UnmarshalJSON reads a page, whose members are named as normalize names them.
func (c *collection[T]) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		c.bare = true
		return unmarshal(data, &c.members)
	}
	var page struct {
		Member jsontext.Value `json:"member"`
		Total  *int           `json:"totalItems"`
		View   *struct {
			Next string `json:"next"`
		} `json:"view"`
	}
	if err := unmarshal(data, &page); err != nil {
		return err
	}
	c.total = page.Total
	if page.View != nil {
		c.paged, c.next = true, page.View.Next != ""
	}
	if len(page.Member) > 0 && page.Member.Kind() != 'n' {
		return unmarshal(page.Member, &c.members)
	}
	if c.bare = true; unmarshal(data, &c.members) != nil || len(c.members) == 0 { // an array with gaps
		return require("hydra:member", false)
	}
	return nil
}

func (c *collection[T]) readDates(zoneOf func(IRI) *time.Location) error {
	return c.members.readDates(zoneOf)
}

func (c *collection[T]) unreadable() []*DecodeError { return c.members.unreadable() }

// foreign returns the error of a first page that nothing marks as the club system's own: an array without a
// record in it. It returns nil for a list of debit days, which is documented as an array of objects without identifiers.
func (c *collection[T]) foreign(op string) error {
	_, plain := any(*new(T)).(DebitDay)
	if !c.bare || plain || slices.ContainsFunc(c.members, func(r record[T]) bool { return r.id != "" }) {
		return nil
	}
	return &Error{Operation: op, Outcome: Unknown, Status: http.StatusOK, Err: require("hydra:member", false)}
}

// ended reports whether the list ends with this page. have is the number of members read so
// far, added the number of new ones on this page.
func (c *collection[T]) ended(have, added int) bool {
	switch {
	case added == 0: // also when a server ignores the page number and repeats itself
		return true
	case c.paged:
		return !c.next
	case c.total != nil && *c.total >= have: // otherwise it is wrong
		return have == *c.total
	}
	return len(c.members) < pageSize
}

// list reads a complete collection, in order and each record once, even if the list shifts
// while its pages are read.
func list[T any](ctx context.Context, client *Client, request request) ([]T, error) {
	return listConcurrently(ctx, client, request, func([]T) {})
}

// listConcurrently is list that also passes each page to seen as soon as it is read, in any
// order and from several goroutines, so that work on the records can begin. seen may get
// records beyond the end of the list.
func listConcurrently[T any](ctx context.Context, client *Client, request request, seen func([]T)) ([]T, error) {
	got := accumulator[T]{seen: make(map[string]bool)}
	for page, wave := 1, 1; page <= maxPages; page, wave = page+wave, got.nextPages(page+wave-1) {
		pages, errs := make([]collection[T], wave), make([]error, wave)
		var reads sync.WaitGroup
		for i := range wave {
			reads.Go(func() {
				if pages[i], errs[i] = do[collection[T]](ctx, client, request.forPage(page+i)); errs[i] == nil {
					seen(pages[i].members.readable())
				}
			})
		}
		reads.Wait()
		for i := range wave {
			if page == 1 && errs[i] == nil {
				errs[i] = pages[i].foreign(request.op)
			}
			if errs[i] != nil {
				return nil, errs[i]
			}
			ended := got.add(pages[i])
			if len(got.all) > maxRecords {
				return nil, unbounded(request.op)
			}
			if ended {
				return got.all.readable(), got.all.check(request.op)
			}
		}
	}
	return nil, unbounded(request.op)
}

// firstPages reads a list up to a number of pages, one after the other; what is beyond them is not needed.
func firstPages[T any](ctx context.Context, client *Client, request request, most int) (records[T], error) {
	got := accumulator[T]{seen: make(map[string]bool)}
	for page, ended := 1, false; page <= most && !ended; page++ {
		read, err := do[collection[T]](ctx, client, request.forPage(page))
		if err == nil && page == 1 {
			err = read.foreign(request.op)
		}
		if err != nil {
			return nil, err
		}
		ended = got.add(read)
	}
	return got.all, got.all.check(request.op)
}

func unbounded(op string) error {
	return &Error{Operation: op, Outcome: Unknown, Err: errUnboundedList}
}

// accumulator collects the pages of a list.
type accumulator[T any] struct {
	all   records[T]
	seen  map[string]bool // by record.key
	total int             // according to the latest page; 0: unknown
	size  int             // of the first page
}

// add adds a page, and reports whether the list ends with it.
func (a *accumulator[T]) add(page collection[T]) bool {
	before := len(a.all)
	for _, member := range page.members {
		if !a.seen[member.key] {
			a.seen[member.key] = true
			a.all = append(a.all, member)
		}
	}
	a.size = cmp.Or(a.size, len(page.members))
	a.total = *cmp.Or(page.total, new(int))
	return page.ended(len(a.all), len(a.all)-before)
}

// nextPages is how many pages can be read in parallel after the first read ones: as many as
// the list's length promises, or one.
func (a *accumulator[T]) nextPages(read int) int {
	promised := 1
	if a.size > 0 {
		promised = (a.total+a.size-1)/a.size - read
	}
	return max(1, min(promised, concurrentPages, maxPages-read))
}

// forPage returns the request for a page of a list; the first page has no parameter.
func (r request) forPage(n int) request {
	if n == 1 {
		return r
	}
	query := url.Values{"page": {strconv.Itoa(n)}}
	maps.Copy(query, r.query)
	return r.withQuery(query)
}
