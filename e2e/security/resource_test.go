package security_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/clubsim"
)

// newLimitedGateway returns a front end of a mock gateway that enforces rate limits behind a trusted
// proxy: forwardedFor lets a request come from any address.
func newLimitedGateway(t *testing.T) (*frontdesktest.Client, *frontdesktest.Process) {
	t.Helper()
	process := frontdesktest.Start(t, "FRONTDESK_RATE_LIMITS=on", "FRONTDESK_TRUSTED_PROXIES=127.0.0.1")
	return frontdesktest.NewClient(t, process.URL), process
}

// forwardedFor is the header in which the trusted proxy gives a request's origin.
func forwardedFor(address string) [2]string { return [2]string{"X-Forwarded-For", address} }

// TestAPI4UnrestrictedResourceConsumption checks that bodies, depths, headers, pages and requests are
// bounded, and others are served meanwhile.
func TestAPI4UnrestrictedResourceConsumption(t *testing.T) {
	t.Parallel()
	client, _ := newLimitedGateway(t)
	client.Do("GET", "/v1/clubs", nil, forwardedFor("192.0.2.99")).Into(http.StatusOK, nil)
	before := len(client.Calls())
	const big = 64 << 10
	for name, attack := range map[string]struct {
		body string
		code api.ProblemCode
	}{
		"a big body":     {`{"clubId":"` + strings.Repeat("1", big) + `"}`, api.TooLarge},
		"deep lists":     {strings.Repeat("[", big/2), api.MalformedRequest},
		"deep objects":   {strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000), api.InvalidRequest},
		"deep and wrong": {`{"clubId":` + strings.Repeat("[", 8000) + strings.Repeat("]", 8000) + `}`, api.InvalidRequest},
		"a big number":   {`{"clubId":1` + strings.Repeat("0", 40<<10) + `}`, api.InvalidRequest},
		"many members":   {`{"clubId":"11"` + many(6000) + `}`, api.InvalidRequest},
		"many items":     {`{"clubId":"11","items":[` + strings.Repeat(`{},`, 20000) + `{}]}`, api.InvalidRequest},
	} {
		response := client.Do("POST", "/v1/registrations", attack.body, frontdesktest.Key(""), forwardedFor("192.0.2.1"))
		response.Problem(attack.code)
		if len(response.Body) > 2*big {
			t.Errorf("%s of %d bytes is answered with %d", name, len(attack.body), len(response.Body))
		}
	}
	for _, query := range []string{
		"?limit=1000000", "?itemsPerPage=1000000", "?page=7", "?cursor=99999999999999999999", "?cursor=-1",
		"?cursor=" + strings.Repeat("9", 9000), "?type=" + strings.Repeat("x", 9000),
	} {
		client.Do("GET", "/v1/clubs/11/products"+query, nil, forwardedFor("192.0.2.2")).Problem(api.InvalidRequest)
	}
	var page api.ProductList
	client.Do("GET", "/v1/clubs/11/products", nil, forwardedFor("192.0.2.2")).Into(http.StatusOK, &page)
	if len(page.Items) > 50 {
		t.Errorf("a page holds %d products", len(page.Items))
	}
	chunk := "1000\r\n" + strings.Repeat("x", 4096) + "\r\n"
	endless := dial(t, client, "POST /v1/registrations HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
		"Idempotency-Key: 0123456789abcdef\r\nTransfer-Encoding: chunked\r\n\r\n"+strings.Repeat(chunk, 40)+"0\r\n\r\n")
	if endless != "" && !strings.HasPrefix(endless, "HTTP/1.1 413 ") {
		t.Errorf("a body that says no length is answered with %.80q", endless)
	}
	lied := dial(t, client, "POST /v1/registrations HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n{}")
	if !strings.HasPrefix(lied, "HTTP/1.1 413 ") {
		t.Errorf("a body that says it is of ten gigabytes is answered with %.80q", lied)
	}
	refused := 0
	for range 130 {
		if response := client.Do("GET", "/v1/clubs", nil, forwardedFor("192.0.2.3")); response.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 {
		t.Error("one address is served as often as it likes")
	}
	client.Do("GET", "/v1/clubs", nil, forwardedFor("192.0.2.4")).Into(http.StatusOK, nil)
	for _, operation := range client.Operations(before) {
		if operation == "createContact" || operation == "createSale" {
			t.Errorf("a body that was refused came to %s", operation)
		}
	}
}

