package handlers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/go-playground/validator/v10"
	"github.com/labstack/echo/v4"

	"frontdesk/api"
	"frontdesk/flows"
	"frontdesk/flows/catalogue"
)

// operation is a route of the contract.
type operation struct {
	routers.Route
	needsKey     bool // an Idempotency-Key is required
	needsCaptcha bool // strangers answer the challenge first, where there is one
}

// bodyTypes makes the typed body of an operation, for the checks that the contract
// puts into tags: what a schema cannot say, such as a birth date.
var bodyTypes = map[string]func(body []byte) any{
	"startRegistration": func([]byte) any { return new(api.StartRegistration) },
	"putPerson":         func([]byte) any { return new(api.Person) },
	"addItem":           func([]byte) any { return new(api.NewItem) },
	"createMandate":     func([]byte) any { return new(api.NewMandate) },
	"startPayment":      paymentBody,
}

// paymentBody makes the body that goes with the method that is asked for.
func paymentBody(body []byte) any {
	var asked struct{ Method api.PaymentMethod }
	_ = json.Unmarshal(body, &asked) // the document tells of a method that is none
	switch asked.Method {
	case api.PaymentMethodLater:
		return new(api.StartLaterPayment)
	case api.PaymentMethodDesk:
		return new(api.StartDeskPayment)
	case api.PaymentMethodFree:
		return new(api.StartFreePayment)
	default:
		return new(api.StartCardPayment)
	}
}

// operationsOf lists the contract's operations by method and route of the router.
func operationsOf(document *openapi3.T) map[string]operation {
	operations := map[string]operation{}
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			route := strings.NewReplacer("{", ":", "}", "").Replace(path)
			operations[method+" "+route] = operation{
				Route:        routers.Route{Spec: document, Path: path, PathItem: item, Method: method, Operation: op},
				needsKey:     op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil,
				needsCaptcha: op.Parameters.GetByInAndName("header", captchaHeader) != nil,
			}
		}
	}
	return operations
}

func (s *Server) operationOf(c echo.Context) (operation, bool) {
	op, ok := s.operations[c.Request().Method+" "+c.Path()]
	return op, ok
}

// validate holds a request against the document and against the tags of its
// typed body, and tells everything that is wrong with it at once.
func (s *Server) validate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op, ok := s.operationOf(c)
		if !ok || strings.HasPrefix(c.Path(), "/v1/webhooks/") {
			return next(c) // a webhook is held against its signature first
		}
		body, err := readBody(c, op)
		if err != nil {
			return err
		}
		problems, err := validateSchema(c, op)
		if err != nil {
			return err
		}
		problems = append(problems, s.validateTags(op, body)...)
		problems = append(problems, s.validateDay(c, op, "date")...)
		problems = append(problems, guessableKey(c, op)...)
		problems = append(problems, unknownParameters(c, op)...)
		if len(problems) > 0 {
			// A start date is told by the journey, once it knows the club; these problems keep the request from it.
			return invalid(append(problems, s.validateDay(c, op, "startDate")...))
		}
		return next(c)
	}
}

// invalid is the error for wrong fields, each pointer told once. A header
// cannot be mended in a form, so it makes the request malformed.
func invalid(problems []flows.FieldProblem) error {
	slices.SortStableFunc(problems, func(a, b flows.FieldProblem) int { return strings.Compare(a.Pointer, b.Pointer) })
	told := problems[:0]
	for _, problem := range problems {
		last := len(told) - 1
		if last >= 0 && told[last].Pointer == problem.Pointer && told[last].Message == genericMessage {
			told[last] = problem // the words of a tag say more than that a pattern does not fit
		}
		if last >= 0 && (told[last].Pointer == problem.Pointer || strings.HasPrefix(problem.Pointer, told[last].Pointer+"/")) {
			continue // told already, or a member of what is missing as a whole
		}
		told = append(told, problem)
	}
	failure := &flows.Error{Code: flows.InvalidRequest, Fields: told}
	for _, problem := range told {
		in, name := splitPointer(problem.Pointer)
		if in == "header" {
			failure.Code = flows.MalformedRequest
		}
		if in != "" && (failure.Detail == "" || in == "header") {
			failure.Detail = name + ": " + problem.Message
		}
	}
	if failure.Detail != "" && len(told) > 1 {
		failure.Detail = fmt.Sprintf("%d things are wrong, and errors has each; one of them is %s", len(told), failure.Detail)
	}
	return failure
}

