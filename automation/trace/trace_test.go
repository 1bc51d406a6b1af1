package trace

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/rollout"
	"tombolo/automation/trace/tracetest"
	"tombolo/config"
)

// clock goes on by a second each time it is read.
func clock() func() time.Time {
	var mu sync.Mutex
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}

func start(t *testing.T, o Options) *Run {
	t.Helper()
	o.Lookup, o.Now = os.LookupEnv, clock()
	if o.Command == "" {
		o.Command = "up"
	}
	r, err := Start(t.Context(), o)
	assert.NilError(t, err)
	return r
}

func demo(name string) *config.Cluster {
	return &config.Cluster{
		Name: name, Environment: "dev", Cloud: config.Cloud{Provider: config.AWS, Region: "eu-central-1", Account: "111122223333"},
		GitOps: config.GitOps{Engine: config.Flux},
	}
}

const eksURN = "urn:pulumi:demo-core::tombolo::tombolo:eks:Cluster$aws:eks/cluster:Cluster::demo"

func metadata(op apitype.OpType, urn, kind string, custom bool) apitype.StepEventMetadata {
	return apitype.StepEventMetadata{Op: op, URN: urn, Type: kind, New: &apitype.StepEventStateMetadata{
		Type: kind, URN: urn, Custom: custom, Inputs: map[string]any{"password": "hunter2"}, Outputs: map[string]any{"token": "hunter2"},
	}}
}

func begins(m apitype.StepEventMetadata) events.EngineEvent {
	return events.EngineEvent{EngineEvent: apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: m}}}
}

func ends(m apitype.StepEventMetadata) events.EngineEvent {
	return events.EngineEvent{EngineEvent: apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: m}}}
}

func fails(m apitype.StepEventMetadata, why string) []events.EngineEvent {
	return []events.EngineEvent{
		{EngineEvent: apitype.EngineEvent{DiagnosticEvent: &apitype.DiagnosticEvent{URN: m.URN, Severity: "error", Message: "<{%fg 1%}>error: <{%reset%}>" + why + "\n"}}},
		{EngineEvent: apitype.EngineEvent{ResOpFailedEvent: &apitype.ResOpFailedEvent{Metadata: m}}},
	}
}

// TestTree: a trace of an up of one cluster, over both protocols, with what each span says.
func TestTree(t *testing.T) {
	for _, start := range []func(testing.TB) *tracetest.Collector{tracetest.NewGRPC, tracetest.NewHTTP} {
		c := start(t)
		t.Run(c.Protocol, func(t *testing.T) { testTree(t, c) })
	}
}

