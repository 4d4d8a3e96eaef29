package clubsim

import (
	"encoding/json"
	"fmt"
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

// orderPattern is a parameter that orders a list by a member of its records, or of what they embed.
var orderPattern = regexp.MustCompile(`^order\[([\w.]+)\]$`)

// inOrder sorts the items of a list as a parameter asks, such as order[createdAt]=desc. Without one they are in the order of their
// numbers, and so they stay where the member does not tell them apart.
func inOrder[T, R any](query parameters, items []T, record func(T) R) []T {
	type keyed struct {
		item T
		key  string
	}
	for _, parameter := range slices.Sorted(maps.Keys(query.Values)) {
		by := orderPattern.FindStringSubmatch(parameter)
		if by == nil {
			continue
		}
		rows := make([]keyed, len(items))
		for i, item := range items {
			rows[i] = keyed{item, sortKey(record(item), strings.Split(by[1], "."))}
		}
		slices.SortStableFunc(rows, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
		if strings.EqualFold(query.Get(parameter), "desc") {
			slices.Reverse(rows)
		}
		items = records(rows, func(row keyed) T { return row.item })
	}
	return items
}

// sortKey is the text by which a record is sorted: a member, with numbers as wide as each other.
func sortKey(value any, path []string) string {
	var decoded any
	_ = json.Unmarshal(encode(value), &decoded) // as a client sees it
	for _, name := range path {
		members, _ := decoded.(map[string]any)
		decoded = members[name]
	}
	switch key := decoded.(type) {
	case float64:
		return fmt.Sprintf("%020.2f", key)
	case string:
		return strings.ToLower(key)
	}
	return ""
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
		parameter := name + "[" + bound + "]"
		text := c.req.query.Get(parameter)
		if text == "" {
			continue
		}
		limit, err := parseMoment(text)
		if err != nil {
			return false, invalid(violation{PropertyPath: parameter, Message: messageType})
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
