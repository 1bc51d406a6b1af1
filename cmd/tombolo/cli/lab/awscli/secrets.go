package awscli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/lab/control"
)

// secretCommands are the commands of `aws secretsmanager` that the lab's aws knows, with
// their operations and the flag that each needs.
var secretCommands = map[string]struct{ operation, needs string }{
	"create-secret": {"CreateSecret", "name"}, "put-secret-value": {"PutSecretValue", "secret-id"},
	"get-secret-value": {"GetSecretValue", "secret-id"}, "describe-secret": {"DescribeSecret", "secret-id"},
	"delete-secret": {"DeleteSecret", "secret-id"}, "list-secrets": {"ListSecrets", ""},
}

// secretMembers are the members of requests by the flags of the CLI.
var secretMembers = map[string]string{
	"name": "Name", "secret-id": "SecretId", "description": "Description", "kms-key-id": "KmsKeyId", "client-request-token": "ClientRequestToken",
	"version-id": "VersionId", "version-stage": "VersionStage", "secret-string": "SecretString", "secret-binary": "SecretBinary",
}

// awsSecrets is `aws secretsmanager`. args are what follows that word.
func awsSecrets(ctx context.Context, o *Options, args []string) error {
	fs := pflag.NewFlagSet("aws secretsmanager", pflag.ContinueOnError)
	fs.Usage = func() {}
	given := map[string]*string{}
	for flag := range secretMembers {
		given[flag] = fs.String(flag, "", "")
	}
	force := fs.Bool("force-delete-without-recovery", false, "")
	window := fs.Int("recovery-window-in-days", 0, "")
	region := fs.String("region", os.Getenv("AWS_REGION"), "")
	query := fs.String("query", "", "")
	output := fs.String("output", "json", "")
	fs.Bool("no-cli-pager", false, "")
	if err := fs.Parse(args); err != nil {
		return fault.NewUsage("aws secretsmanager: "+err.Error(), remedy)
	}
	command, known := secretCommands[strings.Join(fs.Args(), " ")]
	if !known {
		return fault.NewUsage(fmt.Sprintf("aws: unknown command %q", "secretsmanager "+strings.Join(fs.Args(), " ")), remedy)
	}
	if command.needs != "" && *given[command.needs] == "" {
		return fault.NewUsage("aws secretsmanager "+fs.Arg(0)+": no secret is named", "give --"+command.needs)
	}
	if *query != "" && (*query != "SecretString" || *output != "text") {
		return fault.NewUsage("aws secretsmanager: --query is for `--query SecretString --output text` here", remedy)
	}
	input := map[string]any{}
	for flag, member := range secretMembers {
		if !fs.Changed(flag) {
			continue
		}
		value, err := parameter(flag, *given[flag])
		if err != nil {
			return fault.NewUsage("aws secretsmanager: "+err.Error(), "name a file that can be read")
		}
		input[member] = value
	}
	if *force {
		input["ForceDeleteWithoutRecovery"] = true
	}
	if *window != 0 {
		input["RecoveryWindowInDays"] = *window
	}
	body, err := json.Marshal(input)
	if err != nil {
		return err
	}
	return writeSecrets(ctx, o, control.SecretsRequest{Operation: command.operation, Region: *region, Input: body}, *query != "")
}

// parameter reads a value, from a file where it says so:
// https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-parameters-file.html
func parameter(flag, value string) (string, error) {
	for _, scheme := range []string{"fileb://", "file://"} {
		path, ofFile := strings.CutPrefix(value, scheme)
		if !ofFile {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("read --%s: %w", flag, err)
		}
		if flag == "secret-binary" {
			return base64.StdEncoding.EncodeToString(content), nil
		}
		return string(content), nil
	}
	return value, nil
}

// writeSecrets writes the service's answer, or its refusal, as the AWS CLI does.
func writeSecrets(ctx context.Context, o *Options, r control.SecretsRequest, valueOnly bool) error {
	answer, err := o.Secrets(ctx, r)
	var refused *control.AWSError
	if errors.As(err, &refused) {
		return fault.Refuse(o.ErrOut, refusedCode, "\n%s\n", refused)
	}
	if err != nil {
		return err
	}
	if !valueOnly {
		return writeJSON(o.Out, answer)
	}
	var value struct{ SecretString string }
	if err := json.Unmarshal(answer, &value); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	_, err = fmt.Fprintln(o.Out, value.SecretString)
	return err
}
