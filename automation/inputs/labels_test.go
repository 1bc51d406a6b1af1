package inputs

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestLabelsAt: the labels of a cluster before a change, with what it shared then.
func TestLabelsAt(t *testing.T) {
	c := newCheckout(t)
	c.write("clusters/_dev.yaml", "labels: {grade: gold}\n")
	c.commit()
	c.git("branch", "base")
	c.replace("clusters/one.yaml", "environment: dev", "environment: sandbox")
	c.remove("clusters/_dev.yaml")
	c.commit()
	at := func(ref, cluster string) map[string]string {
		t.Helper()
		labels, err := LabelsAt(t.Context(), Options{Root: c.dir, Ref: ref}, cluster)
		assert.NilError(t, err)
		return labels
	}
	one := at("base", "one")
	assert.Check(t, is.Equal(one["environment"], "dev"))
	assert.Check(t, is.Equal(one["grade"], "gold"))
	assert.Check(t, is.Equal(at("HEAD", "one")["environment"], "sandbox"))
	assert.Check(t, is.Contains(at("base", "spoke"), "wave"))
	assert.Check(t, at("base", "new") == nil)

	c.write("clusters/one.yaml", "environment: prod\nname: one\nno: more\n")
	c.commit()
	assert.DeepEqual(t, at("HEAD", "one"), map[string]string{"environment": "prod", "tombolo/cluster": "one"})
	_, err := LabelsAt(t.Context(), Options{Root: c.dir, Ref: "none"}, "one")
	assert.ErrorContains(t, err, "no such commit")
}
