package aws

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/awsfacts"
	"tombolo/lab/aws/account"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/kms"
	"tombolo/lab/aws/logs"
	"tombolo/lab/controlplane"
	"tombolo/lab/standin"
)

func policyOf(statement string) string {
	return `{"Version":"2012-10-17","Statement":[` + statement + `]}`
}

// attempt is the creation of a resource that AWS refuses, and a part of what it
// says.
type attempt struct {
	name  string
	token string
	in    any // props, or func(*world) props
	want  string
}

// refusals are the attempts around a cluster; each other service has its own
// with its tests. Unknown resource types are in TestUnknownType, deletions of
// what is in use in TestRefusedDeletions, downgrades in TestRefusedUpdates.
var refusals = []attempt{
	{"unknown property", ec2.VPCType, props{"cidrBlok": "10.0.0.0/16"}, `cidrBlok: Invalid or unknown key; did you mean "cidrBlock"?. Examine values at 'x.cidrBlok'.`},
	{
		"missing property", ec2.SubnetType,
		props{"cidrBlock": "10.0.9.0/24"},
		`vpcId: Missing required argument. The argument "vpcId" is required, but no definition was found.. Examine values at 'x.vpcId'.`,
	},
	{"missing list", eks.NodeGroupType, func(w *world) props { in := w.nodeArgs(nil); delete(in, "subnetIds"); return in }, `subnetIds: Missing required argument.`},
	{"missing nested property", eks.NodeGroupType, func(w *world) props {
		return w.nodeArgs(props{"scalingConfig": map[string]any{"minSize": 1, "desiredSize": 1}})
	}, `scalingConfig.maxSize: Missing required argument.`},
	{"unknown nested property", eks.ClusterType, func(w *world) props {
		return w.clusterArgs(props{"vpcConfig": map[string]any{"subnetIds": []any{}, "publicAccessCIDRs": []any{}}})
	}, `vpcConfig.publicAccessCIDRs: Invalid or unknown key; did you mean "publicAccessCidrs"?`},
	{"wrong type", ec2.VPCType, props{"cidrBlock": []any{"10.0.0.0/16"}}, `cidrBlock: expected a string, received a list`},
	{"reserved tag", ec2.VPCType, props{"cidrBlock": "10.0.0.0/16", "tags": map[string]any{"aws:x": "y"}}, `tags: a tag's key must not begin with aws: aws:x`},

	{"VPC too large", ec2.VPCType, props{"cidrBlock": "10.0.0.0/8"}, "operation error EC2: CreateVpc, https response error StatusCode: 400, RequestID: "},
	{"VPC too small", ec2.VPCType, props{"cidrBlock": "10.0.0.0/29"}, "api error InvalidVpc.Range: The CIDR '10.0.0.0/29' is invalid."},
	{"no VPC", ec2.SubnetType, props{"vpcId": "vpc-1", "cidrBlock": "10.0.9.0/24"}, "creating EC2 Subnet: operation error EC2: CreateSubnet"},
	{"no VPC code", ec2.SubnetType, props{"vpcId": "vpc-1", "cidrBlock": "10.0.9.0/24"}, "api error InvalidVpcID.NotFound: The vpc ID 'vpc-1' does not exist"},
	{"subnet outside", ec2.SubnetType, func(w *world) props { return props{"vpcId": w.vpc.ID, "cidrBlock": "10.1.0.0/24"} }, "api error InvalidSubnet.Range: The CIDR '10.1.0.0/24' is invalid."},
	{
		"subnet overlaps", ec2.SubnetType, func(w *world) props { return props{"vpcId": w.vpc.ID, "cidrBlock": "10.0.0.128/25"} },
		"api error InvalidSubnet.Conflict: The CIDR '10.0.0.128/25' conflicts with another subnet",
	},
	{"zone of another region", ec2.SubnetType, func(w *world) props {
		return props{"vpcId": w.vpc.ID, "cidrBlock": "10.0.9.0/24", "availabilityZone": "us-east-1a"}
	}, "Value (us-east-1a) for parameter availabilityZone is invalid. Subnets can currently only be created in the following availability zones: eu-central-1a, eu-central-1b, eu-central-1c."},
	{"second gateway", ec2.GatewayType, func(w *world) props { return props{"vpcId": w.vpc.ID} }, "api error Resource.AlreadyAssociated: resource igw-0"},
	{"address in use", ec2.NatType, func(w *world) props { return props{"allocationId": w.address.ID, "subnetId": w.subnetB.ID} }, "] is already associated"},
	{
		"no subnet", ec2.NatType, func(w *world) props {
			return props{"allocationId": w.address.ID, "subnetId": "subnet-1"}
		},
		"api error InvalidSubnetID.NotFound: The subnet ID 'subnet-1' does not exist",
	},
	{"NAT without address", ec2.NatType, func(w *world) props { return props{"subnetId": w.subnetA.ID} }, "api error MissingParameter"},
	{"route twice", ec2.RouteType, func(w *world) props {
		return props{"routeTableId": w.table.ID, "destinationCidrBlock": "0.0.0.0/0", "gatewayId": w.gateway.ID}
	}, "api error RouteAlreadyExists: The route identified by 0.0.0.0/0 already exists."},
	{"route to nowhere", ec2.RouteType, func(w *world) props { return props{"routeTableId": w.table.ID, "destinationCidrBlock": "0.0.0.0/0"} }, "Invalid combination of arguments"},
	{"route to no NAT", ec2.RouteType, func(w *world) props {
		return props{"routeTableId": w.table.ID, "destinationCidrBlock": "10.9.0.0/16", "natGatewayId": "nat-1"}
	}, "api error InvalidNatGatewayID.NotFound: NatGateway nat-1 was not found"},
	{"subnet with two tables", ec2.TableLinkType, func(w *world) props { return props{"routeTableId": w.table.ID, "subnetId": w.subnetB.ID} }, "api error Resource.AlreadyAssociated"},
	{"no endpoint service", ec2.EndpointType, func(w *world) props {
		return props{"vpcId": w.vpc.ID, "serviceName": "com.amazonaws.eu-central-1.nothing"}
	}, "api error InvalidServiceName: The Vpc Endpoint Service 'com.amazonaws.eu-central-1.nothing' does not exist"},
	{"wrong endpoint type", ec2.EndpointType, func(w *world) props {
		return props{"vpcId": w.vpc.ID, "serviceName": "com.amazonaws.eu-central-1.ecr.api"}
	}, "api error InvalidParameter: Endpoint type (Gateway) does not match available service types ([Interface])."},

	{
		"group name taken", ec2.SecurityGroupType, func(w *world) props {
			return props{"vpcId": w.vpc.ID, "name": w.group.In.Str("name")}
		},
		"api error InvalidGroup.Duplicate: The security group 'group-",
	},
	{
		"no group", ec2.IngressRuleType,
		props{"securityGroupId": "sg-1", "cidrIpv4": "10.0.0.0/16", "ipProtocol": "tcp", "fromPort": 443, "toPort": 443},
		"api error InvalidGroup.NotFound: The security group 'sg-1' does not exist",
	},
	{"rule twice", ec2.IngressRuleType, func(w *world) props {
		w.Make(ec2.GroupRuleType, "first", props{"securityGroupId": w.group.ID, "type": "ingress", "cidrBlocks": []any{"10.0.0.0/16"}, "protocol": "tcp", "fromPort": 443, "toPort": 443})
		return props{"securityGroupId": w.group.ID, "cidrIpv4": "10.0.0.0/16", "ipProtocol": "tcp", "fromPort": 443, "toPort": 443}
	}, `api error InvalidPermission.Duplicate: the specified rule "peer: 10.0.0.0/16, TCP, from port: 443, to port: 443, ALLOW" already exists`},
	{"launch template name taken", ec2.LaunchTemplateType, func(w *world) props {
		w.Make(ec2.LaunchTemplateType, "first", props{"name": "nodes"})
		return props{"name": "nodes"}
	}, "api error InvalidLaunchTemplateName.AlreadyExistsException: Launch template name already in use."},
	{"tag on nothing", ec2.TagType, props{"resourceId": "vpc-1", "key": "a", "value": "b"}, "api error InvalidID: The ID 'vpc-1' is not valid"},

	{"role name too long", iam.RoleType, props{"assumeRolePolicy": nodeTrust, "name": strings.Repeat("x", 65)}, "name: expected length of name to be in the range (1 - 64), got xxx"},
	{"role name taken", iam.RoleType, func(w *world) props { return props{"assumeRolePolicy": nodeTrust, "name": w.nodeRole.ID} }, "StatusCode: 409, RequestID: "},
	{"role name taken code", iam.RoleType, func(w *world) props { return props{"assumeRolePolicy": nodeTrust, "name": w.nodeRole.ID} }, "EntityAlreadyExists: Role with name node-role-"},
	{"no JSON", iam.RoleType, props{"assumeRolePolicy": "{"}, `assumeRolePolicy: "assumeRolePolicy" contains an invalid JSON policy`},
	{"no version", iam.RoleType, props{"assumeRolePolicy": `{"Statement":[]}`}, "MalformedPolicyDocument: Policy document must be version 2012-10-17 or greater."},
	{"unknown key", iam.RolePolicyType, func(w *world) props {
		return props{"role": w.nodeRole.ID, "policy": policyOf(`{"Effect":"Allow","Actions":"s3:*","Resource":"*"}`)}
	}, "MalformedPolicyDocument: Syntax errors in policy."},
	{"no effect", iam.RolePolicyType, func(w *world) props {
		return props{"role": w.nodeRole.ID, "policy": policyOf(`{"Action":"s3:*","Resource":"*"}`)}
	}, "MalformedPolicyDocument: Missing required field Effect cannot be empty!"},
	{"no action", iam.RolePolicyType, func(w *world) props {
		return props{"role": w.nodeRole.ID, "policy": policyOf(`{"Effect":"Allow","Resource":"*"}`)}
	}, "MalformedPolicyDocument: Policy statement must contain actions."},
	{"no resource", iam.PolicyType, props{"policy": policyOf(`{"Effect":"Allow","Action":"s3:*"}`)}, "MalformedPolicyDocument: Policy statement must contain resources."},
	{"no ARN", iam.PolicyType, props{"policy": policyOf(`{"Effect":"Allow","Action":"s3:*","Resource":"bucket"}`)}, `MalformedPolicyDocument: Resource bucket must be in ARN format or "*".`},
	{
		"no vendor", iam.PolicyType,
		props{"policy": policyOf(`{"Effect":"Allow","Action":"GetObject","Resource":"*"}`)},
		"MalformedPolicyDocument: Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.",
	},
	{"unknown service", iam.RoleType, props{"assumeRolePolicy": strings.ReplaceAll(nodeTrust, "ec2.", "ecc.")}, `MalformedPolicyDocument: Invalid principal in policy: "SERVICE":"ecc.amazonaws.com"`},
	{
		"unknown principal", iam.RoleType,
		props{"assumeRolePolicy": strings.ReplaceAll(nodeTrust, `"Service":"ec2.amazonaws.com"`, `"AWS":"arn:aws:iam::111122223333:role/nobody"`)},
		`MalformedPolicyDocument: Invalid principal in policy: "AWS":"arn:aws:iam::111122223333:role/nobody"`,
	},
	{
		"trust with resource", iam.RoleType,
		props{"assumeRolePolicy": policyOf(`{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole","Resource":"*"}`)},
		"MalformedPolicyDocument: Has prohibited field Resource",
	},
	{"no role", iam.RolePolicyType, props{"role": "nobody", "policy": readBuckets}, "NoSuchEntity: The role with name nobody cannot be found."},
	{"no AWS policy", iam.AttachmentType, func(w *world) props {
		return props{"role": w.nodeRole.ID, "policyArn": "arn:aws:iam::aws:policy/AmazonEKSNodePolicy"}
	}, "NoSuchEntity: Policy arn:aws:iam::aws:policy/AmazonEKSNodePolicy does not exist or is not attachable."},
	{"issuer twice", iam.OIDCProviderType, func(w *world) props {
		in := props{"url": "https://oidc.eks.eu-central-1.amazonaws.com/id/A", "clientIdLists": []any{"sts.amazonaws.com"}}
		w.Make(iam.OIDCProviderType, "first", in)
		return in
	}, "EntityAlreadyExists: Provider with url https://oidc.eks.eu-central-1.amazonaws.com/id/A already exists."},

	{"cluster in one zone", eks.ClusterType, func(w *world) props {
		return w.clusterArgs(props{"vpcConfig": map[string]any{"subnetIds": []any{w.subnetA.ID}}})
	}, "InvalidParameterException: Subnets specified must be in at least two different AZs"},
	{"no such subnet", eks.ClusterType, func(w *world) props {
		return w.clusterArgs(props{"vpcConfig": map[string]any{"subnetIds": []any{w.subnetA.ID, "subnet-1"}}})
	}, "InvalidParameterException: The subnet ID 'subnet-1' does not exist"},
	{"no such version", eks.ClusterType, func(w *world) props { return w.clusterArgs(props{"version": "1.99"}) }, "operation error EKS: CreateCluster, https response error StatusCode: 400"},
	{"no such version code", eks.ClusterType, func(w *world) props { return w.clusterArgs(props{"version": "1.99"}) }, "InvalidParameterException: unsupported Kubernetes version"},
	{"cluster name taken", eks.ClusterType, func(w *world) props { return w.clusterArgs(props{"name": "demo"}) }, "ResourceInUseException: Cluster already exists with name: demo"},
	{"cluster name too long", eks.ClusterType, func(w *world) props { return w.clusterArgs(props{"name": strings.Repeat("x", 101)}) }, "name: invalid value for name"},
	{
		"role of nodes", eks.ClusterType, func(w *world) props { return w.clusterArgs(props{"roleArn": w.nodeRole.Out["arn"]}) },
		"could not be assumed because it does not exist or the trusted entity is not correct",
	},
	{"no endpoint", eks.ClusterType, func(w *world) props {
		return w.clusterArgs(props{"vpcConfig": map[string]any{"subnetIds": []any{w.subnetA.ID, w.subnetB.ID}, "endpointPublicAccess": false}})
	}, "InvalidParameterException: Private and public endpoint access cannot be false"},
	{"key going", eks.ClusterType, func(w *world) props {
		key := w.Make(kms.KeyType, "old", props{})
		assert.NilError(w.T, w.Delete(key))
		return w.clusterArgs(props{"encryptionConfig": map[string]any{"provider": map[string]any{"keyArn": key.Out["arn"]}, "resources": []any{"secrets"}}})
	}, "is pending deletion."},

	{"services of the internet", eks.ClusterType, func(w *world) props {
		return w.clusterArgs(props{"kubernetesNetworkConfig": map[string]any{"serviceIpv4Cidr": "100.64.0.0/16"}})
	}, "The service CIDR 100.64.0.0/16 is not in 10.0.0.0/8"},
	{"no cluster", eks.NodeGroupType, func(w *world) props { return w.nodeArgs(props{"clusterName": "none"}) }, "ResourceNotFoundException: No cluster found for name: none."},
	{
		"role of the cluster", eks.NodeGroupType, func(w *world) props {
			return w.nodeArgs(props{"nodeRoleArn": w.clusterRole.Out["arn"]})
		},
		"Following required service principals [ec2.amazonaws.com] were not found in the trust relationships of nodeRole",
	},
	{"role without policy", eks.NodeGroupType, func(w *world) props {
		role := w.Make(iam.RoleType, "bare", props{"assumeRolePolicy": nodeTrust})
		return w.nodeArgs(props{"nodeRoleArn": role.Out["arn"]})
	}, "NodeCreationFailure: Instances failed to join the kubernetes cluster"},
	{
		"no such instance", eks.NodeGroupType, func(w *world) props { return w.nodeArgs(props{"instanceTypes": []any{"m99.large"}}) },
		"InvalidParameterException: The following supplied instance types do not exist: [m99.large]",
	},
	{"sizes", eks.NodeGroupType, func(w *world) props {
		return w.nodeArgs(props{"scalingConfig": map[string]any{"minSize": 3, "desiredSize": 2, "maxSize": 3}})
	}, "InvalidParameterException: minSize can't be greater than desiredSize"},
	{"sizes above", eks.NodeGroupType, func(w *world) props {
		return w.nodeArgs(props{"scalingConfig": map[string]any{"minSize": 1, "desiredSize": 4, "maxSize": 3}})
	}, "InvalidParameterException: desiredSize can't be greater than maxSize"},
	{"disk twice", eks.NodeGroupType, func(w *world) props {
		lt := w.Make(ec2.LaunchTemplateType, "lt", props{})
		return w.nodeArgs(props{"diskSize": 20, "launchTemplate": map[string]any{"id": lt.ID, "version": "1"}})
	}, "InvalidParameterException: Disk size must be specified within the launch template."},
	{
		"group taken", eks.NodeGroupType, func(w *world) props {
			return w.nodeArgs(props{"nodeGroupName": w.nodes.In["nodeGroupName"]})
		},
		"ResourceInUseException: NodeGroup already exists with name nodes-",
	},
	{
		"group name too long", eks.NodeGroupType, func(w *world) props {
			return w.nodeArgs(props{"nodeGroupName": strings.Repeat("x", 64)})
		},
		"expected length of nodeGroupName to be in the range (0 - 63), got xxx",
	},
	{"newer than the cluster", eks.NodeGroupType, func(w *world) props { return w.nodeArgs(props{"version": "1.35"}) }, "Requested Nodegroup version 1.35 is not valid for cluster version 1.34"},

	{"no addon", eks.AddonType, props{"clusterName": "demo", "addonName": "nothing"}, "InvalidParameterException: Addon nothing specified is not supported in 1.34 kubernetes version"},
	{"no addon version", eks.AddonType, props{"clusterName": "demo", "addonName": "vpc-cni", "addonVersion": "v0.1.0"}, "InvalidParameterException: Addon version specified is not supported"},
	{
		"addon configuration", eks.AddonType,
		props{"clusterName": "demo", "addonName": "vpc-cni", "configurationValues": "a: b"},
		"InvalidParameterException: ConfigurationValue provided in request is not supported",
	},
	{"addon twice", eks.AddonType, func(w *world) props {
		in := props{"clusterName": "demo", "addonName": "coredns"}
		w.Make(eks.AddonType, "first", in)
		return in
	}, "ResourceInUseException: Addon already exists."},
	{"entry of the creator", eks.AccessEntryType, func(w *world) props {
		return props{"clusterName": "demo", "principalArn": account.CallerARN(w.Cloud, "eu-central-1")}
	}, "ResourceInUseException: The specified access entry resource is already in use on this cluster."},
	{
		"reserved group", eks.AccessEntryType,
		props{"clusterName": "demo", "principalArn": "arn:aws:iam::111122223333:role/x", "kubernetesGroups": []any{"system:masters"}},
		"InvalidParameterException: The kubernetes group name system:masters is invalid, it cannot start with system:",
	},
	{
		"policy without entry", eks.AccessPolicyType,
		props{
			"clusterName": "demo", "principalArn": "arn:aws:iam::111122223333:role/x", "accessScope": map[string]any{"type": "cluster"},
			"policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy",
		},
		"ResourceNotFoundException: The specified principalArn could not be found.",
	},
	{"pod role without TagSession", eks.PodIdentityType, func(w *world) props {
		role := w.Make(iam.RoleType, "pod", props{"assumeRolePolicy": strings.ReplaceAll(nodeTrust, "ec2", "pods.eks")})
		return props{"clusterName": "demo", "namespace": "a", "serviceAccount": "b", "roleArn": role.Out["arn"]}
	}, "does not allow pods.eks.amazonaws.com to use sts:AssumeRole and sts:TagSession"},

	{"alias twice", kms.AliasType, func(w *world) props {
		in := props{"name": "alias/demo", "targetKeyId": w.key.ID}
		w.Make(kms.AliasType, "first", in)
		return in
	}, "AlreadyExistsException: An alias with the name arn:aws:kms:eu-central-1:111122223333:alias/demo already exists"},
	{"alias of no key", kms.AliasType, props{"name": "alias/x", "targetKeyId": "1234"}, "NotFoundException: Key 'arn:aws:kms:eu-central-1:111122223333:key/1234' does not exist"},
	{"log group taken", logs.LogGroupType, props{"name": "/aws/eks/demo/cluster"}, "operation error CloudWatch Logs: CreateLogGroup, https response error StatusCode: 400"},
	{"retention", logs.LogGroupType, props{"retentionInDays": 42}, "retentionInDays: expected retentionInDays to be one of [0 1 3 5 7 14 30"},
}

