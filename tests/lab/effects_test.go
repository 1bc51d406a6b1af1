//go:build lab

package lab

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/tests/samples"
	"tombolo/tests/tier"
)

// effectCase changes keys of the live cluster's file in one way, and says which of the
// declared effects that is for each of them.
type effectCase struct {
	name string
	// replace are texts of the file, each followed by what is in its place.
	replace []string
	// fields with the effect of the change, as they are declared, and their When.
	fields []string
	when   string
	effect config.Effect
	// paths of the file that the comparison must name.
	paths []string
	// steps of core's plan that there must be, as type, in short as plans show it, and operation.
	steps []string
	// absent are steps that there must not be.
	absent []string
}

// noCloud are the fields whose change core's plan does not show, with the reason.
var noCloud = map[string]string{
	"Cluster.Version": "the format has one version", "Cluster.Wave": "read by tombolo", "Cluster.Protect": "an option in the state",
	"Cluster.ChangeWindows": "read by tombolo", "ChangeWindow.Days": "the same", "ChangeWindow.From": "the same", "ChangeWindow.To": "the same",
	"ChangeWindow.TimeZone": "the same", "DriftPolicy.Remediate": "the same",
	"Cluster.Name": "another name has another state: there is nothing to compare with", "Cloud.Provider": "there is one cloud",
	"Cloud.Profile": "where credentials come from", "Cloud.AssumeRole": "the same",
	"AssumeRole.RoleARN": "the same", "AssumeRole.ExternalID": "the same", "AssumeRole.SessionName": "the same", "Endpoint.OpenToTheWorld": "confirms another key",
	"Endpoint.PublicAddressesInside": "confirms another key", "ExistingNetwork.ControlPlaneSubnets": "unit test of stacks/core/aws",
	"Size.Desired":        "counts at creation",
	"NodeGroup.Subnets":   "unit test of the core stack: of a network that exists",
	"ExistingNetwork.VPC": "unit test of config", "ExistingNetwork.Account": "unit test of stacks/core/aws", "ExistingNetwork.PrivateSubnets": "unit test of config", "ExistingNetwork.PublicSubnets": "unit test of config",
	"Kubernetes.Existing": "unit test of config", "ExistingCluster.Name": "unit test of config", "ExistingCluster.CreateOIDCProvider": "unit test of components/eks",
	"Principal.Name": "another name is another entry: see Kubernetes.Admins", "Access.Name": "another name is another entry: see Kubernetes.Access", "ManagedAddon.Name": "see Kubernetes.Addons",
	"Taint.Key": "see NodeGroup.Taints", "Taint.Value": "see NodeGroup.Taints", "Taint.Effect": "see NodeGroup.Taints",
	"GivenRoles.Cluster": "unit test of stacks/core/aws", "GivenRoles.Nodes": "unit test of stacks/core/aws", "GivenRoles.Addons": "unit test of stacks/core/aws",
	"Cluster.Addons":          "addons have lab tests of their own",
	"EFSOptions.KMSKeyARN":    "unit test of stacks/core/aws: a file system outlives no test of plans",
	"AddonIdentity.Namespace": "in the role: see ManagedAddon.Identity", "AddonIdentity.ServiceAccount": "in the role: see ManagedAddon.Identity",
	"AddonIdentity.PolicyARNs": "in the role: see ManagedAddon.Identity", "AddonIdentity.Statements": "in the role: see ManagedAddon.Identity",
}

// ofBootstrap says that a field is bootstrap's: no change of it reaches the cloud but by
// roles, which are updated in place.
func ofBootstrap(field string) bool {
	typ, _, _ := strings.Cut(field, ".")
	switch typ {
	case "Namespace", "Service", "Identity", "Statement", "GitOps", "ExternalHub", "ArgoCDOptions", "ArgoCDOIDC", "Distribution", "Auth", "PullSecret", "SealedSecrets", "Channel", "Webhook", "SecretRef", "Value":
		return true
	}
	return slices.Contains([]string{"Cluster.Namespaces", "Cluster.Services", "Cluster.Labels", "Cluster.Annotations", "Cluster.Values", "ImageSources.PullSecret"}, field)
}

