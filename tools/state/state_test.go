package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"
)

const release = "../../platform/flux/addons/kube-prometheus-stack/release.yaml"

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	assert.NilError(t, err)
	return text
}

// TestStateOf: the golden file is what tools/rules evaluates the tree's rules with.
func TestStateOf(t *testing.T) {
	text, err := stateOf(read(t, release), read(t, "testdata/objects.json"))
	assert.NilError(t, err)
	golden.Assert(t, text, "metrics.txt")
}

// TestRightsForTheState: kube-state-metrics may read each kind that it is to tell of, and no
// other of the tree's choosing.
func TestRightsForTheState(t *testing.T) {
	v, err := valuesOf(read(t, release))
	assert.NilError(t, err)
	ksm := v.KubeStateMetrics
	assert.Check(t, ksm.CustomResourceState.Enabled)
	assert.Check(t, is.Equal(ksm.CustomResourceState.Config.Kind, "CustomResourceStateMetrics"))
	var may, tells []string
	for _, r := range ksm.RBAC.ExtraRules {
		assert.DeepEqual(t, r.Verbs, []string{"list", "watch"})
		for _, plural := range r.Resources {
			may = append(may, r.APIGroups[0]+"/"+plural)
		}
	}
	for _, r := range ksm.CustomResourceState.Config.Spec.Resources {
		plural := strings.ToLower(r.GroupVersionKind.Kind) + "s"
		tells = append(tells, r.GroupVersionKind.Group+"/"+strings.Replace(plural, "repositorys", "repositories", 1))
	}
	slices.Sort(may)
	slices.Sort(tells)
	assert.DeepEqual(t, may, tells)
}

// TestVersionIsTheCharts: what makes the metrics here is what makes them there.
func TestVersionIsTheCharts(t *testing.T) {
	packed, err := gzip.NewReader(bytes.NewReader(read(t, "../upstream/facts/facts.json.gz")))
	assert.NilError(t, err)
	facts, err := io.ReadAll(packed)
	assert.NilError(t, err)
	runs := regexp.MustCompile(`/kube-state-metrics:(v[0-9.]+)`).FindSubmatch(facts)
	assert.Assert(t, runs != nil)
	assert.Check(t, is.Contains(string(read(t, "go.mod")), "k8s.io/kube-state-metrics/v2 "+string(runs[1])))
}
