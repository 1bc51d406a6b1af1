package pipelines

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/platform/pipelines"
	"tombolo/platform/project"
	"tombolo/platform/scaffold"
)

func newWrite(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := newOptions(f)
	cmd := &cobra.Command{
		Use:   "write",
		Short: "Write the pipelines of a project",
		Long: strings.TrimSpace(`
Write the pipelines of the project, which call those of a release, and the Makefile by
which their jobs install it. They pass on the secrets that the project's files name.
A file that is there and differs stays as it is, but with --force.`),
		Example: "  tombolo pipelines write --host github --source github.com/acme/tombolo --version v1.2.3",
		Args:    clusters.AtMost(0),
		RunE:    runs(opts, runF, writeRun),
	}
	fl := cmd.Flags()
	fl.StringVar(&opts.Write.Host, "host", "", "what runs the pipelines: "+strings.Join(pipelines.Hosts(), ", "))
	fl.StringVar(&opts.Write.Source, "source", "", "the `repository` with the releases, such as github.com/acme/tombolo")
	fl.StringVar(&opts.Write.Version, "version", "", "the `tag` of the release, such as v1.2.3")
	fl.StringVar(&opts.Write.Branch, "branch", "main", "the branch that is applied")
	fl.StringSliceVar(&opts.Write.Promote, "promote", nil, "the `branches` of environments, in the order in which a change passes them, such as dev,test,main")
	fl.BoolVar(&opts.Passphrase, "passphrase", false, "a passphrase encrypts the states, and no key service")
	fl.BoolVar(&opts.Force, "force", false, "replace files that differ")
	return cmd
}

func writeRun(_ context.Context, o *Options) error {
	if lacking := missing(o.Write); len(lacking) > 0 {
		return fault.NewUsage("missing: "+strings.Join(lacking, ", "), "give these flags: see `tombolo pipelines write --help`")
	}
	root, err := o.Root()
	if err != nil {
		return err
	}
	_, uses, err := pipelines.Check(root)
	if err != nil {
		return err
	}
	o.Write.Secrets = secretsOf(uses)
	if o.Passphrase {
		o.Write.Secrets = append(o.Write.Secrets, pipelines.Passphrase)
	}
	files, err := pipelines.Files(o.Write)
	if err != nil {
		return fault.NewUsage(err.Error(), "see `tombolo pipelines write --help`")
	}
	done, err := project.Write(root, files, o.Force)
	if err != nil {
		return err
	}
	var kept []string
	written := 0
	for _, f := range done {
		switch f.Change {
		case scaffold.Kept:
			kept = append(kept, f.Path)
		case scaffold.Written, scaffold.Updated:
			o.Status().Done("%s", f.Path)
			written++
		}
	}
	if len(kept) > 0 {
		return fault.NewPrecondition("there are other files already: "+strings.Join(kept, ", "), "compare, and use --force to replace them", nil)
	}
	if written == 0 {
		o.Status().Done("nothing to write: the pipelines are there already")
	}
	return nil
}

// missing are the flags that have no value, and no default.
func missing(o pipelines.Options) (flags []string) {
	for _, f := range []struct{ name, value string }{{"--host", o.Host}, {"--source", o.Source}, {"--version", o.Version}} {
		if f.value == "" {
			flags = append(flags, f.name)
		}
	}
	return flags
}
