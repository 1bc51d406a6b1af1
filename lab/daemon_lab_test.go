//go:build lab

package lab

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/lab/process"
	"tombolo/lab/standin"
	"tombolo/tests/files"
)

// checkout makes a directory that looks like a checkout with built tools, and a
// platform tree of one Kustomization's worth.
func checkout(t *testing.T, tree map[string]string) string {
	t.Helper()
	root := t.TempDir()
	source, err := filepath.Abs("..")
	assert.NilError(t, err)
	for _, dir := range []string{".tools", "lab"} {
		assert.NilError(t, os.Symlink(filepath.Join(source, dir), filepath.Join(root, dir)))
	}
	writeTree(t, filepath.Join(root, "platform", "flux"), tree)
	return root
}

func writeTree(t *testing.T, dir string, tree map[string]string) {
	t.Helper()
	for name, content := range tree {
		files.Write(t, filepath.Join(dir, name), content)
	}
}

// start runs a lab's daemon in this process, with the platform tree in its Git
// repository, until the test ends. No process of the lab may be left then.
func start(t *testing.T, root string) *daemon {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	d, err := newDaemon(Open(root), os.Stderr, cancel)
	assert.NilError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- d.serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.Check(t, <-ended)
		d.close()
		if left, err := process.Recorded(d.lab.paths().run()); err != nil || len(left) > 0 {
			t.Errorf("processes left at the lab's end: %q, %v", left, err)
		}
	})
	if _, err := d.repositories[treeFlux].Seed(ctx, d.lab.paths().platform(treeFlux)); err != nil {
		t.Fatal(err)
	}
	return d
}

// startCluster brings up a cluster of one node.
func startCluster(t *testing.T, d *daemon, name string) standin.ClusterInfo {
	t.Helper()
	info, err := d.clusters.Start(t.Context(), standin.ClusterSpec{Name: name, Version: "1.35", Region: Region, Issuer: "https://oidc.test/id/" + name})
	assert.NilError(t, err)
	assert.NilError(t, d.clusters.SetNodes(t.Context(), name, "a", []standin.Node{{Name: "ip-10-0-1-10"}}))
	return info
}

// gitToken is the password of the lab's Git repository.
func gitToken(t *testing.T, d *daemon) string {
	t.Helper()
	token, err := secret(d.lab.paths().gitToken())
	assert.NilError(t, err)
	return token
}

// kubectlOf is kubectl of a cluster's admin.
func kubectlOf(t *testing.T, d *daemon, cluster string) kubectl {
	return kubectl{t, d.lab.paths().tools(), d.clusters.planes.AdminKubeconfig(cluster)}
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
		k.t.Fatalf("kubectl %s: %q, want %q\n%s", strings.Join(args, " "), last, want, k.state())
	}
	k.t.Logf("%q after %v", want, time.Since(began).Round(10*time.Millisecond))
}

// state describes the objects of whichever GitOps engine there is.
func (k kubectl) state() string {
	flux, err := k.command("", "get", "gitrepositories,helmrepositories,helmcharts,kustomizations,helmreleases", "-A")
	if err == nil {
		return flux
	}
	argocd, _ := k.command("", "get", "applications,applicationsets", "-A", "-o", "jsonpath={range .items[*]}{.metadata.name} {.status}{\"\\n\"}{end}")
	return argocd
}
