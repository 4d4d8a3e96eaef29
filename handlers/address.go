package handlers

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// here returns a text with PublicURL replaced by the address under which the page of a request was opened. That address is used in
// mock mode alone, where nothing is real: in the other modes whoever sends a request could otherwise choose where buyers are sent.
func (s *Server) here(r *http.Request, text string) string {
	return strings.ReplaceAll(text, s.cfg.PublicURL, s.home(r))
}

// hereOf is here for the request of a context.
func (s *Server) hereOf(ctx context.Context, text string) string {
	return s.here(exchangeOf(ctx).request, text)
}

// hostName is what a Host header may be: a name or an address, and a port.
var hostName = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

// home returns where the browser of a request reaches Frontdesk. A development server on this machine forwards only some of the paths,
// so of the names of this machine the gateway's own port is kept.
func (s *Server) home(r *http.Request) string {
	if !s.cfg.AnyHost {
		return s.cfg.PublicURL
	}
	first := func(header string) string {
		value, _, _ := strings.Cut(r.Header.Get(header), ",")
		return strings.TrimSpace(value)
	}
	scheme, host := "http", r.Host
	if forwarded := first("X-Forwarded-Host"); forwarded != "" {
		host = forwarded
	}
	if first("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	if !hostName.MatchString(host) {
		return s.cfg.PublicURL
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if name := (&url.URL{Host: host}).Hostname(); isLoopback(name) && local != nil && isLoopback((&url.URL{Host: local.String()}).Hostname()) {
		public, err := url.Parse(s.cfg.PublicURL)
		if err != nil {
			return s.cfg.PublicURL
		}
		return "http://" + net.JoinHostPort(name, public.Port())
	}
	return scheme + "://" + host
}

func isLoopback(name string) bool { return name == "localhost" || net.ParseIP(name).IsLoopback() }

// isSecureContext reports whether browsers trust the connection to an address (W3C Secure Contexts, section 3.1).
func isSecureContext(address string) bool {
	at, err := url.Parse(address)
	return err == nil && (at.Scheme == "https" || isLoopback(at.Hostname()))
}
