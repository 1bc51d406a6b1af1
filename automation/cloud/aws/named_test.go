package aws

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/preflight"
	"tombolo/config"
)

const (
	zonesOf = "use zones among us-east-1a, us-east-1b and us-east-1d"
	key     = "arn:aws:kms:us-east-1:1:key/1"
)

// judged says what is found in an account of us-east-1 for a cluster, after changes.
func judged(t *testing.T, change func(*config.Cluster, *preflight.Facts, *preflight.Wanted)) []string {
	t.Helper()
	c := &config.Cluster{
		Network:    config.Network{CIDR: "10.0.0.0/16", Zones: []string{"us-east-1a", "us-east-1b"}},
		Kubernetes: config.Kubernetes{Version: "1.35", NodeGroups: []config.NodeGroup{{InstanceTypes: []string{"m6i.large"}}}},
	}
	f := preflight.Facts{
		Zones: map[string]preflight.Zone{
			"us-east-1a": {ID: "use1-az6", Open: true}, "us-east-1b": {ID: "use1-az1", Open: true}, "us-east-1d": {ID: "use1-az4", Open: true},
			"us-east-1e": {ID: "use1-az3", Open: true}, "us-east-1c": {}, "us-east-1-bos-1a": {},
		},
		Subnets:  map[string]preflight.Subnet{"subnet-a": {Zone: "us-east-1a", ZoneID: "use1-az6"}, "subnet-e": {Zone: "us-east-1e", ZoneID: "use1-az3"}},
		Offered:  map[string][]string{"m6i.large": {"us-east-1b", "us-east-1a"}, "p5.48xlarge": {"us-east-1d"}, "c5.large": {"us-east-1b"}},
		Versions: []string{"1.34", "1.35"},
		Keys:     map[string]preflight.Key{key: {State: "Enabled", Spec: "SYMMETRIC_DEFAULT", Usage: "ENCRYPT_DECRYPT"}},
	}
	w := preflight.Wanted{Cluster: c, Account: "1", Region: "us-east-1", Version: "1.35", New: true}
	if change != nil {
		change(c, &f, &w)
	}
	var out []string
	for _, finding := range judgeNamed(f, w) {
		assert.Check(t, is.Equal(finding.Remedy == "", finding.Level == preflight.OK), finding.Message)
		assert.Check(t, finding.Key != "" || finding.Level != preflight.Fail, "no key of the file for %s", finding.Message)
		if finding.Level != preflight.OK {
			out = append(out, strings.TrimSpace(string(finding.Level)+" "+finding.Key)+": "+finding.Message+" -> "+finding.Remedy)
		}
	}
	return out
}

