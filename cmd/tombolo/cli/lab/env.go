package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
)

// NewCmdEnv returns the command lab env.
func NewCmdEnv(f *Given) *cobra.Command {
	opts := f.options()
	return &cobra.Command{
		Use:   "env",
		Short: "Print the lab's environment for a shell",
		Long: strings.TrimSpace(`
Print the variables that a shell needs to use the lab with pulumi, kubectl, aws and az.
They include the lab's passphrase and Git token, which are valid only in the lab.
With --output json, print one object of names and values.`),
		Example: `  eval "$(tombolo lab env)"`,
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return envRun(opts) },
	}
}

func envRun(o Options) error {
	l, err := o.Lab()
	if err != nil {
		return err
	}
	env, err := l.Env()
	if err != nil {
		return err
	}
	if o.JSON() {
		return render.WriteJSON(o.Out, env)
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if _, err := fmt.Fprintf(o.Out, "export %s=%s\n", name, factory.ShellWord(env[name])); err != nil {
			return err
		}
	}
	return nil
}
