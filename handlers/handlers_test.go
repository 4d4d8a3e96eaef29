package handlers_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

func TestMain(m *testing.M) { frontdesktest.Main(m) }

// newVisitor returns a front end of a world of its own.
func newVisitor(t *testing.T) *frontdesktest.Client {
	t.Helper()
	c, _ := frontdesktest.NewWorld(t)
	return c
}

// newGateway returns a front end of a gateway of its own.
func newGateway(t *testing.T) *frontdesktest.Client {
	t.Helper()
	return frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
}

const person = `{"givenName":"Ada","familyName":"Martin","birthDate":"1990-05-17","email":"ada@example.com","mobile":"+33612345678",
	"address":{"street":"12 rue des Lilas","postalCode":"75011","city":"Paris","country":"FR"}}`

// pointers returns the pointers of a problem's errors.
func pointers(problem api.Problem) string {
	if problem.Errors == nil {
		return ""
	}
	var all []string
	for _, e := range *problem.Errors {
		all = append(all, frontdesktest.Place(e))
	}
	return strings.Join(all, " ")
}

// key requests a fresh idempotency key.
var key = [2]string{"Idempotency-Key", "fresh"}

const unknownRegistration = "/v1/registrations/00000000-0000-4000-8000-000000000000"

// request is what a front end sends.
type request struct {
	method, path string
	body         any
	header       [2]string
}

// starting and paying are requests with a fresh idempotency key.
func starting(body string) request {
	return request{"POST", "/v1/registrations", body, key}
}

func paying(body string) request {
	return request{"POST", unknownRegistration + "/payment", body, key}
}

func getting(path string) request {
	return request{"GET", path, nil, [2]string{}}
}

