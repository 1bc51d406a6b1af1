package azure

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/names"
	"tombolo/stacks/core/live"
	"tombolo/stacks/handoff"
	"tombolo/stacks/owner"
)

const (
	subscription = "00000000-0000-4000-8000-000000000001"
	tenant       = "00000000-0000-4000-8000-00000000000a"

	clientConfig = "azure-native:authorization:getClientConfig"
	getGroup     = "azure-native:resources:getResourceGroup"
	getZone      = "azure-native:network/v20240601:getPrivateZone"
	getVault     = "azure-native:keyvault/v20230701:getVault"
	getContainer = "azure-native:storage/v20230501:getBlobContainer"
	getSubnet    = "azure-native:network/v20190601:getSubnet"
	getVNet      = "azure-native:network/v20190601:getVirtualNetwork"
	getCluster   = "azure-native:containerservice/v20240901:getManagedCluster"
	getUser      = "azure-native:containerservice/v20240901:listManagedClusterUserCredentials"
)

// load reads one of config's own examples.
func load(t *testing.T, name string) *config.Cluster {
	t.Helper()
	c, err := config.Load(filepath.Join("..", "..", "..", "config", "testdata", "good", name+".yaml"))
	assert.NilError(t, err)
	return c
}

func refusing(text string) recorder.Answer {
	return func(resource.PropertyMap) (resource.PropertyMap, error) { return nil, errors.New(text) }
}

// account answers as the subscription of the examples does, where nothing is yet but what others
// own.
func account() *recorder.Recorder {
	return &recorder.Recorder{
		Outputs: map[string]resource.PropertyMap{
			"azure-native:managedidentity/v20230131:UserAssignedIdentity": {
				"clientId": resource.NewProperty("client"), "principalId": resource.NewProperty("principal"),
			},
			addressToken: {"ipAddress": resource.NewProperty("203.0.113.7")},
			clusterToken: resource.NewPropertyMapFromMap(map[string]any{
				"oidcIssuerProfile": map[string]any{"enabled": true, "issuerURL": "https://oidc.example/demo/"},
			}),
		},
		Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
			clientConfig: recorder.Answering(map[string]any{"tenantId": tenant, "subscriptionId": subscription, "clientId": "x", "objectId": "y"}),
			getGroup:     refusing("Status=404 Code=\"ResourceGroupNotFound\""),
			getZone:      recorder.Answering(map[string]any{"name": "corp.example"}),
			getVault: recorder.Answering(map[string]any{"name": "shop", "properties": map[string]any{
				"vaultUri": "https://shop.vault.azure.net/", "enableRbacAuthorization": true,
			}}),
			getContainer: recorder.Answering(map[string]any{"name": "loki"}),
			getSubnet: recorder.Answering(map[string]any{"name": "aks", "purpose": "", "routeTable": map[string]any{
				"id": "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/network-team/providers/Microsoft.Network/routeTables/egress", "name": "egress", "type": "x",
			}}),
			getVNet: recorder.Answering(map[string]any{"name": "shared", "type": "x", "addressSpace": map[string]any{"addressPrefixes": []any{"10.8.0.0/14"}}}),
			getUser: recorder.Answering(map[string]any{"kubeconfigs": []any{map[string]any{"name": "clusterUser", "value": base64.StdEncoding.EncodeToString(
				[]byte(`clusters: [{cluster: {server: "https://demo.example:443", certificate-authority-data: Q0E=}}]`))}}}),
			getCluster: recorder.Answering(map[string]any{
				"name": "platform", "id": "/subscriptions/" + subscription + "/resourceGroups/platform/providers/Microsoft.ContainerService/managedClusters/platform",
				"kubernetesVersion": "1.34", "nodeResourceGroup": "MC_platform", "powerState": map[string]any{"code": "Running"}, "aadProfile": map[string]any{"managed": true},
				"oidcIssuerProfile": map[string]any{"issuerURL": "https://oidc.example/platform/"},
				"securityProfile":   map[string]any{"workloadIdentity": map[string]any{"enabled": true}},
				"identityProfile":   map[string]any{"kubeletidentity": map[string]any{"clientId": "kubelet"}},
			}),
		},
	}
}

