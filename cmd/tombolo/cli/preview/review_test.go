package preview

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// dangerous is a driver whose previews take a node group away.
type dangerous struct{ observer automation.Observer }

func (d dangerous) Preview(_ context.Context, c *config.Cluster, _ automation.PreviewOptions) (automation.Result, error) {
	stack := c.Name + "-core"
	d.observer.StackStarted(stack, "preview")
	d.observer.EngineEvent(stack, events.EngineEvent{EngineEvent: apitype.EngineEvent{
		ResourcePreEvent: &apitype.ResourcePreEvent{Planning: true, Metadata: apitype.StepEventMetadata{
			Op: apitype.OpDelete, Type: "aws:eks/nodeGroup:NodeGroup", URN: "urn:pulumi:s::p::aws:eks/nodeGroup:NodeGroup::system",
			Old: &apitype.StepEventStateMetadata{Custom: true, ID: "demo:system"},
		}},
	}})
	d.observer.StackFinished(stack, automation.Changes{"delete": 1}, nil)
	return automation.Result{Cluster: c.Name, Stacks: []automation.StackResult{{Stack: stack, Operation: "preview", Changes: automation.Changes{"delete": 1}}}}, nil
}

func (dangerous) List(context.Context, string) ([]automation.ClusterInfo, error) { return nil, nil }

// harmless is a driver whose previews find nothing.
type harmless struct{ driver }

func (harmless) Preview(_ context.Context, c *config.Cluster, _ automation.PreviewOptions) (automation.Result, error) {
	return automation.Result{Cluster: c.Name}, nil
}

// broken is a driver whose preview of one cluster fails.
type broken struct{ driver }

func (b broken) Preview(ctx context.Context, c *config.Cluster, o automation.PreviewOptions) (automation.Result, error) {
	if c.Name == "broken" {
		return automation.Result{Cluster: c.Name}, errors.New("the account is another one")
	}
	return b.driver.Preview(ctx, c, o)
}