// companyCA is a certificate in a cluster file, as a text of egress.
var companyCA = regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(samples.CompanyCA, "    $1")

const (
	zonesLine  = "zones: [eu-central-1a, eu-central-1b]"
	typesLine  = "instanceTypes: [m7i.large]"
	spareGroup = "\n    - name: spare\n      instanceTypes: [m7i.large]\n      size: {min: 1, max: 2}\n"
	sizeLine   = "size: {min: 2, max: 4}"
	labelsLine = "        workload: system\n"
	accessLine = "  access: [{name: devs, principalArn: \"arn:aws:iam::111122223333:role/devs\", policy: edit, namespaces: [dev], groups: [dev]}]\n"

	providerLine = "  identityProvider: {issuerUrl: \"https://auth.example.com/\", clientId: kubernetes}\n"

	flowLogsLine = "  flowLogs: {to: cloudwatch}\n"

	nodeGroups = "aws:eks:NodeGroup "
)

// effectCases are all changes of a live cluster that reach the cloud.
func effectCases() []effectCase {
	version := func(v string) []string { return []string{`version: "1.33"`, `version: "` + v + `"`} }
	const anyKey = `{keyArn: "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"}`
	return []effectCase{
		{
			name: "in place", effect: config.InPlace,
			replace: []string{
				"  region: eu-central-1\n", "  region: eu-central-1\n  roles: {permissionsBoundary: \"arn:aws:iam::aws:policy/PowerUserAccess\"}\n",
				flowLogsLine, "  flowLogs: {to: cloudwatch, traffic: reject, retentionDays: 30, kmsKeyArn: \"arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab\"}\n",
				"nat: single", "nat: per-zone", "endpoints: [s3]", "endpoints: [s3, ecr.api]",
				"allowedCidrs: [203.0.113.0/24]", "allowedCidrs: [198.51.100.0/24]", "    private: true", "    private: false",
				"  admins:\n", "  support: extended\n  zonalShift: true\n  logs: [api]\n  logRetentionDays: 30\n  logKeyArn: \"arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab\"\n  previewers: [{name: ci, principalArn: \"arn:aws:iam::111122223333:role/ci\"}]\n" +
					"  addons: [{name: vpc-cni}, {name: kube-proxy}, {name: coredns, version: v1.12.2-eksbuild.4, configuration: {replicaCount: 3}}]\n  admins:\n",
				"role/platform-team", "role/other-team", sizeLine, "size: {min: 1, max: 5}\n      taints: [{key: a, value: b, effect: NoSchedule}]",
				labelsLine, labelsLine + "        more: labels\n" + strings.ReplaceAll(spareGroup, "spare", "extra")[1:],
			},
			fields: []string{
				"Roles.PermissionsBoundary", "Network.NAT", "Network.Endpoints", "Endpoint.AllowedCIDRs", "Endpoint.Private", "Kubernetes.Logs", "Kubernetes.LogRetentionDays", "Kubernetes.LogKeyARN",
				"Kubernetes.Support", "Kubernetes.ZonalShift", "Kubernetes.Previewers", "Kubernetes.Admins", "Kubernetes.NodeGroups", "Kubernetes.Addons", "ManagedAddon.Version", "ManagedAddon.Configuration",
				"Principal.PrincipalARN", "Size.Min", "Size.Max", "NodeGroup.Taints", "NodeGroup.Labels", "FlowLogs.Traffic", "FlowLogs.RetentionDays", "FlowLogs.KMSKeyARN",
			},
			paths: []string{
				"cloud.roles.permissionsBoundary", "network.nat", "network.endpoints", "network.flowLogs.traffic", "network.flowLogs.retentionDays", "network.flowLogs.kmsKeyArn", "kubernetes.endpoint.private", "kubernetes.endpoint.allowedCidrs", "kubernetes.logs",
				"kubernetes.logRetentionDays", "kubernetes.logKeyArn", "kubernetes.support", "kubernetes.zonalShift", "kubernetes.admins[0].principalArn", "kubernetes.previewers[0]", "kubernetes.nodeGroups[0].size.min",
				"kubernetes.nodeGroups[0].size.max", "kubernetes.nodeGroups[0].labels", "kubernetes.nodeGroups[0].taints", "kubernetes.nodeGroups[1]",
				"kubernetes.addons[2].version", "kubernetes.addons[2].configuration", "kubernetes.addons",
			},
			steps: []string{"aws:iam:Role update", nodeGroups + "update", nodeGroups + "create", "aws:eks:Cluster update", "aws:ec2:NatGateway create", "aws:ec2:FlowLog replace", "aws:cloudwatch:LogGroup update"},
		},
		{
			name: "access, and flow logs to a bucket", effect: config.InPlace, fields: []string{"FlowLogs.To", "FlowLogs.BucketARN", "Kubernetes.Access", "Access.PrincipalARN", "Access.Policy", "Access.Namespaces", "Access.Groups"},
			replace: []string{accessLine, "  access: [{name: devs, principalArn: \"arn:aws:iam::111122223333:role/others\", policy: view, groups: [others]}, {name: more, principalArn: \"arn:aws:iam::111122223333:role/more\", policy: admin}]\n", flowLogsLine, "  flowLogs: {to: s3, bucketArn: \"arn:aws:s3:::acme-logs/vpc\"}\n"},
			paths: []string{
				"network.flowLogs.to", "network.flowLogs.bucketArn", "network.flowLogs.retentionDays", "kubernetes.access[0].principalArn", "kubernetes.access[0].policy", "kubernetes.access[0].namespaces", "kubernetes.access[0].groups", "kubernetes.access[1]",
			},
			steps: []string{"aws:eks:AccessEntry replace", "aws:eks:AccessEntry create", "aws:eks:AccessPolicyAssociation replace", "aws:eks:AccessPolicyAssociation create", "aws:ec2:FlowLog replace", "aws:cloudwatch:LogGroup delete", "aws:iam:Role delete"},
		},
		{
			name: "identity provider", effect: config.InPlace,
			fields: []string{
				"Kubernetes.IdentityProvider", "IdentityProvider.IssuerURL", "IdentityProvider.ClientID", "IdentityProvider.UsernameClaim", "IdentityProvider.UsernamePrefix",
				"IdentityProvider.GroupsClaim", "IdentityProvider.GroupsPrefix", "IdentityProvider.RequiredClaims",
			},
			replace: []string{providerLine, "  identityProvider: {issuerUrl: \"https://other.example.com/\", clientId: other, usernameClaim: name, usernamePrefix: \"people:\", groupsClaim: teams, groupsPrefix: \"teams:\", requiredClaims: {a: b}}\n"},
			paths: []string{
				"kubernetes.identityProvider.issuerUrl", "kubernetes.identityProvider.clientId", "kubernetes.identityProvider.usernameClaim", "kubernetes.identityProvider.usernamePrefix",
				"kubernetes.identityProvider.groupsClaim", "kubernetes.identityProvider.groupsPrefix", "kubernetes.identityProvider.requiredClaims",
			},
			steps: []string{"aws:eks:IdentityProviderConfig replace"},
		},
		{
			name: "endpoint", effect: config.InPlace, fields: []string{"Endpoint.Public", "Endpoint.PrivateCIDRs", "Endpoint.SecurityGroups"},
			paths:   []string{"kubernetes.endpoint.public", "kubernetes.endpoint.privateCidrs", "kubernetes.endpoint.securityGroups"},
			replace: []string{"    public: true\n    allowedCidrs: [203.0.113.0/24]\n", "    public: false\n    privateCidrs: [10.8.0.0/16]\n    securityGroups: [sg-0123456789abcdef0]\n"},
			steps:   []string{"aws:eks:Cluster update", "aws:vpc:SecurityGroupIngressRule create"},
		},
		{
			name: "addon's role", effect: config.InPlace, fields: []string{"ManagedAddon.Identity", "AddonIdentity.RoleARN"}, paths: []string{"kubernetes.addons[0].identity"},
			replace: []string{"  admins:\n", "  addons: [{name: vpc-cni, identity: {roleArn: \"arn:aws:iam::111122223333:role/demo-node\"}}, {name: kube-proxy}, {name: coredns}, {name: eks-pod-identity-agent}]\n  admins:\n"},
			steps:   []string{"aws:eks:Addon update", "aws:iam:Role delete"},
		},
		{
			name: "no NAT", effect: config.InPlace, fields: []string{"Network.NAT"}, when: "to none", paths: []string{"network.nat"},
			replace: []string{"nat: single\n  endpoints: [s3]", "nat: none\n  endpoints: [ec2, ecr.api, ecr.dkr, eks, eks-auth, logs, s3, sts]"},
			steps:   []string{"aws:ec2:NatGateway delete"},
		},
		{
			name: "removed", effect: config.InPlace, when: "removed", fields: []string{"Network.FlowLogs", "Kubernetes.Admins", "Kubernetes.Access", "Kubernetes.IdentityProvider", "Kubernetes.NodeGroups", "Kubernetes.Addons"},
			replace: []string{flowLogsLine, "", accessLine, "", providerLine, "", spareGroup[1:], "", "  admins:\n    - name: platform-team\n      principalArn: arn:aws:iam::111122223333:role/platform-team\n", "  addons: [{name: vpc-cni}, {name: coredns}]\n"},
			paths:   []string{"network.flowLogs", "kubernetes.admins", "kubernetes.access", "kubernetes.identityProvider", "kubernetes.nodeGroups", "kubernetes.addons"},
			steps:   []string{"aws:ec2:FlowLog delete", "aws:cloudwatch:LogGroup delete", nodeGroups + "delete", "aws:eks:AccessEntry delete", "aws:eks:IdentityProviderConfig delete", "aws:eks:Addon delete"},
		},
		{name: "disk", effect: config.RollsNodes, fields: []string{"NodeGroup.DiskGiB"}, paths: []string{"kubernetes.nodeGroups[0].diskGiB"}, replace: []string{sizeLine, sizeLine + "\n      diskGiB: 80"}, steps: []string{nodeGroups + "update"}},
		{
			name: "launch template", effect: config.RollsNodes, steps: []string{nodeGroups + "update"},
			replace: []string{sizeLine, sizeLine + "\n      maxPods: 60\n      volume: {iops: 4000, throughput: 500, kmsKeyArn: \"arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab\"}" +
				"\n      securityGroups: [sg-0123456789abcdef0]\n      userData: \"#!/bin/sh\"\n      release: 1.33.2-20260715"},
			fields: []string{"NodeGroup.MaxPods", "NodeVolume.IOPS", "NodeVolume.Throughput", "NodeVolume.KMSKeyARN", "NodeGroup.SecurityGroups", "NodeGroup.UserData", "NodeGroup.Release"},
			paths: []string{
				"kubernetes.nodeGroups[0].maxPods", "kubernetes.nodeGroups[0].volume.iops", "kubernetes.nodeGroups[0].volume.throughput", "kubernetes.nodeGroups[0].volume.kmsKeyArn",
				"kubernetes.nodeGroups[0].securityGroups", "kubernetes.nodeGroups[0].userData", "kubernetes.nodeGroups[0].release",
			},
		},
		{
			name: "egress", effect: config.RollsNodes, steps: []string{nodeGroups + "update"},
			replace: []string{"gitops:\n", "egress:\n  proxy: {url: \"http://proxy.corp.example:3128\", noProxy: [.corp.example]}\n  certificateAuthority: |\n" + companyCA +
				"  images: {mirrors: {quay.io: mirror.corp.example/quay}}\ngitops:\n"},
			fields: []string{"Proxy.URL", "Proxy.NoProxy", "Egress.CertificateAuthority", "ImageSources.Mirrors"},
			paths:  []string{"egress.proxy.url", "egress.proxy.noProxy", "egress.certificateAuthority", "egress.images.mirrors"},
		},
		{name: "kind of volume", effect: config.RollsNodes, fields: []string{"NodeVolume.Type"}, paths: []string{"kubernetes.nodeGroups[0].volume.type"}, replace: []string{sizeLine, sizeLine + "\n      volume: {type: io2, iops: 1000}"}, steps: []string{nodeGroups + "update"}},
		{
			name: "update settings", effect: config.InPlace, fields: []string{"NodeUpdate.MaxUnavailable", "NodeUpdate.MaxUnavailablePercent", "NodeUpdate.Force"},
			paths:   []string{"kubernetes.nodeGroups[0].update.maxUnavailable", "kubernetes.nodeGroups[0].update.maxUnavailablePercent", "kubernetes.nodeGroups[0].update.force"},
			replace: []string{sizeLine, sizeLine + "\n      update: {maxUnavailable: 2, force: true}"}, steps: []string{nodeGroups + "update"},
		},
		{name: "image", effect: config.ReplacesNodeGroup, fields: []string{"NodeGroup.AMI"}, paths: []string{"kubernetes.nodeGroups[0].ami"}, replace: []string{sizeLine, sizeLine + "\n      ami: bottlerocket"}, steps: []string{nodeGroups + "replace"}},
		{name: "image of one's own", effect: config.ReplacesNodeGroup, when: "given or removed", fields: []string{"NodeGroup.ImageID"}, paths: []string{"kubernetes.nodeGroups[0].imageId"}, replace: []string{sizeLine, sizeLine + "\n      imageId: ami-0123456789abcdef0"}, steps: []string{nodeGroups + "replace"}},
		{name: "group's zones", effect: config.ReplacesNodeGroup, fields: []string{"NodeGroup.Zones"}, paths: []string{"kubernetes.nodeGroups[0].zones"}, replace: []string{sizeLine, sizeLine + "\n      zones: [eu-central-1b]"}, steps: []string{nodeGroups + "replace"}},
		{name: "tags", effect: config.RollsNodes, fields: []string{"Cluster.Tags", "Cluster.Environment"}, paths: []string{"tags", "environment"}, replace: []string{"team: platform", "team: other", "environment: dev", "environment: test"}, steps: []string{nodeGroups + "update"}},
		{name: "next minor", effect: config.RollsNodes, when: "to the next minor", fields: []string{"Kubernetes.Version"}, paths: []string{"kubernetes.version"}, replace: version("1.34"), steps: []string{nodeGroups + "update", "aws:eks:Cluster update"}},
		{name: "next minor, nodes held", effect: config.InPlace, when: "to the next minor, with the nodes held back", fields: []string{"Kubernetes.Version"}, paths: []string{"kubernetes.version"}, replace: version("1.34\"\n  nodeVersion: \"1.33"), steps: []string{"aws:eks:Cluster update"}, absent: []string{nodeGroups + "update", "aws:eks:Addon update"}},
		{name: "types", effect: config.ReplacesNodeGroup, fields: []string{"NodeGroup.InstanceTypes"}, paths: []string{"kubernetes.nodeGroups[0].instanceTypes"}, replace: []string{typesLine + "\n      " + sizeLine, "instanceTypes: [m7i.xlarge]\n      " + sizeLine}, steps: []string{nodeGroups + "replace"}},
		{name: "capacity", effect: config.ReplacesNodeGroup, fields: []string{"NodeGroup.Capacity"}, paths: []string{"kubernetes.nodeGroups[0].capacity"}, replace: []string{sizeLine, sizeLine + "\n      capacity: spot"}, steps: []string{nodeGroups + "replace"}},
		{name: "group's name", effect: config.ReplacesNodeGroup, fields: []string{"NodeGroup.Name"}, paths: []string{"kubernetes.nodeGroups[0]", "kubernetes.nodeGroups"}, replace: []string{"- name: system\n", "- name: other\n"}, steps: []string{nodeGroups + "create", nodeGroups + "delete"}},
		{name: "another zone", effect: config.ReplacesNodeGroup, when: "added, or one of the nodes' alone removed", fields: []string{"Network.Zones"}, paths: []string{"network.zones"}, replace: []string{zonesLine, "zones: [eu-central-1a, eu-central-1b, eu-central-1c]"}, steps: []string{nodeGroups + "replace"}},

		{name: "path of roles", effect: config.NeedsRebuild, fields: []string{"Roles.Path"}, paths: []string{"cloud.roles.path"}, replace: []string{"  region: eu-central-1\n", "  region: eu-central-1\n  roles: {path: /tombolo/}\n"}},
		{name: "block", effect: config.NeedsRebuild, fields: []string{"Network.CIDR"}, paths: []string{"network.cidr"}, replace: []string{"10.20.0.0/16", "10.30.0.0/16"}},
		{name: "service block", effect: config.NeedsRebuild, fields: []string{"Kubernetes.ServiceCIDR"}, paths: []string{"kubernetes.serviceCidr"}, replace: []string{"  admins:\n", "  serviceCidr: 172.30.0.0/16\n  admins:\n"}},
		{name: "zones", effect: config.NeedsRebuild, when: "without one of the control plane's", fields: []string{"Network.Zones"}, paths: []string{"network.zones"}, replace: []string{zonesLine, "zones: [eu-central-1a, eu-central-1c]"}},
		{name: "account", effect: config.NeedsRebuild, fields: []string{"Cloud.Account"}, paths: []string{"cloud.account"}, replace: []string{`account: "111122223333"`, `account: "444455556666"`, "iam::111122223333:role", "iam::444455556666:role", "iam::111122223333:role", "iam::444455556666:role"}},
		{name: "region", effect: config.NeedsRebuild, fields: []string{"Cloud.Region"}, paths: []string{"cloud.region"}, replace: []string{"region: eu-central-1", "region: eu-west-1", zonesLine, "zones: [eu-west-1a, eu-west-1b]"}},
		{
			name: "existing network", effect: config.NeedsRebuild, fields: []string{"Network.Existing"}, paths: []string{"network.existing"},
			replace: []string{
				flowLogsLine + "  cidr: 10.20.0.0/16\n  " + zonesLine + "\n  nat: single\n  endpoints: [s3]\n",
				"  existing: {vpc: vpc-0123456789abcdef0, privateSubnets: [subnet-0123456789abcdef0, subnet-0123456789abcdef1]}\n",
			},
		},
		{name: "encryption off", effect: config.NeedsRebuild, when: "turned off", fields: []string{"SecretsEncryption.Enabled"}, paths: []string{"kubernetes.secretsEncryption.enabled"}, replace: []string{"  admins:\n", "  secretsEncryption: {enabled: false}\n  admins:\n"}},
		{name: "another key", effect: config.NeedsRebuild, when: "on a cluster that is encrypted", fields: []string{"SecretsEncryption.KeyARN"}, paths: []string{"kubernetes.secretsEncryption.keyArn"}, replace: []string{"  admins:\n", "  secretsEncryption: " + anyKey + "\n  admins:\n"}},
		{name: "Auto Mode", effect: config.NeedsRebuild, fields: []string{"Kubernetes.Compute"}, paths: []string{"kubernetes.compute"}, replace: []string{"  nodeGroups:\n    - name: system\n      instanceTypes: [m7i.large]\n      size: {min: 2, max: 4}\n      labels:\n        workload: system\n" + spareGroup[1:], "  compute: auto\n"}},
		{name: "two minors", effect: config.Impossible, when: "by more than one minor", fields: []string{"Kubernetes.Version"}, paths: []string{"kubernetes.version"}, replace: version("1.35")},
		{name: "nodes back", effect: config.Impossible, when: "to an older one", fields: []string{"Kubernetes.NodeVersion"}, paths: []string{"kubernetes.nodeVersion"}, replace: version("1.33\"\n  nodeVersion: \"1.32")},
		{name: "back", effect: config.Impossible, when: "to an older one", fields: []string{"Kubernetes.Version"}, paths: []string{"kubernetes.version"}, replace: version("1.32")},
	}
}

