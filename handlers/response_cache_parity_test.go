package handlers_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// newCachingGateway starts a gateway in test mode with limits that logs every request.
func newCachingGateway(t *testing.T) *frontdesktest.Process {
	t.Helper()
	upstreams := frontdesktest.NewUpstreams(t)
	return frontdesktest.Start(
		t,
		"FRONTDESK_MODE=test",
		"FRONTDESK_CLUB_URL="+upstreams.URL+"/sim",
		"FRONTDESK_SANDBOX_URL="+upstreams.URL+"/sandbox",
		"FRONTDESK_REDIS_URL="+frontdesktest.NewRedis(t),
		"FRONTDESK_RATE_LIMITS=on",
		"FRONTDESK_TRUSTED_PROXIES=127.0.0.1",
		"FRONTDESK_LOG_LEVEL=debug",
		"FRONTDESK_PUBLIC_URL=https://signup.example",
		"FRONTDESK_ALLOWED_ORIGINS=https://www.club.example",
	)
}

// TestCachedResponseEqualsTheRouters compares the first response of a page, from the router, with the second
// one, which may come from the cache.
func TestCachedResponseEqualsTheRouters(t *testing.T) {
	t.Parallel()
	compareWithRouter(t, "test mode", false, frontdesktest.NewClient(t, newCachingGateway(t).URL))
	compareWithRouter(t, "mock mode", true, frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL))
}

