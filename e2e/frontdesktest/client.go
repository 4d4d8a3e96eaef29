package frontdesktest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	pathpkg "path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/google/uuid"

	"frontdesk/api"
)

// Client is a front end: it sends HTTP requests to a gateway, and fails the test when a response does
// not match openapi.yaml.
type Client struct {
	URL   string
	Token string // of a registration; empty for a visitor without one
	World string // of the simulator, in mock mode; empty for demo
	// carts are what it saw last, by the path of their registration. A payment is for that cart and agrees to that order's documents,
	// unless its body says otherwise.
	carts *sync.Map
	// UpstreamsURL is the address of the simulator and the processor; empty: in the gateway's own process.
	UpstreamsURL string
	t            TB
	http         http.Client
}

// NewClient returns a front end of a gateway.
func NewClient(t TB, url string) *Client {
	return &Client{
		URL:   url,
		carts: &sync.Map{},
		t:     t,
		http:  http.Client{Timeout: Patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// UseTransport makes the front end use the test's own transport.
func (c *Client) UseTransport(transport http.RoundTripper) { c.http.Transport = transport }

// WithT returns the same front end for a subtest.
func (c *Client) WithT(t TB) *Client {
	other := *c
	other.t = t
	return &other
}

// Response is a response with its whole body.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	t      TB
}

// Key is the header of an idempotency key. An empty key is a fresh one.
func Key(key string) [2]string {
	if key == "" {
		key = uuid.NewString()
	}
	return [2]string{"Idempotency-Key", key}
}

// OperatorToken is the public token of the demo operator, the default without configured operators.
const OperatorToken = "demo-operator-token"

// Do sends a request. A body that is not a string is sent as JSON. A request to the operators' listener
// carries OperatorToken, unless a header says otherwise.
func (c *Client) Do(method, path string, body any, headers ...[2]string) *Response {
	c.t.Helper()
	response, err := c.Try(method, path, body, headers...)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return response
}

// Try is Do for a gateway that may be gone: it returns the network's error.
func (c *Client) Try(method, path string, body any, headers ...[2]string) (*Response, error) {
	c.t.Helper()
	request := c.request(method, path, c.withCart(method, path, body), headers)
	response, err := roundTrip(&c.http, request)
	if err != nil {
		return nil, err
	}
	response.t = c.t
	if strings.HasPrefix(path, "/") {
		c.validateResponse(request, response)
		c.lookAt(response)
	}
	return response, nil
}

// lookAt notes the cart of a response.
func (c *Client) lookAt(response *Response) {
	var seen struct {
		api.Registration
		Refused *api.Registration `json:"registration"` // with a 409
	}
	_ = json.Unmarshal(response.Body, &seen) // what has no cart is not noted
	for _, shown := range []api.Registration{seen.Registration, Value(seen.Refused)} {
		if shown.Cart.Revision != "" {
			c.carts.Store("/v1/registrations/"+shown.Id, seenCart{shown.Cart.Revision, AgreementsOf(shown)})
		}
	}
}

// seenCart is what a front end shows above the order button.
type seenCart struct {
	revision   string
	agreements []api.Agreement
}

// AgreementsOf returns the agreements to all documents that the order of a registration needs.
func AgreementsOf(registration api.Registration) (all []api.Agreement) {
	for _, needed := range Value(Value(registration.Order).Agreements) {
		all = append(all, api.Agreement{Document: needed.Document, Version: needed.Version})
	}
	return all
}

// withCart adds to the body of a payment which cart the front end saw, and what its buyer agrees to; one that saw none reads it first.
func (c *Client) withCart(method, path string, body any) any {
	c.t.Helper()
	registration, isPayment := strings.CutSuffix(path, "/payment")
	if method != http.MethodPost || !isPayment || c.Token == "" {
		return body
	}
	text, ready := body.(string)
	if !ready {
		encoded, err := json.Marshal(body)
		Must(c.t, err)
		text = string(encoded)
	}
	var members map[string]any
	if json.Unmarshal([]byte(text), &members) != nil || members["cart"] != nil && members["agreements"] != nil {
		return body
	}
	if _, seen := c.carts.Load(registration); !seen {
		c.Do(http.MethodGet, registration, nil)
	}
	loaded, _ := c.carts.Load(registration)
	seen, ok := loaded.(seenCart)
	if !ok {
		return body
	}
	if members["cart"] == nil {
		members["cart"] = seen.revision
	}
	if _, says := members["agreements"]; !says && len(seen.agreements) > 0 {
		members["agreements"] = seen.agreements
	}
	return members
}

func (c *Client) request(method, path string, body any, headers [][2]string) *http.Request {
	c.t.Helper()
	url := path
	if strings.HasPrefix(path, "/") {
		url = c.URL + path
	}
	request, err := newRequest(context.Background(), method, url, c.Token, body)
	Must(c.t, err)
	if strings.Contains(url, "/ops/") && url == path {
		request.Header.Set("Authorization", "Bearer "+OperatorToken)
	}
	if c.World != "" {
		request.Header.Set("X-Frontdesk-World", c.World)
	}
	for _, header := range headers {
		request.Header.Set(header[0], header[1])
	}
	return request
}

// Into checks the status, and decodes the body. A payment is that of the registration in the body.
func (r *Response) Into(status int, into any) {
	r.t.Helper()
	if r.Status != status {
		r.t.Fatalf("status %d instead of %d: %s", r.Status, status, r.Body)
	}
	if into == nil {
		return
	}
	if payment, ok := into.(*api.Payment); ok {
		into = &struct{ Payment *api.Payment }{payment}
	}
	if err := json.Unmarshal(r.Body, into); err != nil {
		r.t.Fatalf("%v in %s", err, r.Body)
	}
}

// Problem expects a problem document with a code.
func (r *Response) Problem(code api.ProblemCode) api.Problem {
	r.t.Helper()
	var problem api.Problem
	if err := json.Unmarshal(r.Body, &problem); err != nil || problem.Code != code || problem.Status != r.Status {
		r.t.Fatalf("status %d, not problem %s: %s", r.Status, code, r.Body)
	}
	return problem
}

// Document returns openapi.yaml, which is parsed once for all tests of a package. No test may change it.
var Document = shared(parseContract)

// contract finds the operation of a request, in a document of its own, which it changes.
var contract = shared(func(t TB) routers.Router {
	document := parseContract(t)
	document.Servers = nil // any address may be the server's
	router, err := legacy.NewRouter(document)
	Must(t, err)
	return router
})

func parseContract(t TB) *openapi3.T {
	document, err := openapi3.NewLoader().LoadFromData(Contract(t))
	Must(t, err)
	for name, schema := range document.Components.Schemas {
		if !slices.Contains(clubsOwn, name) {
			schema.Value.Enum = Known(schema.Value)
		}
	}
	return document
}

// clubsOwn are the lists that the club system extends. Of the other open lists, the gateway must send nothing but known values.
var clubsOwn = []string{"ContactStatus", "ConsentChannel", "ConsentType"}

// Known returns the values of a list, whether it is open or closed.
func Known(schema *openapi3.Schema) []any {
	if open, ok := schema.Extensions["x-extensible-enum"].([]any); ok {
		return open
	}
	return schema.Enum
}

// Contract returns openapi.yaml as text.
func Contract(t TB) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(), "openapi.yaml"))
	Must(t, err)
	return text
}