func testTree(t *testing.T, c *tracetest.Collector) {
	c.Setenv(t)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=k1")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "team=platform")
	r := start(t, Options{Version: "v1.2.3", Pipeline: "deploy", PipelineRun: "7", PipelineURL: "https://ci.example.com/7"})
	r.RunStarted(rollout.Plan{Operation: "up", Waves: true, Clusters: []rollout.Job{{Cluster: "demo", Wave: 3}}})
	r.ClusterStarted("demo")
	o := r.Operation(demo("demo"), "demo-core", "up")
	component := metadata(apitype.OpCreate, "urn:pulumi:demo-core::tombolo::tombolo:eks:Cluster::demo", "tombolo:eks:Cluster", false)
	cluster := metadata(apitype.OpCreate, eksURN, "aws:eks/cluster:Cluster", true)
	o.Event(begins(metadata(apitype.OpCreate, "urn:pulumi:demo-core::tombolo::pulumi:pulumi:Stack::tombolo-demo-core", "pulumi:pulumi:Stack", false)))
	o.Event(begins(metadata(apitype.OpSame, "urn:pulumi:demo-core::tombolo::aws:ec2/vpc:Vpc::demo", "aws:ec2/vpc:Vpc", true)))
	o.Event(begins(component))
	o.Event(begins(cluster))
	o.Event(ends(cluster))
	o.End(map[string]int{"create": 2, "same": 1}, nil)
	r.ClusterFinished(rollout.End{Cluster: "demo", Wave: 3, Outcome: rollout.Succeeded, Changes: map[string]int{"create": 2}})
	r.RunFinished(rollout.Summary{Clusters: []rollout.End{{Cluster: "demo", Outcome: rollout.Succeeded}}})
	assert.NilError(t, r.End(End{}))

	assert.Equal(t, c.Tree(t), `tombolo up
  cluster demo
    up core
      create aws:eks/cluster:Cluster
      create tombolo:eks:Cluster
`)
	eks := c.Named("create aws:eks/cluster:Cluster")[0]
	assert.DeepEqual(t, eks.Attributes, map[string]string{
		"pulumi.resource.urn": eksURN, "pulumi.resource.type": "aws:eks/cluster:Cluster", "pulumi.resource.name": "demo", "pulumi.resource.op": "create",
	})
	assert.Equal(t, eks.End.Sub(eks.Start), time.Second, "the times are those of the engine's events")
	assert.DeepEqual(t, c.Named("up core")[0].Attributes, map[string]string{
		"pulumi.stack": "demo-core", "pulumi.operation": "up", "tombolo.changes.create": "2", "tombolo.changes.same": "1",
	})
	assert.DeepEqual(t, c.Named("cluster demo")[0].Attributes, map[string]string{
		"k8s.cluster.name": "demo", "cloud.provider": "aws", "cloud.region": "eu-central-1", "cloud.account.id": "111122223333",
		"deployment.environment.name": "dev", "tombolo.engine": "flux", "tombolo.outcome": "succeeded", "tombolo.changes.create": "2",
	})
	root := c.Named("tombolo up")[0]
	for key, want := range map[string]string{
		"tombolo.command": "up", "tombolo.clusters": "1", "tombolo.clusters.succeeded": "1", "tombolo.clusters.not_started": "0", "process.exit.code": "0",
		"cicd.pipeline.name": "deploy", "cicd.pipeline.run.id": "7", "cicd.pipeline.run.url.full": "https://ci.example.com/7",
	} {
		assert.Check(t, is.Equal(root.Attributes[key], want), key)
	}
	for key, want := range map[string]string{"service.name": "tombolo", "service.version": "v1.2.3", "team": "platform"} {
		assert.Check(t, is.Equal(root.Resource[key], want), key)
	}
	assert.Check(t, is.Contains(c.Keys(), "k1"))
	for _, s := range c.Spans() {
		assert.Check(t, !strings.Contains(fmt.Sprint(s), "hunter2"), "%v", s)
	}
}

// TestFailures: a resource that fails, one whose end is not told, and an error of the command.
func TestFailures(t *testing.T) {
	c := tracetest.NewHTTP(t)
	c.Setenv(t)
	r := start(t, Options{Command: "rebuild"})
	o := r.Operation(demo("demo"), "demo-core", "up")
	subnet := metadata(apitype.OpUpdate, "urn:pulumi:demo-core::tombolo::aws:ec2/subnet:Subnet::a", "aws:ec2/subnet:Subnet", true)
	cluster := metadata(apitype.OpCreate, eksURN, "aws:eks/cluster:Cluster", true)
	o.Event(begins(subnet))
	o.Event(begins(cluster))
	for _, e := range fails(cluster, "creating EKS Cluster: no quota, see https://ada:hunter2@host/x\nand a log of many lines") {
		o.Event(e)
	}
	err := errors.New("up demo-core: no quota; ask for more\nand a log")
	o.End(nil, err)
	spare := r.Operation(demo("demo"), "demo-bootstrap", "preview")
	spare.Event(begins(subnet))
	spare.End(nil, fmt.Errorf("preview: %w", context.Canceled))
	assert.NilError(t, r.End(End{Err: err, Class: "deployment", Code: 5}))
	assert.Equal(t, c.Tree(t), `tombolo rebuild ! up demo-core: no quota; ask for more
  cluster demo
    preview bootstrap
      update aws:ec2/subnet:Subnet
    up core ! up demo-core: no quota; ask for more
      create aws:eks/cluster:Cluster ! creating EKS Cluster: no quota, see https://ada:xxxxx@host/x
      update aws:ec2/subnet:Subnet ! the operation ended before the engine told of the resource's end
`)
	root := c.Named("tombolo rebuild")[0]
	assert.Equal(t, root.Attributes["error.type"]+" "+root.Attributes["process.exit.code"]+" "+root.Attributes["tombolo.clusters"], "deployment 5 1")
	assert.Equal(t, c.Named("preview bootstrap")[0].Attributes["tombolo.outcome"], "interrupted")
}

