// Package awscli plays the AWS CLI in the lab: as much of it as kubectl's exec plugin, the
// EKS component and an upgrade call, and as people need to keep secrets. It imports little:
// in the lab it is started more often than anything else.
package awscli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/control"
)

// version is what the lab's aws answers when it is asked who it is: callers
// look for major version 2.
const version = "aws-cli/2.27.0 tombolo-lab"

// remedy is what to do about any other use of the lab's aws.
const remedy = "the lab's aws knows `aws --version`, `aws sts assume-role` and the commands get-token, list-insights, describe-insight, start-insights-refresh and describe-insights-refresh of `aws eks`, and create-secret, put-secret-value, get-secret-value, describe-secret, delete-secret and list-secrets of `aws secretsmanager` only"

// insightCommands are the commands about insights, with the operation of those that
// refresh them.
var insightCommands = map[string]string{
	"eks list-insights": "", "eks describe-insight": "",
	"eks start-insights-refresh": "StartInsightsRefresh", "eks describe-insights-refresh": "DescribeInsightsRefresh",
}

// refusedCode is the exit code of the AWS CLI for a request that AWS refuses. Source:
// https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-returncodes.html
const refusedCode = 254

// Options of a command.
type Options struct {
	Out, ErrOut io.Writer
	// Token returns a token for a cluster, and when it expires.
	Token func(ctx context.Context, cluster string) (string, time.Time, error)
	// Assume returns the credentials of a session of a role.
	Assume func(ctx context.Context, role control.Role) (sigv4.Credentials, error)
	// Insights returns EKS's answer to a request for insights, in JSON.
	Insights func(ctx context.Context, r control.InsightRequest) (json.RawMessage, error)
	// Secrets returns Secrets Manager's answer to a request, in JSON.
	Secrets func(ctx context.Context, r control.SecretsRequest) (json.RawMessage, error)

	Args []string
}

// In are the options of commands in the lab of a checkout.
func In(root string, out, errOut io.Writer) *Options {
	daemon := control.Client{File: control.File(root)}
	return &Options{
		Out: out, ErrOut: errOut,
		Token: daemon.EKSToken, Assume: daemon.AssumeRole, Insights: daemon.EKSInsights, Secrets: daemon.SecretsManager,
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

// Run runs a command.
func Run(ctx context.Context, o *Options) error {
	if i := slices.Index(o.Args, "secretsmanager"); i >= 0 {
		return awsSecrets(ctx, o, slices.Delete(slices.Clone(o.Args), i, i+1))
	}
	fs := pflag.NewFlagSet("aws", pflag.ContinueOnError)
	fs.Usage = func() {}
	who := fs.Bool("version", false, "")
	cluster, region := fs.String("cluster-name", "", ""), fs.String("region", "", "")
	filter, id := fs.String("filter", "", ""), fs.String("id", "", "")
	var role control.Role
	fs.StringVar(&role.ARN, "role-arn", "", "")
	fs.StringVar(&role.Session, "role-session-name", "", "")
	fs.StringVar(&role.ExternalID, "external-id", "", "")
	for _, ignored := range []string{"output", "profile", "query"} {
		fs.String(ignored, "", "")
	}
	for _, ignored := range []string{"no-cli-pager", "no-paginate"} {
		fs.Bool(ignored, false, "")
	}
	if err := fs.Parse(o.Args); err != nil {
		return fault.NewUsage("aws: "+err.Error(), remedy)
	}
	if *who {
		_, err := fmt.Fprintln(o.Out, version)
		return err
	}
	command := strings.Join(fs.Args(), " ")
	if command == "sts assume-role" {
		return writeSession(ctx, o, role)
	}
	refresh, ofInsights := insightCommands[command]
	if command != "eks get-token" && !ofInsights {
		return fault.NewUsage(fmt.Sprintf("aws: unknown command %q", command), remedy)
	}
	if *cluster == "" {
		return fault.NewUsage("aws "+command+": no cluster is named", "give --cluster-name")
	}
	if command == "eks get-token" {
		return writeToken(ctx, o, *cluster)
	}
	if (command == "eks describe-insight") != (*id != "") {
		return fault.NewUsage("aws "+command+": --id is of describe-insight, which needs it", "give --id there, and nowhere else")
	}
	conditions, err := insightFilter(*filter)
	if err != nil {
		return fault.NewUsage("aws "+command+": "+err.Error(), "give categories=..., kubernetesVersions=... and statuses=..., or JSON")
	}
	return writeInsights(ctx, o, control.InsightRequest{
		Cluster: *cluster, ID: *id, Filter: conditions, Refresh: refresh, Region: cmp.Or(*region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
	})
}

func writeToken(ctx context.Context, o *Options, cluster string) error {
	token, expires, err := o.Token(ctx, cluster)
	if err != nil {
		return err
	}
	return writeJSON(o.Out, credential{
		Kind: "ExecCredential", APIVersion: "client.authentication.k8s.io/v1beta1",
		Status: credentialStatus{Expires: expires.UTC().Format(time.RFC3339), Token: token},
	})
}

// writeSession writes the three parts of a session's credentials, as the CLI does with
// --query and --output text; nothing in the lab asks otherwise.
func writeSession(ctx context.Context, o *Options, role control.Role) error {
	by, err := o.Assume(ctx, role)
	if err != nil {
		return fault.Refuse(o.ErrOut, refusedCode, "\nAn error occurred when calling the AssumeRole operation: %v\n", err)
	}
	_, err = fmt.Fprintf(o.Out, "%s\t%s\t%s\n", by.AccessKeyID, by.SecretAccessKey, by.SessionToken)
	return err
}

// writeInsights writes EKS's answer, or its refusal as the AWS CLI does: on the error
// output, with an exit code of the CLI's own.
func writeInsights(ctx context.Context, o *Options, r control.InsightRequest) error {
	answer, err := o.Insights(ctx, r)
	var refused *control.AWSError
	if errors.As(err, &refused) {
		return fault.Refuse(o.ErrOut, refusedCode, "\n%s\n", refused)
	}
	if err != nil {
		return err
	}
	return writeJSON(o.Out, answer)
}

// insightFilter reads a filter in JSON or in the CLI's shorthand, such as
// categories=UPGRADE_READINESS,kubernetesVersions=1.34,1.35. Source:
// https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-shorthand.html
func insightFilter(text string) (f control.InsightFilter, _ error) {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&f); err != nil {
			return f, fmt.Errorf("read the filter %q: %w", text, err)
		}
		return f, nil
	}
	lists := map[string]*[]string{"categories": &f.Categories, "kubernetesVersions": &f.KubernetesVersions, "statuses": &f.Statuses}
	var list *[]string
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		key, value, named := strings.Cut(part, "=")
		if !named {
			value = key
		} else {
			list = lists[key]
		}
		if list == nil {
			return f, fmt.Errorf("read the filter %q: %q is of none of its lists", text, part)
		}
		*list = append(*list, strings.Trim(value, "[]"))
	}
	return f, nil
}

// writeJSON writes one document on one line.
func writeJSON(w io.Writer, document any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(document)
}
