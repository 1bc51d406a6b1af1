package aws

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/components/eks"
	"tombolo/components/recorder"
	"tombolo/config"
)

// The caller is a session of a role with a path, as those of IAM Identity Center have
// it, which the session's ARN does not tell.
const (
	callerARN  = "arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_ops_0123/someone"
	callerRole = "arn:aws:iam::111122223333:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_ops_0123"
)

// found runs creatorOf on a stack that has these outputs.
func found(t *testing.T, c *config.Cluster, last map[string]any, refused error, opts ...pulumi.RunOption) (creator *eks.Creator, err error) {
	t.Helper()
	r := &recorder.Recorder{
		Outputs: map[string]resource.PropertyMap{"pulumi:pulumi:StackReference": {"outputs": resource.NewProperty(resource.NewPropertyMapFromMap(last))}},
		Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
			"aws:iam/getSessionContext:getSessionContext": func(args resource.PropertyMap) (resource.PropertyMap, error) {
				assert.Check(t, args["arn"].StringValue() == callerARN)
				return resource.NewPropertyMapFromMap(map[string]any{
					"arn": callerARN, "id": callerARN, "issuerArn": callerRole, "issuerId": "AROA", "issuerName": "x", "sessionName": "someone",
				}), refused
			},
		},
	}
	err = r.Run("demo-core", func(ctx *pulumi.Context) error {
		provider, err := aws.NewProvider(ctx, "aws", nil)
		if err != nil {
			return err
		}
		creator, err = creatorOf(ctx, c, callerARN, pulumi.Provider(provider))
		return err
	}, opts...)
	return creator, err
}

func TestCreatorOf(t *testing.T) {
	for name, test := range map[string]struct {
		last    map[string]any
		preview bool
		want    *eks.Creator
	}{
		"a new cluster":                         {nil, false, &eks.Creator{ARN: callerRole}},
		"a preview of a new cluster":            {nil, true, &eks.Creator{}},
		"after a first up that failed":          {map[string]any{"creator": "arn:other"}, false, &eks.Creator{ARN: "arn:other"}},
		"a cluster that another caller made":    {map[string]any{"clusterName": "demo", "creator": "arn:other"}, false, &eks.Creator{ARN: "arn:other"}},
		"a preview of it":                       {map[string]any{"clusterName": "demo", "creator": "arn:other"}, true, &eks.Creator{ARN: "arn:other"}},
		"a cluster of an older core":            {map[string]any{"clusterName": "demo"}, false, nil},
		"a preview of a cluster of an old core": {map[string]any{"clusterName": "demo"}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var opts []pulumi.RunOption
			if test.preview {
				opts = append(opts, recorder.Preview)
			}
			got, err := found(t, &config.Cluster{}, test.last, nil, opts...)
			assert.NilError(t, err)
			assert.DeepEqual(t, got, test.want)
		})
	}
}

func TestCreatorIsNoPreviewer(t *testing.T) {
	c := &config.Cluster{Kubernetes: config.Kubernetes{Previewers: []config.Principal{{Name: "ci", PrincipalARN: callerRole}}}}
	_, err := found(t, c, nil, nil)
	assert.ErrorContains(t, err, "previewer ci of the cluster file is "+callerRole+", which makes the cluster and is an admin of it; "+
		"run up as another identity, or take the previewer out of the file")
}

func TestRoleOfTheCallerIsNotTold(t *testing.T) {
	_, err := found(t, &config.Cluster{}, nil, errors.New("AccessDenied"))
	assert.ErrorContains(t, err, "find out which IAM role "+callerARN+" is a session of, to make it an admin of the cluster")
	assert.ErrorContains(t, err, "allow it iam:GetRole on the role")
}
