package eks

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

const (
	theirIssuer   = "https://oidc.example/id/ABC"
	theirProvider = "arn:aws:iam::111122223333:oidc-provider/oidc.example/id/ABC"
)

// account is what AWS says of an existing cluster.
type account struct {
	cluster         map[string]any
	provider, agent bool
	groups          []any
}

func (a account) recorder() *recorder.Recorder {
	cluster := map[string]any{
		"name": "main", "arn": "arn:aws:eks:eu-central-1:111122223333:cluster/main", "endpoint": "https://k8s.example", "version": "1.34", "status": "ACTIVE",
		"certificateAuthorities": []any{map[string]any{"data": "Q0E="}},
		"identities":             []any{map[string]any{"oidcs": []any{map[string]any{"issuer": theirIssuer}}}},
		"accessConfigs":          []any{map[string]any{"authenticationMode": "API_AND_CONFIG_MAP"}},
		"upgradePolicies":        []any{map[string]any{"supportType": "EXTENDED"}},
		"vpcConfig":              map[string]any{"clusterSecurityGroupId": "sg-1", "vpcId": "vpc-1", "subnetIds": []any{"subnet-2", "subnet-1"}},
		"tags":                   map[string]any{"team": "shop"},
	}
	maps.Copy(cluster, a.cluster)
	found := func(there bool, as map[string]any) func(resource.PropertyMap) (resource.PropertyMap, error) {
		return func(resource.PropertyMap) (resource.PropertyMap, error) {
			if !there {
				return nil, errors.New("couldn't find resource")
			}
			return resource.NewPropertyMapFromMap(as), nil
		}
	}
	return &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"aws:eks/getCluster:getCluster":                             found(true, cluster),
		"aws:iam/getOpenIdConnectProvider:getOpenIdConnectProvider": found(a.provider, map[string]any{"arn": theirProvider}),
		"aws:eks/getAddon:getAddon":                                 found(a.agent, map[string]any{"addonName": agentAddon}),
		"aws:eks/getNodeGroups:getNodeGroups":                       found(true, map[string]any{"names": a.groups}),
		"aws:eks/getNodeGroup:getNodeGroup": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			return resource.PropertyMap{"nodeRoleArn": resource.NewProperty("role of " + args["nodeGroupName"].StringValue())}, nil
		},
	}}
}

// adopt runs NewExisting, and returns its outputs.
func (a account) adopt(t *testing.T, args *ExistingArgs) (*recorder.Recorder, *Existing, error) {
	t.Helper()
	r := a.recorder()
	var found *Existing
	err := r.Run("shop-core", func(ctx *pulumi.Context) error {
		var err error
		if found, err = NewExisting(ctx, "shop", args); err != nil {
			return err
		}
		return recorder.Probe(ctx, pulumi.Map{
			"name": found.Name, "arn": found.ARN, "version": found.Cluster.Version, "endpoint": found.Endpoint, "ca": found.CA, "issuer": found.OIDCIssuer,
			"provider": found.OIDCProviderARN, "group": found.SecurityGroupID, "role": found.NodeRoleARN,
		})
	})
	return r, found, err
}

// custom are the types of what a program makes in the cloud.
func custom(r *recorder.Recorder) []string {
	var out []string
	for _, res := range r.All() {
		if res.Custom && res.Type != "test:index:Probe" {
			out = append(out, res.Type+" "+res.Name)
		}
	}
	slices.Sort(out)
	return out
}

func TestExistingClusterIsOnlyRead(t *testing.T) {
	r, found, err := account{provider: true, groups: []any{"b", "a"}}.adopt(t, &ExistingArgs{Name: "main", Partition: "aws", NeedsOIDC: true})
	assert.NilError(t, err)
	assert.Check(t, is.Len(custom(r), 0))
	assert.Check(t, is.Len(r.Problems(), 0))
	r.Probed().Expect(t, map[string]string{
		"name": "main", "arn": "arn:aws:eks:eu-central-1:111122223333:cluster/main", "version": "1.34", "endpoint": "https://k8s.example", "ca": "Q0E=",
		"issuer": theirIssuer, "provider": theirProvider, "group": "sg-1", "role": "role of a",
	})
	assert.Check(t, is.Equal(found.Version+" "+found.Support+" "+found.VPCID, "1.34 EXTENDED vpc-1"))
	assert.Check(t, is.DeepEqual(found.SubnetIDs, []string{"subnet-1", "subnet-2"}))
}

