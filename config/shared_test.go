package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

	"tombolo/config/strict"
	"tombolo/tests/bounded"
	"tombolo/tests/files"
)

const sharedDefaults = `# What all clusters have.
version: 1
protect: true
cloud:
  provider: aws
  region: eu-central-1
  account: "111122223333"
tags:
  owner: platform
  cost-center: "4711"
network:
  zones: [eu-central-1a, eu-central-1b]
kubernetes:
  version: "1.34"
  nodeGroups:
    - {name: system, instanceTypes: [m7i.large], size: {min: 1, max: 3}}
addons:
  metrics-server: {}
  external-dns:
    zones: [{id: Z0123456789ABCDEFGHIJ, name: example.com}]
gitops:
  engine: flux
  url: https://git.example.com/platform.git
  branch: main
  auth:
    type: basic
    password: {env: TOMBOLO_GIT_TOKEN}
  distribution:
    version: v2.7.5
    sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
`

const sharedProd = `kubernetes:
  version: "1.35"
tags:
  cost-center: "4712"
addons:
  external-dns: null
values:
  replicas: "3"
`

const sharedCluster = `name: one
environment: prod
network:
  cidr: 10.1.0.0/16
gitops:
  path: clusters/one
`

// sharing is a directory of cluster files; those of shared settings and one cluster are there unless
// files say otherwise.
func sharing(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	write(t, root, "Pulumi.yaml", "name: tombolo\n")
	dir := filepath.Join(root, "clusters")
	assert.NilError(t, os.Mkdir(dir, 0o700))
	for name, text := range map[string]string{"_defaults.yaml": sharedDefaults, "_prod.yaml": sharedProd, "one.yaml": sharedCluster} {
		if other, given := files[name]; given {
			text = other
		}
		if text != "" {
			write(t, dir, name, text)
		}
	}
	for name, text := range files {
		if text != "" {
			write(t, dir, name, text)
		}
	}
	return dir
}

// problemsOf are what is wrong with the cluster files of a directory, without its path.
func problemsOf(t *testing.T, dir string) []string {
	t.Helper()
	_, err := LoadDir(dir)
	var problems strict.Problems
	assert.Assert(t, errors.As(err, &problems), "got %v; expected problems", err)
	return strings.Split(strings.ReplaceAll(problems.Error(), dir+string(filepath.Separator), ""), "\n")
}

func TestShared(t *testing.T) {
	dir := sharing(t, map[string]string{"two.yaml": strings.NewReplacer("one", "two", "prod", "dev").Replace(sharedCluster)})
	all, err := LoadDir(dir)
	assert.NilError(t, err)
	one, two := all[0], all[1]
	assert.Equal(t, one.Kubernetes.Version, "1.35")
	assert.Equal(t, two.Kubernetes.Version, "1.34")
	assert.Check(t, one.Protect && two.Protect)
	assert.DeepEqual(t, one.Tags, map[string]string{"owner": "platform", "cost-center": "4712"})
	assert.Check(t, is.Len(one.Addons, 1), "null takes external-dns away")
	assert.Check(t, is.Len(two.Addons, 2))
	assert.Equal(t, one.Network.CIDR, "10.1.0.0/16")
	assert.DeepEqual(t, one.Network.Zones, []string{"eu-central-1a", "eu-central-1b"})
	assert.Equal(t, one.Values["replicas"].Text, "3")
	assert.DeepEqual(t, one.SharedFiles(), []string{filepath.Join(dir, "_prod.yaml"), filepath.Join(dir, "_defaults.yaml")})

	// The same file alone, with all of it written out, is the same cluster.
	explained, err := Explain(one.File)
	assert.NilError(t, err)
	same := loadText(t, string(explained))
	same.File, same.Warnings = one.File, one.Warnings
	assert.DeepEqual(t, same, one)
	golden.Assert(t, string(explained), "explained/shared.yaml")
}

