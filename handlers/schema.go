package handlers

import (
	"cmp"
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

// writtenDate accepts a day that its month does not have, such as 30 February, in a parameter. The services refuse it,
// together with what only the club can know to be wrong.
var writtenDate = openapi3.WithStringFormatValidator("date", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringDate))

// missing is what an id in the path does not name.
var missing = map[string]flows.Code{
	"id":      flows.RegistrationNotFound,
	"clubId":  flows.ClubNotFound,
	"offerId": flows.OfferNotFound,
}

// bodyRules are how schemas check a body: all of it, as a request's.
var bodyRules = []openapi3.SchemaValidationOption{openapi3.MultiErrors(), openapi3.VisitAsRequest()}

// validateSchema checks a request with its decoded body against the contract.
func validateSchema(c echo.Context, op operation, body any) ([]flows.FieldProblem, error) {
	path := map[string]string{}
	for i, name := range c.ParamNames() {
		path[name] = c.ParamValues()[i]
	}
	input := &openapi3filter.RequestValidationInput{
		Request:     c.Request(),
		PathParams:  path,
		Route:       &op.Route,
		QueryParams: c.QueryParams(),
		Options: &openapi3filter.Options{
			ExcludeRequestBody: true, // which is decoded already
			MultiError:         true,
			// Defaults would change the address, which is part of the key of a cached response.
			SkipSettingDefaults:     true,
			AuthenticationFunc:      openapi3filter.NoopAuthenticationFunc, // the services check credentials
			SchemaValidationOptions: []openapi3.SchemaValidationOption{writtenDate},
		},
	}
	var failures openapi3.MultiError
	if err := openapi3filter.ValidateRequest(c.Request().Context(), input); err != nil {
		failures = append(failures, err)
	}
	if schema := op.bodySchema(); schema != nil {
		if err := schema.VisitJSON(body, bodyRules...); err != nil {
			failures = append(failures, err)
		}
	}
	problems, ok := problemsIn(failures, "")
	if !ok {
		return nil, fmt.Errorf("validation of %s %s: %w", op.Method, op.Path, failures)
	}
	for _, problem := range problems {
		if in, name, _ := strings.Cut(problem.Pointer, "/"); in == "path" { // nothing has an invalid id
			return nil, &flows.Error{Code: cmp.Or(missing[name], flows.NotFound)}
		}
	}
	return problems, nil
}

// problemsIn flattens the errors of the validation. ok is false for an error that is not about the
// request.
func problemsIn(err error, base string) (problems []flows.FieldProblem, ok bool) {
	switch failure := err.(type) { //nolint:errorlint // the tree of errors is walked level by level
	case nil:
		return nil, true
	case openapi3.MultiError:
		for _, one := range failure {
			found, ok := problemsIn(one, base)
			if !ok {
				return nil, false
			}
			problems = append(problems, found...)
		}
		return problems, true
	case *openapi3filter.RequestError:
		return parameterProblems(failure)
	case *openapi3.SchemaError:
		return schemaProblems(failure, base), true
	}
	return nil, false
}

// parameterProblems describes what is wrong with a parameter or a header. ok is false for an error of the request's body.
func parameterProblems(failure *openapi3filter.RequestError) (problems []flows.FieldProblem, ok bool) {
	if failure.Parameter == nil {
		return nil, false
	}
	at := failure.Parameter.In + "/" + failure.Parameter.Name
	if failure.Err == nil || errors.Is(failure.Err, openapi3filter.ErrInvalidRequired) {
		return fieldError(at, flows.FieldRequired), true
	}
	if problems, ok := problemsIn(failure.Err, at); ok {
		return problems, true
	}
	return fieldError(at, flows.FieldUnreadable), true
}

// quoted finds the member that a message of the validator names.
var quoted = regexp.MustCompile(`"([^"]+)"`)

