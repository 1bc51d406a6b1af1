package check

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/check/finding"
	"tombolo/check/tree"
	"tombolo/check/tree/treetest"
)

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
	t.Cleanup(func() { a.end() })
	assert.NilError(t, a.process.Process.Kill())
	assert.ErrorContains(t, check(&a, "a"), "the process that checks ended")
	assert.ErrorContains(t, check(&a, `{{ repeat 4000000000 "a" }}`), "the file read last is clusters/mgmt/set.yaml: it takes over 2048 MB of memory")
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
			found, err := Check(Tree{FS: tree, Name: "tree"}, twoClusters(t)[:1])
			assert.NilError(t, err)
			assert.Assert(t, len(found) > 0 && found[0].Severity == finding.Error, "%s: %v", plugin, found)
		}
	}
	assert.Equal(t, asked.Load(), int32(0))
}