func TestSharedMerge(t *testing.T) {
	for name, tt := range map[string]struct {
		own  string
		want func(*Cluster) any
		is   any
	}{
		"a list is replaced as a whole": {
			"kubernetes: {nodeGroups: [{name: gpu, instanceTypes: [g6.xlarge], size: {}}]}\n",
			func(c *Cluster) any {
				return c.Kubernetes.NodeGroups[0].Name + fmt.Sprint(len(c.Kubernetes.NodeGroups))
			}, "gpu1",
		},
		"a reference is one value": {
			"x: &auth {password: {file: ../token}}\n",
			func(c *Cluster) any { return *c.GitOps.Auth.Password },
			SecretRef{File: "../token"},
		},
		"an empty mapping takes nothing away": {"tags: {}\n", func(c *Cluster) any { return len(c.Tags) }, 2},
		"null takes a mapping away":           {"tags: null\n", func(c *Cluster) any { return len(c.Tags) }, 0},
		"null takes a scalar away":            {"protect: ~\n", func(c *Cluster) any { return c.Protect }, false},
		"null in a free mapping of text":      {"tags: {owner: null}\n", func(c *Cluster) any { return len(c.Tags) }, 1},
		"an addon comes back":                 {"addons: {external-dns: {zones: [{id: Z0123456789ABCDEFGHIJ, name: example.net}]}}\n", func(c *Cluster) any { return len(c.Addons) }, 2},
		"by anchors and merge keys":           {"kubernetes: &k {version: \"1.33\"}\nvalues: {}\n", func(c *Cluster) any { return c.Kubernetes.Version }, "1.33"},
	} {
		t.Run(name, func(t *testing.T) {
			text := sharedCluster + tt.own
			if strings.HasPrefix(tt.own, "x: ") {
				text = sharedCluster + "  auth: {password: {file: ../token}}\n"
			}
			dir := sharing(t, map[string]string{"one.yaml": text})
			c := loadFile(t, filepath.Join(dir, "one.yaml"))
			assert.DeepEqual(t, tt.want(c), tt.is)
		})
	}
}

// Values that Helm reads are merged as Helm merges them, and null stays: Helm takes a default of the
// chart away by it.
func TestSharedFreeValues(t *testing.T) {
	defaults := strings.Replace(sharedDefaults, "engine: flux", "engine: argocd", 1) + "    values: {a: {b: 1, c: 2}, d: 3}\n"
	defaults = strings.Replace(defaults, "version: v2.7.5", "version: v3.1.0", 1)
	dir := sharing(t, map[string]string{"_defaults.yaml": defaults, "one.yaml": sharedCluster + "  distribution: {values: {a: {b: 5}, d: null}}\n"})
	doc := strict.NewDocument(filepath.Join(dir, "one.yaml"))
	content, err := os.ReadFile(doc.File)
	assert.NilError(t, err)
	below, err := new(Loader).under(doc.File, content)
	assert.NilError(t, err)
	c := parse(doc, content, below)
	assert.DeepEqual(t, c.GitOps.Distribution.Values, map[string]any{"a": map[string]any{"b": int64(5), "c": int64(2)}, "d": nil})
}

