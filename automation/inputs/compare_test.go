package inputs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"tombolo/automation/fault"
	"tombolo/config"
	"tombolo/tests/files"
)

// checkout is a project in the directory infra of a repository, with one
// commit.
type checkout struct {
	t         *testing.T
	repo, dir string
}

const goMod = `module tombolo

go 1.26

require (
	example.com/unused v1.0.0
	example.com/used v1.0.0
)

replace (
	example.com/unused => ./modules/unused
	example.com/used => ./modules/used
)
`

const fluxCluster = `version: 1
name: NAME
environment: dev
cloud: {provider: aws, region: eu-central-1, account: "111122223333"}
network:
  cidr: 10.0.0.0/16
  zones: [eu-central-1a, eu-central-1b]
kubernetes:
  version: "1.35"
  nodeGroups:
    - {name: default, instanceTypes: [m7i.large], size: {min: 1, max: 3}}
gitops:
  engine: flux
  url: https://git.example.com/platform.git
  branch: main
  path: clusters/NAME
  auth: {type: basic, password: {file: token}}
  distribution: {version: v2.7.5, path: ../flux/install.yaml}
`

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	repo := t.TempDir()
	c := &checkout{t: t, repo: repo, dir: filepath.Join(repo, "infra")}
	for name, text := range map[string]string{
		"Pulumi.yaml": "name: tombolo\n",
		"go.mod":      goMod, "go.sum": "example.com/sum v1.0.0 h1:one=\n",
		".gitignore":                           "/clusters/token\n/clusters/ignored.yaml\n",
		"cmd/program/main.go":                  "package main\n\nimport (\n\t_ \"example.com/used\"\n\t_ \"tombolo/stacks\"\n)\n\nfunc main() {}\n",
		"cmd/tombolo/main.go":                  "package main\n\nfunc main() {}\n",
		"stacks/stacks.go":                     "package stacks\n\nimport _ \"embed\"\n\n//go:embed data\nvar Text string\n",
		"stacks/old.go":                        "package stacks\n",
		"stacks/data":                          "text\n",
		"modules/used/u.go":                    "package used\n",
		"modules/used/go.mod":                  "module example.com/used\n",
		"modules/unused/u.go":                  "package unused\n",
		"modules/unused/g.mod":                 "",
		"modules/next/u.go":                    "package used\n",
		"modules/next/go.mod":                  "module example.com/used\n",
		"flux/install.yaml":                    "kind: List\n",
		"clusters/one.yaml":                    strings.ReplaceAll(fluxCluster, "NAME", "one"),
		"clusters/two.yaml":                    strings.ReplaceAll(fluxCluster, "NAME", "two"),
		"clusters/mgmt.yaml":                   c.sample("mgmt"),
		"clusters/spoke.yaml":                  c.sample("spoke"),
		"clusters/argocd-install.yaml":         "kind: List\n",
		"clusters/token":                       "s3cr3t",
		"clusters/Pulumi.one-core.yaml":        "encryptionsalt: x\n",
		"tree/clusters/one/kustomization.yaml": "resources: []\n",
		"tree/clusters/two/kustomization.yaml": "resources: []\n",
		"tree/addons/a.yaml":                   "kind: List\n",
		"README.md":                            "text\n",
	} {
		c.write(name, text)
	}
	c.git("init", "-q", "--initial-branch=main")
	c.commit()
	return c
}

// sample is a cluster file of the stacks' test data.
func (c *checkout) sample(name string) string {
	text, err := os.ReadFile("../../stacks/programs/testdata/clusters/" + name + ".yaml")
	assert.NilError(c.t, err)
	return string(text)
}

func (c *checkout) write(name, text string) {
	c.t.Helper()
	files.Write(c.t, filepath.Join(c.dir, name), text)
}

func (c *checkout) replace(name, old, text string) {
	c.t.Helper()
	have, err := os.ReadFile(filepath.Join(c.dir, name))
	assert.Assert(c.t, err == nil && strings.Contains(string(have), old), "%s has no %q, error %v", name, old, err)
	c.write(name, strings.ReplaceAll(string(have), old, text))
}

