package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/terraformstate"
	"tombolo/config"
	"tombolo/config/strict"
	"tombolo/internal/names"
	"tombolo/stacks/handoff"
	"tombolo/stacks/state"
)

// This file reads the values that the cluster file takes from other stacks, from states of
// Terraform and from Parameter Store. All are read, and judged, before anything of bootstrap is made; all
// that is wrong is said together.

// ValuesOutput is the output of bootstrap with the values that were read, by their
// sources in words: the next preview tells by it what has changed.
const ValuesOutput = "values"

// errMissing says that a source has no such value, errSecret that the value is secret
// there, errNoStack that there is no such stack, and errLater that a preview does not know the value.
var (
	errMissing = errors.New("is missing")
	errSecret  = errors.New("is secret")
	errNoStack = errors.New("does not exist")
	errLater   = errors.New("is not known yet")
)

// reader reads values by their sources. Its errors are errMissing, errSecret, or what
// went wrong.
type reader func(config.Source) (any, error)

// readValues reads what the cluster file refers to.
func (p *program) readValues() error {
	refs := p.c.References()
	if len(refs) == 0 {
		return nil
	}
	if p.o.ToldStacks != nil && !p.ctx.DryRun() {
		return errors.New("outputs of stacks as previews tell them are for previews alone; nothing was started")
	}
	of, err := p.readers(refs)
	if err != nil {
		return err
	}
	j := judge{p.c, p.ctx.Organization(), p.ctx.Project()}
	if p.read, err = j.read(refs, of); err != nil {
		err = fmt.Errorf("read the values of other stacks and sources:\n%w", err)
		// Of a stack that does not exist, the SDK shows the engine's bare "unknown
		// stack" in place of what the program returns, so say it here too.
		return errors.Join(err, p.ctx.Log.Error(err.Error(), nil))
	}
	p.ctx.Export(ValuesOutput, shown(p.read))
	return nil
}

// CheckValues holds the values that the file takes from other stacks to the outputs that
// these have, by their whole names, with secrets masked; and reads the states of Terraform, with
// the environment env before the process's own. project is that of a stack whose name in the
// file has none. The error is strict.Problems.
func CheckValues(ctx context.Context, c *config.Cluster, project string, outputs map[string]map[string]any, env map[string]string) error {
	refs := slices.DeleteFunc(c.References(), func(r config.Reference) bool { return r.Source.Parameter != "" })
	j := judge{c, organization, project}
	stacks, states := told(outputs, organization, project), stateReader(ctx, c, env)
	_, err := j.read(refs, func(s config.Source) reader {
		if s.State != "" {
			return states
		}
		return stacks
	})
	return err
}

// stateReader reads outputs of states of Terraform, each state once.
func stateReader(ctx context.Context, c *config.Cluster, env map[string]string) reader {
	from := terraformstate.In(filepath.Dir(c.File), env)
	type found struct {
		outputs map[string]terraformstate.Output
		err     error
	}
	read := map[string]found{}
	return func(s config.Source) (any, error) {
		of, known := read[s.State]
		if !known {
			of.outputs, of.err = from.Outputs(ctx, s.State)
			read[s.State] = of
		}
		if of.err != nil {
			return nil, stateError{of.err}
		}
		return outputAt(s, func(top string) (any, error) {
			output := of.outputs[top]
			if output.Sensitive {
				return nil, errSecret
			}
			return output.Value, nil
		})
	}
}

// stateError says why a whole state could not be read.
type stateError struct{ error }

func (e stateError) Unwrap() error { return e.error }

// organization of the stacks of a backend in a directory or a bucket.
const organization = "organization"

// judge says what is wrong with values, in the file of a cluster.
type judge struct {
	c                     *config.Cluster
	organization, project string
}

// read reads each value once. All problems are reported together, each with its place in
// the file: the error is strict.Problems.
func (j judge) read(refs []config.Reference, of func(config.Source) reader) (map[config.Source]any, error) {
	read, failed := map[config.Source]any{}, map[config.Source]error{}
	for _, ref := range refs {
		s := ref.Source
		if _, done := read[s]; done || failed[s] != nil {
			continue
		}
		if v, err := of(s)(s); err != nil {
			failed[s] = err
		} else {
			read[s] = v
		}
	}
	return read, j.problems(refs, read, failed)
}

