package journey_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// startAs starts a registration as a persona, with an offer if one is given.
func startAs(client *frontdesktest.Client, club, offer string) *frontdesktest.Response {
	body := api.StartRegistration{ClubId: club}
	if offer != "" {
		day := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
		body.Items = &[]api.NewItem{{OfferId: offer, StartDate: &day}}
	}
	return client.Do("POST", "/v1/registrations", body, frontdesktest.Key(""))
}

// TestPersonasBuy starts a registration as each persona, each in its own world.
func TestPersonasBuy(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	for key, want := range map[string]struct {
		club, offer string
		problem     api.ProblemCode // empty: it starts
		valid       bool
		debt        int64
	}{
		"customer": {club: "11", offer: "201", valid: true},
		"debtor":   {club: "11", offer: "2501", valid: true, debt: 12400},
		"prospect": {club: "13", offer: "2501", valid: true},
		"former":   {club: "12", offer: "2501", valid: true},
		"banned":   {club: "11", offer: "2501", problem: api.ContactBanned},
		"minor":    {club: "11", offer: "601", valid: true},
	} {
		client := frontdesktest.NewClient(t, mock.URL)
		client.World = "demo-buys-" + key
		before := len(client.Calls())
		response := startAs(client.As(key), want.club, want.offer)
		if want.problem != "" {
			response.Problem(want.problem)
			if made := client.Operations(before); slices.Contains(made, "createSale") {
				t.Errorf("%s was refused after %v", key, made)
			}
			continue
		}
		var registration api.Registration
		response.Into(http.StatusCreated, &registration)
		if registration.Cart.Valid != want.valid || registration.Contact == nil || registration.Contact.Debt == nil ||
			registration.Contact.Debt.Amount != want.debt ||
			len(registration.Cart.Items) == 0 {
			t.Errorf("%s: %s", key, response.Body)
		}
		if slices.Contains(client.Operations(before), "createContact") {
			t.Errorf("%s was created at the club again", key)
		}
		for _, action := range registration.Next {
			if action.Action == "person" {
				t.Errorf("%s is asked for details", key)
			}
		}
	}
}

// TestCustomerBuysOnce follows a logged-in customer's purchase to its end.
func TestCustomerBuysOnce(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	key := frontdesktest.Key("")
	start := "2030-01-15"
	body := api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: "201", StartDate: &start}}}
	var registration, replayed api.Registration
	client.As("customer").Do("POST", "/v1/registrations", body, key).Into(http.StatusCreated, &registration)
	again := client.As("customer").Do("POST", "/v1/registrations", body, key) // with another token of the same person
	again.Into(http.StatusCreated, &replayed)
	if replayed.Id != registration.Id || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the repetition is %s", again.Body)
	}
	client.As("debtor").Do("POST", "/v1/registrations", body, key).Problem(api.OfferNotAvailable) // another person's key is another key

	client.Token = *registration.Token
	path := "/v1/registrations/" + registration.Id
	client.Do("PUT", path+"/person", frontdesktest.Person()).Problem(api.PersonKnown)
	client.As("customer").Do("GET", path, nil).Problem(api.TokenRequired) // only its own token gives access to the registration
	client.Do("POST", path+"/items", `{"offerId":"2501"}`, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	payment := client.Pay(registration.Id)
	client.Confirm(payment, "4242424242424242")
	client.Await(registration.Id, api.Completed)
	records := client.Records()
	records.ExpectOnePayment(t, payment.Total.Amount)
	if !strings.HasSuffix(records.Ledger[0].ContactID, "/1001") {
		t.Errorf("the ledger holds %+v", records.Ledger[0])
	}
}