// readAll reads a body. One that breaks off, or takes longer than the server waits,
// is its sender's doing; the network's words for it name addresses, and are left out.
func readAll(from io.Reader) ([]byte, error) {
	body, err := io.ReadAll(from)
	var tooLarge *echo.HTTPError
	if err == nil || errors.As(err, &tooLarge) {
		return body, err
	}
	return nil, &flows.Error{Code: flows.MalformedRequest, Detail: "The body did not arrive as a whole, or not in time."}
}

// readBody reads a body that has to be JSON, and leaves it to be read again.
func readBody(c echo.Context, op operation) ([]byte, error) {
	r := c.Request()
	if op.Operation.RequestBody == nil {
		return nil, rejectBody(c)
	}
	body, err := readAll(r.Body)
	if err != nil {
		return nil, err
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, &flows.Error{Code: flows.MalformedRequest, Detail: "The body has to be JSON, with Content-Type: application/json."}
	}
	if !json.Valid(body) {
		return nil, &flows.Error{Code: flows.MalformedRequest, Detail: "The body is not JSON."}
	}
	if err := inspectJSON(body); err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return body, nil
}

// validateSchema holds a request against its operation in the contract.
func validateSchema(c echo.Context, op operation) ([]flows.FieldProblem, error) {
	path := map[string]string{}
	for i, name := range c.ParamNames() {
		path[name] = c.ParamValues()[i]
	}
	err := openapi3filter.ValidateRequest(c.Request().Context(), &openapi3filter.RequestValidationInput{
		Request: c.Request(), PathParams: path, Route: &op.Route, QueryParams: c.QueryParams(),
		Options: &openapi3filter.Options{
			MultiError: true, KeepValidatedValue: true,
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, // whose a thing is, its journey decides
		},
	})
	var problems []flows.FieldProblem
	if !collect(err, "", &problems) {
		return nil, fmt.Errorf("validation of %s %s: %w", op.Method, op.Path, err)
	}
	if slices.ContainsFunc(problems, func(p flows.FieldProblem) bool { return strings.HasPrefix(p.Pointer, "path/") }) {
		return nil, &flows.Error{Code: flows.NotFound} // an id that cannot be one names nothing
	}
	return problems, nil
}

// collect flattens the errors of the validation. It is false for an error that is not about the request.
func collect(err error, base string, problems *[]flows.FieldProblem) bool {
	switch e := err.(type) { //nolint:errorlint // the tree of errors is walked level by level
	case nil:
		return true
	case openapi3.MultiError:
		for _, each := range e {
			if !collect(each, base, problems) {
				return false
			}
		}
		return true
	case *openapi3filter.RequestError:
		return collectRequest(e, problems)
	case *openapi3.SchemaError:
		*problems = append(*problems, schemaProblems(e, base)...)
		return true
	}
	return false
}

func collectRequest(e *openapi3filter.RequestError, problems *[]flows.FieldProblem) bool {
	base := ""
	if e.Parameter != nil {
		base = e.Parameter.In + "/" + e.Parameter.Name
		if e.Err == nil || errors.Is(e.Err, openapi3filter.ErrInvalidRequired) {
			*problems = append(*problems, flows.FieldProblem{Pointer: base, Message: "is required"})
			return true
		}
	}
	if e.Err != nil && collect(e.Err, base, problems) {
		return true
	}
	if e.Parameter != nil || e.RequestBody != nil {
		*problems = append(*problems, flows.FieldProblem{Pointer: base, Message: "cannot be read"})
		return true
	}
	return false
}

