package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/golang-jwt/jwt/v5"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// callersOf returns the kinds of callers with the credentials that each sends. own is the registration that
// the request is about.
func callersOf(t *testing.T, c *frontdesktest.Client) map[string]func(own holding) [][2]string {
	t.Helper()
	foreign, customer, banned := take(t, c), c.Persona("customer"), c.Persona("banned")
	always := func(headers ...[2]string) func(holding) [][2]string {
		return func(holding) [][2]string { return headers }
	}
	parts := strings.Split(customer.IdentityToken, ".")
	return map[string]func(own holding) [][2]string{
		"anonymous":         always(),
		"holder":            func(own holding) [][2]string { return [][2]string{bearer(own.token)} },
		"holder by cookie":  func(own holding) [][2]string { return [][2]string{own.cookie, {"Sec-Fetch-Site", "same-origin"}} },
		"resumed device":    func(own holding) [][2]string { return [][2]string{bearer(own.resumed)} },
		"holder with staff": func(own holding) [][2]string { return [][2]string{bearer(own.token), frontdesktest.StaffKey()} },
		"page elsewhere": func(own holding) [][2]string {
			return [][2]string{own.cookie, {"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}}
		},
		"other holder": always(bearer(foreign.token)),
		"other holder by cookie": func(own holding) [][2]string {
			return [][2]string{{"Cookie", "frontdesk-" + own.id + "=" + foreign.token}}
		},
		"nonsense":              always(bearer("nonsense")),
		"identified":            always(bearer(customer.IdentityToken)),
		"identified, banned":    always(bearer(banned.IdentityToken)),
		"identified, tampered":  always(bearer(parts[0] + "." + parts[1] + "." + strings.Repeat("A", len(parts[2])))),
		"identified, elsewhere": always(bearer(customer.IdentityToken), [2]string{"X-Frontdesk-World", "demo-elsewhere"}),
		"login, expired":        always(bearer(forge(t, jwt.SigningMethodHS256, -time.Hour))),
		"login, forged":         always(bearer(forge(t, jwt.SigningMethodHS256, time.Minute))),
		"login, none":           always(bearer(forge(t, jwt.SigningMethodNone, time.Minute))),
		"staff":                 always(frontdesktest.StaffKey()),
		"staff, wrong key": func(own holding) [][2]string {
			return [][2]string{bearer(own.token), {"X-Frontdesk-Staff-Key", "demo-staff-key-2"}}
		},
	}
}

// holding is a registration with every credential for it.
type holding struct {
	id, token, resumed string
	cookie             [2]string
}

// take starts a registration and resumes it on a second device.
func take(t *testing.T, client *frontdesktest.Client, headers ...[2]string) holding {
	t.Helper()
	own := start(t, client, headers...)
	held := holding{id: own.Id, token: *own.Token, cookie: [2]string{"Cookie", "frontdesk-" + own.Id + "=" + *own.Token}}
	var link api.ResumeLink
	client.Do("POST", "/v1/registrations/"+own.Id+"/resume-link", nil,
		append(headers, bearer(held.token), frontdesktest.Key(""))...).Into(http.StatusCreated, &link)
	_, code, _ := strings.Cut(link.Url, "?resume=")
	var resumed api.Registration
	client.Do("POST", "/v1/resumptions", api.Resumption{Resume: code}, append(headers, frontdesktest.Key(""))...).Into(http.StatusCreated,
		&resumed)
	held.resumed = *resumed.Token
	return held
}

// admitted is the cell of a caller that is admitted.
const admitted = api.ProblemCode("")

// verdicts is the matrix: for each kind of route (the callers that its policy admits), the result of each
// caller. A missing combination fails the test.
var verdicts = map[string]map[string]api.ProblemCode{
	"anyone": row(admitted, map[string]api.ProblemCode{}),
	"anyone identified staff": row(admitted, map[string]api.ProblemCode{
		"login, another club":         api.NotIdentified,
		"login, another organisation": api.NotIdentified,
		"identified, tampered":        api.NotIdentified,
		"identified, elsewhere":       api.NotIdentified,
		"login, expired":              api.NotIdentified,
		"login, forged":               api.NotIdentified,
		"login, none":                 api.NotIdentified,
	}),
	"start of a registration": row(admitted, map[string]api.ProblemCode{
		"login, another club": api.OtherClub, "login, another organisation": api.NotIdentified,
		"identified, banned": api.ContactBanned, "identified, tampered": api.NotIdentified, "identified, elsewhere": api.NotIdentified,
		"login, expired": api.NotIdentified, "login, forged": api.NotIdentified, "login, none": api.NotIdentified,
	}),
	"anyone staff": row(admitted, map[string]api.ProblemCode{}),
	"holder":       row(api.RegistrationNotFound, holders),
	"holder staff": row(api.RegistrationNotFound, holders),
	"identified": row(api.NotIdentified, map[string]api.ProblemCode{
		"identified": admitted, "identified, banned": admitted,
	}),
	"session": row(api.TokenRequired, map[string]api.ProblemCode{ // read by its cookie alone
		"holder by cookie": admitted, "page elsewhere": admitted, "other holder by cookie": api.RegistrationNotFound,
	}),
	"receipt of a statement":     row(api.NotFound, map[string]api.ProblemCode{}), // likewise
	"page of a payment":          row(api.NotFound, map[string]api.ProblemCode{}), // its address is the permission
	"webhook of the processor":   row(api.WebhookUntrusted, map[string]api.ProblemCode{}),
	"webhook of the club system": row(api.NotFound, map[string]api.ProblemCode{}),
}

var holders = map[string]api.ProblemCode{
	"holder":            admitted,
	"holder by cookie":  admitted,
	"resumed device":    admitted,
	"holder with staff": admitted,

	"anonymous": api.TokenRequired, "staff": api.TokenRequired, "identified": api.TokenRequired, "identified, banned": api.TokenRequired,
	"identified, tampered": api.TokenRequired, "identified, elsewhere": api.TokenRequired, "login, expired": api.TokenRequired,
	"login, forged": api.TokenRequired, "login, none": api.TokenRequired, "login, another club": api.TokenRequired,
	"login, another organisation": api.TokenRequired,
}

// row expects the same result for every kind of caller except those in but. A wrong staff key is refused on
// every route.
func row(most api.ProblemCode, but map[string]api.ProblemCode) map[string]api.ProblemCode {
	cells := map[string]api.ProblemCode{"staff, wrong key": api.StaffKeyUnknown}
	for _, caller := range []string{
		"anonymous", "holder", "holder by cookie", "resumed device", "holder with staff", "page elsewhere",
		"other holder", "other holder by cookie", "nonsense",
		"identified", "identified, banned", "identified, tampered", "identified, elsewhere",
		"login, expired", "login, forged", "login, none", "login, another club", "login, another organisation",
		"staff", expired,
	} {
		cells[caller] = most
	}
	for caller, code := range but {
		cells[caller] = code
	}
	return cells
}

// kindOf reads from the contract which callers a route admits. At start the gateway compares it with its
// policies.
func kindOf(path string, op *openapi3.Operation) string {
	switch {
	case strings.HasPrefix(path, "/v1/webhooks/card"):
		return "webhook of the processor"
	case strings.HasPrefix(path, "/v1/webhooks/club"):
		return "webhook of the club system"
	case op.OperationID == "confirmWithdrawal" || op.OperationID == "confirmCancellation":
		return "receipt of a statement"
	case op.OperationID == "getCardPage":
		return "page of a payment"
	case op.OperationID == "startRegistration":
		return "start of a registration"
	case op.OperationID == "getCurrentRegistration":
		return "session"
	}
	names := map[string]bool{}
	for _, requirement := range value(op.Security) {
		if len(requirement) == 0 {
			names["anyone"] = true
		}
		for scheme := range requirement {
			names[map[string]string{"token": "holder", "session": "holder", "identity": "identified", "staffKey": "staff"}[scheme]] = true
		}
	}
	if len(names) == 0 {
		return "anyone"
	}
	var sorted []string
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return strings.Join(sorted, " ")
}

// TestAuthorisationMatrix calls every route of the contract as every kind of caller. Calls without permission
// are refused as the matrix says, before the club system is called. A new kind of route or caller fails the
// test until the matrix covers it.
func TestAuthorisationMatrix(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	walkMatrix(t, c, callersOf(t, c))
}

// walkMatrix calls every route of the contract as each of these callers.
func walkMatrix(t *testing.T, client *frontdesktest.Client, callers map[string]func(own holding) [][2]string) {
	t.Helper()
	document := frontdesktest.Document(t)
	client.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, nil)
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			kind := kindOf(path, op)
			if _, ok := verdicts[kind]; !ok {
				t.Errorf("%s %s admits %q, of which the matrix says nothing", method, path, kind)
				continue
			}
			own := take(t, client)
			var admits []string
			refused := map[string]bool{} // the traces of the refused requests
			for name, credentials := range callers {
				code, ok := verdictOn(kind, method, op.OperationID, name)
				switch {
				case !ok:
					t.Errorf("%s %s as %s: the matrix says nothing", method, path, name)
				case code == admitted || slices.Contains(knownLate, name):
					admits = append(admits, name)
				default:
					trace := expectRefusal(
						t, asked(client, method, path, op.OperationID, own.id, credentials(own)),
						fmt.Sprintf("%s %s as %s", method, path, name), code,
					)
					refused[trace] = true
				}
			}
			if calls := callsOf(client, refused); len(calls) > 0 {
				t.Errorf("%s %s: refused, after the club system was asked for %+v", method, path, calls)
			}
			for _, name := range admits {
				if op.OperationID == "followRegistration" {
					continue // an endless stream; TestEvents follows one
				}
				own, what := take(t, client), fmt.Sprintf("%s %s as %s", method, path, name)
				response := asked(client, method, path, op.OperationID, own.id, callers[name](own))
				if code, _ := verdictOn(kind, method, op.OperationID, name); code != admitted {
					trace := expectRefusal(t, response, what, code)
					if code == api.ContactBanned && len(callsOf(client, map[string]bool{trace: true})) == 0 {
						t.Errorf("%s: the club system was not asked about the contact, or the calls have another trace id", what)
					}
					continue
				}
				expectLetIn(t, response, what)
			}
		}
	}
}

