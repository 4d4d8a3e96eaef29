package ops_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// slowClient is a slow client. It sends a character now and then, and never finishes.
type slowClient struct {
	says   string // sent at once
	reads  bool   // the response, until the connection ends; else nothing
	answer string // how the response must begin
}

const (
	// pace is how often a trickling client sends a character: often enough for every idle timeout.
	pace = 200 * time.Millisecond
	// smallWindow is how much a client that does not read accepts, in bytes.
	smallWindow = 4 << 10
)

// TestSlowClients checks that a client that sends or reads too slowly loses the connection and leaves
// nothing behind. Other clients are served meanwhile.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	visitor := frontdesktest.NewClient(t, mock.URL)
	registration := visitor.Register()
	before := visitor.Records()
	const post = " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nIdempotency-Key: 7c0ae1f2-slow\r\nContent-Length: 500\r\n\r\n{"
	clients := map[string]slowClient{
		"headers":             {"GET /v1/clubs HTTP/1.1\r\nHost: x\r\nX-Slow: ", true, ""},
		"body":                {"POST /v1/registrations" + post, true, "HTTP/1.1 400 "},
		"card webhook":        {"POST /v1/webhooks/card" + post, true, "HTTP/1.1 400 "},
		"club system's event": {"POST " + demoIntake + post, true, "HTTP/1.1 400 "},
		"answers":             {strings.Repeat("GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n", 100), false, ""},
		"event stream": {
			"GET /v1/registrations/" + registration.Id + "/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + visitor.Token + "\r\n\r\n",
			false,
			"",
		},
	}
	gone := make(chan string, len(clients))
	for name, client := range clients {
		connection := slowly(t, mock.URL)
		go func() { gone <- client.run(connection, name) }()
	}
	frontdesktest.Eventually(t, "the stream is open", func() bool { return working(t, mock, "followRegistration") == 1 })
	turns, late := time.NewTicker(pace/8), time.After(frontdesktest.Patience)
	defer turns.Stop()
	for left, n := len(clients), 0; left > 0; n++ {
		select {
		case said := <-gone:
			left--
			if said != "" {
				t.Error(said)
			}
		case <-turns.C: // the stream has an event
			person := *frontdesktest.Person()
			person.Address.Street = fmt.Sprint(n, " rue des Lilas")
			visitor.Do("PUT", "/v1/registrations/"+registration.Id+"/person", person).Into(http.StatusOK, nil)
		case <-late:
			t.Fatalf("%d slow clients are still there", left)
		}
	}
	visitor.Do("GET", "/v1/clubs", nil).Into(http.StatusOK, nil)
	frontdesktest.Eventually(t, "no goroutine works for them any more", func() bool { return working(t, mock, "handlers.(*Server)") == 0 })
	if after := visitor.Records(); len(after.Ledger) != len(before.Ledger) {
		t.Error("something was paid")
	}
	visitor.Pay(registration.Id)
	if state := visitor.Registration(registration.Id).State; state != api.Paying {
		t.Errorf("the registration is %s", state)
	}
}

// TestSlowReadersHoldNoPlace checks that clients that do not read their responses keep no others out.
func TestSlowReadersHoldNoPlace(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := frontdesktest.NewClient(t, mock.URL)
	const places = 64                                                             // that a gateway has at first
	frontdesktest.Eventually(t, "responses wait for their readers", func() bool { // those of ten seconds ago have lost the connection
		for range 20 {
			if _, err := io.WriteString(slowly(t, mock.URL), strings.Repeat("GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n", 10)); err != nil {
				t.Fatal(err)
			}
		}
		return working(t, mock, "handlers.(*Server)") > places
	})
	client.Register()
}

// slowly opens a connection with a small receive window.
func slowly(t *testing.T, url string) net.Conn {
	t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, smallWindow) })
	}}
	connection, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}

// run sends slowly until the connection ends, and returns what is wrong with how it ended.
func (l slowClient) run(connection net.Conn, name string) (wrong string) {
	if _, err := io.WriteString(connection, l.says); err != nil {
		return fmt.Sprintf("%s: %v", name, err)
	}
	turns := time.NewTicker(pace)
	defer turns.Stop()
	responses := make(chan string, 1)
	if l.reads {
		go func() {
			response, _ := io.ReadAll(connection) // a reset connection has sent all that it will
			responses <- string(response)
		}()
	}
	for {
		select {
		case response := <-responses:
			if !strings.HasPrefix(response, l.answer) || l.answer == "" && strings.Contains(response, " 200 ") {
				return fmt.Sprintf("%s: answered with %.200q", name, response)
			}
			return ""
		case <-turns.C:
			if _, err := io.WriteString(connection, "x"); err != nil && !l.reads {
				return ""
			}
		}
	}
}

// working counts the goroutines of a gateway that are running a function.
func working(t *testing.T, gateway *frontdesktest.Process, function string) (n int) {
	for stack := range strings.SplitSeq(opsGet(t, gateway, "/debug/pprof/goroutine?debug=2"), "\n\n") {
		if strings.Contains(stack, function) {
			n++
		}
	}
	return n
}
