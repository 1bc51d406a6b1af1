package config

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/network"
)

// everything knows all fields.
func everything(c *Cluster) *Live {
	known := EffectFields()
	live := &Live{Cluster: c, Known: append(known, ofAddons()...)}
	if subnets, err := network.Subnets(c.Network.CIDR, c.Network.Zones); err == nil {
		live.ControlPlaneZones, live.Subnets = c.Network.Zones[:2], subnets
	}
	return live
}

const small = `version: 1
name: small
environment: dev
cloud: {provider: aws, region: eu-central-1, account: "111122223333"}
network:
  cidr: 10.0.0.0/16
  zones: [eu-central-1a, eu-central-1b]
kubernetes:
  version: "1.33"
  endpoint: {public: true, allowedCidrs: [203.0.113.0/24]}
  nodeGroups:
    - name: system
      instanceTypes: [m7i.large]
      size: {min: 2, max: 4}
gitops: {engine: flux, url: https://git.example.com/x.git, path: clusters/small, distribution: {version: v2.7.5, sha256: "` + digits + `"}}
`

const digits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// smallWith is the small cluster with texts replaced.
func smallWith(t *testing.T, replace ...string) *Cluster {
	t.Helper()
	text := small
	for i := 0; i < len(replace); i += 2 {
		assert.Assert(t, strings.Contains(text, replace[i]), "small has no %q", replace[i])
		text = strings.Replace(text, replace[i], replace[i+1], 1)
	}
	return loadText(t, text)
}

