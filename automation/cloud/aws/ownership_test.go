package aws

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/stacks/owner"
)

const (
	ec2Of   = "arn:aws:ec2:eu-central-1:111122223333:"
	eksOf   = "arn:aws:eks:eu-central-1:111122223333:cluster/demo"
	groupOf = "arn:aws:logs:eu-central-1:111122223333:log-group:/aws/eks/demo/cluster"
	issuer  = "https://oidc.eks.eu-central-1.amazonaws.com/id/A1"
)

// account is an account with tagged resources, by their ARNs, and the EKS cluster demo
// when that has an issuer.
type account struct {
	tags   map[string]map[string]string
	issuer string
	owner  string
}

func (account) NewResource(pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	return "", nil, fmt.Errorf("a search makes nothing")
}

func (a account) Call(call pulumi.MockCallArgs) (resource.PropertyMap, error) {
	answer := map[string]any{"id": "1"}
	switch call.Token {
	case "aws:eks/getClusters:getClusters":
		answer["names"] = []any{"other"}
		if a.issuer != "" {
			answer["names"] = []any{"other", "demo"}
		}
	case "aws:eks/getCluster:getCluster":
		answer["arn"], answer["tags"] = eksOf, map[string]any{"tombolo:owner": a.owner}
		answer["identities"] = []any{map[string]any{"oidcs": []any{map[string]any{"issuer": a.issuer}}}}
	case "aws:resourcegroupstaggingapi/getResources:getResources":
		filter := call.Args["tagFilters"].ArrayValue()[0].ObjectValue()
		answer["resourceTagMappingLists"] = a.tagged(filter["key"].StringValue(), filter["values"].ArrayValue()[0].StringValue())
	case "aws:cloudwatch/getLogGroups:getLogGroups":
		answer["arns"], answer["logGroupNames"] = []any{}, []any{}
		if call.Args["logGroupNamePrefix"].StringValue() == "/aws/eks/demo/" {
			answer["arns"] = []any{groupOf + ":*"}
		}
	default:
		return nil, fmt.Errorf("nobody answers %s", call.Token)
	}
	return resource.NewPropertyMapFromMap(answer), nil
}

func (a account) tagged(key, value string) []any {
	out := []any{}
	for _, arn := range slices.Sorted(maps.Keys(a.tags)) {
		tags := map[string]any{}
		for k, v := range a.tags[arn] {
			tags[k] = v
		}
		if tags[key] == value {
			out = append(out, map[string]any{"resourceArn": arn, "tags": tags, "complianceDetails": []any{}})
		}
	}
	return out
}

// TestCandidates: what is proven to be the cluster's, and what would only have its name.
func TestCandidates(t *testing.T) {
	const (
		byTag        = "tag tombolo:owner of this state"
		byBalancer   = "made by the AWS Load Balancer Controller for the cluster " + eksOf
		byDriver     = "made by the EBS CSI driver for the cluster " + eksOf
		byController = "made by a controller for the cluster " + eksOf
		byGroup      = "log group of the cluster " + eksOf
	)
	a := account{tags: map[string]map[string]string{
		ec2Of + "natgateway/nat-ours":       {"tombolo:owner": "ours", "tombolo:cluster": "demo"},
		ec2Of + "natgateway/nat-theirs":     {"tombolo:owner": "theirs", "tombolo:cluster": "demo"},
		ec2Of + "subnet/subnet-shared":      {"kubernetes.io/cluster/demo": "owned"},
		ec2Of + "vpc/vpc-named":             {"tombolo:cluster": "demo"},
		ec2Of + "security-group/sg-lb":      {"elbv2.k8s.aws/cluster": "demo", "tombolo:cluster": "demo"},
		ec2Of + "security-group/sg-theirs":  {"elbv2.k8s.aws/cluster": "demo", "tombolo:owner": "theirs"},
		ec2Of + "security-group/sg-by-hand": {"tombolo:cluster": "demo"},
		ec2Of + "volume/vol-claimed":        {"tombolo:cluster": "demo", "ebs.csi.aws.com/cluster": "true", "CSIVolumeName": "pvc-1"},
		ec2Of + "instance/i-1":              {"kubernetes.io/cluster/demo": "owned"},
	}}
	ours := owner.ControlPlane{ID: eksOf, Issuer: issuer}
	owned := map[string]string{"nat-ours": byTag}
	all := map[string]string{
		"nat-ours": byTag, "sg-lb": byBalancer, "vol-claimed": byDriver, "i-1": byController, "/aws/eks/demo/cluster": byGroup,
	}
	withoutNetwork := maps.Clone(all)
	delete(withoutNetwork, "nat-ours")
	named := map[string]string{
		"subnet-shared": "", "vpc-named": "", "sg-lb": "", "sg-by-hand": "", "vol-claimed": "", "i-1": "", "/aws/eks/demo/cluster": "",
	}
	for _, test := range []struct {
		name   string
		issuer string // of the EKS cluster that there is
		owner  string // in its tag
		search teardown.Search
		within *config.ExistingNetwork
		want   map[string]string
	}{
		{name: "it lives", issuer: issuer, search: teardown.Search{Owner: "ours", ControlPlane: ours}, want: all},
		{name: "it lived", search: teardown.Search{Owner: "ours", ControlPlane: ours}, want: all},
		{name: "another one has its name now", issuer: issuer + "B2", search: teardown.Search{Owner: "ours", ControlPlane: ours}, want: owned},
		{name: "this one never had any", issuer: issuer, owner: "theirs", search: teardown.Search{Owner: "ours"}, want: owned},
		{name: "nobody has one", search: teardown.Search{Owner: "ours"}, want: owned},
		{name: "made, and not recorded", issuer: issuer, owner: "ours", search: teardown.Search{Owner: "ours"}, want: all},
		{name: "in another's network", issuer: issuer, search: teardown.Search{Owner: "ours", ControlPlane: ours}, within: &config.ExistingNetwork{}, want: withoutNetwork},
		{name: "from before", issuer: issuer, search: teardown.Search{}, want: named},
	} {
		t.Run(test.name, func(t *testing.T) {
			a.issuer, a.owner = test.issuer, test.owner
			c := &config.Cluster{Name: "demo"}
			c.Network.Existing = test.within
			var found []teardown.Leftover
			err := pulumi.RunErr(func(p *pulumi.Context) (err error) {
				found, err = candidates(p, c, test.search, pulumi.Parent(nil))
				return err
			}, pulumi.WithMocks("tombolo", "search", a))
			assert.NilError(t, err)
			got := map[string]string{}
			for _, l := range found {
				got[l.ID] = l.Proof
				if waits := l.ID == "i-1" || l.ID == "vol-claimed"; l.Passes && !waits {
					t.Errorf("%s is waited for, and nothing takes it away", l)
				}
			}
			assert.DeepEqual(t, got, test.want)
		})
	}
}

// TestRemoveWithoutAProof deletes nothing, and asks nobody.
func TestRemoveWithoutAProof(t *testing.T) {
	err := Cloud{}.Remove(t.Context(), &config.Cluster{Name: "demo"}, teardown.Search{}, []teardown.Leftover{{Kind: "VPC", ID: "vpc-1"}})
	assert.Error(t, err, "delete leftovers of demo: nothing proves that VPC vpc-1 is the cluster's")
}
