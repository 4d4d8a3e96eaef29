package handlers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/handlers"
	"frontdesk/upstream/clubsim"
)

// newLimited returns a front end of a fresh mock gateway that counts requests.
func newLimited(t *testing.T, environment ...string) *frontdesktest.Client {
	t.Helper()
	return frontdesktest.NewClient(t, frontdesktest.Start(t, append(environment, "FRONTDESK_RATE_LIMITS=on")...).URL)
}

// remaining finds a limit and its remaining requests in a RateLimit header.
var remaining = regexp.MustCompile(`^"([a-z]+)";r=(\d+);t=(\d+)$`)

// left returns the remaining requests of a limit according to a response, or -1 if the response has none.
func left(response *frontdesktest.Response, limit string) int {
	for _, text := range response.Header.Values("RateLimit") {
		if match := remaining.FindStringSubmatch(text); match != nil && match[1] == limit {
			n, _ := strconv.Atoi(match[2])
			return n
		}
	}
	return -1
}

// limited expects a refusal by a limit, with the time to wait.
func limited(t *testing.T, response *frontdesktest.Response, limit string, most time.Duration) {
	t.Helper()
	problem := response.Problem(api.RateLimited)
	wait, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if problem.Status != http.StatusTooManyRequests || problem.Retry != api.ProblemRetryAfter || err != nil || wait < 1 ||
		time.Duration(wait)*time.Second > most+time.Second {
		t.Errorf("%s, Retry-After %q", response.Body, response.Header.Get("Retry-After"))
	}
	if left(response, limit) != 0 {
		t.Errorf("%s is not shown as used up: %v", limit, response.Header.Values("RateLimit"))
	}
}

// TestRequestsPerAddress: reads are counted and continue without Redis; requests that need Redis fail.
func TestRequestsPerAddress(t *testing.T) {
	t.Parallel()
	outside, redisURL := frontdesktest.NewUpstreams(t), frontdesktest.NewRedis(t)
	gateway := frontdesktest.Start(
		t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+outside.URL+"/sim", "FRONTDESK_SANDBOX_URL="+outside.URL+"/sandbox",
		"FRONTDESK_REDIS_URL="+redisURL, "FRONTDESK_RATE_LIMITS=on",
	)
	client := frontdesktest.NewClient(t, gateway.URL)
	begun := time.Now()
	first := client.Do("GET", "/v1/clubs", nil, bearer("a.login.token")) // which no cache may share
	if left(first, "requests") != 119 || first.Header.Get("RateLimit-Policy") != `"requests";q=120;w=120` ||
		first.Header.Get("Retry-After") != "" {
		t.Errorf("the first answer tells %v of %v", first.Header.Values("RateLimit"), first.Header.Values("RateLimit-Policy"))
	}
	frontdesktest.StopRedis(t, redisURL)
	client.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key("")).Problem(api.StorageUnavailable)
	served := 2
	for {
		response := client.Do("GET", "/v1/clubs", nil)
		if response.Status == http.StatusTooManyRequests {
			limited(t, response, "requests", time.Second)
			break
		}
		response.Into(http.StatusOK, nil)
		served++
	}
	if most := 121 + int(time.Since(begun).Seconds()); served < 120 || served > most {
		t.Errorf("%d requests were served, at most %d in this time", served, most)
	}
	for _, path := range []string{"/healthz", "/openapi.yaml", "/"} {
		client.Do("GET", path, nil).Into(http.StatusOK, nil)
	}
}

// TestWritesPerHolder: the holder's writes and payment requests are counted per registration, and no other
// caller can use them up.
func TestWritesPerHolder(t *testing.T) {
	t.Parallel()
	client := newLimited(t)
	registration := client.Register()
	path := "/v1/registrations/" + registration.Id
	stranger := *client
	stranger.Token = newOther(client)
	for range 12 {
		stranger.Do("POST", path+"/check", nil, frontdesktest.Key("")).Problem(api.RegistrationNotFound)
	}
	for range 5 {
		client.Do("POST", path+"/payment", `{"method":"card"}`, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	}
	refused := client.Do("POST", path+"/payment", `{"method":"card"}`, frontdesktest.Key(""))
	limited(t, refused, "payments", 2*time.Minute)
	policies := refused.Header.Values("RateLimit-Policy")
	if len(policies) != 3 || policies[1] != `"writes";q=10;w=60` || policies[2] != `"payments";q=5;w=600` {
		t.Errorf("the limits are %v", policies)
	}
	var last *frontdesktest.Response
	for range 14 {
		last = client.Do("POST", path+"/check", nil, frontdesktest.Key(""))
		if last.Status == http.StatusTooManyRequests {
			break
		}
	}
	limited(t, last, "writes", 6*time.Second)
	client.Do("GET", path, nil).Into(http.StatusOK, nil)
	stranger.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key("")).Into(http.StatusCreated, nil)
}

