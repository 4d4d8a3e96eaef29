package club

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"sync"
)

// maxPages is where a list ends for good: 6,000 records at thirty a page, far
// beyond any catalogue. A longer list is a server that never says where it ends.
const maxPages = 200

// maxRecords is the same for whom pages are longer.
const maxRecords = maxPages * pageSize

// collection is a page of a list in any of its forms: hydra:Collection with or
// without the prefix, or a bare array.
type collection[T any] struct {
	members []T
	ids     []IRI // of the members, in the same order; empty for those without
	total   *int
	paged   bool // the page says whether there is a next one
	next    bool
}

// view is the part of a page that says what comes next.
type view struct {
	HydraNext string `json:"hydra:next"`
	Next      string `json:"next"`
}

// UnmarshalJSON reads a page.
func (c *collection[T]) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return c.setMembers(data)
	}
	var page struct {
		HydraMember json.RawMessage `json:"hydra:member"`
		Member      json.RawMessage `json:"member"`
		HydraTotal  *int            `json:"hydra:totalItems"`
		Total       *int            `json:"totalItems"`
		HydraView   *view           `json:"hydra:view"`
		View        *view           `json:"view"`
	}
	if err := unmarshal(data, &page); err != nil {
		return err
	}
	c.total = first(page.HydraTotal, page.Total)
	if v := first(page.HydraView, page.View); v != nil {
		c.paged, c.next = true, v.HydraNext != "" || v.Next != ""
	}
	if page.HydraMember == nil {
		page.HydraMember = page.Member
	}
	return c.setMembers(page.HydraMember)
}

func (c *collection[T]) setMembers(data json.RawMessage) error {
	if data == nil {
		return &DecodeError{Field: "hydra:member", Want: "present"}
	}
	if err := unmarshal(data, &c.members); err != nil {
		return err
	}
	c.ids = make([]IRI, len(c.members))
	var ids []struct {
		ID IRI `json:"@id"`
	}
	if unmarshal(data, &ids) == nil {
		for i := range ids {
			c.ids[i] = ids[i].ID
		}
	}
	return nil
}

// ended reports whether the list ends with this page, of which have members were
// read so far, fresh of them for the first time on this page.
func (c *collection[T]) ended(have, fresh int) bool {
	switch {
	case fresh == 0: // also when a server ignores the page number and repeats itself
		return true
	case c.paged:
		return !c.next
	case c.total != nil:
		return have >= *c.total
	}
	return len(c.members) < pageSize
}

// pageSize is the documented size of a page; it ends a list that tells neither
// its length nor its next page.
const pageSize = 30

// concurrentPages is how many pages of a list are read side by side once the first one
// has told how long it is: 240 records more than any catalogue that is known, and an
// eighth of a lane, so that a list keeps nobody waiting.
const concurrentPages = 8

// list reads a collection to its end, in order and each record once: the list
// may shift while its pages are read.
func list[T any](ctx context.Context, c *Client, r request) ([]T, error) {
	return listConcurrently(ctx, c, r, func([]T) {})
}

// listConcurrently is list that hands each page over as soon as it was read, in any order and
// to several callers at once, so that what is to be done for each record can begin. What
// is handed over may be more than the list, since only the list knows where it ends.
func listConcurrently[T any](ctx context.Context, c *Client, r request, seen func([]T)) ([]T, error) {
	got := accumulator[T]{seen: make(map[IRI]bool)}
	for page, wave := 1, 1; page <= maxPages; page, wave = page+wave, got.nextPages(page+wave-1) {
		pages, errs := make([]collection[T], wave), make([]error, wave)
		var reads sync.WaitGroup
		for i := range wave {
			reads.Go(func() {
				if pages[i], errs[i] = do[collection[T]](ctx, c, r.forPage(page+i)); errs[i] == nil {
					seen(pages[i].members)
				}
			})
		}
		reads.Wait()
		for i := range wave {
			if errs[i] != nil {
				return nil, errs[i]
			}
			ended := got.add(pages[i])
			if len(got.all) > maxRecords {
				return nil, &Error{Operation: r.op, Outcome: Unknown, Err: errUnboundedList}
			}
			if ended {
				return got.all, nil
			}
		}
	}
	return nil, &Error{Operation: r.op, Outcome: Unknown, Err: errUnboundedList}
}

// accumulator is what was read of a list so far.
type accumulator[T any] struct {
	all   []T
	seen  map[IRI]bool
	total int // as the latest page says; 0: it does not
	size  int // of the first page
}

// add takes a page, and reports whether the list ends with it.
func (g *accumulator[T]) add(page collection[T]) bool {
	before := len(g.all)
	for i, member := range page.members {
		if id := page.ids[i]; id == "" || !g.seen[id] {
			g.seen[id] = true
			g.all = append(g.all, member)
		}
	}
	if g.size == 0 {
		g.size = len(page.members)
	}
	g.total = 0
	if page.total != nil {
		g.total = *page.total
	}
	return page.ended(len(g.all), len(g.all)-before)
}

// nextPages is how many pages follow the first so many that can be read side by side: those
// that the list's length promises, or the next one where it tells none.
func (g *accumulator[T]) nextPages(read int) int {
	promised := 1
	if g.size > 0 {
		promised = (g.total+g.size-1)/g.size - read
	}
	return max(1, min(promised, concurrentPages, maxPages-read))
}

// forPage returns the request for a page of a list; the first one is asked for by
// the plain path.
func (r request) forPage(n int) request {
	if n == 1 {
		return r
	}
	query := url.Values{"page": {strconv.Itoa(n)}}
	for key, values := range r.query {
		query[key] = values
	}
	r.query = query
	return r
}

// withQuery returns the request with query parameters.
func (r request) withQuery(query url.Values) request {
	r.query = query
	return r
}

// first returns the first pointer that is not nil.
func first[T any](pointers ...*T) *T {
	for _, p := range pointers {
		if p != nil {
			return p
		}
	}
	return nil
}
