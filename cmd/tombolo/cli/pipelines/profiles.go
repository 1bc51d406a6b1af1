package pipelines

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/config"
	"tombolo/internal/wording"
)

// jobProfile is the profile of a job that signs in by a token in a file.
const jobProfile = "tombolo-job"

// rolesOfProfiles are the roles that profiles can be for.
var rolesOfProfiles = []string{"preview", "apply"}

func newProfiles(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := newOptions(f)
	return &cobra.Command{
		Use:   "profiles preview|apply",
		Short: "Print a configuration of the AWS CLI, a profile for each account",
		Long: strings.TrimSpace(`
Print a configuration for AWS_CONFIG_FILE with a profile for each account file that has
pipelines.from. The profile has the account's name, and assumes its role with the
credentials that the job has signed in with: those in the environment, or the token in
AWS_WEB_IDENTITY_TOKEN_FILE. Cluster files name the profile by cloud.profile.

The file holds no secret. Without such accounts it has no profiles.`),
		Example: "  tombolo pipelines profiles preview >aws-config\n  AWS_CONFIG_FILE=aws-config tombolo preview --all",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.NewUsage("it is not said for which role", "give preview or apply")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Role = args[0]
			return factory.Run(cmd.Context(), opts, runF, profilesRun)
		},
	}
}

func profilesRun(_ context.Context, o *Options) error {
	role := (*config.Account).PreviewRoleARN
	switch o.Role {
	case "preview":
	case "apply":
		role = (*config.Account).ApplyRoleARN
	default:
		return fault.NewUsage(fmt.Sprintf("%s is no role of pipelines", wording.Quote(o.Role)), "give "+strings.Join(rolesOfProfiles, " or "))
	}
	accounts, err := o.reached()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# From `tombolo pipelines profiles %s`.\n", o.Role)
	credentials := "credential_source = Environment"
	if token := o.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"); token != "" && len(accounts) > 0 {
		fmt.Fprintf(&b, "\n[profile %s]\nrole_arn = %s\nweb_identity_token_file = %s\n", jobProfile, o.Getenv("AWS_ROLE_ARN"), token)
		credentials = "source_profile = " + jobProfile
	}
	for _, a := range accounts {
		fmt.Fprintf(&b, "\n[profile %s]\nrole_arn = %s\n%s\nrole_session_name = tombolo-%s\nregion = %s\n", a.Name, role(a), credentials, o.Role, a.Cloud.Region)
	}
	_, err = o.Streams.Out.Write([]byte(b.String()))
	return err
}

// reached are the project's accounts that are reached through another one, by name.
func (o *Options) reached() ([]*config.Account, error) {
	root, err := o.Root()
	if err != nil {
		return nil, err
	}
	var out []*config.Account
	for _, name := range known(root) {
		a, err := o.Account(filepath.Join(root, dir, name+".yaml"))
		if err != nil {
			return nil, err
		}
		if a.Source != nil {
			out = append(out, a)
		}
	}
	return out, nil
}
