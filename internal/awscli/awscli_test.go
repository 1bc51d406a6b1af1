package awscli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/config"
)

func TestCommandWithoutARole(t *testing.T) {
	program, words := Command(config.Cloud{Profile: "dev"}, "eks", "get-token")
	assert.Equal(t, program, "aws")
	assert.DeepEqual(t, words, []string{"eks", "get-token", "--profile", "dev"})
	_, words = Command(config.Cloud{}, "eks", "get-token")
	assert.DeepEqual(t, words, []string{"eks", "get-token"})
}

// fakeAWS says what it is asked, and as whom.
const fakeAWS = `#!/bin/sh
if [ "$1" = sts ]; then
  echo "$AWS_PROFILE $*" >> "$LOG"
  [ -n "$REFUSED" ] && { echo "AccessDenied" >&2; exit 254; }
  printf 'ASIA1\twJalr/+=\tFwoGZ=='
  exit
fi
echo "$AWS_ACCESS_KEY_ID $AWS_SECRET_ACCESS_KEY $AWS_SESSION_TOKEN profile=$AWS_PROFILE $*"
`

// run starts a command with the fake in PATH.
func run(t *testing.T, cloud config.Cloud, more ...string) (out string, asked string, err error) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "aws"), []byte(fakeAWS), 0o700)) //nolint:gosec // a program
	program, words := Command(cloud, "eks", "get-token", "--cluster-name", "a b")
	command := exec.Command(program, words...)
	command.Env = append([]string{"PATH=" + dir + ":/bin:/usr/bin", "LOG=" + log, "AWS_PROFILE=base"}, more...)
	text, err := command.Output()
	all, _ := os.ReadFile(log)
	return string(text), string(all), err
}

// TestCommandAssumesTheRole with the profile's credentials, and runs with the session's.
func TestCommandAssumesTheRole(t *testing.T) {
	cloud := config.Cloud{Region: "eu-central-1", AssumeRole: &config.AssumeRole{
		RoleARN: "arn:aws:iam::111122223333:role/x/tombolo", ExternalID: "it's", SessionName: "tombolo-demo",
	}}
	out, asked, err := run(t, cloud)
	assert.NilError(t, err)
	assert.Equal(t, out, "ASIA1 wJalr/+= FwoGZ== profile= eks get-token --cluster-name a b\n")
	assert.Equal(t, asked, "base sts assume-role --region eu-central-1 --role-arn arn:aws:iam::111122223333:role/x/tombolo --role-session-name tombolo-demo"+
		" --external-id it's --query Credentials.[AccessKeyId,SecretAccessKey,SessionToken] --output text\n")

	out, _, err = run(t, cloud, "REFUSED=1")
	assert.ErrorType(t, err, new(exec.ExitError))
	assert.Equal(t, out, "", "the command ran without the role")
}
