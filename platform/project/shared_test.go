package project

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestLeaveOut: the template's values give way to shared ones, and answers only to the same ones.
func TestLeaveOut(t *testing.T) {
	const text = `version: 1
name: second

cloud:
  region: eu-west-1 # asked
  account: "111122223333"

kubernetes:
  version: "1.36"
  # About nodes.
  nodeGroups:
    - name: system

# What a cluster has.
addons: {}

gitops:
  # renovate: x
  distribution:
    sha256: abc
`
	shared := []string{"kubernetes:\n  version: \"1.35\"\n", "cloud: {region: eu-central-1, account: \"111122223333\"}\naddons: {metricsServer: {}}\ngitops: {distribution: {sha256: def}}\n"}
	got, err := LeaveOut(text, [][]byte{[]byte(shared[0]), []byte(shared[1])})
	assert.NilError(t, err)
	assert.Check(t, is.Equal(got, `version: 1
name: second

cloud:
  region: eu-west-1 # asked

kubernetes:
  # About nodes.
  nodeGroups:
    - name: system
`))
	got, err = LeaveOut(text, nil)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(got, text))
	_, err = LeaveOut(text, [][]byte{[]byte(strings.Repeat("[", 3))})
	assert.Check(t, is.ErrorContains(err, "read the shared settings"))
}
