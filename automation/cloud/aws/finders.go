package aws

import (
	"strings"

	"tombolo/automation/recovery"
	"tombolo/config"
)

// finders by type token, with ids in the provider's import form. A type that is
// missing here starts again: its interrupted creation counts as not happened.
var finders = map[string]finder{
	"aws:acm/certificate:Certificate": {arn: "acm:certificate", importID: func(arn, _ string, _ recovery.Inputs) string {
		return arn
	}},
	// It waits for a certificate, and makes nothing.
	"aws:acm/certificateValidation:CertificateValidation": {again: true},
	"aws:cloudwatch/eventRule:EventRule":                  {id: onBus("name")},
	"aws:cloudwatch/eventTarget:EventTarget":              {id: onBus("rule", "targetId")},
	"aws:cloudwatch/logGroup:LogGroup":                    joined("", "name"),
	// AWS makes it with the VPC; the creation takes it over.
	"aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": {again: true},
	"aws:ec2/eip:Eip":                                     byTags("ec2:elastic-ip"),
	"aws:ec2/flowLog:FlowLog":                             byTags("ec2:vpc-flow-log"),
	"aws:ec2/internetGateway:InternetGateway":             byTags("ec2:internet-gateway"),
	"aws:ec2/launchTemplate:LaunchTemplate":               byTags("ec2:launch-template"),
	"aws:ec2/natGateway:NatGateway":                       byTags("ec2:natgateway"),
	"aws:ec2/route:Route":                                 joined("_", "routeTableId", "destinationCidrBlock"),
	"aws:ec2/routeTable:RouteTable":                       byTags("ec2:route-table"),
	"aws:ec2/routeTableAssociation:RouteTableAssociation": joined("/", "subnetId", "routeTableId"),
	"aws:ec2/securityGroup:SecurityGroup":                 byTags("ec2:security-group"),
	"aws:ec2/securityGroupRule:SecurityGroupRule":         {id: groupRuleID},
	"aws:ec2/subnet:Subnet":                               byTags("ec2:subnet"),
	"aws:ec2/tag:Tag":                                     joined(",", "resourceId", "key"),
	"aws:ec2/vpc:Vpc":                                     byTags("ec2:vpc"),
	"aws:ec2/vpcEndpoint:VpcEndpoint":                     byTags("ec2:vpc-endpoint"),
	"aws:efs/backupPolicy:BackupPolicy":                   joined("", "fileSystemId"),
	"aws:efs/fileSystem:FileSystem":                       byTags("elasticfilesystem:file-system"),
	"aws:efs/mountTarget:MountTarget":                     {attached: mountTargetInterface},
	"aws:eks/accessEntry:AccessEntry":                     joined(":", "clusterName", "principalArn"),
	"aws:eks/accessPolicyAssociation:AccessPolicyAssociation": joined("#",
		"clusterName", "principalArn", "policyArn"),
	"aws:eks/addon:Addon":     joined(":", "clusterName", "addonName"),
	"aws:eks/cluster:Cluster": joined("", "name"),
	"aws:eks/identityProviderConfig:IdentityProviderConfig": {id: func(in recovery.Inputs, _ scope) string {
		oidc, _ := in["oidc"].(map[string]any)
		return joined(":", "clusterName", "name").id(recovery.Inputs{"clusterName": in["clusterName"], "name": oidc["identityProviderConfigName"]}, scope{})
	}},
	"aws:eks/nodeGroup:NodeGroup": joined(":", "clusterName", "nodeGroupName"),
	"aws:eks/podIdentityAssociation:PodIdentityAssociation": {arn: "eks:podidentityassociation", importID: func(_, part string, in recovery.Inputs) string {
		return in.String("clusterName") + "," + part
	}},
	"aws:iam/instanceProfile:InstanceProfile": joined("", "name"),
	"aws:iam/openIdConnectProvider:OpenIdConnectProvider": {id: func(in recovery.Inputs, s scope) string {
		return s.iam("oidc-provider/", strings.TrimPrefix(in.String("url"), "https://"))
	}},
	"aws:iam/policy:Policy": {id: func(in recovery.Inputs, s scope) string {
		return s.iam("policy"+or(in, "path", "/"), in.String("name"))
	}},
	"aws:iam/role:Role":                                 joined("", "name"),
	"aws:iam/rolePolicy:RolePolicy":                     joined(":", "role", "name"),
	"aws:iam/rolePolicyAttachment:RolePolicyAttachment": joined("/", "role", "policyArn"),
	"aws:kms/alias:Alias":                               joined("", "name"),
	"aws:kms/key:Key":                                   byTags("kms:key"),
	"aws:route53/record:Record":                         {id: recordID},
	"aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2":                       joined("", "bucket"),
	"aws:s3/bucketOwnershipControls:BucketOwnershipControls":                                     joined("", "bucket"),
	"aws:s3/bucketPolicy:BucketPolicy":                                                           joined("", "bucket"),
	"aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock":                                     joined("", "bucket"),
	"aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2": joined("", "bucket"),
	"aws:s3/bucketV2:BucketV2":                                                                   joined("", "bucket"),
	"aws:sqs/queue:Queue":                                                                        {id: queueID},
	"aws:sqs/queuePolicy:QueuePolicy":                                                            joined("", "queueUrl"),
	"aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule":                                    byTags("ec2:security-group-rule"),
	"aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": byTags(
		"ec2:security-group-rule"),
}

