package background_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"frontdesk/flows/background"
)

// goodSecret is the signing secret of the tests' subscribers.
const goodSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" //nolint:gosec // the example of the Standard Webhooks specification

// TestEgressPolicy: addresses of private networks, and unassigned addresses, are refused as destinations.
func TestEgressPolicy(t *testing.T) {
	t.Parallel()
	live, developer := background.EgressPolicy{}, background.EgressPolicy{Loopback: true}
	for _, address := range []string{"8.8.8.8", "93.184.216.34", "2001:4860:4860::8888", "2606:4700::1111", "::ffff:8.8.8.8"} {
		if !live.Allows(netip.MustParseAddr(address)) {
			t.Errorf("%s is refused", address)
		}
	}
	for _, address := range []string{
		"127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
		"::ffff:10.0.0.1", "fd00::1", "169.254.169.254", "fe80::1", "fe80::1%lo", "100.64.0.1", "100.127.255.255",
		"224.0.0.1", "239.1.2.3", "ff02::1", "0.0.0.0", "::", "0.1.2.3", "255.255.255.255", "240.0.0.1", "192.0.0.8",
		"192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "2002:7f00:1::",
		"2001::1", "2001:db8::1", "::7f00:1", "fec0::1",
	} {
		if live.Allows(netip.MustParseAddr(address)) {
			t.Errorf("%s is a destination", address)
		}
		loopback := strings.HasPrefix(address, "127.") || address == "::1" || address == "::ffff:127.0.0.1"
		if developer.Allows(netip.MustParseAddr(address)) != loopback {
			t.Errorf("%s for a developer: %t", address, !loopback)
		}
	}
}

// TestEgressPolicyAppliesWhenDialling: the policy checks the address that a name resolves to, not the name.
func TestEgressPolicyAppliesWhenDialling(t *testing.T) {
	t.Parallel()
	called := false
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	t.Cleanup(inside.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(inside.URL, "http://"), ":")
	for _, host := range []string{"localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0", "0x7f.1"} {
		address := "http://" + host + ":" + port
		response, err := background.EgressPolicy{}.NewClient().Post(address, "application/json", strings.NewReader("{}"))
		if err == nil {
			response.Body.Close()
		}
		if !errors.Is(err, background.ErrDestination) && !strings.Contains(address, "0x") || err == nil || called {
			t.Errorf("%s: %v, called: %t", address, err, called)
		}
	}
	outside := httptest.NewServer(http.RedirectHandler(inside.URL, http.StatusTemporaryRedirect))
	t.Cleanup(outside.Close)
	response, err := background.EgressPolicy{Loopback: true}.NewClient().Post(outside.URL, "application/json", strings.NewReader("{}"))
	if err != nil || response.StatusCode != http.StatusTemporaryRedirect || called {
		t.Errorf("a redirect ends with %v, followed: %t", err, called)
	}
}

func TestSubscribersAreChecked(t *testing.T) {
	t.Parallel()
	good := background.Subscriber{
		Name:   "crm",
		URL:    "https://crm.example/hooks?key=1",
		Secret: goodSecret,
		Events: []string{"contact.*", "class_event.canceled"},
	}
	live, developer := background.EgressPolicy{}, background.EgressPolicy{Loopback: true}
	another := background.Subscriber{Name: "b-2", URL: "https://b.example:8443", Secret: goodSecret}
	if problems := live.Check([]background.Subscriber{good, another}); len(problems) != 0 {
		t.Errorf("good ones: %v", problems)
	}
	turning := good
	turning.Secret = "whsec_" + strings.Repeat("bmV3", 10) + "," + goodSecret
	if problems := live.Check([]background.Subscriber{turning}); len(problems) != 0 {
		t.Errorf("two secrets: %v", problems)
	}
	local := good
	local.URL = "http://127.0.0.1:3000/"
	if problems := developer.Check([]background.Subscriber{local}); len(problems) != 0 {
		t.Errorf("a developer's: %v", problems)
	}
	if problems := live.Check([]background.Subscriber{good, good}); len(problems) != 1 {
		t.Errorf("twice the same: %v", problems)
	}
	for name, change := range map[string]func(*background.Subscriber){
		"no name":                func(s *background.Subscriber) { s.Name = "" },
		"a name with more":       func(s *background.Subscriber) { s.Name = "crm:{x}" },
		"no address":             func(s *background.Subscriber) { s.URL = "" },
		"no https":               func(s *background.Subscriber) { s.URL = "http://crm.example" },
		"another scheme":         func(s *background.Subscriber) { s.URL = "gopher://crm.example" },
		"a user":                 func(s *background.Subscriber) { s.URL = "https://a:b@crm.example" },
		"a fragment":             func(s *background.Subscriber) { s.URL = "https://crm.example/#x" },
		"a private address":      func(s *background.Subscriber) { s.URL = "https://10.0.0.1/" },
		"this machine":           func(s *background.Subscriber) { s.URL = "https://[::1]/" },
		"a port":                 func(s *background.Subscriber) { s.URL = "https://crm.example:6379/" },
		"no secret":              func(s *background.Subscriber) { s.Secret = "" },
		"a short secret":         func(s *background.Subscriber) { s.Secret = "whsec_c2hvcnQ=" },
		"three secrets":          func(s *background.Subscriber) { s.Secret = strings.Repeat(goodSecret+",", 2) + goodSecret },
		"an empty second secret": func(s *background.Subscriber) { s.Secret = goodSecret + "," },
		"a short first secret":   func(s *background.Subscriber) { s.Secret = "whsec_c2hvcnQ=," + goodSecret },
		"no base64":              func(s *background.Subscriber) { s.Secret = "whsec_" + strings.Repeat("!", 40) },
		"no event":               func(s *background.Subscriber) { s.Events = []string{"sale.paid"} },
		"no pattern":             func(s *background.Subscriber) { s.Events = []string{"contact.["} },
	} {
		bad := good
		change(&bad)
		problems := live.Check([]background.Subscriber{bad})
		if len(problems) != 1 || bad.Secret != "" && strings.Contains(problems[0].Error(), bad.Secret) {
			t.Errorf("%s: %v", name, problems)
		}
	}
}
