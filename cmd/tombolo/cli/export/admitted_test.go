package export

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kyaml "k8s.io/apimachinery/pkg/util/yaml"

	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/tests/definition"
	"tombolo/tools/upstream/facts"
)

// TestStacksAreAdmitted: the operator's definition takes the Stacks of every
// cluster file of the tests, with either engine, from Git and from an image.
func TestStacksAreAdmitted(t *testing.T) {
	upstream, ok, err := facts.Definition("Stack.pulumi.com/v1")
	assert.NilError(t, err)
	assert.Assert(t, ok)
	engines := map[config.Engine]bool{}
	for _, dir := range []string{"clusters", "config/testdata/good", "tests/lab/testdata/argocd", "tests/lab/testdata/clouds"} {
		clusters, err := config.LoadDir("../../../../" + dir)
		assert.NilError(t, err)
		for _, c := range clusters {
			engines[c.GitOps.Engine] = true
		}
		for _, args := range [][]string{
			operatorArgs("--git-secret", "git", "--env-secret", "env", "--role-arn", "arn:aws:iam::111122223333:role/tombolo-apply", "--program", "bin/program"),
			operatorArgs("--organization", "acme", "--namespace", "infra"),
			{"operator", "--all", "--image", "registry.example/tombolo:1.4.0", "--image-dir", "/project"},
		} {
			out, err := run(t, clusters, render.Plain, "s3://acme-state?region=eu-central-1", args...)
			assert.NilError(t, err)
			stacks := stacksOf(t, out)
			assert.Check(t, len(stacks) == 2*len(clusters), "%s: %d stacks of %d clusters", dir, len(stacks), len(clusters))
			for _, s := range stacks {
				refusals, err := definition.Refusals(upstream, s.Object)
				assert.NilError(t, err)
				assert.Check(t, len(refusals) == 0, "%s: %s: %s", dir, s.GetName(), strings.Join(refusals, ", "))
			}
		}
	}
	assert.Check(t, engines[config.Flux] && engines[config.ArgoCD])
}

// stacksOf are the Stacks among the objects.
func stacksOf(t *testing.T, text string) []unstructured.Unstructured {
	t.Helper()
	var out []unstructured.Unstructured
	decoder := kyaml.NewYAMLOrJSONDecoder(bufio.NewReader(strings.NewReader(text)), 4096)
	for {
		var object unstructured.Unstructured
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return slices.DeleteFunc(out, func(o unstructured.Unstructured) bool { return o.GetKind() != "Stack" })
		}
		assert.NilError(t, err)
		out = append(out, object)
	}
}
