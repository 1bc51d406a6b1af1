package azure

import (
	"strings"

	"tombolo/automation/drift"
	"tombolo/internal/armid"
)

// managedTag is the tag of the resource group that AKS makes for a cluster.
const managedTag = "aks-managed-cluster-name"

// makers are what makes resources for a cluster besides its stacks, by a tag that each of them
// sets, the first that fits. Sources: pkg/azureconstants in kubernetes-sigs/azuredisk-csi-driver,
// pkg/consts in kubernetes-sigs/cloud-provider-azure,
// https://learn.microsoft.com/azure/aks/use-tags and
// https://learn.microsoft.com/azure/backup/azure-kubernetes-service-backup-overview.
var makers = drift.Makers{
	{"kubernetes.io-created-for-pvc-name", "the Azure Disk CSI driver"},
	{"kubernetes.io-created-for-pv-name", "the Azure Disk CSI driver"},
	{"k8s-azure-created-by", "a CSI driver"},
	{"k8s-azure-service", "the Azure cloud provider"},
	{"k8s-azure-cluster-name", "the Azure cloud provider"},
	{"aks-managed-poolName", "AKS node pools"},
	{"karpenter.sh_nodepool", "AKS node auto-provisioning"},
	{managedTag, "AKS"},
}

// Maker is what makes resources with such tags besides the stacks.
func (Cloud) Maker(tags map[string]string) string { return makers.Of(tags) }

// SetByOthers says that the number of nodes of a pool is for autoscalers, and that versions
// with their patch, and images, are for AKS's own upgrades.
func (Cloud) SetByOthers(typ, property string) bool {
	switch plain(typ) {
	case "azure-native:containerservice:AgentPool":
		return property == "count" || property == "nodeImageVersion" || property == "currentOrchestratorVersion"
	case plain(clusterType):
		return strings.HasPrefix(property, "agentPoolProfiles[") && (strings.HasSuffix(property, "].count") || strings.HasSuffix(property, "].nodeImageVersion")) ||
			property == "currentKubernetesVersion"
	}
	return false
}

// Name reads an id of the Resource Manager. Names are their makers': only the whole id tells
// a resource.
func (Cloud) Name(text string) drift.Named {
	id, ok := armid.Parse(text)
	if !ok {
		return drift.Named{Name: text}
	}
	return drift.Named{Type: id.Type, Name: id.Name}
}