// TestExistingClusterGetsWhatIsAskedFor: entries and a provider, named as for a cluster of
// our own, and nothing else.
func TestExistingClusterGetsWhatIsAskedFor(t *testing.T) {
	ops := []Principal{{Name: "ops", PrincipalARN: "arn:aws:iam::111122223333:role/ops"}}
	ci := []Principal{{Name: "ci", PrincipalARN: "arn:aws:iam::111122223333:role/ci"}}
	devs := []Access{{Name: "devs", PrincipalARN: "arn:aws:iam::111122223333:role/devs", Groups: []string{"devs"}}}
	r, _, err := account{}.adopt(t, &ExistingArgs{Name: "main", Partition: "aws", CreateOIDC: true, NeedsOIDC: true, Admins: ops, Previewers: ci, Access: devs})
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(custom(r), []string{
		"aws:eks/accessEntry:AccessEntry shop-access-devs", "aws:eks/accessEntry:AccessEntry shop-admin-ops", "aws:eks/accessEntry:AccessEntry shop-previewer-ci",
		"aws:eks/accessPolicyAssociation:AccessPolicyAssociation shop-admin-ops",
		"aws:iam/openIdConnectProvider:OpenIdConnectProvider shop-oidc",
	}))
	entry, _ := r.Named("aws:eks/accessEntry:AccessEntry", "shop-admin-ops")
	entry.Expect(t, map[string]string{"clusterName": "main", "principalArn": ops[0].PrincipalARN})
	provider, _ := r.Named("aws:iam/openIdConnectProvider:OpenIdConnectProvider", "shop-oidc")
	provider.Expect(t, map[string]string{"url": theirIssuer, "clientIdLists[0]": "sts.amazonaws.com"})
	r.Probed().ExpectAfter(t, "endpoint", "shop-access-devs", "shop-admin-ops", "shop-previewer-ci")

	// A provider that an earlier run made stays, though the account has it now.
	r, _, err = account{provider: true}.adopt(t, &ExistingArgs{Name: "main", Partition: "aws", CreateOIDC: true, MadeOIDC: true})
	assert.NilError(t, err)
	assert.Check(t, is.Len(custom(r), 1))
	// Nobody needs it: it is not looked for.
	_, _, err = account{}.adopt(t, &ExistingArgs{Name: "main", Partition: "aws"})
	assert.NilError(t, err)
}

func TestExistingClusterThatWillNotDo(t *testing.T) {
	ops := []Principal{{Name: "ops", PrincipalARN: "arn:aws:iam::111122223333:role/ops"}}
	configMap := map[string]any{"accessConfigs": []any{map[string]any{"authenticationMode": "CONFIG_MAP"}}}
	for _, test := range []struct {
		account account
		args    ExistingArgs
		want    string
	}{
		{args: ExistingArgs{Partition: "aws"}, want: "name and partition are required"},
		{account: account{cluster: map[string]any{"status": "DELETING"}}, want: "it is DELETING: wait until it is ACTIVE"},
		{account: account{cluster: map[string]any{"tags": map[string]any{"tombolo:owner": "abc"}}}, want: "it is a cluster that Tombolo made (tombolo:owner is abc): use its own cluster file and backend"},
		{account: account{cluster: map[string]any{"identities": []any{}}}, want: "without OIDC issuer"},
		{account: account{cluster: configMap}, args: ExistingArgs{Admins: ops, Entries: []string{"the addon karpenter"}}, want: "its authentication mode is CONFIG_MAP, and the addon karpenter and kubernetes.admins needs access entries"},
		{account: account{cluster: map[string]any{"accessConfigs": []any{}}}, args: ExistingArgs{Previewers: ops}, want: "kubernetes.previewers needs access entries"},
		{args: ExistingArgs{PodIdentity: true}, want: "have the cluster's owner add the addon, or use irsa"},
		{args: ExistingArgs{NeedsOIDC: true}, want: "if the account has none, set kubernetes.existing.createOidcProvider: true"},
		{account: account{provider: true}, args: ExistingArgs{CreateOIDC: true}, want: "has the IAM OIDC provider " + theirProvider + " of its issuer already"},
	} {
		if test.args.Partition == "" {
			test.args.Name, test.args.Partition = "main", "aws"
		}
		r, _, err := test.account.adopt(t, &test.args)
		assert.Check(t, is.ErrorContains(err, test.want))
		assert.Check(t, is.Len(custom(r), 0))
	}
	// The agent is part of EKS Auto Mode; and who needs no entries needs no mode for them.
	auto := map[string]any{"computeConfigs": []any{map[string]any{"enabled": true, "nodePools": []any{}, "nodeRoleArn": "role of auto"}}}
	r, _, err := account{cluster: auto}.adopt(t, &ExistingArgs{Name: "main", Partition: "aws", PodIdentity: true})
	assert.NilError(t, err)
	r.Probed().Expect(t, map[string]string{"role": "role of auto"})
	_, _, err = account{cluster: configMap, agent: true}.adopt(t, &ExistingArgs{Name: "main", Partition: "aws", PodIdentity: true})
	assert.NilError(t, err)
}
