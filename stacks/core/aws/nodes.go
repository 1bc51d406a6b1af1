package aws

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"

	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"golang.org/x/mod/semver"
	"golang.org/x/sync/errgroup"

	"tombolo/components/eks"
	"tombolo/components/network"
	"tombolo/config"
	"tombolo/config/awsfacts"
	"tombolo/internal/userdata"
	"tombolo/stacks/core/live"
)

// This file translates node groups, and reads them from the resources of a live cluster.

func nodeGroup(g config.NodeGroup, egress userdata.Egress, net *network.Network) eks.NodeGroup {
	smallest := valueOr(g.Size.Min, 1)
	desired := valueOr(g.Size.Desired, smallest)
	out := eks.NodeGroup{
		Name:             g.Name,
		InstanceTypes:    g.InstanceTypes,
		Min:              smallest,
		Max:              valueOr(g.Size.Max, max(smallest, desired)),
		Desired:          desired,
		Spot:             g.Capacity == config.Spot,
		ARM64:            g.Architecture() == awsfacts.ARM64,
		Image:            image(g),
		MaxPods:          g.MaxPods,
		DiskGiB:          g.DiskGiB,
		Volume:           eks.Volume{Type: string(g.Volume.Type), IOPS: g.Volume.IOPS, Throughput: g.Volume.Throughput, KeyARN: g.Volume.KMSKeyARN},
		Labels:           g.Labels,
		SecurityGroupIDs: g.SecurityGroups,
		SubnetIDs:        subnetsOf(g, net),
		Update:           eks.Update{MaxUnavailable: g.Update.MaxUnavailable, MaxUnavailablePercent: g.Update.MaxUnavailablePercent, Force: g.Update.Force},
		Egress:           egress,
		UserData:         g.UserData,
	}
	for _, t := range g.Taints {
		out.Taints = append(out.Taints, eks.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
	}
	return out
}

func image(g config.NodeGroup) eks.Image {
	return eks.Image{
		Bottlerocket: g.AMI.Family() == config.Bottlerocket, NVIDIA: g.AMI.NVIDIA(), Release: g.Release, ID: g.ImageID,
	}
}

// subnetsOf are those of a group that has not all of the network; nil for others.
func subnetsOf(g config.NodeGroup, net *network.Network) pulumi.StringArrayInput {
	switch {
	case len(g.Subnets) > 0:
		return pulumi.ToStringArray(g.Subnets)
	case len(g.Zones) > 0:
		var ids pulumi.StringArray
		for _, zone := range g.Zones {
			ids = append(ids, net.PrivateSubnetByZone[zone])
		}
		return ids
	}
	return nil
}

// nodeGroup is a group as its resources tell it.
func (r *reader) nodeGroup(name string, group live.Props) config.NodeGroup {
	smallest, largest := group.In("scalingConfig").Number("minSize"), group.In("scalingConfig").Number("maxSize")
	template, file := r.made(templateToken, "nodes-"+name), groupOf(r.file, name)
	out := config.NodeGroup{
		Name: name, InstanceTypes: group.Texts("instanceTypes"), Capacity: config.OnDemand, AMI: amiOf(group.Text("amiType")),
		Size: config.Size{Min: &smallest, Max: &largest}, Labels: group.In("labels").Map(),
		ImageID: template.Text("imageId"), SecurityGroups: r.ownGroups(template),
		Update: config.NodeUpdate{
			MaxUnavailable: group.In("updateConfig").Number("maxUnavailable"), MaxUnavailablePercent: group.In("updateConfig").Number("maxUnavailablePercentage"),
			Force: group.Truth("forceUpdateVersion"),
		},
	}
	if group.Text("capacityType") == "SPOT" {
		out.Capacity = config.Spot
	}
	if out.AMI == "" { // of an image that is not EKS's, only the file knows the family
		out.AMI = file.AMI.Family()
	}
	if file.Release != "" { // else AWS chooses
		out.Release = group.Text("releaseVersion")
	}
	out.DiskGiB, out.Volume = diskOf(template)
	if file.Volume.IOPS == 0 { // AWS's provider leaves what the file no longer says
		out.Volume.IOPS = 0
	}
	if file.Volume.Throughput == 0 {
		out.Volume.Throughput = 0
	}
	out.Zones, out.Subnets = r.ownPlaces(group, file)
	own, text := r.userData(template, file)
	out.MaxPods, out.UserData = own.MaxPods, text
	r.egress(own.Egress)
	for _, t := range group.Items("taints") {
		out.Taints = append(out.Taints, config.Taint{Key: t.Text("key"), Value: t.Text("value"), Effect: taintEffect(t.Text("effect"))})
	}
	return out
}

// amiOf EKS's name for a type of image; "" for CUSTOM and for what the file cannot say.
func amiOf(eksType string) config.AMI {
	return map[string]config.AMI{
		"AL2023_x86_64_STANDARD": config.AL2023, "AL2023_ARM_64_STANDARD": config.AL2023,
		"AL2023_x86_64_NVIDIA": config.AL2023NVIDIA, "AL2023_ARM_64_NVIDIA": config.AL2023NVIDIA,
		"BOTTLEROCKET_x86_64": config.Bottlerocket, "BOTTLEROCKET_ARM_64": config.Bottlerocket,
		"BOTTLEROCKET_x86_64_NVIDIA": config.BottlerocketNVIDIA, "BOTTLEROCKET_ARM_64_NVIDIA": config.BottlerocketNVIDIA,
	}[eksType]
}

// groupOf is the group of a cluster file with that name; the zero NodeGroup when there is none.
func groupOf(c *config.Cluster, name string) config.NodeGroup {
	for _, g := range c.Kubernetes.NodeGroups {
		if g.Name == name {
			return g
		}
	}
	return config.NodeGroup{}
}

// diskOf is the volume with a size: Bottlerocket's first has that of its image.
func diskOf(template live.Props) (int, config.NodeVolume) {
	for _, device := range template.Items("blockDeviceMappings") {
		ebs := device.In("ebs")
		if size := ebs.Number("volumeSize"); size > 0 {
			return size, config.NodeVolume{
				Type: config.VolumeType(ebs.Text("volumeType")), IOPS: ebs.Number("iops"), Throughput: ebs.Number("throughput"), KMSKeyARN: ebs.Text("kmsKeyId"),
			}
		}
	}
	return 0, config.NodeVolume{}
}

// ownGroups are a template's security groups without the cluster's.
func (r *reader) ownGroups(template live.Props) []string {
	var out []string
	for _, id := range template.Texts("vpcSecurityGroupIds") {
		if id != r.cluster.In("vpcConfig").Text("clusterSecurityGroupId") {
			out = append(out, id)
		}
	}
	return out
}

// ownPlaces are the zones or subnets of a group that has not all of the network.
func (r *reader) ownPlaces(group live.Props, file config.NodeGroup) (zones, subnets []string) {
	ids, network := group.Texts("subnetIds"), r.out.Cluster.Network
	if network.Existing != nil {
		return nil, unlessAll(ids, network.Existing.PrivateSubnets, file.Subnets)
	}
	for _, id := range ids {
		zones = append(zones, r.had.subnetZone(id))
	}
	return unlessAll(zones, network.Zones, file.Zones), nil
}

// unlessAll leaves out what a group has by itself, unless the file says just that.
func unlessAll(has, all, file []string) []string {
	if sameSet(has, file) {
		return file
	}
	if sameSet(has, all) || len(has) == 0 {
		return nil
	}
	return has
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// userData takes apart what a template has. What the file says would be written alike, it
// has said.
func (r *reader) userData(template live.Props, file config.NodeGroup) (own userdata.Own, text string) {
	own = userdata.Own{MaxPods: file.MaxPods, Egress: r.file.NodeEgress()}
	data, err := base64.StdEncoding.DecodeString(template.Text("userData"))
	if err != nil {
		return own, file.UserData // not Tombolo's
	}
	family := userdata.Family(cmp.Or(file.AMI.Family(), config.AL2023))
	if template.Text("imageId") != "" {
		own.Cluster = &userdata.Cluster{
			Name: r.cluster.Text("name"), Endpoint: r.cluster.Text("endpoint"), CA: r.cluster.In("certificateAuthority").Text("data"),
			ServiceCIDR: r.cluster.In("kubernetesNetworkConfig").Text("serviceIpv4Cidr"),
		}
	}
	wrote := func(own userdata.Own) bool {
		composed, err := userdata.Compose(family, own, file.UserData)
		return err == nil && composed == string(data)
	}
	if wrote(own) {
		return own, file.UserData
	}
	found, text := userdata.Split(family, string(data))
	found.Cluster = own.Cluster
	if wrote(found) {
		return found, file.UserData
	}
	return found, text
}

// egress is the same in the user data of all groups.
func (r *reader) egress(e userdata.Egress) {
	out := &r.out.Cluster.Egress
	out.Proxy = config.Proxy{URL: e.Proxy, NoProxy: r.out.Cluster.FileNoProxy(e.NoProxy)}
	if out.CertificateAuthority = e.CertificateAuthority; e.CertificateAuthority == r.file.Egress.Certificates() {
		out.CertificateAuthority = r.file.Egress.CertificateAuthority
	}
	out.Images.Mirrors = e.Mirrors
	r.knows("Proxy.URL", "Proxy.NoProxy", "Egress.CertificateAuthority", "ImageSources.Mirrors")
}

// findAddonVersions gives each managed addon without a version the one that it runs
// with: EKS itself leaves an addon at the version of its creation, also when Kubernetes
// is upgraded ("Update add-ons" in
// https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html). It is here and
// not in the component because the state tells what a live addon has, as with node groups.
//
// While nodes are held behind the control plane, the addons are held with them: then EKS
// can take the control plane back, and finds none that is too new for it.
//
// An addon may get several minor versions newer at once. For vpc-cni AWS recommends one
// at a time (https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html), but
// its page of the update goes to the newest, and the API takes it. A pinned version goes
// step by step.
func findAddonVersions(ctx *pulumi.Context, c *config.Cluster, have made, addons []eks.Addon, provider pulumi.InvokeOption) error {
	kubernetes := c.Kubernetes.Nodes()
	var lookups errgroup.Group // one after another they would take a second and more
	for i := range addons {
		a := &addons[i]
		if a.Version != "" {
			continue
		}
		lookups.Go(func() (err error) {
			a.Version, err = unpinnedVersion(have.addonVersion(c.Name, a.Name), func(mostRecent bool) (string, error) {
				return offeredVersion(ctx, a.Name, kubernetes, mostRecent, provider)
			})
			if err != nil {
				return fmt.Errorf("find out the version of addon %s (kubernetes.addons) of cluster %s for Kubernetes %s: %w; "+
					"check that EKS offers the addon for it in %s, or else take it out of kubernetes.addons or set its version; "+
					"allow eks:DescribeAddonVersions to the credentials", a.Name, c.Name, kubernetes, err, c.Cloud.Region)
			}
			return nil
		})
	}
	return lookups.Wait()
}

// unpinnedVersion is AWS's default, or the live version when that is newer, and not newer
// than the most recent one that AWS offers: an up takes an addon back only with
// Kubernetes. The live version is "" for a new addon.
func unpinnedVersion(live string, offered func(mostRecent bool) (string, error)) (string, error) {
	byDefault, err := offered(false)
	if err != nil || !newer(live, byDefault) {
		return byDefault, err
	}
	mostRecent, err := offered(true)
	if err != nil || newer(live, mostRecent) {
		return byDefault, err
	}
	return live, nil
}

// newer compares versions like v1.20.5-eksbuild.2. A build is what Semantic Versioning
// calls a pre-release, of which it compares numbers as numbers. What is no version, as
// that of an addon which is not there, is older than all others.
func newer(a, b string) bool { return semver.Compare(a, b) > 0 }

// offeredVersion is the default version of an addon for a version of Kubernetes, or the
// most recent one.
func offeredVersion(ctx *pulumi.Context, addon, kubernetes string, mostRecent bool, provider pulumi.InvokeOption) (string, error) {
	found, err := awseks.GetAddonVersion(ctx, &awseks.GetAddonVersionArgs{
		AddonName: addon, KubernetesVersion: kubernetes, MostRecent: &mostRecent,
	}, provider)
	if err != nil {
		return "", err
	}
	return found.Version, nil
}
