package cmd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/net/http/httpguts"

	"frontdesk/flows/tracing"
	"frontdesk/handlers/ops"
	"frontdesk/upstream/collector"
)

const (
	// exportTimeout is for one attempt, and for all spans that are left at the end; a collector that needs longer is down.
	exportTimeout = 5 * time.Second
	// maxQueuedSpans is the number of spans that wait for a collector; each is about a
	// kilobyte. Further spans are dropped, so that no request waits for a collector.
	maxQueuedSpans = 4096
)

// telemetry is the gateway's metrics and traces. The log is in log.go.
type telemetry struct {
	metrics *ops.Metrics
	traces  trace.TracerProvider
	close   func() // exports the last spans
}

// newTelemetry returns the metrics, and traces that are exported if a collector is configured.
func (cfg Config) newTelemetry(ctx context.Context, log *slog.Logger) (*telemetry, error) {
	t := &telemetry{metrics: ops.NewMetrics(ops.MetricsConfig{Version: builtVersion(), Mode: cfg.Mode}), traces: tracing.IDOnlyProvider(), close: func() {}}
	if cfg.TracesURL == "" {
		return t, nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.WarnContext(ctx, "spans not exported", "error", err) }))
	client, err := cfg.newCollector()
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	// Every trace is sampled: the visitor's traceparent header must not decide that.
	provider := sdk.NewTracerProvider(sdk.WithSampler(sdk.AlwaysSample()), sdk.WithBatcher(exporter, sdk.WithMaxQueueSize(maxQueuedSpans)),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "frontdesk"), attribute.String("service.version", builtVersion()))))
	t.traces = provider
	t.close = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exportTimeout)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			log.WarnContext(ctx, "last spans lost", "error", err)
		}
	}
	return t, nil
}

func (cfg Config) newCollector() (*collector.Client, error) {
	trusted, err := cfg.collectorTLS()
	if err != nil {
		return nil, err
	}
	headers, err := cfg.collectorHeaders()
	return collector.New(collector.Config{
		URL: strings.TrimSuffix(cfg.TracesURL, "/") + "/v1/traces", Now: time.Now, Timeout: exportTimeout,
		Headers: headers, Gzip: cfg.TracesCompression == "gzip", TLS: trusted,
	}), err
}

// collectorHeaders reads headers in OpenTelemetry's form: name=value, percent-encoded.
func (cfg Config) collectorHeaders() (map[string]string, error) {
	headers := map[string]string{}
	for i, header := range cfg.TracesHeaders {
		name, value, ok := strings.Cut(header, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: header %d is not name=value", i+1)
		}
		headers[name] = value
	}
	return headers, nil
}

// collectorTLS reads the certificate files, if any.
func (cfg Config) collectorTLS() (*tls.Config, error) {
	trusted := &tls.Config{MinVersion: tls.VersionTLS12}
	if cfg.TracesCA != "" {
		text, err := os.ReadFile(cfg.TracesCA)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		trusted.RootCAs = x509.NewCertPool()
		if !trusted.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New("OTEL_EXPORTER_OTLP_CERTIFICATE: the file holds no certificate")
		}
	}
	if cfg.TracesCert != "" || cfg.TracesKey != "" {
		own, err := tls.LoadX509KeyPair(cfg.TracesCert, cfg.TracesKey)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY: %w", err)
		}
		trusted.Certificates = []tls.Certificate{own}
	}
	return trusted, nil
}
