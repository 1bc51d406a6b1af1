// Package nodes has node groups, which are node pools on Azure.
//
// AWS replaces a group for other subnets, instance types, capacity, kind of image and role
// (ForceNew in internal/service/eks/node_group.go of hashicorp/terraform-provider-aws). A new version
// of the launch template rolls the nodes
// (https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html).
//
// In Azure neither the size of the virtual machines nor that of their disks, nor maxPods, zones and
// priority change (https://learn.microsoft.com/azure/aks/create-node-pools,
// https://learn.microsoft.com/azure/aks/concepts-storage,
// https://learn.microsoft.com/azure/aks/spot-node-pool). Pools have names that the file gives, so that
// one cannot be made anew beside itself.
package nodes

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"tombolo/config/awsfacts"
	"tombolo/config/azurefacts"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/network"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// Capacity is how EC2 sells the instances of a node group.
type Capacity string

// The capacity types.
const (
	OnDemand Capacity = "on-demand"
	Spot     Capacity = "spot"
)

// PoolMode says what a node pool of AKS is for.
type PoolMode string

// The modes.
const (
	SystemPool PoolMode = "system"
	UserPool   PoolMode = "user"
)

// OS is the system of a node pool's nodes.
type OS string

// The systems.
const (
	AzureLinux OS = "azure-linux"
	Ubuntu     OS = "ubuntu"
)

// NodeGroup is a managed node group, on Azure a node pool.
type NodeGroup struct {
	// Name, unique in the file, a DNS label; on Azure at most 12 letters and digits that
	// begin with a letter.
	Name string `yaml:"name"`
	// Mode is system, for pods of kube-system, or user. Default user.
	Mode PoolMode `yaml:"mode,omitempty" cloud:"azure"`
	// VMSize of the nodes, such as Standard_D4s_v5.
	VMSize string `yaml:"vmSize" cloud:"azure"`
	// OS is azure-linux or ubuntu. Default azure-linux.
	OS OS `yaml:"os,omitempty" cloud:"azure"`
	// InstanceTypes, such as m7i.large; all of one CPU architecture.
	InstanceTypes []string `yaml:"instanceTypes" cloud:"aws"`
	// Size of the group, in nodes.
	Size Size `yaml:"size"`
	// Capacity is on-demand or spot, which on Azure mode: system does not go with. Default
	// on-demand.
	Capacity Capacity `yaml:"capacity,omitempty"`
	// AMI is the kind of the nodes' image: al2023 (Amazon Linux 2023), bottlerocket, or
	// al2023-nvidia or bottlerocket-nvidia with the driver for GPUs. With ImageID it is
	// the family of that image, without nvidia. Default al2023.
	AMI AMI `yaml:"ami,omitempty" cloud:"aws"`
	// Release of that image, such as 1.35.3-20260715 of al2023 or 1.50.0-1a2b3c4d of
	// bottlerocket. Default: the newest whenever EKS makes or rolls the group.
	Release string `yaml:"release,omitempty" cloud:"aws"`
	// ImageID of an image of one's own, ami-…. Its nodes get what they need to join the
	// cluster. Default: EKS's image.
	ImageID string `yaml:"imageId,omitempty" cloud:"aws"`
	// MaxPods is the largest number of pods on a node, at most 250. Default: what EKS
	// calculates for the instance type; on Azure 110.
	MaxPods int `yaml:"maxPods,omitempty"`
	// DiskGiB is the size of each node's volume, in GiB: of the root volume, and with
	// bottlerocket of the data volume. Default 50; on Azure 128.
	DiskGiB int `yaml:"diskGiB,omitempty"`
	// Volume is what that volume is like. It is always encrypted.
	Volume NodeVolume `yaml:"volume,omitempty" cloud:"aws"`
	// SecurityGroups that nodes have beside the cluster's own, at most 15. Default: none.
	SecurityGroups []string `yaml:"securityGroups,omitempty" cloud:"aws"`
	// Zones of the group's nodes: on AWS of network.zones, on Azure the numbers of zones of the
	// region, such as "1". Default: all of them; on Azure none.
	Zones []string `yaml:"zones,omitempty"`
	// Subnets of the group's nodes, of network.existing.privateSubnets. Default: all of
	// them.
	Subnets []string `yaml:"subnets,omitempty" cloud:"aws"`
	// Update says how nodes are rolled.
	Update NodeUpdate `yaml:"update,omitempty"`
	// UserData that nodes start with. For al2023 a NodeConfig of nodeadm, a script that
	// begins with #!, or a MIME archive of several; for bottlerocket settings in TOML. It
	// has at most 16 KiB with what Tombolo adds. No secrets: whoever reads launch templates
	// reads it. Default: none.
	UserData string `yaml:"userData,omitempty" cloud:"aws"`
	// Labels of the nodes. EKS allows 63 characters for a key with its prefix, and
	// needs a value.
	Labels map[string]string `yaml:"labels,omitempty"`
	// Taints of the nodes. EKS allows 63 characters for a key with its prefix.
	Taints []Taint `yaml:"taints,omitempty"`
}