// TestEffects holds what every key declares to do to a live cluster against the engine's
// plan for it, in one lab.
func TestEffects(t *testing.T) {
	tier.Short(t, "each key does to a live cluster in AWS what the file says that it does")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	const file = "clusters/demo.yaml"
	p.edit(t, file, `version: "1.36"`, `version: "1.33"`)
	p.edit(t, file, "addons:\n  karpenter: {}\n  aws-load-balancer-controller: {}\n  external-dns:\n    zones:\n      - {id: Z01234567LABTEST00000, name: lab.test}\n  metrics-server: {}\n  reloader: {}\n", "")
	p.edit(t, file, labelsLine, labelsLine+spareGroup[1:])
	p.edit(t, file, "  admins:\n", accessLine+providerLine+"  admins:\n")
	p.edit(t, file, "network:\n", "network:\n"+flowLogsLine)
	p.up(t, "demo")
	text := p.read(t, file)
	for _, c := range effectCases() {
		t.Run(c.name, func(t *testing.T) {
			defer p.write(t, file, text)
			c.changeFile(t, p, file, text)
			if c.effect.Refused() {
				c.refused(t, p)
				return
			}
			c.planned(t, p)
		})
	}
	t.Run("refused for all", func(t *testing.T) { p.refusedForAll(t, file, text) })
	t.Run("applied", func(t *testing.T) { p.appliesChanges(t, file, text) })
	p.destroys(t, "demo")
}

