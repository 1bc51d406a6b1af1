package cloudmanager

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func web(change func(*corev1.Service)) *corev1.Service {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "apps", UID: "0f9c1d2e-1111-2222-3333-444455556666"},
		Spec: corev1.ServiceSpec{
			Type:  corev1.ServiceTypeLoadBalancer,
			Ports: []corev1.ServicePort{{Port: 80}, {Port: 53, Protocol: corev1.ProtocolUDP}},
		},
	}
	if change != nil {
		change(s)
	}
	return s
}

// TestServiceHasALoadBalancer until it goes; meanwhile the network cannot.
func TestServiceHasALoadBalancer(t *testing.T) {
	class := controllerClass
	for name, tc := range map[string]struct {
		change    func(*corev1.Service)
		finalizer string
		tags      map[string]string
		host      string
	}{
		"cloud controller manager": {
			nil, "service.kubernetes.io/load-balancer-cleanup",
			map[string]string{"kubernetes.io/cluster/demo": "owned", "kubernetes.io/service-name": "apps/web"},
			"a0f9c1d2e11112222333344445555666-",
		},
		"load balancer controller": {
			func(s *corev1.Service) {
				s.Spec.LoadBalancerClass = &class
				s.Annotations = map[string]string{schemeAnnotation: "internet-facing"}
			}, "service.k8s.aws/resources",
			map[string]string{"elbv2.k8s.aws/cluster": "demo", "service.k8s.aws/stack": "apps/web", "service.k8s.aws/resource": "LoadBalancer"},
			"k8s-apps-web-",
		},
		"load balancer controller, by its annotation": {
			func(s *corev1.Service) {
				s.Annotations = map[string]string{typeAnnotation: "external", schemeAnnotation: "internet-facing"}
			}, "service.k8s.aws/resources",
			map[string]string{"elbv2.k8s.aws/cluster": "demo", "service.k8s.aws/stack": "apps/web", "service.k8s.aws/resource": "LoadBalancer"},
			"k8s-apps-web-",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccount(t)
			w := a.watching(web(tc.change))
			services := w.client.CoreV1().Services("apps")
			for range 2 { // once more changes nothing
				s, err := services.Get(t.Context(), "web", metav1.GetOptions{})
				assert.NilError(t, err)
				assert.NilError(t, w.reconcileService(t.Context(), s))
			}
			const made = "SecurityGroup Listener Listener LoadBalancer TargetGroup TargetGroup SecurityGroupIngressRule"
			assert.Check(t, is.Equal(a.kinds(), made))
			if found := a.client.Find(loadBalancerType, tc.tags); len(found) != 1 {
				t.Errorf("%d load balancers have the tags %v", len(found), tc.tags)
			}
			s, err := services.Get(t.Context(), "web", metav1.GetOptions{})
			if err != nil || len(s.Status.LoadBalancer.Ingress) != 1 || !strings.HasPrefix(s.Status.LoadBalancer.Ingress[0].Hostname, tc.host) {
				t.Errorf("status %+v, %v; want a host that begins with %s", s.Status, err, tc.host)
			}
			if len(s.Finalizers) != 1 || s.Finalizers[0] != tc.finalizer {
				t.Errorf("finalizers %v, want %s", s.Finalizers, tc.finalizer)
			}
			err = a.client.Delete(t.Context(), subnetType, a.subnets[0].(string))
			assert.Check(t, is.ErrorContains(err, "DependencyViolation"))
			now := metav1.Now()
			s.DeletionTimestamp = &now
			assert.NilError(t, w.reconcileService(t.Context(), s))
			assert.Check(t, is.Equal(a.kinds(), ""))
			if s, err = services.Get(t.Context(), "web", metav1.GetOptions{}); err == nil && len(s.Finalizers) > 0 {
				t.Errorf("the finalizers are left: %v", s.Finalizers)
			}
		})
	}
}

// TestServiceOfAnotherType loses its load balancer.
func TestServiceOfAnotherType(t *testing.T) {
	a := newAccount(t)
	w := a.watching(web(nil))
	assert.NilError(t, w.reconcileService(t.Context(), web(nil)))
	s, err := w.client.CoreV1().Services("apps").Get(t.Context(), "web", metav1.GetOptions{})
	assert.NilError(t, err)
	s.Spec.Type = corev1.ServiceTypeClusterIP
	assert.NilError(t, w.reconcileService(t.Context(), s))
	assert.Check(t, is.Equal(a.kinds(), ""))
	other := "example.com/other"
	if err := w.reconcileService(t.Context(), web(func(s *corev1.Service) { s.Spec.LoadBalancerClass = &other })); err != nil || a.kinds() != "" {
		t.Errorf("a class of somebody else's: %v, the cloud has %s", err, a.kinds())
	}
}

// TestServiceWithoutSubnets says which tag is missing.
func TestServiceWithoutSubnets(t *testing.T) {
	a := newAccount(t)
	s := web(func(s *corev1.Service) { s.Annotations = map[string]string{internalAnnotation: "true"} })
	err := a.watching(s).reconcileService(t.Context(), s)
	want := "no subnet of " + a.vpc + " has the tag kubernetes.io/role/internal-elb"
	assert.Check(t, err != nil && err.Error() == want, "got %v, want %s", err, want)
}

func TestIngressHasALoadBalancer(t *testing.T) {
	a := newAccount(t)
	class := "alb"
	i := &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "apps", Annotations: map[string]string{"alb.ingress.kubernetes.io/scheme": "internet-facing"}},
		Spec:       networkingv1.IngressSpec{IngressClassName: &class},
	}
	w := a.watching(i)
	assert.NilError(t, w.reconcileIngress(t.Context(), i.DeepCopy()))
	tags := map[string]string{"elbv2.k8s.aws/cluster": "demo", "ingress.k8s.aws/stack": "apps/web", "ingress.k8s.aws/resource": "LoadBalancer"}
	found := a.client.Find(loadBalancerType, tags)
	assert.Check(t, len(found) == 1 && found[0].Text("loadBalancerType") == "application", "load balancers %v", found)
	made, err := w.client.NetworkingV1().Ingresses("apps").Get(t.Context(), "web", metav1.GetOptions{})
	assert.Check(t, err == nil && len(made.Finalizers) == 1 && made.Finalizers[0] == "ingress.k8s.aws/resources" && len(made.Status.LoadBalancer.Ingress) == 1, "%+v, %v", made, err)
	now := metav1.Now()
	made.DeletionTimestamp = &now
	assert.NilError(t, w.reconcileIngress(t.Context(), made))
	assert.Check(t, is.Equal(a.kinds(), ""))
	nginx := "nginx"
	i.Spec.IngressClassName = &nginx
	if err := w.reconcileIngress(t.Context(), i); err != nil || a.kinds() != "" {
		t.Errorf("another class: %v, the cloud has %s", err, a.kinds())
	}
}
