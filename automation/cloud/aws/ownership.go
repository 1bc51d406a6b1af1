package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/cloudwatch"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks/owner"
)

// searching is a search for what is a cluster's.
type searching struct {
	teardown.Search
	cluster *config.Cluster
	ctx     *pulumi.Context
	account pulumi.InvokeOption
	// lives says that the account has a control plane of the cluster's name, and ours,
	// that it is the cluster's, or that the last one was.
	lives, ours bool
	found       map[string]teardown.Leftover
}

// candidates are the cluster's resources as a tagging API has them: they may be
// deleted already.
func candidates(p *pulumi.Context, c *config.Cluster, q teardown.Search, opt pulumi.InvokeOption) ([]teardown.Leftover, error) {
	s := &searching{Search: q, cluster: c, ctx: p, account: opt, found: map[string]teardown.Leftover{}}
	for _, look := range []func() error{s.controlPlane, s.owned, s.named, s.logGroups, s.balancerInterfaces} {
		if err := look(); err != nil {
			return nil, err
		}
	}
	return slices.Collect(maps.Values(s.found)), nil
}

// ControlPlane is the EKS cluster of core.
func (Cloud) ControlPlane(core []apitype.ResourceV3) owner.ControlPlane {
	for _, r := range core {
		if r.Type != clusterType || r.Delete || r.External {
			continue
		}
		arn, _ := r.Outputs["arn"].(string)
		return owner.ControlPlane{ID: arn, Issuer: issuerIn(r.Outputs)}
	}
	return owner.ControlPlane{}
}

// issuerIn is the OIDC issuer in the outputs of an EKS cluster. EKS chooses its last
// part at random: https://docs.aws.amazon.com/eks/latest/APIReference/API_OIDC.html
func issuerIn(outputs map[string]any) string {
	at := outputs["identities"]
	for _, key := range []string{"oidcs", "issuer"} {
		list, _ := at.([]any)
		if len(list) == 0 {
			return ""
		}
		first, _ := list[0].(map[string]any)
		at = first[key]
	}
	issuer, _ := at.(string)
	return issuer
}

// controlPlane finds out whose the EKS cluster of the name is. EKS has one of a name in
// an account and a region.
func (s *searching) controlPlane() error {
	all, err := eks.GetClusters(s.ctx, s.account)
	if err != nil {
		return fmt.Errorf("list the EKS clusters: %w", err)
	}
	if s.lives = slices.Contains(all.Names, s.cluster.Name); !s.lives {
		s.ours = s.ControlPlane.ID != ""
		return nil
	}
	found, err := eks.LookupCluster(s.ctx, &eks.LookupClusterArgs{Name: s.cluster.Name}, s.account)
	if err != nil {
		return err
	}
	issuer := ""
	for _, i := range found.Identities {
		for _, o := range i.Oidcs {
			issuer = o.Issuer
		}
	}
	known := s.ControlPlane
	s.ours = known.ID != "" && known == owner.ControlPlane{ID: found.Arn, Issuer: issuer} || s.Owner != "" && found.Tags[names.OwnerTag] == s.Owner
	if s.ours {
		s.ControlPlane.ID = found.Arn
	}
	return nil
}

// owned finds what has the owner's tag.
func (s *searching) owned() error {
	if s.Owner == "" {
		return nil
	}
	proof := "tag " + names.OwnerTag + " of this state"
	return s.tagged(names.OwnerTag, s.Owner, func(k kind, l teardown.Leftover, _ map[string]string) {
		l.Passes = false // it was made by core
		s.add(k, l, proof)
	})
}

