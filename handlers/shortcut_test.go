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

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// bothWays gives a gateway at which answers from memory take the shortcut, and one that
// logs each of its answers, so that all take the long way.
func bothWays(t *testing.T) (short, long *frontdesktest.Process) {
	t.Helper()
	outside, redisURL := frontdesktest.NewUpstreams(t), frontdesktest.NewRedis(t)
	start := func(level string) *frontdesktest.Process {
		return frontdesktest.Start(t, "FRONTDESK_MODE=test", "FRONTDESK_CLUB_URL="+outside.URL+"/sim", "FRONTDESK_SANDBOX_URL="+outside.URL+"/sandbox",
			"FRONTDESK_REDIS_URL="+redisURL, "FRONTDESK_RATE_LIMITS=on", "FRONTDESK_TRUSTED_PROXIES=127.0.0.1", "FRONTDESK_LOG_LEVEL="+level,
			"FRONTDESK_PUBLIC_URL=https://signup.example", "FRONTDESK_ALLOWED_ORIGINS=https://www.club.example")
	}
	return start("info"), start("debug")
}

// TestShortcut: what an answer from memory says does not depend on the way that it takes.
func TestShortcut(t *testing.T) {
	t.Parallel()
	short, long := bothWays(t)
	visitors := [2]*frontdesktest.Client{frontdesktest.NewClient(t, short.URL), frontdesktest.NewClient(t, long.URL)}
	visitor := 0
	both := func(method, path string, body any, headers ...[2]string) (answers [2]*frontdesktest.Response) {
		visitor++ // of whom the limit has not heard
		headers = append(headers, [2]string{"X-Forwarded-For", fmt.Sprintf("203.0.113.%d", visitor)})
		for i, c := range visitors {
			answers[i] = c.Do(method, path, body, headers...)
			answers[i].Header.Del("Date")
		}
		return answers
	}
	plain := [2]string{"Accept-Encoding", "identity"}
	for _, path := range []string{"/v1/clubs", "/v1/clubs/11/products", "/v1/clubs/11/products?type=subscription", "/v1/clubs/11/debit-days", "/v1/clubs?"} {
		tag := both("GET", path, nil, plain)[0].Header.Get("ETag")
		if tag == "" {
			t.Fatalf("%s has no tag", path)
		}
		for name, headers := range map[string][][2]string{
			"":                   {plain},
			"packed":             {{"Accept-Encoding", "br, gzip"}},
			"known":              {plain, {"If-None-Match", `"other", W/` + tag}},
			"known, packed":      {{"Accept-Encoding", "gzip"}, {"If-None-Match", "*"}},
			"another one known":  {plain, {"If-None-Match", `"other"`}},
			"traced":             {plain, {"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}},
			"from a front end":   {plain, {"Origin", "https://www.club.example"}},
			"from elsewhere":     {plain, {"Origin", "https://evil.example"}},
			"from somebody":      {plain, {"Authorization", "Bearer a.a.a"}},
			"from no staff":      {plain, {"X-Frontdesk-Staff-Key", "no-staff-key-at-all"}},
			"with a cookie":      {plain, {"Cookie", "__Host-frontdesk-=x; a=b"}},
			"of another network": {plain, {"X-Forwarded-For", "2001:db8::7"}},
		} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				both(method, path, nil, headers...) // whoever comes first has it read
				same(t, strings.TrimSpace(method+" "+path+" "+name), both(method, path, nil, headers...))
			}
		}
		same(t, "a body to "+path, both("GET", path, `{"a":1}`, plain))
		same(t, "POST "+path, both("POST", path, nil, plain))
	}
	for _, path := range []string{"/v1/clubs/%31%31/products", "/v1/clubs/99/products", "/v1/clubs/11/products?typ=a", "/v1/clubs/11/products/", "/v1//clubs"} {
		both("GET", path, nil, plain)
		same(t, path, both("GET", path, nil, plain))
	}
}

// same holds two answers equal, but for the names of their traces.
func same(t *testing.T, work string, answers [2]*frontdesktest.Response) {
	t.Helper()
	short, long := answers[0], answers[1]
	if short.Status != long.Status || !maps.EqualFunc(short.Header, long.Header, slices.Equal[[]string]) || !bytes.Equal(untraced(short.Body), untraced(long.Body)) {
		t.Errorf("%s: %d, %v, %d bytes by the shortcut, and by the long way %d, %v, %d bytes", work,
			short.Status, short.Header, len(short.Body), long.Status, long.Header, len(long.Body))
	}
}

// untraced is a body without what is another one in each problem document.
func untraced(body []byte) []byte {
	var problem api.Problem
	if json.Unmarshal(body, &problem) != nil || problem.TraceId == nil {
		return body
	}
	return bytes.ReplaceAll(body, []byte(*problem.TraceId), nil)
}

