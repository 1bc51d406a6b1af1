package aks

import (
	"encoding/base64"
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/internal/armid"
)

const (
	subscription = "00000000-0000-4000-8000-000000000001"
	tenant       = "00000000-0000-4000-8000-00000000000a"
	admins       = "00000000-0000-4000-8000-0000000000a1"

	clusterToken  = "azure-native:containerservice/v20240901:ManagedCluster"
	poolToken     = "azure-native:containerservice/v20240901:AgentPool"
	roleToken     = "azure-native:authorization/v20220401:RoleAssignment"
	userToken     = "azure-native:containerservice/v20240901:listManagedClusterUserCredentials"
	clusterLookup = "azure-native:containerservice/v20240901:getManagedCluster"

	theirSubnet = "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/network-team/providers/Microsoft.Network/virtualNetworks/shared/subnets/aks"
	theirRoutes = "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/network-team/providers/Microsoft.Network/routeTables/egress"
	theirZone   = "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/dns/providers/Microsoft.Network/privateDnsZones/privatelink.germanywestcentral.azmk8s.io"
)

func clusterArgs() *ClusterArgs {
	subnet := armid.Subnet(subscription, "demo", "demo", "demo-nodes")
	return &ClusterArgs{
		Name: "demo", Subscription: subscription, Tenant: tenant, Location: "germanywestcentral",
		GroupName: "demo", ResourceGroup: pulumi.String("demo"), NodeResourceGroup: "demo-nodes",
		Version: "1.33", API: API{Private: true, PrivateDNSZone: SystemZone}, AdminGroups: []string{admins},
		Pools: []NodePool{{
			Name: "system", System: true, VMSize: "Standard_D4s_v5", OS: "AzureLinux", Min: 1, Max: 3, Desired: 2, MaxPods: 110, DiskGiB: 128, MaxSurge: "10%",
			Zones: []string{"1", "2"}, Taints: []Taint{{Key: "CriticalAddonsOnly", Value: "true", Effect: "NoSchedule"}},
		}},
		Outbound: OutboundNATGateway, PodCIDR: "10.244.0.0/16", ServiceCIDR: "172.20.0.0/16", DNSServiceIP: "172.20.0.10",
		SubnetID: subnet, SubnetReady: pulumi.String(subnet), GrantSubnet: true, VNetID: armid.Resource(subscription, "demo", armid.VirtualNetworks, "demo"),
		Tags: map[string]string{"tombolo:cluster": "demo"},
	}
}

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: demo, cluster: {server: "https://demo-abc.hcp.germanywestcentral.azmk8s.io:443", certificate-authority-data: Q0E=}}]
users: [{name: clusterUser, user: {exec: {command: kubelogin, args: [get-token, --login, devicecode]}}}]
`

// azure answers as Azure does.
func azure() *recorder.Recorder {
	return &recorder.Recorder{
		Outputs: map[string]resource.PropertyMap{
			"azure-native:managedidentity/v20230131:UserAssignedIdentity": {
				"clientId": resource.NewProperty("client"), "principalId": resource.NewProperty("principal"),
			},
			clusterToken: resource.NewPropertyMapFromMap(map[string]any{
				"oidcIssuerProfile": map[string]any{"enabled": true, "issuerURL": "https://oidc.example/demo/"},
			}),
		},
		Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
			userToken: answering(kubeconfig),
		},
	}
}

func answering(text string) func(resource.PropertyMap) (resource.PropertyMap, error) {
	return func(resource.PropertyMap) (resource.PropertyMap, error) {
		return resource.NewPropertyMapFromMap(map[string]any{"kubeconfigs": []any{
			map[string]any{"name": "clusterUser", "value": base64.StdEncoding.EncodeToString([]byte(text))},
		}}), nil
	}
}

// built runs NewCluster and probes what it puts out.
func built(t *testing.T, r *recorder.Recorder, change func(*ClusterArgs), o ...pulumi.RunOption) *recorder.Recorder {
	t.Helper()
	args := clusterArgs()
	if change != nil {
		change(args)
	}
	return r.Sound(t, r.Run("demo-core", recorder.Probing("demo", NewCluster, args, func(c *Cluster) pulumi.Map {
		return pulumi.Map{
			"name": c.Name, "id": c.ID, "version": c.Version, "endpoint": c.Endpoint, "ca": c.CA, "issuer": c.OIDCIssuer,
			"nodes": c.NodeResourceGroup, "kubelet": c.KubeletClientID,
		}
	}), o...))
}

func TestPrivateCluster(t *testing.T) {
	r := built(t, azure(), func(a *ClusterArgs) { a.Protect = true })
	r.GoldenRegistrations(t, "azure-native:", "private.json")
	r.Probed().Expect(t, map[string]string{
		"name": "demo", "id": armid.Resource(subscription, "demo", armid.ManagedClusters, "demo"), "version": "1.33",
		"endpoint": "https://demo-abc.hcp.germanywestcentral.azmk8s.io:443", "ca": "Q0E=", "issuer": "https://oidc.example/demo/",
		"nodes": "demo-nodes", "kubelet": "client",
	})
	for key := range r.Probed().Inputs {
		assert.Check(t, !r.Probed().Inputs[key].IsSecret(), "the output %s is a secret, and bootstrap and people need it", key)
	}
}

// TestPublicCluster has two pools more, one of spot capacity, and lets its own nodes in.
func TestPublicCluster(t *testing.T) {
	r := built(t, azure(), func(a *ClusterArgs) {
		a.API = API{AuthorizedRanges: []string{"192.0.2.0/24"}, OutboundIP: pulumi.String("203.0.113.7")}
		a.NodeVersion, a.Tier, a.LongTermSupport = "1.32", Premium, true
		a.UpgradeChannel, a.NodeImageChannel = UpgradeNone, ImagesSecurity
		a.Proxy = &Proxy{URL: "http://proxy.example:3128", NoProxy: []string{".svc"}, CertificateAuthority: "PEM"}
		a.Pools = append(a.Pools,
			NodePool{Name: "apps", VMSize: "Standard_D8s_v5", OS: "Ubuntu", Min: 1, Max: 9, Desired: 1, MaxPods: 50, DiskGiB: 128, MaxSurge: "33%", Labels: map[string]string{"pool": "apps"}},
			NodePool{Name: "cheap", VMSize: "Standard_D8s_v5", OS: "AzureLinux", Max: 5, MaxPods: 110, DiskGiB: 128, Spot: true, Taints: []Taint{{Key: "cheap", Effect: "NoSchedule"}}},
		)
	})
	r.GoldenRegistrations(t, "azure-native:containerservice", "public.json")
	r.Probed().ExpectAfter(t, "endpoint", "demo-cluster", "demo-pool-apps", "demo-pool-cheap")
}

// TestOpenCluster: without ranges, AKS lets the world in, and is asked for no range of our own.
func TestOpenCluster(t *testing.T) {
	r := built(t, azure(), func(a *ClusterArgs) { a.API = API{OutboundIP: pulumi.String("203.0.113.7")} })
	_, given := r.OfType(clusterToken)[0].Value("apiServerAccessProfile.authorizedIPRanges")
	assert.Check(t, !given)
}

// TestGrants: what the identity of the control plane gets is there before the cluster.
func TestGrants(t *testing.T) {
	existing := func(grant bool) func(*ClusterArgs) {
		return func(a *ClusterArgs) {
			a.SubnetID, a.SubnetReady, a.VNetID = theirSubnet, pulumi.String(theirSubnet), ""
			a.GrantSubnet, a.RouteTableID, a.Outbound = grant, theirRoutes, OutboundRoutes
		}
	}
	for name, test := range map[string]struct {
		change func(*ClusterArgs)
		want   map[string]string // scope by name
	}{
		"own network": {nil, map[string]string{
			"demo-control-plane-subnet": clusterArgs().SubnetID, "demo-control-plane-kubelet": armid.Resource(subscription, "demo", armid.Identities, "demo-kubelet"),
		}},
		"existing network, granted": {existing(true), map[string]string{
			"demo-control-plane-subnet": theirSubnet, "demo-control-plane-routes": theirRoutes,
			"demo-control-plane-kubelet": armid.Resource(subscription, "demo", armid.Identities, "demo-kubelet"),
		}},
		"existing network, not granted": {existing(false), map[string]string{
			"demo-control-plane-kubelet": armid.Resource(subscription, "demo", armid.Identities, "demo-kubelet"),
		}},
		"a zone of others": {func(a *ClusterArgs) { a.API.PrivateDNSZone = theirZone }, map[string]string{
			"demo-control-plane-subnet": clusterArgs().SubnetID, "demo-control-plane-zone": theirZone, "demo-control-plane-network": clusterArgs().VNetID,
			"demo-control-plane-kubelet": armid.Resource(subscription, "demo", armid.Identities, "demo-kubelet"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := built(t, azure(), test.change)
			got := map[string]string{}
			for _, a := range r.OfType(roleToken) {
				got[a.Name] = a.String("scope")
				assert.Check(t, r.OfType(clusterToken)[0].WaitsFor("::"+a.Name), "the cluster does not wait for %s", a.Name)
			}
			assert.Check(t, is.DeepEqual(got, test.want))
		})
	}
}

// TestPrivateName: a private API without a zone has a public name, and is reached by it.
func TestPrivateName(t *testing.T) {
	r, asked := azure(), resource.PropertyMap{}
	answer := r.Invokes[userToken]
	r.Invokes[userToken] = func(args resource.PropertyMap) (resource.PropertyMap, error) {
		asked = args
		return answer(args)
	}
	built(t, r, func(a *ClusterArgs) { a.API.PrivateDNSZone = NoZone })
	r.OfType(clusterToken)[0].Expect(t, map[string]string{
		"apiServerAccessProfile.privateDNSZone": "none", "apiServerAccessProfile.enablePrivateClusterPublicFQDN": "true",
	})
	assert.Check(t, is.Equal(asked["serverFqdn"].StringValue(), "public"))
}

// TestPreview of a cluster that does not exist asks for no credentials, and knows what follows
// from the arguments.
func TestPreview(t *testing.T) {
	r := azure()
	r.Unborn, r.Outputs = true, nil
	delete(r.Invokes, userToken)
	built(t, r, nil, recorder.Preview)
	r.GoldenRegistrations(t, "azure-native:", "preview.json")
	r.Probed().Expect(t, map[string]string{"name": "demo", "id": armid.Resource(subscription, "demo", armid.ManagedClusters, "demo"), "endpoint": "", "ca": ""})
}

// TestNumbersOfNodes: a pool keeps the number that its autoscaler has chosen, also when
// something else of it changes.
func TestNumbersOfNodes(t *testing.T) {
	pool := NodePool{Name: "apps", VMSize: "Standard_D8s_v5", OS: "Ubuntu", Min: 2, Max: 5, Desired: 3, MaxPods: 50, DiskGiB: 128}
	for live, want := range map[int]string{-1: "3", 1: "2", 4: "4", 9: "5"} {
		r := built(t, azure(), func(a *ClusterArgs) {
			p := pool
			if live >= 0 {
				p.Live, a.Pools[0].Live = &live, &live
			}
			a.Pools = append(a.Pools, p)
		})
		made, cluster := r.OfType(poolToken)[0], r.OfType(clusterToken)[0]
		made.Expect(t, map[string]string{"count": want})
		assert.Check(t, is.Equal(len(made.IgnoreChanges) == 1 && len(cluster.IgnoreChanges) == 1, live < 0),
			"with %d nodes, %v and %v are ignored", live, made.IgnoreChanges, cluster.IgnoreChanges)
	}
}

func TestClusterRefuses(t *testing.T) {
	recorder.Refuses(t, "demo", NewCluster, "cluster demo: ", clusterArgs, map[string]func(*ClusterArgs){
		"name, version, subscription, tenant and location are required":                       func(a *ClusterArgs) { a.Tenant = "" },
		"the resource groups of the cluster and of its nodes are required":                    func(a *ClusterArgs) { a.NodeResourceGroup = "" },
		"the subnet of the nodes is required":                                                 func(a *ClusterArgs) { a.SubnetReady = nil },
		"the blocks of pods and Services, and the address of their DNS are required":          func(a *ClusterArgs) { a.PodCIDR = "" },
		"at least one group of admins is required: the cluster has no other account":          func(a *ClusterArgs) { a.AdminGroups = nil },
		"long-term support needs the tier Premium":                                            func(a *ClusterArgs) { a.LongTermSupport = true },
		"a private API needs a DNS zone: system, none, or the id of one":                      func(a *ClusterArgs) { a.API.PrivateDNSZone = "" },
		"a private API has no ranges that reach it; AKS refuses them":                         func(a *ClusterArgs) { a.API.AuthorizedRanges = []string{"192.0.2.0/24"} },
		"at least one pool for the system is required":                                        func(a *ClusterArgs) { a.Pools[0].System = false },
		`node pool "system" is given twice`:                                                   func(a *ClusterArgs) { a.Pools = append(a.Pools, a.Pools[0]) },
		`node pool "system" needs a name, a VM size, an OS, a disk size and a number of pods`: func(a *ClusterArgs) { a.Pools[0].VMSize = "" },
		`node pool "system" is for the system, and AKS makes no such pool of spot capacity`:   func(a *ClusterArgs) { a.Pools[0].Spot = true },
		`node pool "system": 1 <= min <= desired <= max and max >= 1 do not hold for 0, 2, 3`: func(a *ClusterArgs) { a.Pools[0].Min = 0 },
		`node pool "system": 1 <= min <= desired <= max and max >= 1 do not hold for 1, 4, 3`: func(a *ClusterArgs) { a.Pools[0].Desired = 4 },
	})
}

// TestNoEndpoint: an answer that cannot be read is told without any of it.
func TestNoEndpoint(t *testing.T) {
	for _, text := range []string{"", "s3cret", "clusters: []", "clusters: [{cluster: {server: https://s3cret}}]"} {
		r := azure()
		r.Invokes[userToken] = answering(text)
		err := r.Run("demo-core", recorder.Probing("demo", NewCluster, clusterArgs(), func(c *Cluster) pulumi.Map {
			return pulumi.Map{"endpoint": c.Endpoint}
		}))
		assert.Check(t, is.ErrorContains(err, "AKS answered with a kubeconfig without server or certificate authority; run up again"))
	}
}

// theirs is a cluster of others as Azure describes it.
func theirs() map[string]any {
	return map[string]any{
		"name": "main", "id": "/subscriptions/s/resourceGroups/apps/providers/Microsoft.ContainerService/managedClusters/main",
		"kubernetesVersion": "1.32.5", "supportPlan": "AKSLongTermSupport", "nodeResourceGroup": "MC_apps_main",
		"powerState": map[string]any{"code": "Running"}, "aadProfile": map[string]any{"managed": true},
		"oidcIssuerProfile": map[string]any{"enabled": true, "issuerURL": "https://oidc.example/main/"},
		"securityProfile":   map[string]any{"workloadIdentity": map[string]any{"enabled": true}},
		"identityProfile":   map[string]any{"kubeletidentity": map[string]any{"clientId": "kubelet"}},
		"agentPoolProfiles": []any{map[string]any{"name": "system", "vnetSubnetID": theirSubnet}},
	}
}

func adopt(t *testing.T, found map[string]any, use func(*Existing)) (*recorder.Recorder, error) {
	t.Helper()
	r := azure()
	r.Invokes[clusterLookup] = func(resource.PropertyMap) (resource.PropertyMap, error) {
		if found == nil {
			return nil, errors.New("ResourceNotFound")
		}
		return resource.NewPropertyMapFromMap(found), nil
	}
	args := &ExistingArgs{Name: "main", ResourceGroup: "apps", WorkloadIdentity: true}
	return r, r.Run("demo-core", recorder.Probing("demo", NewExisting, args, func(e *Existing) pulumi.Map {
		use(e)
		return pulumi.Map{
			"name": e.Name, "id": e.ID, "version": e.Version, "endpoint": e.Endpoint, "ca": e.CA,
			"issuer": e.OIDCIssuer, "nodes": e.NodeResourceGroup, "kubelet": e.KubeletClientID,
		}
	}))
}

// TestExisting: nothing is made.
func TestExisting(t *testing.T) {
	r, err := adopt(t, theirs(), func(e *Existing) {
		assert.Check(t, is.Equal(e.SubnetID, theirSubnet))
	})
	r.Sound(t, err)
	r.Probed().Expect(t, map[string]string{
		"name": "main", "id": theirs()["id"].(string), "version": "1.32", "endpoint": "https://demo-abc.hcp.germanywestcentral.azmk8s.io:443", "ca": "Q0E=",
		"issuer": "https://oidc.example/main/", "nodes": "MC_apps_main", "kubelet": "kubelet",
	})
	for _, res := range r.All() {
		assert.Check(t, res.Type == existingType || res.Type == "test:index:Probe", "%s %s is made", res.Type, res.Name)
	}
}

func TestExistingRefuses(t *testing.T) {
	for want, change := range map[string]func(map[string]any){
		"it is a cluster that Tombolo made (tombolo:owner is q5zk): use its own cluster file and backend": func(c map[string]any) {
			c["tags"] = map[string]any{"tombolo:owner": "q5zk"}
		},
		"it is stopped: have its owner start it, with `az aks start`": func(c map[string]any) { c["powerState"] = map[string]any{"code": "Stopped"} },
		"it does not take identities of Entra: have the cluster's owner turn it on: az aks update --name main --resource-group apps --enable-aad": func(c map[string]any) {
			delete(c, "aadProfile")
		},
		"it has no OIDC issuer, which workload identity needs":             func(c map[string]any) { delete(c, "oidcIssuerProfile") },
		"it has no workload identity: have the cluster's owner turn it on": func(c map[string]any) { delete(c, "securityProfile") },
	} {
		found := theirs()
		change(found)
		_, err := adopt(t, found, func(*Existing) {})
		assert.Check(t, is.ErrorContains(err, "existing cluster main: "+want))
	}
	_, err := adopt(t, nil, func(*Existing) {})
	assert.Check(t, is.ErrorContains(err, "look it up in resource group apps: "))
	assert.Check(t, is.ErrorContains(err, "check kubernetes.existing and cloud.account"))
	_, err = recorder.Make("demo-core", "demo", NewExisting, &ExistingArgs{Name: "main"})
	assert.Check(t, is.ErrorContains(err, "existing cluster demo: name and resource group are required"))
}