// schemaProblems describes a violation of a schema. A message about a member points at that member,
// so that a form finds its field.
func schemaProblems(failure *openapi3.SchemaError, base string) []flows.FieldProblem {
	if failure.Schema != nil && failure.Schema.Discriminator != nil {
		return oneOfProblems(failure, base)
	}
	if problems, ok := problemsIn(failure.Origin, base); ok && len(problems) > 0 {
		return problems
	}
	pointer := base
	for _, part := range failure.JSONPointer() {
		pointer += "/" + pointerEscaper.Replace(part)
	}
	member := quoted.FindStringSubmatch(failure.Reason)
	switch {
	case failure.SchemaField == "required" && member != nil:
		// The pointer of a missing member names it already.
		return fieldError(strings.TrimSuffix(pointer, "/"+member[1])+"/"+member[1], flows.FieldRequired)
	case strings.Contains(failure.Reason, "is unsupported") && member != nil:
		return fieldError(pointer+"/"+pointerEscaper.Replace(member[1]), flows.FieldUnknownMember)
	}
	return schemaProblem(failure, pointer)
}

// pointerEscaper escapes a segment of a JSON pointer (RFC 6901).
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// oneOfProblems describes a value of several possible shapes, by the shape that a member selects.
func oneOfProblems(failure *openapi3.SchemaError, pointer string) []flows.FieldProblem {
	member, mapping := failure.Schema.Discriminator.PropertyName, failure.Schema.Discriminator.Mapping
	object, isObject := failure.Value.(map[string]any)
	if failure.SchemaField == "oneOf" && !isObject {
		return fieldError(pointer, flows.FieldType, "type", "object")
	}
	name, _ := object[member].(string)
	i := slices.IndexFunc(failure.Schema.OneOf, func(variant *openapi3.SchemaRef) bool { return variant.Ref == mapping[name].Ref })
	if i < 0 {
		return fieldError(pointer+"/"+member, flows.FieldOneOf, "allowed", strings.Join(slices.Sorted(maps.Keys(mapping)), ", "))
	}
	err := failure.Schema.OneOf[i].Value.VisitJSON(object, bodyRules...)
	problems, ok := problemsIn(err, pointer)
	if !ok || len(problems) == 0 {
		return fieldError(pointer, flows.FieldInvalid)
	}
	return problems
}

// schemaProblem names what a schema requires of the value at a pointer.
func schemaProblem(failure *openapi3.SchemaError, pointer string) []flows.FieldProblem {
	if failure.Schema.Format == "date" && failure.SchemaField != "type" { // a date with a time is only too long for the schema
		return fieldError(pointer, flows.FieldDate)
	}
	switch failure.SchemaField {
	case "type", "nullable":
		return fieldError(pointer, flows.FieldType, "type", strings.Join(failure.Schema.Type.Slice(), ", "))
	case "enum":
		allowed := each(failure.Schema.Enum, func(value any) string { return fmt.Sprint(value) })
		return fieldError(pointer, flows.FieldOneOf, "allowed", strings.Join(allowed, ", "))
	case "minLength":
		if failure.Schema.MinLength == 1 {
			return fieldError(pointer, flows.FieldBlank)
		}
		return fieldError(pointer, flows.FieldTooShort, "min", fmt.Sprint(failure.Schema.MinLength))
	case "maxLength":
		return fieldError(pointer, flows.FieldTooLong, "max", fmt.Sprint(*failure.Schema.MaxLength))
	case "minItems":
		return fieldError(pointer, flows.FieldTooFew, "min", fmt.Sprint(failure.Schema.MinItems))
	case "maxItems":
		return fieldError(pointer, flows.FieldTooMany, "max", fmt.Sprint(*failure.Schema.MaxItems))
	case "minimum":
		return fieldError(pointer, flows.FieldTooSmall, "min", fmt.Sprint(*failure.Schema.Min))
	case "maximum":
		return fieldError(pointer, flows.FieldTooLarge, "max", fmt.Sprint(*failure.Schema.Max))
	case "format":
		return fieldError(pointer, flows.FieldFormat, "format", failure.Schema.Format)
	default:
		return fieldError(pointer, flows.FieldInvalid)
	}
}
