//go:build lab

package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"sigs.k8s.io/yaml"

	"tombolo/tools/upstream/facts"
)

// stackDefinition is the operator's definition of Stack: the fields, types and
// required fields of upstream's. The finalizer that its controller sets is set by
// the test.
func stackDefinition(t *testing.T) string {
	t.Helper()
	fields, ok, err := facts.Definition("Stack.pulumi.com/v1")
	assert.NilError(t, err)
	assert.Assert(t, ok)
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "stacks.pulumi.com"},
		"spec": map[string]any{
			"group": "pulumi.com", "scope": "Namespaced",
			"names": map[string]any{"kind": "Stack", "listKind": "StackList", "plural": "stacks", "singular": "stack"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": fields.Schema()},
			}},
		},
	})
	assert.NilError(t, err)
	return string(text)
}

// admission: a real API server under strict validation takes all that
// `tombolo export operator` writes for the cluster files of the tests, and refuses
// a Stack with a field that upstream's definition does not have.
func (p project) admission(t *testing.T) {
	for name, dir := range map[string]string{"own": "../../clusters", "all": "../../config/testdata/good", "argocd": "testdata/argocd"} {
		other := p
		other.dir = filepath.Join(p.dir, "export-"+name)
		other.write(t, "Pulumi.yaml", p.read(t, "Pulumi.yaml"))
		sources, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		assert.NilError(t, err)
		for _, source := range sources {
			text, err := os.ReadFile(source)
			assert.NilError(t, err)
			other.write(t, "clusters/"+filepath.Base(source), string(text))
		}
		for _, from := range [][]string{
			{"--image-dir", "/project"},
			{"--repo", "https://git.example.com/clusters.git", "--branch", "main", "--git-secret", "git", "--env-secret", "env"},
		} {
			out := other.must(t, append([]string{"export", "operator", "--all", "--image", "registry.example/tombolo:1.4.0"}, from...)...)
			p.write(t, "admitted.yaml", out)
			p.kubectl(t, "demo", "apply", "--validate=strict", "--dry-run=server", "-f", filepath.Join(p.dir, "admitted.yaml"))
			wrong := strings.Replace(out, "\n  stack: ", "\n  stak: ", 1)
			assert.Assert(t, wrong != out)
			p.write(t, "refused.yaml", wrong)
			o := p.tool(t, "kubectl", "--kubeconfig", filepath.Join(p.dir, ".lab", "demo.kubeconfig"),
				"apply", "--validate=strict", "--dry-run=server", "-f", filepath.Join(p.dir, "refused.yaml"))
			assert.Check(t, o.code != 0 && strings.Contains(o.stderr, `unknown field "spec.stak"`), o.stderr)
		}
	}
}

// deletionOrder applies what `tombolo export operator` writes to a real API
// server: core is kept until bootstrap is gone.
func (p project) deletionOrder(t *testing.T) {
	p.write(t, "definition.yaml", stackDefinition(t))
	p.write(t, "objects.yaml", p.must(t, "export", "operator", "demo", "--image", "registry.example/tombolo:1.4.0", "--image-dir", "/project"))
	p.kubectl(t, "demo", "apply", "-f", filepath.Join(p.dir, "definition.yaml"))
	p.kubectl(t, "demo", "wait", "--for=condition=Established", "crd/stacks.pulumi.com", "--timeout=60s")
	p.write(t, "namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: tombolo}\n")
	p.kubectl(t, "demo", "apply", "-f", filepath.Join(p.dir, "namespace.yaml"))
	p.admission(t)
	p.kubectl(t, "demo", "apply", "--validate=strict", "-f", filepath.Join(p.dir, "objects.yaml"))
	p.kubectl(t, "demo", "patch", "stacks.pulumi.com", "demo-bootstrap", "-n", "tombolo", "--type=merge",
		"-p", `{"metadata":{"finalizers":["test.example/destroying"]}}`)
	remove := func(args ...string) outcome {
		return p.tool(t, "kubectl", append([]string{
			"--kubeconfig", filepath.Join(p.dir, ".lab", "demo.kubeconfig"), "delete", "stacks.pulumi.com", "-n", "tombolo", "--wait=false",
		}, args...)...)
	}
	refused := func(why string) {
		eventually(t, time.Minute, func() string {
			o := remove("demo-core", "--dry-run=server")
			if o.code == 0 || !strings.Contains(o.stderr, "delete Stack demo-bootstrap first, and wait until it is gone") {
				return why + ": core may be deleted: " + o.stdout + o.stderr
			}
			return ""
		})
	}
	refused("bootstrap is there")
	if o := remove("demo-bootstrap"); o.code != 0 {
		t.Fatalf("bootstrap may not be deleted: %s", o.stderr)
	}
	refused("bootstrap is being destroyed")
	p.kubectl(t, "demo", "patch", "stacks.pulumi.com", "demo-bootstrap", "-n", "tombolo", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	eventually(t, time.Minute, func() string {
		if o := remove("demo-core"); o.code != 0 {
			return "bootstrap is gone, and core may not be deleted: " + o.stderr
		}
		return ""
	})
}