// validateResponse checks a response against openapi.yaml. A path or a method
// that the document does not have breaks the contract.
func (c *Client) validateResponse(request *http.Request, response *Response) {
	c.t.Helper()
	if response.Status == http.StatusRequestHeaderFieldsTooLarge {
		return // sent by the Go library, before there is a route
	}
	route, path, err := contract(c.t).FindRoute(request)
	if err != nil {
		return
	}
	body := io.Reader(bytes.NewReader(response.Body))
	if response.Header.Get("Content-Encoding") == "gzip" { // the test asked for gzip, and so gets the raw bytes
		body, err = gzip.NewReader(body)
		Must(c.t, err)
	}
	err = openapi3filter.ValidateResponse(request.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, PathParams: path, Route: route},
		Status:                 response.Status,
		Header:                 response.Header,
		Body:                   io.NopCloser(body),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
	if err != nil {
		c.t.Errorf("%s %s: the answer is not what openapi.yaml says: %v", request.Method, request.URL.Path, err)
	}
	c.checkScreen(response)
	var problem api.Problem
	if response.Header.Get("Content-Type") != "application/problem+json" || json.Unmarshal(response.Body, &problem) != nil {
		return
	}
	for _, field := range Value(problem.Errors) {
		places := []*string{field.Pointer, field.Header, field.Parameter}
		if len(slices.DeleteFunc(places, func(place *string) bool { return place == nil })) != 1 {
			c.t.Errorf("%s %s: %s has a field problem without exactly one place", request.Method, request.URL.Path, response.Body)
		}
	}
	if problem.Code == api.MethodNotAllowed || request.URL.Path != pathpkg.Clean(request.URL.Path) {
		return // the gateway has no such route, although the router of this test finds one
	}
	if listed, _ := route.Operation.Extensions["x-problem-codes"].([]any); !slices.Contains(listed, any(string(problem.Code))) {
		c.t.Errorf(
			"%s answers with the problem %s, which its x-problem-codes in openapi.yaml do not list", route.Operation.OperationID,
			problem.Code,
		)
	}
}