// TestEffectsHaveCases: a declared effect without a case in the lab is a claim.
func TestEffectsHaveCases(t *testing.T) {
	tier.Short(t, "a declared effect has a case in the lab; it takes no lab")
	for _, field := range config.EffectFields() {
		if _, ok := noCloud[field]; ok || ofBootstrap(field) {
			continue
		}
		for _, declared := range config.EffectsOf(field) {
			found := slices.ContainsFunc(effectCases(), func(c effectCase) bool {
				return slices.Contains(c.fields, field) && c.effect == declared.Effect && (declared.When == "" || c.when == declared.When)
			})
			assert.Check(t, found || onlyUnitTested(field, declared),
				"%s: nothing in the lab changes it %q and expects %q", field, declared.When, declared.Effect)
		}
	}
}

// onlyUnitTested are the effects that would need clusters of their own in the lab:
// encryption that is turned on later, a block without room, what changes with a proxy, previewers that go, an image of
// one's own that becomes another. TestUpgrade
// has nodes that follow, and a rollback.
func onlyUnitTested(field string, declared config.Case) bool {
	return declared.When == "one too many for the block" || declared.When == "with a proxy" || field == "NodeGroup.ImageID" && declared.When == "to another" || declared.When == "to the one before, by a rollback" ||
		field == "Kubernetes.NodeVersion" && declared.Effect == config.RollsNodes ||
		strings.HasPrefix(field, "SecretsEncryption.") && declared.Effect == config.InPlace ||
		field == "Kubernetes.Previewers" && declared.When == "removed"
}