func (c *checkout) remove(name string) {
	c.t.Helper()
	assert.NilError(c.t, os.Remove(filepath.Join(c.dir, name)))
}

func (c *checkout) git(args ...string) {
	c.t.Helper()
	files.Git(c.t, c.repo, args...)
}

func (c *checkout) commit() {
	c.t.Helper()
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "as it was")
}

// since compares with ref and returns the reasons as text, by cluster.
func (c *checkout) since(ref, tree string, names ...string) (map[string][]string, Report, error) {
	c.t.Helper()
	if len(names) == 0 {
		names = []string{"one", "two", "mgmt", "spoke"}
	}
	var all []*config.Cluster
	for _, name := range names {
		cluster, err := config.Load(filepath.Join(c.dir, "clusters", name+".yaml"))
		assert.NilError(c.t, err)
		all = append(all, cluster)
	}
	report, err := Since(c.t.Context(), Options{Root: c.dir, Ref: ref, Tree: tree}, all)
	lines := map[string][]string{}
	for name, reasons := range report.Clusters {
		for _, r := range reasons {
			lines[name] = append(lines[name], r.String())
		}
	}
	return lines, report, err
}

// everybody has the same reason.
func everybody(line string) map[string][]string {
	return map[string][]string{"one": {line}, "two": {line}, "mgmt": {line}, "spoke": {line}}
}

func TestSince(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*checkout)
		tree   string
		want   map[string][]string
	}{
		{name: "nothing", change: func(*checkout) {}},
		{name: "what no stack reads", change: func(c *checkout) {
			c.write("README.md", "other\n")
			c.write("stacks/stacks_test.go", "package stacks\n")
			c.write("lab/charts/other", "other\n")
			c.write("tree/addons/a.yaml", "kind: Other\n")
			c.write("clusters/token", "other")
		}},
		{
			name: "a cluster's file", change: func(c *checkout) { c.replace("clusters/one.yaml", "max: 3", "max: 4") },
			want: map[string][]string{"one": {"cluster file: clusters/one.yaml changed"}},
		},
		{
			name: "a change that is committed", change: func(c *checkout) {
				c.replace("clusters/one.yaml", "max: 3", "max: 4")
				c.commit()
			},
			want: map[string][]string{"one": {"cluster file: clusters/one.yaml changed"}},
		},
		{
			name: "a hub's file", change: func(c *checkout) { c.write("clusters/mgmt.yaml", c.sample("mgmt")+"# more\n") },
			want: map[string][]string{
				"mgmt": {"cluster file: clusters/mgmt.yaml changed"}, "spoke": {"hub's cluster file: clusters/mgmt.yaml changed"},
			},
		},
		{
			name: "a renamed cluster", change: func(c *checkout) {
				c.git("mv", "infra/clusters/two.yaml", "infra/clusters/old.yaml")
				c.git("commit", "-q", "-m", "rename")
				c.git("update-ref", "refs/heads/base", "HEAD")
				c.git("mv", "infra/clusters/old.yaml", "infra/clusters/two.yaml")
			},
			want: map[string][]string{"two": {"cluster file: clusters/two.yaml added"}},
		},
		{
			name: "settings of a stack", change: func(c *checkout) {
				c.remove("clusters/Pulumi.one-core.yaml")
				c.write("clusters/Pulumi.two-bootstrap.yaml", "config: {}\n")
			},
			want: map[string][]string{
				"one": {"stack settings: clusters/Pulumi.one-core.yaml removed"},
				"two": {"stack settings: clusters/Pulumi.two-bootstrap.yaml added"},
			},
		},
		{
			name: "a manifest that files name", change: func(c *checkout) { c.write("flux/install.yaml", "kind: Other\n") },
			want: map[string][]string{
				"one": {"file it names: flux/install.yaml changed"}, "two": {"file it names: flux/install.yaml changed"},
			},
		},
		{
			name: "the program", change: func(c *checkout) {
				c.write("stacks/data", "other\n")
				c.write("stacks/new.go", "package stacks\n")
				c.write("cmd/program/main.go", "package main\n\nimport _ \"tombolo/stacks\"\n\nfunc main() {}\n")
				c.remove("stacks/old.go")
			},
			want: everybody("program: cmd/program/main.go changed, stacks/data changed, stacks/new.go added and 1 more"),
		},
		{
			name: "the project file", change: func(c *checkout) { c.write("Pulumi.yaml", "name: tombolo\nruntime: go\n") },
			want: everybody("project file: Pulumi.yaml changed"),
		},
		{
			name: "source that the program does not import", change: func(c *checkout) { c.write("cmd/tombolo/main.go", "package main\n\nfunc main() { println() }\n") },
			want: everybody("program: cmd/tombolo/main.go changed"),
		},
		{
			name: "a module in a directory of the project", change: func(c *checkout) { c.write("modules/unused/data", "other\n") },
			want: everybody("program: modules/unused/data added"),
		},
		{
			name: "modules", change: func(c *checkout) {
				c.replace("go.mod", "unused v1.0.0", "unused v1.1.0")
				c.replace("go.sum", "one=", "two=")
			},
			want: everybody("modules: go.mod changed, go.sum changed"),
		},
		{
			name: "a project that has no program", change: func(c *checkout) {
				c.remove("cmd/program/main.go")
				assert.NilError(c.t, os.Remove(filepath.Join(c.dir, "cmd", "program")))
				c.write("stacks/new.go", "package stacks\n")
			},
		},
		{
			name: "a tree that is asked for", change: func(c *checkout) { c.write("tree/clusters/one/new.yaml", "kind: List\n") }, tree: "tree",
			want: map[string][]string{"one": {"platform tree: tree/clusters/one/new.yaml added"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCheckout(t)
			c.git("branch", "base")
			test.change(c)
			tree := test.tree
			if tree != "" {
				tree = filepath.Join(c.dir, tree)
			}
			got, _, err := c.since("base", tree)
			assert.NilError(t, err)
			if test.want == nil {
				test.want = map[string][]string{}
			}
			assert.DeepEqual(t, got, test.want)
		})
	}
}

