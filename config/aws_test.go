package config

import "testing"

func TestPartition(t *testing.T) {
	for region, want := range map[string]string{
		"eu-central-1": "aws", "cn-north-1": "aws-cn", "us-gov-west-1": "aws-us-gov", "us-west-2": "aws",
	} {
		if got := Partition(region); got != want {
			t.Errorf("Partition(%s) = %s; expected %s", region, got, want)
		}
	}
}

func TestArchitectureOf(t *testing.T) {
	for instanceType, want := range map[string]Architecture{
		"m7g.large": ARM64, "c7gn.xlarge": ARM64, "t4g.small": ARM64, "x2gd.metal": ARM64,
		"im4gn.large": ARM64, "g5g.xlarge": ARM64, "a1.large": ARM64, "r8g.24xlarge": ARM64,
		"m7i.large": AMD64, "m7i-flex.large": AMD64, "g4dn.xlarge": AMD64, "g5.xlarge": AMD64,
		"g6e.xlarge": AMD64, "c6a.large": AMD64, "u-6tb1.metal": AMD64, "inf2.xlarge": AMD64,
		"t3.micro": AMD64, "p5.48xlarge": AMD64, "hpc7g.16xlarge": ARM64,
	} {
		if got := ArchitectureOf(instanceType); got != want {
			t.Errorf("ArchitectureOf(%s) = %s; expected %s", instanceType, got, want)
		}
		if !instance.MatchString(instanceType) {
			t.Errorf("%s is not taken for an instance type", instanceType)
		}
	}
	if got := (NodeGroup{}).Architecture(); got != AMD64 {
		t.Errorf("architecture without instance types = %s; expected %s", got, AMD64)
	}
}

// TestRegions expects every region to have the shape of its zones' names.
func TestRegions(t *testing.T) {
	for _, region := range Regions() {
		if !regionZone.MatchString(region + "a") {
			t.Errorf("%sa is not taken for a zone", region)
		}
	}
}