// TestWaves: of clusters that go in waves, with the gate between, and of a run that only looks.
func TestWaves(t *testing.T) {
	c := tracetest.NewGRPC(t)
	c.Setenv(t)
	r := start(t, Options{})
	jobs := []rollout.Job{{Cluster: "canary", Wave: 0}, {Cluster: "east", Wave: 1}, {Cluster: "west", Wave: 1}, {Cluster: "last", Wave: 2}}
	work := func(_ context.Context, name string) (rollout.Work, error) {
		if name == "west" {
			return rollout.Work{Phase: "core"}, errors.New("no quota")
		}
		r.Operation(demo(name), name+"-core", "up").End(nil, nil)
		return rollout.Work{Phase: "core", Changes: map[string]int{"create": 2}}, nil
	}
	look := rollout.Runner{Operation: "preview", Work: work, Observer: r}
	_, err := look.Run(t.Context(), jobs[:2])
	assert.NilError(t, err)
	gate := func(context.Context, int, []string) error { return nil }
	up := rollout.Runner{Operation: "up", Waves: true, Parallel: 2, Work: work, Gate: gate, Observer: r}
	summary, err := up.Run(t.Context(), jobs)
	assert.NilError(t, err)
	assert.NilError(t, r.End(End{Err: summary.Err(), Class: "unexpected", Code: 1}))
	assert.Equal(t, c.Tree(t), `tombolo up ! up: 2 of 4 clusters succeeded, 1 failed, 1 skipped; first cause: no quota
  cluster canary
    up core
  cluster east
    up core
  wave 0
    cluster canary
      up core
    gate 0
  wave 1 ! no quota
    cluster east
      up core
    cluster west ! no quota
`)
	root := c.Named("tombolo up")[0]
	assert.Equal(t, root.Attributes["tombolo.clusters"]+root.Attributes["tombolo.clusters.failed"]+root.Attributes["tombolo.clusters.skipped"], "411")
}

// TestARefreshSaysWhatItFound at the end of a resource.
func TestARefreshSaysWhatItFound(t *testing.T) {
	c := tracetest.NewHTTP(t)
	c.Setenv(t)
	r := start(t, Options{Command: "drift"})
	o := r.Operation(demo("demo"), "demo-core", "preview refresh")
	o.Event(begins(metadata(apitype.OpRefresh, eksURN, "aws:eks/cluster:Cluster", true)))
	o.Event(ends(metadata(apitype.OpUpdate, eksURN, "aws:eks/cluster:Cluster", true)))
	o.End(nil, nil)
	assert.NilError(t, r.End(End{}))
	assert.Equal(t, c.Named("refresh aws:eks/cluster:Cluster")[0].Attributes["pulumi.resource.result"], "update")
}

// TestParent: a CI system puts the run below a span of its own.
func TestParent(t *testing.T) {
	c := tracetest.NewHTTP(t)
	c.Setenv(t)
	t.Setenv("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	assert.NilError(t, start(t, Options{}).End(End{}))
	root := c.Named("tombolo up")[0]
	assert.Equal(t, root.Trace+" "+root.Parent, "4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7")
	t.Setenv("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00") // not sampled
	assert.NilError(t, start(t, Options{}).End(End{}))
	assert.Equal(t, len(c.Spans()), 1)
	t.Setenv("TRACEPARENT", "none of ours")
	assert.NilError(t, start(t, Options{Command: "destroy"}).End(End{}))
	assert.Equal(t, c.Named("tombolo destroy")[0].Parent, "")
}

func TestWanted(t *testing.T) {
	for _, test := range []struct {
		env  string
		want bool
	}{
		{"", false},
		{"TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 OTEL_SERVICE_NAME=x OTEL_EXPORTER_OTLP_PROTOCOL=grpc", false},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", true},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c:4318/v1/traces", true},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://c:4318/v1/metrics", false},
		{"OTEL_TRACES_EXPORTER=otlp", true},
		{"OTEL_TRACES_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", false},
		{"OTEL_SDK_DISABLED=true OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", false},
		{"OTEL_SDK_DISABLED=True OTEL_TRACES_EXPORTER=otlp", false},
		{"OTEL_SDK_DISABLED=1 OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", true}, // the specification knows true alone
		{"OTEL_SDK_DISABLED=false OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", true},
	} {
		assert.Check(t, is.Equal(Wanted(lookup(test.env)), test.want), test.env)
	}
}

