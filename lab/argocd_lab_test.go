//go:build lab

package lab

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tombolo/lab/process"
	"tombolo/lab/standin"
	"tombolo/tests/tier"
)

// argocdTree is a platform tree of a folder for each of two clusters, one of
// them by kustomize.
func argocdTree() map[string]string {
	return map[string]string{
		"hub/kustomization.yaml": "resources: [settings.yaml]\nnameSuffix: -of-hub\n",
		"hub/settings.yaml":      settingsOf("kustomized"),
		"spoke/settings.yaml":    settingsOf("plain"),
	}
}

func settingsOf(value string) string { return strings.ReplaceAll(settings, "${vpc_id}", value) }

const argocdObjects = `apiVersion: v1
kind: Secret
metadata:
  name: platform-auth
  namespace: argocd
  labels: {argocd.argoproj.io/secret-type: repository}
stringData: {type: git, url: "http://git.lab.test/platform.git", username: lab, password: GIT_TOKEN}
---
apiVersion: v1
kind: Secret
metadata:
  name: cluster-hub
  namespace: argocd
  labels: {argocd.argoproj.io/secret-type: cluster, environment: test}
stringData: {name: hub, server: "https://kubernetes.default.svc", config: "{}"}
---
apiVersion: v1
kind: Secret
metadata:
  name: cluster-spoke
  namespace: argocd
  labels: {argocd.argoproj.io/secret-type: cluster, environment: test}
stringData:
  name: spoke
  server: SPOKE_ENDPOINT
  config: '{"bearerToken": "SPOKE_TOKEN", "tlsClientConfig": {"caData": "SPOKE_CA"}}'
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: platform, namespace: argocd}
spec:
  sourceRepos: ["http://git.lab.test/platform.git", "http://charts.lab.test"]
  destinations: [{server: "*", namespace: "*"}]
  clusterResourceWhitelist: [{group: "*", kind: "*"}]
---
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: settings, namespace: argocd}
spec:
  goTemplate: true
  goTemplateOptions: [missingkey=error]
  generators: [{clusters: {selector: {matchLabels: {environment: test}}}}]
  template:
    metadata:
      name: "settings-{{ .name }}"
      finalizers: [resources-finalizer.argocd.argoproj.io]
    spec:
      project: platform
      source: {repoURL: "http://git.lab.test/platform.git", targetRevision: main, path: "{{ .name }}"}
      destination: {server: "{{ .server }}", namespace: default}
      syncPolicy: {automated: {prune: true, selfHeal: true}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: reporter
  namespace: argocd
  finalizers: [resources-finalizer.argocd.argoproj.io]
spec:
  project: platform
  source:
    repoURL: http://charts.lab.test
    chart: cluster-reporter
    targetRevision: 0.1.0
    helm:
      valuesObject: {clusterName: spoke, region: eu-central-1, accountId: "111122223333", vpcId: vpc-0abc}
  destination: {name: spoke, namespace: default}
  syncPolicy: {automated: {prune: true}}
`

const spokeAccount = `apiVersion: v1
kind: ServiceAccount
metadata: {name: argocd-manager, namespace: kube-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: argocd-manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: argocd-manager, namespace: kube-system}]
`

// argocdProcesses are those of one cluster's Argo CD, by name.
func argocdProcesses(cluster, redis string) []string {
	return []string{
		cluster + "-argocd-application-controller", cluster + "-argocd-applicationset-controller",
		cluster + "-argocd-notifications-controller", cluster + "-" + redis, cluster + "-argocd-repo-server", cluster + "-argocd-server",
	}
}

// running are the processes of every cluster's Argo CD that run.
func running(d *daemon) []string {
	var names []string
	for _, p := range d.supervisor.List() {
		if strings.Contains(p.Name, "-argocd-") && p.State == process.Running {
			names = append(names, p.Name)
		}
	}
	return names
}

func awaitArgoCD(t *testing.T, d *daemon, want []string) {
	t.Helper()
	await(t, fmt.Sprintf("Argo CD's processes are %q", want), func() bool { return slices.Equal(running(d), want) })
}

