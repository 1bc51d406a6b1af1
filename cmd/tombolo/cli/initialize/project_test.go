package initialize

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check"
	"tombolo/check/finding"
	"tombolo/check/published"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/platform/project"
	"tombolo/stacks/catalog"
)

const (
	subscription = "00000000-0000-4000-8000-000000000001"
	tenant       = "00000000-0000-4000-8000-00000000000a"
	group        = "00000000-0000-4000-8000-0000000000a1"
)

// begin runs a command of init in a directory with answers, on a terminal if there are some.
func begin(t *testing.T, dir, answers string, args ...string) (said string, err error) {
	t.Helper()
	return beginWith(t, dir, answers, nil, args...)
}

// beginWith does so where states of Terraform have networks.
func beginWith(t *testing.T, dir, answers string, networks func(context.Context, string, string, string) (catalog.TerraformNetwork, error), args ...string) (said string, err error) {
	t.Helper()
	f := clitest.At("", render.Text)
	f.Dir = dir
	if answers != "" {
		f.In.WriteString(answers)
		f.Streams.SetTerminal(80)
	}
	f.Programs.TerraformNetwork = func(ctx context.Context, in, address, of string, _ map[string]string) (catalog.TerraformNetwork, error) {
		return networks(ctx, in, address, of)
	}
	cmd := NewCmdInit(f.Factory)
	for name, value := range map[string]*string{"backend": &f.Globals.Backend, "secrets-provider": &f.Globals.SecretsProvider, "root": &f.Globals.Root} {
		cmd.PersistentFlags().StringVar(value, name, "", "")
	}
	err = clitest.Execute(t, cmd, args...)
	return f.ErrOut.String(), err
}

// flagsOf are those of a project in a cloud.
func flagsOf(provider config.Provider) []string {
	if provider == config.Azure {
		return []string{"--cloud", "azure", "--region", "germanywestcentral", "--account", subscription, "--tenant", tenant, "--admin-group", group}
	}
	return []string{"--cloud", "aws", "--region", "eu-central-1", "--account", "111122223333"}
}

// fits checks the project's files as validate and check do.
func fits(t *testing.T, dir string) []*config.Cluster {
	t.Helper()
	all, err := config.LoadDir(filepath.Join(dir, "clusters"))
	assert.NilError(t, err)
	var sets []published.Set
	for _, c := range all {
		sets = append(sets, published.To(c, c))
	}
	found, err := check.Check(os.DirFS(dir), "", sets)
	assert.NilError(t, err)
	for _, f := range found {
		assert.Check(t, is.Equal(f.Severity, finding.Note), "%v", f)
	}
	return all
}

// TestProject: what is written passes validate and check, and the second time nothing changes.
func TestProject(t *testing.T) {
	repositories := []string{
		"git@github.com:acme/clusters.git", "https://gitlab.com/acme/clusters.git", "https://acme@dev.azure.com/acme/platform/_git/clusters", "git@ssh.dev.azure.com:v3/acme/platform/clusters",
	}
	for _, provider := range []config.Provider{config.AWS, config.Azure} {
		for _, engine := range []config.Engine{config.Flux, config.ArgoCD} {
			repository := repositories[0]
			repositories = repositories[1:]
			t.Run(fmt.Sprint(provider, engine), func(t *testing.T) {
				dir := t.TempDir()
				args := append([]string{"project", "--engine", string(engine), "--repository", repository, "--allowed-cidr", "203.0.113.0/24", "--backend", "s3://acme-state"}, flagsOf(provider)...)
				for _, want := range []string{" written\n", " same\n"} {
					said, err := begin(t, dir, "", args...)
					assert.NilError(t, err)
					assert.Check(t, is.Contains(said, want))
					assert.Check(t, !strings.Contains(said, "kept"), "%s", said)
				}
				_, err := begin(t, dir, "", "cluster", "second")
				assert.NilError(t, err)
				_, err = begin(t, dir, "", "cluster", "third", "--like", "first")
				assert.NilError(t, err)
				all := fits(t, dir)
				assert.Assert(t, is.Len(all, 3))
				for i, want := range []string{"10.20.0.0/16", "10.21.0.0/16", "10.22.0.0/16"} {
					assert.Check(t, is.Equal(all[i].Network.CIDR, want))
					assert.Check(t, is.Equal(all[i].GitOps.Path, "clusters/"+all[i].Name))
					assert.Check(t, is.Equal(all[i].GitOps.URL, project.HTTPS(repository)))
				}
			})
		}
	}
}

