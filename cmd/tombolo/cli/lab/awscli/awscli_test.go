package awscli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/control"
)

func TestAWS(t *testing.T) {
	token := func(_ context.Context, cluster string) (string, time.Time, error) {
		return "k8s-aws-v1." + cluster, time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600)), nil
	}
	for _, test := range []struct {
		name      string
		args      []string
		want, err string
	}{
		{name: "version", args: []string{"--version"}, want: "aws-cli/2.27.0 tombolo-lab\n"},
		{
			name: "token", args: []string{"--region", "eu-central-1", "eks", "get-token", "--cluster-name", "demo", "--output", "json"},
			want: `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","spec":{},` +
				`"status":{"expirationTimestamp":"2026-01-02T02:04:05Z","token":"k8s-aws-v1.demo"}}` + "\n",
		},
		{name: "no cluster", args: []string{"eks", "get-token"}, err: "aws eks get-token: no cluster is named; give --cluster-name"},
		{name: "other command", args: []string{"s3", "ls"}, err: `aws: unknown command "s3 ls"; ` + remedy},
		{name: "other flag", args: []string{"--no-verify-ssl"}, err: "aws: unknown flag: --no-verify-ssl; " + remedy},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			err := Run(t.Context(), &Options{Out: &out, Token: token, Args: test.args})
			if (err == nil) != (test.err == "") || (err != nil && err.Error() != test.err) {
				t.Errorf("got the error %v, want %q", err, test.err)
			}
			assert.Check(t, is.Equal(out.String(), test.want))
		})
	}
}

// TestAWSSession: the lab's aws assumes a role, and says why it cannot.
func TestAWSSession(t *testing.T) {
	args := []string{"sts", "assume-role", "--region", "eu-central-1", "--role-arn", "arn:r", "--role-session-name", "s", "--external-id", "x", "--query", "Credentials.[AccessKeyId,SecretAccessKey,SessionToken]", "--output", "text"}
	var out, errOut bytes.Buffer
	opts := &Options{Out: &out, ErrOut: &errOut, Args: args, Assume: func(_ context.Context, role control.Role) (sigv4.Credentials, error) {
		assert.DeepEqual(t, role, control.Role{ARN: "arn:r", Session: "s", ExternalID: "x"})
		return sigv4.Credentials{AccessKeyID: "a", SecretAccessKey: "b", SessionToken: "c"}, nil
	}}
	assert.NilError(t, Run(t.Context(), opts))
	assert.Equal(t, out.String(), "a\tb\tc\n")
	opts.Assume = func(context.Context, control.Role) (sigv4.Credentials, error) {
		return sigv4.Credentials{}, errors.New("AccessDenied: no")
	}
	exit := new(fault.Exit)
	assert.Assert(t, errors.As(Run(t.Context(), opts), &exit))
	assert.Equal(t, exit.Code, refusedCode)
	assert.Check(t, is.Contains(errOut.String(), "calling the AssumeRole operation: AccessDenied: no"))
}

// TestAWSInsights: the lab's aws asks for what the AWS CLI would, and says what it
// would.
func TestAWSInsights(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-west-1")
	versions := control.InsightFilter{Categories: []string{"UPGRADE_READINESS"}, KubernetesVersions: []string{"1.34", "1.35"}}
	for _, test := range []struct {
		name    string
		args    []string
		asked   control.InsightRequest
		refused error
		want    string
		said    string
		err     string
	}{
		{
			name: "list", args: []string{"eks", "list-insights", "--cluster-name", "demo", "--region", "eu-central-1", "--output", "json", "--no-cli-pager", "--no-paginate", "--profile", "x"},
			asked: control.InsightRequest{Cluster: "demo", Region: "eu-central-1"}, want: `{"insights":[]}` + "\n",
		},
		{
			name: "shorthand", args: []string{"eks", "list-insights", "--cluster-name", "demo", "--filter", "categories=UPGRADE_READINESS,kubernetesVersions=1.34,1.35"},
			asked: control.InsightRequest{Cluster: "demo", Region: "eu-west-1", Filter: versions}, want: `{"insights":[]}` + "\n",
		},
		{
			name: "JSON", args: []string{"eks", "list-insights", "--cluster-name=demo", `--filter={"categories":["UPGRADE_READINESS"],"kubernetesVersions":["1.34","1.35"]}`},
			asked: control.InsightRequest{Cluster: "demo", Region: "eu-west-1", Filter: versions}, want: `{"insights":[]}` + "\n",
		},
		{
			name: "describe", args: []string{"eks", "describe-insight", "--cluster-name", "demo", "--id", "1"},
			asked: control.InsightRequest{Cluster: "demo", Region: "eu-west-1", ID: "1"}, want: `{"insights":[]}` + "\n",
		},
		{
			name: "refused", args: []string{"eks", "list-insights", "--cluster-name", "x"}, asked: control.InsightRequest{Cluster: "x", Region: "eu-west-1"},
			refused: &control.AWSError{Operation: "ListInsights", Code: "ResourceNotFoundException", Message: "No cluster found for name: x."},
			said:    "\nAn error occurred (ResourceNotFoundException) when calling the ListInsights operation: No cluster found for name: x.\n", err: "exit code 254",
		},
		{name: "no lab", args: []string{"eks", "list-insights", "--cluster-name", "x"}, asked: control.InsightRequest{Cluster: "x", Region: "eu-west-1"}, refused: control.ErrNotRunning, err: control.ErrNotRunning.Error()},
		{name: "no id", args: []string{"eks", "describe-insight", "--cluster-name", "x"}, err: "aws eks describe-insight: --id is of describe-insight, which needs it; give --id there, and nowhere else"},
		{
			name: "other list", args: []string{"eks", "list-insights", "--cluster-name", "x", "--filter", "names=1"},
			err: `aws eks list-insights: read the filter "names=1": "names=1" is of none of its lists; give categories=..., kubernetesVersions=... and statuses=..., or JSON`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, said bytes.Buffer
			var asked control.InsightRequest
			err := Run(t.Context(), &Options{
				Out: &out, ErrOut: &said, Args: test.args,
				Insights: func(_ context.Context, r control.InsightRequest) (json.RawMessage, error) {
					asked = r
					return json.RawMessage(`{"insights":[]}`), test.refused
				},
			})
			if (err == nil) != (test.err == "") || (err != nil && err.Error() != test.err) {
				t.Errorf("got the error %v, want %q", err, test.err)
			}
			assert.DeepEqual(t, asked, test.asked)
			assert.Check(t, is.Equal(out.String(), test.want))
			assert.Check(t, is.Equal(said.String(), test.said))
		})
	}
}