func TestSharedProblems(t *testing.T) {
	two := strings.ReplaceAll(sharedCluster, "one", "two")
	for name, tt := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"an unknown key is reported once, where it stands": {
			map[string]string{"_prod.yaml": "kubernets: {}\n", "two.yaml": two},
			[]string{`_prod.yaml:1:1: kubernets: is not a known key; did you mean "kubernetes"?`},
		},
		"also one that no cluster has": {
			map[string]string{"_prod.yaml": "kubernetes: {colour: red}\n", "one.yaml": sharedCluster + "kubernetes: null\n"},
			[]string{
				`_prod.yaml:1:14: kubernetes.colour: is not a known key; `,
				`one.yaml:7:13: kubernetes: is required, and null takes it away; write a value in its place, or remove the key`,
			},
		},
		"a value of another type": {
			map[string]string{"_defaults.yaml": strings.Replace(sharedDefaults, "protect: true", "protect: maybe", 1), "two.yaml": two},
			[]string{`_defaults.yaml:3:10: protect: must be true or false, but is the string "maybe"; write true or false, without quotes`},
		},
		"what is a cluster's own": {
			map[string]string{"_prod.yaml": "name: one\nenvironment: prod\nnetwork: {cidr: 10.0.0.0/16}\ngitops: {path: x}\nkubernetes: {existing: {name: x}}\n", "one.yaml": sharedCluster + "kubernetes: {existing: null}\n"},
			[]string{
				"_prod.yaml:1:1: name: is each cluster's own, and this file is for several; write it into the cluster files",
				"_prod.yaml:2:1: environment: is each cluster's own, and this file is for several; write it into the cluster files",
				"_prod.yaml:3:11: network.cidr: is each cluster's own, and this file is for several; write it into the cluster files",
				"_prod.yaml:4:10: gitops.path: is each cluster's own, and this file is for several; write it into the cluster files",
				"_prod.yaml:5:25: kubernetes.existing.name: is each cluster's own, and this file is for several; write it into the cluster files",
			},
		},
		"how values fit together, with the clusters": {
			map[string]string{"_prod.yaml": "network: {zones: [eu-west-1a, eu-west-1b]}\n", "two.yaml": two},
			[]string{
				`_prod.yaml:1:19: network.zones[0]: "eu-west-1a" is not in the region eu-central-1, together with one.yaml and two.yaml; `,
				`_prod.yaml:1:31: network.zones[1]: "eu-west-1b" is not in the region eu-central-1, together with one.yaml and two.yaml; `,
			},
		},
		"null that takes nothing away": {
			map[string]string{"_prod.yaml": "labels: null\n"},
			[]string{`_prod.yaml:1:9: labels: has no value, together with one.yaml; give it one, or remove the key`},
		},
		"a shared file that is no YAML is all that is said": {
			map[string]string{"_prod.yaml": "a: b: c\n", "two.yaml": two},
			[]string{"_prod.yaml:1:1: is not YAML: a value contains a colon and a space"},
		},
		"an empty one": {
			map[string]string{"_prod.yaml": "# nothing\n"},
			[]string{"_prod.yaml:1:1: is empty; write what clusters share, or remove the file"},
		},
		"a version of another format": {
			map[string]string{"_prod.yaml": "version: 2\n"},
			[]string{"_prod.yaml:1:10: version: "},
		},
		"an unknown key that is like none": {
			map[string]string{"_defaults.yaml": sharedDefaults + "landscape: a\n", "_prod.yaml": "landscape: a\n", "two.yaml": two},
			[]string{
				"_defaults.yaml:31:1: landscape: is not a known key; remove it; the keys here are ",
				"_prod.yaml:1:1: landscape: is not a known key; remove it; the keys here are ",
			},
		},
		"a list, over a mapping": {
			map[string]string{"_prod.yaml": "- kubernetes\n", "two.yaml": two},
			[]string{"_prod.yaml:1:1: must be a mapping, but is a list; "},
		},
		"a scalar in the place of a mapping, between two": {
			map[string]string{"_prod.yaml": "kubernetes: \"1.35\"\ncloud: []\n", "one.yaml": sharedCluster + "kubernetes: {logs: [api]}\n", "two.yaml": two},
			[]string{"_prod.yaml:1:13: kubernetes: must be a mapping, but is ", "_prod.yaml:2:8: cloud: must be a mapping, but is a list; "},
		},
		"nothing but null": {
			map[string]string{"_prod.yaml": "~\n", "two.yaml": two},
			[]string{"_prod.yaml:1:1: is empty; write what clusters share, or remove the file"},
		},
		"null takes away what is required": {
			map[string]string{"_prod.yaml": "cloud: null\nkubernetes: {version: null}\n", "two.yaml": two},
			[]string{
				"_prod.yaml:1:8: cloud: is required, and null takes it away, together with one.yaml and two.yaml; write a value in its place, or remove the key",
				"_prod.yaml:2:23: kubernetes.version: is required, and null takes it away, together with one.yaml and two.yaml; write a value in its place, or remove the key",
			},
		},
		"an environment that no cluster has": {
			map[string]string{"_pord.yaml": "protect: true\n"},
			[]string{`_pord.yaml:1:1: is for the environment "pord", which no cluster has; did you mean _prod.yaml?`},
		},
		"one that is like none": {
			map[string]string{"_staging.yaml": "protect: true\n", "_dev.yml": "protect: true\n"},
			[]string{
				`_dev.yml:1:1: ends in .yml; call the file _dev.yaml`,
				`_staging.yaml:1:1: is for the environment "staging", which no cluster has; remove it, or call it after an environment: prod`,
			},
		},
		"a key of another cloud": {
			map[string]string{"_prod.yaml": "cloud: {tenant: 6b3e9f44-0d7b-4c39-9a56-5f6f3f0f3a01}\n"},
			[]string{"_prod.yaml:1:9: cloud.tenant: is a key of files for Azure, and this one is for AWS; "},
		},
		"a line of another file is named with it": {
			map[string]string{"one.yaml": sharedCluster + "services: [{name: external-dns, namespace: dns}]\nnamespaces: [{name: dns}]\n", "_prod.yaml": ""},
			[]string{"one.yaml:7:19: services[0].name: \"external-dns\" is also an addon, which line 19 of _defaults.yaml turns on; "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := problemsOf(t, sharing(t, tt.files))
			assert.Check(t, is.Len(got, len(tt.want)), strings.Join(got, "\n"))
			for i := range min(len(got), len(tt.want)) {
				assert.Check(t, is.Contains(got[i], tt.want[i]))
			}
		})
	}
}