// named finds what controllers on the cluster have made, by their tags with its name.
// Without an owner it finds whatever has the name.
func (s *searching) named() error {
	for key, value := range ownershipTags(s.cluster.Name) {
		err := s.tagged(key, value, func(k kind, l teardown.Leftover, tags map[string]string) {
			maker := Cloud{}.Maker(tags)
			if maker == "" && key != names.ClusterTag {
				maker = "a controller"
			}
			proof := ""
			if s.ours && k.made && maker != "" {
				proof = fmt.Sprintf("made by %s for the cluster %s", maker, s.ControlPlane.ID)
			}
			// AWS takes away network interfaces, and what goes with core, by itself.
			l.Passes = l.Passes && (s.lives || l.GoesWithCore || l.Kind == interfaceKind)
			if by := tags[names.OwnerTag]; by == "" && (proof != "" || s.Owner == "") {
				s.add(k, l, proof)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ownershipTags are those by which core, and controllers on the cluster, say
// whose a resource is. Sources: the documentation of the AWS Load Balancer
// Controller, of Kubernetes' AWS cloud provider and the EBS CSI driver, of
// Karpenter, and of the Amazon VPC CNI.
func ownershipTags(cluster string) map[string]string {
	return map[string]string{
		names.ClusterTag:                   cluster,
		"elbv2.k8s.aws/cluster":            cluster,
		"kubernetes.io/cluster/" + cluster: "owned",
		"eks:eks-cluster-name":             cluster,
		"cluster.k8s.amazonaws.com/name":   cluster,
	}
}

// tagged hands over what has a tag.
func (s *searching) tagged(key, value string, found func(kind, teardown.Leftover, map[string]string)) error {
	all, err := taggedWith(s.ctx, key, value, s.account)
	for _, r := range all {
		if l, ok := Identify(r.CloudID, r.Tags); ok {
			a, _ := parseARN(r.CloudID)
			k, _ := kindOf(a)
			found(k, l, r.Tags)
		}
	}
	return err
}

// add adds a resource with its proof. What is part of somebody else's network is none
// of the cluster's, whatever its tags say; the first proof stays.
func (s *searching) add(k kind, l teardown.Leftover, proof string) {
	if before, seen := s.found[l.CloudID]; k.network && !s.cluster.OwnsNetwork() || seen && before.Proof != "" {
		return
	}
	l.Proof = proof
	s.found[l.CloudID] = l
}

// logGroups are those that the control plane and agents write to. EKS makes its
// group again, without tags, as long as the control plane has something to say.
func (s *searching) logGroups() error {
	if !s.ours && s.Owner != "" {
		return nil
	}
	proof := ""
	if s.ours {
		proof = "log group of the cluster " + s.ControlPlane.ID
	}
	for _, prefix := range []string{"/aws/eks/" + s.cluster.Name + "/", "/aws/containerinsights/" + s.cluster.Name + "/"} {
		res, err := cloudwatch.GetLogGroups(s.ctx, &cloudwatch.GetLogGroupsArgs{LogGroupNamePrefix: &prefix}, s.account)
		if err != nil {
			return err
		}
		for _, arn := range res.Arns {
			if l, ok := Identify(strings.TrimSuffix(arn, ":*"), nil); ok {
				s.add(kind{}, l, proof)
			}
		}
	}
	return nil
}

// balancerInterfaces are the network interfaces of load balancers in core's VPC.
// They have no tags, only AWS can delete them, and they outlive their load
// balancer by minutes, in the way of subnets and security groups.
func (s *searching) balancerInterfaces() error {
	if s.Network == "" {
		return nil
	}
	found, err := networkInterfaces(s.ctx, "vpc-id", s.Network, "ELB *", s.account)
	if err != nil {
		return err
	}
	for _, i := range found {
		l, _ := Identify(i.Arn, nil)
		l.Name, l.Type = i.Description, ""
		s.add(kind{}, l, "network interface of a load balancer in "+s.Network+", the VPC of this state")
	}
	return nil
}

// networkInterfaces are those with a description, in which an asterisk stands for
// any text, in a subnet or a VPC: filter is the name of its filter. One that goes
// meanwhile is left out.
func networkInterfaces(p *pulumi.Context, filter, in, description string, opt pulumi.InvokeOption) ([]*ec2.LookupNetworkInterfaceResult, error) {
	list, err := ec2.GetNetworkInterfaces(p, &ec2.GetNetworkInterfacesArgs{Filters: []ec2.GetNetworkInterfacesFilter{
		{Name: filter, Values: []string{in}}, {Name: "description", Values: []string{description}},
	}}, opt)
	if err != nil {
		return nil, err
	}
	var out []*ec2.LookupNetworkInterfaceResult
	for _, id := range list.Ids {
		if found, err := ec2.LookupNetworkInterface(p, &ec2.LookupNetworkInterfaceArgs{Id: &id}, opt); err == nil {
			out = append(out, found)
		}
	}
	return out, nil
}
