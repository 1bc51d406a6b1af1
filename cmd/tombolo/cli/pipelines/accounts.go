package pipelines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/config"
	"tombolo/config/strict"
	"tombolo/internal/file"
	"tombolo/internal/wording"
)

// dir holds the account files, below the project's root.
const dir = "accounts"

// load reads the account file that an argument names, by the account's name or by
// path.
func load(root func() (string, error), arg string) (*config.Account, error) {
	file := arg
	if !clusters.IsPath(arg) {
		base, err := root()
		if err != nil {
			return nil, err
		}
		if names := known(base); !slices.Contains(names, arg) {
			return nil, unknown(arg, names)
		}
		file = filepath.Join(base, dir, arg+".yaml")
	}
	a, err := config.LoadAccount(file)
	if found := (strict.Problems)(nil); errors.As(err, &found) {
		for i := range found {
			found[i].File = clusters.Short(found[i].File)
		}
		return nil, found
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.NewUsage(err.Error(), "")
	}
	return a, err
}

// known are the names of the project's accounts, sorted.
func known(root string) []string {
	files, _ := file.Matching(filepath.Join(root, dir, "*.yaml")) // the pattern is a good one
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(filepath.Base(file), ".yaml")
	}
	return names
}

func unknown(name string, known []string) error {
	if len(known) == 0 {
		return fault.NewUsage(fmt.Sprintf("account %q is not known: there is no account file in %s/", name, dir),
			fmt.Sprintf("write %s/%s.yaml, or give the path of an account file", dir, name))
	}
	problem := fmt.Sprintf("account %q is not known", name)
	if near := wording.Nearest(name, known); near != "" {
		problem += fmt.Sprintf(", did you mean %q?", near)
	}
	return fault.NewUsage(problem, fmt.Sprintf("known are: %s; or give the path of an account file", strings.Join(known, ", ")))
}

// oneAccount asks for an account, and for at most as many arguments in all.
func oneAccount(most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fault.NewUsage("no account is named", "give the name of one in "+dir+"/, or the path of an account file")
		case len(args) > most:
			return fault.NewUsage(fmt.Sprintf("too many arguments: %s", strings.Join(args[most:], " ")),
				fmt.Sprintf("see `%s --help`", cmd.CommandPath()))
		}
		return nil
	}
}

// complete offers the names of accounts to the shell.
func complete(f *factory.Factory) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		root, err := f.Root()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := slices.DeleteFunc(known(root), func(name string) bool { return !strings.HasPrefix(name, prefix) })
		return names, cobra.ShellCompDirectiveDefault
	}
}