func TestRefusals(t *testing.T) { refused(t, newWorld, refusals) }

// refused makes every attempt in a world of its own. A refused one makes
// nothing.
func refused(t *testing.T, fresh func(*testing.T) *world, attempts []attempt) {
	t.Helper()
	for _, tc := range attempts {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := fresh(t)
			in, fixed := tc.in.(props)
			if !fixed {
				in = tc.in.(func(*world) props)(w)
			}
			before := len(w.Cloud.Inventory())
			w.denied(tc.token, in, tc.want)
			assert.Check(t, is.Equal(len(w.Cloud.Inventory()), before))
		})
	}
}

func TestRefusedDeletions(t *testing.T) {
	for _, tc := range []struct {
		name string
		what func(w *world) *thing
		want string
	}{
		{"vpc", func(w *world) *thing { return w.vpc }, "api error DependencyViolation: The vpc 'vpc-0"},
		{"subnet", func(w *world) *thing { return w.subnetA }, "api error DependencyViolation: The subnet 'subnet-0"},
		{"group", func(w *world) *thing { return w.group }, "api error DependencyViolation: resource sg-0"},
		{"gateway", func(w *world) *thing { return w.gateway }, "has some mapped public address(es). Please unmap those public address(es) before detaching the gateway."},
		{"table", func(w *world) *thing { return w.table }, "api error DependencyViolation: The routeTable 'rtb-0"},
		{"address", func(w *world) *thing { return w.address }, "api error InvalidIPAddress.InUse: Address eipalloc-0"},
		{"role", func(w *world) *thing { return w.nodeRole }, "DeleteConflict: Cannot delete entity, must detach all policies first."},
		{"cluster", func(w *world) *thing { return w.cluster }, "ResourceInUseException: Cluster has nodegroups attached"},
		{"role with inline policy", func(w *world) *thing {
			role := w.Make(iam.RoleType, "r", props{"assumeRolePolicy": nodeTrust})
			w.Make(iam.RolePolicyType, "p", props{"role": role.ID, "policy": readBuckets})
			return role
		}, "DeleteConflict: Cannot delete entity, must delete policies first."},
		{"role in profile", func(w *world) *thing {
			role := w.Make(iam.RoleType, "r", props{"assumeRolePolicy": nodeTrust})
			w.Make(iam.InstanceProfileType, "p", props{"role": role.ID})
			return role
		}, "DeleteConflict: Cannot delete entity, must remove roles from instance profile first."},
		{"attached policy", func(w *world) *thing {
			policy := w.Make(iam.PolicyType, "p", props{"policy": readBuckets})
			w.Make(iam.AttachmentType, "a", props{"role": w.nodeRole.ID, "policyArn": policy.ID})
			return policy
		}, "DeleteConflict: Cannot delete a policy attached to entities."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			refuses(t, w.Delete(tc.what(w)), tc.want)
		})
	}
}