// TestArgoCD runs two clusters. One has the real Argo CD: it follows
// the lab's Git and chart servers, brings both clusters to what they say, and
// goes away. Then its manifest for high availability runs until the lab's end.
func TestArgoCD(t *testing.T) {
	tier.Short(t, "the real Argo CD follows the lab's Git and chart servers, to two clusters")
	root := checkout(t, argocdTree())
	d := start(t, root)
	ends := map[string]standin.ClusterInfo{}
	for _, name := range []string{"hub", "spoke"} {
		ends[name] = startCluster(t, d, name)
	}
	hub, spoke := kubectlOf(t, d, "hub"), kubectlOf(t, d, "spoke")
	spoke.run(spokeAccount, "apply", "-f", "-")
	token, err := spoke.command("", "create", "token", "argocd-manager", "-n", "kube-system")
	if err != nil {
		t.Fatal(token)
	}
	installArgoCD(hub, root, "argocd-install.yaml")
	hub.run(strings.NewReplacer(
		"GIT_TOKEN", gitToken(t, d), "SPOKE_ENDPOINT", ends["spoke"].Endpoint, "SPOKE_TOKEN", strings.TrimSpace(token),
		"SPOKE_CA", base64.StdEncoding.EncodeToString(ends["spoke"].CA),
	).Replace(argocdObjects), "apply", "--server-side", "-f", "-")

	applications := []string{"get", "applications", "-n", "argocd", "-o", "jsonpath={range .items[*]}{.metadata.name} {.status.sync.status} {.status.health.status}; {end}"}
	hub.await("reporter Synced Healthy; settings-hub Synced Healthy; settings-spoke Synced Healthy; ", applications...)
	awaitArgoCD(t, d, argocdProcesses("hub", "argocd-redis"))
	hub.await("kustomized", "get", "configmap", "settings-of-hub", "-n", "default", "-o", "jsonpath={.data.vpc}")
	spoke.await("plain", "get", "configmap", "settings", "-n", "default", "-o", "jsonpath={.data.vpc}")
	spoke.await("vpc-0abc", "get", "configmap", "reporter-report", "-n", "default", "-o", "jsonpath={.data.vpcId}")

	writeTree(t, d.lab.paths().platform(treeFlux), map[string]string{"spoke/settings.yaml": settingsOf("edited")})
	if s, err := d.repositories[treeFlux].Seed(t.Context(), d.lab.paths().platform(treeFlux)); err != nil || !s.Changed {
		t.Fatalf("seed after an edit: %+v, %v", s, err)
	}
	hub.run("", "annotate", "application", "settings-spoke", "-n", "argocd", "argocd.argoproj.io/refresh=normal")
	spoke.await("edited", "get", "configmap", "settings", "-n", "default", "-o", "jsonpath={.data.vpc}")

	// Finalizers need the controllers: Argo CD's objects go before Argo CD.
	hub.run("", "delete", "applicationsets,applications", "--all", "-n", "argocd", "--timeout=60s")
	spoke.await("", "get", "configmap", "settings", "reporter-report", "-n", "default", "--ignore-not-found")
	hub.run("", "delete", "namespace", "argocd", "--timeout=60s")
	awaitArgoCD(t, d, nil)

	installArgoCD(hub, root, "argocd-install-ha.yaml")
	hub.await("default", "get", "appproject", "-n", "argocd", "-o", "jsonpath={.items[*].metadata.name}") // the server makes it
	awaitArgoCD(t, d, argocdProcesses("hub", "argocd-redis-ha-haproxy"))
}

func installArgoCD(k kubectl, root, manifest string) {
	k.t.Helper()
	k.run("", "create", "namespace", "argocd")
	k.run("", "apply", "-n", "argocd", "--server-side", "-f", filepath.Join(root, ".tools", "share", manifest))
	awaitServerKey(k)
}

// awaitServerKey waits for the key that Argo CD's server makes at its first
// start. Without it the controller finds no cluster, and looks again only when
// its interval is over.
func awaitServerKey(k kubectl) {
	k.t.Helper()
	k.await("made", "get", "secret", "argocd-secret", "-n", "argocd", "-o",
		`go-template={{if .data}}{{if index .data "server.secretkey"}}made{{end}}{{end}}`)
}
