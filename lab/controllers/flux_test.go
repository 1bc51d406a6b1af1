package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// insidePlans lets go-cmp look into plans.
func insidePlans() cmp.Option {
	return cmp.AllowUnexported(plan{}, invocation{}, flux{}, argocd{})
}

func fluxDeployment(image string, edit func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "source-controller", Namespace: "flux-system"},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			ServiceAccountName: "source-controller",
			Containers: []corev1.Container{{
				Name: "manager", Image: image,
				Args: []string{"--log-level=info", "--storage-adv-addr=source-controller.$(RUNTIME_NAMESPACE).svc."},
				Env: []corev1.EnvVar{
					{Name: "TUF_ROOT", Value: "/tmp/.sigstore"},
					{Name: "MODE", Value: "test"},
				},
			}},
		}}},
	}
	if edit != nil {
		edit(d)
	}
	return d
}

func TestFluxPlan(t *testing.T) {
	const image = "registry.test:5000/fluxcd/source-controller:v1.7.3@sha256:abc"
	zero := int32(0)
	base := plan{
		family: flux{}, cluster: "demo",
		process: "demo-source-controller", tool: "source-controller", namespace: "flux-system", serviceAccount: "source-controller",
		args: []string{"--log-level=info", "--storage-adv-addr=source-controller.flux-system.svc."},
		env:  []corev1.EnvVar{{Name: "MODE", Value: "test"}},
	}
	elsewhere := base
	elsewhere.process, elsewhere.namespace = "demo-gitops-source-controller", "gitops"
	elsewhere.args = []string{"--log-level=info", "--storage-adv-addr=source-controller.gitops.svc."}
	nobody := base
	nobody.serviceAccount = "default"
	restarted := base
	restarted.annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "now"}
	tests := map[string]struct {
		d      *appsv1.Deployment
		want   plan
		wanted bool
	}{
		"flux's own":      {fluxDeployment(image, nil), base, true},
		"other namespace": {fluxDeployment(image, func(d *appsv1.Deployment) { d.Namespace = "gitops" }), elsewhere, true},
		"default account": {fluxDeployment(image, func(d *appsv1.Deployment) { d.Spec.Template.Spec.ServiceAccountName = "" }), nobody, true},
		"restarted":       {fluxDeployment(image, func(d *appsv1.Deployment) { d.Spec.Template.Annotations = restarted.annotations }), restarted, true},
		"command is dropped": {fluxDeployment(image, func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Command = []string{"/manager"}
		}), base, true},
		"no replicas":   {fluxDeployment(image, func(d *appsv1.Deployment) { d.Spec.Replicas = &zero }), plan{}, false},
		"going":         {fluxDeployment(image, func(d *appsv1.Deployment) { d.DeletionTimestamp = &metav1.Time{Time: time.Now()} }), plan{}, false},
		"another image": {fluxDeployment("nginx:1", nil), plan{}, false},
		"longer name":   {fluxDeployment("fluxcd/my-source-controller", nil), plan{}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, wanted := planFor("demo", asWorkload(test.d))
			if diff := cmp.Diff(test.want, got, insidePlans()); diff != "" || wanted != test.wanted {
				t.Errorf("wanted %t:\n%s", wanted, diff)
			}
		})
	}
}

// TestAsOlder: what the lab runs substitutes as the release in the manifest does.
func TestAsOlder(t *testing.T) {
	for _, test := range []struct{ image, args, want string }{
		{"a/kustomize-controller:v1.7.3", "--x", "--x --feature-gates=StrictPostBuildSubstitutions=false"},
		{"a/kustomize-controller:v1.7.3", "--feature-gates=A=true", "--feature-gates=A=true,StrictPostBuildSubstitutions=false"},
		{"a/kustomize-controller:v1.7.3", "--feature-gates=StrictPostBuildSubstitutions=true", "--feature-gates=StrictPostBuildSubstitutions=true"},
		{"a/kustomize-controller:v1.9.4", "--x", "--x"},
		{"a/kustomize-controller@sha256:abc", "--x", "--x"},
		{"a/helm-controller:v1.4.3", "--x", "--x"},
	} {
		assert.Check(t, is.Equal(strings.Join(asOlder([]string{test.args}, test.image), " "), test.want), test.image)
	}
}

func TestFluxAdapt(t *testing.T) {
	l := listeners{metrics: 1, health: 2, source: 3, events: 4, receiver: 5}
	always := []string{"--enable-leader-election=false", "--metrics-addr=127.0.0.1:1", "--health-addr=127.0.0.1:2"}
	const dependencies = "--requeue-dependency=1s"
	storage := []string{"--storage-path=/lab/data", "--storage-addr=127.0.0.1:3", "--storage-adv-addr=127.0.0.1:3"}
	tests := map[string]struct {
		tool string
		args []string
		want []string
	}{
		"source-controller": {
			"source-controller",
			[]string{"--events-addr=", "--watch-all-namespaces=true", "--enable-leader-election", "--storage-path=/data", "--storage-adv-addr=x.svc."},
			append(append([]string{"--watch-all-namespaces=true"}, always...), storage...),
		},
		"values apart": {
			"kustomize-controller",
			[]string{"--events-addr", "http://notification-controller.flux-system.svc/", "--log-level", "debug", "--enable-leader-election", "--health-addr", ":9440", "--requeue-dependency=30s"},
			append(append([]string{"--log-level", "debug"}, always...), "--events-addr=http://127.0.0.1:4/", dependencies),
		},
		"notification-controller": {
			"notification-controller",
			[]string{"--watch-all-namespaces", "--events-addr=:9090", "--receiverAddr=:9292"},
			append(append([]string{"--watch-all-namespaces"}, always...), "--events-addr=127.0.0.1:4", "--receiverAddr=127.0.0.1:5"),
		},
		"feature gates stay": {
			"kustomize-controller",
			[]string{"--feature-gates=StrictPostBuildSubstitutions=true"},
			append(append([]string{"--feature-gates=StrictPostBuildSubstitutions=true"}, always...), dependencies),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Check(t, is.DeepEqual(test.want, adapt(test.args, test.tool, "/lab/data", l)))
		})
	}
}
