// Package pipelines is the command tombolo pipelines, for the roles that pipelines
// assume in an account, and for their files.
package pipelines

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/config"
	"tombolo/platform/pipelines"
)

// Driver is what the commands need of automation.Driver.
type Driver interface {
	UpPipelines(context.Context, *config.Account, automation.UpOptions) (automation.Result, error)
	PreviewPipelines(context.Context, *config.Account, automation.PreviewOptions) (automation.Result, error)
	DestroyPipelines(context.Context, *config.Account, automation.DestroyOptions) (automation.Result, error)
	PipelinesOutputs(context.Context, *config.Account) (map[string]automation.Output, error)
}

// Options of the commands. Each uses those that it has flags for.
type Options struct {
	factory.Base
	// Account loads the account that an argument names.
	Account func(string) (*config.Account, error)
	Driver  func(context.Context, automation.Observer) (Driver, error)
	Schema  func() ([]byte, error)

	Name string
	// Key is the one output to print.
	Key     string
	Yes     bool
	Refresh bool
	Details bool
	Remove  bool
	// Named is the account that is destroyed without a question, even if protected.
	Named       string
	PrintSchema bool

	// Role that profiles are for, and Getenv, which reads the environment.
	Role   string
	Getenv func(string) string

	// Strict takes warnings of check for errors.
	Strict bool
	// Write is what is written, Passphrase says that one encrypts the states, and Force replaces
	// files that differ.
	Write             pipelines.Options
	Passphrase, Force bool
}

// NewCmdPipelines returns the command; runF, if not nil, runs in place of those below
// it.
func NewCmdPipelines(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	cmd := factory.Group("pipelines", "Make the roles of pipelines, and write and check the pipelines", `
Make the roles that the jobs of a pipeline assume in a cloud account: one that reads,
for previews and drift, and one that applies. Jobs assume them by OpenID Connect, or
through the roles of another account. In Azure, they are managed identities with their
role assignments. They are a stack of their own, <account>-pipelines.

Also write and check the files of the pipelines themselves: write, check.

The file accounts/<name>.yaml describes the roles. Commands take the account's name, or
the path of its file.`)
	account := func(arg string) (*config.Account, error) { return load(f.Root, arg) }
	for _, sub := range []*cobra.Command{
		newUp(f, runF), newPreview(f, runF), newDestroy(f, runF), newOutputs(f, runF), newValidate(f, runF), newProfiles(f, runF),
		newUnlock(f, account),
	} {
		if sub.Args == nil {
			sub.Args = accountFile.One(1)
		}
		sub.ValidArgsFunction = complete(f)
		cmd.AddCommand(sub)
	}
	cmd.AddCommand(newCheck(f, runF), newWrite(f, runF))
	return cmd
}

func newOptions(f *factory.Factory) *Options {
	return &Options{
		Base:    f.Base(),
		Account: func(arg string) (*config.Account, error) { return load(f.Root, arg) },
		Driver:  func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
		Schema:  config.AccountSchema, Getenv: os.Getenv,
	}
}

// runs is the function of a command whose first argument is an account.
func runs(opts *Options, runF, run func(context.Context, *Options) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			opts.Name = args[0]
		}
		if len(args) > 1 {
			opts.Key = args[1]
		}
		return factory.Run(cmd.Context(), opts, runF, run)
	}
}

func newUp(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := newOptions(f)
	cmd := &cobra.Command{
		Use:   "up <account>",
		Short: "Make the roles as the account file says",
		Long: strings.TrimSpace(`
Make the roles of the account's pipelines, and the OIDC provider if the file does not
name one. On a terminal, the command shows the plan and asks; --yes skips the
question. Without a terminal, --yes is required.`),
		Example: "  tombolo pipelines up acme\n  tombolo pipelines up acme --yes --output json",
		RunE:    runs(opts, runF, upRun),
	}
	cmd.Flags().BoolVarP(&opts.Yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&opts.Refresh, "refresh", false, "compare with the cloud first, not only with the state")
	return cmd
}

func newPreview(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := newOptions(f)
	cmd := &cobra.Command{
		Use:     "preview <account>",
		Short:   "Show what up would change",
		Long:    "List the resources that `tombolo pipelines up` would change. Change nothing.",
		Example: "  tombolo pipelines preview acme --details",
		RunE:    runs(opts, runF, previewRun),
	}
	cmd.Flags().BoolVar(&opts.Refresh, "refresh", false, "compare with the cloud, not only with the state")
	cmd.Flags().BoolVar(&opts.Details, "details", false, "show the inputs of each resource; secrets are masked")
	return cmd
}

func newDestroy(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := newOptions(f)
	cmd := &cobra.Command{
		Use:   "destroy <account>",
		Short: "Delete the roles",
		Long: strings.TrimSpace(`
Delete the roles of the account's pipelines, and the OIDC provider if the stack made
it. Jobs cannot assume the roles from then on.

On a terminal, the command asks for the account's name; --yes skips the question.
Without a terminal, --yes is required. For an account with protect: true, --yes is
not enough: type its name, or pass it with --yes-destroy.`),
		Example: "  tombolo pipelines destroy acme\n  tombolo pipelines destroy acme --yes-destroy acme --remove",
		RunE:    runs(opts, runF, destroyRun),
	}
	cmd.Flags().BoolVarP(&opts.Yes, "yes", "y", false, "do not ask")
	cmd.Flags().StringVar(&opts.Named, "yes-destroy", "", "destroy this account's roles without asking, even if it is protected")
	cmd.Flags().BoolVar(&opts.Refresh, "refresh", false, "compare with the cloud first, not only with the state")
	cmd.Flags().BoolVar(&opts.Remove, "remove", false, "also remove the empty stack and its history")
	return cmd
}

func newOutputs(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := newOptions(f)
	return &cobra.Command{
		Use:   "outputs <account> [<key>]",
		Short: "Print the ARNs of the roles, or the ids of the identities",
		Long: strings.TrimSpace(`
Print one or all outputs of the stack: previewRoleArn, applyRoleArn, and
oidcProviderArn if jobs sign in to the account. In Azure: previewClientId and
applyClientId, by which jobs sign in, previewPrincipalId and applyPrincipalId, for
groups of Entra, tenantId and subscriptionId.`),
		Example: "  tombolo pipelines outputs acme previewRoleArn",
		Args:    accountFile.One(2),
		RunE:    runs(opts, runF, outputsRun),
	}
}

func newValidate(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := newOptions(f)
	cmd := &cobra.Command{
		Use:   "validate <account>",
		Short: "Check an account file",
		Long: strings.TrimSpace(`
Check an account file. All problems are reported together, each with its place in the
file and its remedy. Nothing is started.`),
		Example: "  tombolo pipelines validate acme\n  tombolo pipelines validate --schema >account.schema.json",
		Args: func(cmd *cobra.Command, args []string) error {
			if opts.PrintSchema && len(args) == 0 {
				return nil
			}
			return accountFile.One(1)(cmd, args)
		},
		RunE: runs(opts, runF, validateRun),
	}
	cmd.Flags().BoolVar(&opts.PrintSchema, "schema", false, "print the JSON schema of the account file, for editors")
	return cmd
}