// build runs Build, and probes the hand-off. The state has these resources.
func build(r *recorder.Recorder, c *config.Cluster, had live.Resources, o ...pulumi.RunOption) error {
	return r.Run(c.Name+"-core", func(ctx *pulumi.Context) error {
		own, err := owner.New(ctx, "")
		if err != nil {
			return err
		}
		h, err := Build(ctx, c, c, own, had)
		if err != nil {
			return err
		}
		h.Owner = pulumi.String(own.ID).ToStringOutput()
		return recorder.Probe(ctx, pulumi.Map{
			"id": h.ClusterID, "endpoint": h.ClusterEndpoint, "ca": h.ClusterCA, "issuer": h.OIDCIssuer, "version": h.ClusterVersion,
			"group": h.Azure.ResourceGroup, "nodes": h.Azure.NodeResourceGroup, "vnet": h.Azure.VNetID, "cidr": h.Azure.VNetCIDR, "subnet": h.Azure.NodeSubnetID,
			"kubelet": h.Azure.KubeletClientID, "git": h.Azure.GitClientID, "services": h.Azure.ServiceClientIDs, "tenant": h.Azure.TenantID, "account": h.Azure.SubscriptionID,
		})
	}, o...)
}

// TestBuild registers what each of the examples consists of, as a preview of a new cluster does.
func TestBuild(t *testing.T) {
	for _, name := range []string{"azure-minimal", "azure-full", "azure-network", "azure-existing", "azure-spoke"} {
		t.Run(name, func(t *testing.T) {
			r := account()
			r.Sound(t, build(r, load(t, name), nil, recorder.Preview))
			r.GoldenRegistrations(t, "azure-native:", name+".json")
			for _, res := range r.All() {
				if res.Custom && res.Type != addressToken && len(res.Type) > 13 && res.Type[:13] == "azure-native:" {
					assert.Check(t, is.Contains(res.Provider, "pulumi:providers:azure-native::azure::"), "%s %s has another provider", res.Type, res.Name)
				}
			}
		})
	}
}

// TestProviders: each is for a subscription, and for no tenant or identity: these are the
// environment's.
func TestProviders(t *testing.T) {
	r := account()
	r.Sound(t, build(r, load(t, "azure-network"), nil))
	got := map[string]string{}
	for _, p := range r.OfType("pulumi:providers:azure-native") {
		got[p.Name] = p.String("subscriptionId")
		for _, key := range []resource.PropertyKey{"tenantId", "clientId", "clientSecret"} {
			_, given := p.Inputs[key]
			assert.Check(t, !given, "the provider has %s", key)
		}
	}
	const others = "00000000-0000-4000-8000-000000000002"
	assert.DeepEqual(t, got, map[string]string{"azure": subscription, "azure-network": others, "azure-external-secrets": others, "azure-loki": others})
}

func TestHandOff(t *testing.T) {
	r := account()
	r.Sound(t, build(r, load(t, "azure-full"), nil))
	const group = "/subscriptions/" + subscription + "/resourceGroups/platform-azure-full"
	r.Probed().Expect(t, map[string]string{
		"id": group + "/providers/Microsoft.ContainerService/managedClusters/azure-full", "endpoint": "https://demo.example:443", "ca": "Q0E=",
		"issuer": "https://oidc.example/demo/", "version": "1.35", "group": "platform-azure-full", "nodes": "platform-azure-full-nodes",
		"vnet": group + "/providers/Microsoft.Network/virtualNetworks/azure-full", "cidr": "10.20.0.0/16",
		"subnet":  group + "/providers/Microsoft.Network/virtualNetworks/azure-full/subnets/azure-full-nodes",
		"kubelet": "client", "git": "", "services.orders": "client", "tenant": tenant, "account": subscription,
	})
}

// TestExistingClusterWithIdentities makes a group of its own for them, and nothing else.
func TestExistingClusterWithIdentities(t *testing.T) {
	c := load(t, "azure-existing")
	c.Services = []config.Service{{Name: "shop", Namespace: "shop", Identity: &config.Identity{ServiceAccount: "shop", Mode: config.WorkloadIdentity}}}
	r := account()
	r.Sound(t, build(r, c, nil, recorder.Preview))
	r.GoldenRegistrations(t, "azure-native:", "azure-existing-identities.json")
	r.Probed().Expect(t, map[string]string{"id": "/subscriptions/" + subscription + "/resourceGroups/platform/providers/Microsoft.ContainerService/managedClusters/platform", "vnet": "", "services.shop": "client"})
}

