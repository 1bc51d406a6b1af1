package containerservice

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

// describePool fills in what AKS computes of a pool, and decides which nodes it has.
func describePool(c *standin.Call, r, control *standin.Record) {
	in, out := r.Inputs, r.Outputs
	before := out.Str("currentOrchestratorVersion")
	if c.Old != nil && arm.Same(c.Old.ID, r.ID) {
		before = c.Old.Outputs.Str("currentOrchestratorVersion")
	}
	version := before
	if given := in.Str("orchestratorVersion"); before == "" || given != "" && given != minorOf(before) {
		version = poolVersion(given, control)
	}
	out["name"], out["provisioningState"], out["count"] = in.Str("agentPoolName"), "Succeeded", keptCount(c, r)
	out["currentOrchestratorVersion"] = version
	out.SetDefault("orchestratorVersion", minorOf(version))
	out["nodeImageVersion"] = "AKSUbuntu-2204gen2containerd-202511.07.0"
	out["powerState"], out["eTag"] = map[string]any{"code": "Running"}, arm.UUID()
	out.SetDefaults(standin.Props{
		"mode": "User", "osType": "Linux", "osSKU": "Ubuntu", "osDiskType": "Managed", "osDiskSizeGB": 128, "maxPods": 250, "kubeletDiskType": "OS",
		"enableFIPS": false, "enableNodePublicIP": false, "scaleDownMode": "Delete", "upgradeSettings": map[string]any{"maxSurge": "10%"},
		"securityProfile": map[string]any{"enableSecureBoot": false, "enableVTPM": false},
	})
	if before != "" && before != version {
		r.Nodes = nil // an upgrade has all nodes be new ones
	}
	describeNodes(r, control, version)
	standin.Normal(map[string]any(out))
}

// keptCount is how many nodes a pool has: as asked for, or what its autoscaler has made of
// it, as far as the limits allow. Source: https://learn.microsoft.com/en-us/azure/aks/cluster-autoscaler
func keptCount(c *standin.Call, r *standin.Record) int {
	in := r.Inputs
	if !in.Boolean("enableAutoScaling") || len(r.Nodes) == 0 || c.Old == nil {
		return wanted(in)
	}
	return min(max(len(r.Nodes), in.Integer("minCount")), in.Integer("maxCount"))
}

// describeNodes keeps the nodes that there are, and makes or drops some for the count.
func describeNodes(r, control *standin.Record, version string) {
	want := int(number(r.Outputs["count"]))
	for len(r.Nodes) < want {
		r.Nodes = append(r.Nodes, newNode(r, control, len(r.Nodes)))
	}
	r.Nodes = r.Nodes[:want]
	var taints []standin.Taint
	for _, text := range r.Inputs.List("nodeTaints") {
		taints = append(taints, parseTaint(text))
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		n.Taints, n.Version = taints, version
		n.Labels = nodeLabels(r, control, n)
	}
}