// TestShortcutOnOneConnection: answers of all lengths follow each other, however they were
// asked for: one by one, all at once, and by a client that ends the connection.
func TestShortcutOnOneConnection(t *testing.T) {
	t.Parallel()
	short, _ := bothWays(t)
	c := frontdesktest.NewClient(t, short.URL)
	paths := []string{"/v1/clubs", "/v1/clubs/11/products", "/v1/clubs/11/debit-days", "/v1/clubs/11/products?cursor=30"}
	for _, kind := range []string{"regular", "subscription", "access", "pass", "option", "gift", "booklet", "trial"} {
		paths = append(paths, "/v1/clubs/11/products?type="+kind)
	}
	want, asked := map[string][]byte{}, []string{}
	for _, path := range paths {
		answer := c.Do("GET", path, nil, [2]string{"Accept-Encoding", "identity"})
		if answer.Status == http.StatusOK {
			want[path], asked = answer.Body, append(asked, path)
		}
	}
	if len(asked) < 5 {
		t.Fatalf("only %v are there", asked)
	}
	connection, err := net.Dial("tcp", strings.TrimPrefix(short.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	var all bytes.Buffer
	for i := range 3 {
		for _, path := range asked {
			fmt.Fprintf(&all, "GET %s HTTP/1.1\r\nHost: a\r\n\r\nHEAD %s HTTP/1.1\r\nHost: a\r\n\r\nGET %s HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n", path, path, path)
			if i == 2 && path == asked[len(asked)-1] {
				all.WriteString("Connection: close\r\n")
			}
			all.WriteString("\r\n")
		}
	}
	go connection.Write(all.Bytes()) //nolint:errcheck // whoever reads sees what is missing
	reader := bufio.NewReader(connection)
	// The shortcut says what is left of the limit behind what is always the same; by the long way headers are sorted.
	if head, err := reader.Peek(1 << 10); err != nil || bytes.Index(head, []byte("Ratelimit: ")) < bytes.Index(head, []byte("X-Frame-Options: ")) {
		t.Errorf("no shortcut was taken: %s, %v", head, err)
	}
	for range 3 {
		for _, path := range asked {
			for _, expected := range []struct {
				method string
				status int
				body   []byte
			}{{"GET", http.StatusOK, want[path]}, {"HEAD", http.StatusOK, nil}, {"GET", http.StatusNotModified, nil}} {
				answer, err := http.ReadResponse(reader, &http.Request{Method: expected.method})
				if err != nil {
					t.Fatalf("%s %s: %v", expected.method, path, err)
				}
				body, err := io.ReadAll(answer.Body)
				if err != nil || answer.StatusCode != expected.status || !bytes.Equal(body, expected.body) || answer.Header.Get("ETag") == "" {
					t.Fatalf("%s %s: %d, %d bytes, %v", expected.method, path, answer.StatusCode, len(body), err)
				}
			}
		}
	}
	if rest, err := io.ReadAll(reader); len(rest) != 0 || err != nil {
		t.Errorf("behind the last answer: %d bytes, %v", len(rest), err)
	}
}

// TestAnswersFromMemoryAreCounted, whichever way they take; who wants to see each has the
// gateway log what developers want to see.
func TestAnswersFromMemoryAreCounted(t *testing.T) {
	t.Parallel()
	short, long := bothWays(t)
	const asked = 10
	for _, p := range []*frontdesktest.Process{short, long} {
		c := frontdesktest.NewClient(t, p.URL)
		for range asked {
			c.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, nil)
		}
		counted := frontdesktest.NewClient(t, "http://"+p.OpsAddress()).Do("GET", "http://"+p.OpsAddress()+"/metrics", nil)
		for _, line := range []string{
			fmt.Sprintf(`frontdesk_http_requests_total{code="none",method="GET",route="/v1/clubs",status="200"} %d`, asked),
			fmt.Sprintf(`frontdesk_http_request_duration_seconds_count{method="GET",route="/v1/clubs"} %d`, asked),
		} {
			if !strings.Contains(string(counted.Body), line) {
				t.Errorf("the metrics of %s lack %s", p.URL, line)
			}
		}
	}
	frontdesktest.Eventually(t, "each has its line", func() bool {
		return strings.Count(long.Log(), "msg=request method=GET route=/v1/clubs status=200") == asked
	})
	for line := range strings.Lines(long.Log()) {
		if strings.Contains(line, "msg=request") && !strings.Contains(line, "traceId=") {
			t.Errorf("a line without a trace: %s", line)
		}
	}
}
