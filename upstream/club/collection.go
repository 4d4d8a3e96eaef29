package club

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
)

// mostPages is where a list ends for good: 6,000 records at thirty a page, far
// beyond any catalogue. A longer list is a server that never says where it ends.
const mostPages = 200

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
	if err := json.Unmarshal(data, &page); err != nil {
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
	if err := json.Unmarshal(data, &c.members); err != nil {
		return err
	}
	c.ids = make([]IRI, len(c.members))
	var ids []struct {
		ID IRI `json:"@id"`
	}
	if json.Unmarshal(data, &ids) == nil {
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

// list reads a collection to its end, in order and each record once: the list
// may shift while its pages are read.
func list[T any](ctx context.Context, c *Client, r request) ([]T, error) {
	var all []T
	seen := make(map[IRI]bool)
	for page := 1; page <= mostPages; page++ {
		got, err := do[collection[T]](ctx, c, r.page(page))
		if err != nil {
			return nil, err
		}
		before := len(all)
		for i, member := range got.members {
			if id := got.ids[i]; id == "" || !seen[id] {
				seen[id] = true
				all = append(all, member)
			}
		}
		if got.ended(len(all), len(all)-before) {
			return all, nil
		}
	}
	return nil, &Error{Operation: r.op, Outcome: Unknown, Err: errEndless}
}

// page returns the request for a page of a list; the first one is asked for by
// the plain path.
func (r request) page(n int) request {
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

// with returns the request with query parameters.
func (r request) with(query url.Values) request {
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
