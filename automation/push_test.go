package automation

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/fault"
	"tombolo/config"
	"tombolo/tests/files"
)

const fluxManifest = `apiVersion: apps/v1
kind: Deployment
metadata: {name: kustomize-controller, namespace: flux-system}
spec: {template: {spec: {containers: [{name: manager}]}}}
`

const argocdManifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: argocd-server}\n"

// following is a cluster that follows a bare repository.
func following(t *testing.T) *config.Cluster {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	bare := filepath.Join(dir, "platform.git")
	files.Git(t, dir, "init", "-q", "--bare", "--initial-branch=main", bare)
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "install.yaml"), []byte(fluxManifest), 0o600))
	c := demo()
	c.File = filepath.Join(dir, "demo.yaml")
	c.GitOps = config.GitOps{
		Engine: config.Flux, URL: bare, Branch: "main", Path: "./clusters/demo/", Interval: "1m",
		Distribution: config.Distribution{Version: "v2.7.5", Path: "install.yaml"},
	}
	return c
}

func show(t *testing.T, c *config.Cluster, what string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "-C", c.GitOps.URL, "show", what).Output()
	assert.NilError(t, err, "%s", what)
	return string(out)
}

func TestPush(t *testing.T) {
	b, c := newBench(t), following(t)
	r, err := b.Push(t.Context(), c, PushOptions{})
	assert.NilError(t, err)
	if !r.Changed || r.Proposed || r.Branch != "main" || r.Into != "main" || r.Repository != c.GitOps.URL || r.Commit == "" {
		t.Errorf("result %+v", r)
	}
	got, want := show(t, c, "main:clusters/demo/flux-system/kustomization.yaml"), "resources:\n  - gotk-components.yaml\n  - gotk-sync.yaml\n"
	assert.Check(t, strings.HasSuffix(got, want), "flux-system lists\n%s", got)
	got = show(t, c, "main:clusters/demo/flux-system/gotk-components.yaml")
	assert.Check(t, strings.Contains(got, "StrictPostBuildSubstitutions=true"), "Flux is\n%s", got)
	got, want = show(t, c, "--no-patch"), "Have Flux v2.7.5 of cluster demo manage itself"
	assert.Check(t, strings.Contains(got, want), "the commit is\n%s", got)
	c.GitOps.Distribution.Version = "v2.8.0" // of a manifest that did not change
	again, err := b.Push(t.Context(), c, PushOptions{})
	assert.Check(t, err == nil && !again.Changed && again.Commit == r.Commit, "a second push: %+v, %v", again, err)
	assert.Check(t, is.Len(b.cli.calls, 0), "a push started")
}

// TestPushOfArgoCD: the tree lists the Application, and not what that applies.
func TestPushOfArgoCD(t *testing.T) {
	b, c := newBench(t), following(t)
	c.GitOps.Engine, c.GitOps.Distribution.Version = config.ArgoCD, "v3.5.7"
	assert.NilError(t, os.WriteFile(filepath.Join(filepath.Dir(c.File), "install.yaml"), []byte(argocdManifest), 0o600))
	r, err := b.Push(t.Context(), c, PushOptions{})
	assert.NilError(t, err)
	assert.Check(t, r.Changed && !r.Proposed, "%+v", r)
	tree := show(t, c, "main:clusters/demo")
	assert.Check(t, is.Contains(tree, "argocd.yaml"))
	assert.Check(t, is.Contains(show(t, c, "main:clusters/demo/argocd/kustomization.yaml"), "resources:\n  - install.yaml\n"))
	assert.Check(t, is.Contains(show(t, c, "--no-patch"), "Have Argo CD v3.5.7 of cluster demo manage itself"))

	write := func(name, text string) {
		t.Helper()
		clone := t.TempDir()
		script := `set -e; git clone -q "$1" "$2"; cd "$2"; mkdir -p chart; echo "$4" > "clusters/demo/$3"; git add .; git -c user.name=a -c user.email=a@b.c commit -qm a; git push -q`
		out, err := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", c.GitOps.URL, clone, name, text).CombinedOutput()
		assert.NilError(t, err, string(out))
	}
	write("kustomization.yaml", "resources: [apps]")
	_, err = b.Push(t.Context(), c, PushOptions{})
	assert.NilError(t, err)
	assert.Equal(t, show(t, c, "main:clusters/demo/kustomization.yaml"), "resources: [apps, argocd.yaml]\n")

	c.GitOps.Distribution.Version = "v3.5.8"
	assert.NilError(t, os.WriteFile(filepath.Join(filepath.Dir(c.File), "install.yaml"), []byte(argocdManifest+"spec: {replicas: 2}\n"), 0o600))
	_, err = b.Push(t.Context(), c, PushOptions{})
	assert.NilError(t, err)
	assert.Check(t, is.Contains(show(t, c, "main:clusters/demo/argocd/install.yaml"), "replicas: 2"), "a push replaces what a push has written")
	for _, name := range []string{"argocd.yaml", "argocd/install.yaml"} {
		ours := show(t, c, "main:clusters/demo/"+name)
		write(name, "kind: Secret")
		_, err = b.Push(t.Context(), c, PushOptions{})
		assert.ErrorContains(t, err, "push demo: clusters/demo/"+name+" is there already, and not by a push")
		write(name, ours)
	}

	c.GitOps.Path = "chart"
	write("../../chart/Chart.yaml", "name: platform")
	_, err = b.Push(t.Context(), c, PushOptions{})
	assert.ErrorContains(t, err, "push demo: chart is a Helm chart, and no directory of manifests")
}

