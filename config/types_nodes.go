package config

import "strings"

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
