package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/awsfacts"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/userdata"
	"tombolo/internal/wording"
)

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

// The forms of releases: of Amazon Linux the version of Kubernetes and a date, of
// Bottlerocket its own version and a commit. Sources:
// https://docs.aws.amazon.com/eks/latest/userguide/eks-linux-ami-versions.html and
// https://github.com/bottlerocket-os/bottlerocket/blob/develop/README.md
var (
	al2023Release       = regexp.MustCompile(`^(1\.[0-9]+)\.[0-9]+-[0-9]{8}$`)
	bottlerocketRelease = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+-[0-9a-f]{8}$`)
)

// image checks the keys that say which image nodes have.
func (v *validator) image(at strict.Path, g NodeGroup) {
	ami, release := at.Field("ami"), at.Field("release")
	if g.ImageID != "" && g.AMI.NVIDIA() {
		v.problem(ami, "write "+string(g.AMI.Family())+", the family of the image: it has its drivers in itself", "is for an image of EKS, and imageId names another")
	}
	if g.ImageID != "" && g.Release != "" {
		v.problem(release, "remove it: imageId is the release", "is of an image of EKS, and imageId names another")
	}
	if g.Release != "" && g.ImageID == "" && v.doc.Sound(ami, release) {
		v.release(release, g)
	}
	v.driver(at, g)
}

func (v *validator) release(at strict.Path, g NodeGroup) {
	form, example := al2023Release, "1.35.3-20260715"
	if g.AMI.Family() == Bottlerocket {
		form, example = bottlerocketRelease, "1.50.0-1a2b3c4d"
	}
	m := form.FindStringSubmatch(g.Release)
	switch nodes := v.c.Kubernetes.Nodes(); {
	case m == nil:
		v.problem(at, "write it like "+example, "%s is not a release of %s", wording.Quote(g.Release), g.AMI.Family())
	case len(m) > 1 && m[1] != nodes && v.doc.Sound("kubernetes.version", "kubernetes.nodeVersion"):
		v.problem(at, fmt.Sprintf("use a release of %s, or remove it", nodes), "is of Kubernetes %s, and the nodes are to have %s", m[1], nodes)
	}
}

// driver warns of GPUs that nothing drives. It is no default: another image replaces a group.
func (v *validator) driver(at strict.Path, g NodeGroup) {
	if v.doc.Has(at.Field("ami")) || g.ImageID != "" {
		return
	}
	if i := slices.IndexFunc(g.InstanceTypes, awsfacts.HasNVIDIA); i >= 0 {
		v.warn(at.Field("instanceTypes").Index(i),
			fmt.Sprintf("write ami: %s, which replaces the node group of a live cluster; or ami: %s, if the cluster installs the driver", AL2023NVIDIA, AL2023),
			"%s has GPUs of NVIDIA, and the image %s no driver for them", g.InstanceTypes[i], AL2023)
	}
}

// iopsOf a kind of volume, and what most of them a GiB has. Source:
// https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html. AWS's provider, v6,
// takes a throughput of 1000 MiB/s at most, where newer volumes have more
// (internal/service/ec2/ec2_launch_template.go of terraform-provider-aws v5.100.0).
var iopsOf = map[VolumeType]struct{ least, most int }{
	GP3: {3000, 16000}, IO1: {100, 64000}, IO2: {100, 256000},
}

// iopsForThroughput is how many IOPS a MiB/s of gp3 needs: 0.25 MiB/s for each of them.
const iopsForThroughput = 4

func (v *validator) volume(at strict.Path, volume NodeVolume) {
	iops, throughput := at.Field("iops"), at.Field("throughput")
	if !v.doc.Sound(at.Field("type"), iops, throughput) {
		return
	}
	limits := iopsOf[volume.Type]
	switch {
	case volume.IOPS == 0 && volume.Type != GP3:
		v.problem(at, "add iops", "a volume of type %s needs iops", volume.Type)
	case volume.IOPS != 0 && (volume.IOPS < limits.least || volume.IOPS > limits.most):
		v.problem(iops, fmt.Sprintf("use a number from %d to %d", limits.least, limits.most), "%d is none of a volume of type %s", volume.IOPS, volume.Type)
	}
	switch most := max(volume.IOPS, limits.least) / iopsForThroughput; {
	case volume.Throughput != 0 && volume.Type != GP3:
		v.problem(throughput, "remove it, or use type: gp3", "a volume of type %s has none", volume.Type)
	case volume.Throughput > most:
		v.problem(throughput, fmt.Sprintf("use %d at most, or set iops to %d", most, volume.Throughput*iopsForThroughput),
			"%d MiB/s needs %d iops", volume.Throughput, volume.Throughput*iopsForThroughput)
	}
	v.volumeKey(at.Field("kmsKeyArn"), volume.KMSKeyARN)
}

func (v *validator) volumeKey(at strict.Path, arn string) {
	m := form.KMSKey.FindStringSubmatch(arn)
	if m == nil || !v.doc.Sound(at, "cloud.region") {
		return
	}
	if m[2] != v.c.Cloud.Region {
		v.problem(at, "use a key of the cluster's region", "the key is in %s, and the cluster in %s", m[2], v.c.Cloud.Region)
		return
	}
	v.partition(at, m[1])
}

// placement checks where a group's nodes are in the network.
func (v *validator) placement(at strict.Path, g NodeGroup) {
	groups, zones, subnets := at.Field("securityGroups"), at.Field("zones"), at.Field("subnets")
	unique(v, groups, "", g.SecurityGroups, itself, "give each security group once")
	if n := len(g.SecurityGroups); n > maxGroups {
		v.problem(groups, "remove some", "has %d security groups; a node has %d beside the cluster's", n, maxGroups)
	}
	unique(v, zones, "", g.Zones, itself, "give each zone once")
	unique(v, subnets, "", g.Subnets, itself, "give each subnet once")
	existing := v.c.Network.Existing
	switch {
	case len(g.Zones) > 0 && existing != nil:
		v.problem(zones, "name subnets of it by subnets", "is for a network that core makes, and the network exists")
		return
	case len(g.Subnets) > 0 && existing == nil:
		v.problem(subnets, "name zones of it by zones", "is for a network that exists, and core makes this one")
		return
	}
	v.among(zones, g.Zones, "network.zones", v.c.Network.Zones)
	if existing != nil {
		v.among(subnets, g.Subnets, "network.existing.privateSubnets", existing.PrivateSubnets)
	}
}

// among reports what another list of the file does not have.
func (v *validator) among(at strict.Path, values []string, of strict.Path, all []string) {
	for i, value := range values {
		if v.doc.Sound(of) && !slices.Contains(all, value) {
			v.problem(at.Index(i), "use one of them: "+strings.Join(all, ", "), "%s is not among %s", wording.Quote(value), of)
		}
	}
}

func (v *validator) update(at strict.Path, u NodeUpdate) {
	if u.MaxUnavailable != 0 && u.MaxUnavailablePercent != 0 {
		v.problem(at.Field("maxUnavailablePercent"), "remove one of them", "is given beside maxUnavailable")
	}
}

// userData checks what Tombolo and the file make together.
func (v *validator) userData(at strict.Path, g NodeGroup) {
	text := at.Field("userData")
	if g.UserData == "" && !v.c.Egress.ofNodes() || v.c.egressTooLong() != nil || !v.doc.Sound(text, at.Field("ami"), "egress") {
		return
	}
	own := userdata.Own{MaxPods: g.MaxPods, Egress: v.c.NodeEgress()}
	if g.ImageID != "" { // with values as long as they are in AWS
		own.Cluster = &userdata.Cluster{
			Name: v.c.Name, Endpoint: strings.Repeat("x", longestEndpoint), CA: strings.Repeat("x", longestCA), ServiceCIDR: "172.20.0.0/16",
		}
	}
	if _, err := userdata.Compose(userdata.Family(g.AMI.Family()), own, g.UserData); err != nil {
		remedy := "begin with #! for a script, with apiVersion: node.eks.aws/v1alpha1 for a NodeConfig, or with MIME-Version: for an archive"
		if g.AMI.Family() == Bottlerocket {
			remedy = "write settings of Bottlerocket in TOML, such as [settings.kernel]"
		}
		if strings.Contains(err.Error(), "EC2 takes") {
			remedy = "move what it does into an image of your own, or to where it can be loaded from"
			if v.c.Egress.ofNodes() {
				remedy += "; egress is in it too, and its certificates are the longest part"
			}
		}
		if g.UserData == "" {
			text = "egress"
		}
		v.problem(text, remedy, "%v", err)
	}
}

// How long the endpoint and the authority of a cluster are at most, in characters, with room
// to spare: an endpoint has about 80, the authority of EKS in base64 about 1,500.
const (
	longestEndpoint = 120
	longestCA       = 2000
)
