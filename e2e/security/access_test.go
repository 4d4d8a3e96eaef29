package security_test

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestAPI1BrokenObjectLevelAuthorization checks that knowing every id of another visitor's registration
// gives no access, on any route and with any credentials of one's own.
func TestAPI1BrokenObjectLevelAuthorization(t *testing.T) {
	t.Parallel()
	victim, _ := frontdesktest.NewWorld(t)
	registration := victim.Register()
	payment := victim.Pay(registration.Id)
	own := startIn(t, victim)
	customer := victim.Persona("customer")
	before := victim.Do("GET", "/v1/registrations/"+registration.Id, nil)
	quiet := expectUnchanged(t, victim)
	proofs := map[string][]([2]string){
		"the token of another registration": {bearerHeader(*own.Token)},
		"that token in the victim's cookie": {{"Cookie", "frontdesk-" + registration.Id + "=" + *own.Token}},
		"another login":                     {bearerHeader(customer.IdentityToken)},
		"the desk's key":                    {frontdesktest.StaffKey()},
		"the id itself":                     {bearerHeader(registration.Id)},
		"the payment's id":                  {bearerHeader(payment.Id)},
		"the processor's secret":            {bearerHeader(frontdesktest.Value(payment.Card.ClientSecret) + "x")},
	}
	const unknownID = "00000000-0000-4000-8000-000000000000"
	refused := map[string]api.ProblemCode{"another login": api.TokenRequired, "the desk's key": api.TokenRequired}
	for name := range proofs {
		refused[name] = cmp.Or(refused[name], api.RegistrationNotFound)
	}
	for _, route := range routes(t) {
		if !strings.Contains(route.path, "{id}") {
			continue
		}
		for name, proof := range proofs {
			response := attacker(victim).Do(route.method, route.pathFor(registration.Id), route.body(), append(proof, frontdesktest.Key(""))...)
			// The cookie's name has the id.
			elsewhere := [2]string{proof[0][0], strings.ReplaceAll(proof[0][1], registration.Id, unknownID)}
			of := attacker(victim).Do(route.method, route.pathFor(unknownID), route.body(), elsewhere, frontdesktest.Key("")).Problem(refused[name])
			problem := response.Problem(refused[name])
			if frontdesktest.Value(problem.Detail) != frontdesktest.Value(of.Detail) || strings.Contains(string(response.Body), payment.Id) {
				t.Errorf("%s %s with %s tells %s", route.method, route.path, name, response.Body)
			}
		}
		// The reverse: the attacker's own token with the victim's ids.
		for _, id := range []string{payment.Id, "1001", registration.Id + "%00", registration.Id + "%2f..%2f" + own.Id, "*"} {
			attacker(victim).Do(route.method, route.pathFor(id), route.body(), bearerHeader(*own.Token),
				frontdesktest.Key("")).Problem(api.RegistrationNotFound)
		}
	}
	for _, body := range []string{
		`{"offerId":"/demo/contacts/1001"}`, `{"offerId":"2501/../../contacts/1001"}`,
		`{"offerId":"2501?contact=1001"}`,
	} {
		attacker(
			victim,
		).Do("POST", "/v1/registrations/"+own.Id+"/items", body, bearerHeader(*own.Token), frontdesktest.Key("")).
			Problem(api.InvalidRequest)
	}
	quiet("a refused caller")
	if after := victim.Do("GET", "/v1/registrations/"+registration.Id, nil); string(after.Body) != string(before.Body) {
		t.Errorf("the registration was\n%s\nand is\n%s", before.Body, after.Body)
	}
	victim.Confirm(payment, "4242424242424242")
	victim.Await(registration.Id, api.Completed)
	victim.Records().ExpectOnePayment(t, payment.Total.Amount)
}

