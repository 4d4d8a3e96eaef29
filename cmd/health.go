package cmd

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// healthCommand asks a gateway on this machine whether it runs: an image
// without a shell has nothing else to be checked with.
type healthCommand struct {
	Addr string `help:"Where the gateway listens." default:":8080" env:"FRONTDESK_ADDR"`
}

// healthTimeout is below the five seconds after which the image's health check is
// given up, so that the line that says why is seen.
const healthTimeout = 4 * time.Second

// Run succeeds when the gateway answers /healthz with 200.
func (c *healthCommand) Run(ctx context.Context) error {
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return fmt.Errorf("FRONTDESK_ADDR: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "127.0.0.1" // by number: no file of host names is needed
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return fmt.Errorf("FRONTDESK_ADDR: %w", err)
	}
	// No proxy of the environment stands between a gateway and itself.
	direct := http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	answer, err := direct.Do(request)
	if err != nil {
		return fmt.Errorf("no gateway answers: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("/healthz answers %s", answer.Status)
	}
	fmt.Println("healthy")
	return nil
}
