package club

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"sync"
)

// maxPages is 6,000 records at thirty a page, far beyond any catalogue. A longer list comes
// from a server that never ends it.
const maxPages = 200

// maxRecords is the same limit for longer pages.
const maxRecords = maxPages * pageSize

// collection is a page of a list in any of its forms: hydra:Collection with or
// without the prefix, or a bare array.
type collection[T any] struct {
	members []T
	ids     []IRI // of the members, in the same order; empty for those without
	total   *int
	paged   bool // the page tells whether there is a next one
	next    bool
}

// view is the part of a page that names the next one.
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

// ended reports whether the list ends with this page. have is the number of members read so
// far, fresh the number of new ones on this page.
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

// pageSize is the documented size of a page. It ends a list that has neither a length nor a
// next page.
const pageSize = 30

// concurrentPages are read in parallel once the first page has told the length of the list:
// 240 records, more than any known catalogue, and an eighth of a bulkhead's permits.
const concurrentPages = 8

// list reads a complete collection, in order and each record once, even if the list shifts
// while its pages are read.
func list[T any](ctx context.Context, c *Client, r request) ([]T, error) {
	return listConcurrently(ctx, c, r, func([]T) {})
}

// listConcurrently is list that also passes each page to seen as soon as it was read, in
// any order and from several goroutines, so that work on the records can begin. seen may
// get records beyond the end of the list.
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

// accumulator collects the pages of a list.
type accumulator[T any] struct {
	all   []T
	seen  map[IRI]bool
	total int // according to the latest page; 0: unknown
	size  int // of the first page
}

// add adds a page, and reports whether the list ends with it.
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

// nextPages is how many pages can be read in parallel after the first read ones: as many as
// the list's length promises, or one.
func (g *accumulator[T]) nextPages(read int) int {
	promised := 1
	if g.size > 0 {
		promised = (g.total+g.size-1)/g.size - read
	}
	return max(1, min(promised, concurrentPages, maxPages-read))
}

// forPage returns the request for a page of a list; the first page has no parameter.
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
