package relay

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"frontdesk/flows"
)

// EgressPolicy says where deliveries may go.
type EgressPolicy struct {
	// Loopback allows this machine, and http: a developer tries a subscriber out.
	Loopback bool
}

// ErrDestination says that a subscriber's name leads to an address to which nothing is sent.
var ErrDestination = errors.New("the address is inside a network, or none of the public internet")

// notPublic are the ranges that net/netip has no word for and that are no place on
// the public internet (IANA special-purpose address registries). Those that carry an
// IPv4 address inside an IPv6 one would be a way around every other range.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"), netip.MustParsePrefix("5f00::/16"), netip.MustParsePrefix("fec0::/10"),
}

// Allows tells whether deliveries may go to an address, whatever name led to it.
func (d EgressPolicy) Allows(address netip.Addr) bool {
	if address.Zone() != "" {
		return false
	}
	address = address.Unmap() // ::ffff:127.0.0.1 is 127.0.0.1
	if address.IsLoopback() {
		return d.Loopback
	}
	return address.IsGlobalUnicast() && !address.IsPrivate() &&
		!slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(address) })
}

// control looks at the address that is about to be dialled: what a name resolves
// to when it is checked, and what when it is used, can be two things.
func (d EgressPolicy) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !d.Allows(to.Addr()) {
		return ErrDestination
	}
	return nil
}

// The figures of a connection to a subscriber.
const (
	dialTimeout = 5 * time.Second // a place that is this far away is not on this planet, or behind a firewall
	idleTimeout = time.Minute     // events come in bursts
	maxHeaders  = 16 << 10        // of an answer of which only the status counts
)

// NewClient makes the client that carries deliveries: over no proxy, which
// would dial in its place, and after no redirect, which would lead elsewhere.
func NewClient(to EgressPolicy) *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout, Control: to.control}
	return &http.Client{
		Timeout: deliveryTimeout,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: dialTimeout, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHeaders,
			MaxIdleConnsPerHost: deliveryConcurrency, IdleConnTimeout: idleTimeout,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// subscriberName is part of the name of a queue and of a delivery.
var subscriberName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Check says everything that keeps subscribers from being delivered to.
func (d EgressPolicy) Check(subscribers []Subscriber) (problems []error) {
	seen := map[string]bool{}
	for i, s := range subscribers {
		wrong := func(format string, args ...any) {
			problems = append(problems, fmt.Errorf("subscriber %d (%q): "+format, append([]any{i + 1, s.Name}, args...)...))
		}
		if !subscriberName.MatchString(s.Name) || seen[s.Name] {
			wrong("name: small letters, digits and hyphens, at most 32, and of no other subscriber")
		}
		seen[s.Name] = true
		if problem := d.checkURL(s.URL); problem != "" {
			wrong("url: %s", problem)
		}
		if !s.secretsValid() {
			wrong("secret: whsec_ and the base64 of 24 to 64 random bytes, such as from: openssl rand -base64 32; at most two, with a comma between them")
		}
		for _, pattern := range s.Events {
			if _, err := path.Match(pattern, ""); err != nil || !slices.ContainsFunc(eventNames(), func(name string) bool { return Subscriber{Events: []string{pattern}}.wants(name) }) {
				wrong("events: no event is called %q; a pattern is such as contact.* or contact.updated", pattern)
			}
		}
	}
	return problems
}

// secretsValid tells whether each of a subscriber's secrets is one.
func (s Subscriber) secretsValid() bool {
	for _, secret := range s.secrets() {
		if key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_")); err != nil || len(key) < 24 || len(key) > 64 {
			return false
		}
	}
	return len(s.secrets()) <= maxSecrets
}

// checkURL says what is wrong with an address as it is written; where its name
// leads is seen at every delivery.
func (d EgressPolicy) checkURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return "an absolute address without user name and fragment"
	}
	ip, err := netip.ParseAddr(u.Hostname())
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !d.Loopback):
		return "https is needed"
	case err == nil && !d.Allows(ip):
		return ErrDestination.Error()
	case !d.Loopback && u.Port() != "" && u.Port() != "443" && u.Port() != "8443":
		return "the ports are 443 and 8443: what listens elsewhere is rarely a web server"
	}
	return ""
}

// eventNames lists the events of the club system's description.
func eventNames() []string {
	names := slices.Clone(flows.RelayOnlyEvents)
	for name := range flows.EventsAboutContacts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
