package cloudmanager

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/lab/standin"
)

// The types of what a load balancer consists of.
const (
	loadBalancerType  = "aws:lb/loadBalancer:LoadBalancer"
	targetGroupType   = "aws:lb/targetGroup:TargetGroup"
	listenerType      = "aws:lb/listener:Listener"
	securityGroupType = "aws:ec2/securityGroup:SecurityGroup"
	ingressRuleType   = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
)

// balancer is a load balancer that an object asks for.
type balancer struct {
	name string
	// kind is network or application.
	kind     string
	internal bool
	ports    []port
	// tags that say whose it is, and by which all of it is found.
	tags map[string]string
	// asked are the tags that the controller was told to give all that it makes.
	asked map[string]string
	// role is the tag for what each part is; empty where parts are not told
	// apart.
	role string
}

type port struct {
	number   int
	protocol string // of the listener and its targets: TCP, UDP, HTTP
}

// tagsOf are the tags of a part of the load balancer.
func (b balancer) tagsOf(part string) map[string]any {
	tags := map[string]any{}
	for key, value := range b.tags {
		tags[key] = value
	}
	tags = withTags(b.asked, tags)
	if b.role != "" {
		tags[b.role] = part
	}
	return tags
}

// ensure makes what is missing of a load balancer, and returns its host.
func (w *watch) ensure(ctx context.Context, b balancer) (host string, _ error) {
	net, there := w.network()
	if !there {
		return "", fmt.Errorf("the cloud has no cluster %s", w.cluster)
	}
	var err error
	if b.asked, err = w.tagsFrom(ctx, "aws-load-balancer-controller", "defaultTags"); err != nil {
		return "", err
	}
	group, err := w.ensureGroup(ctx, b, net)
	if err != nil {
		return "", err
	}
	front, err := w.ensureFront(ctx, b, net, group)
	if err != nil {
		return "", err
	}
	for _, p := range b.ports {
		if err := w.ensureListener(ctx, b, net, front, p); err != nil {
			return "", err
		}
	}
	return front.Text("dnsName"), nil
}

// ensureGroup makes the security group of a load balancer, and lets it through
// to the nodes.
func (w *watch) ensureGroup(ctx context.Context, b balancer, net network) (standin.Resource, error) {
	groups := w.cloud.Find(securityGroupType, b.tags)
	if len(groups) == 0 {
		rules := []any{}
		for _, p := range b.ports {
			rules = append(rules, map[string]any{
				"protocol": transport(p.protocol), "fromPort": p.number, "toPort": p.number, "cidrBlocks": []any{"0.0.0.0/0"},
			})
		}
		group, err := w.cloud.Create(ctx, securityGroupType, map[string]any{
			"name": b.name, "description": "for the load balancer " + b.name, "vpcId": net.vpc,
			"ingress": rules, "tags": b.tagsOf("ManagedLBSecurityGroup"),
		})
		if err != nil {
			return standin.Resource{}, err
		}
		groups = append(groups, group)
	}
	if len(w.rulesFor(groups[0].ID)) > 0 {
		return groups[0], nil
	}
	_, err := w.cloud.Create(ctx, ingressRuleType, map[string]any{
		"securityGroupId": net.securityGroup, "referencedSecurityGroupId": groups[0].ID,
		"ipProtocol": "tcp", "fromPort": 0, "toPort": 65535, "description": "from the load balancer " + b.name,
	})
	return groups[0], err
}

// transport is the protocol below a listener's.
func transport(protocol string) string {
	if protocol == "UDP" {
		return "udp"
	}
	return "tcp"
}

// rulesFor are the rules of other groups that let a group in.
func (w *watch) rulesFor(group string) []standin.Resource {
	var found []standin.Resource
	for _, rule := range w.cloud.Find(ingressRuleType, nil) {
		if rule.Text("referencedSecurityGroupId") == group {
			found = append(found, rule)
		}
	}
	return found
}

func (w *watch) ensureFront(ctx context.Context, b balancer, net network, group standin.Resource) (standin.Resource, error) {
	if found := w.cloud.Find(loadBalancerType, b.tags); len(found) > 0 {
		return found[0], nil
	}
	subnets := subnetsFor(net, b.internal)
	if len(subnets) == 0 {
		return standin.Resource{}, fmt.Errorf("no subnet of %s has the tag %s", net.vpc, roleTag(b.internal))
	}
	made, err := w.cloud.Create(ctx, loadBalancerType, map[string]any{
		"name": b.name, "loadBalancerType": b.kind, "internal": b.internal, "subnets": subnets,
		"securityGroups": []any{group.ID}, "tags": b.tagsOf("LoadBalancer"),
	})
	if err == nil {
		w.log.Info("a load balancer was made", "name", b.name)
	}
	return made, err
}

// roleTag marks the subnets for load balancers. Source:
// https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
func roleTag(internal bool) string {
	if internal {
		return "kubernetes.io/role/internal-elb"
	}
	return "kubernetes.io/role/elb"
}

