package rig

import (
	"context"
	"fmt"
	"sync"
)

// Gateway is one replica: the binary in test mode, on an address that stays its own
// however often it is killed.
type Gateway struct {
	URL   string
	path  string
	env   []string
	proxy *FaultProxy

	mu  sync.Mutex
	now *Process
}

func newGateway(path string, door *FaultProxy, redisURL string, more ...string) (*Gateway, error) {
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	return &Gateway{URL: "http://" + address, path: path, proxy: door, env: append([]string{
		"FRONTDESK_MODE=test", "FRONTDESK_ADDR=" + address, "FRONTDESK_PUBLIC_URL=http://" + address, "FRONTDESK_REDIS_URL=" + redisURL,
		"FRONTDESK_CLUB_URL=" + door.url() + "/sim", "FRONTDESK_SANDBOX_URL=" + door.url() + "/sandbox", "FRONTDESK_RATE_LIMITS=off", "FRONTDESK_OPS_ADDR=off",
	}, more...)}, nil
}

// Start starts it, and waits until it says that it listens.
func (g *Gateway) Start(ctx context.Context) error {
	now, err := Start(ctx, "mode) is at", g.env, g.path)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = now
	return nil
}

// Kill ends it in the middle of whatever it does, with kill -9.
func (g *Gateway) Kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now.Kill()
}

// Log is the end of what the present or last process has said.
func (g *Gateway) Log() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now == nil {
		return ""
	}
	return g.now.log.String()
}