// quoted finds the member that a message of the validator names.
var quoted = regexp.MustCompile(`"([^"]+)"`)

// schemaProblems puts one violation of a schema into words. A message about a
// member is moved to that member, so that a form finds its field.
func schemaProblems(e *openapi3.SchemaError, base string) []flows.FieldProblem {
	if e.Schema != nil && e.Schema.Discriminator != nil {
		return oneOfProblems(e, base)
	}
	if e.Origin != nil {
		var problems []flows.FieldProblem
		if collect(e.Origin, base, &problems) && len(problems) > 0 {
			return problems
		}
	}
	pointer := base
	for _, part := range e.JSONPointer() {
		pointer += "/" + pointerEscaper.Replace(part)
	}
	member := quoted.FindStringSubmatch(e.Reason)
	switch {
	case e.SchemaField == "required" && member != nil:
		// The pointer of a missing member names it already.
		if !strings.HasSuffix(pointer, "/"+member[1]) {
			pointer += "/" + member[1]
		}
		return []flows.FieldProblem{{Pointer: pointer, Message: "is required"}}
	case strings.Contains(e.Reason, "is unsupported") && member != nil:
		return []flows.FieldProblem{{Pointer: pointer + "/" + pointerEscaper.Replace(member[1]), Message: "is not a known field"}}
	}
	return []flows.FieldProblem{{Pointer: pointer, Message: schemaMessage(e)}}
}

// pointerEscaper escapes a segment of a JSON pointer (RFC 6901).
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// schemaMessage says in a few words what a schema asks for.
func schemaMessage(e *openapi3.SchemaError) string {
	switch e.SchemaField {
	case "type":
		return "has to be of type " + strings.Join(e.Schema.Type.Slice(), " or ")
	case "enum":
		return fmt.Sprintf("has to be one of %v", e.Schema.Enum)
	case "minLength":
		return fmt.Sprintf("needs at least %d characters", e.Schema.MinLength)
	case "maxLength":
		return fmt.Sprintf("takes at most %d characters", *e.Schema.MaxLength)
	case "minItems":
		return fmt.Sprintf("needs at least %d entries", e.Schema.MinItems)
	case "maxItems":
		return fmt.Sprintf("takes at most %d entries", *e.Schema.MaxItems)
	case "minimum", "maximum":
		return "is out of range"
	case "format":
		return "has to be a " + e.Schema.Format
	default:
		return genericMessage
	}
}

// genericMessage is told where neither the document nor a tag has better words.
const genericMessage = "is not valid"

// newValidator knows the tags that the contract uses.
func newValidator(now func() time.Time) *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(field reflect.StructField) string {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		return name
	})
	register := func(tag string, check validator.Func) {
		if err := v.RegisterValidation(tag, check); err != nil {
			panic(err) // a tag's name is wrong, which shows at the first start
		}
	}
	register("e164", func(f validator.FieldLevel) bool { return e164.MatchString(f.Field().String()) })
	register("postalcode", isPostalCode)
	register("notblank", func(f validator.FieldLevel) bool { return strings.TrimSpace(f.Field().String()) != "" })
	register("http_url", func(f validator.FieldLevel) bool {
		u, err := url.Parse(f.Field().String())
		return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
	})
	register("birthdate", func(f validator.FieldLevel) bool {
		born, err := time.Parse(time.DateOnly, f.Field().String())
		return err == nil && born.Before(now()) && born.After(now().AddDate(-maxAge, 0, 0))
	})
	register("startdate", func(f validator.FieldLevel) bool {
		return catalogue.StartDateProblem(f.Field().String(), now()) == ""
	})
	register("duedate", func(f validator.FieldLevel) bool {
		day, err := time.Parse(time.DateOnly, f.Field().String())
		today := now().UTC().Add(-lastTimeZone).Truncate(24 * time.Hour)
		return err == nil && !day.Before(today) && !day.After(now().AddDate(maxDueYears, 0, 0))
	})
	return v
}

