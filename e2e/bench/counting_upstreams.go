package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/upstream/cards/sandbox"
	"frontdesk/upstream/clubsim"
)

// countingUpstreams is an outside world in this process: the simulator and the sandbox, before
// which a gateway's calls are counted, and take as long as they are told to.
type countingUpstreams struct {
	url   string       // where the gateway asks; the simulator is below /sim
	buyer string       // where buyers enter their cards, without any delay
	delay atomic.Int64 // of each call of the gateway, in nanoseconds
	club  *clubsim.Server
	cards *sandbox.Server
	both  []*http.Server

	mu    sync.Mutex
	calls map[string]int           // by the system that was asked
	ended map[string]chan struct{} // by payment at the processor: closed when nothing is left to do for it
}

// Kill ends it.
func (o *countingUpstreams) Kill() {
	for _, server := range o.both {
		server.Close()
	}
	o.club.Close()
	o.cards.Close()
}

// countingUpstreams runs an outside world until the measurement ends.
func (h *harness) countingUpstreams() (*countingUpstreams, error) {
	o := &countingUpstreams{calls: map[string]int{}, ended: map[string]chan struct{}{}}
	forGateway, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	forBuyers, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o.url, o.buyer = "http://"+forGateway.Addr().String(), "http://"+forBuyers.Addr().String()
	o.club = clubsim.New(clubsim.Config{Now: time.Now})
	o.cards = sandbox.NewServer(sandbox.ServerConfig{Now: time.Now, BaseURL: o.buyer + "/sandbox"})
	world := http.NewServeMux()
	world.Handle("/sim/", http.StripPrefix("/sim", o.club))
	world.Handle("/sandbox/", http.StripPrefix("/sandbox", o.cards))
	for listener, handler := range map[net.Listener]http.Handler{forGateway: o.counted(world), forBuyers: world} {
		server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
		o.both = append(o.both, server)
		go server.Serve(listener) //nolint:errcheck // it ends with Kill
	}
	h.started = append(h.started, o)
	return o, nil
}

func (o *countingUpstreams) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		system, ends := "club", ""
		if path, ours := strings.CutPrefix(r.URL.Path, "/sandbox/payments/"); ours {
			ends = endedBy(path, r)
		}
		if strings.HasPrefix(r.URL.Path, "/sandbox/") {
			system = "processor"
		}
		<-time.After(time.Duration(o.delay.Load()))
		next.ServeHTTP(w, r)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.calls[system]++
		if ends != "" {
			close(o.end(ends))
		}
	})
}

// endedBy is the payment for which a call is the last: the one that journals that the
// club system has accepted it.
func endedBy(path string, r *http.Request) (payment string) {
	id, verb, _ := strings.Cut(path, "/")
	if verb != "metadata" {
		return ""
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var entries struct{ Metadata map[string]string }
	if err != nil || json.Unmarshal(body, &entries) != nil {
		return ""
	}
	for key := range entries.Metadata {
		if strings.HasPrefix(key, "fd_done_") {
			return id
		}
	}
	return ""
}

// end is called with the lock held.
func (o *countingUpstreams) end(payment string) chan struct{} {
	if o.ended[payment] == nil {
		o.ended[payment] = make(chan struct{})
	}
	return o.ended[payment]
}

// ends gives the signal that nothing is left to do for a payment.
func (o *countingUpstreams) ends(payment string) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.end(payment)
}

// take gives the calls since it was asked last.
func (o *countingUpstreams) take() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	calls := o.calls
	o.calls = map[string]int{}
	return calls
}