var nodeGroupFields = field.Of[NodeGroup](map[string]field.Descriptor{
	"Name": {
		Rule: form.Label("system"), AzureRule: &strict.Rule{What: "the name of a node pool", Example: "system", Pattern: poolName, MaxLength: azurefacts.MaxPoolName, Advice: poolAdvice},
		Change: field.Always(field.ReplacesNodeGroup, "the group of the new name is made, and the one of the old name drained and deleted"),
		AzureChange: []field.Case{
			FirstPool(),
			{Effect: field.ReplacesNodeGroup, Words: "the group of the new name is made, and the one of the old name drained and deleted"},
		},
	},
	"Mode": {
		Rule: strict.Rule{What: "a mode of node pools", Allowed: form.Texts(SystemPool, UserPool), Default: UserPool},
		Change: []field.Case{
			FirstPool(),
			{Effect: field.InPlace, Words: "AKS changes the mode; nodes and their pods stay"},
		},
		Remedy: "remove it: on EKS every group takes the pods of kube-system",
	},
	"VMSize": {
		Rule: strict.Rule{What: "a size of virtual machines", Example: "Standard_D4s_v5", Pattern: vmSize, Advice: sizeAdvice}, Change: poolKeeps("size of the virtual machines"),
		Instead: "instanceTypes", Remedy: "use instanceTypes, such as [m7i.large]",
	},
	"OS": {
		Rule:   strict.Rule{What: "a system for nodes", Allowed: form.Texts(AzureLinux, Ubuntu), Default: AzureLinux},
		Change: field.Always(field.RollsNodes, "AKS gives the nodes of the group the other image, one after another"), Instead: "ami", Remedy: "use ami: al2023 or bottlerocket",
	},
	"InstanceTypes": {
		Rule:   strict.Rule{What: "an EC2 instance type", Noun: "instance type", Example: "m7i.large", Pattern: Instance, MinItems: 1},
		Change: field.Always(field.ReplacesNodeGroup, "EKS changes the instance types of no group"), Instead: "vmSize", Remedy: "use vmSize, one size such as Standard_D4s_v5",
	},
	"Size": {},
	"Capacity": {
		Rule:   strict.Rule{What: "a capacity type", Allowed: form.Texts(OnDemand, Spot), Default: OnDemand},
		Change: field.Always(field.ReplacesNodeGroup, "EKS changes the capacity type of no group"), AzureChange: poolKeeps("priority"),
	},
	"AMI": {
		Rule:   strict.Rule{What: "a kind of image", Allowed: form.Texts(AL2023, Bottlerocket, AL2023NVIDIA, BottlerocketNVIDIA), Default: AL2023},
		Change: field.Always(field.ReplacesNodeGroup, "EKS changes the kind of image of no group"), Instead: "os", Remedy: "use os: azure-linux or ubuntu",
	},
	"Release": {
		Rule:   strict.Rule{What: "the release of an image of EKS", Example: "1.35.3-20260715", Pattern: regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+-[0-9a-f]{8}$`)},
		Change: field.Always(field.RollsNodes, "EKS rolls the nodes of the group to that release; without one, to the newest when it next rolls them"),
		Remedy: "remove it: kubernetes.upgrades.nodeImages says which images nodes get",
	},
	"ImageID": {
		Rule: strict.Rule{What: "the id of an image", Example: "ami-0123456789abcdef0", Pattern: regexp.MustCompile(`^ami-[0-9a-f]{8}([0-9a-f]{9})?$`)},
		Change: []field.Case{
			{When: "given or removed", Effect: field.ReplacesNodeGroup, Words: "EKS changes no group from an image of its own to another", Applies: field.Change.GivesOrTakes},
			{When: "to another", Effect: field.RollsNodes, Words: templateWords},
		},
		Remedy: "remove it: AKS takes no image of your own",
	},
	"MaxPods": {
		Rule: strict.Rule{Least: new(1), Most: new(maxPods)}, AzureRule: &strict.Rule{Least: new(azurefacts.MinPods), Most: new(azurefacts.MaxPods), Default: defaultMaxPods},
		Change: field.Always(field.RollsNodes, templateWords), AzureChange: poolKeeps("largest number of pods"),
	},
	"DiskGiB": {
		Rule:      strict.Rule{Least: new(20), Most: new(16384), Default: defaultDiskGiB},
		AzureRule: &strict.Rule{Least: new(azurefacts.MinDiskGiB), Most: new(azurefacts.MaxDiskGiB), Default: defaultAzureDiskGiB}, Change: field.Always(field.RollsNodes, templateWords),
		AzureChange: poolKeeps("size of the disks"),
	},
	"Volume": {Remedy: "remove it: diskGiB is the size of the disk, and vmSize decides its kind"},
	"SecurityGroups": {
		Rule: form.SecurityGroups("security group"), Change: field.Always(field.RollsNodes, templateWords), Remedy: "remove it: the network security group of the subnet counts for all nodes",
		Unordered: true,
	},
	"Zones": {
		Rule:      strict.Rule{What: "an availability zone", Noun: "zone", Example: "eu-central-1a", Pattern: form.RegionZone},
		AzureRule: &strict.Rule{What: "an availability zone", Noun: "zone", Allowed: azurefacts.Zones()}, Change: field.Always(field.ReplacesNodeGroup, "EKS changes the subnets of no group"),
		AzureChange: poolKeeps("zones"), Unordered: true,
	},
	"Subnets": {
		Rule: network.SubnetIDs(0), Change: field.Always(field.ReplacesNodeGroup, "EKS changes the subnets of no group"), Remedy: "remove it: all nodes are in network.existing.nodeSubnet",
		Unordered: true,
	},
	"Update":   {},
	"UserData": {Change: field.Always(field.RollsNodes, templateWords), Remedy: "remove it: AKS takes no user data; a DaemonSet of the platform tree does such work"},
	"Labels":   {Change: field.Changes("EKS changes the labels of the nodes that run, too"), AzureChange: field.Changes("AKS changes the labels of the nodes that run, too")},
	"Taints": {
		Change:      field.Changes("EKS changes the taints of the nodes that run, too; NoExecute evicts pods"),
		AzureChange: field.Changes("AKS changes the taints of the nodes that run, too; NoExecute evicts pods"), Unordered: true,
	},
})

// SetDefaults fills in what the file leaves out.
func (g *NodeGroup) SetDefaults(p field.Provider) {
	Fields.SetDefaults(p, g)
	switch {
	case p == field.Azure && g.Capacity != Spot: // AKS adds no nodes while it rolls these
		g.Update.MaxSurge = cmp.Or(g.Update.MaxSurge, defaultMaxSurge)
	case p != field.Azure && g.Update.MaxUnavailable == 0:
		g.Update.MaxUnavailablePercent = cmp.Or(g.Update.MaxUnavailablePercent, defaultUnavailable)
	}
	g.Size.Desired = cmp.Or(g.Size.Desired, new(*g.Size.Min))
	g.Size.Max = cmp.Or(g.Size.Max, new(max(*g.Size.Min, *g.Size.Desired, 1)))
}

// Architecture of the group's nodes; validation holds all its instance types to
// the same one.
func (g NodeGroup) Architecture() awsfacts.Architecture {
	if len(g.InstanceTypes) == 0 {
		return awsfacts.AMD64
	}
	return awsfacts.ArchitectureOf(g.InstanceTypes[0])
}

// Size of a node group, in nodes.
type Size struct {
	// Min is the smallest size. Default 1.
	Min *int `yaml:"min,omitempty"`
	// Max is the largest size, at least 1. Default: the larger of Min and Desired.
	Max *int `yaml:"max,omitempty"`
	// Desired is the size at the start. After that the group keeps the size that
	// it has, whatever an autoscaler has made of it, within Min and Max. Default: Min.
	Desired *int `yaml:"desired,omitempty"`
}

var sizeFields = field.Of[Size](map[string]field.Descriptor{
	"Min": {
		Rule: strict.Rule{Least: new(0), Default: defaultMinSize}, Change: field.Changes("EKS starts nodes when there are too few"),
		AzureChange: field.Changes("AKS starts nodes when there are too few"),
	},
	"Max": {
		Rule: strict.Rule{Least: new(1)}, Change: field.Changes("EKS drains and stops nodes when there are too many"),
		AzureChange: field.Changes("AKS's autoscaler makes no more nodes; it drains and stops those that there are too many"),
	},
	"Desired": {Rule: strict.Rule{Least: new(0)}, Change: field.Changes("it is the size at the start; an autoscaler owns it afterwards")},
})

// TaintEffect is what a taint does to pods that do not tolerate it.
type TaintEffect string

// The effects, as Kubernetes spells them.
const (
	NoSchedule       TaintEffect = "NoSchedule"
	PreferNoSchedule TaintEffect = "PreferNoSchedule"
	NoExecute        TaintEffect = "NoExecute"
)

// Taint of the nodes of a node group.
type Taint struct {
	// Key of the taint, such as dedicated or example.com/gpu.
	Key string `yaml:"key"`
	// Value of the taint. Default: none.
	Value string `yaml:"value,omitempty"`
	// Effect is NoSchedule, PreferNoSchedule or NoExecute.
	Effect TaintEffect `yaml:"effect"`
}

var taintFields = field.Of[Taint](map[string]field.Descriptor{
	"Key": {
		Rule: strict.Rule{Example: "dedicated"}, Change: field.Changes("EKS changes the taints of the nodes that run, too"),
		AzureChange: field.Changes("AKS changes the taints of the nodes that run, too"),
	},
	"Value": {Change: field.Changes("EKS changes the taints of the nodes that run, too"), AzureChange: field.Changes("AKS changes the taints of the nodes that run, too")},
	"Effect": {
		Rule:        strict.Rule{What: "a taint effect", Allowed: form.Texts(NoSchedule, PreferNoSchedule, NoExecute)},
		Change:      field.Changes("EKS changes the taints of the nodes that run, too; NoExecute evicts pods"),
		AzureChange: field.Changes("AKS changes the taints of the nodes that run, too; NoExecute evicts pods"),
	},
})

// AMI is a kind of image that EKS makes for nodes.
type AMI string

// The images.
const (
	AL2023             AMI = "al2023"
	Bottlerocket       AMI = "bottlerocket"
	AL2023NVIDIA       AMI = "al2023-nvidia"
	BottlerocketNVIDIA AMI = "bottlerocket-nvidia"
)

// nvidia is the end of the names of images with NVIDIA's driver.
const nvidia = "-nvidia"

// Family is the image without its driver: al2023 or bottlerocket.
func (a AMI) Family() AMI { return AMI(strings.TrimSuffix(string(a), nvidia)) }

// NVIDIA says that the image has the driver for NVIDIA's GPUs.
func (a AMI) NVIDIA() bool { return strings.HasSuffix(string(a), nvidia) }

// VolumeType is a kind of EBS volume.
type VolumeType string

// The kinds of volumes for nodes.
const (
	GP3 VolumeType = "gp3"
	IO1 VolumeType = "io1"
	IO2 VolumeType = "io2"
)

// NodeVolume is what the volume of a group's nodes is like.
type NodeVolume struct {
	// Type is gp3, io1 or io2. Default gp3.
	Type VolumeType `yaml:"type,omitempty"`
	// IOPS of the volume: 3000 to 80000 for gp3, 100 to 64000 for io1, 100 to 256000 for
	// io2, which both need it; and at most 500 for gp3, 50 for io1 and 1000 for io2 for each
	// GiB of diskGiB. Default: 3000 for gp3.
	IOPS int `yaml:"iops,omitempty"`
	// Throughput of a gp3 volume, in MiB/s, from 125 to 1000 and at most a quarter of IOPS.
	// Default 125.
	Throughput int `yaml:"throughput,omitempty"`
	// KMSKeyARN is the key of the encryption. Its policy must allow the service-linked role
	// of EC2 Auto Scaling to use it. Default: the account's key for EBS.
	KMSKeyARN string `yaml:"kmsKeyArn,omitempty"`
}

var nodeVolumeFields = field.Of[NodeVolume](map[string]field.Descriptor{
	"Type":       {Rule: strict.Rule{What: "a kind of volume", Allowed: form.Texts(GP3, IO1, IO2), Default: GP3}, Change: field.Always(field.RollsNodes, templateWords)},
	"IOPS":       {Rule: strict.Rule{Least: new(100), Most: new(256000)}, Change: field.Always(field.RollsNodes, templateWords)},
	"Throughput": {Rule: strict.Rule{Least: new(125), Most: new(1000)}, Change: field.Always(field.RollsNodes, templateWords)},
	"KMSKeyARN":  {KeyRemedy: "use a key of the cluster's region", Rule: form.KMSKeyARN(), Change: field.Always(field.RollsNodes, templateWords)},
})

// NodeUpdate says how the nodes of a group are rolled.
type NodeUpdate struct {
	// MaxSurge is how many nodes AKS adds while it rolls a pool: a number, or percent of the
	// nodes such as 33%. Default: 10%, and none with capacity: spot.
	MaxSurge string `yaml:"maxSurge,omitempty" cloud:"azure"`
	// MaxUnavailable is how many nodes are replaced at the same time, from 1 to 100. Default:
	// MaxUnavailablePercent decides.
	MaxUnavailable int `yaml:"maxUnavailable,omitempty" cloud:"aws"`
	// MaxUnavailablePercent is how many percent of the nodes are replaced at the same time.
	// Default 33 without MaxUnavailable.
	MaxUnavailablePercent int `yaml:"maxUnavailablePercent,omitempty" cloud:"aws"`
	// Force replaces nodes whose pods cannot be evicted because of a disruption budget.
	// Default false: the update fails then.
	Force bool `yaml:"force,omitempty" cloud:"aws"`
}

var nodeUpdateFields = field.Of[NodeUpdate](map[string]field.Descriptor{
	"MaxSurge": {
		Rule: strict.Rule{What: "a number, or percent, of nodes", Example: "33%", Pattern: maxSurge}, Change: field.Changes("it counts when AKS next rolls the nodes"), Instead: "maxUnavailable",
		Remedy: "use maxUnavailable or maxUnavailablePercent",
	},
	"MaxUnavailable":        {Rule: strict.Rule{Least: new(1), Most: new(100)}, Change: field.Changes("it counts when EKS next rolls the nodes"), Instead: "maxSurge"},
	"MaxUnavailablePercent": {Rule: strict.Rule{Least: new(1), Most: new(100)}, Change: field.Changes("it counts when EKS next rolls the nodes"), Instead: "maxSurge", Remedy: "use maxSurge, such as 33%"},
	"Force":                 {Rule: strict.Rule{Default: false}, Change: field.Changes("it counts when EKS next rolls the nodes"), Remedy: "remove it: AKS waits for pods that cannot be evicted, and gives up"},
})

var notInPool = regexp.MustCompile(`[^a-z0-9]+`)

// poolAdvice suggests the pool's name nearest to one.
func poolAdvice(s string) string {
	name := strings.TrimLeft(notInPool.ReplaceAllString(strings.ToLower(s), ""), "0123456789")
	if name == "" {
		return ""
	}
	return fmt.Sprintf("use lower-case letters and digits, and begin with a letter, such as %s", wording.Quote(name[:min(len(name), azurefacts.MaxPoolName)]))
}

// sizeAdvice writes a size as Azure does.
func sizeAdvice(s string) string {
	rest := s
	if len(s) > len("Standard_") && strings.EqualFold(s[:len("Standard_")], "Standard_") {
		rest = s[len("Standard_"):]
	}
	if rest == "" {
		return ""
	}
	if size := "Standard_" + strings.ToUpper(rest[:1]) + rest[1:]; size != s && vmSize.MatchString(size) {
		return "write " + size
	}
	return "write it like Standard_D4s_v5; `az vm list-sizes` prints those of a region"
}

var vmSize = regexp.MustCompile(`^Standard_[A-Z][A-Za-z0-9-]*(_[A-Za-z0-9]+)*$`)

var poolName = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

var maxSurge = regexp.MustCompile(`^([1-9][0-9]{0,2}|[1-9][0-9]?%|100%)$`)

// Instance is the form of an EC2 instance type.
var Instance = regexp.MustCompile(`^([a-z]+[0-9]+[a-z0-9-]*|u-[a-z0-9]+)\.(nano|micro|small|medium|large|[0-9]*xlarge|metal(-[0-9]+xl)?)$`)

// What a change does that several keys share.
const (
	templateWords = "the launch template gets a new version, and EKS rolls the nodes of the group"
	poolRemedy    = "take the change back, or give the group another name too: the group of the new name is made, and the old one drained and deleted"
)

// poolKeeps is the case of a key that AKS keeps for the life of a pool.
func poolKeeps(what string) []field.Case {
	return []field.Case{{Effect: field.Impossible, Words: "AKS changes the " + what + " of no pool, and has one pool of a name", Remedy: poolRemedy}}
}

// FirstPool is the case of changes to the pool that AKS makes the cluster with.
func FirstPool() field.Case {
	return field.Case{
		When: "of the first with mode: system", Effect: field.NeedsRebuild, Applies: func(c field.Change) bool { return c.Live.FirstPool != c.File.FirstPool },
		Words:  "it is a part of the cluster itself, and core would have to make another pool that part",
		Remedy: "keep it first among the groups with mode: system; or make the cluster anew: `tombolo destroy`, then `tombolo up`",
	}
}

// The defaults that are the same in each file for a cloud.
const (
	defaultDiskGiB      = 50
	defaultMinSize      = 1
	defaultUnavailable  = 33
	defaultMaxPods      = 110
	defaultAzureDiskGiB = 128
	defaultMaxSurge     = "10%"
)

// Fields are the descriptors of the package.
var Fields = field.Join(nodeGroupFields, nodeVolumeFields, nodeUpdateFields, sizeFields, taintFields)

const (
	// maxPods is the limit that EKS sets a managed node group: 250, and 110 for types of
	// fewer than 30 vCPUs. Source:
	// https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html
	maxPods = 250
	// maxGroups is how many security groups a network interface has at most, 16, less the
	// cluster's own. The quota is 5 until it is raised. Source:
	// https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
	maxGroups = 15
)
