package config

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/awsfacts"
	"tombolo/config/form"
	"tombolo/config/nodes"
)

func TestPartition(t *testing.T) {
	for region, want := range map[string]string{
		"eu-central-1": "aws", "cn-north-1": "aws-cn", "us-gov-west-1": "aws-us-gov", "us-west-2": "aws",
	} {
		assert.Check(t, is.Equal(awsfacts.Partition(region), want), "%v", region)
	}
}

func TestArchitectureOf(t *testing.T) {
	for instanceType, want := range map[string]awsfacts.Architecture{
		"m7g.large": awsfacts.ARM64, "c7gn.xlarge": awsfacts.ARM64, "t4g.small": awsfacts.ARM64, "x2gd.metal": awsfacts.ARM64,
		"im4gn.large": awsfacts.ARM64, "g5g.xlarge": awsfacts.ARM64, "a1.large": awsfacts.ARM64, "r8g.24xlarge": awsfacts.ARM64,
		"m7i.large": awsfacts.AMD64, "m7i-flex.large": awsfacts.AMD64, "g4dn.xlarge": awsfacts.AMD64, "g5.xlarge": awsfacts.AMD64,
		"g6e.xlarge": awsfacts.AMD64, "c6a.large": awsfacts.AMD64, "u-6tb1.metal": awsfacts.AMD64, "inf2.xlarge": awsfacts.AMD64,
		"t3.micro": awsfacts.AMD64, "p5.48xlarge": awsfacts.AMD64, "hpc7g.16xlarge": awsfacts.ARM64,
	} {
		assert.Check(t, is.Equal(awsfacts.ArchitectureOf(instanceType), want), "%v", instanceType)
		assert.Check(t, nodes.Instance.MatchString(instanceType), "%s is not taken for an instance type", instanceType)
	}
	assert.Check(t, is.Equal((nodes.NodeGroup{}).Architecture(), awsfacts.AMD64))
}

// TestRegions expects every region to have the shape of its zones' names.
func TestRegions(t *testing.T) {
	for _, region := range awsfacts.Regions() {
		assert.Check(t, form.RegionZone.MatchString(region+"a"), "%sa is not taken for a zone", region)
	}
}

// TestWhatAWSTakes: IOPS as many as the size of the volume allows, and folders of flow logs whose
// names only resemble AWS's own.
func TestWhatAWSTakes(t *testing.T) {
	const size, zones = "size: {min: 2, max: 4}\n", "zones: [eu-central-1a, eu-central-1b]\n"
	for _, volume := range []string{
		"volume: {type: io1, iops: 1000}\n      diskGiB: 20", "volume: {type: io1, iops: 2500}", "volume: {type: io1, iops: 64000}\n      diskGiB: 1280",
		"volume: {type: io2, iops: 20000}\n      diskGiB: 20", "volume: {iops: 80000}\n      diskGiB: 160", "volume: {iops: 3000}\n      diskGiB: 20",
	} {
		smallWith(t, size, size+"      "+volume+"\n")
	}
	for _, folder := range []string{"", "/", "/vpc", "/vpc/awslogs/", "/AWSLogs2", "/my-AWSLogs"} {
		smallWith(t, zones, zones+"  flowLogs: {to: s3, bucketArn: \"arn:aws:s3:::acme-logs"+folder+"\"}\n")
	}
}