// TestSharedTree: what is in no cluster's own part of the tree is for all.
func TestSharedTree(t *testing.T) {
	c := newCheckout(t)
	c.write("tree/addons/a.yaml", "kind: Other\n")
	got, _, err := c.since("HEAD", filepath.Join(c.dir, "tree"), "one", "two")
	line := []string{"platform tree: tree/addons/a.yaml changed"}
	if diff := cmp.Diff(map[string][]string{"one": line, "two": line}, got); diff != "" || err != nil {
		t.Errorf("error %v, reasons (-want +got):\n%s", err, diff)
	}
}

// TestOwnStacksThatChange: a program is for the clusters that have a stack of it, its settings for one, and the file
// that names them for all.
func TestOwnStacksThatChange(t *testing.T) {
	c := newCheckout(t)
	const file = "version: 1\nstacks:\n  - {name: database, program: own/database, order: after-core, clusters: \"tombolo/cluster in (one, two)\"}\n"
	c.write("tombolo.stacks.yaml", file)
	c.write("own/database/Pulumi.yaml", "name: database\nruntime: nodejs\n")
	c.write("own/database/index.ts", "export const size = 1\n")
	c.commit()
	c.write("own/database/index.ts", "export const size = 2\n")
	c.write("own/database/Pulumi.one-database.yaml", "config: {}\n")
	c.write("own/database/Pulumi.mgmt-database.yaml", "config: {}\n")
	got, _, err := c.since("HEAD", "")
	want := map[string][]string{
		"one": {"own stack: own/database/Pulumi.one-database.yaml added, own/database/index.ts changed"},
		"two": {"own stack: own/database/index.ts changed"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, reasons (-want +got):\n%s", err, diff)
	}
	c.commit()
	c.write("tombolo.stacks.yaml", file+"  - {name: more, program: own/database, order: before-core, clusters: none=of-them}\n")
	got, _, err = c.since("HEAD", "")
	if diff := cmp.Diff(everybody("own stack: tombolo.stacks.yaml changed"), got); diff != "" || err != nil {
		t.Errorf("error %v, reasons (-want +got):\n%s", err, diff)
	}
}

func TestRemovedClusters(t *testing.T) {
	c := newCheckout(t)
	c.remove("clusters/two.yaml")
	got, report, err := c.since("HEAD", "", "one")
	assert.Check(t, err == nil && len(got) == 0 && slices.Equal(report.Removed, []string{"clusters/two.yaml"}),
		"reasons %v, removed %v, error %v", got, report.Removed, err)
}

// TestUnknownToGit: what cannot be compared counts as changed.
func TestUnknownToGit(t *testing.T) {
	c := newCheckout(t)
	c.write("clusters/ignored.yaml", strings.ReplaceAll(fluxCluster, "NAME", "ignored"))
	file := filepath.Join(c.dir, "clusters", "ignored.yaml")
	got, _, err := c.since("HEAD", "", "ignored", "one")
	want := map[string][]string{"ignored": {"cluster file: " + file + " is not known to Git"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, reasons (-want +got):\n%s", err, diff)
	}
}

func TestRefusals(t *testing.T) {
	c := newCheckout(t)
	elsewhere := &checkout{t: t, repo: t.TempDir(), dir: t.TempDir()}
	for _, test := range []struct {
		name, ref, tree, root string
		want                  string
		class                 fault.Class
	}{
		{
			name: "no such commit", ref: "nowhere", root: c.dir, class: fault.Usage,
			want: "--changed-since nowhere: the repository has no such commit; name a branch, a tag or a commit that is in this checkout; " +
				"a shallow one is completed by `git fetch --unshallow`",
		},
		{
			name: "an option", ref: "--all", root: c.dir, class: fault.Usage,
			want: "--changed-since --all: the repository has no such commit; name a branch, a tag or a commit that is in this checkout; " +
				"a shallow one is completed by `git fetch --unshallow`",
		},
		{
			name: "no repository", ref: "main", root: elsewhere.dir,
			want: "--changed-since main: " + elsewhere.dir + " cannot be read as a Git repository: git rev-parse: " +
				"fatal: not a git repository (or any of the parent directories): .git; run it in a checkout, or name the clusters",
		},
		{
			name: "a tree elsewhere", ref: "main", root: c.dir, tree: elsewhere.dir,
			want: "--changed-since main: " + elsewhere.dir + " is outside of the repository " + c.repo +
				"; compare in the repository that it is in, or name the clusters",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Since(t.Context(), Options{Root: test.root, Ref: test.ref, Tree: test.tree}, nil)
			refusal := new(fault.Error)
			assert.Check(t, errors.As(err, &refusal) && err.Error() == test.want && refusal.Class == test.class,
				"got %v, want %s", err, test.want)
		})
	}
}

// A file is read as it was, whatever became of it since.
func TestFileAt(t *testing.T) {
	c := newCheckout(t)
	c.write("README.md", "another text\n")
	c.write("new", "text\n")
	o := Options{Root: c.dir, Ref: "main"}
	for name, want := range map[string]string{"README.md": "text\n", "new": "", "modules/unused/g.mod": ""} {
		got, found, err := FileAt(t.Context(), o, name)
		assert.Check(t, err == nil && got == want && found == (name != "new"),
			"%s was %q, found: %t, error %v; want %q", name, got, found, err, want)
	}
	o.Ref = "nowhere"
	_, _, err := FileAt(t.Context(), o, "README.md")
	assert.Check(t, errors.As(err, new(*fault.Error)), "error %v", err)
}
