package azure

import (
	"strings"

	"tombolo/components/aks"
	"tombolo/config"
	"tombolo/internal/kubeversion"
	"tombolo/stacks/core/live"
)

// This file reads node pools from the resources of a live cluster.

// nodePools reads the pool that is a part of the cluster, and then the others.
func (r *reader) nodePools() {
	k := &r.out.Cluster.Kubernetes
	pools := r.pools()
	for _, p := range pools {
		k.NodeGroups = append(k.NodeGroups, r.nodePool(p.name, p.has))
	}
	r.nodeVersion(pools)
	r.knows("Kubernetes.NodeGroups", "NodeGroup.Mode", "NodeGroup.VMSize", "NodeGroup.OS", "NodeGroup.Capacity", "NodeGroup.MaxPods", "NodeGroup.DiskGiB",
		"NodeGroup.Zones", "NodeGroup.Labels", "NodeGroup.Taints", "Size.Min", "Size.Max", "NodeUpdate.MaxSurge")
}

// pool is what the state has of a node pool.
type pool struct {
	name string
	has  live.Props
}

// pools are those within the cluster, and then those with a resource of their own. The cluster
// lists the latter, too, as they were when it was read: before an update of theirs.
func (r *reader) pools() []pool {
	var within, apart []pool
	has := map[string]bool{}
	for _, p := range r.had.OfType(poolToken) {
		name := strings.TrimPrefix(p.Name, r.out.Cluster.Name+"-pool-")
		has[name] = true
		apart = append(apart, pool{name, p.Outputs})
	}
	for _, p := range r.cluster.Items("agentPoolProfiles") {
		if name := p.Text("name"); !has[name] {
			within = append(within, pool{name, p})
		}
	}
	return append(within, apart...)
}

// nodePool is a pool as its resource tells it, without what AKS puts on nodes of spot capacity.
func (r *reader) nodePool(name string, pool live.Props) config.NodeGroup {
	smallest, largest := pool.Number("minCount"), pool.Number("maxCount")
	out := config.NodeGroup{
		Name: name, Mode: config.UserPool, VMSize: pool.Text("vmSize"), OS: inverse(systems, pool.Text("osSKU")),
		Size: config.Size{Min: &smallest, Max: &largest}, Capacity: config.OnDemand,
		MaxPods: pool.Number("maxPods"), DiskGiB: pool.Number("osDiskSizeGB"), Zones: pool.Texts("availabilityZones"),
		Labels: pool.In("nodeLabels").Map(), Update: config.NodeUpdate{MaxSurge: pool.In("upgradeSettings").Text("maxSurge")},
	}
	if pool.Text("mode") == "System" {
		out.Mode = config.SystemPool
	}
	for _, text := range pool.Texts("nodeTaints") {
		out.Taints = append(out.Taints, taint(text))
	}
	if pool.Text("scaleSetPriority") != "Spot" {
		return out
	}
	out.Capacity = config.Spot
	delete(out.Labels, aks.SpotKey)
	for i, t := range out.Taints {
		if t.Key == aks.SpotKey {
			out.Taints = append(out.Taints[:i:i], out.Taints[i+1:]...)
			break
		}
	}
	if file := r.fileGroup(name); file.Update.MaxSurge == "" { // AKS may say what it does not use
		out.Update.MaxSurge = ""
	}
	return out
}

// fileGroup is the group of the file with that name; the zero NodeGroup when there is none.
func (r *reader) fileGroup(name string) config.NodeGroup {
	for _, g := range r.file.Kubernetes.NodeGroups {
		if g.Name == name {
			return g
		}
	}
	return config.NodeGroup{}
}

// taint of AKS's key=value:effect.
func taint(text string) config.Taint {
	pair, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(pair, "=")
	return config.Taint{Key: key, Value: value, Effect: config.TaintEffect(effect)}
}

// nodeVersion is the oldest of the pools'. It is left out, as in the file, when the pools have
// the control plane's version or the one that the file wants for them.
func (r *reader) nodeVersion(pools []pool) {
	k := &r.out.Cluster.Kubernetes
	var oldest string
	for _, p := range pools {
		version := kubeversion.Minor(p.has.Text("orchestratorVersion"))
		if version != "" && (oldest == "" || config.CompareMinors(version, oldest) < 0) {
			oldest = version
		}
	}
	r.out.NodeVersion = oldest
	if oldest == "" {
		return
	}
	oldest = r.followed(oldest, r.file.Kubernetes.Nodes())
	if r.file.Kubernetes.NodeVersion != "" || oldest != k.Version && oldest != r.file.Kubernetes.Version {
		k.NodeVersion = oldest
	}
	r.knows("Kubernetes.NodeVersion")
}