// badInput lists invalid requests and the problem that each gets.
var badInput = map[string]struct {
	request
	code     api.ProblemCode
	pointers string
}{
	"no key": {request{"POST", "/v1/registrations", `{"clubId":"11"}`, [2]string{}}, api.MalformedRequest, "header/Idempotency-Key"},
	"empty key": {
		request{"POST", "/v1/registrations", `{"clubId":"11"}`, [2]string{"Idempotency-Key", ""}},
		api.MalformedRequest, "header/Idempotency-Key",
	},
	"endless key": {
		request{"POST", "/v1/registrations", `{"clubId":"11"}`, [2]string{"Idempotency-Key", strings.Repeat("k", 256)}},
		api.MalformedRequest, "header/Idempotency-Key",
	},
	"no body":                 {starting(""), api.MalformedRequest, ""},
	"broken JSON":             {starting(`{"clubId":`), api.MalformedRequest, ""},
	"a list":                  {starting(`[]`), api.InvalidRequest, ""},
	"two documents":           {starting(`{"clubId":"11"}{}`), api.MalformedRequest, ""},
	"unknown field":           {starting(`{"clubId":"11","contactId":"/demo/contacts/1"}`), api.InvalidRequest, "/contactId"},
	"wrong type":              {starting(`{"clubId":11}`), api.InvalidRequest, "/clubId"},
	"id that leaves its path": {starting(`{"clubId":"../sales"}`), api.InvalidRequest, "/clubId"},
	"everything at once": {
		starting(`{"person":{"givenName":" ","email":"nope","mobile":"06","birthDate":"2090-01-01","zip":1,"gender":"x"},
			"items":[{"startDate":"soon"}]}`),
		api.InvalidRequest, "/clubId /items/0/offerId /items/0/startDate /person/address /person/birthDate /person/email " +
			"/person/familyName /person/gender /person/givenName /person/mobile /person/zip",
	},
	"wrong type among others": {
		starting(`{"clubId":"11","person":{"givenName":7,"familyName":" ","birthDate":"1990-05-17","email":"x","mobile":"33612345678",
			"address":{"street":"1","postalCode":"2","city":"3","country":"FR"}}}`),
		api.InvalidRequest, "/person/address/postalCode /person/email /person/familyName /person/givenName /person/mobile",
	},
	"numbers that are none": {
		starting(`{"clubId":"11","person":{"givenName":"Ada","familyName":"Martin","birthDate":"1990-05-17",
			"email":"ada@example.org","mobile":"+3312345",
			"address":{"street":"1","postalCode":"ABCDE","city":"Paris","country":"FR"}}}`),
		api.InvalidRequest, "/person/address/postalCode /person/mobile",
	},
	"a name of two lines": {
		request{"PUT", unknownRegistration + "/person", strings.Replace(person, "Ada", `Ada\nMartin`, 1), [2]string{}},
		api.InvalidRequest, "/givenName",
	},
	"a key of letters that few have": {
		request{"POST", "/v1/registrations", `{"clubId":"11"}`, [2]string{"Idempotency-Key", "clé-clé-clé-clé-clé"}},
		api.MalformedRequest, "header/Idempotency-Key",
	},
	"an endless member": {
		starting(`{"clubId":"11","` + strings.Repeat("m", 1000) + `":1}`),
		api.InvalidRequest, "/" + strings.Repeat("m", 499),
	},
	"a code of letters": {
		request{"POST", unknownRegistration + "/mandate/signature", `{"code":"abcdef"}`, key},
		api.InvalidRequest, "/code",
	},
	"day that does not exist": {
		starting(`{"clubId":"11","items":[{"offerId":"1","startDate":"2030-02-30"}]}`),
		api.InvalidRequest, "/items/0/startDate",
	},
	"too many items": {
		starting(`{"clubId":"11","items":[` + strings.Repeat(`{"offerId":"1"},`, 20) + `{"offerId":"1"}]}`),
		api.InvalidRequest, "/items",
	},
	"unknown club": {starting(`{"clubId":"999"}`), api.InvalidRequest, "/clubId"},
	"unknown offer": {
		starting(`{"clubId":"11","person":` + person + `,"items":[{"offerId":"999999"}]}`),
		api.OfferNotAvailable, "/items/0/offerId",
	},
	"items, no person":        {starting(`{"clubId":"11","items":[{"offerId":"1"}]}`), api.InvalidRequest, "/person"},
	"large body":              {starting(`"` + strings.Repeat("x", 64<<10-1) + `"`), api.TooLarge, ""},
	"largest body":            {starting(`"` + strings.Repeat("x", 64<<10-2) + `"`), api.InvalidRequest, ""},
	"unknown path":            {getting("/v1/nothing"), api.NotFound, ""},
	"unknown method":          {request{"PATCH", "/v1/clubs", nil, [2]string{}}, api.MethodNotAllowed, ""},
	"catalogue of no club":    {getting("/v1/clubs/999/products"), api.ClubNotFound, ""},
	"unknown category":        {getting("/v1/clubs/11/products?type=yoga&date=tomorrow"), api.InvalidRequest, "query/date query/type"},
	"misspelt parameter":      {getting("/v1/clubs/11/products?typ=bogus"), api.InvalidRequest, "query/typ"},
	"parameter where none is": {getting("/v1/clubs?type=subscription"), api.InvalidRequest, "query/type"},
	"made-up cursor":          {getting("/v1/clubs/11/products?cursor=-1"), api.InvalidRequest, "query/cursor"},
	"registration of others":  {getting(unknownRegistration), api.TokenRequired, ""},
	"abandon others'":         {request{"DELETE", unknownRegistration, nil, bearer(strings.Repeat("A", 43))}, api.RegistrationNotFound, ""},
	"pay others'":             {paying(`{"method":"card"}`), api.TokenRequired, ""},
	"no method":               {paying(`{"returnUrl":"https://club.example/"}`), api.InvalidRequest, "/method"},
	"unknown way to pay":      {paying(`{"method":"gold","amount":1}`), api.InvalidRequest, "/method"},
	"method of another type":  {paying(`{"method":7}`), api.InvalidRequest, "/method"},
	"payment that is a list":  {paying(`[]`), api.InvalidRequest, ""},
	"card with more":          {paying(`{"method":"card","dueDate":"2030-01-31","returnUrl":"x"}`), api.InvalidRequest, "/dueDate /returnUrl"},
	"later without a date":    {paying(`{"method":"later"}`), api.InvalidRequest, "/dueDate"},
	"later, not a date":       {paying(`{"method":"later","dueDate":"soon","mean":"cash"}`), api.InvalidRequest, "/dueDate /mean"},
	"later, no such day":      {paying(`{"method":"later","dueDate":"2027-02-30"}`), api.InvalidRequest, "/dueDate"},
	"free with an amount":     {paying(`{"method":"free","amount":0}`), api.InvalidRequest, "/amount"},
	"desk without a mean": {
		paying(`{"method":"desk","cards":[{"paid":{"amount":0,"currency":"EUR"},"network":"a b","name":"x"}]}`),
		api.InvalidRequest, "/cards /mean",
	},
	"desk, cash with cards": {
		paying(`{"method":"desk","mean":"cash","cards":[{"paid":{"amount":1,"currency":"EUR"},"network":"CBGroup"}]}`),
		api.InvalidRequest, "/cards",
	},
	"desk, card without": {paying(`{"method":"desk","mean":"card","cheques":[]}`), api.InvalidRequest, "/cards /cheques"},
	"desk, wrong cards": {
		paying(`{"method":"desk","mean":"card","cards":[{"paid":{"amount":0,"currency":"EUR"},"network":"a b","name":"x"},{"paid":"1"}]}`),
		api.InvalidRequest, "/cards/0/name /cards/0/network /cards/0/paid/amount /cards/1/network /cards/1/paid",
	},
	"desk, wrong cheque": {
		paying(`{"method":"desk","mean":"cheque",
			"cheques":[{"paid":{"amount":1.5,"currency":"eur"},"bank":" ","depositDesiredDate":"x","owner":""}]}`),
		api.InvalidRequest, "/cheques/0/bank /cheques/0/code /cheques/0/depositDesiredDate /cheques/0/owner " +
			"/cheques/0/paid/amount /cheques/0/paid/currency",
	},
	"wrong staff key": {
		request{"GET", "/v1/clubs", nil, [2]string{"X-Frontdesk-Staff-Key", "demo-staff-key-2"}},
		api.StaffKeyUnknown, "",
	},
	"return to a script": {paying(`{"method":"card","returnUrl":"javascript:alert(1)"}`), api.InvalidRequest, "/returnUrl"},
	"return with a password": {
		paying(`{"method":"card","returnUrl":"http://user:pw@localhost:5173/"}`),
		api.InvalidRequest, "/returnUrl",
	},
	"an invalid id":    {getting("/v1/registrations/a%2Fb"), api.RegistrationNotFound, ""},
	"foreign world":    {request{"GET", "/v1/clubs", nil, [2]string{"X-Frontdesk-World", "acme"}}, api.MalformedRequest, ""},
	"unsigned webhook": {request{"POST", "/v1/webhooks/card", `{"id":"evt_1"}`, [2]string{}}, api.WebhookUntrusted, ""},
	"forged webhook": {
		request{"POST", "/v1/webhooks/card", `{"id":"evt_1"}`, [2]string{"Stripe-Signature", "t=1,v1=00"}},
		api.WebhookUntrusted, "",
	},
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for name, test := range badInput {
		t.Run(name, func(t *testing.T) {
			var headers [][2]string
			switch test.header {
			case [2]string{}:
			case key:
				headers = append(headers, frontdesktest.Key(""))
			default:
				headers = append(headers, test.header)
			}
			problem := client.WithT(t).Do(test.method, test.path, test.body, headers...).Problem(test.code)
			if got := pointers(problem); got != test.pointers {
				t.Errorf("points at %q, want %q", got, test.pointers)
			}
			if value(problem.TraceId) == "" {
				t.Error("the problem has no trace id")
			}
		})
	}
}

