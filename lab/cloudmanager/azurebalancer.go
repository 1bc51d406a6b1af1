package cloudmanager

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"tombolo/internal/armid"
	azurenetwork "tombolo/lab/azure/network"
	"tombolo/lab/standin"
)

// What the cloud controller manager of Azure reads and writes. AKS names every cluster
// kubernetes to it. Sources: pkg/consts and pkg/provider/azure_loadbalancer.go of
// https://github.com/kubernetes-sigs/cloud-provider-azure and
// https://learn.microsoft.com/en-us/azure/aks/internal-lb
const (
	publicBalancer   = "kubernetes"
	internalBalancer = publicBalancer + "-internal"

	azureServiceTag = "k8s-azure-service"
	azureClusterTag = "k8s-azure-cluster-name"

	azureInternal   = "service.beta.kubernetes.io/azure-load-balancer-internal"
	azureAddressTag = "service.beta.kubernetes.io/azure-pip-tags"
)

// holder is the cloud controller manager's finalizer: on Azure, no other controller of the lab
// makes load balancers.
func (w *azureMaker) holder(s *corev1.Service) string {
	if s.Spec.LoadBalancerClass != nil {
		return ""
	}
	return cleanupFinalizer
}

// balance has the load balancer of the cluster have a frontend for a Service. One that has
// become internal, or public, leaves the other load balancer.
func (w *azureMaker) balance(ctx context.Context, s *corev1.Service) (at corev1.LoadBalancerIngress, _ error) {
	m, err := w.managed()
	if err != nil {
		return at, err
	}
	w.balancing.Lock()
	defer w.balancing.Unlock()
	if s.Annotations[azureInternal] == "true" {
		if m.subnet == "" {
			return at, errors.New("the lab has no network that AKS makes, for an internal load balancer: give the cluster's nodes a subnet")
		}
		if err := w.leave(ctx, m, publicBalancer, s); err != nil {
			return at, err
		}
		front := map[string]any{"name": defaultName(s), "subnet": map[string]any{"id": m.subnet}}
		joined, err := w.join(ctx, m, internalBalancer, s, front)
		return corev1.LoadBalancerIngress{IP: joined.Str("privateIPAddress")}, err
	}
	if err := w.leave(ctx, m, internalBalancer, s); err != nil {
		return at, err
	}
	address, err := w.ensureAddress(ctx, m, s)
	if err != nil {
		return at, err
	}
	front := map[string]any{"name": defaultName(s), "publicIPAddress": map[string]any{"id": address.ID}}
	_, err = w.join(ctx, m, publicBalancer, s, front)
	return corev1.LoadBalancerIngress{IP: address.Text("ipAddress")}, err
}

// unbalance takes away the frontend of a Service and its public address.
func (w *azureMaker) unbalance(ctx context.Context, s *corev1.Service) error {
	m, err := w.managed()
	if err != nil {
		return err
	}
	w.balancing.Lock()
	defer w.balancing.Unlock()
	for _, name := range []string{publicBalancer, internalBalancer} {
		if err := w.leave(ctx, m, name, s); err != nil {
			return err
		}
	}
	return nil
}

func addressName(s *corev1.Service) string { return publicBalancer + "-" + defaultName(s) }

// ensureAddress makes the public address of a Service.
func (w *azureMaker) ensureAddress(ctx context.Context, m managed, s *corev1.Service) (standin.Resource, error) {
	if found, there := w.found(m, azurenetwork.AddressType, addressName(s)); there {
		return found, nil
	}
	made, err := w.cloud.Create(ctx, azurenetwork.AddressType, m.in(m.nodeGroup, map[string]any{
		"publicIpAddressName": addressName(s), "sku": map[string]any{"name": "Standard"}, "publicIPAllocationMethod": "Static",
		"tags": withTags(pairs(s.Annotations[azureAddressTag]), map[string]any{azureServiceTag: ownerOf(s), azureClusterTag: publicBalancer}),
	}))
	if err == nil {
		w.log.Info("a public address was made", "id", made.ID)
	}
	return made, err
}

// parts of a load balancer that a change of it gives anew.
type parts struct{ fronts, rules []any }

