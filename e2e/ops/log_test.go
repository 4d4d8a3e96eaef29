package ops_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
	"frontdesk/flows/background"
)

// TestLiveLog checks that the log is machine-readable, has a line with a trace for each request, and
// names no visitor.
func TestLiveLog(t *testing.T) {
	t.Parallel()
	process, c := frontdesktest.NewLive(t).Start(t)
	registration := c.Register()
	trace := regexp.MustCompile(`^[0-9a-f]{32}$`)
	frontdesktest.Eventually(t, "the line about the start, which is written behind the answer", func() bool {
		return strings.Contains(process.Log(), `"status":201`)
	})
	starts := 0
	for line := range strings.Lines(process.Log()) {
		var said struct {
			Msg, Level, Method, Route, TraceID string
			Status                             int
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil || said.Msg == "" {
			t.Errorf("no line for machines: %s", line)
		}
		if said.Msg == "request" && said.Method == "POST" && said.Route == "/v1/registrations" {
			starts++
			if said.Status != 201 || said.Level != "INFO" || !trace.MatchString(said.TraceID) {
				t.Errorf("a start is logged as %s", line)
			}
		}
	}
	if starts != 1 {
		t.Errorf("%d starts are logged:\n%s", starts, process.Log())
	}
	person := frontdesktest.Person()
	for _, private := range []string{*registration.Token, person.FamilyName, string(person.Email), person.Mobile, person.Address.Street} {
		if strings.Contains(process.Log(), private) {
			t.Errorf("the log holds %q", private)
		}
	}
}

// TestLibraryLogs checks that the libraries' messages while Redis is down are machine-readable, at a
// level that operators read, and do not bury the rest.
func TestLibraryLogs(t *testing.T) {
	t.Parallel()
	live := frontdesktest.NewLive(t)
	process, _ := live.Start(t)
	frontdesktest.StopRedis(t, live.Redis)
	of := map[string]int{} // lines by source
	frontdesktest.Eventually(t, "the queue, the Redis client and the gateway itself complain", func() bool {
		clear(of)
		for line := range strings.Lines(process.Log()) {
			var said struct{ Msg, Level, Time string }
			if err := json.Unmarshal([]byte(line), &said); err != nil || said.Msg == "" || said.Time == "" {
				t.Fatalf("no line for machines: %s", line)
			}
			who, _, _ := strings.Cut(said.Msg, ":")
			of[who]++
			if (who == "queue" || who == "redis client") && said.Level != "WARN" && said.Level != "ERROR" {
				t.Fatalf("a complaint at level %s: %s", said.Level, line)
			}
		}
		return of["queue"] > 0 && of["redis client"] > 0 && of["open payments not swept"] > 0
	})
	if most := 20; of["redis client"] > most {
		t.Errorf("the Redis client says it %d times", of["redis client"])
	}
}

// TestUnsolicitedResponsesAreRedacted: Go's HTTP client logs unsolicited responses word for word to the
// standard logger. The gateway's log omits their text.
func TestUnsolicitedResponsesAreRedacted(t *testing.T) {
	t.Parallel()
	talkative := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nzqcanary@example.com has a card")
		connection.Close()
	}))
	t.Cleanup(talkative.Close)
	gateway, c := frontdesktest.NewEnv(t).
		Gateway(t, subscribe(t, background.Subscriber{Name: "crm", URL: talkative.URL, Secret: subscriberSecret}))
	sendEvent(c, "class_event.updated")
	frontdesktest.Eventually(t, "the HTTP client complains", func() bool {
		return strings.Contains(gateway.Log(), `level=WARN msg="Unsolicited response received on idle HTTP channel`)
	})
	if strings.Contains(gateway.Log(), "zqcanary") {
		t.Errorf("the log holds what was said:\n%s", gateway.Log())
	}
}