// stepRow is a row of the contract's table of steps: the step, the screen, and the first action of next, which
// names actions.
var (
	stepRow    = regexp.MustCompile("(?m)^ *\\| `([a-z_]+)` \\| [^|]+ \\| ([^|]*)\\|$")
	actionName = regexp.MustCompile("`([a-z_]+)`")
)

// Steps reads the contract's table of steps: by step, the actions that may be the main button.
func Steps(t TB) map[api.Step][]api.ActionName {
	t.Helper()
	_, rows, _ := strings.Cut(string(Contract(t)), "| step | screen | first of `next` |")
	rows, _, _ = strings.Cut(rows, "    ResumeLink:")
	table := map[api.Step][]api.ActionName{}
	for _, row := range stepRow.FindAllStringSubmatch(rows, -1) {
		table[api.Step(row[1])] = []api.ActionName{}
		for _, found := range actionName.FindAllStringSubmatch(row[2], -1) {
			table[api.Step(row[1])] = append(table[api.Step(row[1])], api.ActionName(found[1]))
		}
	}
	return table
}

// checkScreen compares the first action of a registration with the contract's table of steps, and its other words with each other.
func (c *Client) checkScreen(response *Response) {
	c.t.Helper()
	var registration api.Registration
	isJSON := response.Header.Get("Content-Type") == "application/json"
	if !isJSON || json.Unmarshal(response.Body, &registration) != nil || registration.Step == "" {
		return
	}
	pays := slices.ContainsFunc(registration.Next, func(next api.Action) bool { return next.Action == api.ActionNamePay })
	if payment := registration.Payment; payment != nil && (payment.PayAgain != api.PayAgainNo) != pays {
		c.t.Errorf("the payment says %s, and next has %v", payment.PayAgain, registration.Next)
	}
	if (registration.Step == api.StepWithStaff) != (registration.State == api.Attention) || registration.Message.Text == "" {
		c.t.Errorf("the step %s is %s, with the message %+v", registration.Step, registration.State, registration.Message)
	}
	mains := Steps(c.t)[registration.Step]
	switch {
	case len(mains) == 0:
	case len(registration.Next) == 0 && (registration.Step == api.StepWithStaff || registration.Step == api.StepWaiting):
	case registration.Step == api.StepWaiting && registration.Next[0].Action != api.ActionNamePay: // it is not safe to ask again
	case len(registration.Next) == 0 || !slices.Contains(mains, registration.Next[0].Action):
		c.t.Errorf("%s has the actions %v, but the contract's table allows only these as the first: %v",
			registration.Step, registration.Next, mains)
	case registration.Next[0].Action == api.ActionNamePay && len(Value(registration.Next[0].Methods)) == 0:
		c.t.Errorf("%s can be paid by no method: %v", registration.Step, registration.Next)
	}
}

// Person is a person that can register at every club.
func Person() *api.Person {
	return &api.Person{
		GivenName:  "Ada",
		FamilyName: "Martin",
		BirthDate:  "1990-05-17",
		Email:      "ada@example.com",
		Mobile:     "+33612345678",
		Address:    api.Address{Street: "12 rue des Lilas", PostalCode: "75011", City: "Paris", Country: "FR"},
	}
}

// What a buyer enters, and the simulator's offers.
const (
	GoodIBAN    = "fr14 2004 1010 0505 0001 3M02 606"
	FreeTrial   = "3801" // costs nothing
	DirectDebit = "901"  // endless, with a registration fee due now
)

// DebitItem is an item of the direct debit offer, debited on the tenth.
func DebitItem(start string) api.NewItem {
	day := 10
	return api.NewItem{OfferId: DirectDebit, StartDate: &start, Debit: &api.Debit{Day: &day}}
}