// lookup reads NAME=value of a text.
func lookup(env string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, field := range strings.Fields(env) {
			if value, ok := strings.CutPrefix(field, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
}

// TestRefused: what cannot be is refused with its variable, and never with an address.
func TestRefused(t *testing.T) {
	for env, want := range map[string]string{
		"OTEL_TRACES_EXPORTER=console": `OTEL_TRACES_EXPORTER is "console"; set it to otlp or none`,
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_EXPORTER_OTLP_PROTOCOL=http/json":     `OTEL_EXPORTER_OTLP_PROTOCOL is "http/json"; set it to grpc or http/protobuf`,
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=thrift": `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is "thrift"; set it to grpc or http/protobuf`,
		"OTEL_EXPORTER_OTLP_ENDPOINT=hunter2:4317":                                       "OTEL_EXPORTER_OTLP_ENDPOINT is not the URL of a collector; write it like http://localhost:4318",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://%zz/hunter2":                          "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is not the URL of a collector; write it like http://localhost:4318",
	} {
		_, err := Start(t.Context(), Options{Lookup: lookup(env), Command: "up"})
		assert.Error(t, err, "no trace is made: "+want)
	}
}

// TestACollectorThatFails is one line at the end, without its address, its headers and its page.
func TestACollectorThatFails(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "who is "+r.Header.Get("X-Key"), http.StatusUnauthorized)
	}))
	defer refuses.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", strings.Replace(refuses.URL, "http://", "http://ada:hunter2@", 1)+"/hunter2")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=hunter2")
	r := start(t, Options{})
	r.Operation(demo("demo"), "demo-core", "up").End(nil, nil)
	assert.Error(t, r.End(End{}), "the trace is not complete: traces export: failed to send to "+refuses.URL+": 401 Unauthorized")
}

// TestAttributesThatAreNone are told of, without them, and the trace is made.
func TestAttributesThatAreNone(t *testing.T) {
	c := tracetest.NewHTTP(t)
	c.Setenv(t)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "hunter2")
	assert.Error(t, start(t, Options{}).End(End{}), "the trace is not complete: OTEL_RESOURCE_ATTRIBUTES is not in the form key=value,key=value")
	assert.Equal(t, c.Tree(t), "tombolo up\n")
	assert.Equal(t, c.Spans()[0].Resource["service.name"], "tombolo")
}

// TestACollectorThatHangs does not hold up the end.
func TestACollectorThatHangs(t *testing.T) {
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hangs.Close()
	defer close(release)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", hangs.URL)
	r := start(t, Options{FlushTimeout: 50 * time.Millisecond})
	assert.Error(t, r.End(End{}), "the trace is not complete: the collector did not answer in time")
}

// TestNoTrace: a nil Run is that of most commands.
func TestNoTrace(t *testing.T) {
	var r *Run
	r.RunStarted(rollout.Plan{})
	r.ClusterStarted("demo")
	o := r.Operation(demo("demo"), "demo-core", "up")
	o.Event(events.EngineEvent{})
	o.End(nil, nil)
	r.ClusterFinished(rollout.End{})
	r.GateStarted(0, nil)
	r.GateFinished(rollout.GateEnd{})
	r.RunFinished(rollout.Summary{})
	assert.NilError(t, r.End(End{}))
}