// many returns n unknown members of an object.
func many(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `,"x%d":1`, i)
	}
	return text.String()
}

// TestAPI4Slowloris checks that a slow request is cut off, and delays no other request.
func TestAPI4Slowloris(t *testing.T) {
	t.Parallel()
	client, _ := frontdesktest.NewWorld(t)
	var slow sync.WaitGroup
	for range 100 {
		connection, err := net.Dial("tcp", strings.TrimPrefix(client.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		slow.Go(func() {
			defer connection.Close()
			connection.SetDeadline(time.Now().Add(frontdesktest.Patience))
			if _, err := io.WriteString(connection, "GET /v1/clubs HTTP/1.1\r\nHost: x\r\nX-Slow: "); err != nil {
				return
			}
			if response, _ := io.ReadAll(connection); strings.Contains(string(response), " 200 ") {
				t.Errorf("a request that never ended is answered with %.60q", response)
			}
		})
	}
	client.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, nil)
	ended := make(chan struct{})
	go func() { slow.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(frontdesktest.Patience):
		t.Error("connections that say nothing are kept")
	}
}

// TestAPI4EventStreams checks that streams are limited for each registration and address, and that a
// closed one makes room.
func TestAPI4EventStreams(t *testing.T) {
	t.Parallel()
	client, _ := newLimitedGateway(t)
	const most = 15
	path := func(r api.Registration) string { return client.URL + "/v1/registrations/" + r.Id + "/events" }
	open := func(registration api.Registration, address string) (*http.Response, context.CancelFunc) {
		ctx, end := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, path(registration), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+*registration.Token)
		request.Header.Set("X-Forwarded-For", address)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { end(); response.Body.Close() })
		return response, end
	}
	registration, other := startIn(t, client, forwardedFor("192.0.2.1")), startIn(t, client, forwardedFor("192.0.2.1"))
	var last context.CancelFunc
	for i := range most {
		var response *http.Response
		response, last = open(registration, fmt.Sprintf("192.0.2.%d", 10+i))
		if response.StatusCode != http.StatusOK {
			t.Fatalf("stream %d is answered with %d", i+1, response.StatusCode)
		}
	}
	events := "/v1/registrations/" + registration.Id + "/events"
	refused := client.Do("GET", events, nil, bearerHeader(*registration.Token), forwardedFor("192.0.2.1"))
	if problem := refused.Problem(api.RateLimited); refused.Header.Get("Retry-After") != "15" || problem.Status != http.StatusTooManyRequests {
		t.Errorf("one stream too many is answered with %v %s", refused.Header, refused.Body)
	}
	if response, _ := open(other, "192.0.2.1"); response.StatusCode != http.StatusOK {
		t.Errorf("another registration has no stream: %d", response.StatusCode)
	}
	shop := "198.51.100.7"
	var crowd api.Registration
	for i := range 100 {
		if i%most == 0 {
			crowd = startIn(t, client, forwardedFor(fmt.Sprintf("198.51.100.%d", 100+i)))
		}
		if response, _ := open(crowd, shop); response.StatusCode != http.StatusOK {
			t.Fatalf("stream %d of an address is answered with %d", i+1, response.StatusCode)
		}
	}
	events = "/v1/registrations/" + crowd.Id + "/events"
	refused = client.Do("GET", events, nil, bearerHeader(*crowd.Token), forwardedFor(shop))
	if refused.Problem(api.RateLimited).Status != http.StatusTooManyRequests || refused.Header.Get("Retry-After") != "15" {
		t.Errorf("one stream too many of an address is answered with %v %s", refused.Header, refused.Body)
	}
	if response, _ := open(crowd, "198.51.100.8"); response.StatusCode != http.StatusOK {
		t.Errorf("another address has no stream: %d", response.StatusCode)
	}
	last()
	address := 100
	frontdesktest.Eventually(t, "a stream that was closed makes room", func() bool {
		address++
		response, _ := open(registration, fmt.Sprintf("192.0.2.%d", address))
		return response.StatusCode == http.StatusOK
	})
}