// join gives a load balancer a frontend with the rules of a Service, and returns what has
// become of it. The load balancer is made with its first frontend.
func (w *azureMaker) join(ctx context.Context, m managed, name string, s *corev1.Service, front map[string]any) (standin.Props, error) {
	id := armid.Group(m.subscription, m.nodeGroup) + "/providers/Microsoft.Network/loadBalancers/" + name
	balancer, there := w.found(m, azurenetwork.BalancerType, name)
	p := partsOf(balancer).without(s)
	p.fronts, p.rules = append(p.fronts, front), append(p.rules, rulesFor(id, s)...)
	var err error
	switch {
	case !there:
		_, err = w.cloud.Create(ctx, azurenetwork.BalancerType, m.in(m.nodeGroup, map[string]any{
			"loadBalancerName": name, "sku": map[string]any{"name": "Standard"}, "tags": m.tags,
			"backendAddressPools":      []any{map[string]any{"name": publicBalancer}},
			"frontendIPConfigurations": p.fronts, "loadBalancingRules": p.rules,
		}))
	case !slices.Equal(ruleNames(partsOf(balancer).rules), ruleNames(p.rules)):
		err = w.change(ctx, balancer.ID, p)
	}
	if err != nil {
		return nil, err
	}
	balancer, _ = w.found(m, azurenetwork.BalancerType, name)
	for _, joined := range standin.Props(balancer.Properties).Objects("frontendIPConfigurations") {
		if joined.Str("name") == defaultName(s) {
			return joined, nil
		}
	}
	return nil, fmt.Errorf("the load balancer %s has lost the frontend of %s", id, ownerOf(s))
}

// leave takes the frontend of a Service from a load balancer, which goes with its last one, and
// deletes the public address that the frontend had.
func (w *azureMaker) leave(ctx context.Context, m managed, name string, s *corev1.Service) error {
	if balancer, there := w.found(m, azurenetwork.BalancerType, name); there {
		before := partsOf(balancer)
		after := before.without(s)
		var err error
		switch {
		case len(after.fronts) == 0:
			err = w.deleteInCloud(ctx, azurenetwork.BalancerType, balancer.ID)
		case len(after.fronts) < len(before.fronts):
			err = w.change(ctx, balancer.ID, after)
		}
		if err != nil {
			return err
		}
	}
	if address, there := w.found(m, azurenetwork.AddressType, addressName(s)); there && name == publicBalancer {
		return w.deleteInCloud(ctx, azurenetwork.AddressType, address.ID)
	}
	return nil
}

func (w *azureMaker) change(ctx context.Context, id string, p parts) error {
	return w.cloud.Update(ctx, azurenetwork.BalancerType, id, map[string]any{"frontendIPConfigurations": p.fronts, "loadBalancingRules": p.rules})
}

// partsOf are a load balancer's as a change gives them: without what Azure has filled in.
func partsOf(balancer standin.Resource) parts {
	properties, p := standin.Props(balancer.Properties), parts{}
	filled := []string{"id", "etag", "provisioningState"}
	for _, list := range []struct {
		property string
		into     *[]any
	}{{"frontendIPConfigurations", &p.fronts}, {"loadBalancingRules", &p.rules}} {
		for _, part := range properties.Objects(list.property) {
			for _, name := range filled {
				delete(part, name)
			}
			*list.into = append(*list.into, map[string]any(part))
		}
	}
	return p
}

// without are the parts without those of a Service, whose names begin with the frontend's.
func (p parts) without(s *corev1.Service) parts {
	others := func(list []any) []any {
		return slices.DeleteFunc(slices.Clone(list), func(part any) bool {
			return strings.HasPrefix(standin.Props(part.(map[string]any)).Str("name"), defaultName(s))
		})
	}
	return parts{others(p.fronts), others(p.rules)}
}

// rulesFor are the rules of a Service's ports on a load balancer.
func rulesFor(balancer string, s *corev1.Service) []any {
	var rules []any
	for _, p := range s.Spec.Ports {
		protocol := "Tcp"
		if p.Protocol == corev1.ProtocolUDP {
			protocol = "Udp"
		}
		rules = append(rules, map[string]any{
			"name":     fmt.Sprintf("%s-%s-%d", defaultName(s), strings.ToUpper(protocol), p.Port),
			"protocol": protocol, "frontendPort": int(p.Port), "backendPort": int(p.Port), "enableFloatingIP": true,
			"frontendIPConfiguration": map[string]any{"id": balancer + "/frontendIPConfigurations/" + defaultName(s)},
			"backendAddressPool":      map[string]any{"id": balancer + "/backendAddressPools/" + publicBalancer},
		})
	}
	return rules
}

func ruleNames(rules []any) []string {
	var names []string
	for _, r := range rules {
		names = append(names, standin.Props(r.(map[string]any)).Str("name"))
	}
	slices.Sort(names)
	return names
}
