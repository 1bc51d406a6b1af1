package namespaces

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/internal/names"
)

const token = "kubernetes:core/v1:Namespace"

func run(args *NamespacesArgs) (*recorder.Recorder, error) {
	return recorder.Make("demo-bootstrap", "demo", NewNamespaces, args)
}

func TestNamespaces(t *testing.T) {
	r, err := run(&NamespacesArgs{
		Owner: "demo",
		Namespaces: []Namespace{
			{Name: "flux-system"},
			{Name: "dns", Labels: map[string]string{"team": "net"}, Annotations: map[string]string{"a": "b"}},
		},
		Existing: pulumi.StringMap{"default": pulumi.String(""), "dns": pulumi.String("demo")},
	})
	assert.NilError(t, err)
	assert.Check(t, is.Len(r.Problems(), 0))
	dns, ok := r.Named(token, "demo-dns")
	assert.Assert(t, ok, "no namespace demo-dns")
	for path, want := range map[string]string{
		"metadata.name": "dns", "metadata.labels.team": "net", `metadata.labels["tombolo/cluster"]`: "demo", "metadata.annotations.a": "b",
	} {
		assert.Check(t, is.Equal(dns.String(path), want), path)
	}
	assert.Check(t, len(dns.IgnoreChanges) == 0, "ignored changes %v: labels of the cluster file would not arrive", dns.IgnoreChanges)
}

func TestForeignNamespaceIsRefused(t *testing.T) {
	for _, owner := range []string{"", "other"} {
		_, err := run(&NamespacesArgs{
			Owner: "demo", Namespaces: []Namespace{{Name: "dns"}},
			Existing: pulumi.StringMap{"dns": pulumi.String(owner)},
		})
		want := "namespace dns exists already and is not of cluster demo: take it out of the cluster file, " +
			"or hand it over with `kubectl label namespace dns tombolo/cluster=demo --overwrite`"
		assert.Check(t, is.ErrorContains(err, want), owner)
	}
}

func TestNamespacesValidate(t *testing.T) {
	for want, args := range map[string]*NamespacesArgs{
		"an owner is required":         {},
		"a namespace has no name":      {Owner: "demo", Namespaces: []Namespace{{}}},
		"namespace dns is given twice": {Owner: "demo", Namespaces: []Namespace{{Name: "dns"}, {Name: "dns"}}},
		"namespace dns: the label tombolo/cluster is set by tombolo; remove it": {
			Owner: "demo", Namespaces: []Namespace{{Name: "dns", Labels: map[string]string{names.ClusterLabel: "x"}}},
		},
	} {
		_, err := run(args)
		assert.Check(t, is.ErrorContains(err, "namespaces demo: "+want))
	}
}
