package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/flows"
	"frontdesk/handlers/metrics"
)

// This file puts together what operators see the gateway by: metrics and traces.
// The third, the log, is in log.go.

// The figures of traces.
const (
	// exportTime: a collector that needs longer for a batch is down.
	exportTime = 5 * time.Second
	// keptSpans wait for a collector at most; each is about a kilobyte. Those above
	// are dropped: nobody waits for a collector.
	keptSpans = 4096
)

// telemetry is what a gateway is seen by.
type telemetry struct {
	metrics *metrics.Metrics
	traces  trace.TracerProvider
	close   func() // hands over the last spans
}

// checkTraces: a collector stands in the operators' network, so http will do.
func (cfg Config) checkTraces(found *problems) {
	at, err := url.Parse(cfg.TracesURL)
	switch {
	case cfg.TracesURL == "":
	case err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https":
		found.add("OTEL_EXPORTER_OTLP_ENDPOINT", "is no address such as http://127.0.0.1:4318")
	case at.RawQuery != "" || at.Fragment != "":
		found.add("OTEL_EXPORTER_OTLP_ENDPOINT", "has a ? or a #: it has to end before, /v1/traces is added to it")
	}
}

func (cfg Config) newTelemetry(ctx context.Context, log *slog.Logger) (*telemetry, error) {
	seen := &telemetry{metrics: metrics.New(metrics.Config{Version: builtVersion(), Mode: cfg.Mode}), traces: flows.UnkeptTraces(), close: func() {}}
	if cfg.TracesURL == "" {
		return seen, nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("spans not handed over", "error", err) }))
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(strings.TrimSuffix(cfg.TracesURL, "/")+"/v1/traces"), otlptracehttp.WithTimeout(exportTime))
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	// Whether a trace is kept is not for the visitor's header to say: every one is.
	kept := sdk.NewTracerProvider(sdk.WithSampler(sdk.AlwaysSample()), sdk.WithBatcher(exporter, sdk.WithMaxQueueSize(keptSpans)),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "frontdesk"), attribute.String("service.version", builtVersion()))))
	seen.traces = kept
	seen.close = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exportTime)
		defer cancel()
		if err := kept.Shutdown(ctx); err != nil {
			log.Warn("the last spans are lost", "error", err)
		}
	}
	return seen, nil
}
