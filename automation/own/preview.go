package own

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"tombolo/automation/backend"
	"tombolo/automation/operation"
	"tombolo/automation/preview"
	"tombolo/automation/pulumicli"
	"tombolo/automation/redacted"
	"tombolo/config"
	"tombolo/stacks"
)

// Preview previews the stack of a cluster, or says why it does not. Nothing is written into the backend.
func (s Stacks) Preview(ctx context.Context, c *config.Cluster, o config.OwnStack, po preview.Options) (seen preview.Preview, omitted string, err error) {
	if !s.Started {
		return seen, "a program that a change may have written is not run: --programs names a directory that is trusted", nil
	}
	core, err := s.Backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil {
		return seen, "", err
	}
	if o.Order != config.BeforeCore && len(core.Outputs()) == 0 {
		return seen, "core, whose outputs its program may read, does not exist yet", nil
	}
	st, err := s.Backend.State(ctx, o.Whole(c.Name))
	if err != nil {
		return seen, "", err
	}
	at, err := s.place(c, o)
	if err != nil {
		return seen, "", err
	}
	if po.WithoutSecrets {
		has, err := at.HaveSecrets(o.Stack(c.Name))
		if err != nil || has || st.HoldsSecrets() {
			return seen, "it has secrets, and this preview decrypts none", err
		}
	}
	result, err := s.Runner.Retry(ctx, o.Stack(c.Name), operation.Usual, func(string) (operation.StackResult, error) {
		if st == nil || po.WithoutSecrets {
			return s.aside(ctx, c, o, at, st, po)
		}
		session, err := s.Runner.OpenProgram(ctx, at, c, Kind(o), o.Whole(c.Name), true)
		if err != nil {
			return operation.StackResult{}, err
		}
		return po.Run(ctx, session)
	})
	if err != nil {
		return seen, "", s.failed(c, o, err)
	}
	return preview.Preview{Result: result, Outputs: st.Outputs()}, "", nil
}

// aside previews a stack in a backend of its own, which is thrown away: with its state, if it has one, and with
// copies, without secrets, of those of the cluster's other stacks, whose outputs the program may read.
func (s Stacks) aside(ctx context.Context, c *config.Cluster, o config.OwnStack, of pulumicli.Place, st *backend.State, po preview.Options) (operation.StackResult, error) {
	name := o.Stack(c.Name)
	dir, err := os.MkdirTemp("", "tombolo-own-")
	if err != nil {
		return operation.StackResult{}, fmt.Errorf("make directory to preview stack %s: %w", name, err)
	}
	defer os.RemoveAll(dir)
	at, err := s.Runner.CLI.AsideIn(dir, name, of, !po.WithoutSecrets)
	if err != nil {
		return operation.StackResult{}, fmt.Errorf("prepare a backend to preview stack %s: %w", name, err)
	}
	states, err := s.copies(ctx, c, o, st != nil)
	if err == nil {
		err = backend.Place(pulumicli.Backend(dir), states)
	}
	if err != nil {
		return operation.StackResult{}, fmt.Errorf("copy states to preview stack %s: %w", name, err)
	}
	session, err := s.Runner.OpenProgram(ctx, at, c, Kind(o), name, st != nil)
	if err != nil {
		return operation.StackResult{}, err
	}
	return po.Run(ctx, session)
}

func (s Stacks) copies(ctx context.Context, c *config.Cluster, o config.OwnStack, exists bool) (map[string]json.RawMessage, error) {
	all, err := s.Of(c)
	if err != nil {
		return nil, err
	}
	names := stacks.Names(c.Name)
	for _, other := range all {
		if other.Name != o.Name || exists {
			names = append(names, other.Whole(c.Name))
		}
	}
	out := map[string]json.RawMessage{}
	for _, name := range names {
		state, err := s.Backend.Deployment(ctx, name)
		if err != nil {
			return nil, err
		}
		copied, err := redacted.Of(state)
		if err != nil {
			return nil, fmt.Errorf("stack %s: %w", name, err)
		}
		if copied.Deployment != nil {
			out[name] = copied.Deployment
		}
	}
	return out, nil
}

// Omitted is a line about a stack that was not previewed.
func Omitted(c *config.Cluster, o config.OwnStack, why string) string {
	return fmt.Sprintf("own stack %s (program in %s, %s) is not previewed: %s", o.Stack(c.Name), o.Program, words[o.Order], why)
}