func TestRefusedStarts(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := frontdesktest.NewClient(t, mock.URL)
	customer := client.As("customer")
	other := frontdesktest.NewClient(t, mock.URL)
	other.World = "demo-elsewhere"
	stranger := *other
	stranger.Token = customer.Token
	other.Club()
	person, fromWorld := frontdesktest.Person(), len(other.Calls())
	before := len(client.Calls())
	for name, test := range map[string]struct {
		as   *frontdesktest.Client
		body api.StartRegistration
		code api.ProblemCode
	}{
		"another club":           {customer, api.StartRegistration{ClubId: "12"}, api.OtherClub},
		"another chain":          {customer, api.StartRegistration{ClubId: "21"}, api.OtherClub},
		"no such club":           {customer, api.StartRegistration{ClubId: "999"}, api.InvalidRequest},
		"details of a person":    {customer, api.StartRegistration{ClubId: "11", Person: person}, api.PersonKnown},
		"token and invitation":   {customer, api.StartRegistration{ClubId: "11", Invitation: new("x")}, api.InvalidRequest},
		"invitation and details": {client, api.StartRegistration{ClubId: "11", Invitation: new("x"), Person: person}, api.PersonKnown},
		"invitation made up":     {client, api.StartRegistration{ClubId: "11", Invitation: new("x")}, api.InvitationInvalid},
		"token of another world": {&stranger, api.StartRegistration{ClubId: "11"}, api.NotIdentified},
		"items, no person":       {client, api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: "2501"}}}, api.InvalidRequest},
		"not for a debtor": {
			client.As("debtor"),
			api.StartRegistration{ClubId: "11", Items: &[]api.NewItem{{OfferId: "201", StartDate: new("2030-01-15")}}},
			api.OfferNotAvailable,
		},
	} {
		test.as.Do("POST", "/v1/registrations", test.body, frontdesktest.Key("")).Problem(test.code)
		if made := client.Operations(before); slices.Contains(made, "createSale") || slices.Contains(made, "createContact") {
			t.Errorf("%s: refused after %v", name, made)
		}
	}
	if asked := other.Operations(fromWorld); len(asked) > 0 {
		t.Errorf("a token of another world made the gateway ask for %v", asked)
	}
}

// TestIdentifiedStartFails makes each call fail that an identified contact causes.
func TestIdentifiedStartFails(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	for i, test := range []struct {
		fault  string
		method string
		path   string
		body   any
		code   api.ProblemCode
	}{
		{`{"match":{"method":"GET","path":"/contacts/*"},"kind":"error_before","status":500}`, "GET", "/v1/me", nil, api.ClubSystemFailed},
		{`{"match":{"method":"GET","path":"/stats/accounts/contacts/*"},"kind":"malformed"}`, "GET", "/v1/me", nil, api.ClubSystemFailed},
		{
			`{"match":{"method":"GET","path":"/stats/accounts/contacts/*"},"kind":"too_many"}`, "POST",
			"/v1/registrations", `{"clubId":"11"}`, api.ClubSystemUnavailable,
		},
		{
			`{"match":{"method":"POST","path":"/sales"},"kind":"error_before","status":500}`, "POST",
			"/v1/registrations", `{"clubId":"11","items":[{"offerId":"2501"}]}`, api.ClubSystemFailed,
		},
		{
			`{"match":{"method":"GET","path":"/optins"},"kind":"error_before","status":503}`, "GET", "/v1/me/consents",
			nil, api.ClubSystemUnavailable,
		},
		{`{"match":{"method":"GET","path":"/contacts/*"},"kind":"error_before","status":404}`, "GET", "/v1/me", nil, api.NotIdentified},
		{
			`{"match":{"method":"GET","path":"/products"},"kind":"error_before","status":500}`, "GET",
			"/v1/clubs/11/products", nil, api.ClubSystemFailed,
		},
	} {
		c := frontdesktest.NewClient(t, mock.URL)
		c.World = fmt.Sprintf("demo-fails-%d", i)
		customer := c.As("customer")
		c.Control("PUT", "faults", "["+test.fault+"]").Into(http.StatusOK, nil)
		customer.Do(test.method, test.path, test.body, frontdesktest.Key("")).Problem(test.code)
		c.Control("PUT", "faults", "[]").Into(http.StatusOK, nil)
		if again := customer.Do(test.method, test.path, test.body, frontdesktest.Key("")); again.Status >= 300 {
			t.Errorf("%s, once it is over: %s", test.fault, again.Body)
		}
	}
}

