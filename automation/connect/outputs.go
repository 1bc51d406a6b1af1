package connect

import (
	"context"
	"fmt"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/handoff"
)

// Output is one output of a stack.
type Output struct {
	// Value in plain text, secrets too.
	Value any
	// Secret says that the value must not be shown unasked.
	Secret bool
}

// Outputs returns what core hands off. It is a fault.Error when the
// cluster has no core yet.
func (r Connector) Outputs(ctx context.Context, c *config.Cluster) (handoff.Values, error) {
	outputs, err := r.StackOutputs(ctx, c, stacks.Core)
	if err != nil {
		return handoff.Values{}, err
	}
	plain := map[string]any{}
	for k, o := range outputs {
		plain[k] = o.Value
	}
	values, err := handoff.FromOutputs(plain)
	if err != nil {
		return handoff.Values{}, &fault.Error{
			What:   fmt.Sprintf("outputs of stack %s: %v", stacks.Name(c.Name, stacks.Core), err),
			Remedy: fmt.Sprintf("run `tombolo up %s` with this version of tombolo", c.Name),
			Err:    err,
		}
	}
	values.By = c.Cloud
	return values, nil
}

// StackOutputs returns all outputs of one of the cluster's stacks.
func (r Connector) StackOutputs(ctx context.Context, c *config.Cluster, k stacks.Kind) (map[string]Output, error) {
	stack := stacks.Name(c.Name, k)
	st, err := r.Backend.State(ctx, stack)
	if err != nil {
		return nil, err
	}
	if len(st.Outputs()) == 0 {
		return nil, &fault.Error{
			What:   fmt.Sprintf("stack %s has no outputs: it was not deployed yet", stack),
			Remedy: fmt.Sprintf("run `%s %s`", upCommand(k), c.Name),
		}
	}
	if backend.IsSpecial(st.Outputs()) {
		return r.decryptedOutputs(ctx, stack)
	}
	out := map[string]Output{}
	for key, v := range st.Outputs() {
		out[key] = Output{Value: v}
	}
	return out, nil
}

// upCommand makes a stack of the kind.
func upCommand(k stacks.Kind) string {
	if k == stacks.Pipelines {
		return "tombolo pipelines up"
	}
	return "tombolo up"
}

// decryptedOutputs asks the CLI, which can decrypt secrets.
func (r Connector) decryptedOutputs(ctx context.Context, stack string) (map[string]Output, error) {
	ws, err := r.CLI.Reading(ctx)
	if err != nil {
		return nil, err
	}
	outputs, err := ws.StackOutputs(ctx, stack)
	if err != nil {
		return nil, r.CLI.Failure(ctx, pulumicli.Failed{Stack: stack, Operation: "read the outputs of", Err: err})
	}
	out := make(map[string]Output, len(outputs))
	for key, v := range outputs {
		out[key] = Output{Value: v.Value, Secret: v.Secret}
	}
	return out, nil
}