func number(value any) float64 {
	switch v := value.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// parseTaint reads key=value:effect.
func parseTaint(text string) standin.Taint {
	pair, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(pair, "=")
	return standin.Taint{Key: key, Value: value, Effect: effect}
}

// newNode is a machine of a pool's scale set. A set that begins anew has a name of its own,
// so that no node takes over another one's. Source of the names:
// https://learn.microsoft.com/en-us/azure/aks/manage-node-pools
func newNode(r, control *standin.Record, i int) standin.Node {
	pool, set := r.Outputs.Str("name"), arm.Hashed(r.ID)
	if len(r.Nodes) > 0 {
		set = strings.Split(strings.TrimPrefix(r.Nodes[0].Name, "aks-"+pool+"-"), "-")[0]
	} else if r.Outputs.Has("currentOrchestratorVersion") {
		set = arm.Hashed(r.ID, r.Outputs.Str("currentOrchestratorVersion"))
	}
	zone := ""
	if zones := r.Inputs.List("availabilityZones"); len(zones) > 0 {
		zone = zones[i%len(zones)]
	}
	scaleSet := fmt.Sprintf("aks-%s-%s-vmss", pool, set)
	return standin.Node{
		Pods: r.Outputs.Integer("maxPods"),
		Name: fmt.Sprintf("%s%06s", scaleSet, base36(i)), InstanceType: r.Outputs.Str("vmSize"),
		Zone:       zoneName(control.Outputs.Str("location"), zone),
		ProviderID: fmt.Sprintf("azure://%s/providers/Microsoft.Compute/virtualMachineScaleSets/%s/virtualMachines/%d", strings.ToLower(nodeGroupOf(control)), scaleSet, i),
	}
}

// base36 is how scale sets number their machines, with zeros in front.
func base36(i int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	text := ""
	for ; i > 0; i /= 36 {
		text = string(digits[i%36]) + text
	}
	return strings.Repeat("0", max(0, 6-len(text))) + text
}

// nodeLabels are those that AKS and the kubelet put on a node, and the pool's own. Source:
// https://learn.microsoft.com/en-us/azure/aks/use-labels
func nodeLabels(r, control *standin.Record, n *standin.Node) map[string]string {
	pool, location := r.Outputs.Str("name"), control.Outputs.Str("location")
	s, _ := sizeOf(n.InstanceType)
	labels := map[string]string{
		"agentpool": pool, "kubernetes.azure.com/agentpool": pool,
		"kubernetes.azure.com/cluster":            control.Outputs.Str("nodeResourceGroup"),
		"kubernetes.azure.com/mode":               strings.ToLower(r.Outputs.Str("mode")),
		"kubernetes.azure.com/node-image-version": r.Outputs.Str("nodeImageVersion"),
		"kubernetes.azure.com/os-sku":             r.Outputs.Str("osSKU"), "kubernetes.azure.com/role": "agent",
		"kubernetes.io/arch": s.arch(), "kubernetes.io/hostname": n.Name, "kubernetes.io/os": "linux",
		"node.kubernetes.io/instance-type": n.InstanceType,
		"topology.kubernetes.io/region":    location, "topology.kubernetes.io/zone": n.Zone,
		"topology.disk.csi.azure.com/zone": strings.TrimPrefix(n.Zone, "0"),
	}
	if r.Outputs.Str("scaleSetPriority") == "Spot" {
		labels["kubernetes.azure.com/scalesetpriority"] = "spot"
	}
	maps.Copy(labels, r.Inputs.Strs("nodeLabels"))
	return labels
}

// setNodes brings the nodes of a pool to its cluster's control plane.
func setNodes(ctx context.Context, c *standin.Cloud, r *standin.Record) error {
	name := armid.NameOf(clusterIDOf(r.ID))
	if err := c.Clusters.SetNodes(ctx, name, armid.NameOf(r.ID), r.Nodes); err != nil {
		return &arm.Error{Status: 200, Code: "CreateVMSSAgentPoolFailed", Message: fmt.Sprintf("The nodes of agent pool %s do not join: %v", r.ID, err)}
	}
	return nil
}

// Interface is what a cluster's nodes have in a subnet: the id of a network interface of the
// first node there, empty where there is none. The account is locked.
func Interface(c *standin.Cloud, subnet *standin.Record) string {
	for r := range c.Each(PoolType, standin.Global) {
		if arm.Same(r.Outputs.Str("vnetSubnetID"), subnet.ID) {
			return interfaceOf(r)
		}
	}
	return ""
}

// interfaceOf is the id of the network interface of a pool's first node.
func interfaceOf(pool *standin.Record) string {
	machine := armid.GroupOf(pool.ID) + "/providers/Microsoft.Compute/virtualMachineScaleSets/aks-" + pool.Outputs.Str("name") + "-" + arm.Hashed(pool.ID) + "-vmss"
	if len(pool.Nodes) > 0 {
		machine = strings.TrimPrefix(pool.Nodes[0].ProviderID, "azure://")
	}
	name := armid.NameOf(strings.Split(machine, "/virtualMachines/")[0])
	return machine + "/networkInterfaces/" + name + "/ipConfigurations/ipconfig1"
}