func TestWrongContentType(t *testing.T) {
	t.Parallel()
	client, mergePatch := newVisitor(t), [2]string{"Content-Type", "application/merge-patch+json"}
	for _, media := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json-seq", ""} {
		client.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key(""), [2]string{"Content-Type", media}).
			Problem(api.UnsupportedMediaType)
	}
	client.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key(""), mergePatch).Problem(api.UnsupportedMediaType)
	withCharset := [2]string{"Content-Type", "application/json; charset=utf-8"}
	client.Do("POST", "/v1/registrations", `{"clubId":"`+client.Club()+`"}`, frontdesktest.Key(""), withCharset).Into(http.StatusCreated, nil)
	client.Do("PATCH", unknownRegistration+"/person", `{"email":"wrong"}`, mergePatch).Problem(api.InvalidRequest)
}

func TestRegistrationIsItsHoldersAlone(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id
	for _, token := range []string{"", "wrong", strings.ToUpper(client.Token), client.Token + "x", newOther(client)} {
		stranger := *client
		stranger.Token = token
		missing := cmp.Or(map[string]api.ProblemCode{"": api.TokenRequired}[token], api.RegistrationNotFound)
		stranger.Do("GET", path, nil).Problem(missing)
		stranger.Do("DELETE", path, nil).Problem(missing)
		stranger.Do("PUT", path+"/person", frontdesktest.Person()).Problem(missing)
		stranger.Do("POST", path+"/items", `{"offerId":"1"}`, frontdesktest.Key("")).Problem(missing)
		stranger.Do("DELETE", path+"/items", nil).Problem(missing)
		stranger.Do("POST", path+"/check", nil, frontdesktest.Key("")).Problem(missing)
		stranger.Do("POST", path+"/payment", `{"method":"card"}`, frontdesktest.Key("")).Problem(missing)
	}
	if state := client.Registration(registration.Id).State; state != api.Open {
		t.Errorf("the registration is %s", state)
	}
}