// TestStartsPerAddress: visitors' registrations are counted by address across all gateways; those of staff are
// not counted.
func TestStartsPerAddress(t *testing.T) {
	t.Parallel()
	outside, redisURL := frontdesktest.NewUpstreams(t), frontdesktest.NewRedis(t)
	var gateways []*frontdesktest.Client
	for range 2 {
		gateways = append(
			gateways,
			frontdesktest.NewClient(t, frontdesktest.Start(t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+outside.URL+"/sim",
				"FRONTDESK_SANDBOX_URL="+outside.URL+"/sandbox", "FRONTDESK_REDIS_URL="+redisURL, "FRONTDESK_RATE_LIMITS=on").URL),
		)
	}
	start := func(i int, headers ...[2]string) *frontdesktest.Response {
		return gateways[i%2].Do("POST", "/v1/registrations", `{"clubId":"11"}`, append(headers, frontdesktest.Key(""))...)
	}
	for i := range 20 {
		start(i).Into(http.StatusCreated, nil)
	}
	limited(t, start(0), "starts", 3*time.Minute)
	limited(t, start(1), "starts", 3*time.Minute)
	gateways[0].Do("POST", "/v1/resumptions", `{"resume":"no such code"}`, frontdesktest.Key("")).Problem(api.RateLimited)
	start(0, frontdesktest.StaffKey()).Into(http.StatusCreated, nil)
	start(0, [2]string{"X-Frontdesk-Staff-Key", "no-staff-key-at-all"}).Problem(api.RateLimited)
}

// TestNothingIsCountedByDefault: by default no limits apply, so that they do not get in a developer's way.
func TestNothingIsCountedByDefault(t *testing.T) {
	t.Parallel()
	c := newVisitor(t)
	for range 130 {
		response := c.Do("GET", "/v1/clubs", nil)
		response.Into(http.StatusOK, nil)
		if response.Header.Get("RateLimit") != "" {
			t.Fatal("something was counted")
		}
	}
}

// TestLimitsAreTheContracts: the edge does not start if the contract states another limit for a route.
func TestLimitsAreTheContracts(t *testing.T) {
	t.Parallel()
	contract := string(frontdesktest.Contract(t))
	const answer = `        "429": {$ref: "#/components/responses/Limited"}` + "\n"
	for said, change := range map[string][2]string{
		`POST /v1/registrations: the 429 response in openapi.yaml does not document "starts";q=20;w=3600`: {
			`"starts";q=20;w=3600`, `"starts";q=21;w=3600`,
		},
		"GET /v1/config has 1 limits, but openapi.yaml has a 429 response there: false": {answer, ""},
		"GET /readyz has 0 limits, but openapi.yaml has a 429 response there: true": {
			"        \"503\": *health\n", "        \"503\": *health\n" + answer,
		},
	} {
		changed := strings.Replace(contract, change[0], change[1], 1)
		if changed == contract {
			t.Fatalf("the contract has no %q", change[0])
		}
		if _, err := handlers.New(handlers.Config{Contract: []byte(changed)}); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("instead of %q the edge says %v", said, err)
		}
	}
}

