package handlers

import (
	"maps"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"frontdesk/api"
	"frontdesk/flows"
)

// splitPointer takes apart where a problem is that is not in the body, such as
// query/type; of a place in the body, which begins with a slash, in is empty.
func splitPointer(pointer string) (in, name string) {
	in, name, _ = strings.Cut(pointer, "/")
	return in, name
}

// fieldProblem tells where a problem is in the members of the contract: a header
// and a parameter have no JSON pointer, so each has a member of its own.
func fieldProblem(of flows.FieldProblem) api.FieldProblem {
	problem := api.FieldProblem{Pointer: singleLine(of.Pointer), Message: singleLine(of.Message)}
	switch in, name := splitPointer(problem.Pointer); in {
	case "header":
		problem.Header = &name
	case "query":
		problem.Parameter = &name
	}
	return problem
}

// unknownParameters refuses query parameters that the operation does not have: one that is
// misspelt and left out would change the answer without a word. What is known is told.
// Who asks for health may ask as they like, such as past a cache.
func unknownParameters(c echo.Context, op operation) (problems []flows.FieldProblem) {
	if !strings.HasPrefix(c.Path(), "/v1/") {
		return nil
	}
	var known []string
	for _, parameter := range op.Operation.Parameters {
		if parameter.Value.In == "query" {
			known = append(known, parameter.Value.Name)
		}
	}
	message := "is not a known parameter: there is none here"
	if len(known) > 0 {
		message = "is not a known parameter; known are " + strings.Join(known, ", ")
	}
	for _, name := range slices.Sorted(maps.Keys(c.QueryParams())) {
		if !slices.Contains(known, name) {
			problems = append(problems, flows.FieldProblem{Pointer: "query/" + name, Message: message})
		}
	}
	return problems
}
