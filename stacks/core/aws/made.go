package aws

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/urn"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/config"
)

// The types of what a live cluster remembers.
const (
	subnetType       = "aws:ec2/subnet:Subnet"
	controlPlaneType = "aws:eks/cluster:Cluster"
	nodeGroupType    = "aws:eks/nodeGroup:NodeGroup"
	keyType          = "aws:kms/key:Key"
)

// made is what the state of the own stack says that earlier runs made. AWS lets some
// of it never change, and the cluster file does not tell it: the zones that the control
// plane was made in, the blocks that subnets have, the names of node groups.
type made map[string]madeResource

// madeResource is a resource, with those of its outputs that are looked at. It may have
// secrets, of which none is.
type madeResource struct {
	Type    string `pulumi:"type"`
	Outputs struct {
		ARN       string `pulumi:"arn"`
		Zone      string `pulumi:"availabilityZone"`
		CIDR      string `pulumi:"cidrBlock"`
		VPCConfig *struct {
			SubnetIDs []string `pulumi:"subnetIds"`
		} `pulumi:"vpcConfig"`
		Encryption *struct {
			Provider struct {
				KeyARN string `pulumi:"keyArn"`
			} `pulumi:"provider"`
		} `pulumi:"encryptionConfig"`
		Name          string   `pulumi:"nodeGroupName"`
		InstanceTypes []string `pulumi:"instanceTypes"`
		AMIType       string   `pulumi:"amiType"`
		CapacityType  string   `pulumi:"capacityType"`
		NodeRoleARN   string   `pulumi:"nodeRoleArn"`
		SubnetIDs     []string `pulumi:"subnetIds"`
		Scaling       *struct {
			Min int `pulumi:"minSize"`
			Max int `pulumi:"maxSize"`
		} `pulumi:"scalingConfig"`
	} `pulumi:"outputs"`
}

// readResources is the engine's function that reads the resources of a stack.
const readResources = "pulumi:pulumi:readStackResourceOutputs"

// readMade reads the state of the own stack: nothing for a stack that has none yet.
func readMade(ctx *pulumi.Context) (made, error) {
	var state struct {
		Outputs made `pulumi:"outputs"`
	}
	args := struct {
		Stack string `pulumi:"stackName"`
	}{ctx.Stack()}
	if _, err := ctx.InvokePackageRaw(readResources, args, &state, ""); err != nil {
		return nil, fmt.Errorf("read what the state of stack %s has: %w", ctx.Stack(), err)
	}
	return state.Outputs, nil
}

// begun says whether the state has a resource of AWS. The stack's outputs would not
// tell: a first up that was killed has none.
func (m made) begun() bool {
	for _, r := range m {
		if strings.HasPrefix(r.Type, "aws:") {
			return true
		}
	}
	return false
}

// named is the resource of a type and a name.
func (m made) named(typ, name string) (madeResource, bool) {
	for id, r := range m {
		if r.Type == typ && urn.URN(id).Name() == name {
			return r, true
		}
	}
	return madeResource{}, false
}

// subnets are the subnets that the cluster's own network has, for each zone.
func (m made) subnets(cluster string) []config.SubnetPlan {
	byZone := map[string]*config.SubnetPlan{}
	for id, r := range m {
		block, err := netip.ParsePrefix(r.Outputs.CIDR)
		if r.Type != subnetType || err != nil {
			continue
		}
		plan := byZone[r.Outputs.Zone]
		if plan == nil {
			plan = &config.SubnetPlan{Zone: r.Outputs.Zone}
			byZone[r.Outputs.Zone] = plan
		}
		switch urn.URN(id).Name() {
		case cluster + "-private-" + r.Outputs.Zone:
			plan.Private = block
		case cluster + "-public-" + r.Outputs.Zone:
			plan.Public = block
		}
	}
	var out []config.SubnetPlan
	for _, plan := range byZone {
		out = append(out, *plan)
	}
	return out
}

// subnetZone is the zone of a subnet that core made, "" for others.
func (m made) subnetZone(id string) string {
	for _, r := range m {
		if r.Type == subnetType && strings.HasSuffix(r.Outputs.ARN, "/"+id) {
			return r.Outputs.Zone
		}
	}
	return ""
}

// controlPlane is the control plane; its subnets are nil when there is none yet.
func (m made) controlPlane() (subnets []string, key string) {
	for _, r := range m {
		if r.Type != controlPlaneType || r.Outputs.VPCConfig == nil {
			continue
		}
		if r.Outputs.Encryption != nil {
			key = r.Outputs.Encryption.Provider.KeyARN
		}
		return r.Outputs.VPCConfig.SubnetIDs, key
	}
	return nil, ""
}