// TestCompare changes one thing of a file each, from what is live to what is wanted.
func TestCompare(t *testing.T) {
	const zones = "[eu-central-1a, eu-central-1b]"
	const encryption = "kubernetes:\n"
	const version33 = `version: "1.33"`
	off := []string{encryption, "kubernetes:\n  secretsEncryption: {enabled: false}\n"}
	ownKey := "  secretsEncryption: {keyArn: \"arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab\"}\n"
	for _, test := range []struct {
		name       string
		live, file []string
		want       string // "" for no change
		effect     Effect
	}{
		{name: "nothing"},
		{name: "a default that is written", file: []string{"path: clusters/small", "path: clusters/small, branch: main"}},
		{name: "block", file: []string{"10.0.0.0/16", "10.1.0.0/16"}, want: "network.cidr: 10.0.0.0/16 -> 10.1.0.0/16", effect: NeedsRebuild},
		{name: "a third zone", file: []string{zones, "[eu-central-1a, eu-central-1b, eu-central-1c]"}, want: "network.zones", effect: ReplacesNodeGroup},
		{name: "zones in another order", file: []string{zones, "[eu-central-1b, eu-central-1a]"}},
		{name: "another zone", file: []string{zones, "[eu-central-1a, eu-central-1c]"}, want: "network.zones", effect: NeedsRebuild},
		{name: "a zone of nodes less", live: []string{zones, "[eu-central-1a, eu-central-1b, eu-central-1c]"}, want: "network.zones", effect: ReplacesNodeGroup},
		{
			name: "a zone in the middle", file: []string{zones, "[eu-central-1a, eu-central-1c, eu-central-1b]"},
			want: "network.zones", effect: ReplacesNodeGroup,
		},
		{
			name: "a fourth zone, without room", live: []string{"10.0.0.0/16", "10.0.0.0/22", "eu-central-1", "us-east-1", zones, "[us-east-1a, us-east-1b, us-east-1c]"},
			file: []string{"10.0.0.0/16", "10.0.0.0/22", "eu-central-1", "us-east-1", zones, "[us-east-1a, us-east-1b, us-east-1c, us-east-1d]"},
			want: "network.zones", effect: NeedsRebuild,
		},
		{
			name: "a fourth zone", live: []string{"eu-central-1", "us-east-1", zones, "[us-east-1a, us-east-1b, us-east-1c]"},
			file: []string{"eu-central-1", "us-east-1", zones, "[us-east-1a, us-east-1b, us-east-1c, us-east-1d]"},
			want: "network.zones", effect: ReplacesNodeGroup,
		},
		{name: "a gateway for each zone", file: []string{zones, zones + "\n  nat: per-zone"}, want: "network.nat: single -> per-zone", effect: InPlace},
		{name: "account", file: []string{"111122223333", "999988887777"}, want: "cloud.account: 111122223333 -> 999988887777", effect: NeedsRebuild},
		{
			name:   "an existing network",
			file:   []string{"cidr: 10.0.0.0/16\n  zones: " + zones, "existing: {vpc: vpc-0123456789abcdef0, privateSubnets: [subnet-0123456789abcdef0, subnet-0123456789abcdef1]}"},
			want:   "network.existing: an own network of 10.0.0.0/16 -> vpc-0123456789abcdef0",
			effect: NeedsRebuild,
		},
		{name: "the next minor", file: []string{"1.33", "1.34"}, want: "kubernetes.version: 1.33 -> 1.34", effect: RollsNodes},
		{name: "two minors", file: []string{"1.33", "1.35"}, want: "kubernetes.version: 1.33 -> 1.35", effect: Impossible},
		{name: "the next minor, nodes held", live: []string{version33, version33 + "\n  nodeVersion: \"1.33\""}, file: []string{version33, "version: \"1.34\"\n  nodeVersion: \"1.33\""}, want: "kubernetes.version: 1.33 -> 1.34", effect: InPlace},
		{name: "nodes follow", live: []string{version33, "version: \"1.34\"\n  nodeVersion: \"1.33\""}, file: []string{"1.33", "1.34"}, want: "kubernetes.nodeVersion: 1.33 -> none", effect: RollsNodes},
		{name: "nodes back", live: []string{"1.33", "1.34"}, file: []string{version33, "version: \"1.34\"\n  nodeVersion: \"1.33\""}, want: "kubernetes.nodeVersion: none -> 1.33", effect: Impossible},
		{name: "a minor back", live: []string{"1.33", "1.34"}, want: "kubernetes.version: 1.34 -> 1.33", effect: Impossible},
		{name: "encryption off", file: off, want: "kubernetes.secretsEncryption.enabled: true -> false", effect: NeedsRebuild},
		{name: "encryption on", live: off, want: "kubernetes.secretsEncryption.enabled: false -> true", effect: InPlace},
		{name: "another key", file: []string{encryption, encryption + ownKey}, want: "kubernetes.secretsEncryption.keyArn: none -> arn:", effect: NeedsRebuild},
		{name: "instance types", file: []string{"[m7i.large]", "[m7i.xlarge]"}, want: "kubernetes.nodeGroups[0].instanceTypes: [m7i.large] -> [m7i.xlarge]", effect: ReplacesNodeGroup},
		{name: "disk", file: []string{"[m7i.large]", "[m7i.large]\n      diskGiB: 80"}, want: "kubernetes.nodeGroups[0].diskGiB: 50 -> 80", effect: RollsNodes},
		{name: "labels", file: []string{"[m7i.large]", "[m7i.large]\n      labels: {a: b}"}, want: "kubernetes.nodeGroups[0].labels", effect: InPlace},
		{name: "smallest size", file: []string{"min: 2", "min: 3"}, want: "kubernetes.nodeGroups[0].size.min: 2 -> 3", effect: InPlace},
		{name: "tags", file: []string{"environment: dev", "environment: dev\ntags: {a: b}"}, want: "tags: map[] -> map[a:b]", effect: RollsNodes},
		{
			name: "who reaches the private endpoint", live: []string{"public: true", "privateCidrs: [10.8.0.0/16, 10.9.0.0/16], public: true"},
			file: []string{"public: true", "privateCidrs: [10.9.0.0/16], public: true"},
			want: "kubernetes.endpoint.privateCidrs: [10.8.0.0/16 10.9.0.0/16] -> [10.9.0.0/16]", effect: InPlace,
		},
		{
			name: "the same in another order", live: []string{"public: true", "securityGroups: [sg-0a1b2c3d, sg-1a1b2c3d], public: true"},
			file: []string{"public: true", "securityGroups: [sg-1a1b2c3d, sg-0a1b2c3d], public: true"},
		},
		{name: "logs in another order", file: []string{encryption, "kubernetes:\n  logs: [authenticator, api, audit]\n"}},
		{
			name: "an admin", file: []string{encryption, "kubernetes:\n  admins: [{name: ops, principalArn: \"arn:aws:iam::111122223333:role/ops\"}]\n"},
			want: "kubernetes.admins[0]: added ops", effect: InPlace,
		},
		{
			name: "an addon of EKS's less", live: []string{encryption, "kubernetes:\n  addons: [{name: vpc-cni}, {name: coredns}]\n"},
			file: []string{encryption, "kubernetes:\n  addons: [{name: vpc-cni}]\n"},
			want: "kubernetes.addons: removed coredns", effect: InPlace,
		},
		{
			name: "the same configuration", live: []string{encryption, "kubernetes:\n  addons: [{name: coredns, configuration: {a: 1, b: 2}}]\n"},
			file: []string{encryption, "kubernetes:\n  addons: [{name: coredns, configuration: {b: 2, a: 1}}]\n"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := Compare(everything(smallWith(t, test.live...)), smallWith(t, test.file...))
			if test.want == "" {
				assert.Assert(t, is.Len(found, 0))
				return
			}
			assert.Assert(t, len(found) > 0, "no change was found")
			for _, c := range found {
				if strings.HasPrefix(c.String(), test.want) {
					assert.Equal(t, c.Effect, test.effect, "%s", c)
					return
				}
			}
			t.Errorf("found %v, want %s", found, test.want)
		})
	}
}

