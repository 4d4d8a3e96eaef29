package club

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrUnreadable means that no record of a list that has some can be read.
const ErrUnreadable = cause("no record of the list can be read")

// records is a list in which each record is read by itself, so that one that cannot be read does not hide its
// neighbours.
type records[T any] []record[T]

type record[T any] struct {
	id    IRI    // empty: it has none
	key   string // what distinguishes it from others: its identifier, or without one all of it
	value T
	err   *DecodeError // why it cannot be read
}

// UnmarshalJSON reads a list. Only what is no list is an error.
func (r *records[T]) UnmarshalJSON(data []byte) error {
	var list []jsontext.Value
	if err := unmarshal(data, &list); err != nil {
		return err
	}
	*r = make(records[T], len(list))
	for i := range list {
		(*r)[i].read(list[i])
	}
	return nil
}

// identified is a record of which only the identifier is read.
type identified struct {
	IRI IRI `json:"@id"`
}

func (r *record[T]) read(data jsontext.Value) {
	var identity lenient[identified]
	_ = unmarshal(data, &identity) // an unreadable one has none
	r.id = identity.value.IRI
	r.key = cmp.Or(string(r.id), string(data))
	err := decodeError(unmarshal(data, &r.value))
	if of, ok := any(&r.value).(checker); ok && err == nil {
		err = of.check()
	}
	r.fail(err)
}

// fail makes a record unreadable, unless err is nil.
func (r *record[T]) fail(err error) {
	if malformed, ok := errors.AsType[*DecodeError](err); ok {
		r.err = malformed
	}
}

func (r records[T]) readDates(zoneOf func(IRI) *time.Location) error {
	for i := range r {
		if of, ok := any(&r[i].value).(dated); ok && r[i].err == nil {
			r[i].fail(of.readDates(zoneOf))
		}
	}
	return nil
}

// readable returns the records that can be read.
func (r records[T]) readable() []T {
	values := make([]T, 0, len(r))
	for i := range r {
		if r[i].err == nil {
			values = append(values, r[i].value)
		}
	}
	return values
}

// partial is a result of which something may have been left out.
type partial interface {
	// unreadable says why, once for each record.
	unreadable() []*DecodeError
}

func (r records[T]) unreadable() (left []*DecodeError) {
	for i := range r {
		if r[i].err != nil {
			left = append(left, r[i].err)
		} else if of, ok := any(&r[i].value).(partial); ok {
			left = append(left, of.unreadable()...)
		}
	}
	return left
}

// check returns an error if no record can be read: an empty list would mean that there are none.
func (r records[T]) check(op string) error {
	if len(r) == 0 || len(r.readable()) > 0 {
		return nil
	}
	return unreadable(op, r[0].err)
}

func unreadable(op string, why *DecodeError) error {
	return &Error{Operation: op, Outcome: Unknown, Status: http.StatusOK, Err: fmt.Errorf("%w: %w", ErrUnreadable, why)}
}

// within is the error of a record in a list of another record. A list of the same name within it adds nothing, so
// that there are only as many paths as fields.
func (e *DecodeError) within(list string) *DecodeError {
	field := strings.TrimSuffix(list+"."+strings.TrimPrefix(e.Field+".", list+"."), ".")
	return &DecodeError{Field: field, Want: e.Want}
}

// Unreadable is how many records of a response were left out because of a field.
type Unreadable struct {
	Operation string
	Field     string // the path of the JSON field within a record; "record" is all of it
	Count     uint64
}

// unreadables counts what was left out. There are as many entries as operations have fields.
type unreadables struct {
	counts sync.Map // Unreadable with a count of 0 → *atomic.Uint64
}

// Unreadable returns what this client has left out of the responses so far.
func (c *Client) Unreadable() (all []Unreadable) {
	c.unreadable.counts.Range(func(key, count any) bool {
		entry := key.(Unreadable)
		entry.Count = count.(*atomic.Uint64).Load()
		all = append(all, entry)
		return true
	})
	return all
}

// countUnreadable counts what was left out of a result, and logs each kind once.
func (c *Client) countUnreadable(ctx context.Context, op string, result any) {
	of, ok := result.(partial)
	if !ok {
		return
	}
	for _, left := range of.unreadable() {
		kind := Unreadable{Operation: op, Field: cmp.Or(left.Field, "record")}
		count, known := c.unreadable.counts.LoadOrStore(kind, new(atomic.Uint64))
		count.(*atomic.Uint64).Add(1)
		if !known {
			c.cfg.Logger.WarnContext(ctx, "a record of the club system cannot be read and is left out; others like it are only counted",
				slog.String("operation", op), slog.String("reason", left.Error()))
		}
	}
}