// subnetsFor are the subnets of a load balancer, one in each zone.
func subnetsFor(net network, internal bool) []any {
	zones, subnets := map[string]bool{}, []any{}
	for _, subnet := range net.subnets {
		if _, marked := subnet.tags[roleTag(internal)]; marked && !zones[subnet.zone] {
			zones[subnet.zone] = true
			subnets = append(subnets, subnet.id)
		}
	}
	return subnets
}

// ensureListener makes a port's target group and the listener that sends to it.
func (w *watch) ensureListener(ctx context.Context, b balancer, net network, front standin.Resource, p port) error {
	tags := maps.Clone(b.tags)
	tags["tombolo.lab/port"] = fmt.Sprint(p.number)
	targets := w.cloud.Find(targetGroupType, tags)
	if len(targets) == 0 {
		target := b.tagsOf("TargetGroup")
		target["tombolo.lab/port"] = tags["tombolo.lab/port"]
		made, err := w.cloud.Create(ctx, targetGroupType, map[string]any{
			"name": shortened(fmt.Sprintf("%d-%s", p.number, b.name)), "port": p.number, "protocol": p.protocol,
			"vpcId": net.vpc, "targetType": "ip", "tags": target,
		})
		if err != nil {
			return err
		}
		targets = append(targets, made)
	}
	for _, listener := range w.cloud.Find(listenerType, nil) {
		if listener.Text("loadBalancerArn") == front.ID && listener.Properties["port"] == float64(p.number) {
			return nil
		}
	}
	_, err := w.cloud.Create(ctx, listenerType, map[string]any{
		"loadBalancerArn": front.ID, "port": p.number, "protocol": p.protocol,
		"defaultActions": []any{map[string]any{"type": "forward", "targetGroupArn": targets[0].ID}},
	})
	return err
}

// deleteInCloud deletes a resource, and logs it.
func (w *watch) deleteInCloud(ctx context.Context, token, id string) error {
	if err := w.cloud.Delete(ctx, token, id); err != nil {
		return err
	}
	w.log.Info("deleted in the cloud", "id", id)
	return nil
}

// dismantle takes away everything that has the tags of a load balancer: what
// uses something before what is used.
func (w *watch) dismantle(ctx context.Context, tags map[string]string) error {
	for _, token := range []string{loadBalancerType, targetGroupType} {
		for _, r := range w.cloud.Find(token, tags) {
			if err := w.deleteInCloud(ctx, token, r.ID); err != nil {
				return err
			}
		}
	}
	for _, group := range w.cloud.Find(securityGroupType, tags) {
		for _, rule := range w.rulesFor(group.ID) {
			if err := w.cloud.Delete(ctx, ingressRuleType, rule.ID); err != nil {
				return err
			}
		}
		if err := w.cloud.Delete(ctx, securityGroupType, group.ID); err != nil {
			return err
		}
	}
	return nil
}

// longestName of a load balancer and of a target group.
const longestName = 32

// shortened is a name that ELB takes.
func shortened(name string) string {
	if len(name) > longestName {
		name = name[:longestName]
	}
	return cmp.Or(strings.Trim(name, "-"), "k8s")
}

// reconcileIngress gives an Ingress of the class alb its load balancer, and
// takes it away with the Ingress.
func (w *watch) reconcileIngress(ctx context.Context, i *networkingv1.Ingress) error {
	b := w.ingressBalancer(i)
	ingresses := w.client.NetworkingV1().Ingresses(i.Namespace)
	if i.DeletionTimestamp != nil || !isALB(i) {
		return release(ctx, ingresses, i, ingressFinalizer, func() error { return w.dismantle(ctx, b.tags) })
	}
	i, err := hold(ctx, ingresses, i, ingressFinalizer)
	if err != nil {
		return err
	}
	host, err := w.ensure(ctx, b)
	if err != nil {
		return err
	}
	if at := i.Status.LoadBalancer.Ingress; len(at) == 1 && at[0].Hostname == host {
		return nil
	}
	i.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{Hostname: host}}
	if _, err := ingresses.UpdateStatus(ctx, i, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("tell the host: %w", err)
	}
	return nil
}

func isALB(i *networkingv1.Ingress) bool {
	if class := i.Spec.IngressClassName; class != nil {
		return *class == "alb"
	}
	return i.Annotations["kubernetes.io/ingress.class"] == "alb"
}

func (w *watch) ingressBalancer(i *networkingv1.Ingress) balancer {
	return balancer{
		name: controllerName(w.cluster, i.Namespace, i.Name), kind: "application",
		internal: i.Annotations["alb.ingress.kubernetes.io/scheme"] != "internet-facing",
		ports:    []port{{80, "HTTP"}},
		tags:     map[string]string{"elbv2.k8s.aws/cluster": w.cluster, "ingress.k8s.aws/stack": i.Namespace + "/" + i.Name},
		role:     "ingress.k8s.aws/resource",
	}
}
