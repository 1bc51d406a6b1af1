package config

import (
	"fmt"
	"slices"

	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/config/check"
	"tombolo/config/gitops"
	"tombolo/config/nodes"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// checkRoom warns of node groups on which Karpenter cannot run: before it does, nothing makes nodes.
func checkRoom(v *check.File, c *Cluster) {
	groups := c.Kubernetes.NodeGroups
	if _, on := c.Addons["karpenter"]; !on || len(groups) == 0 || c.Kubernetes.Auto() || !nodes.SoundSizes(v, groups) {
		return
	}
	count, first, room, known := roomOf(groups)
	if !known || first < 0 {
		return // of other instance types, and of nodes with taints, nothing is known
	}
	engine := string(c.GitOps.Engine)
	if v.Spoke && c.GitOps.Engine == gitops.ArgoCD {
		engine = ""
	}
	var need addon.Request
	for _, r := range c.Addons.BeforeKarpenter(engine) {
		pods := r.Pods
		if r.Nodes {
			pods *= count
		}
		need.Pods, need.CPU, need.Memory = need.Pods+pods, need.CPU+pods*r.CPU, need.Memory+pods*r.Memory
		if r.Apart && count < r.Pods {
			v.Warn(strict.Path("kubernetes.nodeGroups").Index(first).Field("size"), fmt.Sprintf("give min: %d or more", r.Pods),
				"starts with %s, and the %d pods of Karpenter run on different nodes, which Karpenter does not make itself", wording.Count(count, "node"), r.Pods)
			return
		}
	}
	if need.Pods > room.Pods || need.CPU > room.CPU || need.Memory > room.Memory {
		v.Warn(strict.Path("kubernetes.nodeGroups").Index(first).Field("instanceTypes"),
			"use a larger instance type, or a larger size.min",
			"what runs before Karpenter makes nodes asks for %d pods, %dm of CPU and %d MiB of memory, and the %s at the start have %d, %dm and %d MiB for pods",
			need.Pods, need.CPU, need.Memory, wording.Count(count, "node"), room.Pods, room.CPU, room.Memory)
	}
}

// roomOf is the number of nodes at the start that take every pod, what they have for pods, and the first
// of their groups, -1 for none. Of a group's instance types EKS may take the smallest.
func roomOf(groups []nodes.NodeGroup) (count, first int, room awsfacts.Room, known bool) {
	first = -1
	for i, g := range groups {
		if slices.ContainsFunc(g.Taints, func(t nodes.Taint) bool { return t.Effect != nodes.PreferNoSchedule }) {
			continue
		}
		if first < 0 {
			first = i
		}
		var least awsfacts.Room
		for n, instance := range g.InstanceTypes {
			r, ok := awsfacts.RoomOf(instance)
			if !ok {
				return 0, 0, awsfacts.Room{}, false
			}
			if n == 0 {
				least = r
			}
			least = awsfacts.Room{Pods: min(least.Pods, r.Pods), CPU: min(least.CPU, r.CPU), Memory: min(least.Memory, r.Memory)}
		}
		if g.MaxPods > 0 {
			least.Pods = g.MaxPods
		}
		n := *g.Size.Desired
		count += n
		room.Pods, room.CPU, room.Memory = room.Pods+n*least.Pods, room.CPU+n*least.CPU, room.Memory+n*least.Memory
	}
	return count, first, room, true
}
