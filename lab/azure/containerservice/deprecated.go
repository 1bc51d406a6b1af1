package containerservice

import (
	"fmt"
	"strings"
	"time"

	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

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