// WrongCode is a code that differs from the right one.
func WrongCode(code string) string {
	digit := (code[0]-'0'+1)%10 + '0'
	return string(digit) + code[1:]
}

// Value returns what a member of a response points to; the zero value for nil.
func Value[T any](member *T) (v T) {
	if member != nil {
		v = *member
	}
	return v
}

// Place returns what is wrong: a JSON pointer, or the name of a header or of a parameter after "header/" or "query/".
func Place(problem api.FieldProblem) string {
	switch {
	case problem.Header != nil:
		return "header/" + *problem.Header
	case problem.Parameter != nil:
		return "query/" + *problem.Parameter
	}
	return Value(problem.Pointer)
}

// CardOffer finds a club's offer of a subscription that is paid by card at once.
func (c *Client) CardOffer(club string) api.Offer {
	c.t.Helper()
	var list api.ProductList
	c.Do("GET", "/v1/clubs/"+club+"/products?type=subscription", nil).Into(http.StatusOK, &list)
	for _, product := range list.Items {
		for _, offer := range product.Offers {
			if offer.ListPrice.Amount > 0 && len(offer.Needs) == 1 && !offer.Prorated {
				return offer
			}
		}
	}
	c.t.Fatal("no offer can be paid by card at once")
	return api.Offer{}
}

// Club returns the first club's id.
func (c *Client) Club() string {
	c.t.Helper()
	var clubs api.ClubList
	c.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, &clubs)
	return clubs.Items[0].Id
}

// Register starts a registration with a person and an offer that can be paid by card, and keeps its token.
func (c *Client) Register() api.Registration {
	c.t.Helper()
	tomorrow := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	club := c.Club()
	return c.RegisterWith(club, Person(), api.NewItem{OfferId: c.CardOffer(club).Id, StartDate: &tomorrow})
}

// RegisterWith starts a registration of a person with items, and keeps its token.
func (c *Client) RegisterWith(club string, person *api.Person, items ...api.NewItem) (registration api.Registration) {
	c.t.Helper()
	body := api.StartRegistration{ClubId: club, Person: person}
	if len(items) > 0 {
		body.Items = &items
	}
	c.Do("POST", "/v1/registrations", body, Key("")).Into(http.StatusCreated, &registration)
	if registration.Token == nil {
		c.t.Fatal("the registration came without its token")
	}
	c.Token = *registration.Token
	return registration
}

// Pay requests the payment of a registration by card.
func (c *Client) Pay(registration string) api.Payment {
	c.t.Helper()
	var paying api.Registration
	c.RequestPayment(registration, map[string]string{"method": "card"}).Into(http.StatusCreated, &paying)
	return *paying.Payment
}

// RequestPayment requests the payment of a registration with any body and any headers.
func (c *Client) RequestPayment(registration string, body any, headers ...[2]string) *Response {
	c.t.Helper()
	return c.Do("POST", "/v1/registrations/"+registration+"/payment", body, append(headers, Key(""))...)
}

// Day is a day at the demo clubs, the given number of days from today.
func Day(ahead int) string {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		panic(err) // the machine has no time zones
	}
	return time.Now().In(paris).AddDate(0, 0, ahead).Format(time.DateOnly)
}

// StaffKey is the header of the demo organisation's staff.
func StaffKey() [2]string { return [2]string{"X-Frontdesk-Staff-Key", "demo-staff-key-1"} }

// Registration reads a registration.
func (c *Client) Registration(id string) (registration api.Registration) {
	c.t.Helper()
	c.Do("GET", "/v1/registrations/"+id, nil).Into(http.StatusOK, &registration)
	return registration
}

// Await reads a registration until it is in a state.
func (c *Client) Await(id string, state api.RegistrationState) (registration api.Registration) {
	c.t.Helper()
	Eventually(c.t, "registration "+string(state), func() bool {
		registration = c.Registration(id)
		return registration.State == state
	})
	return registration
}

// AwaitPayment reads a registration until its payment is in a state.
func (c *Client) AwaitPayment(id string, state api.PaymentState) (registration api.Registration) {
	c.t.Helper()
	Eventually(c.t, "payment "+string(state), func() bool {
		registration = c.Registration(id)
		return registration.Payment != nil && registration.Payment.State == state
	})
	return registration
}
