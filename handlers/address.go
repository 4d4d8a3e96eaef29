package handlers

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// ParseProxies reads the networks of proxies that are trusted to say whom they
// speak for: such as 10.0.0.0/8, or one address. An error names what cannot be one.
func ParseProxies(texts []string) ([]netip.Prefix, error) {
	var proxies []netip.Prefix
	for _, text := range texts {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if address, single := netip.ParseAddr(text); single == nil && address.Zone() == "" {
			prefix, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q is no network such as 10.0.0.0/8 or 2001:db8::/32, and no address", text)
		case prefix.Bits() == 0:
			return nil, fmt.Errorf("%q is every address there is: anybody could then pretend to be anybody", text)
		case prefix != prefix.Masked():
			return nil, fmt.Errorf("%q has bits beyond its length; did you mean %s?", text, prefix.Masked())
		}
		proxies = append(proxies, prefix)
	}
	return proxies, nil
}

// addressFrom says where a request comes from: the peer, unless that is a trusted
// proxy. Then it is the last address in X-Forwarded-For that is none; what stands
// to its left is anybody's word.
func addressFrom(proxies []netip.Prefix) echo.IPExtractor {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect() // echo's default believes whatever X-Forwarded-For says
	}
	options := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, proxy := range proxies {
		options = append(options, echo.TrustIPRange(&net.IPNet{IP: proxy.Addr().AsSlice(), Mask: net.CIDRMask(proxy.Bits(), proxy.Addr().BitLen())}))
	}
	return echo.ExtractIPFromXFFHeader(options...)
}

// noticeProxy warns once of a request that says whom it speaks for and is not
// believed: behind a proxy that nobody listed, all visitors are that proxy and share
// its limits. Any visitor can bring that one line about, so it names nobody.
func (s *Server) noticeProxy(r *http.Request) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	listed := func(proxy netip.Prefix) bool { return proxy.Contains(peer.Addr().Unmap()) }
	if r.Header.Get(echo.HeaderXForwardedFor) == "" || err == nil && slices.ContainsFunc(s.cfg.TrustedProxies, listed) {
		return
	}
	s.unlisted.Do(func() {
		s.cfg.Log.Warn("a request came with X-Forwarded-For from an address that is not in FRONTDESK_TRUSTED_PROXIES, and counts as that address's own: if it is your proxy, list it")
	})
}

// customerNetwork is what one customer of a provider has of IPv6 at least (RFC 6177):
// who may take any address in it is counted once.
const customerNetwork = 64

// addressOf names whose requests count together.
func (s *Server) addressOf(c echo.Context) string {
	address, err := netip.ParseAddr(c.RealIP())
	if err != nil {
		return "" // all that come from nowhere count as one
	}
	if address = address.Unmap().WithZone(""); address.Is4() {
		return address.String()
	}
	network, _ := address.Prefix(customerNetwork) // the length fits
	return network.String()
}