// TestGitIdentity: the service account of what reads Git is trusted, and the identity has no role. An existing
// cluster gets a group for it.
func TestGitIdentity(t *testing.T) {
	const credential = "azure-native:managedidentity/v20230131:FederatedIdentityCredential"
	for engine, reader := range map[config.Engine]string{config.Flux: "flux-system:source-controller", config.ArgoCD: "argocd:argocd-repo-server"} {
		c := load(t, "azure-existing")
		c.GitOps = config.GitOps{Engine: engine, Hub: c.Name, Auth: &config.Auth{Type: config.AuthWorkloadIdentity}}
		r := account()
		r.Sound(t, build(r, c.ForCore(), nil))
		trusted := r.OfType(credential)
		assert.Assert(t, is.Len(trusted, 1))
		trusted[0].Expect(t, map[string]string{"subject": "system:serviceaccount:" + reader, "resourceName": "azure-existing-git", "audiences[0]": "api://AzureADTokenExchange"})
		assert.Check(t, is.Len(r.OfType(groupToken), 1))
		assert.Check(t, is.Len(r.OfType("azure-native:authorization/v20220401:RoleAssignment"), 0))
		r.Probed().Expect(t, map[string]string{"git": "client"})
	}
}

func TestGuard(t *testing.T) {
	for _, test := range []struct {
		answer recorder.Answer
		want   string
	}{
		{
			recorder.Answering(map[string]any{"tenantId": "t", "subscriptionId": subscription}),
			"the Azure credentials are of tenant t, but the cluster file allows " + tenant + " only; use credentials of that tenant, by az login or",
		},
		{
			recorder.Answering(map[string]any{"tenantId": tenant, "subscriptionId": "s"}),
			"the Azure credentials are of subscription s, but the cluster file allows " + subscription + " only; use credentials of " + subscription + " or correct cloud.account",
		},
		{refusing("no token"), "find out the tenant of the Azure credentials (the cluster file allows subscription " + subscription + " of tenant " + tenant + " only): "},
		{
			func(resource.PropertyMap) (resource.PropertyMap, error) { return nil, status.Error(codes.Canceled, "") },
			"the Azure provider did not start; the cluster file allows subscription " + subscription + " of tenant " + tenant + " only: use credentials",
		},
	} {
		r := account()
		r.Invokes[clientConfig] = test.answer
		assert.Check(t, is.ErrorContains(build(r, load(t, "azure-minimal"), nil), test.want))
		assert.Check(t, is.Len(r.OfType(groupToken), 0), "something was made")
	}
}

// group of a name with tags, where there is one.
func group(name string, tags map[string]any) recorder.Answer {
	return func(args resource.PropertyMap) (resource.PropertyMap, error) {
		if args["resourceGroupName"].StringValue() != name {
			return nil, errors.New("ResourceGroupNotFound")
		}
		return resource.NewPropertyMapFromMap(map[string]any{
			"id": "/subscriptions/" + subscription + "/resourceGroups/" + name, "name": name, "location": "x", "type": "x", "tags": tags,
			"properties": map[string]any{"provisioningState": "Succeeded"},
		}), nil
	}
}

func TestStrangers(t *testing.T) {
	others := map[string]any{names.OwnerTag: "other", names.BackendTag: "b0b0b0b0"}
	begun := live.Resources{{Type: groupToken, Name: "azure-minimal-group"}}
	for name, test := range map[string]struct {
		answer recorder.Answer
		had    live.Resources
		want   string
	}{
		"nothing":                     {refusing("ResourceGroupNotFound"), nil, ""},
		"another cluster's":           {group("azure-minimal", others), nil, "has the resource group /subscriptions/" + subscription + "/resourceGroups/azure-minimal of another cluster (owner other, made on the backend with the fingerprint b0b0b0b0); nothing was made: use the backend"},
		"another cluster's, since":    {group("azure-minimal", others), begun, "of another cluster (owner other"},
		"another tool's":              {group("azure-minimal", map[string]any{}), nil, "already, and Tombolo did not make it; nothing was made: name another one in cloud.resourceGroup"},
		"ours, from before its owner": {group("azure-minimal", map[string]any{}), begun, ""},
		"nodes of others":             {group("azure-minimal-nodes", map[string]any{}), begun, "name another one in kubernetes.nodeResourceGroup"},
		"no right to look":            {refusing("AuthorizationFailed"), nil, "look for the resource group azure-minimal in subscription " + subscription},
		"no such subscription":        {refusing("SubscriptionNotFound"), nil, "check cloud.account, and allow Microsoft.Resources/subscriptions/resourceGroups/read"},
	} {
		t.Run(name, func(t *testing.T) {
			r := account()
			r.Invokes[getGroup] = test.answer
			err := build(r, load(t, "azure-minimal"), test.had)
			if test.want == "" {
				assert.NilError(t, err)
				return
			}
			assert.Check(t, is.ErrorContains(err, test.want))
			assert.Check(t, is.Len(r.OfType(groupToken), 0), "something was made")
		})
	}
}

