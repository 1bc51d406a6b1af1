package aws

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/eks"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/stacks/core/live"
)

// asMade are resources as a state has them of the cluster demo.
func asMade() live.Resources {
	resource := func(token, name string, outputs map[string]any) live.Resource {
		return live.New("urn:pulumi:demo-core::tombolo::"+token+"::"+name, token, outputs)
	}
	tags := map[string]any{"Name": "demo-system", "tombolo:cluster": "demo", "tombolo:environment": "dev", "team": "platform"}
	return live.Resources{
		resource(clusterToken, "demo-control-plane-eksCluster", map[string]any{
			"name": "demo", "arn": "arn:aws:eks:eu-central-1:111122223333:cluster/demo", "version": "1.34",
			"enabledClusterLogTypes": []any{"api"}, "encryptionConfig": map[string]any{"provider": map[string]any{"keyArn": "arn:key"}},
			"vpcConfig": map[string]any{"endpointPrivateAccess": true, "endpointPublicAccess": false, "subnetIds": []any{"subnet-a", "subnet-b"}},
		}),
		resource(keyToken, "demo-secrets", map[string]any{"arn": "arn:key"}),
		resource(logGroupToken, "demo-logs", map[string]any{"retentionInDays": 90.0}),
		resource(vpcToken, "demo-vpc", map[string]any{"cidrBlock": "10.0.0.0/16"}),
		resource(subnetToken, "demo-private-eu-central-1a", map[string]any{"availabilityZone": "eu-central-1a", "cidrBlock": "10.0.0.0/18", "arn": "arn:aws:ec2:eu-central-1:1:subnet/subnet-a"}),
		resource(subnetToken, "demo-private-eu-central-1b", map[string]any{"availabilityZone": "eu-central-1b", "cidrBlock": "10.0.64.0/18", "arn": "arn:aws:ec2:eu-central-1:1:subnet/subnet-b"}),
		resource(subnetToken, "demo-private-eu-central-1c", map[string]any{"availabilityZone": "eu-central-1c", "cidrBlock": "10.0.128.0/18", "arn": "arn:aws:ec2:eu-central-1:1:subnet/subnet-c"}),
		resource(flowLogToken, "demo-flow-logs", map[string]any{"trafficType": "REJECT", "logDestinationType": "cloud-watch-logs"}),
		resource(logGroupToken, "demo-flow-logs", map[string]any{"retentionInDays": 30.0}),
		resource(natToken, "demo-nat-eu-central-1a", nil),
		resource(endpointToken, "demo-endpoint-ecr-api", map[string]any{"serviceName": "com.amazonaws.eu-central-1.ecr.api"}),
		resource(accessEntryToken, "demo-admin-ops", map[string]any{"principalArn": "arn:aws:iam::111122223333:role/ops"}),
		resource(roleToken, "demo-node-role", map[string]any{"path": "/tombolo/", "permissionsBoundary": "arn:boundary"}),
		resource(roleToken, "demo-cluster-role", map[string]any{"path": "/tombolo/", "permissionsBoundary": "arn:boundary"}),
		resource(accessEntryToken, "demo-access-devs", map[string]any{"principalArn": "arn:aws:iam::111122223333:role/devs", "kubernetesGroups": []any{"dev"}}),
		resource(accessPolicyToken, "demo-access-devs", map[string]any{
			"policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy", "accessScope": map[string]any{"type": "namespace", "namespaces": []any{"b", "a"}},
		}),
		resource(providerToken, "demo-identity-provider", map[string]any{"oidc": map[string]any{
			"issuerUrl": "https://auth.example.com/", "clientId": "kubernetes", "usernameClaim": "sub", "usernamePrefix": "oidc:", "groupsClaim": "groups", "groupsPrefix": "oidc:",
			"requiredClaims": map[string]any{"tenant": "acme"},
		}}),
		resource(templateToken, "demo-nodes-system", map[string]any{
			"tagSpecifications":   []any{map[string]any{"tags": tags}},
			"blockDeviceMappings": []any{map[string]any{"ebs": map[string]any{"volumeSize": 50.0, "volumeType": "gp3"}}},
		}),
		resource(nodeGroupToken, "demo-nodes-system", map[string]any{
			"amiType": "AL2023_x86_64_STANDARD", "nodeRoleArn": "arn:aws:iam::111122223333:role/tombolo/demo-node", "updateConfig": map[string]any{"maxUnavailablePercentage": 33.0}, "subnetIds": []any{"subnet-a", "subnet-b", "subnet-c"},
			"instanceTypes": []any{"m7i.large"}, "capacityType": "SPOT", "scalingConfig": map[string]any{"minSize": 2.0, "maxSize": 4.0},
			"labels": map[string]any{"a": "b"}, "taints": []any{map[string]any{"key": "k", "value": "v", "effect": "NO_EXECUTE"}},
		}),
		resource(ingressRuleToken, "demo-api-from-10.8.0.0-16", map[string]any{"cidrIpv4": "10.8.0.0/16"}),
		resource(ingressRuleToken, "demo-api-from-sg-1", map[string]any{"referencedSecurityGroupId": "sg-1"}),
		resource(ingressRuleToken, "demo-endpoints-https", map[string]any{"cidrIpv4": "10.0.0.0/16"}),
		resource(managedAddonToken, "demo-addon-coredns", map[string]any{"addonName": "coredns", "addonVersion": "v1", "configurationValues": `{"replicaCount": 3}`}),
		resource(managedAddonToken, "demo-addon-vpc-cni", map[string]any{"addonName": "vpc-cni", "serviceAccountRoleArn": "arn:aws:iam::111122223333:role/demo-cni"}),
		resource(managedAddonToken, "demo-addon-aws-ebs-csi-driver", map[string]any{"addonName": "aws-ebs-csi-driver", "serviceAccountRoleArn": "arn:aws:iam::111122223333:role/demo-eks-aws-ebs-csi-driver"}),
		resource(managedAddonToken, "demo-addon-adot", map[string]any{"addonName": "adot", "serviceAccountRoleArn": "arn:aws:iam::111122223333:role/team/adot"}),
	}
}

