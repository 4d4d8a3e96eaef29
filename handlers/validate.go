package handlers

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/go-playground/validator/v10"
	"github.com/labstack/echo/v4"
	"github.com/oapi-codegen/runtime"

	"frontdesk/api"
	"frontdesk/flows"
)

// operation is a route of the contract.
type operation struct {
	routers.Route
	takesKey     bool         // has an Idempotency-Key, required or not
	hasTexts     bool         // its responses are in the visitor's language
	shared       bool         // its responses are the same for every anonymous visitor, so that caches may keep them
	needsCaptcha bool         // requires a captcha of anonymous callers, if one is configured
	codes        []flows.Code // of the problems that it can answer with
	deprecations []deprecation
}

// operationsOf lists the contract's operations by method and route of the router.
func operationsOf(document *openapi3.T) (operations map[string]operation, err error) {
	operations = map[string]operation{}
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			route := strings.NewReplacer("{", ":", "}", "").Replace(path)
			deprecations, wrong := deprecationsOf(op)
			err = errors.Join(err, wrong)
			codes, _ := op.Extensions["x-problem-codes"].([]any)
			operations[method+" "+route] = operation{
				Route: routers.Route{
					Spec:      document,
					Path:      path,
					PathItem:  item,
					Method:    method,
					Operation: op,
				},
				hasTexts:     hasHeader(op, "Content-Language"),
				shared:       hasHeader(op, "Cache-Control"),
				takesKey:     op.Parameters.GetByInAndName("header", keyHeader) != nil,
				needsCaptcha: op.Parameters.GetByInAndName("header", captchaHeader) != nil,
				codes:        each(codes, func(code any) flows.Code { return flows.Code(fmt.Sprint(code)) }),
				deprecations: deprecations,
			}
		}
	}
	return operations, err
}

// hasHeader reports whether the successful responses of an operation have a header.
func hasHeader(op *openapi3.Operation, name string) bool {
	for status, response := range op.Responses.Map() {
		if strings.HasPrefix(status, "2") && response.Value.Headers[name] != nil {
			return true
		}
	}
	return false
}

// bodySchema is the schema of an operation's JSON body; nil: it has no body.
func (op operation) bodySchema() *openapi3.Schema {
	if op.Operation.RequestBody == nil {
		return nil
	}
	return op.Operation.RequestBody.Value.Content.Get("application/json").Schema.Value
}

// operationOf returns the operation of a request; the zero value outside the contract.
func (s *Server) operationOf(c echo.Context) operation {
	return s.operations[c.Request().Method+" "+c.Path()]
}

// validate checks a request against the contract and the tags of its body, and reports all problems
// at once.
func (s *Server) validate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op := s.operationOf(c)
		if op.Operation == nil || strings.HasPrefix(c.Path(), webhookPrefix) { // a webhook's signature comes first
			return next(c)
		}
		body, err := decodeBody(c, op)
		if err != nil {
			return err
		}
		problems, err := validateSchema(c, op, body)
		if err != nil {
			return err
		}
		problems = slices.Concat(problems,
			s.validateTags(op, body, exchangeOf(c.Request().Context()).body),
			s.validateDay(c, op, "date"),
			guessableKey(c, op),
			unknownParameters(c, op))
		if len(problems) == 0 {
			c.Request().Body = decodedBody{c.Request().Body, body}
			return next(c)
		}
		// The service reports a wrong start date, once it knows the club. These problems come before it.
		return invalid(append(problems, s.validateDay(c, op, "startDate")...))
	}
}

