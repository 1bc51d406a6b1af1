// Package awscli says how the AWS CLI is started with the credentials that a cluster file
// names: by a profile, and by a role that is assumed.
package awscli

import (
	"slices"
	"strings"

	"tombolo/config"
)

// Command is a command of the AWS CLI with the credentials of a cloud. Without a role to
// assume it is the CLI itself. The profile is an option: one in the environment,
// AWS_PROFILE, gives way to credentials there, such as a pipeline's.
// https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-authentication.html
//
// With one it is a shell that has the CLI assume the role with the profile's credentials, and
// run the command with the credentials of the session, which it keeps nowhere. The CLI could
// do this by a profile in its configuration, which is a file that others would need, too.
// `aws eks get-token` has --role-arn, but no option for an external id or a session's name:
// https://docs.aws.amazon.com/cli/latest/reference/eks/get-token.html,
// https://github.com/aws/aws-cli/issues/5942.
func Command(cloud config.Cloud, args ...string) (program string, words []string) {
	switch {
	case cloud.AssumeRole == nil && cloud.Profile == "":
		return "aws", args
	case cloud.AssumeRole == nil:
		return "aws", append(slices.Clone(args), "--profile", cloud.Profile)
	}
	return "sh", append([]string{"-c", script(cloud), "aws"}, args...)
}

// script assumes the role, and becomes the AWS CLI with the script's arguments. What STS
// answers is three words, none of which the shell could expand.
func script(cloud config.Cloud) string {
	role := cloud.AssumeRole
	assume := []string{"aws", "sts", "assume-role", "--region", cloud.Region, "--role-arn", role.RoleARN, "--role-session-name", role.SessionName}
	if cloud.Profile != "" {
		assume = slices.Insert(assume, 3, "--profile", cloud.Profile)
	}
	if role.ExternalID != "" {
		assume = append(assume, "--external-id", role.ExternalID)
	}
	assume = append(assume, "--query", "Credentials.[AccessKeyId,SecretAccessKey,SessionToken]", "--output", "text")
	for i, word := range assume {
		assume[i] = quote(word)
	}
	return `keys=$(` + strings.Join(assume, " ") + `) && ` +
		`export $(printf 'AWS_ACCESS_KEY_ID=%s AWS_SECRET_ACCESS_KEY=%s AWS_SESSION_TOKEN=%s' $keys) && ` +
		`unset AWS_PROFILE AWS_DEFAULT_PROFILE && exec aws "$@"`
}

// plain are the characters that mean nothing to a shell.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@"

// quote makes one word of the shell's of any text.
func quote(text string) string {
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