const (
	// lastTimeZone: it is today until then, at the last place on Earth. The club's own clock is not known here.
	lastTimeZone = 12 * time.Hour
	// maxDueYears in years, as far ahead as a pass can begin; the club system takes any date, and a later one is a slip of the keyboard.
	maxDueYears = 5
)

// e164 is an international number (ITU-T E.164), with the plus sign that tells it
// from a national one; the library's own tag does without. No mobile number has
// fewer than eight digits with its country's code, and a French one has nine after
// it, so that a digit that was left out shows before an SMS goes astray.
var e164 = regexp.MustCompile(`^\+(33[1-9][0-9]{8}|[124-9][0-9]{7,14}|3[0-24-9][0-9]{6,13})$`)

// postalCodes are what an address of a country can have; a country that is not
// named has anything that looks like one.
var postalCodes = map[string]*regexp.Regexp{"FR": regexp.MustCompile(`^[0-9]{5}$`)}

var anyPostalCode = regexp.MustCompile(`^[0-9A-Za-z]+([ -][0-9A-Za-z]+)*$`)

// isPostalCode holds a postal code against the country beside it.
func isPostalCode(f validator.FieldLevel) bool {
	shape := anyPostalCode
	if country := f.Parent().FieldByName("Country"); country.IsValid() && postalCodes[country.String()] != nil {
		shape = postalCodes[country.String()]
	}
	return shape.MatchString(strings.TrimSpace(f.Field().String()))
}

// maxAge in years; a birth date before that is a slip of the keyboard.
const maxAge = 120

// validateTags checks what a schema cannot say.
func (s *Server) validateTags(op operation, body []byte) []flows.FieldProblem {
	make, ok := bodyTypes[op.Operation.OperationID]
	if !ok {
		return nil
	}
	typed := make(body)
	var mistyped *json.UnmarshalTypeError
	if err := json.Unmarshal(body, typed); err != nil && !errors.As(err, &mistyped) {
		return nil
	}
	// A member of the wrong type is left out, and the document tells of it; the others are checked.
	var failures validator.ValidationErrors
	if !errors.As(s.tags.Struct(typed), &failures) {
		return nil
	}
	var problems []flows.FieldProblem
	for _, failure := range failures {
		_, path, _ := strings.Cut(failure.Namespace(), ".")
		pointer := "/" + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(path)
		message := cmp.Or(tagMessages[failure.Tag()], genericMessage)
		if failure.Tag() == "startdate" {
			message = catalogue.StartDateProblem(fmt.Sprint(failure.Value()), s.cfg.Now())
		}
		problems = append(problems, flows.FieldProblem{Pointer: pointer, Message: message})
	}
	return problems
}

// validateDay tells what is wrong with a parameter that is a day to start or to buy on.
func (s *Server) validateDay(c echo.Context, op operation, name string) []flows.FieldProblem {
	day := c.QueryParam(name)
	if day == "" || op.Operation.Parameters.GetByInAndName("query", name) == nil {
		return nil
	}
	if problem := catalogue.StartDateProblem(day, s.cfg.Now()); problem != "" {
		return []flows.FieldProblem{{Pointer: "query/" + name, Message: problem}}
	}
	return nil
}

// tagMessages say what a tag asks for, where it stands for one rule.
var tagMessages = map[string]string{
	"notblank":         "must not be blank",
	"email":            "has to be an e-mail address",
	"e164":             "has to be an international number such as +33612345678",
	"postalcode":       "has to be a postal code of the country",
	"duedate":          "has to be a date of the form 2030-01-31, today or within five years",
	"required_if":      "is required with this mean",
	"excluded_unless":  "does not go with this mean",
	"birthdate":        "has to be a date of the form 1990-05-17 that is possible",
	"datetime":         "has to be a date of the form 1990-05-17 that is possible",
	"iso3166_1_alpha2": "has to be a two-letter country code such as FR",
	"http_url":         "has to be an http or https address without a user name",
}