// TestQuestions: a wrong answer is asked for again, an empty one is the default, and no line is wider
// than the terminal.
func TestQuestions(t *testing.T) {
	dir := t.TempDir()
	said, err := begin(t, dir, strings.Join([]string{
		"azur", "azure", "germany", "germanywestcentral", "", `"` + subscription + `"`, tenant, group, "x", "https://github.com/acme/clusters", "",
		"10.0.0.0/8", "private", "", "prod", "", "foo://x", "azblob://state", "nonsense", "", "acme/tombolo", "", "",
	}, "\n"), "project")
	assert.NilError(t, err)
	for _, want := range []string{
		"✗ \"azur\" is not a supported cloud", "did you mean germanynorth?\nRegion, such as germanywestcentral: ", "Engine (flux or argocd) [flux]: ",
		"Name of the first cluster [first]: Environment [dev]: ", "✗ this has no default; give an answer", "Subscription of Azure", "✗ this is not a Git URL", `"acme/tombolo" is no <host>/<owner>/<repository>`,
	} {
		assert.Check(t, is.Contains(said, want))
	}
	c := fits(t, dir)[0]
	assert.Check(t, *c.Kubernetes.Endpoint.Private && !c.Kubernetes.Endpoint.Public)
	assert.Check(t, is.Equal(c.Environment, "prod"))
	for line := range strings.Lines(said[strings.Index(said, "written"):]) {
		assert.Check(t, len(line) <= 80, "%s", line)
	}
	said, err = begin(t, dir, "second\naws\neu-central-1\n12\n111122223333\n\n\n\ntest\n", "cluster")
	assert.NilError(t, err)
	for _, want := range []string{"Name of the cluster: ", "Region, such as eu-central-1: Account of AWS", "write its 12 digits, such", "Environment [prod]: "} {
		assert.Check(t, is.Contains(said, want))
	}
	assert.Check(t, is.Equal(fits(t, dir)[1].Environment, "test"))
	said, err = begin(t, t.TempDir(), "aws\n", "project")
	assert.Check(t, is.ErrorContains(err, "reading the answer"))
	assert.Check(t, is.Contains(said, "Region"))
}

func TestProjectRefusals(t *testing.T) {
	complete := append([]string{"--repository", "https://github.com/acme/clusters", "--backend", "s3://x"}, flagsOf(config.AWS)...)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "missing: --cloud, --region, --account, --repository, --allowed-cidr or --private, --host, --backend"},
		{append(complete, "--private", "--allowed-cidr", "203.0.113.0/24"), "contradict each other"},
		{append(complete, "--private", "--name", "../x"), `--name: "../x" is not a DNS label`},
		{append(complete, "--private", "--source", "tombolo"), "--source: "},
		{append(complete, "--private", "--backend", "foo://x"), `--backend: "foo://x" is no URL of a Pulumi state`},
		{append(complete, "--private", "--backend", "s3:/oops"), "--backend: "},
		{append(complete, "--private", "--secrets-provider", "nonsense"), "--secrets-provider: "},
		{append(complete, "--private", "--account", "12"), `--account: "12" is not an AWS account; write its 12 digits, such as`},
		{append(complete, "--private", "--tree", "git@github.com"), "--tree: "},
		{append(complete, "--private", "--release", "latest"), "--release latest is no tag of a release"},
		{append(complete, "--private", "--checksums", "SHA256SUMS"), "this tombolo is a build between releases"},
		{append(complete, "--private", "--engine", "helm"), "must be one of: flux, argocd"},
	} {
		dir := t.TempDir()
		_, err := begin(t, dir, "", append([]string{"project"}, c.args...)...)
		assert.Check(t, is.ErrorContains(err, c.want), "%v", c.args)
		left, err := os.ReadDir(dir)
		assert.NilError(t, err)
		assert.Check(t, is.Len(left, 0), "%v", c.args)
	}
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte("name: shop\nruntime: go\n"), 0o600))
	_, err := begin(t, dir, "", append([]string{"project", "--private"}, complete...)...)
	assert.Check(t, is.ErrorContains(err, "is the project of another Pulumi program"))
}