func compareWithRouter(t *testing.T, mode string, worlds bool, c *frontdesktest.Client) {
	t.Helper()
	address, comparisons := 0, 0
	send := func(method, path string, body any, headers [][2]string) *frontdesktest.Response {
		address++ // a new address each time, so that no limit applies
		response := c.Do(
			method,
			path,
			body,
			append(headers, [2]string{"X-Forwarded-For", fmt.Sprintf("203.0.%d.%d", address>>8, address&255)})...)
		response.Header.Del("Date")
		return response
	}
	compare := func(method, path string, body any, headers ...[2]string) {
		comparisons++ // each uses another page, which is not yet in the cache
		parameter := map[string]string{"/v1/clubs/11/products": "date", "/v1/clubs/11/debit-days": "startDate"}[strings.Split(path, "?")[0]]
		switch hasWorld := slices.ContainsFunc(headers, func(header [2]string) bool { return header[0] == "X-Frontdesk-World" }); {
		case worlds && !hasWorld:
			headers = append(headers, [2]string{"X-Frontdesk-World", fmt.Sprintf("demo-parity-%d", comparisons)})
		case parameter != "":
			separator := "?"
			if strings.Contains(path, "?") {
				separator = "&"
			}
			path += separator + parameter + "=" + time.Now().AddDate(0, 0, comparisons).Format(time.DateOnly)
		}
		first := send(method, path, body, headers)
		expectSame(t, fmt.Sprintf("%s: %s %s %v", mode, method, path, headers), first, send(method, path, body, headers))
	}
	plain := [2]string{"Accept-Encoding", "identity"}
	for _, path := range []string{
		"/v1/clubs", "/v1/clubs/11", "/v1/clubs/11/products", "/v1/clubs/11/products?type=subscription",
		"/v1/clubs/11/offers/901", "/v1/clubs/11/debit-days",
	} {
		tag := send("GET", path, nil, [][2]string{plain}).Header.Get("ETag")
		if tag == "" {
			t.Fatalf("%s has no tag", path)
		}
		for _, headers := range [][][2]string{
			{plain},
			{{"Accept-Encoding", "br, gzip"}},
			{plain, {"If-None-Match", `"other", W/` + tag}},
			{{"Accept-Encoding", "gzip"}, {"If-None-Match", "*"}},
			{plain, {"If-None-Match", `"other"`}},
			{plain, {"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}},
			{plain, {"Origin", "https://www.club.example"}},
			{plain, {"Origin", "https://evil.example"}},
			{plain, {"Authorization", "Bearer a.a.a"}},
			{plain, {"X-Frontdesk-Staff-Key", "no-staff-key-at-all"}},
			{plain, {"Cookie", "__Host-frontdesk-=x; a=b"}},
			{plain, {"Accept-Language", "fr-CH, en;q=0.5"}},
			{plain, {"X-Frontdesk-World", "demo-parity"}},
			{plain, {"X-Frontdesk-World", "no world"}},
		} {
			compare(http.MethodGet, path, nil, headers...)
			compare(http.MethodHead, path, nil, headers...)
		}
		compare("GET", path, `{"a":1}`, plain)
		compare("POST", path, nil, plain)
	}
	for _, path := range []string{
		"/v1//clubs", "/v1/clubs?%zz", "/v1/clubs?;", "/v1/clubs?type=subscription",
		"/v1/clubs/%31%31/products", "/v1/clubs/99/products", "/v1/clubs/11/products/",
		"/v1/clubs/11/products?typ=a", "/v1/clubs/11/products?cursor=",
		"/v1/clubs/11/products?type=", "/v1/clubs/11/products?type=%73ubscription",
		"/v1/clubs/11/products?type=subscription&type=subscription", "/v1/clubs/11/products?type=subscription&type=badge",
	} {
		compare("GET", path, nil, plain)
	}
}

// expectSame compares two responses, ignoring their trace ids.
func expectSame(t *testing.T, request string, first, second *frontdesktest.Response) {
	t.Helper()
	if first.Status != second.Status || !maps.EqualFunc(first.Header, second.Header, slices.Equal[[]string]) ||
		!bytes.Equal(untraced(first.Body), untraced(second.Body)) {
		t.Errorf("%s: first %d, %v, %d bytes, then %d, %v, %d bytes", request,
			first.Status, first.Header, len(first.Body), second.Status, second.Header, len(second.Body))
	}
}

// untraced returns a body without the trace id of a problem document.
func untraced(body []byte) []byte {
	var problem api.Problem
	if json.Unmarshal(body, &problem) != nil || problem.TraceId == nil {
		return body
	}
	return bytes.ReplaceAll(body, []byte(*problem.TraceId), nil)
}

// TestCachedResponsesOnOneConnection sends requests for responses of all lengths at once, and closes the
// connection with the last one.
func TestCachedResponsesOnOneConnection(t *testing.T) {
	t.Parallel()
	gateway := newCachingGateway(t)
	client := frontdesktest.NewClient(t, gateway.URL)
	paths := []string{"/v1/clubs", "/v1/clubs/11/products", "/v1/clubs/11/debit-days", "/v1/clubs/11/products?cursor=30"}
	for _, kind := range []string{"regular", "subscription", "access", "pass", "option", "gift", "booklet", "trial"} {
		paths = append(paths, "/v1/clubs/11/products?type="+kind)
	}
	want, asked := map[string][]byte{}, []string{}
	for _, path := range paths {
		response := client.Do("GET", path, nil, [2]string{"Accept-Encoding", "identity"})
		if response.Status == http.StatusOK {
			want[path], asked = response.Body, append(asked, path)
		}
	}
	if len(asked) < 5 {
		t.Fatalf("only %v exist", asked)
	}
	connection, err := net.Dial("tcp", strings.TrimPrefix(gateway.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	var all bytes.Buffer
	for i := range 3 {
		for _, path := range asked {
			fmt.Fprintf(
				&all,
				"GET %s HTTP/1.1\r\nHost: a\r\n\r\nHEAD %s HTTP/1.1\r\nHost: a\r\n\r\nGET %s HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n",
				path, path, path,
			)
			if i == 2 && path == asked[len(asked)-1] {
				all.WriteString("Connection: close\r\n")
			}
			all.WriteString("\r\n")
		}
	}
	go connection.Write(all.Bytes()) //nolint:errcheck // the reader notices what is missing
	reader := bufio.NewReader(connection)
	for range 3 {
		for _, path := range asked {
			for _, expected := range []struct {
				method string
				status int
				body   []byte
			}{{"GET", http.StatusOK, want[path]}, {"HEAD", http.StatusOK, nil}, {"GET", http.StatusNotModified, nil}} {
				response, err := http.ReadResponse(reader, &http.Request{Method: expected.method})
				if err != nil {
					t.Fatalf("%s %s: %v", expected.method, path, err)
				}
				body, err := io.ReadAll(response.Body)
				if err != nil || response.StatusCode != expected.status || !bytes.Equal(body, expected.body) || response.Header.Get("ETag") == "" {
					t.Fatalf("%s %s: %d, %d bytes, %v", expected.method, path, response.StatusCode, len(body), err)
				}
			}
		}
	}
	if rest, err := io.ReadAll(reader); len(rest) != 0 || err != nil {
		t.Errorf("after the last response: %d bytes, %v", len(rest), err)
	}
}

// TestCachedResponsesReadNothing: the second response of a page comes from the cache of responses, so the gateway does
// not look into its catalogue for it.
func TestCachedResponsesReadNothing(t *testing.T) {
	t.Parallel()
	gateway := newCachingGateway(t)
	client := frontdesktest.NewClient(t, gateway.URL)
	operators := frontdesktest.NewClient(t, "http://"+gateway.OpsAddress())
	reads := func() (lines []string) {
		for line := range strings.Lines(string(operators.Do("GET", operators.URL+"/metrics", nil).Body)) {
			if strings.HasPrefix(line, "frontdesk_catalogue_reads_total") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	for _, path := range []string{
		"/v1/clubs", "/v1/clubs/11", "/v1/clubs/11/products", "/v1/clubs/11/products?channel=web&type=subscription",
		"/v1/clubs/11/offers/901", "/v1/clubs/11/debit-days",
	} {
		const tries = 10 // a version that grows old meanwhile is read again
		cached := false
		for i := 0; i < tries && !cached; i++ {
			client.Do("GET", path, nil).Into(http.StatusOK, nil)
			before := reads()
			client.Do("GET", path, nil).Into(http.StatusOK, nil)
			cached = len(before) > 0 && slices.Equal(before, reads())
		}
		if !cached {
			t.Errorf("%s was read again %d times", path, tries)
		}
	}
}

// TestCachedResponsesAreObserved counts and logs cached responses like all others.
func TestCachedResponsesAreObserved(t *testing.T) {
	t.Parallel()
	gateway := newCachingGateway(t)
	c := frontdesktest.NewClient(t, gateway.URL)
	const asked = 10
	for range asked {
		c.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, nil)
	}
	metrics := frontdesktest.NewClient(t, "http://"+gateway.OpsAddress()).Do("GET", "http://"+gateway.OpsAddress()+"/metrics", nil)
	for _, line := range []string{
		fmt.Sprintf(`frontdesk_http_requests_total{code="none",method="GET",route="/v1/clubs",status="200"} %d`, asked),
		fmt.Sprintf(`frontdesk_http_request_duration_seconds_count{method="GET",route="/v1/clubs"} %d`, asked),
	} {
		if !strings.Contains(string(metrics.Body), line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	frontdesktest.Eventually(t, "each request has its line", func() bool {
		return strings.Count(gateway.Log(), "msg=request method=GET route=/v1/clubs status=200") == asked
	})
	for line := range strings.Lines(gateway.Log()) {
		if strings.Contains(line, "msg=request") && !strings.Contains(line, "traceId=") {
			t.Errorf("a line without a trace: %s", line)
		}
	}
}