// someKey stands for the id of a key that the account has.
const someKey = "1234abcd-12ab-34cd-56ef-1234567890ab"

func (c effectCase) changeFile(t *testing.T, p project, file, text string) {
	t.Helper()
	for i := 0; i < len(c.replace); i += 2 {
		assert.Assert(t, strings.Contains(text, c.replace[i]), "%s has no %q:\n%s", file, c.replace[i], text)
		text = strings.Replace(text, c.replace[i], c.replace[i+1], 1)
	}
	if strings.Contains(text, someKey) { // KMS is asked about it
		text = strings.ReplaceAll(text, someKey, p.made(t, "aws:kms/key:Key")[0].ID)
	}
	p.write(t, file, text)
}

// refused asserts that nothing starts, with the places in the file, in preview, up and
// validate --live.
func (c effectCase) refused(t *testing.T, p project) {
	t.Helper()
	for _, args := range [][]string{{"up", "demo", "--yes"}, {"validate", "demo", "--live"}} {
		o := p.run(t, args...)
		assert.Equal(t, o.code, 3, "%v\n%s\n%s", args, o.stdout, o.stderr)
		for _, path := range c.paths {
			assert.Check(t, is.Contains(o.stderr, path+": cannot change on the live cluster"))
		}
		assert.Check(t, is.Contains(o.stderr, string(c.effect)+")"))
		assert.Check(t, is.Contains(o.stderr, "clusters/demo.yaml:"))
	}
}

