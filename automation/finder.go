package automation

import (
	"strconv"
	"strings"

	"tombolo/config"
)

// finder says how a resource is found again whose creation was interrupted:
// its id follows from its inputs, or it is looked up by its tags.
type finder struct {
	// id derives the id; empty when an input is missing. It is the id the
	// provider reads by, in import form where the two differ.
	id func(in inputs, s scope) string
	// arn is the "service:type" in the ARNs of resources looked up by tag,
	// such as ec2:vpc.
	arn string
	// importID makes the id to read by from the last part of the ARN.
	// Default: that part.
	importID func(part string, in inputs) string
}

// scope is where a cluster's resources are, for ids that are ARNs.
type scope struct {
	partition, account string
}

func scopeOf(c *config.Cluster) scope {
	s := scope{partition: "aws", account: c.Cloud.Account}
	switch {
	case strings.HasPrefix(c.Cloud.Region, "cn-"):
		s.partition = "aws-cn"
	case strings.HasPrefix(c.Cloud.Region, "us-gov-"):
		s.partition = "aws-us-gov"
	}
	return s
}

// joined derives an id from inputs with a separator between.
func joined(sep string, keys ...string) finder {
	return finder{id: func(in inputs, _ scope) string {
		parts := make([]string, 0, len(keys))
		for _, k := range keys {
			v := in.str(k)
			if v == "" {
				return ""
			}
			parts = append(parts, v)
		}
		return strings.Join(parts, sep)
	}}
}

// tagged looks a resource up by the tags it is made with.
func tagged(arn string) finder { return finder{arn: arn} }

// finders by type token. A type that is missing here starts again: its
// interrupted creation counts as not happened.
var finders = map[string]finder{
	"aws:cloudwatch/logGroup:LogGroup":                    joined("", "name"),
	"aws:ec2/eip:Eip":                                     tagged("ec2:elastic-ip"),
	"aws:ec2/flowLog:FlowLog":                             tagged("ec2:vpc-flow-log"),
	"aws:ec2/internetGateway:InternetGateway":             tagged("ec2:internet-gateway"),
	"aws:ec2/launchTemplate:LaunchTemplate":               tagged("ec2:launch-template"),
	"aws:ec2/natGateway:NatGateway":                       tagged("ec2:natgateway"),
	"aws:ec2/route:Route":                                 joined("_", "routeTableId", "destinationCidrBlock"),
	"aws:ec2/routeTable:RouteTable":                       tagged("ec2:route-table"),
	"aws:ec2/routeTableAssociation:RouteTableAssociation": joined("/", "subnetId", "routeTableId"),
	"aws:ec2/securityGroup:SecurityGroup":                 tagged("ec2:security-group"),
	"aws:ec2/securityGroupRule:SecurityGroupRule":         {id: groupRuleID},
	"aws:ec2/subnet:Subnet":                               tagged("ec2:subnet"),
	"aws:ec2/vpc:Vpc":                                     tagged("ec2:vpc"),
	"aws:ec2/vpcEndpoint:VpcEndpoint":                     tagged("ec2:vpc-endpoint"),
	"aws:eks/accessEntry:AccessEntry":                     joined(":", "clusterName", "principalArn"),
	"aws:eks/accessPolicyAssociation:AccessPolicyAssociation": joined("#",
		"clusterName", "principalArn", "policyArn"),
	"aws:eks/addon:Addon":         joined(":", "clusterName", "addonName"),
	"aws:eks/cluster:Cluster":     joined("", "name"),
	"aws:eks/nodeGroup:NodeGroup": joined(":", "clusterName", "nodeGroupName"),
	"aws:eks/podIdentityAssociation:PodIdentityAssociation": {arn: "eks:podidentityassociation", importID: func(part string, in inputs) string {
		return in.str("clusterName") + "," + part
	}},
	"aws:iam/instanceProfile:InstanceProfile": joined("", "name"),
	"aws:iam/openIdConnectProvider:OpenIdConnectProvider": {id: func(in inputs, s scope) string {
		return s.iam("oidc-provider/", strings.TrimPrefix(in.str("url"), "https://"))
	}},
	"aws:iam/policy:Policy": {id: func(in inputs, s scope) string {
		return s.iam("policy"+in.or("path", "/"), in.str("name"))
	}},
	"aws:iam/role:Role":                                       joined("", "name"),
	"aws:iam/rolePolicy:RolePolicy":                           joined(":", "role", "name"),
	"aws:iam/rolePolicyAttachment:RolePolicyAttachment":       joined("/", "role", "policyArn"),
	"aws:kms/alias:Alias":                                     joined("", "name"),
	"aws:kms/key:Key":                                         tagged("kms:key"),
	"aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": tagged("ec2:security-group-rule"),
	"aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": tagged(
		"ec2:security-group-rule"),
}

