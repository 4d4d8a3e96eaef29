package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/labstack/echo/v4"
)

// ParseProxies parses the networks of trusted proxies, such as 10.0.0.0/8, or single addresses.
// An error names the text that is neither.
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

// trustedProxies are networks whose X-Forwarded-For is trusted.
type trustedProxies []netip.Prefix

func (p trustedProxies) trust(address netip.Addr) bool {
	for _, proxy := range p {
		if proxy.Contains(address) {
			return true
		}
	}
	return false
}

// peerAddr is who sent a request; not valid where it does not say so.
func peerAddr(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		alone, _ := netip.ParseAddr(r.RemoteAddr) // a server that is no network's
		return alone
	}
	return peer.Addr()
}

// clientAddr is the address of the client: the peer, unless the peer is a trusted proxy. Then
// it is the last address in X-Forwarded-For that is no trusted proxy; callers can forge all to its
// left. Text that is not an address ends the search, and the peer counts. The address is invalid
// where the peer has none.
//
// said reports that the request has the header, and believed that the header is trusted.
func (p trustedProxies) clientAddr(r *http.Request, peer netip.Addr) (address netip.Addr, said, believed bool) {
	list := r.Header[echo.HeaderXForwardedFor]
	said = len(list) > 0 && (len(list) > 1 || list[0] != "")
	if believed = said && p.trust(peer.Unmap()); !believed {
		return peer, said, false
	}
	words := list[0]
	if len(list) > 1 {
		words = strings.Join(list, ",")
	}
	return p.lastUntrusted(words, peer), true, true
}

// lastUntrusted is the last address of a list that is no trusted proxy's; where all are,
// the first one, which is the farthest away.
func (p trustedProxies) lastUntrusted(list string, peer netip.Addr) netip.Addr {
	for {
		rest, last := "", list
		comma := strings.LastIndexByte(list, ',')
		if comma >= 0 {
			rest, last = list[:comma], list[comma+1:]
		}
		last = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(last), "["), "]")
		address, err := netip.ParseAddr(last)
		switch {
		case err != nil:
			return peer
		case comma < 0 || !p.trust(address.Unmap()):
			return address
		}
		list = rest
	}
}

// realIP is the address of a request as a text, for Echo.
func (p trustedProxies) realIP(r *http.Request) string {
	address, _, _ := p.clientAddr(r, peerAddr(r))
	if !address.IsValid() {
		return r.RemoteAddr
	}
	return address.String()
}

// warnUnlistedProxy warns once of an untrusted X-Forwarded-For: behind a proxy that is not
// listed, all visitors share the proxy's limits. Any visitor can cause the warning, so that it
// names no address.
func (s *Server) warnUnlistedProxy(ctx context.Context) {
	s.proxyWarning.Do(func() {
		s.cfg.Log.WarnContext(ctx, "a request came with X-Forwarded-For from an address that is not in FRONTDESK_TRUSTED_PROXIES, and counts as that address's own: if it is your proxy, list it")
	})
}

// customerPrefix is the smallest IPv6 network of a provider's customer (RFC 6177), who may use
// any address in it and is counted once.
const customerPrefix = 64

// clientKey is the client whose requests count together: an IPv4 address, or the first address
// of an IPv6 network. Requests without an address share the zero key.
type clientKey [16]byte

// clientKey tells where a request comes from, for those who count.
func (s *Server) clientKey(r *http.Request) clientKey { return s.placeFrom(r, peerAddr(r)) }

// placeFrom is clientKey where the peer is known.
func (s *Server) placeFrom(r *http.Request, peer netip.Addr) clientKey {
	address, said, believed := s.proxies.clientAddr(r, peer)
	if said && !believed {
		s.warnUnlistedProxy(r.Context())
	}
	if address = address.Unmap(); address.Is6() {
		network, _ := address.WithZone("").Prefix(customerPrefix) // the length fits
		address = network.Addr()
	}
	return address.As16()
}

// String names it: an address, or a network; empty for nowhere.
func (p clientKey) String() string {
	address := netip.AddrFrom16(p)
	switch {
	case p == clientKey{}:
		return ""
	case address.Is4In6():
		return address.Unmap().String()
	}
	return netip.PrefixFrom(address, customerPrefix).String()
}