// A problem that many clusters have with one line is said once, with some of them.
func TestSharedProblemOfMany(t *testing.T) {
	files := map[string]string{"_prod.yaml": "network: {zones: [eu-west-1a, eu-west-1b]}\n"}
	for i := range 100 {
		name := fmt.Sprintf("edge-%02d", i)
		files[name+".yaml"] = strings.ReplaceAll(sharedCluster, "one", name)
	}
	got := problemsOf(t, sharing(t, files))
	assert.Check(t, is.Contains(got[0], ", together with edge-00.yaml, edge-01.yaml and 99 other files; "))
	assert.Check(t, len(got) < 4, strings.Join(got, "\n"))
}

// Files for both clouds may share what is of neither.
func TestSharedByClouds(t *testing.T) {
	azure := readGood(t, "azure-minimal.yaml")
	dir := sharing(t, map[string]string{
		"_defaults.yaml": "protect: true\ntags: {owner: platform}\n", "_prod.yaml": "",
		"one.yaml": "", "azure-minimal.yaml": azure, "minimal.yaml": readGood(t, "minimal.yaml"),
	})
	all, err := LoadDir(dir)
	assert.NilError(t, err)
	for _, c := range all {
		assert.Check(t, c.Protect)
		assert.Equal(t, c.Tags["owner"], "platform")
	}
}

// The reference names the keys that are each cluster's own.
func TestSharedOwnKeys(t *testing.T) {
	var own []string
	for name, d := range described {
		if d.Own {
			own = append(own, name)
		}
	}
	slices.Sort(own)
	assert.DeepEqual(t, own, []string{
		"Cloud.ResourceGroup", "Cluster.Environment", "Cluster.Name", "ExistingCluster.Name", "GitOps.Path", "Kubernetes.NodeResourceGroup", "Network.CIDR",
	})
}

