package resourcemanager

import (
	"slices"
	"strconv"
	"strings"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/keyvault"
	"tombolo/lab/azure/network"
	"tombolo/lab/standin"
)

// namespaces of the resource providers that there are here.
var namespaces = []string{
	"Microsoft.Authorization", "Microsoft.Compute", "Microsoft.ContainerService", "Microsoft.DBforPostgreSQL", "Microsoft.KeyVault", "Microsoft.ManagedIdentity",
	"Microsoft.Network", "Microsoft.Resources", "Microsoft.Storage",
}

func scope(q *question) string { return armid.Subscription(q.PathValue("subscription")) }

// subscriptions are those that the caller can read:
// https://learn.microsoft.com/en-us/rest/api/resources/subscriptions/list
func (a *api) subscriptions(q *question) (any, error) {
	found := []any{}
	for _, id := range []string{a.cloud.Account, arm.NetworkSubscription} {
		if a.allowed(q, "Microsoft.Resources/subscriptions/read", armid.Subscription(id)) {
			found = append(found, describeSubscription(id))
		}
	}
	return list(found), nil
}

// subscription is one: https://learn.microsoft.com/en-us/rest/api/resources/subscriptions/get
func (a *api) subscription(q *question) (any, error) {
	return describeSubscription(q.PathValue("subscription")), a.may(q, "Microsoft.Resources/subscriptions/read", scope(q))
}

func describeSubscription(id string) map[string]any {
	return map[string]any{"id": armid.Subscription(id), "subscriptionId": id, "tenantId": arm.Tenant, "displayName": "lab " + id[len(id)-1:], "state": "Enabled"}
}

// locations: https://learn.microsoft.com/en-us/rest/api/resources/subscriptions/list-locations
func (a *api) locations(q *question) (any, error) {
	found := []any{}
	for _, name := range standin.SortedKeys(arm.Locations) {
		found = append(found, map[string]any{"id": scope(q) + "/locations/" + name, "name": name, "metadata": map[string]any{"regionType": "Physical"}})
	}
	return list(found), a.may(q, "Microsoft.Resources/subscriptions/locations/read", scope(q))
}

// provider is a resource provider: https://learn.microsoft.com/en-us/rest/api/resources/providers/get
func (a *api) provider(q *question) (any, error) {
	name, err := namespace(q)
	if err != nil {
		return nil, err
	}
	return a.describeProvider(q, name), a.may(q, "Microsoft.Resources/subscriptions/providers/read", scope(q))
}

func (a *api) describeProvider(q *question, name string) any {
	defer a.cloud.Lock()()
	state := "Registered"
	if !arm.Registered(a.cloud, q.PathValue("subscription"), name) {
		state = "NotRegistered"
	}
	return map[string]any{"id": scope(q) + "/providers/" + name, "namespace": name, "registrationState": state}
}

// namespace is the one that a path names. Source:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/error-register-resource-provider
func namespace(q *question) (string, error) {
	given := q.PathValue("namespace")
	if i := slices.IndexFunc(namespaces, func(n string) bool { return strings.EqualFold(n, given) }); i >= 0 {
		return namespaces[i], nil
	}
	return "", &arm.Error{Status: 404, Code: "InvalidResourceNamespace", Message: "The resource namespace '" + given + "' is invalid."}
}

// register a subscription: https://learn.microsoft.com/en-us/rest/api/resources/providers/register
func (a *api) register(q *question) (any, error) {
	name, err := namespace(q)
	if err == nil {
		err = a.may(q, name+"/register/action", scope(q))
	}
	if err == nil {
		err = arm.Register(a.cloud, q.PathValue("subscription"), name)
	}
	if err != nil {
		return nil, err
	}
	return a.describeProvider(q, name), nil
}

// permissions of the caller in a subscription.
func (a *api) permissions(q *question) (any, error) { return a.permissionsOn(q, scope(q)) }

// permissionsOn are those on a scope, which everybody may ask for:
// https://learn.microsoft.com/en-us/rest/api/authorization/permissions
func (a *api) permissionsOn(q *question, scope string) (any, error) {
	defer a.cloud.Lock()()
	found := []any{}
	for _, role := range arm.RolesOf(a.cloud, q.caller, scope) {
		actions, not := role.Actions()
		found = append(found, map[string]any{"actions": texts(actions), "notActions": texts(not), "dataActions": texts(nil), "notDataActions": texts(nil)})
	}
	return list(found), nil
}

// texts are never null.
func texts(list []string) []string { return append([]string{}, list...) }

// sizes of virtual machines: https://learn.microsoft.com/en-us/rest/api/compute/resource-skus/list
func (a *api) sizes(q *question) (any, error) {
	in := equals(q, "location")
	found := []any{}
	for location := range arm.Locations {
		if in != "" && arm.Normal(in) != location {
			continue
		}
		zones := []string{}
		for zone := range arm.Locations[location] {
			zones = append(zones, strconv.Itoa(zone+1))
		}
		for _, s := range containerservice.Sizes() {
			found = append(found, map[string]any{
				"resourceType": "virtualMachines", "name": s.Name, "tier": "Standard", "family": s.Family, "locations": []string{location}, "restrictions": []any{},
				"locationInfo": []any{map[string]any{"location": location, "zones": zones}},
				"capabilities": []any{capability("vCPUs", s.CPUs), capability("MemoryGB", s.Memory)},
			})
		}
	}
	return list(found), a.may(q, "Microsoft.Compute/skus/read", scope(q))
}

