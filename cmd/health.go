package cmd

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// healthTimeout is below the five seconds after which the image's health check is
// abandoned, so that its log shows the reason.
const healthTimeout = 4 * time.Second

// newHealthCommand returns the command that is the health check of the image, which has no shell.
func newHealthCommand() *cobra.Command {
	addr := ""
	command := &cobra.Command{
		Use:   "health",
		Short: "Check that a gateway on this machine runs; exit 1 if it does not.",
		Args:  exactArgs(),
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(command.Context(), healthTimeout)
			defer cancel()
			return checkHealth(ctx, addr)
		},
	}
	addOptions(command.Flags(), option{
		variable:     "FRONTDESK_ADDR",
		value:        text(&addr),
		defaultValue: ":8080",
		help:         "Address on which the gateway listens.",
	})
	return command
}

func checkHealth(ctx context.Context, addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("FRONTDESK_ADDR: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+reachable(addr)+"/healthz", nil)
	if err != nil {
		return fmt.Errorf("FRONTDESK_ADDR: %w", err)
	}
	direct := http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	response, err := direct.Do(request)
	if err != nil {
		return fmt.Errorf("the gateway does not respond: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("/healthz returns %s", response.Status)
	}
	fmt.Println("healthy")
	return nil
}
