//go:build lab

package lab

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/lab/aws"
	"tombolo/lab/process"
)

// checkout makes a directory that looks like a checkout with built tools, and a
// platform tree of one Kustomization's worth.
func checkout(t *testing.T, tree map[string]string) string {
	t.Helper()
	root := t.TempDir()
	source, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".tools", "lab"} {
		if err := os.Symlink(filepath.Join(source, dir), filepath.Join(root, dir)); err != nil {
			t.Fatal(err)
		}
	}
	writeTree(t, filepath.Join(root, "platform", "flux"), tree)
	return root
}

func writeTree(t *testing.T, dir string, tree map[string]string) {
	t.Helper()
	for name, content := range tree {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

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
	root := checkout(t, map[string]string{"settings.yaml": settings})
	ctx, cancel := context.WithCancel(t.Context())
	d, err := newDaemon(Open(root), os.Stderr, cancel)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		d.close()
	})
	if _, err := d.repository.Seed(ctx, d.lab.paths().platform()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.clusters.Start(ctx, aws.ClusterSpec{Name: "demo", Version: "1.35", Region: Region, Issuer: "https://oidc.test/id/1"}); err != nil {
		t.Fatal(err)
	}
	if err := d.clusters.SetNodes(ctx, "demo", "a", []aws.Node{{Name: "ip-10-0-1-10"}}); err != nil {
		t.Fatal(err)
	}
	k := kubectl{t, d.lab.paths().tools(), d.clusters.planes.AdminKubeconfig("demo")}
	k.run("", "apply", "--server-side", "-f", filepath.Join(root, ".tools", "share", "flux-install.yaml"))
	token, err := secret(d.lab.paths().gitToken())
	if err != nil {
		t.Fatal(err)
	}
	k.run(strings.ReplaceAll(syncObjects, "TOKEN", token), "apply", "--server-side", "-f", "-")
	k.await("vpc-0abc", "get", "configmap", "settings", "-n", "default", "-o", "jsonpath={.data.vpc}")
	k.await("True", "get", "helmrelease", "reporter", "-n", "default", "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
	k.await("vpc-0abc", "get", "configmap", "reporter-report", "-n", "default", "-o", "jsonpath={.data.vpcId}")

	writeTree(t, d.lab.paths().platform(), map[string]string{"settings.yaml": strings.ReplaceAll(settings, "${vpc_id}", "edited")})
	if s, err := d.repository.Seed(ctx, d.lab.paths().platform()); err != nil || !s.Changed {
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

// kubectl runs kubectl against one cluster.
type kubectl struct {
	t                 *testing.T
	tools, kubeconfig string
}

func (k kubectl) command(stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(k.t.Context(), filepath.Join(k.tools, "kubectl"), append([]string{"--kubeconfig", k.kubeconfig}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	return string(out) + stderr.String(), err
}

func (k kubectl) run(stdin string, args ...string) {
	k.t.Helper()
	if out, err := k.command(stdin, args...); err != nil {
		k.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// await waits, at most 90 s, until kubectl prints what is wanted.
func (k kubectl) await(want string, args ...string) {
	k.t.Helper()
	began, last := time.Now(), ""
	err := wait.PollUntilContextTimeout(k.t.Context(), 200*time.Millisecond, 90*time.Second, true, func(context.Context) (bool, error) {
		out, err := k.command("", args...)
		last = out
		return err == nil && out == want, nil
	})
	if err != nil {
		state, _ := k.command("", "get", "gitrepositories,helmrepositories,helmcharts,kustomizations,helmreleases", "-A")
		k.t.Fatalf("kubectl %s: %q, want %q\n%s", strings.Join(args, " "), last, want, state)
	}
	k.t.Logf("%q after %v", want, time.Since(began).Round(10*time.Millisecond))
}