// fileOf is the cluster file that asMade comes from.
func fileOf() *config.Cluster {
	two, four := 2, 4
	return &config.Cluster{
		Name: "demo", Environment: "dev", Tags: map[string]string{"team": "platform"},
		Cloud:   config.Cloud{Provider: config.AWS, Region: "eu-central-1", Account: "111122223333", Roles: config.Roles{Path: "/tombolo/", PermissionsBoundary: "arn:boundary"}},
		Network: config.Network{CIDR: "10.0.0.0/16", Zones: []string{"eu-central-1a", "eu-central-1b", "eu-central-1c"}, NAT: config.NATSingle, Endpoints: []string{"ecr.api"}, FlowLogs: &config.FlowLogs{To: config.FlowLogsToCloudWatch, Traffic: config.RejectedTraffic, RetentionDays: 30}},
		Kubernetes: config.Kubernetes{
			Version: "1.34", Compute: config.NodeGroupCompute, Logs: []string{"api"}, LogRetentionDays: 90, Endpoint: config.Endpoint{Private: new(true), PrivateCIDRs: []string{"10.8.0.0/16"}, SecurityGroups: []string{"sg-1"}},
			SecretsEncryption: config.SecretsEncryption{Enabled: new(true)},
			Admins:            []config.Principal{{Name: "ops", PrincipalARN: "arn:aws:iam::111122223333:role/ops"}},
			Access: []config.Access{{
				Name: "devs", PrincipalARN: "arn:aws:iam::111122223333:role/devs", Policy: config.AccessEdit, Namespaces: []string{"a", "b"}, Groups: []string{"dev"},
			}},
			IdentityProvider: &config.IdentityProvider{
				IssuerURL: "https://auth.example.com/", ClientID: "kubernetes", UsernameClaim: "sub", UsernamePrefix: "oidc:", GroupsClaim: "groups", GroupsPrefix: "oidc:",
				RequiredClaims: map[string]string{"tenant": "acme"},
			},
			NodeGroups: []config.NodeGroup{{
				Name: "system", InstanceTypes: []string{"m7i.large"}, Capacity: config.Spot, AMI: config.AL2023, DiskGiB: 50, Volume: config.NodeVolume{Type: config.GP3}, Update: config.NodeUpdate{MaxUnavailablePercent: 33}, Size: config.Size{Min: &two, Max: &four},
				Labels: map[string]string{"a": "b"}, Taints: []config.Taint{{Key: "k", Value: "v", Effect: config.NoExecute}},
			}},
			Addons: []config.ManagedAddon{
				{Name: "coredns", Configuration: map[string]any{"replicaCount": 3}},
				{Name: "vpc-cni"},
				{Name: "aws-ebs-csi-driver", Identity: &config.AddonIdentity{PolicyARNs: []string{"arn:aws:iam::aws:policy/AmazonEBSCSIDriverEKSClusterScopedPolicy"}}},
				{Name: "adot", Identity: &config.AddonIdentity{RoleARN: "arn:aws:iam::111122223333:role/team/adot"}},
			},
		},
	}
}