func TestSharedOutOfProject(t *testing.T) {
	dir := sharing(t, map[string]string{"_prod.yaml": ""})
	outside := filepath.Join(t.TempDir(), "x.yaml")
	assert.NilError(t, os.WriteFile(outside, []byte("token: secret\n"), 0o600))
	assert.NilError(t, os.Symlink(outside, filepath.Join(dir, "_prod.yaml")))
	got := problemsOf(t, dir)
	assert.Check(t, is.Len(got, 1))
	assert.Check(t, is.Contains(got[0], "_prod.yaml:1:1: cannot be read: "))
	assert.Check(t, !strings.Contains(got[0], "token"))

	dir = sharing(t, map[string]string{"_prod.yaml": strings.Repeat("#", 256<<10+1)})
	assert.Check(t, is.Contains(problemsOf(t, dir)[0], "_prod.yaml:1:1: has 262145 bytes; a file of shared settings has at most 262144; "))
	// Aliases of aliases in two files do not multiply.
	bomb := "a: &a {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1}\n"
	for i := range 8 {
		was, now := rune('a'+i), rune('b'+i)
		bomb += fmt.Sprintf("%c: &%c {a: *%c, b: *%c, c: *%c, d: *%c, e: *%c, f: *%c, g: *%c, h: *%c}\n", now, now, was, was, was, was, was, was, was, was)
	}
	bomb += "gitops: {distribution: {values: *i}}\n"
	dir = sharing(t, map[string]string{"_prod.yaml": bomb, "one.yaml": "name: one\nenvironment: prod\n" + bomb})
	assert.Check(t, is.Contains(strings.Join(problemsOf(t, dir), "\n"), "has more than 50000 keys and values"))
}

// A shared file is read once, for however many clusters.
func TestSharedIsReadOnce(t *testing.T) {
	dir := sharing(t, map[string]string{"two.yaml": strings.ReplaceAll(sharedCluster, "one", "two")})
	reads := map[string]int{}
	l := Loader{Read: func(file string) ([]byte, error) {
		reads[filepath.Base(file)]++
		return os.ReadFile(file)
	}}
	for range 50 {
		for _, name := range []string{"one", "two"} {
			_, err := l.Load(filepath.Join(dir, name+".yaml"))
			assert.NilError(t, err)
		}
	}
	assert.DeepEqual(t, reads, map[string]int{"_defaults.yaml": 1, "_prod.yaml": 1})
	l = Loader{Read: func(string) ([]byte, error) { return nil, fs.ErrPermission }}
	_, err := l.Load(filepath.Join(dir, "one.yaml"))
	assert.ErrorIs(t, err, fs.ErrPermission)
}

func TestSharedFileIsNoCluster(t *testing.T) {
	dir := sharing(t, nil)
	_, err := Load(filepath.Join(dir, "_prod.yaml"))
	assert.ErrorContains(t, err, "_prod.yaml:1:1: has settings that clusters share, and is no cluster's; name a cluster")
}