// callsOf returns the calls to the club system that have one of these trace ids. Others may be made at any time, such as
// those that refresh the catalogue.
func callsOf(c *frontdesktest.Client, traces map[string]bool) []clubsim.Request {
	return slices.DeleteFunc(c.Calls(), func(call clubsim.Request) bool { return !traces[call.TraceID] })
}

// knownLate lists callers that only the club system can refuse, and callers that bring their own registration.
var knownLate = []string{"identified, banned", "login, another club", expired}

// verdictOn reads a cell of the matrix. A page elsewhere sends the holder's cookie along: it can change
// nothing, and its reads return responses that it cannot see. The holder of an expired registration can view
// and abandon it, but not change it. Whether a contact can move to another club is up to the club system.
func verdictOn(kind, method, operation, caller string) (code api.ProblemCode, ok bool) {
	if caller == "identified, banned" && (operation == "getOffer" || operation == "getSchedule") {
		return api.OfferNotFound, true // banned contacts can buy only from the shop
	}
	if caller == expired && strings.HasPrefix(kind, "holder") {
		if method == http.MethodGet || operation == "checkCart" || operation == "createResumeLink" || operation == "abandonRegistration" ||
			operation == "cancelPayment" || operation == "changeBuyersConsents" ||
			operation == "endSession" {
			return admitted, true
		}
		return api.RegistrationClosed, true
	}
	if caller == "login, another club" && strings.HasSuffix(operation, "Transfer") {
		return admitted, true
	}
	if caller == "page elsewhere" && strings.HasPrefix(kind, "holder") {
		if method == http.MethodGet {
			return admitted, true
		}
		return api.ForbiddenOrigin, true
	}
	code, ok = verdicts[kind][caller]
	return code, ok
}