// plannedStep is a step of a plan.
type plannedStep struct{ Op, Resource string }

// planned asserts that the plan does what is declared, and the comparison tells the keys.
func (c effectCase) planned(t *testing.T, p project) {
	t.Helper()
	out := p.must(t, "preview", "demo", "--output", "json")
	var told config.Changes
	var steps []string
	decoder := json.NewDecoder(strings.NewReader(out))
	for decoder.More() {
		var d struct {
			Type, Stack string
			Steps       []plannedStep
			Changes     json.RawMessage
		}
		assert.NilError(t, decoder.Decode(&d))
		switch {
		case d.Type == "file-changes":
			assert.NilError(t, json.Unmarshal(d.Changes, &told))
		case d.Stack == "demo-core":
			for _, s := range d.Steps {
				steps = append(steps, s.Resource+" "+s.Op)
			}
		}
	}
	c.holds(t, steps)
	for _, path := range c.paths {
		i := slices.IndexFunc(told, func(k config.Change) bool { return k.Path == path })
		if i < 0 {
			t.Errorf("%s is not told: %v", path, told)
			continue
		}
		// A replacement is told at one key of the group; its other keys change with it.
		alongside := c.effect == config.ReplacesNodeGroup && strings.HasPrefix(path, "kubernetes.nodeGroups") && told[i].Effect == config.InPlace
		assert.Check(t, told[i].Effect == c.effect || alongside, "%s has the effect %s, want %s", path, told[i].Effect, c.effect)
	}
}