// Versions are written into the cluster's own file, whatever has them: the clusters beside it stay.
func TestSetVersionsShared(t *testing.T) {
	for name, tt := range map[string]struct{ own, after string }{
		"without the section":   {sharedCluster, sharedCluster + "kubernetes:\n  version: \"1.36\"\n  nodeVersion: \"1.35\"\n"},
		"with a section":        {sharedCluster + "kubernetes: # ours\n  # few\n  logs: [api]\n", sharedCluster + "kubernetes: # ours\n  # few\n  version: \"1.36\"\n  nodeVersion: \"1.35\"\n  logs: [api]\n"},
		"with one in braces":    {sharedCluster + "kubernetes: {logs: [api]}\n", sharedCluster + "kubernetes: {version: \"1.36\", nodeVersion: \"1.35\", logs: [api]}\n"},
		"its own version stays": {sharedCluster + "kubernetes:\n  version: \"1.35\"\n", sharedCluster + "kubernetes:\n  version: \"1.36\"\n  nodeVersion: \"1.35\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := sharing(t, map[string]string{"one.yaml": tt.own})
			file := filepath.Join(dir, "one.yaml")
			next, err := AtVersion(file, "1.36")
			assert.NilError(t, err)
			assert.Equal(t, next.Kubernetes.Version, "1.36")
			assert.NilError(t, SetVersions(file, "1.36", "1.35"))
			assert.Equal(t, files.Read(t, file), tt.after)
			assert.Equal(t, files.Read(t, filepath.Join(dir, "_prod.yaml")), sharedProd)
			assert.NilError(t, SetVersions(file, "1.36", "1.36"))
			c := loadFile(t, file)
			assert.Equal(t, c.Kubernetes.Version+c.Kubernetes.NodeVersion, "1.36")
		})
	}
	dir := sharing(t, map[string]string{"one.yaml": sharedCluster + "kubernetes: {}\n"})
	err := SetVersions(filepath.Join(dir, "one.yaml"), "1.36", "1.36")
	assert.ErrorContains(t, err, `_prod.yaml:2:12: kubernetes.version: cannot be changed in the text as it is written here`)
	assert.ErrorContains(t, err, `one.yaml, and run the command again`)
}

// A version of nodes that a shared file has does not stay when an upgrade of the cluster ends.
func TestSetVersionsSharedNodes(t *testing.T) {
	prod := strings.Replace(sharedProd, "version: \"1.35\"", "version: \"1.35\"\n  nodeVersion: \"1.34\"", 1)
	for own, after := range map[string]string{
		sharedCluster: sharedCluster + "kubernetes:\n  version: \"1.36\"\n  nodeVersion: null\n",
		sharedCluster + "kubernetes: {version: \"1.35\"} # ours\n":                    sharedCluster + "kubernetes: {version: \"1.36\", nodeVersion: null} # ours\n",
		sharedCluster + "kubernetes:\n  version: \"1.36\"\n  nodeVersion: \"1.35\"\n": sharedCluster + "kubernetes:\n  version: \"1.36\"\n  nodeVersion: null\n",
	} {
		file := filepath.Join(sharing(t, map[string]string{"_prod.yaml": prod, "one.yaml": own}), "one.yaml")
		next, err := AtVersion(file, "1.36")
		assert.NilError(t, err)
		assert.Equal(t, next.Kubernetes.Version+next.Kubernetes.NodeVersion, "1.36")
		assert.NilError(t, SetVersions(file, "1.36", "1.36"))
		assert.Equal(t, files.Read(t, file), after)
		assert.NilError(t, SetVersions(file, "1.36", "1.36"))
	}
}

// FuzzShared expects any two files to be merged or refused with complete problems, soon.
func FuzzShared(f *testing.F) {
	for _, own := range []string{sharedCluster, "name: &a {b: *a}\n", "[]\n", "null\n", "gitops: &g {path: *g}\n<<: *g\n"} {
		for _, shared := range []string{sharedDefaults, sharedProd, "a: &a {b: *a}\ngitops: *a\n", "- 1\n", "~\n", "tags: {a: &x [*x]}\nkubernetes: {<<: [{version: 1}]}\n"} {
			f.Add([]byte(own), []byte(shared))
		}
	}
	f.Fuzz(func(t *testing.T, own, shared []byte) {
		bounded.Read(t, func() {
			l := Loader{Read: func(string) ([]byte, error) { return shared, nil }}
			below, err := l.under("fuzz.yaml", own)
			assert.NilError(t, err)
			doc := strict.NewDocument("fuzz.yaml")
			if c := parse(doc, own, below); c == nil && len(doc.Problems()) == 0 {
				t.Error("no cluster and no problem")
			}
			for _, p := range doc.Problems() {
				if p.Line < 1 || p.Column < 1 || p.Message == "" || p.File == "" {
					t.Errorf("incomplete problem: %+v", p)
				}
			}
		})
	})
}