// groupRuleID is a rule's id in the provider's import form:
// sg-1_ingress_tcp_443_443_10.0.0.0/16. The EKS component makes such rules, and
// AWS refuses to make one twice.
func groupRuleID(in inputs, _ scope) string {
	group, direction, protocol := in.str("securityGroupId"), in.str("type"), in.str("protocol")
	peer := in.str("sourceSecurityGroupId")
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
	return strings.Join([]string{group, direction, protocol, in.number("fromPort"), in.number("toPort"), peer}, "_")
}

// finderFor returns the finder of a type.
func finderFor(token string) (finder, bool) {
	if strings.HasPrefix(token, "kubernetes:") && !strings.HasSuffix(token, "Patch") {
		return finder{id: kubernetesID}, true
	}
	f, ok := finders[token]
	return f, ok
}

// kubernetesID is namespace/name, or name for what has no namespace.
func kubernetesID(in inputs, _ scope) string {
	metadata, _ := in["metadata"].(map[string]any)
	name, namespace := inputs(metadata).str("name"), inputs(metadata).str("namespace")
	if name == "" || namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func (s scope) iam(kind, name string) string {
	if name == "" {
		return ""
	}
	return "arn:" + s.partition + ":iam::" + s.account + ":" + kind + name
}

// taggedResource is a cloud resource with its tags.
type taggedResource struct {
	ARN  string
	Tags map[string]string
}

// match says whether the resource is of the finder's kind and has all the
// tags of the inputs, and under which id it is read. Without tags nothing
// identifies a resource.
func (f finder) match(r taggedResource, in inputs) (id string, ok bool) {
	part, ok := arnPart(r.ARN, f.arn)
	if !ok {
		return "", false
	}
	want := in.tags()
	if len(want) == 0 {
		return "", false
	}
	for k, v := range want {
		if r.Tags[k] != v {
			return "", false
		}
	}
	if f.importID != nil {
		return f.importID(part, in), true
	}
	return part, true
}

// arnPart is the last part of an ARN of the given kind, "service:type".
func arnPart(arn, kind string) (string, bool) {
	fields := strings.SplitN(arn, ":", 6)
	if len(fields) < 6 {
		return "", false
	}
	service, resourceType, _ := strings.Cut(kind, ":")
	if fields[2] != service || !strings.HasPrefix(fields[5], resourceType+"/") {
		return "", false
	}
	return fields[5][strings.LastIndexByte(fields[5], '/')+1:], true
}

// inputs of a resource, as they are in a state.
type inputs map[string]any

// str is a string input; empty when it is missing or encrypted.
func (in inputs) str(key string) string {
	s, _ := in[key].(string)
	return s
}

// number is an integer input, in decimal; 0 when it is missing.
func (in inputs) number(key string) string {
	f, _ := in[key].(float64)
	return strconv.FormatInt(int64(f), 10)
}

func (in inputs) or(key, fallback string) string {
	if s := in.str(key); s != "" {
		return s
	}
	return fallback
}

// tags the resource is made with.
func (in inputs) tags() map[string]string {
	out := map[string]string{}
	given, _ := in["tags"].(map[string]any)
	for k, v := range given {
		// __defaults is the provider's own bookkeeping.
		if s, ok := v.(string); ok && !strings.HasPrefix(k, "__") {
			out[k] = s
		}
	}
	return out
}