// holds asserts the steps that there must be, and that there are none of a graver effect.
func (c effectCase) holds(t *testing.T, steps []string) {
	t.Helper()
	for _, want := range c.steps {
		assert.Check(t, slices.Contains(steps, want), "no %q among %q", want, steps)
	}
	for _, not := range c.absent {
		assert.Check(t, !slices.Contains(steps, not), "%q is among %q", not, steps)
	}
	for _, token := range []string{"aws:eks:Cluster", "aws:ec2:Vpc", "aws:ec2:Subnet"} {
		for _, op := range []string{" replace", " delete"} {
			assert.Check(t, !slices.Contains(steps, token+op), "%s%s in %q", token, op, steps)
		}
	}
	if c.effect != config.ReplacesNodeGroup {
		assert.Check(t, !slices.Contains(steps, nodeGroups+"replace"), "a group is replaced: %q", steps)
	}
	rolls := slices.Contains(steps, "aws:ec2:LaunchTemplate update") || c.name == "next minor"
	assert.Check(t, c.effect != config.RollsNodes || rolls, "no nodes are rolled: %q", steps)
	assert.Check(t, c.effect != config.InPlace || !rolls, "nodes are rolled: %q", steps)
}

// refusedForAll: what one cluster cannot become keeps the run on several from starting.
func (p project) refusedForAll(t *testing.T, file, text string) {
	t.Helper()
	another(t, p, "demo", "second", "10.21.0.0/16")
	defer p.write(t, file, text)
	p.write(t, file, strings.Replace(text, "  admins:\n", "  secretsEncryption: {enabled: false}\n  admins:\n", 1))
	p.run(t, "up", "--all", "--yes").ends(t, 3, "kubernetes.secretsEncryption.enabled: cannot change on the live cluster (true -> false, needs rebuild)")
	assert.Check(t, is.Len(p.made(t, "aws:eks/cluster:Cluster"), 1))
	assert.NilError(t, os.Remove(filepath.Join(p.dir, "clusters", "second.yaml")))
}

// appliesChanges: a handful of changes for real; afterwards the file and the cluster agree.
func (p project) appliesChanges(t *testing.T, file, text string) {
	t.Helper()
	for _, c := range []effectCase{
		{replace: []string{sizeLine, sizeLine + "\n      diskGiB: 80", "team: platform", "team: other", "  admins:\n", "  logs: [api]\n  addons: [{name: vpc-cni}, {name: kube-proxy}, {name: coredns}, {name: eks-pod-identity-agent}, {name: aws-ebs-csi-driver, identity: {}}]\n  admins:\n"}},
		{replace: []string{"diskGiB: 80", "diskGiB: 80\n      capacity: spot"}},
	} {
		c.changeFile(t, p, file, text)
		text = p.read(t, file)
		cluster := p.made(t, "aws:eks/cluster:Cluster")
		p.up(t, "demo")
		assert.DeepEqual(t, p.made(t, "aws:eks/cluster:Cluster"), cluster)
		p.unchanged(t, "demo")
		assert.Check(t, is.Equal(p.must(t, "validate", "demo", "--live"), ""))
	}
}
