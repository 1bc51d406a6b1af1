package render

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestTableTooWide shows that the widest column gives way, and the others stay
// readable.
func TestTableTooWide(t *testing.T) {
	rows := [][]string{
		{"HelmChart", "flux-system/kube-system-aws-load-balancer-controller", "yes", "3.4.0"},
		{"GitRepository", "flux-system/platform", "no", "main@sha1:16ce762fd337"},
	}
	for width, want := range map[int]string{
		0: "KIND            NAME                                                   READY   REVISION\n" +
			"HelmChart       flux-system/kube-system-aws-load-balancer-controller   yes     3.4.0\n" +
			"GitRepository   flux-system/platform                                   no      main@sha1:16ce762fd337\n",
		80: "KIND            NAME                              READY   REVISION\n" +
			"HelmChart       flux-system/kube-system-aws-...   yes     3.4.0\n" +
			"GitRepository   flux-system/platform              no      main@sha1:16ce762fd337\n",
		40: "KIND            NAME               RE...\n" +
			"HelmChart       flux-system/k...   ye...\n" +
			"GitRepository   flux-system/p...   no...\n",
	} {
		var b strings.Builder
		assert.NilError(t, Table(&b, TableOptions{Width: width}, []string{"KIND", "NAME", "READY", "REVISION"}, rows))
		assert.Check(t, b.String() == want, "in %d cells:\n%s", width, b.String())
	}
}