// TestCompareRollback: only a rollback may take Kubernetes back, and by one minor.
func TestCompareRollback(t *testing.T) {
	live := everything(smallWith(t, "1.33", "1.34"))
	for version, want := range map[string]Effect{"1.33": InPlace, "1.32": Impossible} {
		file := smallWith(t, "1.33", version)
		file.RollBack = true
		assert.Equal(t, Compare(live, file).Worst(), want, version)
	}
}

// TestCompareItself: a file differs from itself in nothing.
func TestCompareItself(t *testing.T) {
	for _, file := range goodFiles(t) {
		a := loadFile(t, file)
		b := loadFile(t, file)
		assert.Assert(t, is.Len(Compare(everything(a), b), 0), file)
	}
}

// TestCompareKnowsNoMore: a field that the state does not tell is not compared.
func TestCompareKnowsNoMore(t *testing.T) {
	live := &Live{Cluster: &Cluster{}, Known: []string{"Network.CIDR", "Network.Existing"}}
	file := smallWith(t)
	found := Compare(live, file)
	assert.Assert(t, is.Len(found, 1))
	assert.Equal(t, found[0].Path, "network.cidr")
	assert.Assert(t, is.Len(Compare(nil, file), 0))
}

// TestProblemsOfChanges have their place in the file.
func TestProblemsOfChanges(t *testing.T) {
	live := everything(smallWith(t))
	file := smallWith(t, "10.0.0.0/16", "10.1.0.0/16", "m7i.large", "m7i.xlarge", `"1.33"`, `"1.35"`)
	found := Compare(live, file)
	assert.Equal(t, found.Worst(), Impossible)
	assert.Equal(t, found.Summary(), "1 impossible, 1 needs rebuild, 1 replaces node group")
	problems := found.Problems(file)
	assert.Assert(t, is.Len(problems, 2))
	text := strings.ReplaceAll(problems.Error(), file.File, "small.yaml")
	assert.Equal(t, text, "small.yaml:6:9: network.cidr: cannot change on the live cluster (10.0.0.0/16 -> 10.1.0.0/16, needs rebuild): "+
		"AWS changes the block of neither a VPC nor a subnet, and EKS keeps its VPC; "+
		"take the change back, or make the cluster anew: `tombolo destroy`, then `tombolo up`\n"+
		"small.yaml:9:12: kubernetes.version: cannot change on the live cluster (1.33 -> 1.35, impossible): "+
		"EKS upgrades by one minor version at a time; take the version back, and run `tombolo upgrade small --to <version>`, which goes one minor after another")
	assert.NilError(t, Compare(live, smallWith(t)).Problems(file).Err())
}