// TestOverlap: blocks of a network of others are known only to Azure.
func TestOverlap(t *testing.T) {
	for block, want := range map[string]string{
		"10.8.0.0/14": "", "172.16.0.0/12": "the network's block 172.16.0.0/12 overlaps 172.20.0.0/16 of kubernetes.serviceCidr: set serviceCidr in the cluster file to a block outside of 172.16.0.0/12",
		"10.240.0.0/12": "overlaps 10.244.0.0/16 of kubernetes.podCidr", "fd00::/48": "",
	} {
		r := account()
		r.Invokes[getVNet] = recorder.Answering(map[string]any{"name": "shared", "type": "x", "addressSpace": map[string]any{"addressPrefixes": []any{block}}})
		err := build(r, load(t, "azure-network"), nil)
		if want == "" {
			assert.NilError(t, err)
			continue
		}
		assert.Check(t, is.ErrorContains(err, want))
	}
}

// stateOf are the resources that a run has registered, as a state has them: Azure answers with
// what it was asked for.
func stateOf(t *testing.T, r *recorder.Recorder, c *config.Cluster) live.Resources {
	t.Helper()
	var all live.Resources
	for _, res := range r.All() {
		outputs := res.Inputs.MapRepl(nil, func(v resource.PropertyValue) (any, bool) {
			if v.IsSecret() {
				return nil, true
			}
			return nil, false
		})
		maps.Copy(outputs, r.Outputs[res.Type].Mappable())
		id := fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/x/y/z", c.Cloud.Account, c.Cloud.ResourceGroup)
		switch res.Type {
		case clusterToken:
			outputs["name"] = outputs["resourceName"]
		case poolToken:
			if outputs["scaleSetPriority"] == "Spot" { // as AKS does by itself
				outputs["nodeLabels"] = map[string]any{"kubernetes.azure.com/scalesetpriority": "spot"}
				outputs["nodeTaints"] = []any{"kubernetes.azure.com/scalesetpriority=spot:NoSchedule"}
			}
		case ownToken:
			outputs["resourceId"] = id
		case existingToken:
			outputs["resourceId"] = fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/x", c.Cloud.Account, c.Kubernetes.Existing.ResourceGroup)
		}
		all = append(all, live.Resource{Type: res.Type, Name: res.Name, Outputs: outputs})
	}
	return all
}

// TestLive: what is made of a file tells that file.
func TestLive(t *testing.T) {
	for _, name := range []string{"azure-minimal", "azure-full", "azure-network", "azure-existing", "azure-spoke"} {
		t.Run(name, func(t *testing.T) {
			c, r := load(t, name), account()
			r.Sound(t, build(r, c, nil))
			found := Live(c, stateOf(t, r, c))
			assert.Assert(t, found != nil)
			for _, change := range config.Compare(found, c) {
				t.Errorf("an unchanged file differs: %s", change)
			}
			for _, known := range []string{"Cluster.Name", "Cloud.Provider", "Cloud.Account"} {
				assert.Check(t, is.Contains(found.Known, known))
			}
		})
	}
	assert.Check(t, Live(load(t, "azure-minimal"), nil) == nil)
}