// newOther returns the token of another registration.
func newOther(c *frontdesktest.Client) string {
	var other api.Registration
	c.Do("POST", "/v1/registrations", `{"clubId":"`+c.Club()+`"}`, frontdesktest.Key("")).Into(http.StatusCreated, &other)
	return *other.Token
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	body := `{"clubId":"` + client.Club() + `","person":` + person + `}`
	key := frontdesktest.Key("")
	first := client.Do("POST", "/v1/registrations", body, key)
	first.Into(http.StatusCreated, nil)
	second := client.Do("POST", "/v1/registrations", body, key)
	if string(second.Body) != string(first.Body) || second.Status != first.Status ||
		second.Header.Get("Location") != first.Header.Get("Location") {
		t.Errorf("the replay differs: %s", second.Body)
	}
	if first.Header.Get("Idempotent-Replayed") != "" || second.Header.Get("Idempotent-Replayed") != "true" {
		t.Error("Idempotent-Replayed does not tell the replay from the first response")
	}
	client.Do("POST", "/v1/registrations", `{"clubId":"12"}`, key).Problem(api.KeyReused)
	client.World = "demo-else"
	if other := client.Do("POST", "/v1/registrations", body, key); string(other.Body) == string(first.Body) {
		t.Error("another organisation got the answer")
	}
}

func TestIdempotencyKeyUnderConcurrency(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	body := `{"clubId":"` + client.Club() + `","person":` + person + `}`
	key := frontdesktest.Key("")
	var mu sync.Mutex
	ids := map[string]bool{}
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			response := client.Do("POST", "/v1/registrations", body, key)
			mu.Lock()
			defer mu.Unlock()
			if response.Status == http.StatusConflict {
				if problem := response.Problem(api.KeyInUse); problem.Retry != api.ProblemRetryAfter || response.Header.Get("Retry-After") == "" {
					t.Errorf("unexpected: %s", response.Body)
				}
				return
			}
			var registration api.Registration
			response.Into(http.StatusCreated, &registration)
			ids[registration.Id] = true
		})
	}
	group.Wait()
	if len(ids) != 1 {
		t.Errorf("one key made %d registrations", len(ids))
	}
}

