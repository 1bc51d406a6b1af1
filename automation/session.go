package automation

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/pulumicli"
	"tombolo/automation/redacted"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// session is one stack, opened for operations.
type session struct {
	driver  *Driver
	cluster *config.Cluster
	kind    stacks.Kind
	name    string
	stack   auto.Stack
	command *pulumicli.Answers
	// observer is the driver's, or one that stands before it.
	observer Observer
	// onDifference, if not nil, is called when the engine is about to do
	// something else than to leave a resource as it is.
	onDifference func()
	// onStep, if not nil, is called with each step that the engine announces.
	onStep func(apitype.StepEventMetadata)
	// copied is the copy of the state that is worked on in place of it; nil when it is the state.
	copied *redacted.Copy
	// programErr is what the program itself returned, which the engine
	// reports only as text.
	programErr error
}

// setEnv adds to the environment of the operations to come.
func (s *session) setEnv(env map[string]string) {
	for name, value := range env {
		s.stack.Workspace().SetEnvVar(name, value)
	}
}

// open opens a stack, and creates it if it does not exist. exists spares the
// CLI a call when the caller knows that it does.
func (d *Driver) open(ctx context.Context, c *config.Cluster, k stacks.Kind, o catalog.Options, exists bool) (*session, error) {
	if !exists && k == stacks.Bootstrap {
		if err := d.pulumi.ShareSalt(stacks.Name(c.Name, stacks.Core), stacks.Name(c.Name, k)); err != nil {
			return nil, err
		}
	}
	return d.openAt(ctx, d.pulumi.Place(), c, k, o, exists)
}

// openAt is open for a stack in another place than the driver's own.
func (d *Driver) openAt(ctx context.Context, at pulumicli.Place, c *config.Cluster, k stacks.Kind, o catalog.Options, exists bool) (*session, error) {
	return d.openWith(ctx, at, c, k, o, exists, func(program pulumi.RunFunc) pulumi.RunFunc { return program })
}

// openWith is openAt with something around the program.
func (d *Driver) openWith(ctx context.Context, at pulumicli.Place, c *config.Cluster, k stacks.Kind, o catalog.Options, exists bool,
	around func(pulumi.RunFunc) pulumi.RunFunc,
) (*session, error) {
	o.Env, o.Backend = d.opts.Env, d.opts.BackendURL
	program, err := d.program(c, k, o)
	if err != nil {
		return nil, fmt.Errorf("program of stack %s: %w", stacks.Name(c.Name, k), err)
	}
	s := &session{driver: d, cluster: c, kind: k, name: stacks.Name(c.Name, k), observer: d.opts.Observer}
	s.stack, s.command, err = d.pulumi.Open(ctx, at.Using(d.providers(c)), s.name, s.watched(around(program)), exists, d.backend.EndCopies)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// watched keeps the program's own error. The program has a goroutine of its own: Pulumi puts
// the calls that lead to a resource into the state with it, and those of the Automation API
// would be more than half of them, and a quarter of a state.
func (s *session) watched(program pulumi.RunFunc) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		done := make(chan error, 1)
		go func() { done <- caught(ctx, program) }()
		s.programErr = <-done
		return s.programErr
	}
}

// caught runs a program, whose panic is an error.
func caught(ctx *pulumi.Context, program pulumi.RunFunc) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the program panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return program(ctx)
}

// stackNames are the names of a cluster's stacks, in the order they are made.
func stackNames(c *config.Cluster) []string {
	names := make([]string, 0, 2)
	for _, k := range stacks.Kinds() {
		names = append(names, stacks.Name(c.Name, k))
	}
	return names
}
