package aws

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/eks"
	"tombolo/components/network"
	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/stacks/core/live"
	"tombolo/stacks/owner"
)

// adoptedFile is a cluster that others own, with an addon that needs access entries.
func adoptedFile(t *testing.T) *config.Cluster {
	t.Helper()
	karpenter := addon.Find("karpenter")
	return &config.Cluster{
		Name: "shop", Cloud: config.Cloud{Provider: config.AWS, Region: "eu-central-1", Account: "111122223333"},
		Kubernetes: config.Kubernetes{Existing: &config.ExistingCluster{Name: "main"}},
		Addons:     addon.Selection{"karpenter": karpenter.NewOptions()},
		GitOps:     config.GitOps{Engine: config.Flux},
		Services:   []config.Service{{Name: "reports", Identity: &config.Identity{Mode: config.PodIdentity}}},
	}
}

// theirAccount answers for the cluster main in vpc-1: subnet-a is public by its tag,
// subnet-b gives public addresses, subnet-c and subnet-d are private, d without a tag.
func theirAccount(subnets ...any) *recorder.Recorder {
	return &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"aws:eks/getCluster:getCluster": recorder.Answering(map[string]any{
			"name": "main", "arn": eksARN, "endpoint": "https://k8s.example", "version": "1.34", "status": "ACTIVE", "tags": map[string]any{},
			"certificateAuthorities": []any{map[string]any{"data": "Q0E="}},
			"identities":             []any{map[string]any{"oidcs": []any{map[string]any{"issuer": "https://oidc.example/id/ABC"}}}},
			"accessConfigs":          []any{map[string]any{"authenticationMode": "API"}},
			"vpcConfig":              map[string]any{"clusterSecurityGroupId": "sg-1", "vpcId": "vpc-1", "subnetIds": subnets},
		}),
		"aws:iam/getOpenIdConnectProvider:getOpenIdConnectProvider": recorder.Answering(map[string]any{"arn": "arn:provider"}),
		"aws:eks/getAddon:getAddon":                                 recorder.Answering(map[string]any{}),
		"aws:eks/getNodeGroups:getNodeGroups":                       recorder.Answering(map[string]any{"names": []any{}}),
		"aws:ec2/getVpc:getVpc":                                     recorder.Answering(map[string]any{"cidrBlock": "10.1.0.0/16", "ownerId": "111122223333"}),
		"aws:ec2/getSubnet:getSubnet": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			id := args["id"].StringValue()
			tags := map[string]any{"subnet-a": map[string]any{publicRoleTag: "1"}, "subnet-c": map[string]any{privateRoleTag: "1"}}[id]
			if tags == nil {
				tags = map[string]any{}
			}
			return resource.NewPropertyMapFromMap(map[string]any{
				"id": id, "vpcId": "vpc-1", "availabilityZone": "eu-central-1" + id[len(id)-1:], "tags": tags, "mapPublicIpOnLaunch": id == "subnet-b",
			}), nil
		},
	}}
}

// adopted runs adopt.
func adopted(c *config.Cluster, r *recorder.Recorder) (net *network.Network, cluster *eks.Cluster, err error) {
	err = r.Run("shop-core", func(ctx *pulumi.Context) error {
		provider, err := aws.NewProvider(ctx, "aws", &aws.ProviderArgs{})
		if err != nil {
			return err
		}
		if net, cluster, err = adopt(ctx, c, "aws", made{}, pulumi.Provider(provider)); err != nil {
			return err
		}
		return recorder.Probe(ctx, pulumi.Map{
			"name": cluster.Name, "vpc": net.VPCID, "cidr": net.CIDR, "private": net.PrivateSubnetIDs, "public": net.PublicSubnetIDs,
		})
	})
	return net, cluster, err
}

func TestAdoptReadsTheNetwork(t *testing.T) {
	r := theirAccount("subnet-d", "subnet-a", "subnet-b", "subnet-c")
	_, _, err := adopted(adoptedFile(t), r)
	assert.NilError(t, err)
	r.Probed().Expect(t, map[string]string{
		"name": "main", "vpc": "vpc-1", "cidr": "10.1.0.0/16", "private[0]": "subnet-c", "private[1]": "subnet-d", "public[0]": "subnet-a", "public[1]": "subnet-b",
	})
	for _, res := range r.All() {
		assert.Check(t, !strings.HasPrefix(res.Type, "aws:"), "%s %s was registered", res.Type, res.Name)
	}
}