// TestProjectKeeps: what is in the way stays, and is named; a wrong cluster file ends the command
// before it writes.
func TestProjectKeeps(t *testing.T) {
	args := append([]string{"project", "--private", "--repository", "https://github.com/acme/clusters", "--backend", "s3://x"}, flagsOf(config.AWS)...)
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte("Ours.\n"), 0o600))
	said, err := begin(t, dir, "", args...)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(said, "  kept     README.md, which is not as it would be written\n"))
	said, err = begin(t, dir, "", append(args, "--backend", "s3://right")...)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(said, "  kept     Pulumi.yaml, which is not as it would be written\n           its line 11 would be: url: s3://right\n"))

	dir = t.TempDir()
	assert.NilError(t, os.Mkdir(filepath.Join(dir, "clusters"), 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "clusters", "first.yaml"), []byte("version: 1\n"), 0o600))
	_, err = begin(t, dir, "", args...)
	assert.Check(t, is.ErrorContains(err, "first.yaml"))
	_, err = os.Stat(filepath.Join(dir, "Pulumi.yaml"))
	assert.Check(t, os.IsNotExist(err))

	for _, way := range []string{"clusters/base", "clusters/first", "apps"} {
		dir = t.TempDir()
		assert.NilError(t, os.Mkdir(filepath.Join(dir, "clusters"), 0o700))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, way), nil, 0o600))
		_, err = begin(t, dir, "", args...)
		assert.Check(t, is.ErrorContains(err, way+" has to be a directory, and a file is in its place; move the file away"))
		_, err = os.Stat(filepath.Join(dir, "Pulumi.yaml"))
		assert.Check(t, os.IsNotExist(err))
	}

	dir = t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "clusters"), nil, 0o600))
	_, err = begin(t, dir, "", args...)
	assert.Check(t, is.ErrorContains(err, "clusters"))
}

// TestProjectInARepository takes the address of its remote without the token there, and has to be its root.
func TestProjectInARepository(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q", dir}, {"-C", dir, "remote", "add", "origin", "https://ci:secret@github.com/acme/clusters.git"}} {
		out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput()
		assert.NilError(t, err, "%s", out)
	}
	args := append([]string{"--private", "--backend", "s3://x"}, flagsOf(config.AWS)...)
	_, err := begin(t, dir, "", append([]string{"project", "fleet", "--repository", "https://github.com/acme/clusters"}, args...)...)
	assert.Check(t, is.ErrorContains(err, "is in a Git repository, and the platform tree and the pipelines have to be at a repository's root"))
	_, err = begin(t, dir, "", append([]string{"project"}, args...)...)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(fits(t, dir)[0].GitOps.URL, "https://github.com/acme/clusters.git"))
}

// repository makes a directory one of Git, on a branch.
func repository(t *testing.T, dir, branch string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "init", "-q", "-b", branch, dir).CombinedOutput()
	assert.NilError(t, err, "%s", out)
}

