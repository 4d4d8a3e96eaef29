package handlers

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"frontdesk/flows"
)

// ParseProxies parses the networks of trusted proxies, such as 10.0.0.0/8, or single addresses.
// An error names the text that is neither.
func ParseProxies(texts []string) ([]netip.Prefix, error) {
	var proxies []netip.Prefix
	for _, text := range texts {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if address, single := netip.ParseAddr(text); single == nil && address.Zone() == "" {
			prefix, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q is neither a network such as 10.0.0.0/8 or 2001:db8::/32 nor an address", text)
		case prefix.Addr().Is4In6(): // the standard library would match IPv4 with what is left of the mask, perhaps all of it
			return nil, fmt.Errorf("%q is IPv4 in IPv6 notation: write it as IPv4, such as 10.0.0.0/8", text)
		case prefix.Bits() == 0:
			return nil, fmt.Errorf("%q covers every address, so any caller could forge its own", text)
		case prefix != prefix.Masked():
			return nil, fmt.Errorf("%q has bits beyond its length; did you mean %s?", text, prefix.Masked())
		}
		proxies = append(proxies, prefix)
	}
	return proxies, nil
}

// newIPExtractor returns the reader of the visitor's address: the last address in X-Forwarded-For
// that is not a trusted proxy's, or the peer.
func newIPExtractor(proxies []netip.Prefix) echo.IPExtractor {
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range proxies {
		trust = append(trust, echo.TrustIPRange(&net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}))
	}
	return echo.ExtractIPFromXFFHeader(trust...)
}

// ipv6Networks are the networks by which an IPv6 address is counted. A customer of a provider gets a
// /64, a /56 or a /48 (RFC 6177), so a caller may have 65,536 networks of 64 bits. But a /48 may also be
// a thousand phones: each wider network gets four times the limit of the narrower one.
var ipv6Networks = []struct{ bits, share int }{{64, 1}, {56, 4}, {48, 16}}

// clientNetworks returns by what a request is counted, the narrowest network first. Requests without
// an address share the empty one.
func (s *Server) clientNetworks(r *http.Request) []flows.ClientNetwork {
	s.checkProxy(r)
	address, err := netip.ParseAddr(s.router.IPExtractor(r))
	switch address = address.Unmap(); {
	case err != nil:
		return []flows.ClientNetwork{{Share: 1}}
	case address.Is4():
		return []flows.ClientNetwork{{Name: address.String(), Share: 1}}
	}
	networks := make([]flows.ClientNetwork, len(ipv6Networks))
	for i, n := range ipv6Networks {
		network, _ := address.WithZone("").Prefix(n.bits) // the length fits
		networks[i] = flows.ClientNetwork{Name: network.String(), Share: n.share}
	}
	return networks
}

// checkProxy warns once about an untrusted X-Forwarded-For: behind a proxy that is not listed, all
// visitors share the proxy's limits. The warning names no address, because any visitor can cause it.
func (s *Server) checkProxy(r *http.Request) {
	if strings.Join(r.Header[echo.HeaderXForwardedFor], "") == "" {
		return
	}
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	if slices.ContainsFunc(s.cfg.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(peer.Addr().Unmap()) }) {
		return
	}
	s.proxyWarning.Do(func() {
		s.cfg.Log.WarnContext(r.Context(), "X-Forwarded-For of an unlisted address ignored; list your proxies in FRONTDESK_TRUSTED_PROXIES")
	})
}
