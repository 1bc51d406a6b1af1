package operation

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/pulumicli"
	"tombolo/automation/redacted"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// Session is one stack, opened for operations.
type Session struct {
	// Cluster and Kind of the stack, and its Name.
	Cluster *config.Cluster
	Kind    stacks.Kind
	Name    string
	// Stack is the SDK's, and Command what answers it in place of the CLI.
	Stack   auto.Stack
	Command *pulumicli.Answers
	// Observer is the runner's, or one that stands before it.
	Observer Observer
	// OnDifference, if not nil, is called when the engine is about to do
	// something else than to leave a resource as it is.
	OnDifference func()
	// OnStep, if not nil, is called with each step that the engine announces.
	OnStep func(apitype.StepEventMetadata)
	// Copied is the copy of the state that is worked on in place of it; nil when it is the state.
	Copied *redacted.Copy

	runner *Runner
	// inBackend is the name by which the backend knows the stack.
	inBackend string
	// programErr is what the program itself returned, which the engine
	// reports only as text.
	programErr error
}

// SetEnv adds to the environment of the operations to come.
func (s *Session) SetEnv(env map[string]string) {
	for name, value := range env {
		s.Stack.Workspace().SetEnvVar(name, value)
	}
}

// Open opens a stack, and creates it if it does not exist. exists spares the
// CLI a call when the caller knows that it does.
func (r *Runner) Open(ctx context.Context, c *config.Cluster, k stacks.Kind, o catalog.Options, exists bool) (*Session, error) {
	if !exists && k == stacks.Bootstrap {
		if err := r.CLI.ShareSalt(stacks.Name(c.Name, stacks.Core), stacks.Name(c.Name, k)); err != nil {
			return nil, err
		}
	}
	return r.OpenAt(ctx, r.CLI.Place(), c, k, o, exists, nil)
}

// OpenAt is Open for a stack in another place than the CLI's own. around, if not nil, goes around the program.
func (r *Runner) OpenAt(ctx context.Context, at pulumicli.Place, c *config.Cluster, k stacks.Kind, o catalog.Options, exists bool,
	around func(pulumi.RunFunc) pulumi.RunFunc,
) (*Session, error) {
	o.Env, o.Backend = r.Env, r.BackendURL
	program, err := r.Program(c, k, o)
	if err != nil {
		return nil, fmt.Errorf("program of stack %s: %w", stacks.Name(c.Name, k), err)
	}
	if around != nil {
		program = around(program)
	}
	name := stacks.Name(c.Name, k)
	s := &Session{runner: r, Cluster: c, Kind: k, Name: name, inBackend: name, Observer: r.Observer}
	s.Stack, s.Command, err = r.CLI.Open(ctx, at.Using(r.Plugins(c)), s.Name, s.watched(program), exists, r.Backend.EndCopies)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// OpenProgram opens the stack of a cluster of another program, which is in a directory of its own: in
// names the stack in the backend. It creates the stack if it does not exist.
func (r *Runner) OpenProgram(ctx context.Context, at pulumicli.Place, c *config.Cluster, k stacks.Kind, in string, exists bool) (*Session, error) {
	s := &Session{runner: r, Cluster: c, Kind: k, Name: stacks.Name(c.Name, k), inBackend: in, Observer: r.Observer}
	var err error
	made := func(string) error { return r.Backend.EndCopies(in) }
	if s.Stack, s.Command, err = r.CLI.Open(ctx, at, s.Name, nil, exists, made); err != nil {
		return nil, err
	}
	return s, nil
}

// Plugins are those that the stacks of a cluster use, by their names: its cloud's own, and that of
// Kubernetes. None stands for all.
func (r *Runner) Plugins(c *config.Cluster) []string {
	cloud := r.Cloud(c)
	if cloud == nil {
		return nil
	}
	names := []string{"kubernetes"}
	for _, p := range cloud.Plugins() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// watched keeps the program's own error. The program has a goroutine of its own: Pulumi puts
// the calls that lead to a resource into the state with it, and those of the Automation API
// would be more than half of them, and a quarter of a state.
func (s *Session) watched(program pulumi.RunFunc) pulumi.RunFunc {
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

// Outputs of the stack after an up, with secrets masked: what the engine told,
// else what the backend has.
func (s *Session) Outputs(ctx context.Context, up StackResult) (map[string]any, error) {
	if up.Events.RootOutputs != nil {
		return up.Events.RootOutputs, nil
	}
	s.Command.AsksOutputs = true
	found, err := s.Stack.Outputs(ctx)
	if err != nil {
		return nil, s.runner.CLI.Failure(ctx, pulumicli.Failed{Stack: s.Name, Operation: "read the outputs of", Err: err})
	}
	outputs := make(map[string]any, len(found))
	for key, o := range found {
		outputs[key] = o.Value
	}
	return outputs, nil
}