// TestDefaults are those of the project's own first cluster, and no second engine's tree is mixed into the first one's.
func TestDefaults(t *testing.T) {
	dir := t.TempDir()
	_, err := begin(t, dir, "", append([]string{"project", "--name", "main", "--allowed-cidr", "203.0.113.0/24", "--repository", "https://github.com/acme/clusters", "--backend", "s3://acme-state"}, flagsOf(config.AWS)...)...)
	assert.NilError(t, err)
	_, err = begin(t, dir, "", "cluster", "alpha", "--yes", "--region", "us-east-1")
	assert.NilError(t, err)
	said, err := begin(t, dir, "", "cluster", "third", "--yes")
	assert.NilError(t, err)
	assert.Check(t, is.Contains(said, "  defaults: those of cluster main\n"))
	said, err = begin(t, dir, "", "project", "--yes")
	assert.NilError(t, err)
	assert.Check(t, !strings.Contains(said, "kept") && !strings.Contains(said, "written"), "%s", said)
	all := fits(t, dir)
	assert.Check(t, is.Equal(all[0].Name+all[0].Cloud.Region+all[2].Name+all[2].Cloud.Region, "alphaus-east-1thirdeu-central-1"))
	_, err = begin(t, dir, "", "cluster", "germany", "--yes", "--cloud", "azure", "--region", "germanywestcentral", "--account", subscription, "--tenant", tenant, "--admin-group", group, "--private")
	assert.NilError(t, err)

	for _, args := range [][]string{{"cluster", "argo"}, {"project"}} {
		_, err = begin(t, dir, "", append(args, "--yes", "--engine", "argocd")...)
		assert.Check(t, is.ErrorContains(err, "follows https://github.com/acme/clusters with flux; give --engine flux, or --tree"))
	}
	_, err = begin(t, dir, "", "cluster", "argo", "--yes", "--engine", "argocd", "--tree", "https://github.com/acme/argo")
	assert.NilError(t, err)
	_, err = begin(t, dir, "", "project", "--yes")
	assert.NilError(t, err)
	_, err = os.Stat(filepath.Join(dir, "app-of-apps"))
	assert.Check(t, os.IsNotExist(err))
}

// TestProjectBranch is the repository's own, in the cluster file and in the pipelines.
func TestProjectBranch(t *testing.T) {
	args := append([]string{"project", "--private", "--repository", "https://github.com/acme/clusters", "--backend", "s3://x", "--source", "github.com/acme/tombolo", "--release", "v1.2.3"}, flagsOf(config.AWS)...)
	for want, more := range map[string][]string{"master": nil, "live": {"--branch", "live"}} {
		dir := t.TempDir()
		repository(t, dir, "master")
		said, err := begin(t, dir, "", append(args, more...)...)
		assert.NilError(t, err)
		assert.Check(t, !strings.Contains(said, "git init"), "%s", said)
		_, err = begin(t, dir, "", "cluster", "second", "--yes")
		assert.NilError(t, err)
		for _, c := range fits(t, dir) {
			assert.Check(t, is.Equal(c.GitOps.Branch, want))
		}
		apply, err := os.ReadFile(filepath.Join(dir, ".github", "workflows", "apply.yml"))
		assert.NilError(t, err)
		assert.Check(t, is.Contains(string(apply), "branches: ["+want+"]"))
	}
	_, err := begin(t, t.TempDir(), "", append(args, "--branch", "a b")...)
	assert.Check(t, is.ErrorContains(err, "--branch: "))
}

// TestProjectRoot: --root names the directory, too, and pipelines are at the root of a repository.
func TestProjectRoot(t *testing.T) {
	args := append([]string{"--private", "--repository", "https://github.com/acme/clusters", "--backend", "s3://x"}, flagsOf(config.AWS)...)
	dir, elsewhere := t.TempDir(), t.TempDir()
	said, err := begin(t, dir, "", append([]string{"project", "--root", elsewhere}, args...)...)
	assert.NilError(t, err)
	fits(t, elsewhere)
	assert.Check(t, is.Contains(said, "  first:    cd "+elsewhere+" && git init -b main\n"))
	_, err = begin(t, dir, "", append([]string{"project", "here", "--root", elsewhere}, args...)...)
	assert.Check(t, is.ErrorContains(err, "the directory is named twice"))

	repository(t, dir, "main")
	args = append(args, "--tree", "https://github.com/acme/platform", "--release", "v1.2.3")
	_, err = begin(t, dir, "", append([]string{"project", "infra", "--source", "github.com/acme/tombolo"}, args...)...)
	assert.Check(t, is.ErrorContains(err, "the pipelines have to be at a repository's root"))
	_, err = begin(t, dir, "", append([]string{"project", "infra"}, args...)...)
	assert.NilError(t, err)
}

