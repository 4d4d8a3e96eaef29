package cmd

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

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
	metrics *ops.Metrics // see withMetrics
	traces  trace.TracerProvider
	close   func() // exports the last spans
}

// withMetrics returns the traces with the metrics of one gateway.
func (cfg Config) withMetrics(seen *telemetry) *telemetry {
	own := *seen
	own.metrics = ops.NewMetrics(ops.MetricsConfig{Version: builtVersion(), Mode: cfg.Mode})
	return &own
}

// newTelemetry returns traces that are exported if a collector is configured.
func (cfg Config) newTelemetry(ctx context.Context, log *slog.Logger) (*telemetry, error) {
	signals := &telemetry{traces: tracing.IDOnlyProvider(), close: func() {}}
	export, err := collector.ReadConfig(lookup)
	if err != nil || export == nil {
		return signals, err
	}
	export.Now, export.Timeout = time.Now, exportTimeout
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.WarnContext(ctx, "spans not exported", "error", err) }))
	exporter, err := otlptrace.New(ctx, collector.New(*export))
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	provider := sdk.NewTracerProvider(
		sdk.WithSampler(sdk.AlwaysSample()), // else a visitor's traceparent header would decide which traces are exported
		sdk.WithBatcher(exporter, sdk.WithMaxQueueSize(maxQueuedSpans)),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "frontdesk"), attribute.String("service.version", builtVersion()),
		)),
	)
	signals.traces = provider
	signals.close = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exportTimeout)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			log.WarnContext(ctx, "last spans lost", "error", err)
		}
	}
	return signals, nil
}
