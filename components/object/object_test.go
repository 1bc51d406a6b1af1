package object

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/components/recorder"
)

// made is an object as the engine is told of it.
func made(t *testing.T, args Args) recorder.Resource {
	t.Helper()
	r := &recorder.Recorder{}
	assert.NilError(t, r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		_, err := New(ctx, "x", args)
		return err
	}))
	return r.All()[len(r.All())-1]
}

func TestEmptyFieldsAreLeftOut(t *testing.T) {
	object := made(t, ConfigMap(Meta{Name: "facts"}, pulumi.StringMap{"region": pulumi.String("eu-central-1")}))
	assert.Equal(t, object.Type, "kubernetes:core/v1:ConfigMap")
	assert.DeepEqual(t, object.Inputs.Mappable(), map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "facts"}, "data": map[string]any{"region": "eu-central-1"},
	})
}

func TestSecretHasItsDataInBase64(t *testing.T) {
	object := made(t, Secret(Meta{Name: "s"}, "Opaque", map[string]pulumi.StringInput{"password": pulumi.String("hunter2"), "user": nil}))
	data := object.Inputs["data"]
	assert.Assert(t, data.IsSecret())
	assert.DeepEqual(t, data.SecretValue().Element, resource.NewProperty(resource.PropertyMap{"password": resource.NewProperty("aHVudGVyMg==")}))
	_, has := made(t, Secret(Meta{Name: "token"}, "kubernetes.io/service-account-token", nil)).Inputs["data"]
	assert.Assert(t, !has)
}

func TestPatchIsAnotherType(t *testing.T) {
	object := made(t, Args{APIVersion: RBAC + "/v1", Kind: "ClusterRole", Patch: true})
	assert.Equal(t, object.Type, "kubernetes:rbac.authorization.k8s.io/v1:ClusterRolePatch")
	assert.Equal(t, object.Inputs["kind"].StringValue(), "ClusterRole")
}

func TestNameIsTheClusters(t *testing.T) {
	r := &recorder.Recorder{}
	assert.NilError(t, r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		o, err := New(ctx, "x", ConfigMap(Meta{Name: "facts"}, pulumi.StringMap{}))
		if err != nil {
			return err
		}
		return recorder.Probe(ctx, pulumi.Map{"name": o.Name()})
	}))
	r.Probed().Expect(t, map[string]string{"name": "facts"})
}
