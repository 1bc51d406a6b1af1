package stacks

import (
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestNameAndParse(t *testing.T) {
	for _, k := range AllKinds() {
		cluster, kind, err := Parse(Name("my-core-demo", k))
		assert.Check(t, cluster == "my-core-demo" && kind == k && err == nil, "%s: %s, %s, %v", k, cluster, kind, err)
	}
	for _, bad := range []string{"demo", "-core", "demo-other", ""} {
		_, _, err := Parse(bad)
		want := fmt.Sprintf("stack %q is not named after a cluster and a kind: expected <cluster>-core, <cluster>-bootstrap or <account>-pipelines", bad)
		assert.Check(t, is.Error(err, want))
	}
}
