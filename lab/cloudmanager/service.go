package cloudmanager

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/lab/aws/eks"
	"tombolo/lab/standin"
)

const (
	controllerClass    = "service.k8s.aws/nlb"
	typeAnnotation     = "service.beta.kubernetes.io/aws-load-balancer-type"
	schemeAnnotation   = "service.beta.kubernetes.io/aws-load-balancer-scheme"
	internalAnnotation = "service.beta.kubernetes.io/aws-load-balancer-internal"
)

// reconcileService gives a Service of the type LoadBalancer its load balancer,
// and takes it from one that is deleted or of another type now.
func (w *watch) reconcileService(ctx context.Context, s *corev1.Service) error {
	finalizer := w.maker.holder(s)
	if finalizer == "" {
		return nil
	}
	services := w.client.CoreV1().Services(s.Namespace)
	if s.DeletionTimestamp != nil || s.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return release(ctx, services, s, finalizer, func() error { return w.maker.unbalance(ctx, s) })
	}
	s, err := hold(ctx, services, s, finalizer)
	if err != nil {
		return err
	}
	at, err := w.maker.balance(ctx, s)
	if err != nil {
		return err
	}
	if told := s.Status.LoadBalancer.Ingress; len(told) == 1 && told[0].Hostname == at.Hostname && told[0].IP == at.IP {
		return nil
	}
	s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{at}
	if _, err := services.UpdateStatus(ctx, s, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("tell where the load balancer is: %w", err)
	}
	return nil
}

// ownerOf is a Service as controllers name it in tags.
func ownerOf(s *corev1.Service) string { return s.Namespace + "/" + s.Name }

// defaultName is the name that Kubernetes itself has for the load balancer of a Service.
// Source: https://github.com/kubernetes/cloud-provider/blob/master/cloud.go
func defaultName(s *corev1.Service) string {
	return shortened("a" + strings.ReplaceAll(string(s.UID), "-", ""))
}

// serviceBalancer is the load balancer on AWS that a Service asks for, and the finalizer of
// its controller; "" for a class without a controller in the lab.
//
// A Service without a class is the cloud controller manager's, one of the class
// service.k8s.aws/nlb, or annotated as external, the AWS Load Balancer Controller's: they
// differ in finalizers, tags, and in the scheme that they take for granted. Source:
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/nlb/
func (w *watch) serviceBalancer(s *corev1.Service) (finalizer string, b balancer) {
	owner := ownerOf(s)
	b = balancer{kind: "network"}
	for _, p := range s.Spec.Ports {
		protocol := "TCP"
		if p.Protocol == corev1.ProtocolUDP {
			protocol = "UDP"
		}
		b.ports = append(b.ports, port{int(p.Port), protocol})
	}
	class := s.Spec.LoadBalancerClass
	external := class == nil && s.Annotations[typeAnnotation] == "external"
	switch {
	case class == nil && !external:
		b.name = defaultName(s)
		b.internal = s.Annotations[internalAnnotation] == "true" || s.Annotations[schemeAnnotation] == "internal"
		b.tags = map[string]string{"kubernetes.io/cluster/" + w.cluster: "owned", "kubernetes.io/service-name": owner}
		return cleanupFinalizer, b
	case external || *class == controllerClass:
		b.name = controllerName(w.cluster, s.Namespace, s.Name)
		b.internal = s.Annotations[schemeAnnotation] != "internet-facing"
		b.tags = map[string]string{"elbv2.k8s.aws/cluster": w.cluster, "service.k8s.aws/stack": owner}
		b.role = "service.k8s.aws/resource"
		return serviceFinalizer, b
	}
	return "", b
}

// controllerName is a name as the AWS Load Balancer Controller makes them up.
func controllerName(cluster, namespace, name string) string {
	sum := sha256.Sum256([]byte(cluster + "/" + namespace + "/" + name))
	return fmt.Sprintf("k8s-%.8s-%.8s-%s", plain(namespace), plain(name), hex.EncodeToString(sum[:5]))
}

// plain leaves the letters and digits of a name.
func plain(name string) string { return strings.NewReplacer("-", "", ".", "").Replace(name) }

const (
	clusterType = "aws:eks/cluster:Cluster"
	subnetType  = "aws:ec2/subnet:Subnet"
)

// network is where a cluster is.
type network struct {
	vpc string
	// region of the cluster, and its version of Kubernetes, major.minor.
	region, version string
	// securityGroup is the cluster's, which its nodes have too.
	securityGroup string
	// auto says that it has EKS Auto Mode.
	auto bool
	// subnets of the VPC, in the order of their creation.
	subnets []subnet
}

// subnet of the network that a cluster is in.
type subnet struct {
	id, zone string
	tags     map[string]string
}

// image is the AMI that nodes of the cluster get now.
func (n network) image() string { return eks.NodeImage(n.region, n.version) }

// network tells where the cluster is; false where the cloud has none of its name.
func (w *watch) network() (network, bool) {
	for _, cluster := range w.cloud.Find(clusterType, nil) {
		if cluster.ID == w.cluster {
			config := standin.Props(cluster.Properties).Sub("vpcConfig")
			vpc := config.Str("vpcId")
			region := strings.Split(cluster.Text("arn")+":::", ":")[3]
			return network{
				vpc: vpc, securityGroup: config.Str("clusterSecurityGroupId"), subnets: w.subnetsOf(vpc),
				region: region, version: cluster.Text("version"), auto: eks.AutoMode(standin.Props(cluster.Properties)),
			}, true
		}
	}
	return network{}, false
}

// nodeSubnet is where nodes that nobody has placed go: a private subnet, if there is one.
func (n network) nodeSubnet() any {
	if private := subnetsFor(n, true); len(private) > 0 {
		return private[0]
	}
	return n.subnets[0].id
}

func (w *watch) subnetsOf(vpc string) []subnet {
	var found []subnet
	for _, r := range w.cloud.Find(subnetType, nil) {
		if r.Text("vpcId") == vpc {
			found = append(found, subnet{id: r.ID, zone: r.Text("availabilityZone"), tags: standin.Props(r.Properties).Strs("tags")})
		}
	}
	return found
}
