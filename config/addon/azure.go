package addon

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

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

// inTheWorld are the parts of a name that is unique in the world: at most 12 letters and digits of
// the cluster's name, for people, and 8 digits of what tells the cluster from all others.
func (f Facts) inTheWorld() (name, sum string) {
	all := sha256.Sum256([]byte(strings.Join([]string{f.Account, strings.ToLower(f.ResourceGroup), f.Cluster}, "/")))
	name = strings.ReplaceAll(f.Cluster, "-", "")
	return name[:min(len(name), 12)], hex.EncodeToString(all[:4])
}