func TestRefusedUpdates(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct {
		change props
		want   string
	}{
		{props{"version": "1.33"}, "InvalidParameterException: Unsupported Kubernetes minor version update from 1.34 to 1.33"},
		{props{"version": "1.37"}, "InvalidParameterException: unsupported Kubernetes version"},
		{props{"version": "1.36"}, "InvalidParameterException: Unsupported Kubernetes minor version update from 1.34 to 1.36"},
		{props{"accessConfig": map[string]any{"authenticationMode": "CONFIG_MAP"}}, "Unsupported authentication mode update from API to CONFIG_MAP"},
	} {
		refuses(t, w.Update(w.cluster, tc.change), tc.want)
	}
	old := w.Make(eks.ClusterType, "old", w.clusterArgs(props{"name": "old", "version": "1.32"}))
	refuses(t, w.Update(old, props{"version": "1.34"}), "Unsupported Kubernetes minor version update from 1.32 to 1.34")
	err := w.Update(old, props{"version": "1.33"})
	assert.Check(t, err == nil && old.Out.Str("version") == "1.33" && old.Out.Str("status") == "ACTIVE", "the next version gives %v, %v", err, old.Out)
}

// TestVersionsOfTheLab: the lab has what a cluster file may ask for. A cluster without a
// version gets the newest that the lab has.
func TestVersionsOfTheLab(t *testing.T) {
	for _, version := range awsfacts.Calendar.Minors() {
		assert.Check(t, slices.Contains(eks.KubernetesVersions, version), "a cluster file may ask for %s", version)
	}
	w := newWorld(t)
	in := w.clusterArgs(props{"name": "any"})
	delete(in, "version")
	assert.Equal(t, w.Make(eks.ClusterType, "any", in).Out.Str("version"), controlplane.Version)
}