// shown are the values that were read, by their sources in words.
func shown(read map[config.Source]any) pulumi.Map {
	out := pulumi.Map{}
	for s, v := range read {
		out[s.String()] = pulumi.ToOutput(v)
	}
	return out
}

// readers say for a source what reads it.
func (p *program) readers(refs []config.Reference) (func(config.Source) reader, error) {
	parameters, err := reader(nil), error(nil)
	if slices.ContainsFunc(refs, func(r config.Reference) bool { return r.Source.Parameter != "" }) {
		if parameters, err = partOf(p.c).parameters(p.ctx, p.c.Cloud); err != nil {
			return nil, err
		}
	}
	stacks, states := p.stackReader(), stateReader(p.ctx.Context(), p.c, p.o.Env)
	return func(s config.Source) reader {
		switch {
		case s.Parameter != "":
			return parameters
		case s.State != "":
			return states
		}
		return stacks
	}, nil
}

// stackReader reads outputs of stacks, each stack once: from what was told, where the
// backend of the run does not have them.
func (p *program) stackReader() reader {
	if p.o.ToldStacks != nil {
		return told(p.o.ToldStacks, p.ctx.Organization(), p.ctx.Project())
	}
	refs := map[string]state.Stack{}
	return func(s config.Source) (any, error) {
		name := s.StackName(p.ctx.Organization(), p.ctx.Project())
		if refs[name] == nil {
			ref, err := state.Of(p.ctx, name)
			if err != nil {
				return nil, err
			}
			refs[name] = ref
		}
		return outputAt(s, func(top string) (any, error) {
			details, err := refs[name].Details(top)
			if err == nil && details.SecretValue != nil {
				err = errSecret
			}
			if err != nil {
				return nil, err
			}
			return details.Value, nil
		})
	}
}

// told reads outputs that are known already, by the whole names of the stacks. Of a stack that has nil for
// them nothing is known before its up.
func told(outputs map[string]map[string]any, organization, project string) reader {
	return func(s config.Source) (any, error) {
		of, exists := outputs[s.StackName(organization, project)]
		switch {
		case !exists:
			return nil, errNoStack
		case of == nil:
			return s.Later(), nil
		}
		v, err := outputAt(s, func(top string) (any, error) { return toldOutput(of, top) })
		if errors.Is(err, errLater) {
			return s.Later(), nil
		}
		return v, err
	}
}

// outputAt is the value at the path that a source names, in an output that output reads.
func outputAt(s config.Source, output func(name string) (any, error)) (any, error) {
	at, err := resource.ParsePropertyPath(s.Output)
	if err != nil || len(at) == 0 {
		return nil, fmt.Errorf("output %s is no path of a value: %w", s.Output, err)
	}
	v, err := output(fmt.Sprint(at[0]))
	if err != nil {
		return nil, err
	}
	return within(v, at[1:])
}

// toldOutput is an output of a stack as its state has it; secrets are masked.
func toldOutput(outputs map[string]any, name string) (any, error) {
	switch {
	case holdsSecret(outputs[name]):
		return nil, errSecret
	case handoff.AnyUnknown(outputs[name]):
		return nil, errLater
	}
	return outputs[name], nil
}

func holdsSecret(v any) bool {
	switch v := v.(type) {
	case string:
		return v == names.Secret
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), holdsSecret)
	case []any:
		return slices.ContainsFunc(v, holdsSecret)
	}
	return false
}

// within is the value at a path of an output.
func within(v any, at resource.PropertyPath) (any, error) {
	for _, step := range at {
		switch of := v.(type) {
		case map[string]any:
			v = of[fmt.Sprint(step)]
		case []any:
			i, isIndex := step.(int)
			if !isIndex || i >= len(of) {
				return nil, errMissing
			}
			v = of[i]
		default:
			return nil, errMissing
		}
	}
	if v == nil {
		return nil, errMissing
	}
	return v, nil
}

// problems of what was read, and of what was not, where it goes.
func (j judge) problems(refs []config.Reference, read map[config.Source]any, failed map[config.Source]error) error {
	if len(refs) == 0 {
		return nil
	}
	var problems strict.Problems
	place := j.c.Places()
	for _, ref := range refs {
		message, remedy := j.unreadable(ref.Source, failed[ref.Source])
		if failed[ref.Source] == nil {
			message, remedy = unfit(ref, read[ref.Source])
		}
		if message != "" {
			problems = append(problems, place(string(ref.Path), message, remedy))
		}
	}
	return problems.InOrder().Err()
}

