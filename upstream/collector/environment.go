package collector

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// The OpenTelemetry specification names the variables: one for traces alone, which wins, and one for all signals.
const (
	forTraces = "OTEL_EXPORTER_OTLP_TRACES_"
	forAll    = "OTEL_EXPORTER_OTLP_"
	endpoint  = forAll + "ENDPOINT" // without one for traces alone
)

// The ends of the names of the other variables.
const (
	headers           = "HEADERS"
	compression       = "COMPRESSION"
	certificate       = "CERTIFICATE"
	clientCertificate = "CLIENT_CERTIFICATE"
	clientKey         = "CLIENT_KEY"
)

// Variables lists the variables that ReadConfig reads. Each but the first one has a variant for traces
// alone, with TRACES_ before the last part of its name.
func Variables() []string {
	return []string{
		endpoint, forAll + headers, forAll + compression, forAll + certificate, forAll + clientCertificate, forAll + clientKey,
	}
}

// Lookup reads a variable. from is where the text is from: the variable, or one that names a file. An empty text
// means that the variable is not set.
type Lookup func(variable string) (text, from string, err error)

// ReadConfig returns what the variables say: URL, Headers, Gzip and TLS. It returns nil if they name no collector,
// whatever the others say. The error has a line for each problem and repeats no value.
func ReadConfig(lookup Lookup) (*Config, error) {
	base, _, err := lookup(endpoint)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", endpoint, err)
	case base == "":
		return nil, nil
	}
	reader := &reader{lookup: lookup}
	reader.checkEndpoint(base)
	cfg := &Config{URL: strings.TrimSuffix(base, "/") + "/v1/traces"}
	cfg.Headers = reader.headers()
	cfg.Gzip = reader.isGzip()
	cfg.TLS = reader.tls()
	return cfg, reader.problems
}

// reader collects the problems of the variables that it reads.
type reader struct {
	lookup   Lookup
	problems error
}

func (r *reader) refuse(format string, args ...any) {
	r.problems = errors.Join(r.problems, fmt.Errorf(format, args...))
}

// read returns the text of a variable, for traces alone or else for all signals, and the variable's name.
func (r *reader) read(name string) (text, variable string) {
	for _, variable := range []string{forTraces + name, forAll + name} {
		text, _, err := r.lookup(variable)
		if err != nil {
			r.refuse("%s: %w", variable, err)
		}
		if text != "" {
			return text, variable
		}
	}
	return "", forAll + name
}

// checkEndpoint refuses what is not an address. The collector is in the operators' network, so http is allowed.
func (r *reader) checkEndpoint(base string) {
	address, err := url.Parse(base)
	switch {
	case err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "":
		r.refuse("%s is not an address such as http://127.0.0.1:4318", endpoint)
	case address.RawQuery != "" || address.Fragment != "":
		r.refuse("%s has a ? or a #: it must end before them, because /v1/traces is appended", endpoint)
	}
}

// headers reads headers in OpenTelemetry's form: name=value, percent-encoded, separated by commas.
func (r *reader) headers() map[string]string {
	text, variable := r.read(headers)
	if text == "" {
		return nil
	}
	values := map[string]string{}
	for i, header := range strings.Split(strings.TrimSuffix(text, ","), ",") {
		name, value, found := strings.Cut(header, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || err != nil || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			r.refuse("%s: header %d is not name=value", variable, i+1)
		}
		values[name] = value
	}
	return values
}

func (r *reader) isGzip() bool {
	text, variable := r.read(compression)
	if text != "" && text != "gzip" && text != "none" {
		r.refuse("%s must be gzip or none", variable)
	}
	return text == "gzip"
}

// tls reads the files with certificates, if any.
func (r *reader) tls() *tls.Config {
	trusted := &tls.Config{MinVersion: tls.VersionTLS12}
	if file, variable := r.read(certificate); file != "" {
		text, err := os.ReadFile(file) // #nosec G304 G703 -- the operator, who starts the program, names it
		trusted.RootCAs = x509.NewCertPool()
		switch {
		case err != nil:
			r.refuse("%s: %w", variable, err)
		case !trusted.RootCAs.AppendCertsFromPEM(text):
			r.refuse("%s: the file holds no certificate", variable)
		}
	}
	file, _ := r.read(clientCertificate)
	key, _ := r.read(clientKey)
	if file != "" || key != "" {
		own, err := tls.LoadX509KeyPair(file, key)
		if err != nil {
			r.refuse("%s and %s: %w", forAll+clientCertificate, forAll+clientKey, err)
		}
		trusted.Certificates = []tls.Certificate{own}
	}
	return trusted
}
