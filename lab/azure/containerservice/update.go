package containerservice

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

// fixed properties cannot change, although azure-native plans an update of them. Sources:
// https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/error-codes/aks-error-code-propertychangenotallowed,
// https://learn.microsoft.com/en-us/azure/aks/use-oidc-issuer, and of private clusters
// https://learn.microsoft.com/en-us/azure/aks/private-clusters
var fixed = [][]string{
	{"dnsPrefix"},
	{"fqdnSubdomain"},
	{"nodeResourceGroup"},
	{"enableRBAC"},
	{"diskEncryptionSetID"},
	{"apiServerAccessProfile", "enablePrivateCluster"},
	{"networkProfile", "networkPlugin"},
	{"networkProfile", "serviceCidr"},
	{"networkProfile", "dnsServiceIP"},
	{"networkProfile", "podCidr"},
	{"networkProfile", "loadBalancerSku"},
	{"networkProfile", "networkMode"},
}

// updateCluster is the same request as a creation: what is left out has its default, and
// what AKS computed stays. A proxy stays, too: by this version of the API nothing takes one
// away. Source: https://github.com/Azure/AKS/issues/5138
func updateCluster(c *standin.Call) error {
	if err := checkIdle(c, c.Old, true); err != nil {
		return err
	}
	out, old := c.Out(), c.Old.Outputs
	out.SetDefaults(standin.Props{"kubernetesVersion": old["kubernetesVersion"], "nodeResourceGroup": old["nodeResourceGroup"]})
	err := c.Check(checkFixed, changeVersion, checkIdentity, checkProfiles, checkCombinations, checkProxy, checkSecretsKey, checkInlinePools, checkInlineVersions, describeClusterNetwork, checkClusterNetwork)
	if err != nil {
		return err
	}
	keepSecretsKey(c)
	for _, key := range []string{"sku", "supportPlan", "storageProfile", "securityProfile", "workloadAutoScalerProfile", "disableLocalAccounts", "enableRBAC", "servicePrincipalProfile", "httpProxyConfig"} {
		out.SetDefault(key, old[key])
	}
	if out.Sub("apiServerAccessProfile").Boolean("enablePrivateCluster") {
		merged := standin.Merged(old.Sub("apiServerAccessProfile"), c.In().Sub("apiServerAccessProfile"))
		out["apiServerAccessProfile"] = map[string]any(merged)
	}
	out["eTag"], out["provisioningState"] = arm.UUID(), "Updating"
	describeIssuer(c)
	describeIdentity(c)
	describeInlinePools(c)
	describeProxy(c)
	return c.Check(tagNodeGroup, putInlinePools)
}

// tagNodeGroup gives the tags of a cluster to the group of its nodes.
func tagNodeGroup(c *standin.Call) error {
	found := arm.ByID(c.Cloud, arm.GroupType, nodeGroupOf(c.Record))
	if found == nil || !arm.Same(found.Outputs.Str("managedBy"), c.Record.ID) {
		return nil
	}
	group := found.Clone()
	group.Outputs["tags"] = nodeGroupTags(c)
	return c.Cloud.Put(group)
}

// checkFixed refuses a change of what cannot change.
func checkFixed(c *standin.Call) error {
	for _, path := range fixed {
		given, is := at(c.In(), path)
		was, had := at(c.Old.Outputs, path)
		if _, truth := given.(bool); truth && !had {
			was, had = false, true
		}
		if is && had && !reflect.DeepEqual(given, was) && (path[len(path)-1] != "podCidr" || !grows(c, was, given)) {
			return notAllowed(c, path)
		}
	}
	was, is := c.Old.Outputs.Sub("oidcIssuerProfile").Boolean("enabled"), c.In().Sub("oidcIssuerProfile").Boolean("enabled")
	if was && !is {
		return c.Refusef("OIDCIssuerFeatureCannotBeDisabled", "OIDC issuer feature cannot be disabled for the managed cluster once it is enabled.")
	}
	return checkEntra(c)
}

func at(p standin.Props, path []string) (any, bool) {
	for _, key := range path[:len(path)-1] {
		p = p.Sub(key)
	}
	value, is := p[path[len(path)-1]]
	return value, is
}

func notAllowed(c *standin.Call, path []string) error {
	return c.Refusef("PropertyChangeNotAllowed", "Changing property '%s' is not allowed.", strings.Join(path, "."))
}

// changeVersion takes the cluster to another version. A minor version alone leaves a cluster
// at the patch that it has.
func changeVersion(c *standin.Call) error {
	out, from := c.Out(), c.Old.Outputs.Str("currentKubernetesVersion")
	to := out.Str("kubernetesVersion")
	if to == minorOf(from) {
		to = from
	} else if err := checkVersion(c, to); err != nil && index(to) != index(from) {
		return err
	}
	to = exact(to)
	if err := checkUpgrade(c, from, to); err != nil {
		return err
	}
	out["currentKubernetesVersion"] = to
	if to != from {
		return checkServiceRange(c, c.Old.Outputs.Sub("networkProfile"), nodeNetwork(c))
	}
	return nil
}

