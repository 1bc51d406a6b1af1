package ready

import (
	"testing"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/components/recorder"
)

func TestAfterKeepsTheValueAndWaits(t *testing.T) {
	r := &recorder.Recorder{}
	err := r.Run("demo-core", func(ctx *pulumi.Context) error {
		key, err := kms.NewKey(ctx, "key", &kms.KeyArgs{})
		if err != nil {
			return err
		}
		alias, err := kms.NewAlias(ctx, "alias", &kms.AliasArgs{TargetKeyId: pulumi.String("1")})
		if err != nil {
			return err
		}
		return recorder.Probe(ctx, pulumi.Map{"id": After(key.ID().ToStringOutput(), alias)})
	})
	assert.NilError(t, err)
	r.Probed().Expect(t, map[string]string{"id": "key-id"})
	r.Probed().ExpectAfter(t, "id", "key", "alias")
}