// TestZonesOfAControlPlane: other subnets are fine in the zones of creation, and
// nowhere else.
func TestZonesOfAControlPlane(t *testing.T) {
	w := newWorld(t)
	other := w.Make(ec2.SubnetType, "other", props{"vpcId": w.vpc.ID, "cidrBlock": "10.0.8.0/24", "availabilityZone": "eu-central-1a"})
	third := w.Make(ec2.SubnetType, "third", props{"vpcId": w.vpc.ID, "cidrBlock": "10.0.9.0/24", "availabilityZone": "eu-central-1c"})
	in := func(subnets ...*thing) props {
		config := w.clusterArgs(nil).Sub("vpcConfig").Clone()
		var ids []any
		for _, s := range subnets {
			ids = append(ids, s.ID)
		}
		config["subnetIds"] = ids
		return props{"vpcConfig": map[string]any(config)}
	}
	for want, change := range map[string]props{
		"InvalidParameterException: Provided subnets belong to the AZs 'eu-central-1a,eu-central-1b,eu-central-1c'. " +
			"But they should belong to the exact set of AZs 'eu-central-1a,eu-central-1b' in which subnets were provided during cluster creation.": in(w.subnetA, w.subnetB, third),
		"InvalidParameterException: Provided subnets belong to the AZs 'eu-central-1a,eu-central-1c'. ": in(w.subnetA, third),
		"InvalidParameterException: Subnets specified must be in at least two different AZs":            in(w.subnetA, other),
	} {
		refuses(t, w.Update(w.cluster, change), want)
	}
	assert.NilError(t, w.Update(w.cluster, in(other, w.subnetB)))
	assert.NilError(t, w.Update(w.cluster, in(w.subnetA, other, w.subnetB)))
}

