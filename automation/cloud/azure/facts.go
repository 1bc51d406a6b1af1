package azure

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tombolo/automation/cloud/azure/arm"
	"tombolo/automation/preflight"
	"tombolo/config"
	"tombolo/internal/armid"
)

// Versions of the APIs that facts are read by.
const (
	subscriptionVersion = "2022-12-01" // https://learn.microsoft.com/rest/api/resources/subscriptions
	permissionVersion   = "2022-04-01" // https://learn.microsoft.com/rest/api/authorization/permissions
	clusterVersion      = "2024-09-01" // https://learn.microsoft.com/rest/api/aks/managed-clusters
	usageVersion        = "2024-03-01" // https://learn.microsoft.com/rest/api/compute/usage/list
	networkVersion      = "2024-03-01" // https://learn.microsoft.com/rest/api/virtualnetwork/usages/list
	sizeVersion         = "2021-07-01" // https://learn.microsoft.com/rest/api/compute/resource-skus/list
)

// providers are those whose resources core makes: a subscription registers each once.
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-providers-and-types
func providers(c *config.Cluster) []string {
	out := []string{"Microsoft.ContainerService", "Microsoft.ManagedIdentity", "Microsoft.Network"}
	for _, makes := range addonMakes(c) {
		out = append(out, makes.provider)
	}
	return out
}

// addonMade is a resource that core makes for an addon: who provides it, and the rights that it takes.
type addonMade struct {
	provider string
	rights   []string
}

// addonMakes are those of a cluster. The service endpoint lets the nodes' subnet in, where it is
// core's own.
func addonMakes(c *config.Cluster) []addonMade {
	var out []addonMade
	for _, needs := range c.AddonNeeds() {
		if needs.Vault.IsMade() {
			out = append(out, addonMade{"Microsoft.KeyVault", []string{armid.Vaults + "/write"}})
		}
		if needs.Container.IsMade() {
			out = append(out, addonMade{"Microsoft.Storage", []string{
				armid.StorageAccounts + "/write", armid.StorageAccounts + "/blobServices/containers/write", armid.StorageAccounts + "/managementPolicies/write",
			}})
		}
	}
	return out
}

// readFacts fills in what a subscription says. Only a subscription that is not seen is an
// error; of another one, nothing else is of interest.
func readFacts(ctx context.Context, client arm.Client, who caller, c *config.Cluster, f *preflight.Facts) {
	f.Account, f.Tenant = who.subscription, who.tenant
	f.Identity = "object " + who.object
	if f.Account != c.Cloud.Account || f.Tenant != c.Cloud.Tenant {
		return
	}
	at := armid.Subscription(c.Cloud.Account)
	var subscription struct{ State, TenantID string }
	err := client.Get(ctx, at, subscriptionVersion, &subscription)
	switch {
	case arm.IsMissing(err) || arm.IsForbidden(err):
		f.AccountErr = "it does not see it: " + err.Error()
		return
	case err != nil:
		f.Err = err.Error()
		return
	case subscription.State != "" && subscription.State != "Enabled" && subscription.State != "Warned":
		f.AccountErr = "it is " + strings.ToLower(subscription.State)
		return
	}
	f.Enabled, f.RegionErr = hasRegion(ctx, client, at, c.Cloud.Region)
	if !f.Enabled && f.RegionErr == "" {
		return
	}
	f.Unregistered, f.ProvidersErr = unregistered(ctx, client, at, providers(c))
	f.Elsewhere, f.ElsewhereErr = unregisteredElsewhere(ctx, client, c)
	f.Keys = readKey(ctx, client, c)
	f.VersionsErr = readVersions(ctx, client, at, c.Cloud.Region, f)
	f.MissingRights, f.RightsErr = lacking(ctx, client, at, rights(c))
	f.OnOthers = missingOnOthers(ctx, client, c)
	f.Sizes, f.SizesErr = sizes(ctx, client, at, c.Cloud.Region)
	f.QuotasErr = readQuotas(ctx, client, at, c.Cloud.Region, f.Quotas)
}

func hasRegion(ctx context.Context, client arm.Client, at, region string) (bool, string) {
	type location struct{ Name string }
	all, err := arm.List[location](ctx, client, at+"/locations", subscriptionVersion, "")
	if err != nil {
		return false, err.Error()
	}
	return slices.ContainsFunc(all, func(l location) bool { return l.Name == region }), ""
}

func unregistered(ctx context.Context, client arm.Client, at string, names []string) (missing []string, unknown string) {
	for _, name := range names {
		var found struct{ RegistrationState string }
		if err := client.Get(ctx, at+"/providers/"+name, listVersion, &found); err != nil {
			return nil, err.Error()
		}
		if !strings.HasPrefix(found.RegistrationState, "Regist") { // Registered, Registering
			missing = append(missing, name)
		}
	}
	return missing, ""
}

