package eks

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/kms"
	"tombolo/lab/aws/logs"
	"tombolo/lab/standin"
)

var clusterName = regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$`)

func eksClusterTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		ClusterType: {
			Constructor:   eks.NewCluster,
			Noun:          "EKS Cluster",
			LimitExceeded: standin.Refusal{Code: "ResourceLimitExceededException", Message: "Cluster limit exceeded for account."},
			API:           standin.API{Service: "EKS", Create: "CreateCluster", Update: "UpdateClusterConfig", Remove: "DeleteCluster"},
			// internal/service/eks/cluster.go. Encryption can be turned on
			// later, but not off. Another key is an update there that reaches
			// nothing, and a new cluster by the EKS component's documentation.
			ForceNew: []string{
				"accessConfig.bootstrapClusterCreatorAdminPermissions", "bootstrapSelfManagedAddons", "encryptionConfig",
				"kubernetesNetworkConfig.ipFamily", "kubernetesNetworkConfig.serviceIpv4Cidr", "name", "outpostConfig", "roleArn",
			},
			Addable:  []string{"encryptionConfig"},
			Autoname: standin.Autoname{Property: "name", Max: 100},
			Defaults: standin.Props{"bootstrapSelfManagedAddons": true},
			References: []standin.Reference{
				toSubnets("vpcConfig", "subnetIds"),
				{Path: []string{"vpcConfig", "securityGroupIds"}, To: ec2.SecurityGroupType, Missing: standin.Refusal{
					Code:    "InvalidParameterException",
					Message: "The security group '%s' does not exist (Service: AmazonEC2; Status Code: 400; Error Code: InvalidGroup.NotFound)",
				}},
			},
			InUse:    standin.Refusal{Code: "ResourceInUseException", Status: 409, Message: "Cluster has nodegroups attached"},
			Validate: validateCluster,
			Create:   createCluster,
			Update:   updateCluster,
			Settle:   startCluster,
			Remove:   removeCluster,
			Teardown: func(ctx context.Context, c *standin.Cloud, r *standin.Record) error {
				return c.Clusters.Stop(ctx, r.Outputs.Str("name"))
			},
			Decided: []string{"vpcConfig.clusterSecurityGroupId", "vpcConfig.vpcId"},
			// EKS says "several minutes"; users report 8 to 10 for creation
			// and 3 for deletion.
			Takes: standin.Timing{Create: 9 * time.Minute, Update: 5 * time.Minute, Remove: 3 * time.Minute},
		},
	}
}

// toSubnets is a reference to subnets, which EKS looks up at EC2.
func toSubnets(path ...string) standin.Reference {
	return standin.Reference{Path: path, To: ec2.SubnetType, Missing: standin.Refusal{
		Code:    "InvalidParameterException",
		Message: "The subnet ID '%s' does not exist (Service: AmazonEC2; Status Code: 400; Error Code: InvalidSubnetID.NotFound)",
	}}
}

func validateCluster(in standin.Props) []standin.Problem {
	problems := standin.Matching(in, "name", clusterName, `invalid value for name (must match ^[0-9A-Za-z][A-Za-z0-9\-_]*$, up to 100 characters), got `)
	if in.Has("vpcConfig") && !standin.HasUnknown(in["vpcConfig"]) && !in.Sub("vpcConfig").Has("subnetIds") {
		problems = append(problems, standin.Missing("vpcConfig.subnetIds", "subnetIds"))
	}
	return problems
}

func createCluster(c *standin.Call) (string, error) {
	name := c.In().Str("name")
	if c.Other("name", name) != nil {
		return "", c.Refuse(standin.Refusal{Code: "ResourceInUseException", Status: 409, Message: "Cluster already exists with name: %s"}, name)
	}
	for _, r := range c.Cloud.All() {
		if r.Type == ClusterType && r.Outputs.Str("name") == name {
			return "", fmt.Errorf("the lab runs one control plane of a name, and %s is in use in %s; choose another name", name, r.Region)
		}
	}
	if err := c.Check(chooseVersion, checkClusterRole, checkAutoMode); err != nil {
		return "", err
	}
	vpc, err := checkClusterNetwork(c)
	if err != nil {
		return "", err
	}
	if err := c.Check(checkZonesOfNew, checkClusterKey); err != nil {
		return "", err
	}
	group := account.NewID("sg")
	if err := describeCluster(c, vpc, group); err != nil {
		return "", err
	}
	return name, implyWithCluster(c, vpc, group)
}

// chooseVersion gives a cluster without a version the default one.
func chooseVersion(c *standin.Call) error {
	version := c.In().Str("version")
	if version == "" {
		c.Out()["version"] = newest
		return nil
	}
	if !slices.Contains(KubernetesVersions, version) {
		return c.Refusef("InvalidParameterException", "unsupported Kubernetes version")
	}
	return nil
}

func checkClusterRole(c *standin.Call) error {
	arn := c.In().Str("roleArn")
	if role := iam.RoleOf(c.Cloud, arn); role == nil || !iam.Trusts(role, "eks.amazonaws.com", "sts:AssumeRole") {
		return c.Refusef("InvalidParameterException", "Role with arn: %s, could not be assumed because it does not exist or the trusted entity is not correct", arn)
	}
	return nil
}

// checkClusterNetwork refuses networks that EKS cannot use, and returns the VPC.
func checkClusterNetwork(c *standin.Call) (string, error) {
	config := c.In().Sub("vpcConfig")
	vpc := ""
	for _, id := range config.List("subnetIds") {
		subnet := c.Find(ec2.SubnetType, id)
		if vpc == "" {
			vpc = subnet.Inputs.Str("vpcId")
		}
		if subnet.Inputs.Str("vpcId") != vpc {
			return "", c.Refusef("InvalidParameterException", "Subnets specified must belong to the same VPC")
		}
	}
	if len(subnetZones(c, config)) < 2 {
		return "", c.Refusef("InvalidParameterException", "Subnets specified must be in at least two different AZs")
	}
	if id := ec2.Foreign(c, ec2.SecurityGroupType, "vpcConfig.securityGroupIds", vpc); id != "" {
		return "", c.Refusef("InvalidParameterException", "Security group(s) [%s] are not in the same VPC as the subnets. Please specify the correct security group and retry.", id)
	}
	private, public := config.Boolean("endpointPrivateAccess"), !config.Has("endpointPublicAccess") || config.Boolean("endpointPublicAccess")
	if !private && !public {
		return "", c.Refusef("InvalidParameterException", "Private and public endpoint access cannot be false")
	}
	for _, block := range config.List("publicAccessCidrs") {
		if prefix, err := netip.ParsePrefix(block); err != nil || prefix != prefix.Masked() {
			return "", c.Refusef("InvalidParameterException", "The following CIDRs are invalid in publicAccessCidrs: [%s]", block)
		}
	}
	return vpc, nil
}

// subnetZones are the zones of a cluster's subnets, in order. One that is gone has none.
func subnetZones(c *standin.Call, config standin.Props) []string {
	var zones []string
	for _, id := range config.List("subnetIds") {
		if subnet := c.Find(ec2.SubnetType, id); subnet != nil {
			zones = append(zones, subnet.Outputs.Str("availabilityZone"))
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// checkZonesOfNew refuses zones in which EKS takes no control plane. The message is as users have it in
// https://github.com/eksctl-io/eksctl/issues/817.
func checkZonesOfNew(c *standin.Call) error {
	takes := func(zone string) bool {
		return !slices.Contains(account.WithoutControlPlane, account.ZoneID(c.Region, zone))
	}
	good := slices.DeleteFunc(account.Zones(c.Region), func(zone string) bool { return !takes(zone) })
	for _, zone := range subnetZones(c, c.In().Sub("vpcConfig")) {
		if !takes(zone) {
			return c.Refusef("UnsupportedAvailabilityZoneException", "Cannot create cluster '%s' because %s, the targeted availability zone, does not currently have sufficient capacity to support the cluster. "+
				"Retry and choose from these availability zones: %s", c.In().Str("name"), zone, strings.Join(good, ", "))
		}
	}
	return nil
}

// checkZones holds the control plane to the zones that it was made in: "Subnets" in
// https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html, and
// https://github.com/aws/containers-roadmap/issues/2258. The message is as users
// of UpdateClusterConfig and of Terraform have it in their notes.
func checkZones(c *standin.Call, before standin.Props) error {
	was, is := subnetZones(c, before), subnetZones(c, c.In().Sub("vpcConfig"))
	if slices.Equal(was, is) {
		return nil
	}
	return c.Refusef("InvalidParameterException", "Provided subnets belong to the AZs '%s'. But they should belong to the exact set of AZs '%s' "+
		"in which subnets were provided during cluster creation.", strings.Join(is, ","), strings.Join(was, ","))
}

func checkClusterKey(c *standin.Call) error {
	arn := c.In().Sub("encryptionConfig").Sub("provider").Str("keyArn")
	if arn == "" {
		return nil
	}
	key, err := kms.UsableKey(c, arn)
	if err != nil {
		return c.Refusef("InvalidParameterException", "Failed to use the KMS key %s: %s", arn, account.Reason(err))
	}
	if key.Outputs.Str("keyUsage") != "ENCRYPT_DECRYPT" || key.Outputs.Str("customerMasterKeySpec") != "SYMMETRIC_DEFAULT" {
		return c.Refusef("InvalidParameterException", "The KMS key %s must be symmetric and usable for encryption", arn)
	}
	return nil
}

// describeCluster fills in what EKS computes before the control plane runs.
func describeCluster(c *standin.Call, vpc, group string) error {
	in, out := c.In(), c.Out()
	name := in.Str("name")
	out["arn"], out["status"] = account.ARN(c, "eks", "cluster/"+name), standin.StatusCreating
	out["createdAt"], out["platformVersion"] = c.Record.Created.UTC().Format(time.RFC3339), "eks.1"
	out["clusterId"], out["endpoint"] = "", ""
	issuer := fmt.Sprintf("https://oidc.eks.%s.%s/id/%s", c.Region, account.DNSSuffix(c.Region), strings.ToUpper(account.RandomHex(32)))
	out["identities"] = []any{map[string]any{"oidcs": []any{map[string]any{"issuer": issuer}}}}
	clusterVpcConfig(c, vpc, group)

	access := in.Sub("accessConfig").Clone()
	access.SetDefaults(standin.Props{"authenticationMode": "CONFIG_MAP", "bootstrapClusterCreatorAdminPermissions": true})
	out["accessConfig"] = map[string]any(access)

	network := in.Sub("kubernetesNetworkConfig").Clone()
	block := c.Find(ec2.VPCType, vpc).Outputs.Str("cidrBlock")
	network.SetDefault("serviceIpv4Cidr", map[bool]string{true: "172.20.0.0/16", false: "10.100.0.0/16"}[strings.HasPrefix(block, "10.")])
	network.SetDefaults(standin.Props{"ipFamily": "ipv4", "elasticLoadBalancing": map[string]any{"enabled": false}})
	if services := network.Str("serviceIpv4Cidr"); !takesServices(services) {
		return c.Refusef("InvalidParameterException", "The service CIDR %s is not in 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16 and between /24 and /12", services)
	} else if overlaps(services, block) {
		return c.Refusef("InvalidParameterException", "The service CIDR %s overlaps with the VPC CIDR %s", services, block)
	}
	out["kubernetesNetworkConfig"] = map[string]any(network)
	out.SetDefault("upgradePolicy", map[string]any{"supportType": "EXTENDED"})
	out["certificateAuthority"] = map[string]any{"data": ""}
	out["certificateAuthorities"] = []any{map[string]any{"data": ""}}
	return nil
}

// takesServices says that EKS takes a block for Services. Source: serviceIpv4Cidr in
// https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html
func takesServices(cidr string) bool {
	block, err := netip.ParsePrefix(cidr)
	if err != nil || block.Bits() < 12 || block.Bits() > 24 {
		return false
	}
	return slices.ContainsFunc([]string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"}, func(s string) bool {
		return netip.MustParsePrefix(s).Contains(block.Addr())
	})
}

func overlaps(a, b string) bool {
	x, errX := netip.ParsePrefix(a)
	y, errY := netip.ParsePrefix(b)
	return errX == nil && errY == nil && x.Overlaps(y)
}

func clusterVpcConfig(c *standin.Call, vpc, group string) {
	config := c.In().Sub("vpcConfig").Clone()
	config.SetDefaults(standin.Props{"endpointPrivateAccess": false, "endpointPublicAccess": true, "securityGroupIds": []any{}})
	cidrs := []any{}
	if config.Boolean("endpointPublicAccess") {
		cidrs = append(cidrs, "0.0.0.0/0")
	}
	config.SetDefault("publicAccessCidrs", cidrs)
	config["vpcId"], config["clusterSecurityGroupId"] = vpc, group
	c.Out()["vpcConfig"] = map[string]any(config)
}

// implyWithCluster makes what EKS makes along with a cluster: its security
// group, the access entry of its creator, and, left behind later, its log
// group.
func implyWithCluster(c *standin.Call, vpc, group string) error {
	name := c.In().Str("name")
	err := c.Imply(ec2.SecurityGroupType, group, standin.Props{"vpcId": vpc}, standin.Props{
		"name": fmt.Sprintf("eks-cluster-sg-%s-%d", name, account.Hashed(group)), "arn": account.ARN(c, "ec2", "security-group/"+group),
		"description": "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, as well as any managed workloads.",
		"ownerId":     c.Cloud.Account, "tags": map[string]any{"kubernetes.io/cluster/" + name: "owned"},
	})
	if err != nil {
		return err
	}
	if c.Out().Sub("accessConfig").Boolean("bootstrapClusterCreatorAdminPermissions") {
		if err := implyAdmin(c, name, account.CallerARN(c.Cloud, c.Region)); err != nil {
			return err
		}
	}
	if err := implyAutoNodes(c); err != nil {
		return err
	}
	logGroup := "/aws/eks/" + name + "/cluster"
	if len(c.In().List("enabledClusterLogTypes")) == 0 || c.Find(logs.LogGroupType, logGroup) != nil {
		return nil
	}
	return c.Cloud.Put(&standin.Record{
		Type: logs.LogGroupType, ID: logGroup, Region: c.Region, Created: c.Record.Created,
		Inputs:  standin.Props{"name": logGroup, "retentionInDays": 0.0},
		Outputs: standin.Props{"name": logGroup, "retentionInDays": 0.0, "arn": account.ARN(c, "logs", "log-group:"+logGroup), "logGroupClass": "STANDARD"},
	})
}

func startCluster(ctx context.Context, c *standin.Cloud, r *standin.Record) error {
	info, err := c.Clusters.Start(ctx, standin.ClusterSpec{
		Name: r.Outputs.Str("name"), ID: r.Outputs.Str("arn"), Version: r.Outputs.Str("version"), Region: r.Region,
		ServiceCIDR: r.Outputs.Sub("kubernetesNetworkConfig").Str("serviceIpv4Cidr"),
		Private:     !r.Outputs.Sub("vpcConfig").Boolean("endpointPublicAccess"),
		Issuer:      Issuer(r),
	})
	if err != nil {
		return fmt.Errorf("waiting for EKS Cluster (%s): %w", r.ID, err)
	}
	ca := base64.StdEncoding.EncodeToString(info.CA)
	if r.UpgradedFrom != "" && r.UpgradedAt.IsZero() {
		r.UpgradedAt = c.Now()
	}
	r.Outputs["status"] = standin.StatusActive
	r.Outputs["endpoint"] = info.Endpoint
	r.Outputs["certificateAuthority"] = map[string]any{"data": ca}
	r.Outputs["certificateAuthorities"] = []any{map[string]any{"data": ca}}
	return nil
}

func updateCluster(c *standin.Call) error {
	old := c.Old.Outputs
	checkVersion := func(c *standin.Call) error { return checkUpgrade(c, old.Str("version"), c.Out().Str("version")) }
	if err := c.Check(checkVersion, checkAutoMode, checkClusterKey); err != nil {
		return err
	}
	before, after := old.Sub("accessConfig"), c.In().Sub("accessConfig").Clone()
	order := []string{"CONFIG_MAP", "API_AND_CONFIG_MAP", "API"}
	after.SetDefault("authenticationMode", before.Str("authenticationMode"))
	if slices.Index(order, after.Str("authenticationMode")) < slices.Index(order, before.Str("authenticationMode")) {
		return c.Refusef("InvalidParameterException", "Unsupported authentication mode update from %s to %s", before.Str("authenticationMode"), after.Str("authenticationMode"))
	}
	after.SetDefault("bootstrapClusterCreatorAdminPermissions", before["bootstrapClusterCreatorAdminPermissions"])
	vpc, err := checkClusterNetwork(c)
	if err != nil {
		return err
	}
	if vpc != old.Sub("vpcConfig").Str("vpcId") {
		return c.Refusef("InvalidParameterException", "Subnets specified must belong to the VPC of the cluster: %s", old.Sub("vpcConfig").Str("vpcId"))
	}
	if err := checkZones(c, old.Sub("vpcConfig")); err != nil {
		return err
	}
	clusterVpcConfig(c, vpc, old.Sub("vpcConfig").Str("clusterSecurityGroupId"))
	c.Out()["accessConfig"] = map[string]any(after)
	network := old.Sub("kubernetesNetworkConfig").Clone()
	if balancing := c.In().Sub("kubernetesNetworkConfig").Sub("elasticLoadBalancing"); len(balancing) > 0 {
		network["elasticLoadBalancing"] = map[string]any(balancing)
	}
	c.Out()["kubernetesNetworkConfig"] = map[string]any(network)
	c.Out().SetDefaults(standin.Props{"version": old["version"], "upgradePolicy": old["upgradePolicy"]})
	return nil
}

// removeCluster takes along the nodes of Auto Mode, and the security group that EKS made,
// unless something else uses it: then it is the account's to delete, and keeps the VPC.
func removeCluster(c *standin.Call) error {
	if err := endAutoNodes(c); err != nil {
		return err
	}
	id := c.Record.Outputs.Sub("vpcConfig").Str("clusterSecurityGroupId")
	group := c.Find(ec2.SecurityGroupType, id)
	if group == nil {
		return nil
	}
	var refused *account.Error
	if err := c.RemoveOther(group); !errors.As(err, &refused) {
		return err
	}
	left := group.Clone()
	left.Implied = false
	c.Cloud.SetTags(left, left.Outputs.Sub("tags"))
	return c.Cloud.Put(left)
}