// checkInlineVersions refuses to change the version of pools by the cluster's own inputs, but
// for one: that of the control plane. It counts the pools that live, and lets no control plane go
// alone while AKS upgrades the cluster by itself. Sources:
// https://github.com/hashicorp/terraform-provider-azurerm/issues/23436,
// https://github.com/Azure/ARO-HCP/pull/662, https://github.com/Azure/AKS/pull/2889 and "Control plane
// upgrade constraints" in https://learn.microsoft.com/en-us/azure/aks/auto-upgrade-cluster
func checkInlineVersions(c *standin.Call) error {
	control := c.Out().Str("currentKubernetesVersion")
	pools := c.In().Objects("agentPoolProfiles")
	given, moved := map[string]bool{}, 0
	for _, p := range pools {
		version := p.Str("orchestratorVersion")
		if version == "" {
			continue
		}
		given[strings.ToLower(p.Str("name"))] = true
		before := poolNamed(c, p.Str("name"))
		unchanged := before == nil || exact(version) == before.Outputs.Str("currentOrchestratorVersion") || version == minorOf(before.Outputs.Str("currentOrchestratorVersion"))
		same := exact(version) == control || version == minorOf(control)
		if !unchanged && !same {
			return versionsRefused(c)
		}
		if same {
			moved++
		}
	}
	if len(given) == 0 {
		return checkAlone(c, control, false)
	}
	for r := range PoolsOf(c.Cloud, c.Record.ID) {
		if !given[strings.ToLower(armid.NameOf(r.ID))] {
			return versionsRefused(c)
		}
	}
	if len(given) != len(pools) {
		return versionsRefused(c)
	}
	return checkAlone(c, control, moved == len(pools))
}

// checkAlone refuses to upgrade a control plane without its nodes while AKS upgrades by itself.
func checkAlone(c *standin.Call, to string, nodes bool) error {
	channel := c.In().Sub("autoUpgradeProfile").Str("upgradeChannel")
	if to != c.Old.Outputs.Str("currentKubernetesVersion") && !nodes && channel != "" && channel != "none" {
		return versionsRefused(c)
	}
	return nil
}

func versionsRefused(c *standin.Call) error {
	return c.Refusef("NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged", "Using managed cluster api, all Agent pools' OrchestratorVersion must be all specified or all unspecified. "+
		"If all specified, they must be stay unchanged or the same with control plane. For agent pool specific change, please use per agent pool operations: https://aka.ms/agent-pool-rest-api")
}

// poolNamed is the pool of the call's cluster with a name, or nil.
func poolNamed(c *standin.Call, name string) *standin.Record {
	return arm.ByID(c.Cloud, PoolType, c.Record.ID+"/agentPools/"+name)
}

// usageType records that something has called an API of a cluster that a later version does
// not have. No program can make one.
const usageType = "lab:azure:DeprecatedUsage"

// remembered is for how long AKS looks back. Source:
// https://learn.microsoft.com/en-us/azure/aks/stop-cluster-upgrade-api-breaking-changes
const remembered = 12 * time.Hour

// Use records that an API of a cluster has been called, such as
// flowcontrol.apiserver.k8s.io.flowschemas.v1beta3.list, that a minor version of Kubernetes
// does not have any more.
func Use(c *standin.Cloud, cluster, api, removedIn string) error {
	defer c.Lock()()
	return c.Put(&standin.Record{
		Type: usageType, ID: cluster + "/usages/" + api, Region: standin.Global, Created: c.Now(), Implied: true,
		Inputs: standin.Props{"api": api, "removedIn": removedIn}, Outputs: standin.Props{},
	})
}

// checkDeprecated refuses an upgrade to a version without an API that was called lately,
// unless it is forced. Source of the words: https://github.com/Azure/AKS/issues/3984 and
// https://github.com/Azure/AKS/issues/4951
func checkDeprecated(c *standin.Call, to string) error {
	if c.In().Sub("upgradeSettings").Sub("overrideSettings").Boolean("forceUpgrade") {
		return nil
	}
	var usages []string
	for r := range c.Cloud.Each(usageType, standin.Global) {
		recent := c.Cloud.Now().Sub(r.Created) < remembered
		if arm.Same(clusterOfUsage(r.ID), c.Record.ID) && recent && minorNumber(to) >= minorNumber(r.Inputs.Str("removedIn")) {
			usages = append(usages, fmt.Sprintf("\t* usage has been detected on API %s, and was recently seen at: %s, which will be removed in %s",
				r.Inputs.Str("api"), r.Created.UTC().Format("2006-01-02 15:04:05 +0000 UTC"), r.Inputs.Str("removedIn")))
		}
	}
	if len(usages) == 0 {
		return nil
	}
	return c.Refusef("ValidationError", "Control Plane upgrade is blocked due to recent usage of a Kubernetes API deprecated in the specified version. "+
		"Please refer to https://kubernetes.io/docs/reference/using-api/deprecation-guide to migrate the usage. AKS records the usage over the last 12 hours, "+
		"so you may need to wait that long after migrating before this error stops. To bypass this error, set forceUpgrade in upgradeSettings.overrideSettings. "+
		"Bypassing this error without migrating usage will result in the deprecated Kubernetes API calls failing. See details in https://aka.ms/aks/UpgradeAndDeprecatedAPIs. "+
		"Usage details: %d error occurred:\n%s", len(usages), strings.Join(usages, "\n"))
}

func clusterOfUsage(id string) string {
	before, _, _ := strings.Cut(id, "/usages/")
	return before
}
