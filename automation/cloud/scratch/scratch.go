// Package scratch runs programs that ask a cloud through its provider, on stacks that are
// thrown away: with the credentials that core has, and without anything that is kept.
package scratch

import (
	"context"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/pulumicli"
)

// Stack is a stack that is thrown away.
type Stack struct {
	auto.Stack

	pulumi *pulumicli.CLI
	about  pulumicli.Failed
}

// New makes a stack of a program; what it does for the cluster is named in errors, such as
// "look for leftovers of". done throws it away.
func New(ctx context.Context, cli *pulumicli.CLI, what, cluster string, program pulumi.RunFunc) (s *Stack, done func(), err error) {
	dir, err := os.MkdirTemp("", "tombolo-lookup-")
	if err != nil {
		return nil, nil, fmt.Errorf("make directory to %s %s: %w", what, cluster, err)
	}
	done = func() { os.RemoveAll(dir) }
	s = &Stack{pulumi: cli, about: pulumicli.Failed{Stack: cluster, Operation: what}}
	if s.Stack, err = cli.Scratch(ctx, dir, program); err != nil {
		done()
	}
	return s, done, err
}

// Ask runs a program that asks the cloud and makes nothing, in a preview.
func Ask(ctx context.Context, cli *pulumicli.CLI, what, cluster string, program pulumi.RunFunc) error {
	s, done, err := New(ctx, cli, what, cluster, program)
	if err != nil {
		return err
	}
	defer done()
	return s.Run(ctx, func(ch chan<- events.EngineEvent) error {
		_, err := s.Preview(ctx, optpreview.EventStreams(ch), optpreview.SuppressProgress())
		return err
	})
}

// Run runs an operation on the stack. Its failure is an error for people.
func (s *Stack) Run(ctx context.Context, call func(chan<- events.EngineEvent) error) error {
	rec := &pulumicli.Recorder{}
	err := pulumicli.Observed(rec.Record, call)
	if err == nil {
		return nil
	}
	f := s.about
	f.Err, f.Record = err, rec
	return s.pulumi.Failure(ctx, f)
}

// Failure is the error for people of a call of the SDK.
func (s *Stack) Failure(ctx context.Context, err error) error {
	f := s.about
	f.Err = err
	return s.pulumi.Failure(ctx, f)
}