// TestNothingToPush: a spoke has no engine of its own.
func TestNothingToPush(t *testing.T) {
	c := following(t)
	c.GitOps = config.GitOps{Engine: config.ArgoCD, Hub: "mgmt"}
	r, err := newBench(t).Push(t.Context(), c, PushOptions{})
	assert.Check(t, err == nil && !r.Changed && r.Nothing == "the Argo CD that manages it is that of its hub mgmt", "%+v, %v", r, err)
	c.GitOps = config.GitOps{Engine: config.ArgoCD, ExternalHub: &config.ExternalHub{Name: "theirs"}}
	r, err = newBench(t).Push(t.Context(), c, PushOptions{})
	assert.Check(t, err == nil && r.Nothing == "the Argo CD that manages it is that of its hub theirs, which others run", "%+v, %v", r, err)
}

func TestPushProposes(t *testing.T) {
	b, c := newBench(t), following(t)
	if _, err := b.Push(t.Context(), c, PushOptions{Branch: "flux"}); err == nil || !strings.Contains(err.Error(), "push demo: "+c.GitOps.URL+" is empty, and a pull request needs a branch to go into; push a first commit to main") {
		t.Errorf("error %v", err)
	}
	_, err := b.Push(t.Context(), c, PushOptions{})
	assert.NilError(t, err)
	c.GitOps.Interval = "5m"
	r, err := b.Push(t.Context(), c, PushOptions{Branch: "flux"})
	assert.Check(t, err == nil && r.Changed && r.Proposed && r.Branch == "flux" && r.Into == "main", "result %+v, %v", r, err)
}

func TestPushIsStopped(t *testing.T) {
	for want, change := range map[string]func(*config.Cluster){
		"push demo: gitops.distribution: read Flux distribution":                                                      func(c *config.Cluster) { c.GitOps.Distribution.Path = "gone" },
		"push demo: gitops.takeOver leaves Flux with who has installed it":                                            func(c *config.Cluster) { c.GitOps.TakeOver = true },
		"push demo: read /nowhere/platform.git: ":                                                                     func(c *config.Cluster) { c.GitOps.URL = "/nowhere/platform.git" },
		"push demo: gitops.auth.password: the environment variable TOMBOLO_TEST_ABSENT is not set":                    func(c *config.Cluster) { c.GitOps.Auth.Password = &config.SecretRef{Env: "TOMBOLO_TEST_ABSENT"} },
		"push demo: gitops.auth.password: stack demo-bootstrap has no secret gitToken that can be read here; set it:": func(c *config.Cluster) { c.GitOps.Auth.Password = &config.SecretRef{Config: "gitToken"} },
	} {
		c := following(t)
		c.GitOps.Auth = &config.Auth{Type: config.AuthBasic, Username: "git", Password: &config.SecretRef{Env: "HOME"}}
		change(c)
		_, err := newBench(t).Push(t.Context(), c, PushOptions{})
		precondition := new(fault.Error)
		assert.Check(t, errors.As(err, &precondition) && strings.Contains(err.Error(), want), "error %T %v, expected %q", err, err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newBench(t).Push(ctx, following(t), PushOptions{})
	assert.Check(t, errors.Is(err, context.Canceled), "error %v", err)
}

// TestDeployKey: a host gets the public half of the key, and nothing else.
func TestDeployKey(t *testing.T) {
	b, c := newBench(t), following(t)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	assert.NilError(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	assert.NilError(t, err)
	key := filepath.Join(filepath.Dir(c.File), "key.pem")
	assert.NilError(t, os.WriteFile(key, pem.EncodeToMemory(block), 0o600))
	c.GitOps.Auth = &config.Auth{Type: config.AuthSSH, KnownHosts: "git.example.com ssh-ed25519 AAAA", PrivateKey: &config.SecretRef{File: "key.pem"}}
	signer, err := ssh.NewSignerFromKey(private)
	assert.NilError(t, err)
	got, err := b.DeployKey(t.Context(), c)
	assert.Check(t, err == nil && got+"\n" == string(ssh.MarshalAuthorizedKey(signer.PublicKey())), "%s, %v", got, err)

	assert.NilError(t, os.WriteFile(key, []byte("hunter2"), 0o600))
	_, err = b.DeployKey(t.Context(), c)
	assert.Check(t, is.ErrorContains(err, "gitops.auth.privateKey of demo is no private key without a passphrase"))
	assert.Check(t, !strings.Contains(err.Error(), "hunter2"))
	c.GitOps.Auth = nil
	_, err = b.DeployKey(t.Context(), c)
	assert.Check(t, is.Error(err, "demo has no SSH key for the repository; add gitops.auth with type: ssh, or leave --deploy-key out"))
	c.GitOps.Engine, c.GitOps.Hub = config.ArgoCD, "mgmt"
	_, err = b.DeployKey(t.Context(), c)
	assert.Check(t, is.Error(err, "demo reads no repository: its hub mgmt does; name the hub"))
}
