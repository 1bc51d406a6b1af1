package pipelines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
)

const acmeProd = `version: 1
name: acme-prod
cloud: {provider: aws, region: eu-west-1, account: "444455556666", roles: {path: /tombolo/}}
pipelines: {from: acme, apply: {policyArns: ["arn:aws:iam::aws:policy/PowerUserAccess"]}}
`

// profiles runs the command in a project with two accounts, and has AWS's own SDK read a
// profile of what it prints.
func profiles(t *testing.T, env map[string]string, role string) (awsconfig.SharedConfig, string, error) {
	t.Helper()
	root := clitest.Project(t, nil)
	assert.NilError(t, os.Mkdir(filepath.Join(root, "accounts"), 0o755))
	for name, text := range map[string]string{"acme": strings.Replace(acme, "PROTECT", "false", 1), "acme-prod": acmeProd} {
		assert.NilError(t, os.WriteFile(filepath.Join(root, "accounts", name+".yaml"), []byte(text), 0o600))
	}
	f := clitest.At(root, render.Text)
	for name, value := range map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_ROLE_ARN": ""} {
		t.Setenv(name, value)
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
	if err := clitest.Execute(t, NewCmdPipelines(f.Factory, nil), "profiles", role); err != nil {
		return awsconfig.SharedConfig{}, "", err
	}
	path := filepath.Join(t.TempDir(), "config")
	assert.NilError(t, os.WriteFile(path, f.Out.Bytes(), 0o600))
	profile, err := awsconfig.LoadSharedConfigProfile(t.Context(), "acme-prod", func(o *awsconfig.LoadSharedConfigOptions) {
		o.ConfigFiles, o.CredentialsFiles = []string{path}, []string{}
	})
	return profile, f.Out.String(), err
}

// TestProfiles: a job of GitHub has its credentials in the environment, one of GitLab a token
// in a file; from both a profile leads to the account's role.
func TestProfiles(t *testing.T) {
	profile, text, err := profiles(t, nil, "preview")
	assert.NilError(t, err)
	assert.Equal(t, profile.RoleARN, "arn:aws:iam::444455556666:role/tombolo/acme-prod-pipelines-preview")
	assert.Equal(t, profile.CredentialSource, "Environment")
	assert.Equal(t, profile.Region, "eu-west-1")
	assert.Check(t, !strings.Contains(text, "[profile acme]"), "the job has that account's role already")

	token := filepath.Join(t.TempDir(), "token")
	assert.NilError(t, os.WriteFile(token, []byte("secret"), 0o600))
	const job = "arn:aws:iam::111122223333:role/acme-pipelines-apply"
	profile, text, err = profiles(t, map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": job}, "apply")
	assert.NilError(t, err)
	assert.Equal(t, profile.RoleARN, "arn:aws:iam::444455556666:role/tombolo/acme-prod-pipelines-apply")
	assert.Assert(t, profile.Source != nil)
	assert.Equal(t, profile.Source.RoleARN, job)
	assert.Equal(t, profile.Source.WebIdentityTokenFile, token)
	assert.Check(t, !strings.Contains(text, "secret"))

	_, _, err = profiles(t, nil, "admin")
	assert.Check(t, is.ErrorContains(err, `"admin" is no role of pipelines`))
}
