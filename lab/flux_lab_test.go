//go:build lab

package lab

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tombolo/lab/process"
	"tombolo/tests/tier"
)

const settings = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: default
data:
  vpc: ${vpc_id}
`

const syncObjects = `apiVersion: v1
kind: Secret
metadata: {name: platform-auth, namespace: flux-system}
stringData: {username: lab, password: TOKEN}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: infra-config, namespace: flux-system}
data: {vpc_id: vpc-0abc}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: reporter-values, namespace: default}
data:
  values.yaml: |
    clusterName: demo
    region: eu-central-1
    accountId: "111122223333"
    vpcId: vpc-0abc
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: platform, namespace: flux-system}
spec:
  interval: 1s
  url: http://git.lab.test/platform.git
  ref: {branch: main}
  secretRef: {name: platform-auth}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: platform, namespace: flux-system}
spec:
  interval: 5s
  path: ./
  prune: true
  wait: true
  sourceRef: {kind: GitRepository, name: platform}
  postBuild:
    substituteFrom: [{kind: ConfigMap, name: infra-config}]
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: flux-system}
spec: {interval: 10m, url: "http://charts.lab.test"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: reporter, namespace: default}
spec:
  interval: 10m
  chart:
    spec:
      chart: cluster-reporter
      version: 0.1.0
      sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}
  valuesFrom: [{kind: ConfigMap, name: reporter-values}]
`

// TestFlux runs a cluster with the real Flux controllers on the lab's Git and
// chart servers, follows an edit of the platform tree, and takes Flux away.
func TestFlux(t *testing.T) {
	tier.Short(t, "the real Flux follows the lab's Git and chart servers")
	root := checkout(t, map[string]string{"settings.yaml": settings})
	d := start(t, root)
	startCluster(t, d, "demo")
	k := kubectlOf(t, d, "demo")
	k.run("", "apply", "--server-side", "-f", filepath.Join(root, ".tools", "share", "flux-install.yaml"))
	k.run(strings.ReplaceAll(syncObjects, "TOKEN", gitToken(t, d)), "apply", "--server-side", "-f", "-")
	k.await("vpc-0abc", "get", "configmap", "settings", "-n", "default", "-o", "jsonpath={.data.vpc}")
	k.await("True", "get", "helmrelease", "reporter", "-n", "default", "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
	k.await("vpc-0abc", "get", "configmap", "reporter-report", "-n", "default", "-o", "jsonpath={.data.vpcId}")

	writeTree(t, d.lab.paths().platform(treeFlux), map[string]string{"settings.yaml": strings.ReplaceAll(settings, "${vpc_id}", "edited")})
	if s, err := d.repositories[treeFlux].Seed(t.Context(), d.lab.paths().platform(treeFlux)); err != nil || !s.Changed {
		t.Fatalf("seed after an edit: %+v, %v", s, err)
	}
	k.await("edited", "get", "configmap", "settings", "-n", "default", "-o", "jsonpath={.data.vpc}")

	// Finalizers need the controllers: Flux's objects go before Flux.
	k.run("", "delete", "helmrelease", "reporter", "-n", "default", "--timeout=60s")
	k.run("", "delete", "kustomization,gitrepository,helmrepository", "--all", "-n", "flux-system", "--timeout=60s")
	k.await("", "get", "configmap", "settings", "-n", "default", "--ignore-not-found")
	k.run("", "delete", "namespace", "flux-system", "--timeout=60s")
	await(t, "no controller runs without its Deployment", func() bool {
		return !slices.ContainsFunc(d.supervisor.List(), func(p process.Status) bool { return strings.HasSuffix(p.Name, "-controller") })
	})
}
