package pipelines

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/config"
	"tombolo/internal/file"
)

// dir holds the account files, below the project's root.
const dir = "accounts"

var accountFile = clusters.Kind{Name: "account", File: "an account file", Dir: dir}

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
			return nil, accountFile.Unknown(arg, names)
		}
		file = filepath.Join(base, dir, arg+".yaml")
	}
	a, err := config.LoadAccount(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.NewUsage(err.Error(), "")
	}
	return a, clusters.Shortened(err)
}

// known are the names of the project's accounts, sorted.
func known(root string) []string {
	files, _ := file.Matching(filepath.Join(root, dir, "*.yaml")) // none are known where they cannot be read
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(filepath.Base(file), ".yaml")
	}
	return names
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