// previewed runs the command with a driver, in a project with these files.
func previewed(t *testing.T, open func(automation.Observer) Driver, files map[string]string, args ...string) (dir, stdout, stderr string, err error) {
	t.Helper()
	dir = clitest.Project(t, nil)
	for name, text := range files {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
	f := clitest.At(dir, render.Text)
	f.Lookup = os.LookupEnv
	cmd := NewCmdPreview(f.Factory, func(ctx context.Context, o *Options) error {
		o.Clusters = clitest.Named(func(name string) *config.Cluster {
			return &config.Cluster{Name: name, Environment: "prod", Cloud: config.Cloud{Provider: config.AWS}}
		})
		o.Driver = func(_ context.Context, observer automation.Observer) (Driver, error) { return open(observer), nil }
		return previewRun(ctx, o)
	})
	err = clitest.Execute(t, cmd, args...)
	return dir, f.Out.String(), f.ErrOut.String(), err
}

const denies = `version: 1
rules:
  - name: nodes
    match: {dangers: [node-group]}
    decision: DECISION
`

func TestReview(t *testing.T) {
	changing := func(o automation.Observer) Driver { return driver{o} }
	taking := func(o automation.Observer) Driver { return dangerous{o} }
	policy := func(decision config.Decision) map[string]string {
		return map[string]string{config.PolicyFile: strings.ReplaceAll(denies, "DECISION", string(decision))}
	}
	const refused = "tombolo.policy.yaml does not let the change pass: nodes "
	for _, test := range []struct {
		name  string
		open  func(automation.Observer) Driver
		files map[string]string
		args  []string
		class fault.Class // "" is success
		want  string      // of the error
	}{
		{"changes", changing, nil, []string{"--exit-code"}, fault.Changes, "1 cluster would change"},
		{"changes of two", changing, nil, []string{"--exit-code", "second"}, fault.Changes, "2 clusters would change"},
		{"changes, without a word of it", changing, nil, nil, "", ""},
		{"no changes", func(o automation.Observer) Driver { return harmless{driver{o}} }, nil, []string{"--exit-code"}, "", ""},
		{"danger", taking, nil, []string{"--exit-code"}, fault.Dangerous, "the change is dangerous in 1 place"},
		{"a second approval that is not there", taking, policy(config.SecondApproval), []string{"--approvals", "1"}, fault.Policy, refused + "(second-approval)"},
		{"a second approval", taking, policy(config.SecondApproval), []string{"--approvals", "2", "--exit-code"}, fault.Dangerous, "dangerous"},
		{"a denial", taking, policy(config.Deny), []string{"--approvals", "9"}, fault.Policy, refused + "(deny)"},
		{"a policy that nothing matches", changing, policy(config.Deny), nil, "", ""},
		{"a policy that is not there", changing, nil, []string{"--policy", "missing.yaml"}, fault.Usage, "--policy missing.yaml: there is no such file"},
		{"a size that nothing fits into", changing, nil, []string{"--max-size", "10"}, fault.Usage, "--max-size is 10; give 2000 or more"},
		{"a key that ends the marker", changing, nil, []string{"--comment-key", "a--b"}, fault.Usage, `--comment-key is "a--b"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, stdout, stderr, err := previewed(t, test.open, test.files, append([]string{"demo", "--output", "markdown"}, test.args...)...)
			switch {
			case test.class == "" && err != nil:
				t.Errorf("error %v", err)
			case test.class != "" && (!fault.Is(err, test.class) || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want %q of class %s", err, test.want, test.class)
			}
			if written := strings.HasPrefix(stdout, "<!-- tombolo:preview:preview -->\n## "); written == (test.class == fault.Usage) {
				t.Errorf("the data is\n%s\nand the rest\n%s", stdout, stderr)
			}
		})
	}
}

// The host is asked when there is a policy, and in a job that knows of one.
func TestApprovalsWithoutAHost(t *testing.T) {
	open := func(o automation.Observer) Driver { return dangerous{o} }
	t.Setenv("GITHUB_ACTIONS", "")
	t.Setenv("GITLAB_CI", "")
	t.Setenv("TF_BUILD", "")
	args := []string{"demo", "--output", "markdown", "--approvals", "auto"}
	if _, _, _, err := previewed(t, open, nil, args...); err != nil {
		t.Errorf("without a policy: %v", err)
	}
	files := map[string]string{config.PolicyFile: strings.ReplaceAll(denies, "DECISION", string(config.SecondApproval))}
	_, stdout, _, err := previewed(t, open, files, args...)
	if err == nil || !strings.Contains(err.Error(), "this is no job of GitHub Actions, of GitLab CI, or of Azure Pipelines") || stdout != "" {
		t.Errorf("error %v, data %q", err, stdout)
	}
}

// A preview that fails is in the comment, beside the others, and fails the command.
func TestReviewOfWhatFails(t *testing.T) {
	open := func(o automation.Observer) Driver { return broken{driver{o}} }
	dir, stdout, stderr, err := previewed(t, open, nil, "demo", "broken", "--output", "markdown", "--exit-code", "--html", "preview.html")
	assert.Check(t, is.ErrorContains(err, "the account is another one"))
	for _, want := range []string{"**The preview of broken is incomplete:** `the account is another one`\n", "<details><summary><b>demo</b>: 1 to create</summary>"} {
		assert.Check(t, is.Contains(stdout, want))
	}
	if !strings.Contains(stderr, "broken") || strings.Contains(stderr, "<!--") {
		t.Errorf("besides the comment it says\n%s", stderr)
	}
	page, err := os.ReadFile(filepath.Join(dir, "preview.html"))
	if err != nil || !strings.Contains(string(page), "incomplete: the account is another one") {
		t.Errorf("the page is %s, %v", page, err)
	}
}

// The page alone changes nothing of what else is written.
func TestPageBesidesPlans(t *testing.T) {
	open := func(o automation.Observer) Driver { return driver{o} }
	dir, stdout, stderr, err := previewed(t, open, nil, "demo", "--html", "preview.html")
	if err != nil || !strings.HasPrefix(stdout, "demo-core: 0 changes, 9 unchanged\n") || !strings.Contains(stderr, "the page is in preview.html") {
		t.Errorf("error %v, data\n%s\nand\n%s", err, stdout, stderr)
	}
	if page, err := os.ReadFile(filepath.Join(dir, "preview.html")); err != nil || !strings.Contains(string(page), "infra-config") {
		t.Errorf("the page is %s, %v", page, err)
	}
}