// TestLive: the resources of a file tell that file, and a change of it shows.
func TestLive(t *testing.T) {
	found := Live(fileOf(), asMade())
	assert.Assert(t, is.Len(config.Compare(found, fileOf()), 0), "%v", config.Compare(found, fileOf()))
	assert.DeepEqual(t, found.ControlPlaneZones, []string{"eu-central-1a", "eu-central-1b"})
	for path, change := range map[string]func(*config.Cluster){
		"network.cidr":                         func(c *config.Cluster) { c.Network.CIDR = "10.1.0.0/16" },
		"network.zones":                        func(c *config.Cluster) { c.Network.Zones = c.Network.Zones[:2] },
		"network.flowLogs":                     func(c *config.Cluster) { c.Network.FlowLogs = nil },
		"network.flowLogs.retentionDays":       func(c *config.Cluster) { c.Network.FlowLogs.RetentionDays = 90 },
		"network.existing":                     func(c *config.Cluster) { c.Network = config.Network{Existing: &config.ExistingNetwork{VPC: "vpc-1"}} },
		"cloud.account":                        func(c *config.Cluster) { c.Cloud.Account = "444455556666" },
		"tags":                                 func(c *config.Cluster) { c.Tags = nil },
		"kubernetes.secretsEncryption.enabled": func(c *config.Cluster) { c.Kubernetes.SecretsEncryption.Enabled = new(false) },
		"kubernetes.secretsEncryption.keyArn":  func(c *config.Cluster) { c.Kubernetes.SecretsEncryption.KeyARN = "arn:other" },
		"kubernetes.nodeGroups[0].taints":      func(c *config.Cluster) { c.Kubernetes.NodeGroups[0].Taints = nil },
		"kubernetes.nodeGroups[0].size.max":    func(c *config.Cluster) { c.Kubernetes.NodeGroups[0].Size.Max = new(5) },
		"kubernetes.addons[0].version":         func(c *config.Cluster) { c.Kubernetes.Addons[0].Version = "v2" },
		"kubernetes.addons[0].configuration":   func(c *config.Cluster) { c.Kubernetes.Addons[0].Configuration = nil },
		"kubernetes.addons[2].identity":        func(c *config.Cluster) { c.Kubernetes.Addons[2].Identity = nil },
		"kubernetes.addons[2].identity.roleArn": func(c *config.Cluster) {
			c.Kubernetes.Addons[2].Identity = &config.AddonIdentity{RoleARN: "arn:aws:iam::111122223333:role/ebs"}
		},
		"kubernetes.addons[1].identity": func(c *config.Cluster) {
			c.Kubernetes.Addons[1].Identity = &config.AddonIdentity{RoleARN: "arn:aws:iam::111122223333:role/cni"}
		},
		"kubernetes.addons[3].identity.roleArn": func(c *config.Cluster) {
			c.Kubernetes.Addons[3].Identity.RoleARN = "arn:aws:iam::111122223333:role/other"
		},
		"kubernetes.compute":                func(c *config.Cluster) { c.Kubernetes.Compute = config.AutoCompute },
		"kubernetes.logKeyArn":              func(c *config.Cluster) { c.Kubernetes.LogKeyARN = "arn:key" },
		"kubernetes.logRetentionDays":       func(c *config.Cluster) { c.Kubernetes.LogRetentionDays = 30 },
		"kubernetes.endpoint.public":        func(c *config.Cluster) { c.Kubernetes.Endpoint.Public = true },
		"cloud.roles.given.cluster":         func(c *config.Cluster) { c.Cloud.Roles.Given.Cluster = "arn:aws:iam::111122223333:role/eks" },
		"cloud.roles.given.nodes":           func(c *config.Cluster) { c.Cloud.Roles.Given.Nodes = "arn:aws:iam::111122223333:role/nodes" },
		"cloud.roles.path":                  func(c *config.Cluster) { c.Cloud.Roles.Path = "/" },
		"cloud.roles.permissionsBoundary":   func(c *config.Cluster) { c.Cloud.Roles.PermissionsBoundary = "" },
		"kubernetes.access":                 func(c *config.Cluster) { c.Kubernetes.Access = nil },
		"kubernetes.access[0].policy":       func(c *config.Cluster) { c.Kubernetes.Access[0].Policy = config.AccessView },
		"kubernetes.access[0].namespaces":   func(c *config.Cluster) { c.Kubernetes.Access[0].Namespaces = nil },
		"kubernetes.access[0].groups":       func(c *config.Cluster) { c.Kubernetes.Access[0].Groups = nil },
		"kubernetes.access[0].principalArn": func(c *config.Cluster) { c.Kubernetes.Access[0].PrincipalARN = "arn:other" },
		"kubernetes.admins[0].principalArn": func(c *config.Cluster) { c.Kubernetes.Admins[0].PrincipalARN = "arn:aws:iam::111122223333:role/other" },
		"kubernetes.identityProvider":       func(c *config.Cluster) { c.Kubernetes.IdentityProvider = nil },
		"kubernetes.identityProvider.issuerUrl": func(c *config.Cluster) {
			c.Kubernetes.IdentityProvider.IssuerURL = "https://other.example.com/"
		},
		"kubernetes.identityProvider.requiredClaims": func(c *config.Cluster) { c.Kubernetes.IdentityProvider.RequiredClaims = nil },
		"kubernetes.endpoint.privateCidrs":           func(c *config.Cluster) { c.Kubernetes.Endpoint.PrivateCIDRs = nil },
		"kubernetes.endpoint.securityGroups":         func(c *config.Cluster) { c.Kubernetes.Endpoint.SecurityGroups = []string{"sg-2"} },
	} {
		file := fileOf()
		change(file)
		changes := config.Compare(Live(file, asMade()), file)
		assert.Check(t, len(changes) == 1 && changes[0].Path == path, "%s: found %v", path, changes)
	}
}