// invalid is the error for wrong fields, one problem for each pointer. A wrong header makes the
// request malformed, because no form can correct it.
func invalid(problems []flows.FieldProblem) error {
	slices.SortStableFunc(problems, func(a, b flows.FieldProblem) int { return strings.Compare(a.Pointer, b.Pointer) })
	fields := problems[:0]
	for _, problem := range problems {
		last := len(fields) - 1
		if last >= 0 && fields[last].Pointer == problem.Pointer && isVague(fields[last].Code) && !isVague(problem.Code) {
			fields[last] = problem // a tag's code says more
		}
		if last >= 0 && (fields[last].Pointer == problem.Pointer || strings.HasPrefix(problem.Pointer, fields[last].Pointer+"/")) {
			continue // reported already, or a member of a missing object
		}
		fields = append(fields, problem)
	}
	failure := &flows.Error{Code: flows.InvalidRequest, Fields: fields}
	if slices.ContainsFunc(fields, func(p flows.FieldProblem) bool { return strings.HasPrefix(p.Pointer, flows.InHeader) }) {
		failure.Code = flows.MalformedRequest
	}
	if len(fields) == 1 && fields[0].Pointer == flows.InHeader+keyHeader && fields[0].Code == flows.FieldRequired {
		failure.Detail = flows.DetailIdempotencyKey
	}
	return failure
}

// isVague reports whether a code says less of a field than what it is, such as a phone number.
func isVague(code flows.FieldCode) bool {
	return code == flows.FieldInvalid || code == flows.FieldTooShort || code == flows.FieldTooLong
}

// unknownParameters refuses query parameters that the operation does not have, because a misspelt
// one would change the response without notice. Health probes may have any, to bypass caches.
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
	for _, name := range slices.Sorted(maps.Keys(c.QueryParams())) {
		if !slices.Contains(known, name) {
			names := cmp.Or(strings.Join(known, ", "), "-")
			problems = append(problems, fieldError(flows.InQuery+name, flows.FieldUnknownParameter, "known", names)...)
		}
	}
	return problems
}

// validateDay checks a query parameter that is a day to start or to buy on.
func (s *Server) validateDay(c echo.Context, op operation, name string) []flows.FieldProblem {
	day := c.QueryParam(name)
	if day == "" || op.Operation.Parameters.GetByInAndName("query", name) == nil {
		return nil
	}
	if problem := s.cfg.Catalogue.Details(c.Param("clubId")).StartDateProblem(flows.InQuery+name, day, s.cfg.Now(), ""); problem != nil {
		return []flows.FieldProblem{*problem}
	}
	return nil
}

// taggedBodies fill the types with tags, for what no schema can say, such as a birth date. They are listed by the
// operation's id, and by the discriminator of a union.
var taggedBodies = map[string]func(body any, text []byte) any{
	"startRegistration":  bind[api.StartRegistration],
	"putPerson":          bind[api.Person],
	"correctPerson":      bind[api.PersonCorrection],
	"addItem":            bind[api.NewItem],
	"createMandate":      bind[api.NewMandate],
	"migrateProspect":    bind[api.Prospect],
	"startPayment/card":  bind[api.StartCardPayment],
	"startPayment/desk":  bind[api.StartDeskPayment],
	"startPayment/later": bind[api.StartLaterPayment],
	"stateWithdrawal":    bind[api.NewWithdrawal],
	"stateCancellation":  bind[api.NewCancellation],
}

// bind fills a type from a decoded body; nil: it has no such form. If a member has the wrong type, which the schema
// reports, encoding/json fills the others from the text, because their tags may report more.
func bind[T any](body any, text []byte) any {
	var typed T
	if runtime.BindJSONValue(body, &typed) == nil {
		return typed
	}
	err := json.Unmarshal(text, &typed)
	if _, mistyped := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !mistyped {
		return nil
	}
	return typed
}

// validateTags checks the tags of a body.
func (s *Server) validateTags(op operation, body any, text []byte) []flows.FieldProblem {
	name := op.Operation.OperationID
	if schema := op.bodySchema(); schema != nil && schema.Discriminator != nil {
		object, _ := body.(map[string]any)
		name += "/" + fmt.Sprint(object[schema.Discriminator.PropertyName])
	}
	if fill, ok := taggedBodies[name]; ok {
		return s.checkTags(fill(body, text))
	}
	return nil
}