// TestSizeOfANodeGroup: an update sends the size when its owner changes it, and what an
// autoscaler has done stays otherwise.
func TestSizeOfANodeGroup(t *testing.T) {
	w := newWorld(t)
	size := func(low, want, high int) props {
		return props{"scalingConfig": map[string]any{"minSize": low, "desiredSize": want, "maxSize": high}}
	}
	_, err := w.Cloud.Change(t.Context(), eks.NodeGroupType, w.nodes.In.Str("nodeGroupName"), map[string]any{"scalingConfig.desiredSize": 3.0})
	assert.NilError(t, err)
	desired := func() int { return w.nodes.Out.Sub("scalingConfig").Integer("desiredSize") }

	assert.NilError(t, w.Update(w.nodes, props{"labels": map[string]any{"workload": "other"}}))
	assert.Equal(t, desired(), 3)
	refuses(t, w.Update(w.nodes, size(3, 2, 3)), "UpdateNodegroupConfig, https response error StatusCode: 400")
	refuses(t, w.Update(w.nodes, size(3, 2, 3)), "InvalidParameterException: Minimum capacity 3 can't be greater than desired size 2")
	refuses(t, w.Update(w.nodes, size(1, 4, 3)), "InvalidParameterException: desiredSize can't be greater than maxSize")
	assert.NilError(t, w.Update(w.nodes, size(1, 2, 9)))
	assert.Equal(t, desired(), 2)
}

