package clubsim

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// parameters are those of a query. They remember which ones an operation asked for: it does not know the others.
type parameters struct {
	url.Values
	asked map[string]bool
}

// Get returns the first value of a parameter.
func (p parameters) Get(name string) string {
	p.asked[name] = true
	return p.Values.Get(name)
}

// all returns the values of a filter: name, name[] or name[0].
func (p parameters) all(name string) (values []string) {
	for _, key := range slices.Sorted(maps.Keys(p.Values)) {
		index, isList := strings.CutPrefix(key, name+"[")
		if key == name || isList && listIndex.MatchString(index) {
			p.asked[key] = true
			values = append(values, p.Values[key]...)
		}
	}
	return slices.DeleteFunc(values, func(value string) bool { return value == "" })
}

// listIndex is what follows the opening bracket of a filter with several values.
var listIndex = regexp.MustCompile(`^\d*\]$`)

// unknown names each parameter that the operation did not ask for.
func (p parameters) unknown() (wrong []violation) {
	for _, name := range slices.Sorted(maps.Keys(p.Values)) {
		if !p.asked[name] {
			wrong = append(wrong, violation{PropertyPath: name, Message: "This filter is not known."})
		}
	}
	return wrong
}

// wanted reports whether a value is among those that a filter asks for. A filter that was not sent asks for all.
func wanted[T comparable](asked []T, value T) bool {
	return len(asked) == 0 || slices.Contains(asked, value)
}

// filterIRIs reads the identifiers of a filter; an error when one is not an identifier of that collection.
func (c *request) filterIRIs(name, collection string) (ids []int, err error) {
	for _, text := range c.req.query.all(name) {
		id := c.w.parseIRI(collection, text)
		if id == 0 {
			return nil, itemNotFound()
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// within reports whether a moment is within the bounds of a filter: name[after], name[before], and the strict forms of both.
func (c *request) within(name string, moment time.Time) (inside bool, err error) {
	inside = true
	for bound, fits := range map[string]func(time.Time) bool{
		"after":           func(limit time.Time) bool { return !moment.Before(limit) },
		"before":          func(limit time.Time) bool { return !moment.After(limit) },
		"strictly_after":  moment.After,
		"strictly_before": moment.Before,
	} {
		text := c.req.query.Get(name + "[" + bound + "]")
		if text == "" {
			continue
		}
		limit, err := parseMoment(text)
		if err != nil {
			return false, invalid(violation{PropertyPath: name, Message: messageType})
		}
		inside = inside && fits(limit)
	}
	return inside, nil
}

// parseMoment reads a date, or a date-time; one without a zone is in UTC, as the simulator writes them.
func parseMoment(text string) (moment time.Time, err error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime, time.DateOnly} {
		if moment, err = time.Parse(layout, text); err == nil {
			return moment, nil
		}
	}
	return moment, err
}
