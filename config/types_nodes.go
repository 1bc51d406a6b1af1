package config

import (
	"fmt"
	"regexp"
	"strings"

	"tombolo/config/azurefacts"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

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
	// IOPS of the volume: 3000 to 16000 for gp3, 100 to 64000 for io1, 100 to 256000 for
	// io2, which both need it. Default: 3000 for gp3.
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
	"KMSKeyARN":  {Rule: form.KMSKeyARN(), Change: field.Always(field.RollsNodes, templateWords)},
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
		Rule:    strict.Rule{What: "a number, or percent, of nodes", Example: "33%", Pattern: maxSurge},
		Change:  field.Changes("it counts when AKS next rolls the nodes"),
		Instead: "maxUnavailable",
		Remedy:  "use maxUnavailable or maxUnavailablePercent",
	},
	"MaxUnavailable": {Rule: strict.Rule{Least: new(1), Most: new(100)}, Change: field.Changes("it counts when EKS next rolls the nodes"), Instead: "maxSurge"},
	"MaxUnavailablePercent": {
		Rule:    strict.Rule{Least: new(1), Most: new(100)},
		Change:  field.Changes("it counts when EKS next rolls the nodes"),
		Instead: "maxSurge",
		Remedy:  "use maxSurge, such as 33%",
	},
	"Force": {
		Rule:   strict.Rule{Default: false},
		Change: field.Changes("it counts when EKS next rolls the nodes"),
		Remedy: "remove it: AKS waits for pods that cannot be evicted, and gives up",
	},
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

var instance = regexp.MustCompile(`^([a-z]+[0-9]+[a-z0-9-]*|u-[a-z0-9]+)\.(nano|micro|small|medium|large|[0-9]*xlarge|metal(-[0-9]+xl)?)$`)