// TestProjectOfARelease has the pin, and the files of the pipelines; its tree is elsewhere.
func TestProjectOfARelease(t *testing.T) {
	dir := t.TempDir()
	sums := filepath.Join(t.TempDir(), "SHA256SUMS")
	line := strings.Repeat("a", 64) + "  tombolo_1.2.3_linux_amd64.tar.gz\n"
	assert.NilError(t, os.WriteFile(sums, []byte(line+strings.Repeat("b", 64)+"  NOTES.md\n"), 0o600))
	f := clitest.At("", render.Text)
	f.Dir, f.Globals.Backend = dir, "s3://x"
	execute := func(args ...string) {
		f.ErrOut.Reset()
		assert.NilError(t, clitest.Execute(t, NewCmdProject(f.Factory), append(append(args, "--private", "--release", "v1.2.3", "--repository", "https://github.com/acme/clusters",
			"--source", "github.com/acme/tombolo", "--tree", "git@github.com:acme/platform.git"), flagsOf(config.AWS)...)...))
	}
	execute()
	assert.Check(t, is.Contains(f.ErrOut.String(), "  the pin:  gh release download v1.2.3 -R acme/tombolo -p SHA256SUMS\n"))
	assert.Check(t, is.Contains(f.ErrOut.String(), "in a clone of the tree: tombolo init platform <dir> first"))
	execute("--checksums", sums)
	for path, want := range map[string]string{
		"tombolo.sha256": line, ".github/workflows/apply.yml": "    uses: acme/tombolo/.github/workflows/apply.yml@v1.2.3\n",
		"Makefile": "https://github.com/acme/tombolo/releases/download/",
	} {
		got, err := os.ReadFile(filepath.Join(dir, path))
		assert.NilError(t, err)
		assert.Check(t, is.Contains(string(got), want))
	}
	c, err := config.Load(filepath.Join(dir, "clusters", "first.yaml"))
	assert.NilError(t, err)
	assert.Check(t, is.Equal(c.GitOps.URL, "https://github.com/acme/platform.git"))
	_, err = os.Stat(filepath.Join(dir, "apps"))
	assert.Check(t, os.IsNotExist(err))
}

// TestNewClusterOfSharedSettings has what they say, but for what was asked.
func TestNewClusterOfSharedSettings(t *testing.T) {
	dir := t.TempDir()
	_, err := begin(t, dir, "", append([]string{"project", "--private", "--repository", "https://github.com/acme/clusters", "--backend", "s3://x"}, flagsOf(config.AWS)...)...)
	assert.NilError(t, err)
	shared := "kubernetes:\n  version: \"1.35\"\ncloud:\n  provider: aws\n  region: eu-central-1\n"
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "clusters", "_defaults.yaml"), []byte(shared), 0o600))
	_, err = begin(t, dir, "", "cluster", "second", "--yes", "--region", "us-east-1")
	assert.NilError(t, err)
	c := fits(t, dir)[1]
	assert.Check(t, is.Equal(c.Kubernetes.Version+c.Cloud.Region, "1.35us-east-1"))
	text, err := os.ReadFile(filepath.Join(dir, "clusters", "second.yaml"))
	assert.NilError(t, err)
	assert.Check(t, !strings.Contains(string(text), "provider: aws"), "%s", text)
}

func TestNewClusterRefusals(t *testing.T) {
	dir := t.TempDir()
	_, err := begin(t, dir, "", append([]string{"project", "--private", "--repository", "https://github.com/acme/clusters", "--backend", "s3://x"}, flagsOf(config.AWS)...)...)
	assert.NilError(t, err)
	for want, args := range map[string][]string{
		"the cluster is not named":        {},
		`"a/b" is no name`:                {"a/b"},
		"exists already":                  {"first"},
		"--region does not go with":       {"second", "--like", "first", "--region", "eu-west-1"},
		"--region: \"x\" is not":          {"second", "--region", "x"},
		"did you mean":                    {"second", "--like", "frist"},
		"--account: \"12\" is not an AWS": {"second", "--account", "12"},
		"missing: --region, --account, --tenant, --admin-group": {"second", "--cloud", "azure"},
	} {
		_, err := begin(t, dir, "", append([]string{"cluster"}, args...)...)
		assert.Check(t, is.ErrorContains(err, want), "%v", args)
	}
	_, err = os.Stat(filepath.Join(dir, "clusters", "second.yaml"))
	assert.Check(t, os.IsNotExist(err))
}
