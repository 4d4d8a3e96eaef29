package handlers

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/labstack/echo/v4"

	"frontdesk/flows"
)

// fieldError is the list of one problem. params are the names and values of its parameters, in turn.
func fieldError(pointer string, code flows.FieldCode, params ...string) []flows.FieldProblem {
	problem := flows.FieldProblem{Pointer: pointer, Code: code}
	for pair := range slices.Chunk(params, 2) {
		if problem.Params == nil {
			problem.Params = map[string]string{}
		}
		problem.Params[pair[0]] = pair[1]
	}
	return []flows.FieldProblem{problem}
}

// writtenDate accepts a day that its month does not have, such as 30 February. The tags and the services refuse it,
// together with what only the club can know to be wrong.
var writtenDate = openapi3.WithStringFormatValidator("date", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringDate))

// validateSchema checks a request against the contract.
func validateSchema(c echo.Context, op operation) ([]flows.FieldProblem, error) {
	path := map[string]string{}
	for i, name := range c.ParamNames() {
		path[name] = c.ParamValues()[i]
	}
	err := openapi3filter.ValidateRequest(c.Request().Context(), &openapi3filter.RequestValidationInput{
		Request: c.Request(), PathParams: path, Route: &op.Route, QueryParams: c.QueryParams(),
		Options: &openapi3filter.Options{
			MultiError: true, KeepValidatedValue: true,
			SkipSettingDefaults: true,                                  // they would change the address, which is part of the key of a cached response
			AuthenticationFunc:  openapi3filter.NoopAuthenticationFunc, // the services check credentials

			SchemaValidationOptions: []openapi3.SchemaValidationOption{writtenDate},
		},
	})
	problems, ok := problemsIn(err, "")
	if !ok {
		return nil, fmt.Errorf("validation of %s %s: %w", op.Method, op.Path, err)
	}
	if slices.ContainsFunc(problems, func(p flows.FieldProblem) bool { return strings.HasPrefix(p.Pointer, "path/") }) {
		return nil, &flows.Error{Code: flows.NotFound} // nothing has an invalid id
	}
	return problems, nil
}

// problemsIn flattens the errors of the validation. ok is false for an error that is not about the
// request.
func problemsIn(err error, base string) (problems []flows.FieldProblem, ok bool) {
	switch e := err.(type) { //nolint:errorlint // the tree of errors is walked level by level
	case nil:
		return nil, true
	case openapi3.MultiError:
		for _, one := range e {
			found, ok := problemsIn(one, base)
			if !ok {
				return nil, false
			}
			problems = append(problems, found...)
		}
		return problems, true
	case *openapi3filter.RequestError:
		return requestProblems(e)
	case *openapi3.SchemaError:
		return schemaProblems(e, base), true
	}
	return nil, false
}

func requestProblems(e *openapi3filter.RequestError) ([]flows.FieldProblem, bool) {
	base := ""
	if e.Parameter != nil {
		base = e.Parameter.In + "/" + e.Parameter.Name
		if e.Err == nil || errors.Is(e.Err, openapi3filter.ErrInvalidRequired) {
			return fieldError(base, flows.FieldRequired), true
		}
	}
	if problems, ok := problemsIn(e.Err, base); ok && e.Err != nil {
		return problems, true
	}
	return fieldError(base, flows.FieldUnreadable), e.Parameter != nil || e.RequestBody != nil
}

// quoted finds the member that a message of the validator names.
var quoted = regexp.MustCompile(`"([^"]+)"`)

// schemaProblems describes a violation of a schema. A message about a member points at that member,
// so that a form finds its field.
func schemaProblems(e *openapi3.SchemaError, base string) []flows.FieldProblem {
	if e.Schema != nil && e.Schema.Discriminator != nil {
		return oneOfProblems(e, base)
	}
	if problems, ok := problemsIn(e.Origin, base); ok && len(problems) > 0 {
		return problems
	}
	pointer := base
	for _, part := range e.JSONPointer() {
		pointer += "/" + pointerEscaper.Replace(part)
	}
	member := quoted.FindStringSubmatch(e.Reason)
	switch {
	case e.SchemaField == "required" && member != nil:
		// The pointer of a missing member names it already.
		return fieldError(strings.TrimSuffix(pointer, "/"+member[1])+"/"+member[1], flows.FieldRequired)
	case strings.Contains(e.Reason, "is unsupported") && member != nil:
		return fieldError(pointer+"/"+pointerEscaper.Replace(member[1]), flows.FieldUnknownMember)
	}
	return schemaProblem(e, pointer)
}

// pointerEscaper escapes a segment of a JSON pointer (RFC 6901).
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// oneOfProblems describes a value of several possible shapes, by the shape that a member selects.
func oneOfProblems(e *openapi3.SchemaError, pointer string) []flows.FieldProblem {
	member, mapping := e.Schema.Discriminator.PropertyName, e.Schema.Discriminator.Mapping
	object, isObject := e.Value.(map[string]any)
	if e.SchemaField == "oneOf" && !isObject {
		return fieldError(pointer, flows.FieldType, "type", "object")
	}
	name, _ := object[member].(string)
	i := slices.IndexFunc(e.Schema.OneOf, func(variant *openapi3.SchemaRef) bool { return variant.Ref == mapping[name].Ref })
	if i < 0 {
		return fieldError(pointer+"/"+member, flows.FieldOneOf, "allowed", strings.Join(slices.Sorted(maps.Keys(mapping)), ", "))
	}
	err := e.Schema.OneOf[i].Value.VisitJSON(object, openapi3.MultiErrors(), openapi3.VisitAsRequest(), writtenDate)
	problems, ok := problemsIn(err, pointer)
	if !ok || len(problems) == 0 {
		return fieldError(pointer, flows.FieldInvalid)
	}
	return problems
}

// schemaProblem names what a schema requires of the value at a pointer.
func schemaProblem(e *openapi3.SchemaError, pointer string) []flows.FieldProblem {
	if e.Schema.Format == "date" && e.SchemaField != "type" { // a date with a time is only too long for the schema
		return fieldError(pointer, flows.FieldDate)
	}
	switch e.SchemaField {
	case "type", "nullable":
		return fieldError(pointer, flows.FieldType, "type", strings.Join(e.Schema.Type.Slice(), ", "))
	case "enum":
		return fieldError(pointer, flows.FieldOneOf, "allowed", strings.Join(each(e.Schema.Enum, func(value any) string { return fmt.Sprint(value) }), ", "))
	case "minLength":
		if e.Schema.MinLength == 1 {
			return fieldError(pointer, flows.FieldBlank)
		}
		return fieldError(pointer, flows.FieldTooShort, "min", fmt.Sprint(e.Schema.MinLength))
	case "maxLength":
		return fieldError(pointer, flows.FieldTooLong, "max", fmt.Sprint(*e.Schema.MaxLength))
	case "minItems":
		return fieldError(pointer, flows.FieldTooFew, "min", fmt.Sprint(e.Schema.MinItems))
	case "maxItems":
		return fieldError(pointer, flows.FieldTooMany, "max", fmt.Sprint(*e.Schema.MaxItems))
	case "minimum":
		return fieldError(pointer, flows.FieldTooSmall, "min", fmt.Sprint(*e.Schema.Min))
	case "maximum":
		return fieldError(pointer, flows.FieldTooLarge, "max", fmt.Sprint(*e.Schema.Max))
	case "format":
		return fieldError(pointer, flows.FieldFormat, "format", e.Schema.Format)
	default:
		return fieldError(pointer, flows.FieldInvalid)
	}
}
