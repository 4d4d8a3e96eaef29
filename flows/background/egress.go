package background

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"frontdesk/flows"
)

// EgressPolicy says where deliveries may go.
type EgressPolicy struct {
	// Loopback allows this machine, and http, for developers.
	Loopback bool
}

// ErrDestination reports that a subscriber's name resolves to an address that is refused.
var ErrDestination = errors.New("the address is not on the public internet")

// notPublic are the ranges outside the public internet that net/netip does not name (IANA
// special-purpose address registries). Those that carry an IPv4 address inside an IPv6
// one would bypass every other range.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"),
	netip.MustParsePrefix("5f00::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

// Allows reports whether deliveries may go to an address.
func (p EgressPolicy) Allows(address netip.Addr) bool {
	if address.Zone() != "" {
		return false
	}
	address = address.Unmap() // ::ffff:127.0.0.1 is 127.0.0.1
	if address.IsLoopback() {
		return p.Loopback
	}
	return address.IsGlobalUnicast() && !address.IsPrivate() &&
		!slices.ContainsFunc(notPublic, func(prefix netip.Prefix) bool { return prefix.Contains(address) })
}

// control checks the address that is about to be dialled, because a name can resolve to
// another one after it was checked.
func (p EgressPolicy) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !p.Allows(to.Addr()) {
		return ErrDestination
	}
	return nil
}

const (
	dialTimeout = 5 * time.Second // longer than to any place on earth
	idleTimeout = time.Minute     // events come in bursts
	maxHeaders  = 16 << 10        // of a response of which only the status counts
)

// NewClient returns a client for deliveries to where the policy allows. It uses no proxy, which would dial in its
// place, and follows no redirect, which would lead elsewhere.
func (p EgressPolicy) NewClient() *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout, Control: p.control}
	return &http.Client{
		Timeout: deliveryTimeout,
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    dialTimeout,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxHeaders,
			MaxIdleConnsPerHost:    deliveryConcurrency,
			IdleConnTimeout:        idleTimeout,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// subscriberName matches what can be part of the name of a queue and of a delivery.
var subscriberName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Check returns everything that is wrong with the subscribers.
func (p EgressPolicy) Check(subscribers []Subscriber) (problems []error) {
	events := flows.KnownEvents()
	seen := map[string]bool{}
	for i, subscriber := range subscribers {
		wrong := func(format string, args ...any) {
			problems = append(problems, fmt.Errorf("subscriber %d (%q): "+format, append([]any{i + 1, subscriber.Name}, args...)...))
		}
		if !subscriberName.MatchString(subscriber.Name) || seen[subscriber.Name] {
			wrong("name: small letters, digits and hyphens, at most 32, and of no other subscriber")
		}
		seen[subscriber.Name] = true
		if problem := p.checkURL(subscriber.URL); problem != "" {
			wrong("url: %s", problem)
		}
		if secrets := subscriber.secrets(); len(secrets) > maxSecrets || slices.ContainsFunc(secrets, invalidSecret) {
			wrong("secret: whsec_ and the base64 of 24 to 64 random bytes, such as from: openssl rand -base64 32; " +
				"at most two, with a comma between them")
		}
		for _, pattern := range subscriber.Events {
			if !slices.ContainsFunc(events, Subscriber{Events: []string{pattern}}.matches) {
				wrong("events: no event is called %q; a pattern is such as contact.* or contact.updated", pattern)
			}
		}
	}
	return problems
}

// maxSecrets of a subscriber: the current one, and during a change the previous one.
const maxSecrets = 2

func invalidSecret(secret string) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	return err != nil || len(key) < 24 || len(key) > 64
}

// checkURL returns what is wrong with an address as it is written. Each delivery checks
// what its name resolves to.
func (p EgressPolicy) checkURL(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Hostname() == "" || parsed.User != nil || parsed.Fragment != "" || parsed.Opaque != "" {
		return "an absolute address without user name and fragment"
	}
	ip, err := netip.ParseAddr(parsed.Hostname())
	switch {
	case parsed.Scheme != "https" && (parsed.Scheme != "http" || !p.Loopback):
		return "https is needed"
	case err == nil && !p.Allows(ip):
		return ErrDestination.Error()
	case !p.Loopback && parsed.Port() != "" && parsed.Port() != "443" && parsed.Port() != "8443":
		return "the ports are 443 and 8443: what listens elsewhere is rarely a web server"
	}
	return ""
}