func TestAdoptTakesTheFilesSubnets(t *testing.T) {
	c := adoptedFile(t)
	c.Network.Existing = &config.ExistingNetwork{VPC: "vpc-1", PrivateSubnets: []string{"subnet-b", "subnet-d"}}
	r := theirAccount("subnet-a", "subnet-b")
	_, _, err := adopted(c, r)
	assert.NilError(t, err)
	r.Probed().Expect(t, map[string]string{"private[0]": "subnet-b", "private[1]": "subnet-d"})
}

func TestAdoptRefuses(t *testing.T) {
	_, _, err := adopted(adoptedFile(t), theirAccount("subnet-a", "subnet-b", "subnet-c"))
	assert.Check(t, is.ErrorContains(err, "the existing cluster main has 1 private"))
	c := adoptedFile(t)
	c.Network.Existing = &config.ExistingNetwork{VPC: "vpc-2"}
	_, _, err = adopted(c, theirAccount())
	assert.Check(t, is.ErrorContains(err, "the existing cluster main is in vpc-1, and network.existing says vpc-2"))
}

// TestSharedNetwork: addons whose policies name the VPC's account need to know it.
func TestSharedNetwork(t *testing.T) {
	shared := func() *recorder.Recorder {
		r := theirAccount("subnet-a", "subnet-b")
		r.Invokes["aws:ec2/getVpc:getVpc"] = recorder.Answering(map[string]any{"cidrBlock": "10.1.0.0/16", "ownerId": "999988887777"})
		return r
	}
	c := adoptedFile(t)
	c.Network.Existing = &config.ExistingNetwork{VPC: "vpc-1", PrivateSubnets: []string{"subnet-b", "subnet-d"}}
	_, _, err := adopted(c, shared())
	assert.Check(t, is.ErrorContains(err, `vpc-1 is of account 999988887777, not of 111122223333, and the policies of the addons karpenter name it: set network.existing.account to "999988887777"`))

	c.Network.Existing.Account = "999988887777"
	_, _, err = adopted(c, shared())
	assert.NilError(t, err)
	_, _, err = adopted(c, theirAccount("subnet-a", "subnet-b"))
	assert.Check(t, is.ErrorContains(err, "vpc-1 is of account 111122223333, not of 999988887777"))

	c.Addons = nil
	c.Network.Existing.Account = ""
	_, _, err = adopted(c, shared())
	assert.NilError(t, err)
}

// TestPoliciesInASharedNetwork: what is of the network is of its owner's account, and all else
// of the cluster's.
func TestPoliciesInASharedNetwork(t *testing.T) {
	c := adoptedFile(t)
	c.Network.Existing = &config.ExistingNetwork{VPC: "vpc-1", Account: "999988887777"}
	for name, want := range map[string][]string{
		"karpenter":       {"arn:aws:ec2:eu-central-1:999988887777:subnet/*"},
		loadBalancerAddon: {"arn:aws:ec2:eu-central-1:999988887777:vpc/*"},
	} {
		a := addon.Find(name)
		var theirs []string
		for _, i := range a.Needs(c.AddonFacts(), sampleOptions(t, a)).Identities {
			for _, s := range i.Statements {
				theirs = append(theirs, slices.DeleteFunc(slices.Clone(s.Resources), func(r string) bool { return !strings.Contains(r, "999988887777") })...)
			}
		}
		assert.Check(t, is.DeepEqual(theirs, want), name)
	}
}

func TestExistingClusterArgs(t *testing.T) {
	c := adoptedFile(t)
	args := existingClusterArgs(c, "aws", made{})
	assert.Check(t, args.NeedsOIDC && args.PodIdentity && !args.CreateOIDC && !args.MadeOIDC)
	assert.Check(t, is.DeepEqual(args.Entries, []string{"the addon karpenter"}))
	c.Addons, c.Services = nil, nil
	c.GitOps = config.GitOps{Engine: config.ArgoCD, Hub: "mgmt", ArgoCD: config.ArgoCDOptions{Credentials: config.CredentialsAWS}}
	args = existingClusterArgs(c, "aws", made{})
	assert.Check(t, !args.NeedsOIDC && !args.PodIdentity)
	assert.Check(t, is.DeepEqual(args.Entries, []string{"gitops.argocd.credentials: aws"}))
}