// TestNothingLives: a network alone can still become another one.
func TestNothingLives(t *testing.T) {
	assert.Assert(t, Live(fileOf(), asMade()[1:]) == nil)
}

// TestLiveNodeVersion: the file says how the version of the nodes is compared, and not
// which they have.
func TestLiveNodeVersion(t *testing.T) {
	for _, test := range []struct{ name, version, nodes, want string }{
		{"the file is as before an upgrade", "1.33", "", ""},
		{"nodes are to follow", "1.34", "", "1.33"},
		{"nodes are held", "1.34", "1.33", "1.33"},
	} {
		t.Run(test.name, func(t *testing.T) {
			made, file := asMade(), fileOf()
			for _, r := range made {
				if r.Type == nodeGroupToken {
					r.Outputs["version"] = "1.33"
				}
			}
			file.Kubernetes.Version, file.Kubernetes.NodeVersion = test.version, test.nodes
			found := Live(file, made)
			assert.Equal(t, found.NodeVersion, "1.33")
			assert.Equal(t, found.Cluster.Kubernetes.NodeVersion, test.want)
		})
	}
}

// TestLiveOfExisting: of a cluster that others own, only what core has added is known.
func TestLiveOfExisting(t *testing.T) {
	resource := func(token, name string, outputs map[string]any) live.Resource {
		return live.New("urn:pulumi:shop-core::tombolo::"+token+"::"+name, token, outputs)
	}
	all := live.Resources{
		resource(existingToken, "shop", map[string]any{"name": "main", "arn": "arn:aws:eks:eu-central-1:111122223333:cluster/main"}),
		resource(existingNetToken, "shop", map[string]any{"vpcId": "vpc-1"}),
		resource(oidcToken, "shop-oidc", map[string]any{"arn": "arn:provider"}),
		resource(accessEntryToken, "shop-admin-ops", map[string]any{"principalArn": "arn:aws:iam::111122223333:role/ops"}),
	}
	file := &config.Cluster{
		Name: "shop", Cloud: config.Cloud{Provider: config.AWS, Region: "eu-central-1", Account: "111122223333"},
		Kubernetes: config.Kubernetes{
			Existing: &config.ExistingCluster{Name: "main", CreateOIDCProvider: true},
			Admins:   []config.Principal{{Name: "ops", PrincipalARN: "arn:aws:iam::111122223333:role/ops"}},
		},
	}
	assert.Check(t, is.Len(config.Compare(Live(file, all), file), 0))
	file.Cloud.Region, file.Kubernetes.Admins, file.Kubernetes.Existing.Name = "eu-west-1", nil, "other"
	var paths []string
	for _, c := range config.Compare(Live(file, all), file) {
		paths = append(paths, c.Path+" "+string(c.Effect))
	}
	assert.Check(t, is.DeepEqual(paths, []string{"cloud.region needs rebuild", "kubernetes.existing.name impossible", "kubernetes.admins in place"}))
}

