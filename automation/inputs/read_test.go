package inputs

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestSinceOfValues: the file of a stack of this project is compared; what Git does not
// have is named.
func TestSinceOfValues(t *testing.T) {
	c := newCheckout(t)
	c.replace("clusters/one.yaml", "gitops:\n", `
values:
  vpc: {fromStack: two-core, output: vpcId}
  db: {fromStack: data/prod, output: db}
  zone: {fromSsm: /shop/zone}
services:
  - name: shop
    namespace: flux-system
    values: {db: {fromStack: data/prod, output: db}, gone: {fromStack: gone-core, output: x}}
gitops:
`)
	c.replace("clusters/two.yaml", "gitops:\n", "values: {db: {fromStack: data/prod, output: db}}\ngitops:\n")
	c.commit()
	c.replace("clusters/two.yaml", "max: 3", "max: 4")
	got, report, err := c.since("HEAD", "")
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(got, map[string][]string{
		"one": {"file of a stack it reads: clusters/two.yaml changed"}, "two": {"cluster file: clusters/two.yaml changed"},
	}))
	var lines []string
	for _, u := range report.Unseen {
		lines = append(lines, u.String())
	}
	assert.Check(t, is.DeepEqual(lines, []string{
		"values of stack data/prod are not in Git, and not compared: one and two take them",
		"values of parameter /shop/zone are not in Git, and not compared: one takes them",
		"values of stack gone-core are not in Git, and not compared: one takes them",
	}))
}
