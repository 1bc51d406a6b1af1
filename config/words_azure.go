package config

import "tombolo/config/field"

// This file declares what a change of a key does to a cluster in Azure that lives, for the
// keys that only files for Azure have, and for those whose change does something else than on
// AWS. TestEffects fails for a key that is missing.
//
// What Azure can change, and what it refuses, is said by:
//   - the provider: in azure-native 2.90 a change of a cluster's location, dnsPrefix,
//     nodeResourceGroup or anything of networkProfile replaces it, and so does one of a
//     pool's vmSize.
//   - node pools: neither the size of the virtual machines nor that of their disks, nor
//     maxPods, zones and priority change
//     (https://learn.microsoft.com/azure/aks/create-node-pools,
//     https://learn.microsoft.com/azure/aks/concepts-storage,
//     https://learn.microsoft.com/azure/aks/spot-node-pool). Pools have names that the file
//     gives, so that one cannot be made anew beside itself.
//   - versions: no minor version is skipped, and there is no way back
//     (https://learn.microsoft.com/azure/aks/upgrade-aks-control-plane).
//   - the endpoint: a private cluster stays private without API Server VNet Integration, and
//     a zone only goes to none (https://learn.microsoft.com/azure/aks/private-clusters).
//   - the proxy: AKS makes the nodes of all pools anew (https://learn.microsoft.com/azure/aks/http-proxy).

const (
	aksProxyWords = "AKS makes the nodes of every group anew with it; the engine is installed anew with it, and once Git has its own files, Git decides"
	aksTagWords   = "every resource gets the tags in place; AKS hands them on to what it makes"
	aksRoleWords  = "role assignments are made and deleted; Azure lets pods know within minutes"
	poolRemedy    = "take the change back, or give the group another name too: the group of the new name is made, and the old one drained and deleted"
)

// poolKeeps is the case of a key that AKS keeps for the life of a pool.
func poolKeeps(what string) []field.Case {
	return []field.Case{{Effect: field.Impossible, Words: "AKS changes the " + what + " of no pool, and has one pool of a name", Remedy: poolRemedy}}
}

// firstPool is the case of changes to the pool that AKS makes the cluster with.
func firstPool() field.Case {
	return field.Case{
		When: "of the first with mode: system", Effect: field.NeedsRebuild, Applies: func(c field.Change) bool { return c.Live.FirstPool != c.File.FirstPool },
		Words:  "it is a part of the cluster itself, and core would have to make another pool that part",
		Remedy: "keep it first among the groups with mode: system; or make the cluster anew: `tombolo destroy`, then `tombolo up`",
	}
}

// FirstSystemPool is the name of the first node group with mode: system, which AKS makes the
// cluster with and which is a part of it; "" without one.
func (k Kubernetes) FirstSystemPool() string {
	for _, g := range k.NodeGroups {
		if g.Mode == SystemPool {
			return g.Name
		}
	}
	return ""
}
