package probe

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Kinds of JSON values. They are finer than JSON's own where installations differ.
const (
	null        = "null"
	boolean     = "boolean"
	integer     = "integer"
	wholeFloat  = "whole float" // 12.0
	fraction    = "fraction"
	text        = "string"
	iri         = "IRI"
	date        = "date"
	instant     = "date-time" // without a zone
	zoned       = "date-time with zone"
	list        = "list"
	emptyList   = "empty list"
	gaps        = "list with gaps" // an object with whole numbers as names
	object      = "object"
	emptyObject = "empty object"
)

// shape is what a response looks like without its values: the kinds of values at each path, such as
// "hydra:member[].tags[].name", and how often each was seen. The empty path is the whole response.
type shape map[string]map[string]int

// textKinds are the forms of a string that differ here. Any other is text.
var textKinds = []struct {
	kind    string
	pattern *regexp.Regexp
}{
	{date, regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)},
	{instant, regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$`)},
	{zoned, regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$`)},
	{iri, regexp.MustCompile(`^/[^/\s]+/[a-z_]+/[^/\s?]+$`)},
}

var (
	wholeFloatPattern = regexp.MustCompile(`^-?\d+\.0+$`)
	// memberPattern matches the name of a member. Any other name of an object may be a value, such as an address.
	memberPattern = regexp.MustCompile(`^@?([a-z]+:)?[a-z][A-Za-z_]{0,39}\d{0,2}$`)
	indexPattern  = regexp.MustCompile(`^\d+$`)
)

// decode reads a body with its numbers as they are written. It reports false for what is not JSON.
func decode(body []byte) (value any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	decoder.UseNumber()
	return value, decoder.Decode(&value) == nil
}

// add adds a value and all within it.
func (s shape) add(path string, value any) {
	kind := kindOf(value)
	if s[path] == nil {
		s[path] = map[string]int{}
	}
	s[path][kind]++
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if kind == gaps {
				s.add(path+"[]", member)
			} else {
				s.add(below(path, name), member)
			}
		}
	case []any:
		for _, entry := range value {
			s.add(path+"[]", entry)
		}
	}
}

// below is the path of a member. A list within an entry of a list of its name adds nothing, so that a tree of any
// depth has few paths. Names that may be values become one.
func below(path, name string) string {
	if !memberPattern.MatchString(name) {
		name = "*"
	}
	if outer, nested := strings.CutSuffix(path, "[]"); nested && (outer == name || strings.HasSuffix(outer, "."+name)) {
		return outer
	}
	return strings.TrimPrefix(path+"."+name, ".")
}

func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return null
	case bool:
		return boolean
	case json.Number:
		switch {
		case wholeFloatPattern.MatchString(string(value)):
			return wholeFloat
		case strings.ContainsAny(string(value), ".eE"):
			return fraction
		}
		return integer
	case string:
		for _, form := range textKinds {
			if form.pattern.MatchString(value) {
				return form.kind
			}
		}
		return text
	case []any:
		if len(value) == 0 {
			return emptyList
		}
		return list
	case map[string]any:
		named := slices.ContainsFunc(slices.Collect(maps.Keys(value)), func(name string) bool { return !indexPattern.MatchString(name) })
		switch {
		case len(value) == 0:
			return emptyObject
		case !named:
			return gaps
		}
	}
	return object
}

// kinds returns how often each kind was seen at a path, written as plain does.
func (s shape) kinds(path string) map[string]int {
	found := map[string]int{}
	for other, kinds := range s {
		if plain(other) == path {
			for kind, count := range kinds {
				found[kind] += count
			}
		}
	}
	return found
}

// plain writes a path without the prefix of Hydra's members, and an array as the members of a collection.
func plain(path string) string {
	path = strings.ReplaceAll(path, "hydra:", "")
	if strings.HasPrefix(path, "[]") {
		return "member" + path
	}
	return path
}
