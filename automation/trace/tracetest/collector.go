// Package tracetest is a collector of OpenTelemetry in a test: it takes traces by OTLP, over gRPC or
// HTTP, and shows them as a tree.
package tracetest

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"gotest.tools/v3/assert"
)

// Span is one that was received.
type Span struct {
	ID, Parent, Trace, Name string
	Start, End              time.Time
	// Attributes and Resource as texts.
	Attributes, Resource map[string]string
	// Failed says that its status is an error, with the message Error.
	Failed bool
	Error  string
}

// Collector keeps what it receives.
type Collector struct {
	collectorpb.UnimplementedTraceServiceServer
	// URL of its endpoint, and Protocol, as the variables of OTLP have them.
	URL, Protocol string

	mu      sync.Mutex
	spans   []Span
	headers []string
}

// NewHTTP starts a collector that takes protobuf over HTTP; it ends with the test.
func NewHTTP(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{Protocol: "http/protobuf"}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// NewGRPC starts a collector that takes gRPC; it ends with the test.
func NewGRPC(t testing.TB) *Collector {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	c := &Collector{Protocol: "grpc", URL: "http://" + listener.Addr().String()}
	server := grpc.NewServer()
	collectorpb.RegisterTraceServiceServer(server, c)
	go server.Serve(listener) //nolint:errcheck // it ends with the test
	t.Cleanup(server.Stop)
	return c
}

// Env are the variables by which a process sends its trace here.
func (c *Collector) Env() map[string]string {
	return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_EXPORTER_OTLP_PROTOCOL": c.Protocol}
}

// Setenv sets them for this process, until the end of the test.
func (c *Collector) Setenv(t *testing.T) {
	t.Helper()
	for name, value := range c.Env() {
		t.Setenv(name, value)
	}
}

// ServeHTTP takes spans as protobuf.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collectorpb.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(body, &request) != nil {
		http.Error(w, "no trace as protobuf", http.StatusBadRequest)
		return
	}
	c.take(&request, r.Header.Get("X-Key"))
	answer, _ := proto.Marshal(&collectorpb.ExportTraceServiceResponse{})
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(answer)
}

// Export takes spans by gRPC.
func (c *Collector) Export(ctx context.Context, request *collectorpb.ExportTraceServiceRequest) (*collectorpb.ExportTraceServiceResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	c.take(request, strings.Join(md.Get("x-key"), ""))
	return &collectorpb.ExportTraceServiceResponse{}, nil
}

func (c *Collector) take(request *collectorpb.ExportTraceServiceRequest, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers = append(c.headers, key)
	for _, from := range request.ResourceSpans {
		for _, scope := range from.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, Span{
					ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId), Trace: hex.EncodeToString(s.TraceId), Name: s.Name,
					Start: time.Unix(0, int64(s.StartTimeUnixNano)).UTC(), End: time.Unix(0, int64(s.EndTimeUnixNano)).UTC(),
					Attributes: texts(s.Attributes), Resource: texts(from.Resource.GetAttributes()),
					Failed: s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR, Error: s.GetStatus().GetMessage(),
				})
			}
		}
	}
}

func texts(attributes []*commonpb.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range attributes {
		if v, ok := a.Value.Value.(*commonpb.AnyValue_IntValue); ok {
			out[a.Key] = fmt.Sprint(v.IntValue)
		} else {
			out[a.Key] = a.Value.GetStringValue()
		}
	}
	return out
}

// Spans are those that were received, in the order of their beginnings.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.SortedStableFunc(slices.Values(c.spans), func(a, b Span) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.Name, b.Name))
	})
}

// Keys are the headers X-Key of the requests.
func (c *Collector) Keys() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.headers)
}

// Named are the spans with a name.
func (c *Collector) Named(name string) []Span {
	return slices.DeleteFunc(c.Spans(), func(s Span) bool { return s.Name != name })
}

// Tree shows the spans, each below its parent, by name: what runs in parallel has no order of its own.
// A failed one has its error. It is an error of the test when a span is not in its parent's time.
func (c *Collector) Tree(t testing.TB) string {
	t.Helper()
	all := c.Spans()
	known := map[string]Span{}
	for _, s := range all {
		known[s.ID] = s
	}
	var out strings.Builder
	var show func(parent, indent string)
	show = func(parent, indent string) {
		var below []Span
		for _, s := range all {
			if _, ok := known[s.Parent]; s.Parent == parent || parent == "" && !ok {
				below = append(below, s)
			}
		}
		slices.SortStableFunc(below, func(a, b Span) int {
			return strings.Compare(a.Name+a.Attributes["tombolo.wave"], b.Name+b.Attributes["tombolo.wave"])
		})
		for _, s := range below {
			out.WriteString(indent + s.Name)
			if wave, ok := s.Attributes["tombolo.wave"]; ok {
				out.WriteString(" " + wave)
			}
			if s.Failed {
				out.WriteString(" ! " + s.Error)
			}
			out.WriteString("\n")
			if p, ok := known[s.Parent]; ok && (s.Start.Before(p.Start) || s.End.After(p.End)) {
				t.Errorf("span %s, from %s to %s, is not in %s, from %s to %s", s.Name, s.Start, s.End, p.Name, p.Start, p.End)
			}
			if s.End.Before(s.Start) {
				t.Errorf("span %s ends before it starts", s.Name)
			}
			show(s.ID, indent+"  ")
		}
	}
	show("", "")
	return out.String()
}
