package distribution

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// around are the documents before and after the one that is changed.
const around = `# builds what teams deliver
apiVersion: v1
kind: ConfigMap
metadata: {name: builder}
data: {note: "a builder   of images"} # as it is
---
BUILDER
--- # the last
apiVersion: apps/v1
kind: StatefulSet
metadata: {name:   builder}
`

const builder = `kind: Deployment
metadata:
  name: builder # ours
spec:
  template:
    spec:
      containers:
        - name: sidecar
        - name: main
          env:
            - name: LEVEL
              value: info`

func built() Environment {
	return Environment{Deployment: "builder", Containers: []string{"manager", "main"}, Variables: [][2]string{{"PATH", "/bin"}, {"LEVEL", "debug"}}}
}

// TestEnvironmentIsSet in the one container, and leaves what the manifest has, comments too.
func TestEnvironmentIsSet(t *testing.T) {
	got, err := built().Set([]byte(strings.Replace(around, "BUILDER", builder, 1)))
	assert.NilError(t, err)
	assert.Equal(t, string(got), strings.Replace(around, "BUILDER", builder+`
            - name: PATH
              value: /bin`, 1))
	again, err := built().Set(got)
	assert.NilError(t, err)
	assert.Equal(t, string(again), string(got))
	inOneLine, err := built().Set([]byte(`{"kind": "Deployment", "metadata": {"name": "builder"}, "spec": {"template": {"spec": {"containers": [{"name": "manager"}]}}}}`))
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(inOneLine), "PATH"))
}

func TestEnvironmentHasNoPlace(t *testing.T) {
	other := strings.ReplaceAll(strings.Replace(around, "BUILDER", builder, 1), "name: main", "name: other")
	_, err := built().Set([]byte(other))
	assert.Error(t, err, "deployment builder of the distribution has no container named manager or main, in which no team may start Git; take a manifest or a chart that names it so")
	for _, text := range []string{"", "kind: Deployment\nmetadata: {name: another}\n", strings.ReplaceAll(other, "kind: Deployment", "kind: DaemonSet"), "builder: ["} {
		got, err := built().Set([]byte(text))
		assert.NilError(t, err)
		assert.Equal(t, string(got), text)
	}
	got, err := Environment{}.Set([]byte(other))
	assert.NilError(t, err)
	assert.Equal(t, string(got), other)
}
