package e2e_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"frontdesk/e2e/frontdesktest"
)

// TestLogOfALiveGateway: machines can read it, each request has its line and its
// trace, and nobody who registers is in it.
func TestLogOfALiveGateway(t *testing.T) {
	t.Parallel()
	process, c := newLive(t).start(t)
	registration := c.Register()
	trace := regexp.MustCompile(`^[0-9a-f]{32}$`)
	starts := 0
	for line := range strings.Lines(process.Log()) {
		var said struct {
			Msg, Level, Method, Route, Trace string
			Status                           int
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil || said.Msg == "" {
			t.Errorf("no line for machines: %s", line)
		}
		if said.Msg == "request" && said.Method == "POST" && said.Route == "/v1/registrations" {
			starts++
			if said.Status != 201 || said.Level != "INFO" || !trace.MatchString(said.Trace) {
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