// requestCode starts a registration at a club and requests the code for its mandate.
func requestCode(client *frontdesktest.Client, club, mobile string) *frontdesktest.Response {
	var registration api.Registration
	start := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	body := `{"clubId":"` + club + `","person":` + strings.Replace(person, "+33612345678", mobile, 1) +
		`,"items":[{"offerId":"901","startDate":"` + start + `","debit":{"day":10}}]}`
	client.Do("POST", "/v1/registrations", body, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	return client.Do(
		"POST", "/v1/registrations/"+registration.Id+"/mandate",
		map[string]string{"holder": "Ada Martin", "iban": "FR1420041010050500013M02606"}, frontdesktest.Key(""),
		bearer(*registration.Token),
	)
}

// expectPaused expects a code to be refused because the club's codes are paused, and checks the number of
// codes sent.
func expectPaused(t *testing.T, client *frontdesktest.Client, refused *frontdesktest.Response, sent int) {
	t.Helper()
	problem := refused.Problem(api.SmsPaused)
	wait, err := strconv.Atoi(refused.Header.Get("Retry-After"))
	if err != nil || wait < 60 || problem.Status != http.StatusServiceUnavailable || problem.Retry != api.ProblemRetryAfter {
		t.Errorf("%s, Retry-After %q", refused.Body, refused.Header.Get("Retry-After"))
	}
	expectCodes(t, client, sent)
}

// expectCodes checks how many codes the simulator has sent.
func expectCodes(t *testing.T, c *frontdesktest.Client, want int) {
	t.Helper()
	var sent clubsim.Items[clubsim.SMS]
	c.Control("GET", "sms", nil).Into(http.StatusOK, &sent)
	if len(sent.Items) != want {
		t.Errorf("%d codes were sent, want %d", len(sent.Items), want)
	}
}

// TestSMSBudgetOfAClub: a club's visitors get as many codes as the operator allows.
func TestSMSBudgetOfAClub(t *testing.T) {
	t.Parallel()
	c := newLimited(t, "FRONTDESK_SMS_HOURLY=1")
	requestCode(c, "11", "+33611111111").Into(http.StatusCreated, nil)
	expectPaused(t, c, requestCode(c, "11", "+33622222222"), 1)
}

// TestSMSBudgetOfTheOrganisation: the clubs also share a budget.
func TestSMSBudgetOfTheOrganisation(t *testing.T) {
	t.Parallel()
	c := newLimited(t, "FRONTDESK_SMS_ORGANISATION_HOURLY=2")
	requestCode(c, "11", "+33611111111").Into(http.StatusCreated, nil)
	requestCode(c, "12", "+33622222222").Into(http.StatusCreated, nil)
	expectPaused(t, c, requestCode(c, "11", "+33633333333"), 2)
}

// TestSMSCountries: visitors can use numbers of the club's country, or of the configured countries.
func TestSMSCountries(t *testing.T) {
	t.Parallel()
	for countries, want := range map[string]map[string]bool{
		"": {
			"+33611111111":  true,
			"+32470000001":  false,
			"+18765550101":  false,
			"+12125550101":  false,
			"+25290000000":  false,
			"+262692000001": false,
		},
		"FR,BE,US": {
			"+33611111111":  true,
			"+32470000001":  true,
			"+18765550101":  false,
			"+12125550101":  true,
			"+25290000000":  false,
			"+262692000001": false,
		},
	} {
		client, codes := newLimited(t, "FRONTDESK_SMS_COUNTRIES="+countries), 0
		for mobile, allowed := range want {
			response := requestCode(client, "11", mobile)
			if allowed {
				response.Into(http.StatusCreated, nil)
				codes++
			} else {
				response.Problem(api.MobileUnreachable)
			}
		}
		expectCodes(t, client, codes)
	}
}

// TestManyAddresses: a caller with more addresses than the gateway counts is still counted at each of the
// latest.
func TestManyAddresses(t *testing.T) {
	t.Parallel()
	at := time.Now() // fixed, so that no bucket refills
	now := func() time.Time { return at }
	edge := newEdge(t, now, now)
	ask := func(i int) string {
		response, request := httptest.NewRecorder(), catalogueRequest(i)
		request.Header.Set("X-Frontdesk-Staff-Key", "none") // so that no cache may share the response, which then shows what is left
		edge.ServeHTTP(response, request)
		return response.Header().Get("RateLimit")
	}
	const many = 70_000 // the gateway counts 65,536
	for i := range many {
		if got := ask(i); got != `"requests";r=119;t=1` {
			t.Fatalf("address %d begins with %s", i, got)
		}
	}
	if got := ask(many - 1); got != `"requests";r=118;t=2` {
		t.Errorf("a second request gets %s", got)
	}
}

// TestNetworksOfIPv6: a caller that controls a whole IPv6 network is also counted by its /56 and its /48;
// other networks are not affected.
func TestNetworksOfIPv6(t *testing.T) {
	t.Parallel()
	at := time.Now() // fixed, so that no bucket refills
	now := func() time.Time { return at }
	edge := newEdge(t, now, now)
	ask := func(address string) int {
		request := httptest.NewRequest(http.MethodGet, "/v1/clubs", nil)
		request.Header.Set("X-Forwarded-For", address)
		response := httptest.NewRecorder()
		edge.ServeHTTP(response, request)
		return response.Code
	}
	for _, network := range []struct {
		addresses string // with a placeholder for the number of a /64
		step      int    // between those numbers
		most      int
	}{
		{"2001:db8:1:%x::1", 1, 4 * 120},
		{"2001:db8:2:%x::1", 0x100, 16 * 120},
	} {
		served := 0
		for served <= 2*network.most && ask(fmt.Sprintf(network.addresses, served%0x100*network.step)) == http.StatusOK {
			served++
		}
		if served != network.most {
			t.Errorf("%s: %d requests were served, want %d", network.addresses, served, network.most)
		}
	}
	if status := ask("2001:db8:3::1"); status != http.StatusOK {
		t.Errorf("another network is refused with %d", status)
	}
}