func capability(name string, value int) any {
	return map[string]any{"name": name, "value": strconv.Itoa(value)}
}

// regionalQuota is of all families of a location together.
const regionalQuota = 10 * containerservice.Quota

// vCPUs in use, and their quotas: https://learn.microsoft.com/en-us/rest/api/compute/usage/list
func (a *api) vCPUs(q *question) (any, error) {
	defer a.cloud.Lock()()
	used := map[string]int{}
	if arm.Same(q.PathValue("subscription"), a.cloud.Account) {
		used = containerservice.Used(a.cloud, q.PathValue("location"))
	}
	all, families := 0, map[string]int{}
	for _, s := range containerservice.Sizes() {
		families[s.Family] = 0
	}
	for family, cpus := range used {
		if family != containerservice.Spot {
			families[family], all = cpus, all+cpus
		}
	}
	found := []any{usage("cores", all, regionalQuota), usage(containerservice.Spot, used[containerservice.Spot], containerservice.Quota)}
	for _, family := range standin.SortedKeys(families) {
		found = append(found, usage(family, families[family], containerservice.Quota))
	}
	return list(found), nil
}

// networkQuota is the default of virtual networks and of standard public addresses. Source:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/azure-subscription-service-limits
const networkQuota = 1000

// networkUsages: https://learn.microsoft.com/en-us/rest/api/virtualnetwork/usages/list
func (a *api) networkUsages(q *question) (any, error) {
	defer a.cloud.Lock()()
	found := []any{}
	for _, counted := range []struct{ name, token string }{
		{"VirtualNetworks", network.NetworkType}, {"PublicIPAddresses", network.AddressType}, {"NatGateways", network.NatGatewayType}, {"LoadBalancers", network.BalancerType},
	} {
		count := 0
		for r := range a.cloud.Each(counted.token, standin.Global) {
			if arm.Same(armid.SubscriptionOf(r.ID), q.PathValue("subscription")) && r.Outputs.Str("location") == q.PathValue("location") {
				count++
			}
		}
		found = append(found, usage(counted.name, count, networkQuota))
	}
	return list(found), nil
}

func usage(name string, used, limit int) any {
	return map[string]any{"unit": "Count", "currentValue": used, "limit": limit, "name": map[string]any{"value": name, "localizedValue": name}}
}

// keyVersion is a version of a key: https://learn.microsoft.com/en-us/rest/api/keyvault/keyvault/keys/get-version
func (a *api) keyVersion(q *question) (any, error) {
	id, _, _ := strings.Cut(q.path(), "/keys/")
	vault, err := a.of(id)
	if err == nil {
		err = a.may(q, "Microsoft.KeyVault/vaults/keys/versions/read", vault.ID)
	}
	if err != nil {
		return nil, err
	}
	if found := keyvault.DescribeKey(a.cloud, vault, q.PathValue("key"), q.PathValue("version")); found != nil {
		return found, nil
	}
	return nil, &arm.Error{Status: 404, Code: "KeyNotFound", Message: "A key with (name/id) " + q.PathValue("key") + "/" + q.PathValue("version") + " was not found in this key vault."}
}

// versions of Kubernetes, those with long-term support alone too:
// https://learn.microsoft.com/en-us/rest/api/aks/managed-clusters/list-kubernetes-versions
func (a *api) versions(q *question) (any, error) {
	found := []any{}
	for _, o := range containerservice.Offers() {
		plans, patches := []string{"KubernetesOfficial", "AKSLongTermSupport"}, map[string]any{}
		if o.OnlyLTS {
			plans = plans[1:]
		}
		for _, patch := range o.Patches {
			patches[patch] = map[string]any{"upgrades": texts(o.Upgrades[patch])}
		}
		found = append(found, map[string]any{
			"version": o.Version, "capabilities": map[string]any{"supportPlan": plans}, "patchVersions": patches,
		})
	}
	return map[string]any{"values": found}, a.may(q, "Microsoft.ContainerService/locations/kubernetesVersions/read", scope(q))
}

// upgrades of a cluster: https://learn.microsoft.com/en-us/rest/api/aks/managed-clusters/get-upgrade-profile
func (a *api) upgrades(q *question) (any, error) {
	r, err := a.of(q.path()[:len(q.path())-len("/upgradeProfiles/default")])
	if err == nil {
		err = a.may(q, "Microsoft.ContainerService/managedClusters/upgradeProfiles/read", r.ID)
	}
	if err != nil {
		return nil, err
	}
	return containerservice.Upgrades(a.cloud, r), nil
}
