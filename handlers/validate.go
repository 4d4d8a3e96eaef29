package handlers

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/labstack/echo/v4"

	"frontdesk/flows"
	"frontdesk/flows/catalogue"
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

// validate checks a request against the contract and the rules that no schema can say, and reports all problems
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
			s.bodyProblems(op, body),
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
			fields[last] = problem // a rule's code says more
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

// bodyProblems returns what is wrong with a body that its schema cannot say.
func (s *Server) bodyProblems(op operation, body any) []flows.FieldProblem {
	problems := s.memberProblems("", body)
	object, _ := body.(map[string]any)
	switch op.Operation.OperationID {
	case "startRegistration":
		club, _ := object["clubId"].(string)
		problems = append(problems, s.startDateProblems(s.cfg.Catalogue.Details(club), object)...)
	case "migrateProspect":
		if object["accessToken"] == nil && object["identityToken"] == nil {
			problems = append(problems, fieldError("/accessToken", flows.FieldRequired)...)
		}
	case "startPayment":
		if object["method"] == "desk" {
			problems = append(problems, listProblems(object, "card", "cards")...)
			problems = append(problems, listProblems(object, "cheque", "cheques")...)
		}
	}
	return problems
}

// listProblems checks that a payment at the desk has the list of its own mean, and no other.
func listProblems(payment map[string]any, mean, list string) []flows.FieldProblem {
	needed, given := payment["mean"] == mean, payment[list] != nil
	switch {
	case needed && !given:
		return fieldError("/"+list, flows.FieldRequired)
	case given && !needed:
		return fieldError("/"+list, flows.FieldUnexpected)
	}
	return nil
}

// startDateProblems checks the days on which the items of a new registration start. The services know the club of an older one.
func (s *Server) startDateProblems(club catalogue.Details, start map[string]any) (problems []flows.FieldProblem) {
	items, _ := start["items"].([]any)
	for i, item := range items {
		object, _ := item.(map[string]any)
		debit, _ := object["debit"].(map[string]any)
		for pointer, day := range map[string]any{"/startDate": object["startDate"], "/debit/from": debit["from"]} {
			if text, ok := day.(string); ok {
				if problem := club.StartDateProblem(fmt.Sprint("/items/", i, pointer), text, s.cfg.Now(), ""); problem != nil {
					problems = append(problems, *problem)
				}
			}
		}
	}
	return problems
}

// memberProblems checks the texts in a value at a pointer by the names of their members, which mean the same in every body.
func (s *Server) memberProblems(at string, value any) (problems []flows.FieldProblem) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			problems = append(problems, s.memberProblems(fmt.Sprint(at, "/", i), item)...)
		}
	case map[string]any:
		for name, member := range value {
			pointer := at + "/" + pointerEscaper.Replace(name)
			problems = append(problems, s.memberProblems(pointer, member)...)
			text, isText := member.(string)
			if code, valid := s.checkText(name, text, value); isText && !valid {
				problems = append(problems, fieldError(pointer, code)...)
			}
		}
	}
	return problems
}

// checkText reports whether a member of an object has a valid text, and the code if it has not.
func (s *Server) checkText(name, text string, object map[string]any) (code flows.FieldCode, valid bool) {
	switch name {
	case "givenName", "familyName", "street", "city", "name", "holder", "owner", "code":
		return flows.FieldBlank, strings.TrimSpace(text) != ""
	case "bank": // a mandate's may be empty
		return flows.FieldBlank, text == "" || strings.TrimSpace(text) != ""
	case "birthDate":
		born, err := time.Parse(time.DateOnly, text)
		return flows.FieldBirthDate, err == nil && born.Before(s.cfg.Now()) && born.After(s.cfg.Now().AddDate(-maxAge, 0, 0))
	case "email":
		return flows.FieldEmail, isEmail(text)
	case "mobile", "phone":
		return flows.FieldPhone, e164.MatchString(text)
	case "country":
		return flows.FieldCountry, slices.Contains(countries, text)
	case "postalCode":
		country, _ := object["country"].(string)
		return flows.FieldPostalCode, cmp.Or(postalCodes[country], anyPostalCode).MatchString(strings.TrimSpace(text))
	case "returnUrl":
		return flows.FieldURL, isReturnURL(text)
	}
	return "", true
}

const maxAge = 120 // years; an earlier birth date is a typing error

// isEmail reports whether a text is an e-mail address alone, of a domain with a dot.
func isEmail(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && address.Name == "" && address.Address == text && emailDomain.MatchString(text)
}

var emailDomain = regexp.MustCompile(`@([\pL\pN]([\pL\pN-]*[\pL\pN])?\.)+\pL([\pL\pN-]*[\pL\pN])?$`)

// countries are the codes of ISO 3166-1 alpha-2, and that of Kosovo, XK.
var countries = strings.Fields(`
	AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD
	CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF
	GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN
	KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA
	NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI
	SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI
	VN VU WF WS XK YE YT ZA ZM ZW`)

// isReturnURL reports whether a text is an absolute address of a page, or one of an app with a scheme of its own. Neither has a user name.
func isReturnURL(text string) bool {
	address, err := url.Parse(text)
	switch {
	case err != nil || address.User != nil || address.Opaque != "":
		return false
	case address.Scheme == "http" || address.Scheme == "https":
		return address.Hostname() != ""
	}
	return IsAppScheme(address.Scheme)
}

// IsAppScheme reports whether a scheme, in lower case, can be an app's own: a reverse domain name (RFC 8252, section 7.1) or one word.
// The schemes of browsers and systems are none: some of them run scripts or open files.
func IsAppScheme(scheme string) bool {
	return appScheme.MatchString(scheme) && !slices.Contains(systemSchemes, scheme)
}

var appScheme = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$`)

var systemSchemes = strings.Fields(`
	about android-app blob chrome chrome-extension cid content data edge facetime facetime-audio feed file filesystem ftp ftps
	geo git gopher http https imap intent itms itms-apps jar javascript jscript ldap ldaps livescript localhost magnet mailto maps market
	mhtml mid mms moz-extension ms-appinstaller ms-browser-extension ms-help ms-its ms-msdt ms-officecmd ms-search mocha news
	nfs nntp opera resource res rtsp safari-extension search search-ms sftp shell shortcuts sip sips smb sms smsto ssh
	tel telnet urn vbs vbscript view-source wais webcal ws wss wyciwyg x-apple-helpbasic xmpp`)

// e164 is an international number (ITU-T E.164) with its plus, which the library's own tag does not
// require. A mobile number has at least eight digits with its country code, and a French one nine
// after it, so that a missing digit shows before an SMS is sent.
var e164 = regexp.MustCompile(`^\+(33[1-9][0-9]{8}|[124-9][0-9]{7,14}|3[0-24-9][0-9]{6,13})$`)

// postalCodes are the patterns of countries; anyPostalCode is for the others.
var (
	postalCodes   = map[string]*regexp.Regexp{"FR": regexp.MustCompile(`^[0-9]{5}$`)}
	anyPostalCode = regexp.MustCompile(`^[0-9A-Za-z]+([ -][0-9A-Za-z]+)*$`)
)