// TestLiveGivenRoles: roles that core has not made are others', which the state tells by what
// uses them.
func TestLiveGivenRoles(t *testing.T) {
	const others = "arn:aws:iam::111122223333:role/team/"
	var made live.Resources
	for _, r := range asMade() {
		switch r.Type {
		case roleToken:
			continue
		case clusterToken:
			r.Outputs["roleArn"] = others + "eks"
		case nodeGroupToken:
			r.Outputs["nodeRoleArn"] = others + "nodes"
		}
		made = append(made, r)
	}
	add := func(token, name string, outputs map[string]any) {
		made = append(made, live.New("urn:pulumi:demo-core::tombolo::"+token+"::"+name, token, outputs))
	}
	add(roleToken, "demo-"+eks.GivenClusterRole, map[string]any{"path": "/team/", "arn": others + "eks"})
	add(identityToken, "demo-karpenter-role", map[string]any{"arn": others + "karpenter"})
	add(nodeRoleToken, "demo-karpenter-node", map[string]any{"roleArn": others + "karpenter-node"})
	add(identityToken, "demo-loki-role", map[string]any{"arn": "arn:aws:iam::111122223333:role/demo-loki"})
	add(roleToken, "demo-loki-role-role", map[string]any{"path": "/tombolo/", "permissionsBoundary": "arn:boundary"})

	file := fileOf()
	file.Addons = addon.Selection{"karpenter": addon.Find("karpenter").NewOptions(), "loki": addon.Find("loki").NewOptions()}
	file.Addons.SetDefaults()
	file.Cloud.Roles.Given = config.GivenRoles{
		Cluster: others + "eks", Nodes: others + "nodes", Addons: map[string]string{"karpenter": others + "karpenter", "karpenter-node": others + "karpenter-node"},
	}
	changes := config.Compare(Live(file, made), file)
	assert.Check(t, is.Len(changes, 0), "%v", changes)

	file.Cloud.Roles.Given = config.GivenRoles{Addons: map[string]string{"karpenter": others + "other", "karpenter-node": others + "karpenter-node"}}
	var found []string
	for _, c := range config.Compare(Live(file, made), file) {
		found = append(found, c.Path+" "+string(c.Effect))
	}
	assert.DeepEqual(t, found, []string{
		"cloud.roles.given.cluster needs rebuild", "cloud.roles.given.nodes replaces node group", "cloud.roles.given.addons in place",
	})
}

// TestLiveFileSystem: EFS keeps the key that a file system was made with.
func TestLiveFileSystem(t *testing.T) {
	const had, other = "arn:aws:kms:eu-central-1:111122223333:key/1", "arn:aws:kms:eu-central-1:111122223333:key/2"
	made := append(asMade(), live.New("urn:pulumi:demo-core::tombolo::"+fileSystemToken+"::demo-aws-efs-csi-driver-files-files", fileSystemToken, map[string]any{"kmsKeyId": had}))
	for key, want := range map[string]int{"": 0, had: 0, other: 1} {
		file := fileOf()
		file.Addons = addon.Selection{"aws-efs-csi-driver": &addon.EFSOptions{KMSKeyARN: key}}
		file.Addons.SetDefaults()
		changes := config.Compare(Live(file, made), file)
		assert.Check(t, is.Len(changes, want), "%q: %v", key, changes)
		for _, c := range changes {
			assert.Check(t, is.Equal(c.Path, "addons.aws-efs-csi-driver.kmsKeyArn"))
			assert.Check(t, is.Equal(c.Effect, config.NeedsRebuild))
		}
		assert.Check(t, is.Len(config.Compare(Live(file, asMade()), file), 0), "without a file system")
	}
}

// TestLiveControlPlaneSubnets: those of a control plane are compared with the file's when it
// has some, and else follow from the private ones.
func TestLiveControlPlaneSubnets(t *testing.T) {
	made := append(asMade(), live.New("urn:pulumi:demo-core::tombolo::"+existingNetToken+"::demo", existingNetToken, map[string]any{
		"vpcId": "vpc-1", "privateSubnetIds": []any{"subnet-a", "subnet-b", "subnet-c"},
	}))
	for _, test := range []struct {
		subnets []string
		want    int
	}{{nil, 0}, {[]string{"subnet-b", "subnet-a"}, 0}, {[]string{"subnet-c", "subnet-d"}, 1}} {
		file := fileOf()
		file.Network = config.Network{Existing: &config.ExistingNetwork{
			VPC: "vpc-1", PrivateSubnets: []string{"subnet-a", "subnet-b", "subnet-c"}, ControlPlaneSubnets: test.subnets,
		}}
		changes := config.Compare(Live(file, made), file)
		assert.Check(t, is.Len(changes, test.want), "%v: %v", test.subnets, changes)
		for _, c := range changes {
			assert.Check(t, is.Equal(c.Path, "network.existing.controlPlaneSubnets"))
			assert.Check(t, is.Equal(c.Effect, config.InPlace))
		}
	}
}