func TestFailureIsNotKept(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	club := client.Club()
	fault := `[{"match":{"method":"POST","path":"/contacts"},"kind":"error_before","status":503,"times":1}]`
	client.Control("PUT", "faults", fault).Into(http.StatusOK, nil)
	body := `{"clubId":"` + club + `","person":` + person + `}`
	key := frontdesktest.Key("")
	response := client.Do("POST", "/v1/registrations", body, key)
	problem := response.Problem(api.ClubSystemUnavailable)
	if problem.Retry != api.ProblemRetryAfter || response.Header.Get("Retry-After") == "" {
		t.Errorf("unexpected: %s", response.Body)
	}
	again := client.Do("POST", "/v1/registrations", body, key)
	again.Into(http.StatusCreated, nil)
	if again.Header.Get("Idempotent-Replayed") != "" {
		t.Error("the failure was replayed")
	}
}

func TestPaymentReplayShowsThePresent(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id + "/payment"
	key := frontdesktest.Key("")
	var payment api.Payment
	client.Do("POST", path, `{"method":"card"}`, key).Into(http.StatusCreated, &payment)
	client.Confirm(payment, "4242424242424242")
	client.Await(registration.Id, api.Completed)
	replay := client.Do("POST", path, `{"method":"card"}`, key)
	var now api.Payment
	replay.Into(http.StatusCreated, &now)
	if now.Id != payment.Id || now.State != api.Recorded || now.Card.RedirectUrl != nil || replay.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the replay is %s", replay.Body)
	}
}

func TestCookieSession(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	var registration api.Registration
	start := func() *frontdesktest.Response {
		return client.Do(
			"POST", "/v1/registrations", `{"clubId":"`+client.Club()+`"}`,
			frontdesktest.Key(""), [2]string{"X-Frontdesk-Session", "cookie"},
		)
	}
	started := start()
	started.Into(http.StatusCreated, &registration)
	cookie := started.Header.Get("Set-Cookie")
	if registration.Token != nil || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") {
		t.Fatalf("cookie %q, body %s", cookie, started.Body)
	}
	other := start()
	pair := func(header string) string { pair, _, _ := strings.Cut(header, ";"); return pair }
	session := [2]string{"Cookie", pair(cookie) + "; " + pair(other.Header.Get("Set-Cookie"))} // a browser keeps both
	path := "/v1/registrations/" + registration.Id
	client.Do("GET", path, nil, session).Into(http.StatusOK, nil)
	client.Do("PUT", path+"/person", person, session, [2]string{"Origin", "https://evil.example"}).Problem(api.ForbiddenOrigin)
	client.Do("PUT", path+"/person", person, session, [2]string{"Sec-Fetch-Site", "cross-site"}).Problem(api.ForbiddenOrigin)
	client.Do("PUT", path+"/person", person, session, [2]string{"Sec-Fetch-Site", "same-origin"}).Into(http.StatusOK, nil)
	sameSite := [2]string{"Origin", strings.Replace(client.URL, "127.0.0.1", "localhost", 1)}
	client.Do("PUT", path+"/person", person, session, sameSite).Into(http.StatusOK, nil)
}

func TestFrontEndOfAnotherPort(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	for origin, want := range map[string]string{"http://localhost:5173": "http://localhost:5173", "https://evil.example": ""} {
		response := c.Do("OPTIONS", "/v1/registrations", nil, [2]string{"Origin", origin}, [2]string{"Access-Control-Request-Method", "POST"})
		if got := response.Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s is answered with %q", origin, got)
		}
	}
}

// TestRoutesAreTheContracts calls every operation of openapi.yaml, and every method that a path does not have.
func TestRoutesAreTheContracts(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	document := frontdesktest.Document(t)
	ids := strings.NewReplacer("{clubId}", "11", "{itemId}", "no-such-item", "{id}", "00000000-0000-4000-8000-000000000000")
	for path, item := range document.Paths.Map() {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if path == "/v1/registrations/current" && method == "DELETE" {
				continue // of a registration with this id, which none has
			}
			listed := item.GetOperation(method) != nil
			response := client.Do(method, ids.Replace(path), nil)
			if routed := response.Status != http.StatusMethodNotAllowed; routed != listed {
				t.Errorf("%s %s: listed %t, routed %t", method, path, listed, routed)
			}
		}
	}
}

