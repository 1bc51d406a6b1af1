package addon

// This file is what addons on Azure have in common.

// onAzure says that the cluster is on Azure.
func (f Facts) onAzure() bool { return f.Provider == Azure }

// useIdentity is the label of pods that get the identity of their service account. Source:
// https://azure.github.io/azure-workload-identity/docs/topics/service-account-labels-and-annotations.html
const useIdentity = "azure.workload.identity/use"

// federatedAccount is the values of a service account that the chart makes, with the identity
// of Azure that it gets.
func federatedAccount(name, clientID string) map[string]any {
	return map[string]any{
		"create": true, "name": name,
		"annotations": map[string]any{"azure.workload.identity/client-id": clientID},
	}
}

// federatedPods are the labels of pods that get the identity of their service account.
func federatedPods() map[string]any { return map[string]any{useIdentity: "true"} }
