package object

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
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

// TestKnown: in a preview, a secret that is not known is unknown and nothing else; in an up, and where
// its value is there, it stays a secret.
func TestKnown(t *testing.T) {
	unknown := func() pulumi.StringInput {
		return pulumi.ToSecret(pulumi.UnsafeUnknownOutput(nil)).ApplyT(func(any) string { return "" }).(pulumi.StringOutput)
	}
	for name, test := range map[string]struct {
		value  pulumi.StringInput
		mode   []pulumi.RunOption
		secret bool
	}{
		"known in a preview":   {pulumi.String("hunter2"), []pulumi.RunOption{recorder.Preview}, true},
		"unknown in a preview": {unknown(), []pulumi.RunOption{recorder.Preview}, false},
		"known in an up":       {pulumi.String("hunter2"), nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			assert.NilError(t, (&recorder.Recorder{}).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
				data := Secret(Meta{Name: "s"}, "", map[string]pulumi.StringInput{"password": test.value}).Fields["data"]
				known, err := Known(ctx, data.(pulumi.Output))
				if err != nil {
					return err
				}
				got, err := internals.UnsafeAwaitOutput(ctx.Context(), known)
				assert.Check(t, got.Secret == test.secret && got.Known == test.secret, "%+v", got)
				return err
			}, test.mode...))
		})
	}
}
