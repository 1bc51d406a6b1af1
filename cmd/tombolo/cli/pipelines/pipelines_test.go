package pipelines

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

const acme = `version: 1
name: acme
protect: PROTECT
cloud: {provider: aws, region: eu-central-1, account: "111122223333"}
state: {bucketArn: "arn:aws:s3:::acme-state"}
pipelines: {host: github, repository: acme/clusters, apply: {policyArns: ["arn:aws:iam::aws:policy/PowerUserAccess"]}}
`

// fake is a driver that says what it was asked for.
type fake struct {
	asked []string
	to    automation.DestroyOptions
}

func (f *fake) did(what string, a *config.Account) (automation.Result, error) {
	f.asked = append(f.asked, what+" "+a.Name)
	return automation.Result{Cluster: a.Name, Stacks: []automation.StackResult{{Stack: a.Name + "-pipelines", Changes: automation.Changes{"create": 5}}}}, nil
}

func (f *fake) UpPipelines(_ context.Context, a *config.Account, _ automation.UpOptions) (automation.Result, error) {
	return f.did("up", a)
}

func (f *fake) PreviewPipelines(_ context.Context, a *config.Account, _ automation.PreviewOptions) (automation.Result, error) {
	return f.did("preview", a)
}

func (f *fake) DestroyPipelines(_ context.Context, a *config.Account, o automation.DestroyOptions) (automation.Result, error) {
	f.to = o
	return f.did("destroy", a)
}

func (f *fake) PipelinesOutputs(context.Context, *config.Account) (map[string]automation.Output, error) {
	return map[string]automation.Output{"previewRoleArn": {Value: "arn:preview"}, "applyRoleArn": {Value: "arn:apply"}}, nil
}

// run runs a command in a project with one account, without a terminal.
func run(t *testing.T, protect bool, args ...string) (driver *fake, stdout string, _ error) {
	t.Helper()
	root := clitest.Project(t, nil)
	assert.NilError(t, os.Mkdir(filepath.Join(root, "accounts"), 0o755))
	text := strings.Replace(acme, "PROTECT", map[bool]string{true: "true", false: "false"}[protect], 1)
	assert.NilError(t, os.WriteFile(filepath.Join(root, "accounts", "acme.yaml"), []byte(text), 0o600))
	f := clitest.At(root, render.Text)
	driver = &fake{}
	cmd := NewCmdPipelines(f.Factory, func(ctx context.Context, o *Options) error {
		o.Driver = func(context.Context, automation.Observer) (Driver, error) { return driver, nil }
		return map[string]func(context.Context, *Options) error{
			"up": upRun, "preview": previewRun, "destroy": destroyRun, "outputs": outputsRun, "validate": validateRun,
		}[args[0]](ctx, o)
	})
	err := clitest.Execute(t, cmd, args...)
	return driver, f.Out.String(), err
}

func TestCommands(t *testing.T) {
	for command, want := range map[string]string{
		"up acme --yes": "up acme", "preview acme": "preview acme", "destroy acme --yes": "destroy acme", "validate acme": "",
	} {
		driver, _, err := run(t, false, strings.Fields(command)...)
		assert.Check(t, err, command)
		assert.Check(t, is.Equal(strings.Join(driver.asked, ","), want), command)
	}
	_, out, err := run(t, false, "outputs", "acme", "previewRoleArn")
	assert.Check(t, err)
	assert.Check(t, is.Equal(out, "arn:preview\n"))
}

func TestProtected(t *testing.T) {
	driver, _, err := run(t, true, "destroy", "acme", "--yes")
	assert.ErrorContains(t, err, "acme is protected, and --yes does not destroy what is protected")
	assert.Check(t, is.Len(driver.asked, 0))
	driver, _, err = run(t, true, "destroy", "acme", "--yes-destroy", "acme")
	assert.NilError(t, err)
	assert.Check(t, driver.to.Confirmed)
}

func TestUsage(t *testing.T) {
	for command, want := range map[string]string{
		"up acme":                       "--yes",
		"up":                            "no account is named",
		"up acne --yes":                 `account "acne" is not known, did you mean "acme"?`,
		"destroy acme":                  "--yes",
		"destroy acme --yes-destroy ac": "--yes-destroy names ac, and the account is acme",
		"outputs acme role":             `the pipelines of acme have no output "role"`,
		"validate nowhere.yaml":         "check the path, or name the account",
		"preview acme staging":          "too many arguments: staging",
	} {
		driver, _, err := run(t, false, strings.Fields(command)...)
		assert.Check(t, is.ErrorContains(err, want), command)
		assert.Check(t, is.Len(driver.asked, 0), command)
	}
}
