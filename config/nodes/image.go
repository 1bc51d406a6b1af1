package nodes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/awsfacts"
	"tombolo/config/check"
	"tombolo/config/network"
	"tombolo/config/strict"
	"tombolo/internal/userdata"
	"tombolo/internal/wording"
)

// The forms of releases: of Amazon Linux the version of Kubernetes and a date, of
// Bottlerocket its own version and a commit. Sources:
// https://docs.aws.amazon.com/eks/latest/userguide/eks-linux-ami-versions.html and
// https://github.com/bottlerocket-os/bottlerocket/blob/develop/README.md
var (
	al2023Release       = regexp.MustCompile(`^(1\.[0-9]+)\.[0-9]+-[0-9]{8}$`)
	bottlerocketRelease = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+-[0-9a-f]{8}$`)
)

// checkImage checks the keys that say which image nodes have.
func checkImage(v *check.File, at strict.Path, g NodeGroup, version string) {
	ami, release := at.Field("ami"), at.Field("release")
	if g.ImageID != "" && g.AMI.NVIDIA() {
		v.Problem(ami, "write "+string(g.AMI.Family())+", the family of the image: it has its drivers in itself", "is for an image of EKS, and imageId names another")
	}
	if g.ImageID != "" && g.Release != "" {
		v.Problem(release, "remove it: imageId is the release", "is of an image of EKS, and imageId names another")
	}
	if g.Release != "" && g.ImageID == "" && v.Doc.Sound(ami, release) {
		checkRelease(v, release, g, version)
	}
	checkDriver(v, at, g)
}

func checkRelease(v *check.File, at strict.Path, g NodeGroup, nodes string) {
	form, example := al2023Release, "1.35.3-20260715"
	if g.AMI.Family() == Bottlerocket {
		form, example = bottlerocketRelease, "1.50.0-1a2b3c4d"
	}
	m := form.FindStringSubmatch(g.Release)
	switch {
	case m == nil:
		v.Problem(at, "write it like "+example, "%s is not a release of %s", wording.Quote(g.Release), g.AMI.Family())
	case len(m) > 1 && m[1] != nodes && v.Doc.Sound("kubernetes.version", "kubernetes.nodeVersion"):
		v.Problem(at, fmt.Sprintf("use a release of %s, or remove it", nodes), "is of Kubernetes %s, and the nodes are to have %s", m[1], nodes)
	}
}

// checkDriver warns of GPUs that nothing drives. It is no default: another image replaces a group.
func checkDriver(v *check.File, at strict.Path, g NodeGroup) {
	if v.Doc.Has(at.Field("ami")) || g.ImageID != "" {
		return
	}
	if i := slices.IndexFunc(g.InstanceTypes, awsfacts.HasNVIDIA); i >= 0 {
		v.Warn(at.Field("instanceTypes").Index(i),
			fmt.Sprintf("write ami: %s, which replaces the node group of a live cluster; or ami: %s, if the cluster installs the driver", AL2023NVIDIA, AL2023),
			"%s has GPUs of NVIDIA, and the image %s no driver for them", g.InstanceTypes[i], AL2023)
	}
}

// iopsOf a kind of volume, and how many of them a GiB has at most. EC2 takes a launch template with
// more, and makes no node of it. Source:
// https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html and EbsBlockDevice of
// service/ec2 of aws-sdk-go-v2. AWS's provider, v6, takes a throughput of 1000 MiB/s at most, where
// newer volumes have more (internal/service/ec2/ec2_launch_template.go of terraform-provider-aws
// v5.100.0).
var iopsOf = map[VolumeType]struct{ least, most, perGiB int }{
	GP3: {3000, 80000, 500}, IO1: {100, 64000, 50}, IO2: {100, 256000, 1000},
}

// iopsForThroughput is how many IOPS a MiB/s of gp3 needs: 0.25 MiB/s for each of them.
const iopsForThroughput = 4

func checkVolume(v *check.File, group strict.Path, g NodeGroup) {
	at, volume := group.Field("volume"), g.Volume
	iops, throughput := at.Field("iops"), at.Field("throughput")
	if !v.Doc.Sound(at.Field("type"), iops, throughput) {
		return
	}
	limits := iopsOf[volume.Type]
	switch {
	case volume.IOPS == 0 && volume.Type != GP3:
		v.Problem(at, "add iops", "a volume of type %s needs iops", volume.Type)
	case volume.IOPS != 0 && (volume.IOPS < limits.least || volume.IOPS > limits.most):
		v.Problem(iops, fmt.Sprintf("use a number from %d to %d", limits.least, limits.most), "%d is none of a volume of type %s", volume.IOPS, volume.Type)
	case volume.IOPS > limits.perGiB*g.DiskGiB && v.Doc.Sound(group.Field("diskGiB")):
		v.Problem(iops, fmt.Sprintf("use %d at most, or set diskGiB to %d", limits.perGiB*g.DiskGiB, (volume.IOPS+limits.perGiB-1)/limits.perGiB),
			"%d is too many for %d GiB: a volume of type %s has %d for each of them", volume.IOPS, g.DiskGiB, volume.Type, limits.perGiB)
	}
	switch most := max(volume.IOPS, limits.least) / iopsForThroughput; {
	case volume.Throughput != 0 && volume.Type != GP3:
		v.Problem(throughput, "remove it, or use type: gp3", "a volume of type %s has none", volume.Type)
	case volume.Throughput > most:
		v.Problem(throughput, fmt.Sprintf("use %d at most, or set iops to %d", most, volume.Throughput*iopsForThroughput),
			"%d MiB/s needs %d iops", volume.Throughput, volume.Throughput*iopsForThroughput)
	}
}

// checkPlacement checks where a group's nodes are in the network.
func checkPlacement(v *check.File, at strict.Path, g NodeGroup, n network.Network) {
	groups, zones, subnets := at.Field("securityGroups"), at.Field("zones"), at.Field("subnets")
	check.Unique(v, groups, "", g.SecurityGroups, check.Itself, "give each security group once")
	if n := len(g.SecurityGroups); n > maxGroups {
		v.Problem(groups, "remove some", "has %d security groups; a node has %d beside the cluster's", n, maxGroups)
	}
	check.Unique(v, zones, "", g.Zones, check.Itself, "give each zone once")
	check.Unique(v, subnets, "", g.Subnets, check.Itself, "give each subnet once")
	existing := n.Existing
	switch {
	case len(g.Zones) > 0 && existing != nil:
		v.Problem(zones, "name subnets of it by subnets", "is for a network that core makes, and the network exists")
		return
	case len(g.Subnets) > 0 && existing == nil:
		v.Problem(subnets, "name zones of it by zones", "is for a network that exists, and core makes this one")
		return
	}
	checkAmong(v, zones, g.Zones, "network.zones", n.Zones)
	if existing != nil {
		checkAmong(v, subnets, g.Subnets, "network.existing.privateSubnets", existing.PrivateSubnets)
	}
}

// checkAmong reports what another list of the file does not have.
func checkAmong(v *check.File, at strict.Path, values []string, of strict.Path, all []string) {
	for i, value := range values {
		if v.Doc.Sound(of) && !slices.Contains(all, value) {
			v.Problem(at.Index(i), "use one of them: "+strings.Join(all, ", "), "%s is not among %s", wording.Quote(value), of)
		}
	}
}

func checkUpdate(v *check.File, at strict.Path, u NodeUpdate) {
	if u.MaxUnavailable != 0 && u.MaxUnavailablePercent != 0 {
		v.Problem(at.Field("maxUnavailablePercent"), "remove one of them", "is given beside maxUnavailable")
	}
}

// checkUserData checks what Tombolo and the file make together.
func checkUserData(v *check.File, at strict.Path, g NodeGroup, around Around) {
	text := at.Field("userData")
	if g.UserData == "" && !around.OfNodes || around.TooLong || !v.Doc.Sound(text, at.Field("ami"), "egress") {
		return
	}
	own := userdata.Own{MaxPods: g.MaxPods, Egress: around.Egress}
	if g.ImageID != "" { // with values as long as they are in AWS
		own.Cluster = &userdata.Cluster{
			Name: v.Name, Endpoint: strings.Repeat("x", longestEndpoint), CA: strings.Repeat("x", longestCA), ServiceCIDR: "172.20.0.0/16",
		}
	}
	if _, err := userdata.Compose(userdata.Family(g.AMI.Family()), own, g.UserData); err != nil {
		remedy := "begin with #! for a script, with apiVersion: node.eks.aws/v1alpha1 for a NodeConfig, or with MIME-Version: for an archive"
		if g.AMI.Family() == Bottlerocket {
			remedy = "write settings of Bottlerocket in TOML, such as [settings.kernel]"
		}
		if strings.Contains(err.Error(), "EC2 takes") {
			remedy = "move what it does into an image of your own, or to where it can be loaded from"
			if around.OfNodes {
				remedy += "; egress is in it too, and its certificates are the longest part"
			}
		}
		if g.UserData == "" {
			text = "egress"
		}
		v.Problem(text, remedy, "%v", err)
	}
}

// How long the endpoint and the authority of a cluster are at most, in characters, with room
// to spare: an endpoint has about 80, the authority of EKS in base64 about 1,500.
const (
	longestEndpoint = 120
	longestCA       = 2000
)

// Around is what the nodes of groups depend on beside their groups.
type Around struct {
	// Version of the nodes, and the network that they are in.
	Version string
	Network network.Network
	// Egress is what their user data says of it; none of it when OfNodes is false.
	Egress  userdata.Egress
	OfNodes bool
	// TooLong says that no user data has room for it.
	TooLong bool
}
