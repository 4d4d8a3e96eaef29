// Package requests cuts the contract down to what the edge holds requests, routes and
// tables against. The rest of openapi.yaml, which is most of it, is for people, who read
// the file itself: texts, examples, and what answers look like.
//
// It runs where the contract is written (see make) and in tests, and not where Frontdesk
// runs: reading YAML took a sixth of the time of a start.
package requests

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// problemCodes is the schema whose description is the table of all problems.
const problemCodes = "ProblemCode"

// Cut reads a contract in YAML, and gives what is left of it in JSON.
func Cut(contract []byte) ([]byte, error) {
	var tree map[string]any
	if err := yaml.Unmarshal(contract, &tree); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	forRequests(tree)
	encoded, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	return encoded, nil
}

// forRequests cuts a contract down to what is asked of requests, with two tables in
// words: that of the problems, and of how often what may be asked for.
func forRequests(tree map[string]any) {
	paths, components := member(tree, "paths"), member(tree, "components")
	for path := range paths {
		for method := range member(paths, path) {
			responses := member(member(member(paths, path), method), "responses")
			maps.DeleteFunc(responses, func(status string, _ any) bool { return status != "429" })
		}
	}
	strip(paths)
	for name := range member(components, "responses") {
		response := member(member(components, "responses"), name)
		delete(response, "content")
		delete(response, "headers")
	}
	schemas, needed := member(components, "schemas"), map[string]bool{schemaPath + problemCodes: true}
	references(paths, needed)
	references(member(components, "parameters"), needed)
	for before := 0; before != len(needed); {
		before = len(needed)
		for name, schema := range schemas {
			if needed[schemaPath+name] {
				references(schema, needed)
			}
		}
	}
	maps.DeleteFunc(schemas, func(name string, _ any) bool { return !needed[schemaPath+name] })
	for name, schema := range schemas {
		if name != problemCodes {
			strip(schema)
		}
	}
}

// schemaPath stands before a schema's name where it is referred to.
const schemaPath = "#/components/schemas/"

// member gives an object in an object; nil where there is none.
func member(of map[string]any, name string) map[string]any {
	found, _ := of[name].(map[string]any)
	return found
}

// strip takes out what is for people. A property may have any name, and the answers that
// are left have their words for a reason.
func strip(node any) {
	switch node := node.(type) {
	case []any:
		for _, each := range node {
			strip(each)
		}
	case map[string]any:
		for name, value := range node {
			switch {
			case name == "responses":
			case name == "properties":
				for _, property := range member(node, name) {
					strip(property)
				}
			case name == "description" || name == "summary" || name == "example" || name == "examples" || strings.HasPrefix(name, "x-"):
				delete(node, name)
			default:
				strip(value)
			}
		}
	}
}

// references notes what is referred to. What only looks like a reference keeps a schema too many.
func references(node any, needed map[string]bool) {
	switch node := node.(type) {
	case string:
		if strings.HasPrefix(node, schemaPath) {
			needed[node] = true
		}
	case []any:
		for _, each := range node {
			references(each, needed)
		}
	case map[string]any:
		for _, value := range node {
			references(value, needed)
		}
	}
}