// TestChanges: what differs is told by its key.
func TestChanges(t *testing.T) {
	c, r := load(t, "azure-full"), account()
	r.Sound(t, build(r, c, nil))
	state := stateOf(t, r, c)
	for key, change := range map[string]func(*config.Cluster){
		"kubernetes.version":                func(c *config.Cluster) { c.Kubernetes.Version = "1.36" },
		"kubernetes.tier":                   func(c *config.Cluster) { c.Kubernetes.Tier = config.StandardTier },
		"kubernetes.endpoint.allowedCidrs":  func(c *config.Cluster) { c.Kubernetes.Endpoint.AllowedCIDRs = []string{"203.0.113.0/24"} },
		"kubernetes.nodeGroups[1].size.max": func(c *config.Cluster) { c.Kubernetes.NodeGroups[1].Size.Max = new(21) },
		"kubernetes.nodeGroups[0].vmSize":   func(c *config.Cluster) { c.Kubernetes.NodeGroups[0].VMSize = "Standard_D8s_v5" },
		"kubernetes.nodeGroups[0].taints":   func(c *config.Cluster) { c.Kubernetes.NodeGroups[0].Taints = nil },
		"kubernetes.nodeGroups[2].labels":   func(c *config.Cluster) { c.Kubernetes.NodeGroups[2].Labels = map[string]string{"a": "b"} },
		"kubernetes.admins[1]": func(c *config.Cluster) {
			c.Kubernetes.Admins = append(c.Kubernetes.Admins, config.Principal{Name: "more", Group: "g"})
		},
		"egress.proxy.url":                         func(c *config.Cluster) { c.Egress.Proxy.URL = "http://other.example:3128" },
		"kubernetes.secretsEncryption.enabled":     func(c *config.Cluster) { c.Kubernetes.SecretsEncryption.Enabled = new(false) },
		"kubernetes.secretsEncryption.keyId":       func(c *config.Cluster) { c.Kubernetes.SecretsEncryption.KeyID += "2" },
		"kubernetes.secretsEncryption.vault":       func(c *config.Cluster) { c.Kubernetes.SecretsEncryption.Vault += "2" },
		"tags":                                     func(c *config.Cluster) { c.Tags = map[string]string{"team": "other"} },
		"network.outbound":                         func(c *config.Cluster) { c.Network.Outbound = config.OutboundLoadBalancer },
		"network.cidr":                             func(c *config.Cluster) { c.Network.CIDR = "10.21.0.0/16" },
		"cloud.resourceGroup":                      func(c *config.Cluster) { c.Cloud.ResourceGroup = "other" },
		"kubernetes.upgrades.nodeImages":           func(c *config.Cluster) { c.Kubernetes.Upgrades.NodeImages = config.NoImages },
		"kubernetes.nodeGroups[0].update.maxSurge": func(c *config.Cluster) { c.Kubernetes.NodeGroups[0].Update.MaxSurge = "50%" },
	} {
		file := load(t, "azure-full")
		change(file)
		var keys []string
		for _, found := range config.Compare(Live(file, state), file) {
			keys = append(keys, found.Path)
		}
		assert.Check(t, is.Equal(strings.Join(keys, " "), key))
	}
}

// TestSecretsKey: a key that is turned off leaves the control plane its role, and AKS is told of it as
// long as it knows of a key; the next up has nothing to do.
func TestSecretsKey(t *testing.T) {
	const enabled, role = "securityProfile.azureKeyVaultKms.enabled", "azure-full-control-plane-secrets"
	c, r := load(t, "azure-full"), account()
	r.Sound(t, build(r, c, nil))
	state := stateOf(t, r, c)
	granted := func(r *recorder.Recorder) bool {
		return slices.ContainsFunc(r.OfType(assignmentToken), func(res recorder.Resource) bool { return res.Name == role })
	}
	again := func() *recorder.Recorder {
		r := account()
		r.Invokes[getGroup] = group("platform-azure-full", map[string]any{})
		r.Invokes[getCluster] = recorder.Answering(map[string]any{"name": c.Name})
		return r.Sound(t, build(r, c, state))
	}
	c.Kubernetes.SecretsEncryption.Enabled = new(false)
	r = again()
	r.OfType(clusterToken)[0].Expect(t, map[string]string{enabled: "false", "securityProfile.azureKeyVaultKms.keyId": ""})
	assert.Check(t, granted(r))
	state = stateOf(t, r, c)
	assert.Check(t, is.Len(config.Compare(Live(c, state), c), 0))

	c.Kubernetes.SecretsEncryption = config.SecretsEncryption{}
	for _, change := range config.Compare(Live(c, state), c) {
		assert.Check(t, !change.Effect.Refused(), "%s", change)
	}
	r = again()
	r.OfType(clusterToken)[0].Expect(t, map[string]string{enabled: "false"})
	assert.Check(t, !granted(r))
	state = stateOf(t, r, c)
	assert.Check(t, is.Len(config.Compare(Live(c, state), c), 0))
}

