package cmd

import (
	"fmt"
	"io"
	"net"
	"slices"

	"frontdesk/upstream/clubsim"
)

func (cfg Config) printBanner(w io.Writer, at net.Addr) {
	if cfg.Mode != "mock" {
		fmt.Fprintf(w, "Frontdesk (%s mode) is at %s, in front of the club system at %s. It listens on %s.\n",
			cfg.Mode, cfg.PublicURL, cfg.Club.BaseURL, at)
		return
	}
	end := "everything is gone when you stop it"
	if cfg.State != "" {
		end = cfg.State + " keeps everything"
	}
	fmt.Fprintf(w, `Frontdesk, mock mode: nothing here is real, and %[2]s.

  Signup site         %[1]s/
  Documentation       %[1]s/docs                  for the API below %[1]s/v1
  Club system         %[1]s/sim/demo/_control/    what the simulator holds
  Card processor      %[1]s/sandbox/payments      what the sandbox holds

`, cfg.PublicURL, end)
	printDemoCredentials(w)
	if slices.Contains(cfg.StaffKeys, demoStaffKey) {
		fmt.Fprintf(w, "  Staff key           %s, in the header X-Frontdesk-Staff-Key\n", demoStaffKey)
	}
	if cfg.OpsAddr != "" {
		fmt.Fprintf(w, "  Operators           http://%s/ops/payments    for: frontdesk payments list\n", reachable(cfg.OpsAddr))
		if slices.Contains(cfg.Operators, operatorEntry("demo", demoOperatorToken)) {
			fmt.Fprintf(w, "  Operator token      %s\n", demoOperatorToken)
		}
	}
}

func printDemoCredentials(w io.Writer) {
	fmt.Fprintf(w, `  Test cards          4242424242424242 succeeds                 4000000000000002 is declined
                      4000002500003155 needs authentication     4000000000009995 has insufficient funds
  Club credentials    client token %s, client id %s, secret %s, gateway key %s
`, clubsim.DemoClientToken, clubsim.DemoClientID, clubsim.DemoClientSecret, clubsim.DemoGatewayKey)
}