// TestWarningsOfExisting: what the owner has to set is said, and set by nobody else.
func TestWarningsOfExisting(t *testing.T) {
	c := adoptedFile(t)
	subnets := foundSubnets{{id: "subnet-a", tags: map[string]string{publicRoleTag: "1"}}, {id: "subnet-d"}}
	assert.Check(t, is.Len(warnings(c, &eks.Existing{Version: "9.99"}, subnets), 0))
	balancer := addon.Find(loadBalancerAddon)
	c.Addons[loadBalancerAddon] = balancer.NewOptions()
	got := warnings(c, &eks.Existing{Version: awsfacts.Calendar[0].Minor, Support: "EXTENDED"}, subnets)
	assert.Assert(t, is.Len(got, 2))
	assert.Check(t, is.Contains(got[0], "the existing cluster main: Kubernetes "+awsfacts.Calendar[0].Minor+" is in extended support since"))
	assert.Check(t, is.Contains(got[1], "and subnet-d is without"))
}

const (
	vpcARN = "arn:aws:ec2:eu-central-1:111122223333:vpc/vpc-1"
	eksARN = "arn:aws:eks:eu-central-1:111122223333:cluster/demo"
)

func tagged(arn string, tags map[string]any) map[string]any {
	return map[string]any{"resourceArn": arn, "tags": tags, "complianceDetails": []any{}}
}

// TestRefuseStrangers: what has the name and another owner, or none where the state has
// nothing in the cloud, stops the program.
func TestRefuseStrangers(t *testing.T) {
	theirs := map[string]any{"tombolo:owner": "theirs", "tombolo:backend": "0123abcd"}
	untagged := map[string]any{}
	for _, test := range []struct {
		name     string
		tagged   []any
		clusters []any
		// of the EKS cluster
		tags map[string]any
		// has says that the stack has a VPC already.
		has  bool
		want string
	}{
		{name: "nothing"},
		{name: "our own", tagged: []any{tagged(vpcARN, map[string]any{"tombolo:owner": "ours"})}},
		{
			name: "another's", tagged: []any{tagged(vpcARN, theirs)}, has: true,
			want: "account 111122223333 has 1 resource of another cluster demo: " + vpcARN + " (owner theirs, made on the backend with the fingerprint 0123abcd); nothing was made",
		},
		{name: "without an owner", tagged: []any{tagged(vpcARN, untagged)}, want: vpcARN + " (no owner's tag); nothing was made"},
		{name: "without an owner, from before", tagged: []any{tagged(vpcARN, untagged)}, has: true},
		{
			name: "another's control plane", clusters: []any{"demo"}, tags: theirs, has: true,
			want: eksARN + " (owner theirs, made on the backend with the fingerprint 0123abcd, made at 2026-01-02T03:04:05Z)",
		},
		{name: "a control plane of another tool", clusters: []any{"demo"}, tags: untagged, want: eksARN + " (no owner's tag, made at 2026-01-02T03:04:05Z)"},
		{name: "our control plane", clusters: []any{"demo"}, tags: map[string]any{"tombolo:owner": "ours"}},
		{name: "a control plane from before", clusters: []any{"demo"}, tags: untagged, has: true},
		{name: "another name", clusters: []any{"demo-2"}},
		{name: "what outlives a cluster", tagged: []any{
			tagged("arn:aws:kms:eu-central-1:111122223333:key/k", theirs), tagged("arn:aws:ec2:eu-central-1:111122223333:volume/vol-1", untagged),
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := map[string]any{"urn:pulumi:s::p::owner::o": map[string]any{"type": owner.Type, "outputs": map[string]any{}}}
			if test.has {
				state["urn:pulumi:s::p::vpc::v"] = map[string]any{"type": "aws:ec2/vpc:Vpc", "outputs": map[string]any{"secret": resource.MakeSecret(resource.NewProperty("s"))}}
			}
			r := &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
				"aws:eks/getClusters:getClusters": recorder.Answering(map[string]any{"id": "e", "names": test.clusters}),
				"aws:eks/getCluster:getCluster": recorder.Answering(map[string]any{
					"id": "demo", "name": "demo", "arn": eksARN, "createdAt": "2026-01-02T03:04:05Z", "tags": test.tags,
				}),
				"aws:resourcegroupstaggingapi/getResources:getResources": recorder.Answering(map[string]any{"id": "t", "resourceTagMappingLists": test.tagged}),
				recorder.ReadResources: recorder.Answering(map[string]any{"outputs": state}),
			}}
			c := &config.Cluster{Name: "demo", Cloud: config.Cloud{Account: "111122223333"}}
			err := r.Run("demo-core", func(ctx *pulumi.Context) error {
				had, err := live.Read(ctx, LiveKeys())
				if err != nil {
					return err
				}
				return refuseStrangers(ctx, c, owner.Owner{ID: "ours"}, made{had}, pulumi.Parent(nil))
			})
			assert.Check(t, (err == nil) == (test.want == "") && strings.Contains(fmt.Sprint(err), test.want), "error %v, want %q", err, test.want)
		})
	}
}
