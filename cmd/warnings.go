package cmd

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
)

// This file tells operators of what they may not have meant.

// warn logs what is configured, allowed in the mode, and perhaps not what was meant.
func (cfg Config) warn(log *slog.Logger) {
	if cfg.Mode == "mock" && cfg.RedisURL != "" {
		log.Warn("FRONTDESK_REDIS_URL is not used: mock mode has a Redis of its own; FRONTDESK_MODE=test uses yours")
	}
	host, _, err := net.SplitHostPort(cfg.OpsAddr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && !ip.IsLoopback()) {
		log.Warn("FRONTDESK_OPS_ADDR may be reached from other machines, and nobody is asked for a password there", "address", cfg.OpsAddr)
	}
}

// validateAddressForms holds addresses of browsers to their form where they need not be
// https: one without a scheme would be met only in links and answers that lead nowhere.
func (cfg Config) validateAddressForms(found *problems) {
	if cfg.PublicURL != "" && webAddress(cfg.PublicURL) == nil {
		found.add("FRONTDESK_PUBLIC_URL", "is no address: it has to be http:// or https:// and a host")
	}
	for _, origin := range cfg.AllowedOrigins {
		u := webAddress(origin)
		if origin != "*" && (u == nil || origin != u.Scheme+"://"+strings.ToLower(u.Host)) {
			found.add("FRONTDESK_ALLOWED_ORIGINS", "has %q, which is no origin: it has to be http:// or https:// and a host in lower case, without a path or a slash at the end", origin)
		}
	}
}

// webAddress parses an http or https address with a host; nil: it is none.
func webAddress(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil
	}
	return u
}

// operatorName is who works here where USER is not set, as in containers: the
// system's name for the user, or its number.
func operatorName() string {
	if who, err := user.Current(); err == nil && who.Username != "" {
		return who.Username
	}
	return "uid-" + strconv.Itoa(os.Getuid())
}

// warnOfUnknown tells of variables that look like ours and are none, such as slips of the keyboard.
func warnOfUnknown(w io.Writer, known, environment []string) {
	for _, line := range environment {
		name, _, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, "FRONTDESK_") || slices.Contains(known, strings.TrimSuffix(name, "_FILE")) {
			continue
		}
		nearest := slices.MinFunc(known, func(a, b string) int { return distance(name, a) - distance(name, b) })
		fmt.Fprintf(w, "frontdesk: warning: %s is not known, and not used; did you mean %s?\n", name, nearest)
	}
}

// distance is how many characters have to be put in, left out or changed to make b of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := corner
			if a[i] != b[j] {
				replaced++
			}
			corner = row[j+1]
			row[j+1] = min(replaced, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}
