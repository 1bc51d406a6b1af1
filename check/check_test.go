package check

import (
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"tombolo/check/finding"
	"tombolo/check/published"
	"tombolo/check/tree"
	"tombolo/check/tree/treetest"
	"tombolo/config"
	"tombolo/tests/bounded"
)

// twoClusters are the clusters of the tree in testdata.
func twoClusters(t *testing.T) []published.Set {
	t.Helper()
	var out []published.Set
	for _, name := range []string{"demo", "prod"} {
		c := &config.Cluster{
			Name: name, Environment: name, File: "testdata/" + name + ".yaml",
			Cloud:    config.Cloud{Provider: config.AWS, Region: "eu-central-1", Account: "111122223333"},
			Services: []config.Service{{Name: "dns", Namespace: "dns"}},
			Values:   map[string]config.Value{"zones": {Text: `["a.example", "b.example"]`}, "chart_repository": {Text: "http://charts.lab.test"}},
			GitOps:   config.GitOps{Path: "clusters/" + name},
		}
		if name == "demo" {
			c.Values["nightly"] = config.Value{Text: "on"}
		}
		out = append(out, published.To(c, c))
	}
	return out
}

// goodTree is a copy of the tree in testdata.
func goodTree(t *testing.T) fstest.MapFS {
	t.Helper()
	return treetest.Copy(t, os.DirFS("testdata/tree"))
}

