package trace

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"tombolo/automation/backend"
	"tombolo/automation/pulumicli"
	"tombolo/automation/rollout"
	"tombolo/automation/value"
	"tombolo/config"
)

// Operation is one of the Pulumi engine's on a stack. A nil Operation does nothing.
type Operation struct {
	run *Run
	at  node

	mu sync.Mutex
	// resources that are worked on, and the last error of each, by URN. The engine works on
	// one step of a resource at a time.
	resources map[string]resourceSpan
	causes    map[string]string
}

type resourceSpan struct {
	node
	op     apitype.OpType
	custom bool
}

// Operation begins the span of an operation, such as up, on a cluster's stack.
func (r *Run) Operation(c *config.Cluster, stack, operation string) *Operation {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	under := r.cluster(c.Name)
	under.SetAttributes(described(c)...)
	kind := strings.TrimPrefix(stack, c.Name+"-")
	return &Operation{
		run: r, resources: map[string]resourceSpan{}, causes: map[string]string{},
		at: r.start(under.ctx, operation+" "+kind, attribute.String("pulumi.stack", stack), attribute.String("pulumi.operation", operation)),
	}
}

// described says where a cluster is. An account's number is no secret, and is in the cluster file.
func described(c *config.Cluster) []attribute.KeyValue {
	var out []attribute.KeyValue
	add := func(key attribute.Key, value string) {
		if value != "" {
			out = append(out, key.String(value))
		}
	}
	add(semconv.CloudProviderKey, string(c.Cloud.Provider))
	add(semconv.CloudRegionKey, c.Cloud.Region)
	add(semconv.CloudAccountIDKey, c.Cloud.Account)
	add(semconv.DeploymentEnvironmentNameKey, c.Environment)
	add("tombolo.engine", string(c.GitOps.Engine))
	return out
}

// Event takes an event of the operation. A resource that stays as it is has no span: a cluster has
// more than a hundred, and nothing is done for them.
func (o *Operation) Event(e events.EngineEvent) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case e.ResourcePreEvent != nil:
		o.begin(e.ResourcePreEvent.Metadata)
	case e.ResOutputsEvent != nil:
		o.finish(e.ResOutputsEvent.Metadata, nil)
	case e.ResOpFailedEvent != nil:
		m := e.ResOpFailedEvent.Metadata
		o.finish(m, errors.New(cmp.Or(o.causes[m.URN], string(m.Op)+" failed")))
	case e.DiagnosticEvent != nil && e.DiagnosticEvent.Severity == "error" && e.DiagnosticEvent.URN != "":
		if message := pulumicli.Message(e.DiagnosticEvent); message != "" {
			o.causes[e.DiagnosticEvent.URN] = message // the engine says why before it says that
		}
	}
}

func (o *Operation) begin(m apitype.StepEventMetadata) {
	if m.Op == apitype.OpSame || m.Op == apitype.OpRead || m.Type == backend.RootType {
		return
	}
	if before, ok := o.resources[m.URN]; ok {
		o.run.end(before.node, nil)
	}
	state := cmp.Or(m.New, m.Old)
	o.resources[m.URN] = resourceSpan{
		op: m.Op, custom: state != nil && state.Custom,
		node: o.run.start(o.at.ctx, string(m.Op)+" "+m.Type,
			attribute.String("pulumi.resource.urn", m.URN), attribute.String("pulumi.resource.type", m.Type),
			attribute.String("pulumi.resource.name", value.NameOf(m.URN)), attribute.String("pulumi.resource.op", string(m.Op))),
	}
}

func (o *Operation) finish(m apitype.StepEventMetadata, err error) {
	span, ok := o.resources[m.URN]
	if !ok {
		return
	}
	delete(o.resources, m.URN)
	if m.Op != span.op { // a refresh says at its end what it has found
		span.SetAttributes(attribute.String("pulumi.resource.result", string(m.Op)))
	}
	o.run.end(span.node, err)
}

// End ends the operation with the numbers of resources by what happened to them, and with what is
// still worked on: components, and in an operation that did not come to its end, anything. One that
// was cancelled has not failed: an up gives up previews that nobody needs any more.
func (o *Operation) End(changes map[string]int, err error) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if errors.Is(err, context.Canceled) {
		o.at.SetAttributes(outcome(rollout.Interrupted))
		err = nil
	}
	for _, urn := range slices.Sorted(maps.Keys(o.resources)) {
		var open error
		if span := o.resources[urn]; span.custom && err != nil {
			open = errors.New("the operation ended before the engine told of the resource's end")
		}
		o.run.end(o.resources[urn].node, open)
	}
	clear(o.resources)
	o.at.SetAttributes(counts(changes)...)
	o.run.end(o.at, err)
}
