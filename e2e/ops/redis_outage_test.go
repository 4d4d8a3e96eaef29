package ops_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
)

const demoEvent = `{"event":"class_event.canceled","data":{"object":{"clubId":"/demo/clubs/11"}}}`

// TestRedisAwayCostsNothing: whatever Redis answers instead of doing its work, and when nothing answers, a gateway
// makes few calls and connections. It works again once Redis does.
func TestRedisAwayCostsNothing(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*redisFront){
		"out of memory": func(f *redisFront) { f.refuse("OOM command not allowed when used memory > 'maxmemory'.") },
		"read-only":     func(f *redisFront) { f.refuse("READONLY You can't write against a read only replica.") },
		"no replicas":   func(f *redisFront) { f.refuse("NOREPLICAS Not enough good replicas to write.") },
		"no password":   func(f *redisFront) { f.refuse("NOAUTH Authentication required.", "HELLO", "PING", "SUBSCRIBE") },
		"hangs up":      func(f *redisFront) { f.refuse("") },
		"no server":     func(f *redisFront) { f.close() },
		"host gone":     func(f *redisFront) { f.vanish() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := frontdesktest.NewEnv(t)
			front := newRedisFront(t, strings.TrimPrefix(s.Redis, "redis://"))
			s.Redis = "redis://" + front.address
			to := newSubscriber(t, "crm", 204)
			gateway, client := s.Gateway(t, subscribe(t, to.config()))
			sendEvent(client, "class_event.updated")
			to.await("an event", func(got []delivered) bool { return len(got) == 1 })
			fail(front)
			crowd(gateway.URL)
			// Each queue is asked at most about four times a second, so that 40 calls take several seconds.
			const calls, perSecond = 40, 60
			failed := func() float64 { return front.refusedCalls() + failedCalls(t, gateway) }
			begun, before, accepted := time.Now(), failed(), front.accepted()
			frontdesktest.Eventually(t, "many calls have failed", func() bool { return failed()-before >= calls })
			took := time.Since(begun).Seconds()
			if rate := (failed() - before) / took; rate > perSecond {
				t.Errorf("%.0f calls a second", rate)
			}
			if rate := float64(front.accepted()-accepted) / took; rate > perSecond {
				t.Errorf("%.0f connections a second", rate)
			}
			front.restore()
			frontdesktest.Eventually(t, "the gateway takes an event", func() bool {
				return client.Do("POST", demoIntake, demoEvent).Status == 200
			})
			to.await("the next event", func(got []delivered) bool { return len(got) >= 2 })
		})
	}
}

// crowd sends requests that need Redis. The client gives up dialling once it has failed for each connection of its pool, and
// then fails each call at once.
func crowd(gateway string) {
	var all sync.WaitGroup
	for range 100 { // more than the pool has
		all.Go(func() {
			if response, err := http.Post(gateway+demoIntake, "application/json", strings.NewReader(demoEvent)); err == nil {
				response.Body.Close()
			}
		})
	}
	all.Wait()
}

// failedCalls counts the calls of a gateway to Redis that had no response.
func failedCalls(t *testing.T, gateway *frontdesktest.Process) float64 {
	t.Helper()
	n, _ := sum(scrape(t, gateway), "frontdesk_redis_calls_total", "outcome", "failed")
	return n
}

// redisFront forwards connections to a Redis, until a test has it answer commands itself or close its port.
type redisFront struct {
	t               *testing.T
	address, server string

	mu          sync.Mutex
	listener    net.Listener
	conns       []net.Conn
	refusing    bool
	gone        bool     // see vanish
	answer      string   // to what is refused; empty: the connection is closed
	refused     []string // besides scripts
	calls       int      // that were refused
	connections int      // since it refuses
}

func newRedisFront(t *testing.T, server string) *redisFront {
	t.Helper()
	f := &redisFront{t: t, server: server, address: fmt.Sprintf("127.0.0.1:%d", frontdesktest.FreePort(t))}
	f.restore()
	t.Cleanup(f.close)
	return f
}

// restore forwards everything from now on.
func (f *redisFront) restore() {
	f.t.Helper()
	if f.vanished() {
		f.close()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refusing, f.gone = false, false
	if f.listener != nil {
		return
	}
	listener, err := net.Listen("tcp", f.address)
	frontdesktest.Must(f.t, err)
	f.listener = listener
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go f.serve(client)
		}
	}()
}

// close ends every connection and refuses new ones.
func (f *redisFront) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.connections = 0
	if f.listener != nil {
		f.listener.Close()
		f.listener = nil
	}
	for _, conn := range f.conns {
		conn.Close()
	}
}

// vanish is silent on open connections from now on, and neither accepts nor refuses others: its listener has no room for
// them, so the system drops their first packet.
func (f *redisFront) vanish() {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listener.Close()
	f.gone, f.connections = true, 0
	listener, err := net.Listen("tcp", f.address)
	frontdesktest.Must(f.t, err)
	f.listener = listener
	raw, err := listener.(*net.TCPListener).SyscallConn()
	frontdesktest.Must(f.t, err)
	frontdesktest.Must(f.t, raw.Control(func(fd uintptr) { err = syscall.Listen(int(fd), 0) }))
	frontdesktest.Must(f.t, err)
	for {
		conn, err := net.DialTimeout("tcp", f.address, 100*time.Millisecond)
		if err != nil {
			return
		}
		f.conns = append(f.conns, conn)
	}
}

// refuse answers scripts, and other commands if there are any, with an error from now on.
func (f *redisFront) refuse(response string, others ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refusing, f.answer, f.refused, f.calls, f.connections = true, response, append(others, "EVALSHA", "EVAL"), 0, 0
}

func (f *redisFront) refusedCalls() float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return float64(f.calls)
}

func (f *redisFront) vanished() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gone
}

func (f *redisFront) accepted() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.connections
}

// refusal returns the answer to a command that is refused.
func (f *redisFront) refusal(command string) (response string, refused bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.refusing || !slices.Contains(f.refused, strings.ToUpper(command)) {
		return "", false
	}
	f.calls++
	return f.answer, true
}

func (f *redisFront) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", f.server)
	if err != nil {
		return
	}
	defer server.Close()
	f.mu.Lock()
	f.connections++
	f.conns = append(f.conns, client)
	f.mu.Unlock()
	go func() {
		defer client.Close()
		io.Copy(client, server) //nolint:errcheck // either side may leave
	}()
	commands := bufio.NewReader(client)
	for {
		text, name, err := readCommand(commands)
		if err != nil {
			return
		}
		response, refused := f.refusal(name)
		switch {
		case f.vanished():
		case refused && response == "":
			return
		case refused:
			_, err = fmt.Fprintf(client, "-%s\r\n", response)
		default:
			_, err = io.WriteString(server, text)
		}
		if err != nil {
			return
		}
	}
}

// readCommand reads a command of the Redis protocol: an array of strings, of which the first is its name.
func readCommand(from *bufio.Reader) (text, name string, err error) {
	line, err := from.ReadString('\n')
	if err != nil {
		return "", "", err
	}
	text = line
	words, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "*")))
	for i := 0; i < words && err == nil; i++ {
		if line, err = from.ReadString('\n'); err != nil {
			break
		}
		var size int
		if size, err = strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "$"))); err != nil {
			break
		}
		word := make([]byte, size+len("\r\n"))
		_, err = io.ReadFull(from, word)
		if i == 0 {
			name = strings.TrimSpace(string(word))
		}
		text += line + string(word)
	}
	return text, name, err
}
