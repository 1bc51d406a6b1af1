package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
)

// ignored is what is read of an Application's template or of an app-of-apps' entry.
type ignored struct {
	Spec struct {
		Template struct {
			Spec struct {
				IgnoreDifferences []difference `yaml:"ignoreDifferences"`
			}
		}
	}
}

type difference struct{ Kind, Name string }

// TestKnownDifferences: what is known to be rendered differently each time is
// ignored in both shapes of the Argo CD tree.
func TestKnownDifferences(t *testing.T) {
	for _, chart := range []string{"aws-load-balancer-controller", "kube-prometheus-stack"} {
		var entries []struct {
			Name              string
			IgnoreDifferences []difference `yaml:"ignoreDifferences"`
		}
		data, err := os.ReadFile("../../platform/argocd/app-of-apps/addons/" + chart + ".yaml")
		assert.NilError(t, err)
		assert.NilError(t, yaml.Unmarshal(data, &entries))
		var apps, sets []difference
		for _, e := range entries {
			apps = append(apps, e.IgnoreDifferences...)
		}
		data, err = os.ReadFile("../../platform/argocd/addons/" + chart + "/applicationset.yaml")
		assert.NilError(t, err)
		for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
			var set ignored
			err := d.Decode(&set)
			if errors.Is(err, io.EOF) {
				break
			}
			assert.NilError(t, err)
			sets = append(sets, set.Spec.Template.Spec.IgnoreDifferences...)
		}
		assert.Assert(t, len(known[chart]) > 0)
		for _, object := range known[chart] {
			is := func(d difference) bool { return d.Kind+" "+d.Name == object }
			assert.Check(t, slices.ContainsFunc(apps, is), "app-of-apps: %s", object)
			assert.Check(t, slices.ContainsFunc(sets, is), "ApplicationSet: %s", object)
		}
	}
}