// TestAPI1ForeignCode checks that a code moves only the person it was sent to, and that only its own
// contact can change a consent.
func TestAPI1ForeignCode(t *testing.T) {
	t.Parallel()
	_, mock := frontdesktest.NewWorld(t)
	client := frontdesktest.NewClient(t, mock.URL)
	client.World = "demo-move-owasp"
	victim, thief := client.As("prospect"), client.As("former")
	victim.Do("POST", "/v1/me/transfer", api.NewTransfer{ClubId: "11"}, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	response := thief.Do("POST", "/v1/me/transfer/signature", api.Signature{Code: victim.LatestCode()}, frontdesktest.Key(""))
	if response.Status < 400 || response.Status > 499 {
		t.Errorf("another contact's code is answered with %s", response.Body)
	}
	for persona, club := range map[string]string{"prospect": "13", "former": "12"} {
		if got := client.Persona(persona).ClubID; !strings.HasSuffix(got, "/clubs/"+club) {
			t.Errorf("the %s is of %s, want club %s", persona, got, club)
		}
	}
	var theirs api.ConsentList
	victim.Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &theirs)
	wish := api.ChangeConsents{Items: []api.ConsentWish{{Id: theirs.Items[0].Id, Authorized: !theirs.Items[0].Authorized}}}
	var done api.ConsentChanges
	thief.Do("PATCH", "/v1/me/consents", wish).Into(http.StatusOK, &done)
	if string(done.Items[0].Code) != "unknown" {
		t.Errorf("another contact's consent is answered with %+v", done.Items)
	}
	var after api.ConsentList
	victim.Do("GET", "/v1/me/consents", nil).Into(http.StatusOK, &after)
	if after.Items[0] != theirs.Items[0] {
		t.Errorf("the consent was %+v and is %+v", theirs.Items[0], after.Items[0])
	}
}