// TestBrokenBodies: an incomplete body is the client's error, and the log contains no address.
func TestBrokenBodies(t *testing.T) {
	t.Parallel()
	gateway := frontdesktest.NewMock(t)
	const head = "POST /v1/registrations HTTP/1.1\r\nHost: club.example\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\n"
	var group sync.WaitGroup
	for name, text := range map[string]string{
		"breaks off":  head + "Content-Length: 100\r\n\r\n{",
		"bad chunk":   head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
		"comes never": head + "Content-Length: 100\r\n\r\n{",
	} {
		group.Go(func() {
			connection, err := net.Dial("tcp", strings.TrimPrefix(gateway.URL, "http://"))
			if err != nil {
				t.Error(err)
				return
			}
			defer connection.Close()
			if _, err := io.WriteString(connection, text); err != nil {
				t.Error(err)
			}
			if name == "breaks off" {
				connection.(*net.TCPConn).CloseWrite()
			}
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			defer response.Body.Close()
			var problem api.Problem
			err = json.NewDecoder(response.Body).Decode(&problem)
			if err != nil || response.StatusCode != http.StatusBadRequest || problem.Code != api.MalformedRequest {
				t.Errorf("%s: status %d, %+v, %v", name, response.StatusCode, problem, err)
			}
		})
	}
	group.Wait()
	if log := gateway.Log(); strings.Contains(log, "request failed") || strings.Contains(log, "->") {
		t.Errorf("the log says\n%s", log)
	}
}

// TestHead: load balancers, caches and link checkers send HEAD requests.
func TestHead(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	for path, want := range map[string]int{
		"/healthz": http.StatusOK, "/readyz": http.StatusOK, "/docs": http.StatusOK, "/openapi.json": http.StatusOK, "/v1/config": http.StatusOK,
		"/v1/clubs": http.StatusOK, "/v1/clubs/99": http.StatusNotFound, "/v1/me": http.StatusMethodNotAllowed,
	} {
		if response := c.Do("HEAD", path, nil); response.Status != want || len(response.Body) != 0 {
			t.Errorf("%s: status %d, %q", path, response.Status, response.Body)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	client := newVisitor(t)
	for path, want := range map[string]string{
		"/":             "text/html",
		"/docs":         "text/html",
		"/openapi.yaml": "application/yaml",
		"/healthz":      "application/json",
		"/readyz":       "application/json",
	} {
		response := client.Do("GET", path, nil)
		if response.Status != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), want) {
			t.Errorf("%s: status %d, %s", path, response.Status, response.Header.Get("Content-Type"))
		}
		if response.Header.Get("Content-Security-Policy") == "" || response.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s comes without security headers", path)
		}
	}
	served, err := os.ReadFile(filepath.Join(frontdesktest.Root(), "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if string(client.Do("GET", "/openapi.yaml", nil).Body) != string(served) {
		t.Error("/openapi.yaml is another document")
	}
}

func value[T any](member *T) (v T) {
	if member != nil {
		v = *member
	}
	return v
}

// TestPatternMessages: where the contract can only say that a text does not match a pattern, the message says
// what would be valid.
func TestPatternMessages(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	wrong := strings.NewReplacer("+33612345678", "06 12 34 56 78", "75011", "75_11", `"FR"`, `"fr"`, "Ada", `A\tda`).Replace(person)
	response := c.Do("PUT", unknownRegistration+"/person", wrong)
	messages := map[string]string{}
	for _, e := range value(response.Problem(api.InvalidRequest).Errors) {
		messages[frontdesktest.Place(e)] = e.Text
	}
	for pointer, words := range map[string]string{
		"/mobile": "must be an international number such as +33612345678", "/address/postalCode": "must be a valid postal code for the country",
		"/address/country": "must be a two-letter country code such as FR", "/givenName": "is not valid",
	} {
		if messages[pointer] != words {
			t.Errorf("%s: the message is %q", pointer, messages[pointer])
		}
	}
}