func TestJudgeNamed(t *testing.T) {
	existing := func(c *config.Cluster, private ...string) {
		c.Network = config.Network{Existing: &config.ExistingNetwork{VPC: "vpc-1", PrivateSubnets: private}}
	}
	for name, test := range map[string]struct {
		change func(*config.Cluster, *preflight.Facts, *preflight.Wanted)
		want   []string
	}{
		"as it should be": {nil, nil},
		"a zone that is not there": {func(c *config.Cluster, _ *preflight.Facts, _ *preflight.Wanted) { c.Network.Zones[1] = "us-east-1z" }, []string{
			"fail network.zones[1]: AWS has no zone us-east-1z in us-east-1 -> " + zonesOf,
		}},
		"a zone that is closed": {func(c *config.Cluster, _ *preflight.Facts, _ *preflight.Wanted) {
			c.Network.Zones[0], c.Kubernetes.NodeGroups = "us-east-1c", nil
		}, []string{
			"fail network.zones[0]: us-east-1c is no availability zone that is open to account 1 -> " + zonesOf,
		}},
		"a Local Zone": {func(c *config.Cluster, _ *preflight.Facts, _ *preflight.Wanted) {
			c.Network.Zones[0], c.Kubernetes.NodeGroups = "us-east-1-bos-1a", nil
		}, []string{
			"fail network.zones[0]: us-east-1-bos-1a is no availability zone that is open to account 1 -> " + zonesOf,
		}},
		"a zone without control planes": {func(c *config.Cluster, f *preflight.Facts, _ *preflight.Wanted) {
			c.Network.Zones[0], f.Offered["m6i.large"] = "us-east-1e", []string{"us-east-1b", "us-east-1e"}
		}, []string{
			"fail network.zones[0]: EKS takes no control plane in us-east-1e, which is use1-az3 in account 1 -> " + zonesOf,
		}},
		"one for the nodes of a cluster that lives": {func(c *config.Cluster, f *preflight.Facts, w *preflight.Wanted) {
			c.Network.Zones, w.New = append(c.Network.Zones, "us-east-1e"), false
			f.Offered["m6i.large"] = append(f.Offered["m6i.large"], "us-east-1e")
		}, nil},
		"zones that may not be listed": {func(_ *config.Cluster, f *preflight.Facts, _ *preflight.Wanted) { f.Zones, f.ZonesErr = nil, "denied" }, []string{
			"warn: whether us-east-1a and us-east-1b can be used cannot be told: denied -> allow ec2:DescribeAvailabilityZones to the credentials in use",
		}},
		"subnets of others": {func(c *config.Cluster, f *preflight.Facts, _ *preflight.Wanted) {
			existing(c, "subnet-a", "subnet-e", "subnet-x", "subnet-y")
			f.Subnets["subnet-x"], f.Subnets["subnet-y"] = preflight.Subnet{Err: "no matching", Missing: true}, preflight.Subnet{Err: "denied"}
			f.Offered["m6i.large"] = []string{"us-east-1a", "us-east-1e"}
		}, []string{
			"fail network.existing.privateSubnets[1]: EKS takes no control plane in subnet subnet-e: its zone us-east-1e is use1-az3 in account 1 -> give subnets in us-east-1a, us-east-1b and us-east-1d, by network.existing.controlPlaneSubnets where nodes are to stay there",
			"fail network.existing.privateSubnets[2]: AWS has no subnet subnet-x in us-east-1 for account 1 -> correct the id, or have its owner share it with account 1",
			"warn: the zone of subnet subnet-y cannot be told: denied -> allow ec2:DescribeSubnets to the credentials in use",
		}},
		"subnets of the control plane alone": {func(c *config.Cluster, f *preflight.Facts, _ *preflight.Wanted) {
			existing(c, "subnet-a", "subnet-e")
			c.Network.Existing.ControlPlaneSubnets = []string{"subnet-a"}
			f.Offered["m6i.large"] = []string{"us-east-1a", "us-east-1e"}
		}, nil},
		"a version": {func(_ *config.Cluster, _ *preflight.Facts, w *preflight.Wanted) { w.Version = "1.36" }, []string{
			"fail kubernetes.version: EKS does not offer 1.36 in us-east-1 -> choose one of 1.34 or 1.35",
		}},
		"the version of a cluster that lives": {func(_ *config.Cluster, _ *preflight.Facts, w *preflight.Wanted) { w.Version, w.New = "1.36", false }, nil},
		"instance types": {func(c *config.Cluster, _ *preflight.Facts, _ *preflight.Wanted) {
			c.Kubernetes.NodeGroups = []config.NodeGroup{
				{InstanceTypes: []string{"m99.large"}},
				{InstanceTypes: []string{"p5.48xlarge"}},
				{InstanceTypes: []string{"p5.48xlarge", "m6i.large"}},
				{InstanceTypes: []string{"c5.large"}},
				{InstanceTypes: []string{"c5.large"}, Zones: []string{"us-east-1b"}},
			}
		}, []string{
			"fail kubernetes.nodeGroups[0].instanceTypes[0]: AWS does not offer m99.large in us-east-1 -> choose another instance type",
			"fail kubernetes.nodeGroups[1].instanceTypes[0]: AWS does not offer p5.48xlarge in us-east-1a or us-east-1b, where the group has nodes -> choose another instance type, or keep the group's zones to us-east-1d",
			"warn kubernetes.nodeGroups[2].instanceTypes[0]: AWS does not offer p5.48xlarge in us-east-1a or us-east-1b, where the group has nodes -> choose another instance type, or keep the group's zones to us-east-1d",
			"warn kubernetes.nodeGroups[3].instanceTypes[0]: AWS does not offer c5.large in us-east-1a, where the group has nodes -> choose another instance type, or keep the group's zones to us-east-1b",
		}},
		"keys": {func(c *config.Cluster, f *preflight.Facts, _ *preflight.Wanted) {
			c.Kubernetes.SecretsEncryption.KeyARN, c.Kubernetes.LogKeyARN = key, key+"2"
			c.Kubernetes.NodeGroups[0].Volume.KMSKeyARN, c.Network.FlowLogs = key+"3", &config.FlowLogs{KMSKeyARN: key + "4"}
			f.Keys[key+"2"], f.Keys[key+"3"] = preflight.Key{State: "PendingDeletion"}, preflight.Key{Err: "NotFoundException", Missing: true}
			f.Keys[key+"4"] = preflight.Key{State: "Enabled", Spec: "RSA_2048", Usage: "SIGN_VERIFY"}
		}, []string{
			"fail kubernetes.logKeyArn: the key " + key + "2 cannot be used: its state is PendingDeletion -> have its owner enable it, or cancel its deletion, or give another one",
			"fail kubernetes.nodeGroups[0].volume.kmsKeyArn: KMS has no key " + key + "3 in us-east-1 -> correct the ARN",
			"fail network.flowLogs.kmsKeyArn: the key " + key + "4 is RSA_2048 for SIGN_VERIFY -> give a symmetric key for encryption",
		}},
		"nothing can be told": {func(c *config.Cluster, f *preflight.Facts, _ *preflight.Wanted) {
			c.Kubernetes.LogKeyARN, f.Keys[key] = key, preflight.Key{Err: "denied"}
			f.ZonesErr, f.VersionsErr, f.OfferedErr = "a", "b", "c"
		}, []string{
			"warn: whether us-east-1a and us-east-1b can be used cannot be told: a -> allow ec2:DescribeAvailabilityZones to the credentials in use",
			"warn: whether EKS has 1.35 in us-east-1 cannot be told: b -> allow eks:DescribeClusterVersions to the credentials in use",
			"warn: whether AWS offers m6i.large in us-east-1 cannot be told: c -> allow ec2:DescribeInstanceTypeOfferings to the credentials in use",
			"warn: whether the key " + key + " can be used cannot be told: denied -> allow kms:DescribeKey on it to the credentials in use",
		}},
		"an existing cluster": {func(c *config.Cluster, _ *preflight.Facts, w *preflight.Wanted) {
			c.Kubernetes.Existing, w.New = &config.ExistingCluster{}, false
			c.Kubernetes.NodeGroups[0].InstanceTypes[0] = "m99.large"
		}, nil},
	} {
		t.Run(name, func(t *testing.T) { assert.DeepEqual(t, judged(t, test.change), test.want) })
	}
}