func TestMe(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	for key, want := range map[string]struct {
		club, status string
		debt         int64
		tags         []string
	}{
		"customer": {club: "11", status: "customer", tags: []string{"member", "corporate"}},
		"debtor":   {club: "11", status: "customer", debt: 12400},
		"prospect": {club: "13", status: "prospect"},
		"former":   {club: "12", status: "former_customer"},
		"banned":   {club: "11", status: "banned"},
		"minor":    {club: "11", status: "prospect"},
	} {
		var me api.Me
		response := client.As(key).Do("GET", "/v1/me", nil)
		response.Into(http.StatusOK, &me)
		var tags []string
		for _, tag := range me.Tags {
			tags = append(tags, tag.Name)
		}
		if me.ClubId != want.club || me.Status != want.status || me.Debt != (api.Money{Amount: want.debt, Currency: "EUR"}) ||
			!slices.Equal(tags, want.tags) || me.Number == "" || strings.Contains(string(response.Body), "/demo/") {
			t.Errorf("%s is %s", key, response.Body)
		}
	}
}

// TestPersonalCatalogue checks that a club's offers depend on the caller, and that no caller sees
// another one's offers.
func TestPersonalCatalogue(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	offers := func(c *frontdesktest.Client, club string) (names []string) {
		for cursor := ""; ; {
			var page api.ProductList
			c.Do("GET", "/v1/clubs/"+club+"/products"+cursor, nil).Into(http.StatusOK, &page)
			for _, product := range page.Items {
				names = append(names, product.Name)
			}
			if page.Next == nil {
				return names
			}
			cursor = "?cursor=" + *page.Next
		}
	}
	visitor := offers(client, "11")
	customer, debtor := offers(client.As("customer"), "11"), offers(client.As("debtor"), "11")
	if slices.Equal(customer, visitor) || slices.Equal(debtor, visitor) || len(debtor) >= len(visitor) {
		t.Errorf(
			"the catalogue has %d products for a visitor, %d for a member with tags, %d for a debtor", len(visitor),
			len(customer), len(debtor),
		)
	}
	for range 2 { // from memory, too
		if !slices.Equal(offers(client, "11"), visitor) || !slices.Equal(offers(client.As("debtor"), "11"), debtor) ||
			!slices.Equal(offers(client.As("customer"), "11"), customer) {
			t.Error("a caller sees the catalogue of another one")
		}
	}
	// Another club of the chain knows the contact too; one of another chain does not, and serves a visitor.
	if len(offers(client.As("debtor"), "12")) >= len(offers(client, "12")) {
		t.Error("a debt does not count in another club of the chain")
	}
	if !slices.Equal(offers(client.As("debtor"), "21"), offers(client, "21")) {
		t.Error("a debt counts in another chain")
	}
	client.Token = "a-registration's-token" // gives no access here, and is not an identity
	if !slices.Equal(offers(client, "11"), visitor) {
		t.Error("another token changes the catalogue")
	}
}

// TestKnownAndUnknownPeopleGetSameResponses checks that neither a response nor its calls to the club
// system reveal whether a person is known.
func TestKnownAndUnknownPeopleGetSameResponses(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	known := frontdesktest.Person()
	known.GivenName, known.FamilyName, known.BirthDate, known.Mobile = "Camille", "Laurent", "1988-04-12", "+33601020301"
	known.Email = "customer@example.com"
	// alike is everything in which a response could differ, ids and times left out.
	type alike struct {
		calls, shape string
		header       []string
		status       int
	}
	startAs := func(p *api.Person) (alike, api.Registration) {
		before := len(client.Calls())
		var registration api.Registration
		response := client.Do(
			"POST", "/v1/registrations",
			api.StartRegistration{ClubId: "11", Person: p, Items: &[]api.NewItem{{OfferId: cardOnlyOffer}}},
			frontdesktest.Key(""),
		)
		response.Into(http.StatusCreated, &registration)
		return alike{
			fmt.Sprint(sorted(client.Operations(before))),
			shapeOf(t, response.Body),
			slices.Sorted(maps.Keys(response.Header)),
			response.Status,
		}, registration
	}
	startAs(frontdesktest.Person()) // fills the catalogue's memory
	unknownSeen, unknown := startAs(frontdesktest.Person())
	knownSeen, found := startAs(known)
	if !reflect.DeepEqual(unknownSeen, knownSeen) || unknown.Contact.Status != found.Contact.Status || found.Contact.Debt != nil {
		t.Errorf("unknown: %+v %+v\nknown: %+v %+v", unknownSeen, unknown.Contact, knownSeen, found.Contact)
	}
	var me api.Me
	client.As("customer").Do("GET", "/v1/me", nil).Into(http.StatusOK, &me)
	if found.Contact.Number == me.Number {
		t.Errorf("a visitor with the details of contact %s became that contact", me.Number)
	}
}

