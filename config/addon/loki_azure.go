package addon

import (
	"cmp"
	"slices"

	"tombolo/internal/armid"
)

// containerNeeds are a blob container, and an identity that reads, writes and deletes what is in
// it, and nothing else. Source:
// https://grafana.com/docs/loki/latest/setup/install/helm/deployment-guides/azure/, which gives the
// role on the whole account.
func containerNeeds(f Facts, o LokiOptions) Needs {
	container := &Container{ID: o.Container}
	if container.ID == "" {
		container.Account, container.Name, container.ExpireDays = storageName(f), "chunks", o.RetentionDays+lokiGraceDays
	} else {
		container.Account, container.Name = armid.ContainerParts(container.ID)
	}
	id := cmp.Or(container.ID, armid.Container(f.Account, f.ResourceGroup, container.Account, container.Name))
	return Needs{Container: container, Identities: []Identity{{
		ServiceAccount: lokiAccount, Roles: []Role{{Name: "Storage Blob Data Contributor", Scope: id}},
	}}}
}

// storageName has at most 24 lower-case letters and digits, as Azure takes it:
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftstorage
func storageName(f Facts) string {
	name, sum := f.inTheWorld()
	return "loki" + name + sum
}

// lokiContainer is a container, and a volume of the StorageClass that AKS brings. Sources:
// loki.lokiStorageConfig.azure in templates/_helpers.tpl, and templates/_pod.tpl, of
// https://github.com/grafana-community/helm-charts/tree/loki-18.11.0/charts/loki, and
// https://learn.microsoft.com/azure/aks/azure-csi-disk-storage-provision#built-in-storage-classes
func lokiContainer(in Input[LokiOptions], out Outputs) lokiStore {
	return lokiStore{
		bucket: out.Made[ContainerName],
		storage: map[string]any{
			"type": "azure", "bucketNames": map[string]any{"chunks": out.Made[ContainerName]},
			"azure": map[string]any{"accountName": out.Made[AccountName], "useFederatedToken": true},
		},
		account: federatedAccount(lokiAccount, out.Made[ClientID]),
		pod: with(map[string]any{
			"persistence": map[string]any{"enabled": true, "storageClass": "managed-csi"}, "podLabels": federatedPods(),
		}, "extraEnv", lokiEnv(in)),
	}
}

// lokiEnv has Loki get its tokens by the proxy, and reach core's account directly: what comes by
// the proxy is not from the nodes' subnet, which alone is let in.
func lokiEnv(in Input[LokiOptions]) []any {
	f := in.Facts
	if in.Options.Container == "" {
		f.Egress.NoProxy = append(slices.Clone(f.Egress.NoProxy), storageName(f)+".blob.core.windows.net")
	}
	return f.proxyEnv()
}
