package controllers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/lab/ports"
)

func argocdMeta(name, component string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: "argocd", Labels: map[string]string{
		"app.kubernetes.io/part-of": "argocd", "app.kubernetes.io/component": component,
	}}
}

func podOf(account string, inits, containers []corev1.Container) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{ServiceAccountName: account, InitContainers: inits, Containers: containers}}
}

func TestArgoCDPlan(t *testing.T) {
	secretInit := corev1.Container{Image: "quay.test/argoproj/argocd:v3.2.0", Command: []string{"argocd", "admin", "redis-initial-password"}}
	copyUtil := corev1.Container{Image: "quay.test/argoproj/argocd:v3.2.0", Command: []string{"/bin/cp", "-n", "/usr/local/bin/argocd", "/shared"}}
	password := []invocation{{tool: "argocd", args: []string{"admin", "redis-initial-password"}}}
	program := func(name string, args ...string) corev1.Container {
		return corev1.Container{Image: "quay.test/argoproj/argocd:v3.2.0", Args: append([]string{"/usr/local/bin/" + name}, args...), Env: []corev1.EnvVar{
			{Name: "MODE", Value: "test"},
			{Name: "HELM_CACHE_HOME", Value: "/helm-working-dir"},
			{Name: "ARGOCD_SERVER_METRICS_LISTEN_ADDRESS", Value: "0.0.0.0"},
		}}
	}
	planned := func(tool, process, account string, p plan) plan {
		p.family, p.cluster, p.namespace = argocd{}, "hub", "argocd"
		p.tool, p.process, p.serviceAccount = tool, process, account
		return p
	}
	env := []corev1.EnvVar{{Name: "MODE", Value: "test"}}
	redis := corev1.Container{Image: "ecr.test/docker/library/redis:8.2.2-alpine", Args: []string{"--save", ""}}
	haproxy := corev1.Container{Image: "ecr.test/docker/library/haproxy:3.0.8-alpine"}
	tests := map[string]struct {
		object any
		want   plan
		wanted bool
	}{
		"application controller": {
			&appsv1.StatefulSet{ObjectMeta: argocdMeta("argocd-application-controller", "application-controller"), Spec: appsv1.StatefulSetSpec{
				Template: podOf("controller", nil, []corev1.Container{program(applicationController, "--loglevel", "debug")}),
			}},
			planned(applicationController, "hub-argocd-application-controller", "controller", plan{args: []string{"--loglevel", "debug"}, env: env}), true,
		},
		"repo server": {
			&appsv1.Deployment{ObjectMeta: argocdMeta("argocd-repo-server", "repo-server"), Spec: appsv1.DeploymentSpec{
				Template: podOf("repo", []corev1.Container{copyUtil}, []corev1.Container{program(repoServer)}),
			}},
			planned(repoServer, "hub-argocd-repo-server", "repo", plan{args: []string{}, env: env}), true,
		},
		"redis": {
			&appsv1.Deployment{ObjectMeta: argocdMeta("argocd-redis", "redis"), Spec: appsv1.DeploymentSpec{
				Template: podOf("redis", []corev1.Container{secretInit}, []corev1.Container{redis}),
			}},
			planned(argocdRedis, "hub-argocd-redis", "redis", plan{inits: password, env: []corev1.EnvVar{redisPassword()}}), true,
		},
		"the proxy of redis": {
			&appsv1.Deployment{ObjectMeta: argocdMeta("argocd-redis-ha-haproxy", "redis"), Spec: appsv1.DeploymentSpec{
				Template: podOf("proxy", []corev1.Container{secretInit}, []corev1.Container{haproxy}),
			}},
			planned(argocdRedis, "hub-argocd-redis-ha-haproxy", "proxy", plan{inits: password, env: []corev1.EnvVar{redisPassword()}}), true,
		},
		"redis behind its proxy": {object: &appsv1.StatefulSet{ObjectMeta: argocdMeta("argocd-redis-ha-server", "redis"), Spec: appsv1.StatefulSetSpec{
			Template: podOf("redis", nil, []corev1.Container{redis}),
		}}},
		"somebody else's redis": {object: &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "shop"}, Spec: appsv1.DeploymentSpec{
			Template: podOf("", nil, []corev1.Container{redis}),
		}}},
		"notifications controller": {
			&appsv1.Deployment{ObjectMeta: argocdMeta("argocd-notifications-controller", "notifications-controller"), Spec: appsv1.DeploymentSpec{
				Template: podOf("notifications", nil, []corev1.Container{program(notificationsController)}),
			}},
			planned(notificationsController, "hub-argocd-notifications-controller", "notifications", plan{args: []string{}, env: env}), true,
		},
		"dex": {object: &appsv1.Deployment{ObjectMeta: argocdMeta("argocd-dex-server", "dex-server"), Spec: appsv1.DeploymentSpec{
			Template: podOf("dex", nil, []corev1.Container{{Image: "ghcr.test/dexidp/dex:v2.45.0", Args: []string{"/shared/argocd-dex", "rundex"}}}),
		}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, wanted := planFor("hub", asWorkload(test.object))
			if diff := cmp.Diff(test.want, got, insidePlans()); diff != "" || wanted != test.wanted {
				t.Errorf("wanted %t:\n%s", wanted, diff)
			}
		})
	}
}

