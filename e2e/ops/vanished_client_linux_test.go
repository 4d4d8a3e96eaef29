package ops_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// TestStreamOfAVanishedClient: a phone leaves its network while it follows a registration, and nothing says so. Its
// stream ends long before the system would give the connection up.
func TestStreamOfAVanishedClient(t *testing.T) {
	t.Parallel()
	mock := frontdesktest.NewMock(t)
	client := frontdesktest.NewClient(t, mock.URL)
	registration := client.Register()
	connection, err := net.Dial("tcp", strings.TrimPrefix(mock.URL, "http://"))
	frontdesktest.Must(t, err)
	t.Cleanup(func() { connection.Close() })
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, mock.URL+"/v1/registrations/"+registration.Id+"/events", nil)
	frontdesktest.Must(t, err)
	request.Header.Set("Authorization", "Bearer "+client.Token)
	frontdesktest.Must(t, request.Write(connection))
	_, err = io.ReadFull(connection, make([]byte, len("HTTP/1.1 200 OK")))
	frontdesktest.Must(t, err)
	frontdesktest.Eventually(t, "the stream is open", func() bool { return working(t, mock, "followRegistration") == 1 })
	vanish(t, connection)
	// The system's own timers decide, not this machine's load: about a minute with the gateway's limit, three at least without.
	const promised = 2 * time.Minute
	ended := func() bool { return working(t, mock, "followRegistration") == 0 }
	frontdesktest.Must(t, frontdesktest.Within(t.Context(), "the stream has ended", promised, ended))
}

// vanish makes the system drop everything that arrives for a connection, so that it acknowledges nothing any more.
func vanish(t *testing.T, connection net.Conn) {
	t.Helper()
	raw, err := connection.(*net.TCPConn).SyscallConn()
	frontdesktest.Must(t, err)
	dropAll := []syscall.SockFilter{{Code: syscall.BPF_RET | syscall.BPF_K, K: 0}}
	attach := func(fd uintptr) { err = syscall.AttachLsf(int(fd), dropAll) } //nolint:staticcheck // package bpf filters no stream
	frontdesktest.Must(t, raw.Control(attach))
	frontdesktest.Must(t, err)
}