// expectRefusal returns the trace id of the refused request.
func expectRefusal(t *testing.T, response *frontdesktest.Response, what string, code api.ProblemCode) string {
	t.Helper()
	var problem api.Problem
	if json.Unmarshal(response.Body, &problem) != nil || problem.Code != code || value(problem.TraceId) == "" {
		t.Errorf("%s is answered with %d %s, not %s", what, response.Status, response.Body, code)
	}
	return value(problem.TraceId)
}

// expectLetIn: the request may be invalid, but the caller's identity is accepted.
func expectLetIn(t *testing.T, response *frontdesktest.Response, what string) {
	t.Helper()
	if s := response.Status; s >= 500 || s == 401 || s == 403 || s == 404 {
		t.Errorf("%s is refused: %d %s", what, s, response.Body)
	}
}

// asked sends an operation's request about a registration.
func asked(client *frontdesktest.Client, method, path, operation, id string, credentials [][2]string) *frontdesktest.Response {
	path = strings.NewReplacer("{clubId}", "11", "{id}", id, "{offerId}", "2501", "{itemId}", "no-such-item", "{secret}", "guessed",
		"{statementId}", id, "{payment}", id+"-1", "{proof}", strings.Repeat("A", 43), "{sha256}", termsHash()).Replace(path)
	var body any
	if text, ok := bodiesOf[operation]; ok {
		body = text
	}
	return client.Do(method, path, body, append(credentials, frontdesktest.Key(""))...)
}
