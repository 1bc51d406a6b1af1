package aws

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/components/recorder"
	"tombolo/config"
)

// TestGivenRoles: a role that others own has to be there, and one for Pod Identity to trust it.
func TestGivenRoles(t *testing.T) {
	const arn = "arn:aws:iam::111122223333:role/team/orders"
	for _, test := range []struct {
		name, arn, trust string
		missing          bool
		mode             config.IdentityMode
		want             string
	}{
		{name: "there", arn: arn, mode: config.IRSA},
		{name: "trusts", arn: arn, trust: `{"Service":"pods.eks.amazonaws.com","Action":["sts:AssumeRole","sts:TagSession"]}`, mode: config.PodIdentity},
		{name: "missing", missing: true, mode: config.IRSA, want: "have its owner make it, or correct the ARN"},
		{name: "another path", arn: "arn:aws:iam::111122223333:role/orders", mode: config.IRSA, want: "the role of that name is arn:aws:iam::111122223333:role/orders; correct the path"},
		{name: "no trust", arn: arn, trust: `{"Service":"ec2.amazonaws.com"}`, mode: config.PodIdentity, want: "does not name pods.eks.amazonaws.com"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
				"aws:iam/getRole:getRole": func(args resource.PropertyMap) (resource.PropertyMap, error) {
					assert.Check(t, args["name"].StringValue() == "orders")
					if test.missing {
						return nil, errors.New("couldn't find resource")
					}
					return resource.NewPropertyMapFromMap(map[string]any{"arn": test.arn, "assumeRolePolicy": test.trust}), nil
				},
			}}
			err := r.Run("demo-core", func(ctx *pulumi.Context) error {
				s := config.Service{Name: "orders", Identity: &config.Identity{RoleARN: arn, Mode: test.mode}}
				return checkGiven(ctx, &config.Cluster{Services: []config.Service{s}}, "aws", pulumi.Parent(nil))
			})
			if test.want == "" {
				assert.NilError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.want)
		})
	}
}