// shapeOf returns a document without its texts, except those that every response of its kind shares:
// members, lengths of lists, numbers, booleans. The sequence counts time.
func shapeOf(t *testing.T, document []byte) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(document, &value); err != nil {
		t.Fatal(err)
	}
	var bare func(name string, value any) any
	bare = func(name string, value any) any {
		switch typed := value.(type) {
		case map[string]any:
			for member := range typed {
				typed[member] = bare(member, typed[member])
			}
		case []any:
			for i := range typed {
				typed[i] = bare(name, typed[i])
			}
		case string:
			if !slices.Contains([]string{"action", "method", "methods", "state", "status", "currency", "name", "clubId"}, name) {
				return "…"
			}
		case float64:
			if name == "sequence" {
				return "…"
			}
		}
		return value
	}
	text, err := json.Marshal(bare("", value))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sorted: concurrent calls come in any order.
func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// TestClubLoginKinds runs gateways with kinds of logins other than the simulator's.
func TestClubLoginKinds(t *testing.T) {
	t.Parallel()
	env := frontdesktest.NewEnv(t)
	const secret = "a-secret-of-the-club's-login-and-frontdesk"
	environment := []string{"FRONTDESK_MODE=test", "FRONTDESK_REDIS_URL=" + env.Redis,
		"FRONTDESK_CLUB_URL=" + env.Upstreams.URL + "/sim", "FRONTDESK_SANDBOX_URL=" + env.Upstreams.URL + "/sandbox"}
	token := func(change jwt.MapClaims) string {
		now := time.Now()
		claims := jwt.MapClaims{"sub": "1001", "club": "11", "iat": now.Unix(), "exp": now.Add(time.Minute).Unix()}
		for name, value := range change {
			claims[name] = value
		}
		signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	me := func(c *frontdesktest.Client, token string) *frontdesktest.Response {
		as := *c
		as.Token = token
		return as.Do("GET", "/v1/me", nil)
	}

	shared := frontdesktest.NewClient(
		t,
		frontdesktest.Start(t, append(environment, "FRONTDESK_IDENTITY_SECRET="+secret, "FRONTDESK_IDENTITY_AUDIENCE=frontdesk")...).URL,
	)
	shared.UpstreamsURL = env.Upstreams.URL
	me(shared, token(jwt.MapClaims{"aud": "frontdesk"})).Into(http.StatusOK, nil)
	me(shared, token(nil)).Problem(api.NotIdentified)
	me(shared, token(jwt.MapClaims{"aud": "frontdesk", "sub": "99999"})).Problem(api.NotIdentified)
	me(shared, token(jwt.MapClaims{"aud": "frontdesk", "club": "12"})).Problem(api.NotIdentified) // not where the contact belongs
	me(shared, token(jwt.MapClaims{"aud": "frontdesk", "club": "999"})).Problem(api.NotIdentified)
	me(shared, shared.Persona("customer").IdentityToken).Problem(api.NotIdentified)

	away := frontdesktest.NewClient(
		t, frontdesktest.Start(t, append(environment, "FRONTDESK_IDENTITY_JWKS_URL=http://127.0.0.1:1/jwks")...).URL,
	)
	away.UpstreamsURL = env.Upstreams.URL
	problem := me(away, away.Persona("customer").IdentityToken).Problem(api.IdentityUnavailable)
	if problem.Status != http.StatusServiceUnavailable {
		t.Errorf("a login that cannot be reached is answered with %d", problem.Status)
	}

	cmd := exec.CommandContext(t.Context(), frontdesktest.Binary(t))
	cmd.Env = append(environment, "FRONTDESK_IDENTITY_SECRET=short", "FRONTDESK_IDENTITY_JWKS_URL=login.example")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "FRONTDESK_IDENTITY_SECRET") ||
		!strings.Contains(string(out), "FRONTDESK_IDENTITY_JWKS_URL") {
		t.Errorf("an unsafe login is answered with %v: %s", err, out)
	}
}
