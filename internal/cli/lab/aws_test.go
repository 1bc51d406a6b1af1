package lab

import (
	"bytes"
	"context"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
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
		{name: "other command", args: []string{"s3", "ls"}, err: `aws: unknown command "s3 ls"; ` + awsRemedy},
		{name: "other flag", args: []string{"--no-verify-ssl"}, err: "aws: unknown flag: --no-verify-ssl; " + awsRemedy},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			err := awsRun(t.Context(), &AWSOptions{Out: &out, Token: token, Args: test.args})
			if (err == nil) != (test.err == "") || (err != nil && err.Error() != test.err) {
				t.Errorf("got the error %v, want %q", err, test.err)
			}
			assert.Check(t, is.Equal(out.String(), test.want))
		})
	}
}
