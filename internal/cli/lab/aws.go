package lab

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/fault"
	"tombolo/internal/render"
)

// awsVersion is what the lab's aws answers when it is asked who it is: callers
// look for major version 2.
const awsVersion = "aws-cli/2.27.0 tombolo-lab"

// awsRemedy is what to do about any other use of the lab's aws.
const awsRemedy = "the lab's aws knows `aws --version` and `aws eks get-token` only"

// AWSOptions are the options of lab aws.
type AWSOptions struct {
	Out io.Writer
	// Token returns a token for a cluster, and when it expires.
	Token func(ctx context.Context, cluster string) (string, time.Time, error)

	Args []string
}

// NewCmdAWS returns the hidden command behind the lab's aws: as much of the AWS
// CLI as kubectl's exec plugin and the EKS component call. runF, if not nil,
// runs in place of it.
func NewCmdAWS(f *factory.Factory, runF func(context.Context, *AWSOptions) error) *cobra.Command {
	opts := &AWSOptions{
		Out: f.Streams.Out,
		Token: func(ctx context.Context, cluster string) (string, time.Time, error) {
			l, err := f.Lab()
			if err != nil {
				return "", time.Time{}, err
			}
			return l.EKSToken(ctx, cluster)
		},
	}
	return &cobra.Command{
		Use:                "aws",
		Short:              "Answer as the AWS CLI does to an exec plugin",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Args = args
			return factory.Run(cmd.Context(), opts, runF, awsRun)
		},
	}
}

// credential is an ExecCredential of client.authentication.k8s.io/v1beta1.
type credential struct {
	Kind       string           `json:"kind"`
	APIVersion string           `json:"apiVersion"`
	Spec       struct{}         `json:"spec"`
	Status     credentialStatus `json:"status"`
}

type credentialStatus struct {
	Expires string `json:"expirationTimestamp"`
	Token   string `json:"token"`
}

func awsRun(ctx context.Context, o *AWSOptions) error {
	fs := pflag.NewFlagSet("aws", pflag.ContinueOnError)
	fs.Usage = func() {}
	cluster := fs.String("cluster-name", "", "")
	version := fs.Bool("version", false, "")
	for _, ignored := range []string{"region", "output", "profile", "role-arn"} {
		fs.String(ignored, "", "")
	}
	if err := fs.Parse(o.Args); err != nil {
		return fault.NewUsage("aws: "+err.Error(), awsRemedy)
	}
	if *version {
		_, err := fmt.Fprintln(o.Out, awsVersion)
		return err
	}
	if command := strings.Join(fs.Args(), " "); command != "eks get-token" {
		return fault.NewUsage(fmt.Sprintf("aws: unknown command %q", command), awsRemedy)
	}
	if *cluster == "" {
		return fault.NewUsage("aws eks get-token: no cluster is named", "give --cluster-name")
	}
	token, expires, err := o.Token(ctx, *cluster)
	if err != nil {
		return err
	}
	return render.WriteJSON(o.Out, credential{
		Kind: "ExecCredential", APIVersion: "client.authentication.k8s.io/v1beta1",
		Status: credentialStatus{Expires: expires.UTC().Format(time.RFC3339), Token: token},
	})
}
