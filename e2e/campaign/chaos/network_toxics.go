package chaos

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// A toxic is a way in which Toxiproxy spoils a connection. It is another hand than the
// one of line_break.go, so that what both agree on is not the mistake of one of them; and
// it disturbs by time, where that one disturbs at a byte.
type toxic struct {
	kind       string
	attributes func(*rand.Rand) map[string]int
}

// toxics are drawn so that some end within the time of a POST and some do not.
var toxics = []toxic{
	{"latency", func(r *rand.Rand) map[string]int { return map[string]int{"latency": r.IntN(400), "jitter": 10} }},
	{"bandwidth", func(r *rand.Rand) map[string]int { return map[string]int{"rate": 1 + r.IntN(20)} }}, // KB/s
	{"slow_close", func(r *rand.Rand) map[string]int { return map[string]int{"delay": r.IntN(400)} }},
	{"timeout", func(r *rand.Rand) map[string]int { return map[string]int{"timeout": 1 + r.IntN(400)} }},
	{"reset_peer", func(r *rand.Rand) map[string]int { return map[string]int{"timeout": r.IntN(60)} }},
	{"slicer", func(r *rand.Rand) map[string]int {
		return map[string]int{"average_size": 16 + r.IntN(200), "size_variation": 8, "delay": 200 + r.IntN(5000)} // microseconds
	}},
	{"limit_data", func(r *rand.Rand) map[string]int {
		return map[string]int{"bytes": r.IntN(handshakeBytes + requestBytes)}
	}},
}

// streams are the directions in which a toxic works.
var streams = []string{"upstream", "downstream"}

func toxicKind(t toxic, stream string) string {
	return fmt.Sprintf("toxiproxy %s, %s", t.kind, stream)
}

// poison plans that the next connection goes through a proxy with one toxic. It gives
// what tells whether that happened, and what takes the proxy down.
func (l *line) poison(random *rand.Rand, t toxic, stream string) (broke func() bool, remove func(), err error) {
	proxy := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()), "post", "127.0.0.1:0", l.server)
	if err := proxy.Start(); err != nil {
		return nil, nil, err
	}
	attributes := t.attributes(random)
	text, err := json.Marshal(map[string]any{"type": t.kind, "stream": stream, "attributes": attributes})
	if err == nil {
		_, err = proxy.Toxics.AddToxicJson(strings.NewReader(string(text)))
	}
	if err != nil {
		proxy.Stop()
		return nil, nil, err
	}
	through := &poisoned{via: proxy.Listen, limit: int64(-1)}
	if limit, ok := attributes["bytes"]; ok {
		through.limit, through.up = int64(limit), stream == "upstream"
	}
	return l.next(fault{toxicKind(t, stream), 0, through.carry}), proxy.Stop, nil
}

// poisoned is a connection that goes through a proxy.
type poisoned struct {
	via   string // its address
	limit int64  // bytes that it lets through, -1 for all
	up    bool   // which of the directions has the limit
}

// carry passes everything by way of the proxy, resets included. A limit that was further than the
// messages are long is none.
func (p *poisoned) carry(x *exchange) {
	conn, err := net.Dial("tcp", p.via)
	if err != nil {
		return
	}
	proxy := conn.(*net.TCPConn)
	defer proxy.Close()
	var there, back atomic.Int64
	var both sync.WaitGroup
	both.Go(func() {
		shovel(proxy, x.client, -1, 0, 0, func(n int) {
			there.Add(int64(n))
			if !x.line.secure {
				x.line.seen.Add(int64(n))
			}
		})
		proxy.CloseWrite()
	})
	both.Go(func() {
		n, err := io.Copy(x.client, proxy)
		back.Store(n)
		if err != nil {
			reset(x.client)
		} else {
			x.client.Close()
		}
	})
	both.Wait()
	reached := back.Load() >= p.limit
	if p.up {
		reached = there.Load() > p.limit
	}
	if p.limit < 0 || reached {
		x.plan.broke.Store(true)
	}
}
