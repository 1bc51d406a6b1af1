package awscli

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/control"
	"tombolo/tests/files"
)

// TestAWSSecrets: the lab's aws asks for what the AWS CLI would, and says what it would.
func TestAWSSecrets(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-west-1")
	dir := t.TempDir()
	text, binary := filepath.Join(dir, "text"), filepath.Join(dir, "binary")
	files.Write(t, text, "of a file\n")
	files.Write(t, binary, "\x00\x01")
	const answer = `{"ARN":"a","SecretString":"s3cret"}`
	for _, test := range []struct {
		name, operation, region, input string
		args                           []string
		refused                        error
		want, said, err                string
	}{
		{
			name: "create", args: []string{"create-secret", "--region", "eu-central-1", "--name", "n", "--secret-string", "s"},
			operation: "CreateSecret", region: "eu-central-1", input: `{"Name":"n","SecretString":"s"}`, want: answer + "\n",
		},
		{
			name: "of a file", args: []string{"put-secret-value", "--secret-id", "n", "--secret-string", "file://" + text},
			operation: "PutSecretValue", input: `{"SecretId":"n","SecretString":"of a file\n"}`, want: answer + "\n",
		},
		{
			name: "of a file, binary", args: []string{"put-secret-value", "--secret-id", "n", "--secret-binary", "fileb://" + binary},
			operation: "PutSecretValue", input: `{"SecretBinary":"AAE=","SecretId":"n"}`, want: answer + "\n",
		},
		{
			name: "of no file", args: []string{"put-secret-value", "--secret-id", "n", "--secret-string", "file://none"},
			err: "aws secretsmanager: read --secret-string: open none: no such file or directory; name a file that can be read",
		},
		{
			name: "value alone", args: []string{"get-secret-value", "--secret-id", "n", "--query", "SecretString", "--output", "text"},
			operation: "GetSecretValue", input: `{"SecretId":"n"}`, want: "s3cret\n",
		},
		{
			name: "other query", args: []string{"get-secret-value", "--secret-id", "n", "--query", "ARN"},
			err: "aws secretsmanager: --query is for `--query SecretString --output text` here; " + remedy,
		},
		{
			name: "delete at once", args: []string{"delete-secret", "--secret-id", "n", "--force-delete-without-recovery"},
			operation: "DeleteSecret", input: `{"ForceDeleteWithoutRecovery":true,"SecretId":"n"}`, want: answer + "\n",
		},
		{
			name: "delete later", args: []string{"delete-secret", "--secret-id", "n", "--recovery-window-in-days", "7"},
			operation: "DeleteSecret", input: `{"RecoveryWindowInDays":7,"SecretId":"n"}`, want: answer + "\n",
		},
		{name: "list", args: []string{"list-secrets"}, operation: "ListSecrets", input: `{}`, want: answer + "\n"},
		{
			name: "refused", args: []string{"describe-secret", "--secret-id", "x"}, operation: "DescribeSecret", input: `{"SecretId":"x"}`,
			refused: &control.AWSError{Operation: "DescribeSecret", Code: "ResourceNotFoundException", Message: "no such secret"},
			said:    "\nAn error occurred (ResourceNotFoundException) when calling the DescribeSecret operation: no such secret\n", err: "exit code 254",
		},
		{name: "no lab", args: []string{"list-secrets"}, operation: "ListSecrets", input: `{}`, refused: control.ErrNotRunning, err: control.ErrNotRunning.Error()},
		{name: "no name", args: []string{"create-secret"}, err: "aws secretsmanager create-secret: no secret is named; give --name"},
		{name: "other command", args: []string{"rotate-secret"}, err: `aws: unknown command "secretsmanager rotate-secret"; ` + remedy},
		{name: "other flag", args: []string{"list-secrets", "--filters", "x"}, err: "aws secretsmanager: unknown flag: --filters; " + remedy},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, said bytes.Buffer
			var asked control.SecretsRequest
			err := Run(t.Context(), &Options{
				Out: &out, ErrOut: &said, Args: append([]string{"secretsmanager"}, test.args...),
				Secrets: func(_ context.Context, r control.SecretsRequest) (json.RawMessage, error) {
					asked = r
					if test.refused != nil {
						return nil, test.refused
					}
					return json.RawMessage(answer), nil
				},
			})
			if (err == nil) != (test.err == "") || (err != nil && err.Error() != test.err) {
				t.Errorf("got the error %v, want %q", err, test.err)
			}
			region := test.region
			if region == "" && test.operation != "" {
				region = "eu-west-1"
			}
			assert.Check(t, is.Equal(asked.Operation, test.operation))
			assert.Check(t, is.Equal(asked.Region, region))
			assert.Check(t, is.Equal(string(asked.Input), test.input))
			assert.Check(t, is.Equal(out.String(), test.want))
			assert.Check(t, is.Equal(said.String(), test.said))
		})
	}
}
