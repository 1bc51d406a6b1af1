// Package preview shows what an up would do to a stack: one that exists or not, with the secrets or
// without, alone or ahead of an up that it may make superfluous.
package preview

import (
	"context"
	"maps"
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"

	"tombolo/automation/approved"
	"tombolo/automation/backend"
	"tombolo/automation/connect"
	"tombolo/automation/hubs"
	"tombolo/automation/operation"
	"tombolo/stacks/catalog"
)

// Previewer previews stacks. All fields are required.
type Previewer struct {
	Backend   *backend.Backend
	Runner    *operation.Runner
	Connector connect.Connector
	Hubs      hubs.Hubs
}

// Options of a preview of a stack.
type Options struct {
	// Refresh compares with the cloud, not only with the state.
	Refresh bool
	// States has the preview tell the states of resources, for a plan, and ShowSecrets the values
	// of secrets in them, for keyed digests.
	States, ShowSecrets bool
	// WithoutSecrets decrypts nothing: see automation.PreviewOptions.
	WithoutSecrets bool
}

// Preview is what a preview of a stack found.
type Preview struct {
	Result operation.StackResult
	// Outputs that the stack has.
	Outputs map[string]any
}

// NextOutputs are the outputs that an up would give the stack, without secrets; nil when they are
// those that it has.
func (p Preview) NextOutputs() map[string]any {
	next := p.Result.Events.RootOutputs
	if next == nil || reflect.DeepEqual(backend.Masked(p.Outputs), any(next)) {
		return nil
	}
	return withoutSecrets(next)
}

// Approved is what the preview has told, for a plan.
func (p Preview) Approved() approved.Preview {
	out := p.Result.Events.Preview
	out.OutputsDiffer = p.NextOutputs() != nil
	return out
}

func withoutSecrets(outputs map[string]any) map[string]any {
	out := maps.Clone(outputs)
	maps.DeleteFunc(out, func(_ string, v any) bool { return backend.HoldsSecret(v) })
	return out
}

// run previews a stack that was opened.
func (p Previewer) run(ctx context.Context, s *operation.Session, o Options, so catalog.Options) (operation.StackResult, error) {
	if so.Placeholders {
		what := "core has no outputs yet"
		if s.Cluster.HasHubFile() {
			what = "core, or that of hub " + s.Cluster.Hub() + ", has no outputs yet"
		}
		p.Runner.Note(s.Name, what+": what depends on them is shown as unknown")
	}
	result, err := o.Run(ctx, s)
	result.Placeholders = so.Placeholders
	return result, err
}

// Run previews a stack that was opened, of any program.
func (o Options) Run(ctx context.Context, s *operation.Session) (operation.StackResult, error) {
	s.Command.States, s.Command.ShowSecrets = o.States, o.ShowSecrets && !o.WithoutSecrets
	var more []optpreview.Option
	if o.Refresh && s.Copied == nil {
		more = append(more, optpreview.Refresh())
	}
	return document(ctx, s, more...)
}

// document runs the preview of a stack, with the document that the CLI writes of it.
func document(ctx context.Context, s *operation.Session, more ...optpreview.Option) (operation.StackResult, error) {
	var text string
	result, err := s.Run(ctx, "preview", func(ctx context.Context, ch chan<- events.EngineEvent) error {
		res, err := s.Stack.Preview(ctx, append(more, optpreview.EventStreams(ch), optpreview.SuppressProgress())...)
		text = res.StdOut
		return err
	})
	result.Events.Preview.Document = text
	return result, err
}