// groupRuleID is a rule's id in the provider's import form:
// sg-1_ingress_tcp_443_443_10.0.0.0/16. The EKS component makes such rules, and
// AWS refuses to make one twice.
func groupRuleID(in recovery.Inputs, _ scope) string {
	group, direction, protocol := in.String("securityGroupId"), in.String("type"), in.String("protocol")
	peer := in.String("sourceSecurityGroupId")
	if self, _ := in["self"].(bool); self {
		peer = "self"
	}
	if blocks, ok := in["cidrBlocks"].([]any); ok && peer == "" {
		parts := make([]string, len(blocks))
		for i, b := range blocks {
			parts[i], _ = b.(string)
		}
		peer = strings.Join(parts, "_")
	}
	if group == "" || direction == "" || protocol == "" || peer == "" {
		return ""
	}
	if protocol == "-1" {
		protocol = "all"
	}
	return strings.Join([]string{group, direction, protocol, number(in, "fromPort"), number(in, "toPort"), peer}, "_")
}

// onBus joins inputs with slashes, behind the event bus unless that is the
// default one: a rule of the default bus is read by its name alone.
func onBus(keys ...string) func(recovery.Inputs, scope) string {
	derive := joined("/", keys...).id
	return func(in recovery.Inputs, s scope) string {
		id, bus := derive(in, s), or(in, "eventBusName", "default")
		if id == "" || bus == "default" {
			return id
		}
		return bus + "/" + id
	}
}

// queueID is a queue's id: its URL.
func queueID(in recovery.Inputs, s scope) string {
	name := in.String("name")
	if name == "" {
		return ""
	}
	return queueURL(s, name)
}

// recordID is Z1_www.example.com_CNAME: the provider writes names in lower case
// and without the dot at their end.
func recordID(in recovery.Inputs, s scope) string {
	id := joined("_", "zoneId", "name", "type").id(recovery.Inputs{
		"zoneId": in["zoneId"], "type": in["type"],
		"name": strings.ToLower(strings.TrimSuffix(in.String("name"), ".")),
	}, s)
	if set := in.String("setIdentifier"); id != "" && set != "" {
		id += "_" + set
	}
	return id
}

// mountTargetInterface: EFS chooses a mount target's id, takes no tags for it,
// and names both in the description of its interface, such as
// EFS mount target for fs-0123 (fsmt-4567).
func mountTargetInterface(in recovery.Inputs) string {
	if in.String("fileSystemId") == "" || in.String("subnetId") == "" {
		return ""
	}
	return "EFS mount target for " + in.String("fileSystemId") + " (*)"
}

// Finder returns how resources of a type are found again.
func (Cloud) Finder(token string) (recovery.Finder, bool) {
	f, ok := finders[token]
	out := recovery.Finder{Again: f.again}
	if f.id != nil {
		out.ID = func(in recovery.Inputs, c *config.Cluster) string { return f.id(in, scopeOf(c)) }
	}
	if f.arn != "" || f.attached != nil {
		out.Match = f.match
	}
	if f.attached != nil {
		out.Query = func(in recovery.Inputs) (recovery.Query, bool) {
			description := f.attached(in)
			return recovery.Query{Subnet: in.String("subnetId"), Description: description}, description != ""
		}
	}
	return out, ok
}