// newOptions has every tool there, as an empty file.
func newOptions(t *testing.T, tools ...string) Options {
	t.Helper()
	book, err := ports.Open(filepath.Join(t.TempDir(), "ports.json"))
	assert.NilError(t, err)
	o := Options{Tools: t.TempDir(), Bin: "/lab/bin", Sockets: "/lab", Home: "/lab/home", Proxy: "http://127.0.0.1:1", Ports: book}
	for _, tool := range tools {
		assert.NilError(t, os.WriteFile(filepath.Join(o.Tools, tool), nil, 0o755))
	}
	return o
}

func TestArgoCDSpec(t *testing.T) {
	o := newOptions(t, repoServer, argocdRedis, applicationController, notificationsController)
	specOf := func(tool string, args, env []string) (all []string, environment []string) {
		t.Helper()
		p := plan{family: argocd{}, cluster: "hub", process: "hub-" + tool, tool: tool, namespace: "argocd", args: args}
		s, err := argocd{}.spec(o, p, "/lab/controllers/hub-"+tool, env)
		assert.NilError(t, err)
		return s.Args, s.Env
	}
	redisArgs, _ := specOf(argocdRedis, []string{"--save", ""}, nil)
	if len(redisArgs) != 1 || !strings.HasPrefix(redisArgs[0], "--port=") {
		t.Errorf("redis is run with %q", redisArgs)
	}
	redisFlag := "--redis=127.0.0.1:" + strings.TrimPrefix(redisArgs[0], "--port=")
	repoArgs, env := specOf(repoServer, []string{"--redis", "argocd-redis:6379"}, []string{"ARGOCD_GPG_ENABLED=true", "REDIS_PASSWORD=secret"})
	if slices.Index(repoArgs, redisFlag) < slices.Index(repoArgs, "--redis") || repoArgs[0] != "--redis" {
		t.Errorf("the lab's Redis does not come last: %q", repoArgs)
	}
	controllerArgs, _ := specOf(applicationController, nil, nil)
	i := slices.IndexFunc(repoArgs, func(arg string) bool { return strings.HasPrefix(arg, "--port=") })
	if want := "--repo-server=127.0.0.1:" + strings.TrimPrefix(repoArgs[i], "--port="); !slices.Contains(controllerArgs, want) {
		t.Errorf("the application controller is run with %q, want %s", controllerArgs, want)
	}
	notificationsArgs, _ := specOf(notificationsController, nil, nil)
	if want := "--argocd-repo-server=127.0.0.1:" + strings.TrimPrefix(repoArgs[i], "--port="); !slices.Contains(notificationsArgs, want) {
		t.Errorf("the notifications controller is run with %q, want %s", notificationsArgs, want)
	}
	for _, want := range []string{"REDIS_PASSWORD=secret", "ARGOCD_FAKE_IN_CLUSTER=true", "http_proxy=http://127.0.0.1:1"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is not in %q", want, env)
		}
	}
	if slices.Index(env, "ARGOCD_GPG_ENABLED=false") < slices.Index(env, "ARGOCD_GPG_ENABLED=true") {
		t.Errorf("the workload's own setting comes last: %q", env)
	}
}

func TestArgoCDSpecWithoutTools(t *testing.T) {
	o := newOptions(t)
	_, err := argocd{}.spec(o, plan{process: "hub-argocd-server", tool: argocdServer}, "/lab", nil)
	want := "argocd-server is missing (" + filepath.Join(o.Tools, "argocd-server") + ")"
	assert.Check(t, is.Error(err, want))
}
