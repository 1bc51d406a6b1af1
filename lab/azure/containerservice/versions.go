package containerservice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tombolo/lab/standin"
)

// minor is a minor version of Kubernetes that AKS offers.
type minor struct {
	name string
	// patches, the oldest first.
	patches []string
	// lts is only for clusters with long-term support.
	lts bool
}

// offered are the versions in November 2026, the oldest first. Sources: the list of a region
// in https://github.com/Azure/kars/issues/516, and for patches
// https://github.com/Azure/terraform-azurerm-avm-res-containerservice-managedcluster/pull/267
var offered = []minor{
	{name: "1.32", patches: []string{"1.32.11", "1.32.12"}, lts: true},
	{name: "1.33", patches: []string{"1.33.11", "1.33.13"}, lts: true},
	{name: "1.34", patches: []string{"1.34.7", "1.34.9"}},
	{name: "1.35", patches: []string{"1.35.4", "1.35.5"}},
	{name: "1.36", patches: []string{"1.36.1", "1.36.2"}},
}

// defaultVersion is that of a cluster without one: AKS takes the minor version before the
// newest. Source: https://learn.microsoft.com/en-us/azure/aks/supported-kubernetes-versions
const defaultVersion = "1.35"

// KubernetesVersions are the minor versions that AKS offers to clusters without long-term
// support, the oldest first.
func KubernetesVersions() []string {
	var names []string
	for _, m := range offered {
		if !m.lts {
			names = append(names, m.name)
		}
	}
	return names
}

// index of the minor version that a version is of, among those that are offered; -1 for any
// other.
func index(version string) int {
	return slices.IndexFunc(offered, func(m minor) bool {
		return version == m.name || slices.Contains(m.patches, version)
	})
}

// exact is the version that a cluster runs with one: of a minor version, the newest patch.
func exact(version string) string {
	if i := index(version); i >= 0 && version == offered[i].name {
		return offered[i].patches[len(offered[i].patches)-1]
	}
	return version
}

// minorOf is a version without its patch.
func minorOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

func minorNumber(version string) int {
	_, number, _ := strings.Cut(minorOf(version), ".")
	n, _ := strconv.Atoi(number)
	return n
}

// older says that a version is before another one.
func older(a, b string) bool { return slices.Compare(numbers(a), numbers(b)) < 0 }

func numbers(version string) []int {
	var list []int
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part)
		list = append(list, n)
	}
	return list
}

// checkVersion refuses a version that AKS does not offer to the cluster. Sources:
// https://github.com/cloudnative-pg/cloudnative-pg/pull/5638 and
// https://github.com/Azure/secrets-store-csi-driver-provider-azure/pull/1713
func checkVersion(c *standin.Call, version string) error {
	in, i := c.In(), index(version)
	name := in.Str("resourceName")
	const see = "use [az aks get-versions] command to get the supported version list in this region. For more information, please check https://aka.ms/supported-version-list"
	if i < 0 {
		return c.Refusef("K8sVersionNotSupported", "Managed cluster %s is on version %s which is not supported in this region. Please %s", name, version, see)
	}
	if offered[i].lts && !longTerm(in) {
		return c.Refusef("K8sVersionNotSupported", "Managed cluster %s is on version %s, which is only available for Long-Term Support (LTS). If you intend to onboard to LTS, "+
			"please ensure the cluster is in Premium tier and LTS support plan (see https://aka.ms/aks/enable-lts). Otherwise, %s", name, exact(version), see)
	}
	return nil
}

// longTerm says that a cluster has long-term support.
func longTerm(cluster standin.Props) bool {
	return cluster.Sub("sku").Str("tier") == "Premium" && cluster.Str("supportPlan") == "AKSLongTermSupport"
}

// checkUpgrade refuses to skip a minor version without long-term support, to go back, to leave pools too far behind,
// and to upgrade what calls an API that the version does not have. Sources:
// https://github.com/rancher/dashboard/issues/11884 and
// https://learn.microsoft.com/en-us/azure/aks/upgrade-aks-control-plane
func checkUpgrade(c *standin.Call, from, to string) error {
	if to == from {
		return nil
	}
	if older(to, from) || index(to)-index(from) > 1 && (!longTerm(c.In()) || !longTerm(c.Old.Outputs)) {
		return c.Refusef("OperationNotAllowed", "Upgrading Kubernetes version %s to %s is not allowed. Available upgrades: [%s]. Please see https://aka.ms/aks-supported-k8s-ver for version details.",
			from, to, strings.Join(upgrades(from), " "))
	}
	for r := range PoolsOf(c.Cloud, c.Record.ID) {
		if err := checkSkew(c, r.Outputs.Str("currentOrchestratorVersion"), to); err != nil {
			return err
		}
	}
	return checkDeprecated(c, to)
}

// upgrades of a version, the newest first.
func upgrades(from string) []string {
	var list []string
	for i, m := range offered {
		for _, patch := range m.patches {
			if older(from, patch) && i-index(from) <= 1 {
				list = append(list, patch)
			}
		}
	}
	slices.Reverse(list)
	return list
}

// mostSkew is by how many minor versions nodes may be older than the control plane. Source:
// https://learn.microsoft.com/en-us/azure/aks/supported-kubernetes-versions
const mostSkew = 3

// checkSkew refuses nodes that are newer than the control plane, or too old for it. Source of
// the words: https://github.com/hashicorp/terraform-provider-azurerm/issues/24020
func checkSkew(c *standin.Call, nodes, control string) error {
	n, m := minorNumber(nodes), minorNumber(control)
	problem := ""
	switch {
	case n > m:
		problem = fmt.Sprintf("Minor version of node pool version %d is bigger than control plane version %d", n, m)
	case n == m && older(control, nodes):
		problem = fmt.Sprintf("Patch version of node pool version %s is bigger than control plane version %s", nodes, control)
	case m-n > mostSkew:
		problem = fmt.Sprintf("Minor version of node pool cannot be more than %d versions less than control plane's version. Minor version of node pool is %d and control plane is %d", mostSkew, n, m)
	default:
		return nil
	}
	return c.Refusef("NodePoolMcVersionIncompatible", "Node pool version %s and control plane version %s are incompatible. %s. For more information, please check https://aka.ms/aks/UpgradeVersionRules",
		nodes, control, problem)
}
