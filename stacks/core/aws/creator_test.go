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
	"tombolo/stacks/core/live"
)

// The caller is a session of a role with a path, as those of IAM Identity Center have
// it, which the session's ARN does not tell.
const (
	callerARN  = "arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_ops_0123/someone"
	callerRole = "arn:aws:iam::111122223333:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_ops_0123"
)

// found runs creatorOf on a stack whose state has these resources.
func found(t *testing.T, c *config.Cluster, had live.Resources, refused error, opts ...pulumi.RunOption) (creator *eks.Creator, err error) {
	t.Helper()
	r := &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"aws:iam/getSessionContext:getSessionContext": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			assert.Check(t, args["arn"].StringValue() == callerARN)
			return resource.NewPropertyMapFromMap(map[string]any{
				"arn": callerARN, "id": callerARN, "issuerArn": callerRole, "issuerId": "AROA", "issuerName": "x", "sessionName": "someone",
			}), refused
		},
	}}
	err = r.Run("demo-core", func(ctx *pulumi.Context) error {
		provider, err := aws.NewProvider(ctx, "aws", nil)
		if err != nil {
			return err
		}
		creator, err = creatorOf(ctx, c, callerARN, made{had}, pulumi.Provider(provider))
		return err
	}, opts...)
	return creator, err
}

func TestCreatorOf(t *testing.T) {
	controlPlane := func(access map[string]any) live.Resource {
		return live.Resource{Type: clusterToken, Name: "demo", Outputs: live.Props{"accessConfig": access}}
	}
	ours := controlPlane(map[string]any{"bootstrapClusterCreatorAdminPermissions": false})
	entry := live.Resource{Type: accessEntryToken, Name: "demo-creator", Outputs: live.Props{"principalArn": "arn:other"}}
	for name, test := range map[string]struct {
		had     live.Resources
		preview bool
		want    *eks.Creator
	}{
		"a new cluster":                         {nil, false, &eks.Creator{ARN: callerRole}},
		"a preview of a new cluster":            {nil, true, &eks.Creator{}},
		"after an up that did not get there":    {live.Resources{ours}, false, &eks.Creator{ARN: callerRole}},
		"a cluster that another caller made":    {live.Resources{ours, entry}, false, &eks.Creator{ARN: "arn:other"}},
		"a preview of it":                       {live.Resources{ours, entry}, true, &eks.Creator{ARN: "arn:other"}},
		"a cluster of an older core":            {live.Resources{controlPlane(map[string]any{"bootstrapClusterCreatorAdminPermissions": true})}, false, nil},
		"one that says nothing":                 {live.Resources{controlPlane(nil)}, false, nil},
		"a preview of a cluster of an old core": {live.Resources{controlPlane(nil)}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var opts []pulumi.RunOption
			if test.preview {
				opts = append(opts, recorder.Preview)
			}
			got, err := found(t, &config.Cluster{Name: "demo"}, test.had, nil, opts...)
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

func TestCreatorHasNoLesserAccess(t *testing.T) {
	c := &config.Cluster{Kubernetes: config.Kubernetes{Access: []config.Access{{Name: "devs", PrincipalARN: callerRole, Policy: config.AccessView}}}}
	_, err := found(t, c, nil, nil)
	assert.ErrorContains(t, err, "entry devs of kubernetes.access in the cluster file is for "+callerRole+", which makes the cluster and is an admin of it; "+
		"run up as another identity, or take the entry out of the file")
}

func TestRoleOfTheCallerIsNotTold(t *testing.T) {
	_, err := found(t, &config.Cluster{}, nil, errors.New("AccessDenied"))
	assert.ErrorContains(t, err, "find out which IAM role "+callerARN+" is a session of, to make it an admin of the cluster")
	assert.ErrorContains(t, err, "allow it iam:GetRole on the role")
}
