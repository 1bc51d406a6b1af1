package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
)

// The variables that are read here; the rest is read by the exporters and the SDK. Sources:
//   - https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
//   - https://opentelemetry.io/docs/specs/otel/protocol/exporter/
const (
	sdkDisabled    = "OTEL_SDK_DISABLED"
	tracesExporter = "OTEL_TRACES_EXPORTER"
	endpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	protocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	tracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
)

// environment reads a variable. An empty one counts as unset, as the specification has it.
type environment func(string) (string, bool)

func (e environment) get(name string) string {
	value, _ := e(name)
	return strings.TrimSpace(value)
}

// Wanted says whether the environment asks for a trace: by the endpoint of a collector, or by the
// exporter otlp, whose endpoint is then the specification's own, this machine. Unlike in the
// specification, nothing set is nothing sent: a command line is no service that is
// deployed beside its collector.
func Wanted(lookup func(string) (string, bool)) bool {
	env := environment(lookup)
	if strings.EqualFold(env.get(sdkDisabled), "true") { // 1 is no Boolean of the specification
		return false
	}
	switch exporter := env.get(tracesExporter); exporter {
	case "none":
		return false
	case "":
		return env.get(tracesEndpoint) != "" || env.get(endpoint) != ""
	default:
		return true
	}
}

// exporter makes the one that the environment asks for. It opens no connection. No error holds an
// address, which may have credentials.
func (e environment) exporter(ctx context.Context) (sdktrace.SpanExporter, error) {
	if name := e.get(tracesExporter); name != "" && name != "otlp" {
		return nil, fmt.Errorf("%s is %q; set it to otlp or none", tracesExporter, name)
	}
	for _, name := range []string{tracesEndpoint, endpoint} {
		if err := checkEndpoint(e.get(name)); err != nil {
			return nil, fmt.Errorf("%s %w", name, err)
		}
	}
	name := tracesProtocol
	if e.get(name) == "" {
		name = protocol
	}
	switch p := cmp.Or(e.get(name), "http/protobuf"); p {
	case "http/protobuf":
		return otlptracehttp.New(ctx)
	case "grpc":
		return otlptracegrpc.New(ctx)
	default:
		return nil, fmt.Errorf("%s is %q; set it to grpc or http/protobuf", name, p)
	}
}

// checkEndpoint refuses what an exporter would take for another address.
func checkEndpoint(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("is not the URL of a collector; write it like http://localhost:4318")
	}
	return nil
}

// parent is the span that a CI system has put this process under, in TRACEPARENT and TRACESTATE: a child
// process should take it from there when it starts. What is no trace context is as if it were not set.
// https://opentelemetry.io/docs/specs/otel/context/env-carriers/
func (e environment) parent(ctx context.Context) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{
		"traceparent": e.get("TRACEPARENT"), "tracestate": e.get("TRACESTATE"),
	})
}

// resourceOf is who reports: tombolo, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say
// another thing. Nothing of the machine or of the process is among it.
// The error says that not all of these could be read.
func resourceOf(ctx context.Context, version string) (*resource.Resource, error) {
	own := []attribute.KeyValue{semconv.ServiceName("tombolo")}
	if version != "" {
		own = append(own, semconv.ServiceVersion(version))
	}
	who, err := resource.New(ctx, resource.WithAttributes(own...), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return who, errors.New("OTEL_RESOURCE_ATTRIBUTES is not in the form key=value,key=value")
	}
	return who, nil
}