// TestDirectOfAKS: what AKS adds to the list of what is reached directly is no change of the file,
// in a network of others neither, and what somebody else adds is one.
func TestDirectOfAKS(t *testing.T) {
	for _, name := range []string{"azure-full", "azure-network"} {
		c, r := load(t, name), account()
		c.Egress.Proxy = config.Proxy{URL: "http://proxy.corp.example:3128", NoProxy: []string{".corp.example"}}
		r.Sound(t, build(r, c, nil))
		state := stateOf(t, r, c)
		add := func(names ...any) {
			for _, res := range state {
				if res.Type == clusterToken {
					res.Outputs["fqdn"], res.Outputs["privateFQDN"] = "aks-1.hcp.germanywestcentral.azmk8s.io", "aks-1.privatelink.germanywestcentral.azmk8s.io"
					proxy := res.Outputs["httpProxyConfig"].(map[string]any)
					proxy["noProxy"] = append(names, proxy["noProxy"].([]any)...)
				}
				if res.Type == subnetToken {
					res.Outputs["cidr"] = "10.40.0.0/16,10.41.0.0/16"
					names = append(names, "10.41.0.0/16")
				}
			}
		}
		add("konnectivity", "aks-1.hcp.germanywestcentral.azmk8s.io", "aks-1.privatelink.germanywestcentral.azmk8s.io")
		assert.Check(t, is.Len(config.Compare(Live(c, state), c), 0), name)
		add("other.example")
		changes := config.Compare(Live(c, state), c)
		assert.Check(t, len(changes) == 1 && changes[0].Path == "egress.proxy.noProxy", "%v", changes)
	}
}

// TestNumbersOfNodesStay: an up that changes something asks for the numbers that autoscalers have
// chosen, and one that changes nothing does not.
func TestNumbersOfNodesStay(t *testing.T) {
	c, r := load(t, "azure-full"), account()
	r.Sound(t, build(r, c, nil))
	state := stateOf(t, r, c)

	r = account()
	r.Invokes[getCluster] = refusing("nobody should ask")
	r.Invokes[getGroup] = group("platform-azure-full", map[string]any{})
	r.Sound(t, build(r, c, state))
	assert.Check(t, is.DeepEqual(r.OfType(clusterToken)[0].IgnoreChanges, []string{"agentPoolProfiles"}))

	c.Tags["team"] = "other"
	r = account()
	r.Invokes[getGroup] = group("platform-azure-full", map[string]any{})
	r.Invokes[getCluster] = recorder.Answering(map[string]any{"name": c.Name, "agentPoolProfiles": []any{
		map[string]any{"name": "system", "count": 4}, map[string]any{"name": "work", "count": 50}, map[string]any{"name": "batch", "count": 7},
	}})
	r.Sound(t, build(r, c, state))
	cluster := r.OfType(clusterToken)[0]
	cluster.Expect(t, map[string]string{"agentPoolProfiles[0].count": "4", "agentPoolProfiles[0].orchestratorVersion": "", "agentPoolProfiles[1].name": ""})
	assert.Check(t, is.Len(cluster.IgnoreChanges, 0))
	pools := r.OfType(poolToken)
	pools[0].Expect(t, map[string]string{"agentPoolName": "batch", "count": "7"})
	pools[1].Expect(t, map[string]string{"agentPoolName": "work", "count": "20"})

	r.Invokes[getCluster] = refusing("AuthorizationFailed")
	assert.Check(t, is.ErrorContains(build(r, c, state), "find out the versions and the numbers of nodes of cluster azure-full in resource group platform-azure-full: "))
	r.Invokes[getCluster] = refusing("ResourceNotFound")
	assert.NilError(t, build(r, c, state))
}