// tampered returns forgeries of a genuine token, made without the login's key.
func tampered(t *testing.T, genuine, lure string) map[string]string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(genuine, ".")
	text := func(value any) string {
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(encoded)
	}
	header := map[string]any{}
	if plain, err := base64.RawURLEncoding.DecodeString(parts[0]); err != nil || json.Unmarshal(plain, &header) != nil {
		t.Fatalf("the header is %q", parts[0])
	}
	now := time.Now()
	claims := jwt.MapClaims{"sub": "1002", "club": "11", "iat": now.Unix(), "exp": now.Add(time.Minute).Unix()}
	signed := func(method jwt.SigningMethod, key any, header map[string]any) string {
		token := jwt.NewWithClaims(method, claims)
		for name, value := range header {
			token.Header[name] = value
		}
		all, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	tokens := map[string]string{
		"another contact":          parts[0] + "." + text(claims) + "." + parts[2],
		"no signature":             parts[0] + "." + parts[1] + ".",
		"two parts":                parts[0] + "." + parts[1],
		"five parts":               genuine + ".x.y",
		"the signature cut":        genuine[:len(genuine)-8],
		"another signature":        signed(jwt.SigningMethodRS256, key, map[string]any{"kid": header["kid"]}),
		"a key id that is a path":  signed(jwt.SigningMethodRS256, key, map[string]any{"kid": "../../../../dev/null"}),
		"a key id that is a query": signed(jwt.SigningMethodRS256, key, map[string]any{"kid": "x' UNION SELECT 'key"}),
		"a key id that is a list":  signed(jwt.SigningMethodRS256, key, map[string]any{"kid": []string{"a"}}),
		"a key from elsewhere":     signed(jwt.SigningMethodRS256, key, map[string]any{"kid": "mine", "jku": lure, "x5u": lure}),
		"a key that it brings": signed(
			jwt.SigningMethodRS256, key,
			map[string]any{"jwk": map[string]string{"kty": "RSA", "n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()), "e": "AQAB"}},
		),
		"PS256":                     signed(jwt.SigningMethodPS256, key, map[string]any{"kid": header["kid"]}),
		"an empty secret":           signed(jwt.SigningMethodHS256, []byte{}, nil),
		"the key id for a secret":   signed(jwt.SigningMethodHS256, []byte("demo"), map[string]any{"kid": header["kid"]}),
		"endless":                   genuine + strings.Repeat("A", 20<<10),
		"nothing but dots":          "..",
		"a critical header unknown": signed(jwt.SigningMethodRS256, key, map[string]any{"kid": header["kid"], "crit": []string{"exp"}}),
	}
	for _, none := range []string{"none", "None", "NONE", "nOnE", ""} {
		tokens["alg "+none] = text(map[string]string{"alg": none, "typ": "JWT"}) + "." + text(claims) + "."
	}
	return tokens
}

// TestAPI2BrokenAuthentication checks that only the login's own tokens count, and only in the header,
// and that a visitor cannot choose a session.
func TestAPI2BrokenAuthentication(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	lure := newTrapServer(t)
	customer := client.Persona("customer")
	client.As("customer").Do("GET", "/v1/me", nil).Into(http.StatusOK, nil)
	client.Club()
	quiet := expectUnchanged(t, client)
	tokens := tampered(t, customer.IdentityToken, lure.URL)
	var keys struct{ Keys []struct{ N, X, Y string } }
	attacker(client).Do("GET", "/sim/demo/_control/jwks", nil).Into(http.StatusOK, &keys)
	for _, key := range keys.Keys { // the public key, used as a shared secret
		claims := jwt.MapClaims{"sub": "1002", "club": "11", "exp": time.Now().Add(time.Minute).Unix()}
		for i, secret := range []string{key.N, key.X, key.X + key.Y} {
			signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
			if err != nil {
				t.Fatal(err)
			}
			tokens["a published key as a secret "+string(rune('0'+i))] = signed
		}
	}
	for name, token := range tokens {
		for _, r := range []route{
			{method: "GET", path: "/v1/me"}, {method: "POST", path: "/v1/registrations"},
			{method: "GET", path: "/v1/clubs/11/products"},
		} {
			var body any
			if r.method == "POST" {
				body = `{"clubId":"11"}`
			}
			response := attacker(client).Do(r.method, r.path, body, bearerHeader(token), frontdesktest.Key(""))
			if response.Status == http.StatusRequestHeaderFieldsTooLarge {
				continue // refused before it was checked
			}
			if problem := response.Problem(api.NotIdentified); strings.Contains(string(response.Body), "signature") {
				t.Errorf("%s: the response reveals what is wrong: %+v", name, problem)
			}
		}
	}
	for _, elsewhere := range []string{"access_token", "token", "bearer", "Authorization"} {
		attacker(client).Do("GET", "/v1/me?"+elsewhere+"="+customer.IdentityToken, nil).Problem(api.NotIdentified)
		attacker(client).Do("GET", "/v1/me", nil, [2]string{"Cookie", elsewhere + "=" + customer.IdentityToken}).Problem(api.NotIdentified)
		attacker(client).Do("GET", "/v1/me", nil, [2]string{"X-" + elsewhere, customer.IdentityToken}).Problem(api.NotIdentified)
	}
	attacker(client).Do("GET", "/v1/me", nil, [2]string{"Authorization", "Basic " + customer.IdentityToken}).Problem(api.NotIdentified)
	quiet("a token that does not count")
	if came := lure.requests.Load(); came > 0 {
		t.Errorf("%d keys were fetched from where a token said", came)
	}
}

// TestAPI2LoginClaims checks that a signed token is valid only for its contact, audience and time, and
// never for longer than ten minutes.
func TestAPI2LoginClaims(t *testing.T) {
	t.Parallel()
	const secret = "what-the-login-and-the-gateway-share-alone"
	gateway := frontdesktest.Start(t, "FRONTDESK_IDENTITY_SECRET="+secret, "FRONTDESK_IDENTITY_AUDIENCE=frontdesk",
		"FRONTDESK_IDENTITY_ISSUER=login")
	client := frontdesktest.NewClient(t, gateway.URL)
	now := time.Now()
	me := func(change jwt.MapClaims) *frontdesktest.Response {
		claims := jwt.MapClaims{
			"sub":  "1001",
			"club": "11",
			"aud":  "frontdesk",
			"iss":  "login",
			"iat":  now.Unix(),
			"exp":  now.Add(5 * time.Minute).Unix(),
		}
		for name, value := range change {
			claims[name] = value
			if value == nil {
				delete(claims, name)
			}
		}
		signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		return client.Do("GET", "/v1/me", nil, bearerHeader(signed))
	}
	me(nil).Into(http.StatusOK, nil)
	quiet := expectUnchanged(t, client)
	for name, change := range map[string]jwt.MapClaims{
		"expired":               {"exp": now.Add(-time.Minute).Unix()},
		"without an end":        {"exp": nil},
		"for a day":             {"exp": now.Add(24 * time.Hour).Unix()},
		"not yet":               {"nbf": now.Add(time.Hour).Unix()},
		"from the future":       {"iat": now.Add(time.Hour).Unix()},
		"an end that is text":   {"exp": "tomorrow"},
		"no contact":            {"sub": nil},
		"a path":                {"sub": "1001/../1002"},
		"an IRI":                {"sub": "/demo/contacts/1001"},
		"a query":               {"sub": "1001?x=1"},
		"a number":              {"sub": 1001},
		"a list":                {"sub": []string{"1001", "1002"}},
		"no club":               {"club": nil},
		"a club that is a path": {"club": "../11"},
		"for another service":   {"aud": "shop"},
		"no audience":           {"aud": nil},
		"of another login":      {"iss": "shop"},
		"no issuer":             {"iss": nil},
	} {
		response := me(change)
		scheme := response.Header.Get("WWW-Authenticate")
		if response.Status != http.StatusUnauthorized || !strings.HasPrefix(scheme, "Bearer ") {
			t.Errorf("%s: %d %s, to be answered by %q", name, response.Status, response.Body, scheme)
		}
	}
	quiet("a token that does not count")
	for want, refused := range map[string]*frontdesktest.Response{
		// The contact's club is another one, which only the club system knows.
		`Bearer realm="the club's login"`: me(jwt.MapClaims{"club": "12"}),
		`Bearer realm="the club's login", Frontdesk-Staff-Key`: attacker(client).Do(
			"POST", "/v1/registrations", api.StartRegistration{ClubId: "11"}, frontdesktest.Key(""),
			bearerHeader("e30.e30.e30"),
		),
		"Frontdesk-Staff-Key": attacker(client).Do(
			"GET", "/v1/clubs", nil, [2]string{"X-Frontdesk-Staff-Key", "guessed-staff-key"},
		),
	} {
		if scheme := refused.Header.Get("WWW-Authenticate"); refused.Status != http.StatusUnauthorized || scheme != want {
			t.Errorf("%d %s, to be answered by %q instead of %q", refused.Status, refused.Body, scheme, want)
		}
	}
}

// TestAPI2SessionFixation checks that an attacker cannot choose a session for a visitor, and that a
// resume link works once.
func TestAPI2SessionFixation(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id
	const chosen = "chosen-by-the-attacker-chosen-by-the-attacker"
	started := attacker(client).Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key(""), bearerHeader(chosen),
		[2]string{"Cookie", "frontdesk-" + registration.Id + "=" + chosen}, [2]string{"X-Frontdesk-Session", "cookie"})
	var fixed api.Registration
	started.Into(http.StatusCreated, &fixed)
	cookie := started.Header.Get("Set-Cookie")
	if strings.Contains(cookie, chosen) || strings.Contains(cookie, "Domain") || !strings.Contains(cookie, "HttpOnly") ||
		!strings.Contains(cookie, "Path=/") {
		t.Errorf("the session is %q", cookie)
	}
	for _, guess := range []string{
		chosen, "", "null", "undefined", *registration.Token + ".", strings.ToLower(*registration.Token),
		(*registration.Token)[:42],
	} {
		code := api.RegistrationNotFound
		if guess == "" || strings.Contains(guess, ".") { // such as a login's
			code = api.TokenRequired
		}
		attacker(client).Do("GET", path, nil, bearerHeader(guess)).Problem(code)
		attacker(client).Do("GET", "/v1/registrations/"+fixed.Id, nil, bearerHeader(guess)).Problem(code)
	}
	attacker(client).Do("GET", path+"?token="+*registration.Token+"&access_token="+*registration.Token, nil).Problem(api.InvalidRequest)
	elsewhere := attacker(client)
	elsewhere.World += "-other" // another organisation does not hold the registration
	elsewhere.Do("POST", "/v1/resumptions", api.Resumption{Resume: resumeCode(client, registration.Id)}, frontdesktest.Key("")).
		Problem(api.ResumptionInvalid)

	code := resumeCode(client, registration.Id)
	exchange(client, code, bearerHeader(chosen)).Into(http.StatusCreated, nil)
	quiet := expectUnchanged(t, client)
	for range 3 {
		exchange(client, code).Problem(api.ResumptionInvalid)
	}
	quiet("a link that was used")
}

// resumeCode makes a link as the registration's holder, and returns its code.
func resumeCode(c *frontdesktest.Client, id string) string {
	var link api.ResumeLink
	c.Do("POST", "/v1/registrations/"+id+"/resume-link", nil, frontdesktest.Key("")).Into(http.StatusCreated, &link)
	_, code, _ := strings.Cut(link.Url, "resume=")
	return code
}

// exchange sends a code as an attacker.
func exchange(c *frontdesktest.Client, code string, headers ...[2]string) *frontdesktest.Response {
	return attacker(c).Do("POST", "/v1/resumptions", api.Resumption{Resume: code}, append(headers, frontdesktest.Key(""))...)
}

// TestAPI5BrokenFunctionLevelAuthorization checks that only staff and operators can act as such, and
// that no header or method makes a visitor one of them.
func TestAPI5BrokenFunctionLevelAuthorization(t *testing.T) {
	t.Parallel()
	client, mock := frontdesktest.NewWorld(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id
	quiet := expectUnchanged(t, client)
	const key = "demo-staff-key-1"
	desk := `{"method":"desk","mean":"cash"}`
	for _, proof := range [][2]string{
		{"X-Staff", "true"}, {"X-Frontdesk-Staff", key}, {"Cookie", "X-Frontdesk-Staff-Key=" + key},
		{"X-Role", "staff"}, {"X-Original-URL", "/ops/payments"},
	} {
		client.Do("POST", path+"/payment", desk, frontdesktest.Key(""), proof).Problem(api.StaffOnly)
		client.Do("POST", path+"/payment?X-Frontdesk-Staff-Key="+key, desk, frontdesktest.Key(""), proof).Problem(api.InvalidRequest)
		for _, channel := range []string{"club", "terminal"} {
			attacker(
				client,
			).Do("POST", "/v1/registrations", `{"clubId":"11","channel":"`+channel+`"}`, frontdesktest.Key(""), proof).
				Problem(api.StaffOnly)
		}
	}
	for _, guess := range []string{
		"demo-staff-key-2", "demo-staff-key-", strings.ToUpper(key), key + " x", "null", strings.Repeat("k", 8<<10),
	} {
		client.Do("POST", path+"/payment", desk, frontdesktest.Key(""), [2]string{"X-Frontdesk-Staff-Key", guess}).Problem(api.StaffKeyUnknown)
	}
	for _, operators := range []string{
		"/ops/payments", "/ops/payments/calibrate", "/ops/queue", "/ops/statements", "/ops/webhooks", "/ops/mail", "/ops/invitations",
		"/metrics",
		"/debug/pprof/", "/debug/pprof/heap", "/debug/vars", "/ops",
	} {
		for _, method := range []string{"GET", "POST", "PUT"} {
			attacker(client).Do(method, operators, `{}`, frontdesktest.StaffKey(), frontdesktest.Key("")).Problem(api.NotFound)
		}
	}
	for _, override := range [][2]string{{"X-HTTP-Method-Override", "DELETE"}, {"X-Method-Override", "DELETE"}, {"X-HTTP-Method", "DELETE"}} {
		client.Do("GET", path, nil, override).Into(http.StatusOK, nil)
		client.Do("GET", path+"?_method=DELETE", nil, override).Problem(api.InvalidRequest)
	}
	for _, method := range []string{"TRACE", "PROPFIND", "PATCH", "LINK", "MOVE", "get", "DELETED"} {
		client.Do(method, path, nil).Problem(api.MethodNotAllowed)
	}
	quiet("a caller without the staff key")
	if state := client.Registration(registration.Id).State; state != api.Open {
		t.Errorf("the registration is %s", state)
	}
	for _, origin := range []string{"http://evil.example", "null"} { // a page in an operator's browser
		request := [2]string{"Origin", origin}
		response := attacker(client).Do("POST", "http://"+mock.OpsAddress()+"/ops/payments/calibrate", `{}`, request)
		if response.Status != http.StatusForbidden {
			t.Errorf("a page at %s reaches the operators' edge: %s", origin, response.Body)
		}
	}
}
