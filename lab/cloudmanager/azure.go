package cloudmanager

import (
	"fmt"
	"strings"
	"sync"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/standin"
)

// azureMaker makes what a cluster asks of Azure.
type azureMaker struct {
	*watch
	// id of the cluster.
	id string
	// balancing is held while a load balancer is changed, which Services share.
	balancing sync.Mutex
}

// managed is a cluster of AKS.
type managed struct {
	// subscription and nodeGroup are where its nodes are.
	subscription, nodeGroup, location string
	// subnet of its nodes; "" where AKS has made it.
	subnet string
	tags   map[string]any
}

// managed tells where the cluster is.
func (w *azureMaker) managed() (managed, error) {
	for _, r := range w.cloud.Find(containerservice.ClusterType, nil) {
		if !arm.Same(r.ID, w.id) {
			continue
		}
		properties := standin.Props(r.Properties)
		m := managed{
			subscription: armid.SubscriptionOf(r.ID), nodeGroup: r.Text("nodeResourceGroup"), location: r.Text("location"), tags: properties.Sub("tags"),
		}
		for _, pool := range properties.Objects("agentPoolProfiles") {
			m.subnet = pool.Str("vnetSubnetID")
			break
		}
		return m, nil
	}
	return managed{}, fmt.Errorf("the cloud has no cluster %s", w.id)
}

// in adds a group and the location to the inputs of a resource.
func (m managed) in(group string, inputs map[string]any) map[string]any {
	return standin.Merged(standin.Props{"resourceGroupName": group, "location": m.location}, inputs)
}

// found is the resource of a type with a name in the group of the nodes, if there is one.
func (w *azureMaker) found(m managed, token, name string) (standin.Resource, bool) {
	for _, r := range w.cloud.Find(token, nil) {
		if arm.Same(armid.GroupOf(r.ID), armid.Group(m.subscription, m.nodeGroup)) && strings.EqualFold(armid.NameOf(r.ID), name) {
			return r, true
		}
	}
	return standin.Resource{}, false
}

// pairs reads a list such as a=b,c=d, as annotations and storage classes have tags. Source:
// https://cloud-provider-azure.sigs.k8s.io/topics/loadbalancer/
func pairs(text string) map[string]string {
	found := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			found[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return found
}