// TestAPI4UnlistedProxy checks that a forwarded address from an unlisted proxy is ignored, and that the
// log says so once.
func TestAPI4UnlistedProxy(t *testing.T) {
	t.Parallel()
	process := frontdesktest.Start(t, "FRONTDESK_RATE_LIMITS=on")
	c := frontdesktest.NewClient(t, process.URL)
	for i := range 20 {
		startIn(t, c, forwardedFor(fmt.Sprintf("192.0.2.%d", i)))
	}
	c.Do("POST", "/v1/registrations", `{"clubId":"11"}`, frontdesktest.Key(""), forwardedFor("192.0.2.200")).Problem(api.RateLimited)
	warnings := func() int { return strings.Count(process.Log(), "FRONTDESK_TRUSTED_PROXIES") }
	frontdesktest.Eventually(t, "a warning is logged", func() bool { return warnings() > 0 })
	if warnings() != 1 {
		t.Errorf("the warning is logged %d times:\n%s", warnings(), process.Log())
	}
}

// TestAPI6SensitiveBusinessFlows checks that requests that cost the club money or disturb people are
// limited, whatever varies in the request.
func TestAPI6SensitiveBusinessFlows(t *testing.T) {
	t.Parallel()
	client, _ := newLimitedGateway(t)
	t.Run("trial sessions are farmed", func(t *testing.T) {
		started := 0
		for i := range 30 {
			person := strings.Replace(requestBodies["startRegistration"], "eve@", fmt.Sprintf("eve+%d@", i), 1)
			response := client.WithT(t).
				Do("POST", "/v1/registrations", person, frontdesktest.Key(""), forwardedFor(fmt.Sprintf("198.51.100.%d, 192.0.2.1", i)),
					[2]string{
						"User-Agent",
						fmt.Sprint("farm ", i),
					}, [2]string{"X-Real-IP", fmt.Sprintf("198.51.100.%d", i)}, [2]string{"Forwarded", fmt.Sprintf("for=198.51.100.%d", i)})
			if response.Status == http.StatusCreated {
				started++
				continue
			}
			response.Problem(api.RateLimited)
		}
		made := strings.Count(strings.Join(client.Operations(0), " "), "createContact")
		if started != 20 || made != 20 {
			t.Errorf("%d registrations were started, and %d contacts made", started, made)
		}
	})
	t.Run("invitations and links are guessed", func(t *testing.T) {
		quiet := expectUnchanged(t, client)
		details, refused := map[string]bool{}, 0
		for i := range 25 {
			body := fmt.Sprintf(`{"clubId":"11","invitation":"guess-%d"}`, i)
			response := client.WithT(t).Do("POST", "/v1/registrations", body, frontdesktest.Key(""), forwardedFor("192.0.2.2"))
			if response.Status == http.StatusTooManyRequests {
				refused++
				continue
			}
			details[frontdesktest.Value(response.Problem(api.InvitationInvalid).Detail)] = true
		}
		if refused != 5 || len(details) != 1 {
			t.Errorf("%d guesses were refused, and the others got %v", refused, details)
		}
		quiet("a guess")
	})
	t.Run("codes are pumped", func(t *testing.T) {
		sent := func() int {
			var list clubsim.Items[clubsim.SMS]
			client.WithT(t).Control("GET", "sms", nil).Into(http.StatusOK, &list)
			return len(list.Items)
		}
		before := sent()
		for i := range 6 { // one phone, by other people from other addresses
			var registration api.Registration
			body := strings.Replace(
				strings.Replace(requestBodies["startRegistration"], "eve@", fmt.Sprintf("pump+%d@", i), 1),
				`{"offerId":"2501"}`, `{"offerId":"901","startDate":"2030-01-15","debit":{"day":10}}`, 1,
			)
			from := forwardedFor(fmt.Sprintf("203.0.113.%d", i))
			client.WithT(t).Do("POST", "/v1/registrations", body, frontdesktest.Key(""), from).Into(http.StatusCreated, &registration)
			mandate, token := "/v1/registrations/"+registration.Id+"/mandate", bearerHeader(*registration.Token)
			response := client.WithT(t).Do("POST", mandate, requestBodies["createMandate"], frontdesktest.Key(""), token, from)
			if i > 0 {
				response.Problem(api.SmsLimited)
			}
			client.WithT(t).Do("POST", mandate+"/signature/resend", nil, frontdesktest.Key(""), token, from)
		}
		if now := sent(); now != before+1 {
			t.Errorf("%d codes were sent", now-before)
		}
	})
}
