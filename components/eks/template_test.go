package eks

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

// nodesBuilt are the launch template and the group of a changed node group.
func nodesBuilt(t *testing.T, change func(*NodeGroup)) (template, group recorder.Resource) {
	t.Helper()
	r := built(t, func(a *ClusterArgs) { change(&a.NodeGroups[0]) })
	return r.OfType("aws:ec2/launchTemplate:LaunchTemplate")[0], r.OfType("aws:eks/nodeGroup:NodeGroup")[0]
}

func decoded(t *testing.T, template recorder.Resource) string {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(template.String("userData"))
	assert.NilError(t, err)
	return string(data)
}

// TestTemplateSaysNoMoreThanItMust: what a group does not ask for stays EKS's to decide, and
// no node of an older group is rolled by it.
func TestTemplateSaysNoMoreThanItMust(t *testing.T) {
	template, group := nodesBuilt(t, func(*NodeGroup) {})
	for _, key := range []string{"userData", "imageId", "vpcSecurityGroupIds", "blockDeviceMappings[0].ebs.iops", "blockDeviceMappings[0].ebs.throughput", "blockDeviceMappings[0].ebs.kmsKeyId", "blockDeviceMappings[1]"} {
		_, given := template.Value(key)
		assert.Check(t, !given, "%s is given", key)
	}
	for _, key := range []string{"releaseVersion", "forceUpdateVersion"} {
		_, given := group.Value(key)
		assert.Check(t, !given, "%s is given", key)
	}
	group.Expect(t, map[string]string{"amiType": "AL2023_x86_64_STANDARD", "version": "1.35"})
}

func TestAMIType(t *testing.T) {
	for want, g := range map[string]NodeGroup{
		"AL2023_x86_64_STANDARD":     {},
		"AL2023_ARM_64_STANDARD":     {ARM64: true},
		"AL2023_x86_64_NVIDIA":       {Image: Image{NVIDIA: true}},
		"AL2023_ARM_64_NVIDIA":       {Image: Image{NVIDIA: true}, ARM64: true},
		"BOTTLEROCKET_x86_64":        {Image: Image{Bottlerocket: true}},
		"BOTTLEROCKET_ARM_64":        {Image: Image{Bottlerocket: true}, ARM64: true},
		"BOTTLEROCKET_x86_64_NVIDIA": {Image: Image{Bottlerocket: true, NVIDIA: true}},
		"BOTTLEROCKET_ARM_64_NVIDIA": {Image: Image{Bottlerocket: true, NVIDIA: true}, ARM64: true},
		"CUSTOM":                     {Image: Image{Bottlerocket: true, ID: "ami-1"}},
	} {
		assert.Check(t, is.Equal(g.amiType(), want))
	}
}

// TestBottlerocketWritesOnItsSecondVolume: the size and the speed go to the data.
func TestBottlerocketWritesOnItsSecondVolume(t *testing.T) {
	const key = "arn:aws:kms:eu-central-1:111122223333:key/1"
	template, group := nodesBuilt(t, func(g *NodeGroup) {
		g.Image, g.MaxPods, g.DiskGiB = Image{Bottlerocket: true, Release: "1.50.0-1a2b3c4d"}, 60, 80
		g.Volume = Volume{Type: "gp3", IOPS: 6000, Throughput: 500, KeyARN: key}
	})
	template.Expect(t, map[string]string{
		"blockDeviceMappings[0].deviceName": "/dev/xvda", "blockDeviceMappings[0].ebs.encrypted": "true", "blockDeviceMappings[0].ebs.kmsKeyId": key,
		"blockDeviceMappings[1].deviceName": "/dev/xvdb", "blockDeviceMappings[1].ebs.encrypted": "true", "blockDeviceMappings[1].ebs.kmsKeyId": key,
		"blockDeviceMappings[1].ebs.volumeSize": "80", "blockDeviceMappings[1].ebs.iops": "6000", "blockDeviceMappings[1].ebs.throughput": "500",
	})
	for _, left := range []string{"volumeSize", "iops", "throughput"} {
		_, given := template.Value("blockDeviceMappings[0].ebs." + left)
		assert.Check(t, !given, "the system's volume is given its %s", left)
	}
	assert.Check(t, is.Contains(decoded(t, template), "max-pods = 60"))
	group.Expect(t, map[string]string{"amiType": "BOTTLEROCKET_x86_64", "releaseVersion": "1.50.0-1a2b3c4d"})
}

// TestImageOfOnesOwn joins by what the component writes, and EKS is told of no type.
func TestImageOfOnesOwn(t *testing.T) {
	template, group := nodesBuilt(t, func(g *NodeGroup) { g.Image.ID, g.UserData = "ami-0123456789abcdef0", "#!/bin/sh\necho hello" })
	assert.Equal(t, template.String("imageId"), "ami-0123456789abcdef0")
	for _, want := range []string{"name: demo", "apiServerEndpoint: https://k8s.example", "certificateAuthority: Q0E=", "cidr: 172.20.0.0/16", "echo hello"} {
		assert.Check(t, is.Contains(decoded(t, template), want))
	}
	for _, key := range []string{"amiType", "version", "releaseVersion"} {
		_, given := group.Value(key)
		assert.Check(t, !given, "%s is given", key)
	}
}

// TestFurtherSecurityGroups: EKS adds the cluster's to a template without any only.
func TestFurtherSecurityGroups(t *testing.T) {
	template, _ := nodesBuilt(t, func(g *NodeGroup) { g.SecurityGroupIDs = []string{"sg-2"} })
	template.Expect(t, map[string]string{"vpcSecurityGroupIds[0]": "sg-1", "vpcSecurityGroupIds[1]": "sg-2"})
}

func TestPlaceAndUpdateOfAGroup(t *testing.T) {
	_, group := nodesBuilt(t, func(g *NodeGroup) {
		g.SubnetIDs, g.Update = pulumi.ToStringArray([]string{"subnet-2"}), Update{MaxUnavailable: 2, Force: true}
	})
	group.Expect(t, map[string]string{"subnetIds[0]": "subnet-2", "subnetIds[1]": "", "updateConfig.maxUnavailable": "2", "updateConfig.maxUnavailablePercentage": "", "forceUpdateVersion": "true"})
}

// TestUserDataIsRefused before anything is made.
func TestUserDataIsRefused(t *testing.T) {
	args := clusterArgs()
	args.NodeGroups[0].UserData = "#!/bin/sh\n" + strings.Repeat("x", 17*1024)
	_, err := run(t, args)
	assert.Check(t, is.ErrorContains(err, "user data of node group default: has "))
}