// TestNodeGroupsOfACluster: a list of them, which fails without the cluster.
func TestNodeGroupsOfACluster(t *testing.T) {
	w := newWorld(t)
	w.Make(eks.ClusterType, "empty", w.clusterArgs(props{"name": "empty"}))
	for cluster, want := range map[string][]string{"demo": {w.nodes.In.Str("nodeGroupName")}, "empty": nil} {
		found, err := w.Invoke("aws:eks/getNodeGroups:getNodeGroups", props{"clusterName": cluster})
		assert.NilError(t, err)
		assert.Check(t, slices.Equal(found.List("names"), want), "%s has %v", cluster, found["names"])
	}
	_, err := w.Invoke("aws:eks/getNodeGroups:getNodeGroups", props{"clusterName": "gone"})
	refuses(t, err, "No cluster found for name: gone")
}

func TestAddonThatNeedsNodes(t *testing.T) {
	w := newWorld(t)
	w.Make(eks.ClusterType, "empty", w.clusterArgs(props{"name": "empty"}))
	w.denied(eks.AddonType, props{"clusterName": "empty", "addonName": "coredns"}, "no nodes available to schedule pods")
}

func TestQuotas(t *testing.T) {
	a := newAccount(t)
	for i := range 5 {
		a.Make(ec2.VPCType, fmt.Sprint("vpc", i), props{"cidrBlock": "10.0.0.0/16"})
		a.Make(ec2.EIPType, fmt.Sprint("eip", i), props{"domain": "vpc"})
	}
	a.denied(ec2.VPCType, props{"cidrBlock": "10.0.0.0/16"}, "VpcLimitExceeded: The maximum number of VPCs has been reached.")
	a.denied(ec2.EIPType, props{"domain": "vpc"}, "AddressLimitExceeded: The maximum number of addresses has been reached.")
}

// TestRefusalsSayOneValue: a refusal of any type is a text once it has the value
// that it is about.
func TestRefusalsSayOneValue(t *testing.T) {
	for token, typ := range allTypes() {
		refusals := []standin.Refusal{typ.InUse, typ.LimitExceeded}
		for _, ref := range typ.References {
			refusals = append(refusals, ref.Missing, standin.Refusal{Message: ref.Conflict})
		}
		for _, why := range refusals {
			text := why.About("demo").Message
			assert.Check(t, !strings.Contains(text, "%"), "%s is refused with %q", token, text)
		}
	}
}

// TestRefusalWithoutAValue says nothing of the value that it does not name.
func TestRefusalWithoutAValue(t *testing.T) {
	w := newWorld(t)
	err := w.Delete(w.cluster)
	refuses(t, err, "ResourceInUseException: Cluster has nodegroups attached")
	if err != nil && strings.Contains(err.Error(), "EXTRA") {
		t.Error(err)
	}
}
