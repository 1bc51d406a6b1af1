package export

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/render"
	"tombolo/internal/names"
)

// OperatorOptions are those of tombolo export operator.
type OperatorOptions struct {
	*fleet.Fleet
	// Backend and SecretsProvider of the stacks.
	Backend, SecretsProvider func() string

	// Namespace of the objects.
	Namespace string
	// ServiceAccount that the stacks' pods run as; RoleARN is the IAM role it
	// assumes, if it has one by annotation.
	ServiceAccount, RoleARN string
	// ClientID is that of the identity of Entra that it is, if it is one.
	ClientID string
	// Image has the Pulumi CLI with the plugins, the AWS CLI or kubelogin, kubectl and the
	// program.
	Image string
	// Repo, Branch or Commit, and Dir are where the project is in Git; Dir is
	// from the repository's root.
	Repo, Branch, Commit, Dir string
	// GitSecret has the access token for the repository, in its key token.
	GitSecret string
	// Program is the path of the program in the image, for projects from Git.
	Program string
	// ImageDir is the directory of the image that has the project. In place of
	// Repo.
	ImageDir string
	// EnvSecrets are Secrets whose keys become environment variables.
	EnvSecrets []string
	// Organization of Pulumi Cloud, before the stacks' names.
	Organization string
}

// NewCmdOperator returns the command; runF, if not nil, runs in place of it.
func NewCmdOperator(f *factory.Factory, runF func(context.Context, *OperatorOptions) error) *cobra.Command {
	opts := &OperatorOptions{
		Fleet:           fleet.New(f, fleet.Operation{Name: "export operator", Order: rollout.Forward}),
		Backend:         func() string { return f.Globals.Backend },
		SecretsProvider: func() string { return f.Globals.SecretsProvider },
	}
	cmd := &cobra.Command{
		Use:   "operator [<cluster>...]",
		Short: "Write what the Pulumi Kubernetes Operator needs to run clusters",
		Long: strings.TrimSpace(`
Write the objects with which the Pulumi Kubernetes Operator (2.8 or later) runs
the two programs of each cluster: a Stack for core and one for bootstrap, a
service account for their pods, and a policy that prevents the deletion of a core
while its bootstrap exists.

A bootstrap waits for its core and for its hub's bootstrap. A wave waits for the
wave before it. Deleting a Stack destroys it, unless the cluster file protects the
cluster. The operator does not empty a cluster before it destroys it: see the
guide.`),
		Example: strings.TrimSpace(`
  tombolo export operator --all --image registry.example/tombolo:1.4.0 \
    --repo https://github.com/acme/clusters --branch main --backend s3://acme-state
  tombolo export operator demo --image registry.example/tombolo:1.4.0 --image-dir /project`),
		Args: opts.Args,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opts.check(cmd); err != nil {
				return err
			}
			return factory.Run(cmd.Context(), opts, runF, operatorRun)
		},
	}
	opts.Choice.AddFlags(cmd)
	opts.addFlags(cmd)
	return cmd
}

func (o *OperatorOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&o.Namespace, "namespace", "n", "tombolo", "`namespace` of the objects")
	flags.StringVar(&o.ServiceAccount, "service-account", "tombolo", "`name` of the service account that the stacks' pods run as")
	flags.StringVar(&o.RoleARN, "role-arn", "", "`ARN` of the IAM role for the service account (default: its Pod Identity, or none)")
	flags.StringVar(&o.ClientID, "client-id", "", "client `id` of the identity of Entra for the service account (default: the variables of --env-secret)")
	flags.StringVar(&o.Image, "image", "", "`image` with the Pulumi CLI, its Go language host and plugins, the AWS CLI or kubelogin, kubectl and the program")
	flags.StringVar(&o.Repo, "repo", "", "`URL` of the Git repository with the project")
	flags.StringVar(&o.Branch, "branch", "", "`branch` of the repository to follow")
	flags.StringVar(&o.Commit, "commit", "", "`commit` of the repository to stay at")
	flags.StringVar(&o.Dir, "dir", "", "`directory` in the repository that has Pulumi.yaml (default: its root)")
	flags.StringVar(&o.GitSecret, "git-secret", "", "`Secret` with the repository's access token in its key token")
	flags.StringVar(&o.Program, "program", "/usr/local/bin/"+names.Program, "with --repo, `path` of the program in the image, or its name in PATH")
	flags.StringVar(&o.ImageDir, "image-dir", "", "`directory` of the image with the project, in place of --repo")
	flags.StringSliceVar(&o.EnvSecrets, "env-secret", nil, "`Secret` whose keys become environment variables of the stacks")
	flags.StringVar(&o.Organization, "organization", "", "`organization` of Pulumi Cloud that the stacks are in")
}

// check judges the flags together.
func (o *OperatorOptions) check(cmd *cobra.Command) error {
	switch {
	case o.Image == "":
		return fault.NewUsage("no --image", fmt.Sprintf("give the image that the stacks' pods run; see `%s --help`", cmd.CommandPath()))
	case (o.Repo == "") == (o.ImageDir == ""):
		return fault.NewUsage("the project comes from Git or from the image", "give either --repo or --image-dir")
	case o.ImageDir != "" && (o.Branch+o.Commit+o.Dir+o.GitSecret != "" || cmd.Flags().Changed("program")):
		return fault.NewUsage("--branch, --commit, --dir, --git-secret and --program are about --repo", "leave them out with --image-dir")
	case o.ImageDir != "" && !strings.HasPrefix(o.ImageDir, "/"):
		return fault.NewUsage(fmt.Sprintf("--image-dir is %q", o.ImageDir), "give an absolute path")
	case o.Repo != "" && (o.Branch == "") == (o.Commit == ""):
		return fault.NewUsage("the repository is followed by its branch, or stays at a commit", "give either --branch or --commit")
	case strings.HasPrefix(o.Backend(), "file:"):
		return fault.NewUsage(fmt.Sprintf("--backend is %s, a directory of this machine", o.Backend()), "give a backend that pods reach, such as s3://<bucket> or azblob://<container>")
	}
	return nil
}

func operatorRun(_ context.Context, o *OperatorOptions) error {
	chosen, err := o.Choose()
	if err != nil {
		return err
	}
	stages, err := rollout.Stages(chosen, rollout.Forward)
	if err != nil {
		return err
	}
	objects, err := o.objects(stages)
	if err != nil {
		return err
	}
	if o.JSON() {
		return render.WriteJSON(o.Streams.Out, map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
	}
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			return fmt.Errorf("writing an object: %w", err)
		}
		if _, err := io.WriteString(o.Streams.Out, "---\n"+string(text)); err != nil {
			return fmt.Errorf("writing the objects: %w", err)
		}
	}
	return nil
}