// TestVersionsOfAKS: where AKS upgrades minor versions by itself, it is not asked to go back, and
// the file's older version is no change.
func TestVersionsOfAKS(t *testing.T) {
	c, r := load(t, "azure-full"), account()
	c.Kubernetes.Version, c.Kubernetes.NodeVersion, c.Kubernetes.Upgrades.Kubernetes = "1.34", "", config.StableUpgrades
	r.Sound(t, build(r, c, nil))
	state := stateOf(t, r, c)
	upgrade := func(version, nodes string) {
		for i := range state {
			if state[i].Type == clusterToken {
				state[i].Outputs["kubernetesVersion"] = version
				state[i].Outputs["agentPoolProfiles"].([]any)[0].(map[string]any)["orchestratorVersion"] = nodes
			}
			if state[i].Type == poolToken {
				state[i].Outputs["orchestratorVersion"] = nodes
			}
		}
	}
	again := func(answer recorder.Answer) *recorder.Recorder {
		r := account()
		r.Invokes[getGroup] = group("platform-azure-full", map[string]any{})
		r.Invokes[getCluster] = answer
		return r.Sound(t, build(r, c, state))
	}
	upgrade("1.36", "1.35")
	assert.Check(t, is.Len(config.Compare(Live(c, state), c), 0))
	r = again(refusing("nobody should ask"))
	r.OfType(clusterToken)[0].Expect(t, map[string]string{"kubernetesVersion": "1.36", "agentPoolProfiles[0].orchestratorVersion": "1.35"})

	// Without a refresh only Azure knows.
	upgrade("1.34", "1.34")
	c.Tags["team"] = "other"
	r = again(recorder.Answering(map[string]any{"name": c.Name, "currentKubernetesVersion": "1.35.4", "agentPoolProfiles": []any{
		map[string]any{"name": "system", "count": 2, "currentOrchestratorVersion": "1.35.4"},
	}}))
	r.OfType(clusterToken)[0].Expect(t, map[string]string{"kubernetesVersion": "1.35", "agentPoolProfiles[0].orchestratorVersion": "", "agentPoolProfiles[1].name": ""})
	r.OfType(poolToken)[0].Expect(t, map[string]string{"orchestratorVersion": "1.35"})
}

// TestNodesAreMovedTogether: the cluster's inputs have all pools that live with their version when
// nodes go to another one, those that leave, too, and none that is new. A control plane goes alone
// without the versions of pools.
func TestNodesAreMovedTogether(t *testing.T) {
	c, r := load(t, "azure-full"), account()
	c.Kubernetes.Upgrades.Kubernetes = config.NoUpgrades
	r.Sound(t, build(r, c, nil))
	state := stateOf(t, r, c)
	var listed []any
	for _, name := range []string{"system", "batch", "work"} {
		listed = append(listed, map[string]any{"name": name, "count": 2, "currentOrchestratorVersion": "1.34.9"})
	}
	again := func(change func(*config.Cluster)) recorder.Resource {
		c, r := load(t, "azure-full"), account()
		c.Kubernetes.Upgrades.Kubernetes = config.NoUpgrades
		change(c)
		r.Invokes[getGroup] = group("platform-azure-full", map[string]any{})
		r.Invokes[getCluster] = recorder.Answering(map[string]any{"name": c.Name, "currentKubernetesVersion": "1.35.5", "agentPoolProfiles": listed})
		return r.Sound(t, build(r, c, state)).OfType(clusterToken)[0]
	}
	alone := again(func(c *config.Cluster) { c.Kubernetes.Version = "1.36" })
	alone.Expect(t, map[string]string{"kubernetesVersion": "1.36", "agentPoolProfiles[0].name": "system", "agentPoolProfiles[0].orchestratorVersion": "", "agentPoolProfiles[1].name": ""})

	nodes := again(func(c *config.Cluster) { c.Kubernetes.NodeVersion = "" })
	for i, name := range []string{"system", "work", "batch"} {
		at := fmt.Sprintf("agentPoolProfiles[%d].", i)
		nodes.Expect(t, map[string]string{at + "name": name, at + "orchestratorVersion": "1.35", at + "count": "2"})
	}
	nodes.Expect(t, map[string]string{"kubernetesVersion": "1.35", "agentPoolProfiles[2].scaleSetPriority": "Spot", "agentPoolProfiles[3].name": ""})

	exchanged := again(func(c *config.Cluster) {
		c.Kubernetes.NodeVersion, c.Kubernetes.NodeGroups[1].Name = "", "fresh"
	})
	exchanged.Expect(t, map[string]string{
		"agentPoolProfiles[1].name": "batch", "agentPoolProfiles[2].name": "work", "agentPoolProfiles[2].orchestratorVersion": "1.35",
		"agentPoolProfiles[2].vmSize": "Standard_E8ads_v5", "agentPoolProfiles[3].name": "",
	})
}