// unreadable says why a value cannot be read, and what to do; "" when it can.
func (j judge) unreadable(s config.Source, err error) (message, remedy string) {
	secret := errors.Is(err, errSecret)
	switch {
	case err == nil:
		return "", ""
	case s.State != "":
		return unreadableState(s, err)
	case s.Parameter != "" && secret:
		return fmt.Sprintf("parameter %s is a SecureString, and a ConfigMap is no place for a secret", s.Parameter), secretRemedy
	case secret:
		return fmt.Sprintf("output %s of stack %s is secret, or holds a secret, and a ConfigMap is no place for one", s.Output, s.Stack),
			secretRemedy + "; a part that is not secret can be an output of its own"
	case s.Parameter != "" && errors.Is(err, errMissing):
		return fmt.Sprintf("there is no parameter %s in account %s, region %s", s.Parameter, j.c.Cloud.Account, j.c.Cloud.Region),
			"put it there (`aws ssm put-parameter`), or correct fromSsm"
	case errors.Is(err, errMissing):
		return fmt.Sprintf("stack %s has no output %s", s.Stack, s.Output),
			fmt.Sprintf("deploy it with that output (`pulumi stack output -s %s` shows what it has), or correct output", s.StackName(j.organization, j.project))
	case s.Parameter != "":
		return fmt.Sprintf("read parameter %s in account %s, region %s: %v", s.Parameter, j.c.Cloud.Account, j.c.Cloud.Region, err),
			"give this identity ssm:GetParameter on it"
	case isUnknownStack(err):
		return fmt.Sprintf("there is no stack %s in this state backend", s.StackName(j.organization, j.project)),
			"deploy it first, or correct fromStack: a stack of another project is written project/stack"
	}
	return fmt.Sprintf("read output %s of stack %s: %v", s.Output, s.Stack, err), "correct fromStack, or see to it that the backend can be read"
}

func unreadableState(s config.Source, err error) (message, remedy string) {
	var whole stateError
	switch {
	case errors.Is(err, errSecret):
		return fmt.Sprintf("output %s of %s is sensitive, and a ConfigMap is no place for a secret", s.Output, s.StateName()),
			secretRemedy + "; a part that is not secret can be an output of its own"
	case errors.Is(err, errMissing):
		return fmt.Sprintf("%s has no output %s", s.StateName(), s.Output), "apply it with that output, or correct output"
	case errors.Is(err, terraformstate.ErrMissing):
		return fmt.Sprintf("there is no state at %s", strings.TrimPrefix(s.StateName(), "Terraform's state ")), "apply it first, or correct fromTerraform"
	case errors.As(err, &whole):
		return fmt.Sprintf("read %s: %v", s.StateName(), err), "correct fromTerraform, or see to it that this identity may read it"
	}
	return fmt.Sprintf("read output %s of %s: %v", s.Output, s.StateName(), err), "correct output"
}

const secretRemedy = "keep the secret in AWS Secrets Manager or Parameter Store, and let External Secrets bring it into the cluster: docs/guide/secrets.md#values-of-other-stacks"

// isUnknownStack recognises the engine's words for a stack that does not exist
// (getStackOutputs in pkg/backend/backend.go of pulumi/pulumi).
func isUnknownStack(err error) bool {
	return errors.Is(err, errNoStack) || strings.Contains(err.Error(), "unknown stack")
}

// unfit says why a value cannot be where the file has it; "" when it can.
func unfit(ref config.Reference, v any) (message, remedy string) {
	what := ""
	switch v.(type) {
	case map[string]any:
		what = "an object"
	case []any:
		what = "a list"
	case string, float64, bool:
	default:
		return fmt.Sprintf("%s is a %T, which is no value of YAML", ref.Source, v), "take another one"
	}
	if what == "" || ref.Service != "" {
		return "", ""
	}
	return fmt.Sprintf("%s is %s, and a key of the infra ConfigMap holds one text", ref.Source, what),
		"take one value of it, such as output: db.host or output: subnets[0], or give it to the values of a service"
}
