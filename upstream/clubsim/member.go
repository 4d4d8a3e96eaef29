package clubsim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Members are members that the responses of an installation's reads have in addition, lack, or write with another kind of value:
// by endpoint, such as "GET contacts/{id}", and path, such as "tags[].validFrom" or, in a list, "member[].tags[].validFrom".
// The value is one of memberKinds, or "absent". PUT settings replaces the paths of each endpoint that it names.
type Members map[string]map[string]string

const memberAbsent = "absent"

// memberKinds are the kinds of values, each with the one that a member gets that the simulator does not have.
var memberKinds = map[string]any{
	"null":                nil,
	"boolean":             false,
	"integer":             json.Number("1"),
	"whole float":         json.Number("1.0"),
	"fraction":            json.Number("1.5"),
	"string":              "text",
	"IRI":                 "/demo/records/1",
	"date":                "2026-12-01",
	"date-time":           "2026-12-01T10:00:00",
	"date-time with zone": "2026-12-01T10:00:00+00:00",
	"list":                []any{map[string]any{}}, // one entry, whose kind and members other paths may change
	"empty list":          []any{},
	"object":              map[string]any{},
	"empty object":        map[string]any{},
}

func (m Members) verify() error {
	for _, endpoint := range slices.Sorted(maps.Keys(m)) {
		if !slices.ContainsFunc(operations, func(o *operation) bool { return o.method == "GET" && o.isNamed(endpoint) }) {
			return fmt.Errorf("members: %q is not the endpoint of a read", endpoint)
		}
		for path, kind := range m[endpoint] {
			if _, known := memberKinds[kind]; !known && kind != memberAbsent {
				return fmt.Errorf("members: %s %s: %q is not one of absent, %s", endpoint, path, kind,
					strings.Join(slices.Sorted(maps.Keys(memberKinds)), ", "))
			}
		}
	}
	return nil
}

// of returns the paths of an operation.
func (m Members) of(op *operation) map[string]string {
	for endpoint, paths := range m {
		if op.isNamed(endpoint) {
			return paths
		}
	}
	return nil
}

// changeMembers changes a decoded response. A path comes after those above it.
func changeMembers(body any, paths map[string]string) any {
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		body = changeMember(body, strings.Split(path, "."), paths[path])
	}
	return body
}

// changeMember returns a value whose member at a path has the kind.
func changeMember(value any, path []string, kind string) any {
	if len(path) == 0 {
		return asKind(value, kind)
	}
	name, isList := strings.CutSuffix(path[0], "[]")
	if entries, ok := value.([]any); ok && name == "member" { // a list without anything around it
		return changeEntries(entries, path[1:], kind)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return value
	}
	if _, prefixed := fields["hydra:"+name]; prefixed {
		name = "hydra:" + name
	}
	member, exists := fields[name]
	switch entries, _ := member.([]any); {
	case kind == memberAbsent && len(path) == 1:
		delete(fields, name)
	case isList:
		changeEntries(entries, path[1:], kind)
	case exists || len(path) == 1:
		fields[name] = changeMember(member, path[1:], kind)
	}
	return value
}

func changeEntries(entries []any, path []string, kind string) []any {
	for i := range entries {
		entries[i] = changeMember(entries[i], path, kind)
	}
	return entries
}

// asKind writes a value as another kind, and keeps its number or its text where the kind has one.
func asKind(value any, kind string) any {
	number, isNumber := value.(json.Number)
	switch {
	case isNumber && kind == "string":
		return string(number)
	case isNumber && kind == "whole float":
		return number + ".0"
	}
	return copyOf(memberKinds[kind])
}

// copyOf copies a value that its holder may change.
func copyOf(value any) any {
	switch value := value.(type) {
	case map[string]any:
		copied := map[string]any{}
		for name, member := range value {
			copied[name] = copyOf(member)
		}
		return copied
	case []any:
		copied := []any{}
		for _, entry := range value {
			copied = append(copied, copyOf(entry))
		}
		return copied
	}
	return value
}