// TestRefreshedPools: Azure lists all pools as parts of the cluster, with the versions that they
// had then, and the state tells the same file.
func TestRefreshedPools(t *testing.T) {
	c, r := load(t, "azure-full"), account()
	r.Sound(t, build(r, c, nil))
	state := stateOf(t, r, c)
	for i := range state {
		if profiles, ok := state[i].Outputs["agentPoolProfiles"].([]any); ok {
			state[i].Outputs["agentPoolProfiles"] = append([]any{
				map[string]any{"name": "batch", "orchestratorVersion": "1.33"}, map[string]any{"name": "work"},
			}, profiles...)
		}
	}
	assert.Check(t, is.Len(config.Compare(Live(c, state), c), 0))
	r = account()
	r.Invokes[getGroup] = group("platform-azure-full", map[string]any{})
	r.Sound(t, build(r, c, state))
	assert.Check(t, is.DeepEqual(r.OfType(clusterToken)[0].IgnoreChanges, []string{"agentPoolProfiles"}))
}

// TestHandOffIsWhole: every field of the hand-off has a value.
func TestHandOffIsWhole(t *testing.T) {
	for _, name := range []string{"azure-full", "azure-existing"} {
		c := load(t, name)
		r := account()
		r.Sound(t, r.Run(c.Name+"-core", func(ctx *pulumi.Context) error {
			own, err := owner.New(ctx, "")
			if err != nil {
				return err
			}
			h, err := Build(ctx, c, c, own, nil)
			if err != nil {
				return err
			}
			h.Owner = pulumi.String(own.ID).ToStringOutput()
			return handoff.Export(ctx, h)
		}))
	}
}

// TestSystemsGroup: the group of a system is tagged with it, and one that is there already is
// not taken: what others have in it would be the system's.
func TestSystemsGroup(t *testing.T) {
	c := load(t, "azure-full")
	r := account()
	r.Sound(t, build(r, c, nil))
	groups := r.OfType(groupToken)
	assert.Assert(t, is.Len(groups, 2))
	for _, g := range groups {
		if g.Inputs["resourceGroupName"].StringValue() == "platform-shop" {
			assert.Check(t, is.Equal(g.Inputs["tags"].ObjectValue()[names.SystemTag].StringValue(), "shop"))
			assert.Check(t, g.Protect)
		}
	}

	r = account()
	r.Invokes[getGroup] = group("platform-shop", map[string]any{})
	assert.Check(t, is.ErrorContains(build(r, c, nil), "name another one in addons.azure-service-operator"))
	assert.Check(t, is.Len(r.OfType(groupToken), 0), "something was made")

	// From before its owner, and in the state: it is the cluster's.
	assert.NilError(t, build(r, c, live.Resources{{Type: groupToken, Name: "azure-full-addon-azure-service-operator-shop-group"}}))
}

// TestExistingClusterWithSystems makes a group for their identities.
func TestExistingClusterWithSystems(t *testing.T) {
	c := load(t, "azure-existing")
	c.Addons = addon.Selection{
		"cert-manager": addon.Find("cert-manager").NewOptions(),
		addon.ServiceOperator: &addon.OperatorOptions{
			CRDPatterns: []string{"storage.azure.com/*"}, Systems: []addon.OperatorSystem{{Name: "shop", ResourceGroup: "shop"}},
		},
	}
	r := account()
	r.Sound(t, build(r, c, nil, recorder.Preview))
	assert.Check(t, is.Len(r.OfType(groupToken), 2))
	credentials := r.OfType("azure-native:managedidentity/v20230131:FederatedIdentityCredential")
	assert.Assert(t, is.Len(credentials, 1))
	credentials[0].Expect(t, map[string]string{
		"subject":      "system:serviceaccount:azureserviceoperator-system:azureserviceoperator-default",
		"resourceName": config.AddonIdentityName(c.Name, addon.ServiceOperator, "shop"),
	})
}