// unregisteredElsewhere are those that a subscription of others has not registered, by its id: that of
// a private DNS zone needs AKS's. Source: "Considerations for private DNS" in
// https://learn.microsoft.com/azure/aks/private-clusters
func unregisteredElsewhere(ctx context.Context, client arm.Client, c *config.Cluster) (map[string][]string, string) {
	subscription := armid.SubscriptionOf(ownZone(c))
	if subscription == "" || strings.EqualFold(subscription, c.Cloud.Account) {
		return nil, ""
	}
	missing, unknown := unregistered(ctx, client, armid.Subscription(subscription), []string{"Microsoft.ContainerService"})
	return map[string][]string{subscription: missing}, unknown
}

// Support plans that AKS has a version in:
// https://learn.microsoft.com/azure/aks/long-term-support
const (
	communityPlan = "KubernetesOfficial"
	longTermPlan  = "AKSLongTermSupport"
)

// readVersions reads the versions of Kubernetes that AKS offers in a region, the oldest first,
// without previews. Some are there with long-term support alone.
func readVersions(ctx context.Context, client arm.Client, at, region string, f *preflight.Facts) string {
	var found struct {
		Values []struct {
			Version      string
			IsPreview    bool
			Capabilities struct{ SupportPlan []string }
		}
	}
	err := client.Get(ctx, at+"/providers/Microsoft.ContainerService/locations/"+region+"/kubernetesVersions", clusterVersion, &found)
	if err != nil {
		return err.Error()
	}
	for _, v := range found.Values {
		if v.IsPreview {
			continue
		}
		if slices.Contains(v.Capabilities.SupportPlan, communityPlan) {
			f.Versions = append(f.Versions, v.Version)
		}
		if slices.Contains(v.Capabilities.SupportPlan, longTermPlan) {
			f.ExtendedVersions = append(f.ExtendedVersions, v.Version)
		}
	}
	slices.SortFunc(f.Versions, config.CompareMinors)
	slices.SortFunc(f.ExtendedVersions, config.CompareMinors)
	return ""
}

// sku is a VM size, among others.
type sku struct {
	ResourceType, Name, Family string
	Capabilities               []struct{ Name, Value string }
	Restrictions               []struct {
		Type, ReasonCode string
		RestrictionInfo  struct{ Zones []string }
	}
	LocationInfo []struct{ Zones []string }
}

// openZones are those that have the size, and that the subscription may use it in. Source:
// https://learn.microsoft.com/rest/api/compute/resource-skus/list
func (s sku) openZones() []string {
	var out []string
	for _, l := range s.LocationInfo {
		out = append(out, l.Zones...)
	}
	for _, r := range s.Restrictions {
		if r.Type == "Zone" {
			out = slices.DeleteFunc(out, func(zone string) bool { return slices.Contains(r.RestrictionInfo.Zones, zone) })
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sizes are the VM sizes of a region, in lower case.
func sizes(ctx context.Context, client arm.Client, at, region string) (map[string]preflight.Size, string) {
	all, err := arm.List[sku](ctx, client, at+"/providers/Microsoft.Compute/skus", sizeVersion, arm.Filter("location eq '"+region+"'"))
	if err != nil {
		return nil, err.Error()
	}
	out := map[string]preflight.Size{}
	for _, s := range all {
		if s.ResourceType != "virtualMachines" {
			continue
		}
		size := preflight.Size{Family: s.Family, Zones: s.openZones()}
		for _, c := range s.Capabilities {
			if c.Name == "vCPUs" {
				size.CPUs, _ = strconv.Atoi(c.Value)
			}
		}
		for _, r := range s.Restrictions {
			size.Closed = size.Closed || r.Type == "Location"
		}
		out[strings.ToLower(s.Name)] = size
	}
	return out, ""
}

// usage is what is used of a quota.
type usage struct {
	CurrentValue, Limit int
	Name                struct{ Value string }
}

func readQuotas(ctx context.Context, client arm.Client, at, region string, into map[preflight.Kind]preflight.Quota) string {
	for _, provider := range slices.Sorted(maps.Keys(usageVersions)) {
		all, err := arm.List[usage](ctx, client, at+"/providers/"+provider+"/locations/"+region+"/usages", usageVersions[provider], "")
		if err != nil {
			return err.Error()
		}
		for _, u := range all {
			into[preflight.Kind(strings.ToLower(u.Name.Value))] = preflight.Quota{Limit: u.Limit, Used: u.CurrentValue}
		}
	}
	return ""
}

// usageVersions are the providers with quotas, and the versions of their APIs.
var usageVersions = map[string]string{"Microsoft.Compute": usageVersion, "Microsoft.Network": networkVersion}
