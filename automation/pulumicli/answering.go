package pulumicli

import (
	"context"
	"io"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
)

// Answers answers what the SDK asks around every operation and what is
// known already, so that no process is started for it: 0.2 to 0.4 s each.
type Answers struct {
	auto.PulumiCommand
	// exists says that the stack is known to exist, so that selecting it,
	// which changes nothing for commands that name their stack, is needless.
	exists bool
	// asksOutputs passes `stack output` on, where the engine's events have not
	// told the outputs; outputs is the answer, with secrets masked.
	AsksOutputs bool
	outputs     string
	// states has a preview write the states of all resources, as they are and
	// as they would be, for which the SDK has no option.
	States bool
	// ShowSecrets has these states tell secrets in plain text. They are in what Run
	// returns, and in no error.
	ShowSecrets bool
	// preserveConfig keeps a stack's settings file when the stack is removed,
	// for which the SDK has no option.
	PreserveConfig bool
	// killed says that a signal ended the last call, so that it did not tidy
	// up.
	Killed bool
}

// Run answers `stack select`, `stack history` and `stack output`, and passes on
// everything else. Secrets among outputs stay masked: a result never needs them.
func (a *Answers) Run(ctx context.Context, dir string, stdin io.Reader,
	outs, errs []io.Writer, env []string, args ...string,
) (string, string, int, error) {
	switch {
	case a.exists && hasPrefix(args, "stack", "select"):
		return "", "", 0, nil
	case hasPrefix(args, "stack", "history"):
		return "[]", "", 0, nil
	case hasPrefix(args, "stack", "output") && !a.AsksOutputs:
		return "{}", "", 0, nil
	case hasPrefix(args, "stack", "output") && slices.Contains(args, "--show-secrets"):
		return a.outputs, "", 0, nil
	case a.States && hasPrefix(args, "preview"):
		args = append(slices.Clone(args), "--json", "--show-sames", "--show-replacement-steps")
		if a.ShowSecrets {
			args = append(args, "--show-secrets")
		}
	case a.PreserveConfig && hasPrefix(args, "stack", "rm"):
		args = append(slices.Clone(args), "--preserve-config")
	}
	stdout, stderr, code, err := a.PulumiCommand.Run(ctx, dir, stdin, outs, errs, env, args...)
	a.Killed = err != nil && code < 0
	if err != nil && a.ShowSecrets {
		stdout = "" // the SDK's error has all of it
	}
	if hasPrefix(args, "stack", "output") {
		a.outputs = stdout
	}
	return stdout, stderr, code, err
}

func hasPrefix(args []string, words ...string) bool {
	return len(args) >= len(words) && slices.Equal(args[:len(words)], words)
}

// sealed leaves secrets encrypted when the SDK exports a stack: they are not
// needed here, and must not reach a temporary file on their way back.
type sealed struct{ auto.PulumiCommand }

// Run runs the CLI, without --show-secrets for an export.
func (c sealed) Run(ctx context.Context, dir string, stdin io.Reader,
	outs, errs []io.Writer, env []string, args ...string,
) (string, string, int, error) {
	if hasPrefix(args, "stack", "export") {
		args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--show-secrets" })
	}
	return c.PulumiCommand.Run(ctx, dir, stdin, outs, errs, env, args...)
}
