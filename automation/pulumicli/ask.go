package pulumicli

import (
	"context"
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// LoggedIn is the URL of the backend that the CLI uses.
func (p *CLI) LoggedIn(ctx context.Context) (string, error) {
	ws, err := p.Reading(ctx)
	if err != nil {
		return "", err
	}
	who, err := ws.WhoAmIDetails(ctx)
	if err != nil {
		return "", p.Failure(ctx, Failed{Stack: "the stacks", Operation: "find the backend of", Err: err})
	}
	return who.URL, nil
}

// Stacks lists the stacks of the backend.
func (p *CLI) Stacks(ctx context.Context) ([]auto.StackSummary, error) {
	ws, err := p.Reading(ctx)
	if err != nil {
		return nil, err
	}
	all, err := ws.ListStacks(ctx)
	if err != nil {
		return nil, p.Failure(ctx, Failed{Stack: "the stacks", Operation: "list", Err: err})
	}
	return all, nil
}

// Export returns the state of a stack, and whether the stack exists.
func (p *CLI) Export(ctx context.Context, stack string) (raw apitype.UntypedDeployment, found bool, err error) {
	ws, err := p.Reading(ctx)
	if err != nil {
		return raw, false, err
	}
	raw, err = ws.ExportStack(ctx, stack)
	if auto.IsSelectStack404Error(err) {
		return raw, false, nil
	}
	if err != nil {
		return raw, false, p.Failure(ctx, Failed{Stack: stack, Operation: "read the state of", Err: err})
	}
	return raw, true, nil
}

// Manage runs the CLI outside the SDK, and returns what it wrote about errors.
func (p *CLI) Manage(ctx context.Context, stack, operation string, args ...string) (string, error) {
	ws, err := p.Reading(ctx)
	if err != nil {
		return "", err
	}
	_, stderr, _, err := ws.PulumiCommand().Run(ctx, ws.WorkDir(), nil, nil, nil, Environ(p.Env), args...)
	if err != nil {
		err = p.Failure(ctx, Failed{Stack: stack, Operation: operation, Err: errors.New(stderr)})
	}
	return stderr, err
}

// Tag returns the value of a stack's tag; "" when the stack has none of the name.
func (p *CLI) Tag(ctx context.Context, stack, name string) (string, error) {
	ws, err := p.Reading(ctx)
	if err != nil {
		return "", err
	}
	all, err := ws.ListTags(ctx, stack)
	if err != nil {
		return "", p.Failure(ctx, Failed{Stack: stack, Operation: "read the tags of", Err: err})
	}
	return all[name], nil
}

// SetTag sets a tag of a stack.
func (p *CLI) SetTag(ctx context.Context, stack, name, value string) error {
	ws, err := p.Reading(ctx)
	if err != nil {
		return err
	}
	if err := ws.SetTag(ctx, stack, name, value); err != nil {
		return p.Failure(ctx, Failed{Stack: stack, Operation: "set a tag of", Err: err})
	}
	return nil
}
