// Package state has values in the state of stacks: outputs, and what a stack keeps for
// itself. It alone mentions Pulumi's types with values of any type: a package that does
// compiles 7,900 functions of Pulumi's own types, for seconds and to 23 MB.
package state

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

// Stack is a stack with outputs.
type Stack interface {
	// Output is an output, nil when the stack does not have it.
	Output(name string) pulumi.Output
	// Details waits for an output.
	Details(name string) (*pulumi.StackReferenceOutputDetails, error)
}

// Of is the stack with the whole name, such as organization/tombolo/demo-core.
func Of(ctx *pulumi.Context, name string) (Stack, error) {
	ref, err := pulumi.NewStackReference(ctx, name, nil)
	if err != nil {
		return nil, err
	}
	return stack{ref}, nil
}

type stack struct{ *pulumi.StackReference }

func (s stack) Output(name string) pulumi.Output { return s.GetOutput(pulumi.String(name)) }

func (s stack) Details(name string) (*pulumi.StackReferenceOutputDetails, error) {
	return s.GetOutputDetails(name)
}

// Keep has the engine keep a value as a resource, pulumi:index:Stash, until the stack is
// destroyed. The output is the value that the state has.
func Keep(ctx *pulumi.Context, name string, value pulumi.Input, opts ...pulumi.ResourceOption) (pulumi.Resource, pulumi.Output, error) {
	kept, err := pulumi.NewStash(ctx, name, &pulumi.StashArgs{Input: value}, opts...)
	if err != nil {
		return nil, nil, err
	}
	return kept, kept.Output, nil
}
