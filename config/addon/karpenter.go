package addon

import (
	"encoding/json"
	"regexp"

	"tombolo/config/strict"
)

// karpenterDiscovery is the tag by which Karpenter finds subnets and security
// groups; its value is the cluster's name.
const karpenterDiscovery = "karpenter.sh/discovery"

// KarpenterOptions are the options of karpenter.
type KarpenterOptions struct {
	// CPULimit is the largest number of CPUs that all of Karpenter's nodes have
	// together. Default 1000.
	CPULimit int `yaml:"cpuLimit,omitempty"`
	// AMIAlias is the family and release of the nodes' image, such as
	// al2023@v20260715. A new release replaces nodes, at the rate that the
	// NodePool's budgets allow; with latest, AWS decides when. Default
	// al2023@latest.
	AMIAlias string `yaml:"amiAlias,omitempty"`
}

var amiAlias = regexp.MustCompile(`^(al2023|bottlerocket)@(latest|v[0-9]+(\.[0-9]+)*)$`)

var _ = register(Addon{
	Name:      "karpenter",
	Summary:   "Makes nodes for pods that cannot be scheduled, and removes nodes that are no longer needed.",
	Namespace: "kube-system",
	Stage:     Karpenter,
}, definition[KarpenterOptions]{
	Rules: map[string]strict.Rule{
		"KarpenterOptions.CPULimit": {Least: new(1), Default: 1000},
		"KarpenterOptions.AMIAlias": {
			What: "an alias of an image, family@release", Example: "al2023@v20260715", Pattern: amiAlias, Default: "al2023@latest",
		},
	},
	Needs: func(in Input[KarpenterOptions]) Needs {
		return Needs{
			Identities:    []Identity{{ServiceAccount: "karpenter", Statements: karpenterStatements(in.Facts)}},
			NodeRole:      &NodeRole{RoleName: karpenterNodeRole(in.Facts), ProfileName: karpenterNodeRole(in.Facts)},
			Queue:         &Queue{Name: karpenterQueue(in.Facts), Rules: interruptions()},
			DiscoveryTags: map[string]string{karpenterDiscovery: in.Cluster},
		}
	},
	Keys: []key[KarpenterOptions]{
		{
			"karpenter_instance_profile", "Instance profile of the nodes that Karpenter makes.", "demo-karpenter-node",
			func(_ Input[KarpenterOptions], out Outputs) string { return out.Made[InstanceProfile] },
		},
		{
			"karpenter_subnet_terms", "Subnets of those nodes, as the subnetSelectorTerms of an EC2NodeClass in JSON.", `[{"tags":{"karpenter.sh/discovery":"demo"}}]`,
			func(in Input[KarpenterOptions], out Outputs) string { return karpenterSubnets(in.Facts, out) },
		},
		{
			"karpenter_security_group_terms", "Security groups of those nodes, as securityGroupSelectorTerms in JSON.", `[{"id":"sg-0123456789abcdef0"}]`,
			func(_ Input[KarpenterOptions], out Outputs) string {
				return inJSON([]any{map[string]any{"id": out.ClusterSecurityGroupID}})
			},
		},
		{
			"karpenter_cpu_limit", "Largest number of CPUs that all of those nodes have together.", "1000",
			func(in Input[KarpenterOptions], _ Outputs) string { return inJSON(in.Options.CPULimit) },
		},
		{
			"karpenter_ami_alias", "Family and release of those nodes' image, as the alias of an EC2NodeClass's amiSelectorTerms.", "al2023@latest",
			func(in Input[KarpenterOptions], _ Outputs) string { return in.Options.AMIAlias },
		},
	},
	Values: func(in Input[KarpenterOptions], out Outputs) map[string]any {
		return map[string]any{
			"serviceAccount": serviceAccount("karpenter", out.Made[RoleARN]),
			"settings": map[string]any{
				"clusterName":       in.NameInCloud(),
				"clusterEndpoint":   out.ClusterEndpoint,
				"interruptionQueue": out.Made[QueueName],
			},
		}
	},
})

func karpenterNodeRole(f Facts) string { return f.Named("karpenter-node") }

func karpenterQueue(f Facts) string { return f.Named("karpenter") }

// karpenterSubnets finds subnets by the discovery tag. An existing network has no
// such tag: its subnets are found by their ids.
func karpenterSubnets(f Facts, out Outputs) string {
	if f.OwnNetwork {
		return inJSON([]any{map[string]any{"tags": map[string]any{karpenterDiscovery: f.Cluster}}})
	}
	terms := []any{}
	for _, id := range out.PrivateSubnetIDs {
		terms = append(terms, map[string]any{"id": id})
	}
	return inJSON(terms)
}

// interruptions are the events that Karpenter empties a node for in time.
func interruptions() []EventRule {
	return []EventRule{
		{"health", "AWS Health announces work on an instance", "aws.health", "AWS Health Event"},
		{"spot", "A Spot instance is about to be taken back", "aws.ec2", "EC2 Spot Instance Interruption Warning"},
		{"rebalance", "A Spot instance is likely to be taken back", "aws.ec2", "EC2 Instance Rebalance Recommendation"},
		{"reservation", "Reserved capacity is about to be taken back", "aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"},
		{"state", "An instance changes its state", "aws.ec2", "EC2 Instance State-change Notification"},
	}
}

func inJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain maps, texts and numbers only
	}
	return string(text)
}