func (s *Server) checkTags(typed any) (problems []flows.FieldProblem) {
	dates := flows.DateFormProblem // the services know the club of a registration, and its day
	if start, ok := typed.(api.StartRegistration); ok {
		club := s.cfg.Catalogue.Details(start.ClubId)
		dates = func(pointer, text string) *flows.FieldProblem {
			return club.StartDateProblem(pointer, text, s.cfg.Now(), "")
		}
	}
	failures, _ := errors.AsType[validator.ValidationErrors](s.tags.Struct(typed))
	for _, failure := range failures {
		_, path, _ := strings.Cut(failure.Namespace(), ".")
		pointer := "/" + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(path)
		problem := &flows.FieldProblem{Pointer: pointer, Code: cmp.Or(tagCodes[failure.Tag()], flows.FieldInvalid)}
		if failure.Tag() == startDateTag {
			problem = dates(pointer, fmt.Sprint(failure.Value()))
		}
		if problem != nil {
			problems = append(problems, *problem)
		}
	}
	return problems
}

// tagCodes name what a tag requires.
var tagCodes = map[string]flows.FieldCode{
	"notblank":         flows.FieldBlank,
	"email":            flows.FieldEmail,
	"e164":             flows.FieldPhone,
	"postalcode":       flows.FieldPostalCode,
	"required_if":      flows.FieldRequired,
	"required_without": flows.FieldRequired,
	"excluded_unless":  flows.FieldUnexpected,
	"birthdate":        flows.FieldBirthDate,
	"datetime":         flows.FieldDate,
	"duedate":          flows.FieldDate,
	"iso3166_1_alpha2": flows.FieldCountry,
	"return_url":       flows.FieldURL,
}

// startDateTag marks start dates. Its rule depends on the club, so the validator reports every one to checkTags.
const startDateTag = "startdate"

const maxAge = 120 // years; an earlier birth date is a typing error

func newValidator(now func() time.Time) *validator.Validate {
	rules := validator.New(validator.WithRequiredStructEnabled())
	rules.RegisterTagNameFunc(func(field reflect.StructField) string {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		return name
	})
	register := func(tag string, check validator.Func) {
		if err := rules.RegisterValidation(tag, check); err != nil {
			panic(err) // the tag's name is wrong
		}
	}
	for tag, valid := range map[string]func(text string) bool{
		"e164":       e164.MatchString,
		"notblank":   func(text string) bool { return strings.TrimSpace(text) != "" },
		"return_url": isReturnURL,
		"birthdate": func(text string) bool {
			born, err := time.Parse(time.DateOnly, text)
			return err == nil && born.Before(now()) && born.After(now().AddDate(-maxAge, 0, 0))
		},
		"duedate": func(text string) bool { return flows.DateFormProblem("", text) == nil },
	} {
		register(tag, func(f validator.FieldLevel) bool { return valid(f.Field().String()) })
	}
	register("postalcode", isPostalCode)
	register(startDateTag, func(validator.FieldLevel) bool { return false })
	return rules
}

// isReturnURL reports whether a text is an absolute address of a page, or one of an app with a scheme of its own: a reverse domain
// name, which has a dot, unlike javascript, data or intent (RFC 8252, section 7.1). Neither has a user name.
func isReturnURL(text string) bool {
	address, err := url.Parse(text)
	switch {
	case err != nil || address.User != nil || address.Opaque != "":
		return false
	case address.Scheme == "http" || address.Scheme == "https":
		return address.Hostname() != ""
	}
	return strings.Contains(address.Scheme, ".")
}

// e164 is an international number (ITU-T E.164) with its plus, which the library's own tag does not
// require. A mobile number has at least eight digits with its country code, and a French one nine
// after it, so that a missing digit shows before an SMS is sent.
var e164 = regexp.MustCompile(`^\+(33[1-9][0-9]{8}|[124-9][0-9]{7,14}|3[0-24-9][0-9]{6,13})$`)

// postalCodes are the patterns of countries; anyPostalCode is for the others.
var (
	postalCodes   = map[string]*regexp.Regexp{"FR": regexp.MustCompile(`^[0-9]{5}$`)}
	anyPostalCode = regexp.MustCompile(`^[0-9A-Za-z]+([ -][0-9A-Za-z]+)*$`)
)

// isPostalCode checks a postal code against the country of the same object.
func isPostalCode(f validator.FieldLevel) bool {
	shape := anyPostalCode
	if country := f.Parent().FieldByName("Country"); country.IsValid() {
		shape = cmp.Or(postalCodes[country.String()], shape)
	}
	return shape.MatchString(strings.TrimSpace(f.Field().String()))
}
