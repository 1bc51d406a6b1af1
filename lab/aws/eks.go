package aws

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
)

const clusterType = "aws:eks/cluster:Cluster"

// kubernetesVersions that EKS offers, oldest first. Source:
// https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html
var kubernetesVersions = []string{"1.30", "1.31", "1.32", "1.33", "1.34", "1.35"}

var clusterName = regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$`)

func eksClusterTypes() map[string]*resourceType {
	return map[string]*resourceType{
		clusterType: {
			constructor: eks.NewCluster,
			noun:        "EKS Cluster",
			api:         api{service: "EKS", create: "CreateCluster", update: "UpdateClusterConfig", remove: "DeleteCluster"},
			// internal/service/eks/cluster.go. Encryption can be turned on
			// later, but not off. Another key is an update there that reaches
			// nothing, and a new cluster by the EKS component's documentation.
			forceNew: []string{
				"accessConfig.bootstrapClusterCreatorAdminPermissions", "bootstrapSelfManagedAddons", "encryptionConfig",
				"kubernetesNetworkConfig.ipFamily", "kubernetesNetworkConfig.serviceIpv4Cidr", "name", "outpostConfig", "roleArn",
			},
			addable:  []string{"encryptionConfig"},
			autoname: autoname{property: "name", max: 100},
			defaults: props{"bootstrapSelfManagedAddons": true},
			references: []reference{
				{path: []string{"vpcConfig", "subnetIds"}, to: subnetType, missing: refusal{
					code:    "InvalidParameterException",
					message: "The subnet ID '%s' does not exist (Service: AmazonEC2; Status Code: 400; Error Code: InvalidSubnetID.NotFound)",
				}},
				{path: []string{"vpcConfig", "securityGroupIds"}, to: securityGroupType, missing: refusal{
					code:    "InvalidParameterException",
					message: "The security group '%s' does not exist (Service: AmazonEC2; Status Code: 400; Error Code: InvalidGroup.NotFound)",
				}},
			},
			inUse:    refusal{code: "ResourceInUseException", status: 409, message: "Cluster has nodegroups attached"},
			validate: validateCluster,
			create:   createCluster,
			update:   updateCluster,
			settle:   startCluster,
			remove:   removeCluster,
			teardown: func(ctx context.Context, c *Cloud, r *record) error {
				return c.options.Clusters.Stop(ctx, r.Outputs.str("name"))
			},
			decided: []string{"vpcConfig.clusterSecurityGroupId", "vpcConfig.vpcId"},
			// EKS says "several minutes"; users report 8 to 10 for creation
			// and 3 for deletion.
			takes: timing{create: 9 * time.Minute, update: 5 * time.Minute, remove: 3 * time.Minute},
		},
	}
}

func validateCluster(in props) []problem {
	var problems []problem
	if name := in.str("name"); name != "" && !clusterName.MatchString(name) {
		problems = append(problems, problem{"name", `invalid value for name (must match ^[0-9A-Za-z][A-Za-z0-9\-_]*$, up to 100 characters), got ` + name})
	}
	types := []string{"api", "audit", "authenticator", "controllerManager", "scheduler"}
	for _, t := range in.list("enabledClusterLogTypes") {
		if !slices.Contains(types, t) {
			problems = append(problems, problem{"enabledClusterLogTypes", fmt.Sprintf("expected enabledClusterLogTypes to be one of %v, got %s", types, t)})
		}
	}
	modes := []string{"API", "API_AND_CONFIG_MAP", "CONFIG_MAP"}
	if mode := in.sub("accessConfig").str("authenticationMode"); mode != "" && !slices.Contains(modes, mode) {
		problems = append(problems, problem{"accessConfig.authenticationMode", fmt.Sprintf("expected authenticationMode to be one of %v, got %s", modes, mode)})
	}
	if in.has("vpcConfig") && !hasUnknown(in["vpcConfig"]) && !in.sub("vpcConfig").has("subnetIds") {
		problems = append(problems, missing("vpcConfig.subnetIds", "subnetIds"))
	}
	return problems
}

func createCluster(c *call) (string, error) {
	name := c.in().str("name")
	for r := range c.others() {
		if r.Outputs.str("name") == name {
			return "", c.refuse(refusal{code: "ResourceInUseException", status: 409, message: "Cluster already exists with name: %s"}, name)
		}
	}
	for _, r := range c.cloud.store.all() {
		if r.Type == clusterType && r.Outputs.str("name") == name {
			return "", fmt.Errorf("the lab runs one control plane of a name, and %s is in use in %s; choose another name", name, r.Region)
		}
	}
	if version := c.in().str("version"); version == "" {
		c.out()["version"] = kubernetesVersions[len(kubernetesVersions)-1]
	} else if !slices.Contains(kubernetesVersions, version) {
		return "", c.refusef("InvalidParameterException", "unsupported Kubernetes version")
	}
	if err := checkClusterRole(c); err != nil {
		return "", err
	}
	vpc, err := checkClusterNetwork(c)
	if err != nil {
		return "", err
	}
	if err := checkClusterKey(c); err != nil {
		return "", err
	}
	group := newID("sg")
	if err := describeCluster(c, vpc, group); err != nil {
		return "", err
	}
	return name, implyWithCluster(c, vpc, group)
}

func checkClusterRole(c *call) error {
	arn := c.in().str("roleArn")
	if role := c.find(roleType, arn); role == nil || role.Outputs.str("arn") != arn || !trusts(role, "eks", "sts:AssumeRole") {
		return c.refusef("InvalidParameterException", "Role with arn: %s, could not be assumed because it does not exist or the trusted entity is not correct", arn)
	}
	return nil
}

// checkClusterNetwork refuses networks that EKS cannot use, and returns the VPC.
func checkClusterNetwork(c *call) (string, error) {
	config := c.in().sub("vpcConfig")
	vpc, zones := "", map[string]bool{}
	for _, id := range config.list("subnetIds") {
		subnet := c.find(subnetType, id)
		zones[subnet.Outputs.str("availabilityZone")] = true
		if vpc == "" {
			vpc = subnet.Inputs.str("vpcId")
		}
		if subnet.Inputs.str("vpcId") != vpc {
			return "", c.refusef("InvalidParameterException", "Subnets specified must belong to the same VPC")
		}
	}
	if len(zones) < 2 {
		return "", c.refusef("InvalidParameterException", "Subnets specified must be in at least two different AZs")
	}
	for _, id := range config.list("securityGroupIds") {
		if c.find(securityGroupType, id).Inputs.str("vpcId") != vpc {
			return "", c.refusef("InvalidParameterException", "Security group(s) [%s] are not in the same VPC as the subnets. Please specify the correct security group and retry.", id)
		}
	}
	private, public := config.boolean("endpointPrivateAccess"), !config.has("endpointPublicAccess") || config.boolean("endpointPublicAccess")
	if !private && !public {
		return "", c.refusef("InvalidParameterException", "Private and public endpoint access cannot be false")
	}
	for _, block := range config.list("publicAccessCidrs") {
		if prefix, err := netip.ParsePrefix(block); err != nil || prefix != prefix.Masked() {
			return "", c.refusef("InvalidParameterException", "The following CIDRs are invalid in publicAccessCidrs: [%s]", block)
		}
	}
	return vpc, nil
}

func checkClusterKey(c *call) error {
	arn := c.in().sub("encryptionConfig").sub("provider").str("keyArn")
	if arn == "" {
		return nil
	}
	key, err := c.usableKey(arn)
	if err != nil {
		return c.refusef("InvalidParameterException", "Failed to use the KMS key %s: %s", arn, afterCode(err))
	}
	if key.Outputs.str("keyUsage") != "ENCRYPT_DECRYPT" || key.Outputs.str("customerMasterKeySpec") != "SYMMETRIC_DEFAULT" {
		return c.refusef("InvalidParameterException", "The KMS key %s must be symmetric and usable for encryption", arn)
	}
	return nil
}

// afterCode is the message of an AWS error.
func afterCode(err error) string {
	var e *apiError
	if errors.As(err, &e) {
		return e.code + ": " + e.message
	}
	return err.Error()
}

// describeCluster fills in what EKS computes before the control plane runs.
func describeCluster(c *call, vpc, group string) error {
	in, out := c.in(), c.out()
	name := in.str("name")
	out["arn"], out["status"] = c.arn("eks", "cluster/"+name), statusCreating
	out["createdAt"], out["platformVersion"] = c.r.Created.UTC().Format(time.RFC3339), "eks.1"
	out["clusterId"], out["endpoint"] = "", ""
	issuer := fmt.Sprintf("https://oidc.eks.%s.%s/id/%s", c.region, dnsSuffix(c.region), strings.ToUpper(randomHex(32)))
	out["identities"] = []any{map[string]any{"oidcs": []any{map[string]any{"issuer": issuer}}}}
	clusterVpcConfig(c, vpc, group)

	access := in.sub("accessConfig").clone()
	access.setDefault("authenticationMode", "CONFIG_MAP")
	access.setDefault("bootstrapClusterCreatorAdminPermissions", true)
	out["accessConfig"] = map[string]any(access)

	network := in.sub("kubernetesNetworkConfig").clone()
	block := c.find(vpcType, vpc).Outputs.str("cidrBlock")
	network.setDefault("serviceIpv4Cidr", map[bool]string{true: "172.20.0.0/16", false: "10.100.0.0/16"}[strings.HasPrefix(block, "10.")])
	network.setDefault("ipFamily", "ipv4")
	network.setDefault("elasticLoadBalancing", map[string]any{"enabled": false})
	if services := network.str("serviceIpv4Cidr"); overlaps(services, block) {
		return c.refusef("InvalidParameterException", "The service CIDR %s overlaps with the VPC CIDR %s", services, block)
	}
	out["kubernetesNetworkConfig"] = map[string]any(network)
	out.setDefault("upgradePolicy", map[string]any{"supportType": "EXTENDED"})
	out["certificateAuthority"] = map[string]any{"data": ""}
	out["certificateAuthorities"] = []any{map[string]any{"data": ""}}
	return nil
}

func overlaps(a, b string) bool {
	x, errX := netip.ParsePrefix(a)
	y, errY := netip.ParsePrefix(b)
	return errX == nil && errY == nil && x.Overlaps(y)
}

func clusterVpcConfig(c *call, vpc, group string) {
	config := c.in().sub("vpcConfig").clone()
	config.setDefault("endpointPrivateAccess", false)
	config.setDefault("endpointPublicAccess", true)
	config.setDefault("securityGroupIds", []any{})
	cidrs := []any{}
	if config.boolean("endpointPublicAccess") {
		cidrs = append(cidrs, "0.0.0.0/0")
	}
	config.setDefault("publicAccessCidrs", cidrs)
	config["vpcId"], config["clusterSecurityGroupId"] = vpc, group
	c.out()["vpcConfig"] = map[string]any(config)
}

// implyWithCluster makes what EKS makes along with a cluster: its security
// group, the access entry of its creator, and, left behind later, its log
// group.
func implyWithCluster(c *call, vpc, group string) error {
	name := c.in().str("name")
	err := c.imply(securityGroupType, group, props{"vpcId": vpc}, props{
		"name": fmt.Sprintf("eks-cluster-sg-%s-%d", name, hashed(group)), "arn": c.arn("ec2", "security-group/"+group),
		"description": "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, as well as any managed workloads.",
		"ownerId":     c.cloud.options.Account, "tags": map[string]any{"kubernetes.io/cluster/" + name: "owned"},
	})
	if err != nil {
		return err
	}
	if c.out().sub("accessConfig").boolean("bootstrapClusterCreatorAdminPermissions") {
		if err := implyAdmin(c, name, c.cloud.callerARN(c.region)); err != nil {
			return err
		}
	}
	logs := "/aws/eks/" + name + "/cluster"
	if len(c.in().list("enabledClusterLogTypes")) == 0 || c.find(logGroupType, logs) != nil {
		return nil
	}
	return c.cloud.store.put(&record{
		Type: logGroupType, ID: logs, Region: c.region, Created: c.r.Created,
		Inputs:  props{"name": logs, "retentionInDays": 0.0},
		Outputs: props{"name": logs, "retentionInDays": 0.0, "arn": c.arn("logs", "log-group:"+logs), "logGroupClass": "STANDARD"},
	})
}

// issuer of a cluster's service account tokens.
func issuer(r *record) string {
	for _, identity := range r.Outputs.objects("identities") {
		for _, oidc := range identity.objects("oidcs") {
			return oidc.str("issuer")
		}
	}
	return ""
}

func startCluster(ctx context.Context, c *Cloud, r *record) error {
	info, err := c.options.Clusters.Start(ctx, ClusterSpec{
		Name: r.Outputs.str("name"), ARN: r.Outputs.str("arn"), Version: r.Outputs.str("version"), Region: r.Region,
		ServiceCIDR: r.Outputs.sub("kubernetesNetworkConfig").str("serviceIpv4Cidr"),
		Issuer:      issuer(r),
	})
	if err != nil {
		return fmt.Errorf("waiting for EKS Cluster (%s): %w", r.ID, err)
	}
	ca := base64.StdEncoding.EncodeToString(info.CA)
	r.Outputs["endpoint"] = info.Endpoint
	r.Outputs["certificateAuthority"] = map[string]any{"data": ca}
	r.Outputs["certificateAuthorities"] = []any{map[string]any{"data": ca}}
	return nil
}

func updateCluster(c *call) error {
	old := c.old.Outputs
	if err := checkUpgrade(c, old.str("version"), c.out().str("version")); err != nil {
		return err
	}
	if err := checkClusterKey(c); err != nil {
		return err
	}
	before, after := old.sub("accessConfig"), c.in().sub("accessConfig").clone()
	order := []string{"CONFIG_MAP", "API_AND_CONFIG_MAP", "API"}
	after.setDefault("authenticationMode", before.str("authenticationMode"))
	if slices.Index(order, after.str("authenticationMode")) < slices.Index(order, before.str("authenticationMode")) {
		return c.refusef("InvalidParameterException", "Unsupported authentication mode update from %s to %s", before.str("authenticationMode"), after.str("authenticationMode"))
	}
	after.setDefault("bootstrapClusterCreatorAdminPermissions", before["bootstrapClusterCreatorAdminPermissions"])
	vpc, err := checkClusterNetwork(c)
	if err != nil {
		return err
	}
	if vpc != old.sub("vpcConfig").str("vpcId") {
		return c.refusef("InvalidParameterException", "Subnets specified must belong to the VPC of the cluster: %s", old.sub("vpcConfig").str("vpcId"))
	}
	clusterVpcConfig(c, vpc, old.sub("vpcConfig").str("clusterSecurityGroupId"))
	c.out()["accessConfig"] = map[string]any(after)
	c.out()["kubernetesNetworkConfig"] = old["kubernetesNetworkConfig"]
	c.out().setDefault("version", old["version"])
	c.out().setDefault("upgradePolicy", old["upgradePolicy"])
	return nil
}

// checkUpgrade lets a cluster go to the next minor version only, and not ahead
// of what its nodes can follow.
func checkUpgrade(c *call, from, to string) error {
	if to == "" || to == from {
		return nil
	}
	i, j := slices.Index(kubernetesVersions, from), slices.Index(kubernetesVersions, to)
	if j < 0 {
		return c.refusef("InvalidParameterException", "unsupported Kubernetes version")
	}
	if j != i+1 {
		return c.refusef("InvalidParameterException", "Unsupported Kubernetes minor version update from %s to %s", from, to)
	}
	for r := range c.cloud.each(nodeGroupType, c.region) {
		n := slices.Index(kubernetesVersions, r.Outputs.str("version"))
		if r.Inputs.str("clusterName") == c.r.ID && j-n > 3 {
			return c.refusef("InvalidParameterException", "Nodegroups %s must be updated to match cluster version %s before updating cluster version", r.Outputs.str("nodeGroupName"), from)
		}
	}
	return nil
}

// removeCluster takes along the security group that EKS made, unless something
// else uses it: then it is the account's to delete, and keeps the VPC.
func removeCluster(c *call) error {
	id := c.r.Outputs.sub("vpcConfig").str("clusterSecurityGroupId")
	group := c.find(securityGroupType, id)
	if group == nil {
		return nil
	}
	op := &call{cloud: c.cloud, session: c.session, typ: c.cloud.types[securityGroupType], action: "deleting", r: group}
	var refused *apiError
	if err := op.removeRecords(); !errors.As(err, &refused) {
		return err
	}
	left := group.clone()
	left.Implied = false
	left.setTags(left.Outputs.sub("tags"))
	return c.cloud.store.put(left)
}
