package handlers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"frontdesk/flows"
)

// oneOfProblems puts into words what is wrong with a value that takes one of
// several shapes, told apart by a member: only the shape that was meant counts.
func oneOfProblems(e *openapi3.SchemaError, pointer string) []flows.FieldProblem {
	member := e.Schema.Discriminator.PropertyName
	asked, isObject := e.Value.(map[string]any)
	if e.SchemaField == "oneOf" && !isObject {
		return []flows.FieldProblem{{Pointer: pointer, Message: "has to be of type object"}}
	}
	name, _ := asked[member].(string)
	ref := e.Schema.Discriminator.Mapping[name].Ref
	i := slices.IndexFunc(e.Schema.OneOf, func(variant *openapi3.SchemaRef) bool { return variant.Ref == ref })
	if i < 0 {
		var names []string
		for known := range e.Schema.Discriminator.Mapping {
			names = append(names, known)
		}
		slices.Sort(names)
		return []flows.FieldProblem{{Pointer: pointer + "/" + member, Message: fmt.Sprintf("has to be one of %s", strings.Join(names, ", "))}}
	}
	var problems []flows.FieldProblem
	err := e.Schema.OneOf[i].Value.VisitJSON(asked, openapi3.MultiErrors(), openapi3.VisitAsRequest())
	if !collect(err, pointer, &problems) || len(problems) == 0 {
		return []flows.FieldProblem{{Pointer: pointer, Message: genericMessage}}
	}
	return problems
}