func check(t *testing.T, tree fs.FS, clusters []published.Set) string {
	t.Helper()
	found, err := Check(tree, "tree", clusters)
	assert.NilError(t, err)
	var b strings.Builder
	for _, f := range found {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

func TestGoodTree(t *testing.T) {
	sealed(t)
	golden.Assert(t, check(t, goodTree(t), twoClusters(t)), "golden/good.golden")
}

// TestMain has rules checked in this process: the trees of these tests are their own.
func TestMain(m *testing.M) {
	checking = func(files *tree.Files, o order) (finding.List, error) {
		return checkFiles(files, o.Name, o.Clusters, o.Others), nil
	}
	os.Exit(m.Run())
}

// sealed has trees checked as users have them checked, in the process apart.
func sealed(t testing.TB) {
	t.Helper()
	here := checking
	checking = checker.check
	t.Cleanup(func() { checking = here })
}

// TestShut tries in a process of its own what the one that checks cannot do.
func TestShut(t *testing.T) {
	if to := os.Getenv("SHUT_AND_TRY"); to != "" {
		self := os.Args[0]
		assert.NilError(t, shut())
		_, file := os.ReadFile(self)
		_, connection := net.DialTimeout("tcp", to, time.Second)
		_, git := exec.LookPath("git")
		fmt.Println(file != nil, connection != nil, git != nil, exec.Command(self, "-test.run=none").Run() != nil)
		os.Exit(0)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	cmd := exec.Command(os.Args[0], "-test.run=^TestShut$")
	cmd.Env = append(os.Environ(), "SHUT_AND_TRY="+listener.Addr().String())
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, string(out))
	assert.Equal(t, strings.TrimSpace(string(out)), "true true true true")
}

// indexOf is a tree of one ApplicationSet whose name is a template.
func indexOf(t *testing.T, template string) *tree.Files {
	return treetest.Index(t, fstest.MapFS{"clusters/mgmt/kustomization.yaml": {Data: []byte("resources: [set.yaml]\n")}, "clusters/mgmt/set.yaml": {Data: []byte(
		"apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a, namespace: argocd}\nspec:\n  goTemplate: true\n" +
			"  generators: [{clusters: {}}]\n  template:\n    metadata: {name: '" + template + "'}\n    spec: {project: default}\n")}})
}

// TestCheckIsGivenUp ends a check that takes too long or too much, or whose
// process dies; the next one has a process again.
func TestCheckIsGivenUp(t *testing.T) {
	fleet := fleetOf(t, "clusters/mgmt")
	check := func(a *apart, template string) error {
		files := indexOf(t, template)
		_, err := a.check(files, order{Name: "tree", Regular: files.Names(), Dirs: files.Dirs(), Clusters: fleet[:1], Others: fleet})
		return err
	}
	var a apart
	assert.NilError(t, check(&a, "a"))
	t.Cleanup(func() {
		if a.process != nil {
			a.end()
		}
	})
	assert.NilError(t, a.process.Process.Kill())
	assert.ErrorContains(t, check(&a, "a"), "the process that checks ended")
	assert.ErrorContains(t, check(&a, `{{ repeat 4000000000 "a" }}`), "the file read last is clusters/mgmt/set.yaml: it takes over 2048 MB of memory")
	assert.NilError(t, check(&a, "a")) // starts the process, which may take longer than the second
	short(t)
	assert.Error(t, check(&a, "{{ range until 10000000 }}{{ range until 10000000 }}{{ end }}{{ end }}"),
		"checking takes over 1s and was given up; the file read last is clusters/mgmt/set.yaml")
	assert.NilError(t, check(&a, "a"))
}

// short has checks given up after a second.
func short(t *testing.T) {
	all, one := longest, longestOfOne
	longest, longestOfOne = time.Second, 0
	t.Cleanup(func() { longest, longestOfOne = all, one })
}

// plugins are files of kustomize's own plugins that name what a kustomization
// file does not: nobody has looked through them.
var plugins = []string{
	"apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npath: REF\n",
	"apiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: a}\nreplacements: [{path: REF}]\n",
	"apiVersion: builtin\nkind: PatchJson6902Transformer\nmetadata: {name: a}\npath: REF\ntarget: {kind: ConfigMap, name: a, version: v1}\n",
	"apiVersion: builtin\nkind: PatchStrategicMergeTransformer\nmetadata: {name: a}\npaths: [REF]\n",
	"apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nfiles: [REF]\n",
	"apiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: a}\nenvs: [REF]\n",
}

// TestPluginsFetchNothing has check build files of plugins that name an address:
// nobody is asked.
func TestPluginsFetchNothing(t *testing.T) {
	sealed(t)
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(server.Close)
	for _, plugin := range plugins {
		for _, list := range []string{"transformers", "generators"} {
			tree := fstest.MapFS{
				"clusters/demo/kustomization.yaml": {Data: []byte("resources: [a.yaml]\n" + list + ": [plugin.yaml]\n")},
				"clusters/demo/plugin.yaml":        {Data: []byte(strings.ReplaceAll(plugin, "REF", server.URL+"/a"))},
				"clusters/demo/a.yaml":             {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n")},
			}
			found, err := Check(tree, "tree", twoClusters(t)[:1])
			assert.NilError(t, err)
			assert.Assert(t, len(found) > 0 && found[0].Severity == finding.Error, "%s: %v", plugin, found)
		}
	}
	assert.Equal(t, asked.Load(), int32(0))
}

// demoTree is a tree of the cluster demo with more files, which its kustomization lists.
func demoTree(more fstest.MapFS) fstest.MapFS {
	list := "resources: [a.yaml]\nconfigMapGenerator:\n"
	out := fstest.MapFS{
		"clusters/demo/a.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n")},
	}
	for name, file := range more {
		out["clusters/demo/"+name] = file
		list += fmt.Sprintf("- {name: %s, files: [%s]}\n", strings.TrimSuffix(name, ".txt"), name)
	}
	out["clusters/demo/kustomization.yaml"] = &fstest.MapFile{Data: []byte(list)}
	return out
}

// TestTreesAreBounded gives up at a file that is too large, and names it.
func TestTreesAreBounded(t *testing.T) {
	sealed(t)
	tree := demoTree(fstest.MapFS{"large.txt": {Data: make([]byte, tree.MostOfAFile+1)}})
	_, err := Check(tree, "tree", twoClusters(t)[:1])
	assert.Error(t, err, "reading the platform tree tree: read clusters/demo/large.txt: it has over 16777216 bytes, which is the most that check reads of a file; take it out of what the clusters follow")
	_, err = Check(demoTree(nil), "tree", twoClusters(t)[:1])
	assert.NilError(t, err)
}

// TestNamesAreText: a name that is not UTF-8 would be another one in the process that checks.
func TestNamesAreText(t *testing.T) {
	sealed(t)
	dir := t.TempDir()
	for name, file := range demoTree(nil) {
		at := filepath.Join(dir, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		assert.NilError(t, os.WriteFile(at, file.Data, 0o600))
	}
	if err := os.WriteFile(filepath.Join(dir, "clusters", "demo", "a\xff.yaml"), nil, 0o600); err != nil {
		t.Skip(err) // macOS takes no such name
	}
	_, err := Check(os.DirFS(dir), "tree", twoClusters(t)[:1])
	assert.Error(t, err, `reading the platform tree tree: the name of "clusters/demo/a\xff.yaml" is not UTF-8; give the file another name`)
}

// FuzzCheck gives check a tree of any text: it finds something or nothing, soon. What
// kustomize takes has a bound of its own.
func FuzzCheck(f *testing.F) {
	sealed(f)
	trees, err := filepath.Glob(filepath.Join("testdata", "hostile", "*.txtar"))
	assert.NilError(f, err)
	assert.Assert(f, len(trees) > 8)
	for _, name := range trees {
		text, err := os.ReadFile(name)
		assert.NilError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tree := fstest.MapFS{}
		for _, file := range txtar.Parse(text).Files {
			if name := strings.TrimPrefix(filepath.Clean("/"+file.Name), "/"); name != "" {
				tree[name] = &fstest.MapFile{Data: file.Data}
			}
		}
		short(t)
		for _, clusters := range [][]published.Set{twoClusters(t), fleetOf(t, "clusters/mgmt")} {
			bounded.Read(t, func() {
				if _, err := Check(tree, "tree", clusters); err != nil && !wasLimited(err) {
					t.Error(err)
				}
			})
		}
	})
}

// wasLimited says that a check was ended by a limit: templates can take for ever, and all
// memory, with Argo CD too.
func wasLimited(err error) bool {
	return strings.Contains(err.Error(), "given up") || strings.Contains(err.Error(), "out of memory") || strings.Contains(err.Error(), "cannot allocate memory")
}
