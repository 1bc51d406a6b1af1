package addon

import (
	"encoding/json"
	"regexp"
	"strings"

	"tombolo/config/field"
	"tombolo/config/strict"
	"tombolo/internal/userdata"
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
	// Capacity that Karpenter may choose from, on-demand and spot; of both it takes spot
	// where there is some. Default: on-demand.
	Capacity []string `yaml:"capacity,omitempty"`
	// Architectures of the nodes, amd64 and arm64. Images of pods must be made for all of
	// them. Default: amd64.
	Architectures []string `yaml:"architectures,omitempty"`
	// KMSKeyARN is your own key that encrypts the nodes' volumes, of the cluster's region.
	// Default: the account's key for EBS.
	KMSKeyARN string `yaml:"kmsKeyArn,omitempty"`
}

var karpenterOptionsFields = field.Of[KarpenterOptions](map[string]field.Descriptor{
	"CPULimit": {Rule: strict.Rule{Least: new(1), Default: 1000}, Change: field.Changes("the infra ConfigMap changes; nodes that run stay")},
	"AMIAlias": {
		Rule:   strict.Rule{What: "an alias of an image, family@release", Example: "al2023@v20260715", Pattern: amiAlias, Default: "al2023@latest"},
		Change: field.Changes("the infra ConfigMap changes, and Karpenter replaces its nodes at the rate of the budgets"),
	},
	"Capacity": {
		Rule:   strict.Rule{What: "a capacity type", Noun: "capacity type", Allowed: []string{"on-demand", "spot"}, MinItems: 1, Default: defaultCapacity()},
		Change: field.Changes("the infra ConfigMap changes, and Karpenter replaces nodes that it may no longer have, at the rate of the budgets"),
	},
	"Architectures": {
		Rule:   strict.Rule{What: "an architecture", Noun: "architecture", Allowed: []string{"amd64", "arm64"}, MinItems: 1, Default: defaultArchitectures()},
		Change: field.Changes("the infra ConfigMap changes, and Karpenter replaces nodes that it may no longer have, at the rate of the budgets"),
	},
	"KMSKeyARN": {KeyRemedy: ownKey, Rule: kmsKeys, Change: field.Changes("the role's policy and the infra ConfigMap change, and Karpenter replaces its nodes at the rate of the budgets")},
})

func defaultCapacity() []string { return []string{"on-demand"} }

func defaultArchitectures() []string { return []string{"amd64"} }

var amiAlias = regexp.MustCompile(`^(al2023|bottlerocket)@(latest|v[0-9]+(\.[0-9]+)*)$`)

var _ = register(Addon{
	Name:      "karpenter",
	Summary:   "Makes nodes for pods that cannot be scheduled, and removes nodes that are no longer needed.",
	Namespace: "kube-system",
	Stage:     Karpenter,
	NotOn: notOnAzure("makes nodes by EC2, and AKS has nothing for it to call",
		"remove it: AKS's own autoscaler keeps each node group between size.min and size.max"),
}, definition[KarpenterOptions]{
	Fields: karpenterOptionsFields,
	Needs: func(in Input[KarpenterOptions]) Needs {
		statements := karpenterStatements(in.Facts)
		if key := in.Options.KMSKeyARN; key != "" { // who starts an instance has to be allowed to use the key
			statements = append(statements, volumeKeyStatements(in.Facts, key)...)
		}
		return Needs{
			Identities:    []Identity{{ServiceAccount: "karpenter", Statements: statements}},
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
		{
			"karpenter_capacity", "Capacity types of those nodes, as the values of a NodePool's requirement in JSON.", `["on-demand"]`,
			func(in Input[KarpenterOptions], _ Outputs) string { return inJSON(in.Options.Capacity) },
		},
		{
			"karpenter_architectures", "Architectures of those nodes, as the values of a NodePool's requirement in JSON.", `["amd64"]`,
			func(in Input[KarpenterOptions], _ Outputs) string { return inJSON(in.Options.Architectures) },
		},
		{
			"karpenter_volumes", "Volumes of those nodes, as the blockDeviceMappings of an EC2NodeClass in JSON.", `[{"deviceName":"/dev/xvda","ebs":{"deleteOnTermination":true,"encrypted":true,"volumeSize":"50Gi","volumeType":"gp3"}}]`,
			func(in Input[KarpenterOptions], _ Outputs) string { return karpenterVolumes(in.Options) },
		},
		{
			"karpenter_user_data", "User data of those nodes, which has egress of the cluster file, in JSON; \"\" for none.", `"[settings.network]\nhttps-proxy = \"http://proxy.corp.example:3128\"\n"`,
			func(in Input[KarpenterOptions], _ Outputs) string {
				return karpenterUserData(in.Options.AMIAlias, in.Egress)
			},
		},
		{
			"karpenter_tags", "Tags of those nodes and their volumes, in JSON.", `{"team":"platform","tombolo:cluster":"demo"}`,
			func(in Input[KarpenterOptions], _ Outputs) string { return inJSON(in.tagsBut(karpentersOwn)) },
		},
	},
	Values: func(in Input[KarpenterOptions], out Outputs) map[string]any {
		values := map[string]any{
			"serviceAccount": serviceAccount("karpenter", out.Made[RoleARN]),
			"settings": map[string]any{
				"clusterName":       in.NameInCloud(),
				"clusterEndpoint":   out.ClusterEndpoint,
				"interruptionQueue": out.Made[QueueName],
			},
		}
		// Prices and instance profiles have no endpoint: https://karpenter.sh/docs/getting-started/getting-started-with-karpenter/#private-clusters
		return with(values, "controller", with(map[string]any{}, "env", in.proxyEnv()))
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

// karpenterVolumes are the volumes of a family of images. Bottlerocket has its system on the
// first, in the size that Karpenter gives it, and images, logs and what pods write on the
// second. Source: "spec.blockDeviceMappings" in
// https://karpenter.sh/docs/concepts/nodeclasses/
func karpenterVolumes(o KarpenterOptions) string {
	volume := func(device, size string) map[string]any {
		ebs := map[string]any{"volumeType": "gp3", "volumeSize": size, "encrypted": true, "deleteOnTermination": true}
		if o.KMSKeyARN != "" {
			ebs["kmsKeyID"] = o.KMSKeyARN
		}
		return map[string]any{"deviceName": device, "ebs": ebs}
	}
	if strings.HasPrefix(o.AMIAlias, "bottlerocket@") {
		return inJSON([]any{volume("/dev/xvda", "4Gi"), volume("/dev/xvdb", "50Gi")})
	}
	return inJSON([]any{volume("/dev/xvda", "50Gi")})
}

// karpenterUserData is what nodes of a family of images start with, beside what Karpenter
// says. Source: "spec.userData" in https://karpenter.sh/docs/concepts/nodeclasses/
func karpenterUserData(alias string, egress userdata.Egress) string {
	family, _, _ := strings.Cut(alias, "@")
	text, err := userdata.Compose(userdata.Family(family), userdata.Own{Egress: egress}, "")
	if err != nil { // the file is refused whose egress is too long
		return inJSON("")
	}
	return inJSON(text)
}

// karpentersOwn are tags that an EC2NodeClass refuses, as Karpenter sets them itself. Source:
// the rules of spec.tags in the definition of ec2nodeclasses of the chart karpenter-crd.
func karpentersOwn(key, _ string) bool {
	return strings.HasPrefix(key, "karpenter.sh/") || strings.HasPrefix(key, "karpenter.k8s.aws/") || key == "eks:eks-cluster-name"
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
