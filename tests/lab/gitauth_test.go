//go:build lab

package lab

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
	"gotest.tools/v3/assert"

	"tombolo/lab/git"
	"tombolo/tests/tier"
)

// TestGitByKeysWithFlux has the real source-controller read the repository by SSH, with a host's
// key that is wrong first, and then by a GitHub App, whose signature the lab's Git server checks.
func TestGitByKeysWithFlux(t *testing.T) {
	tier.Long(t, "the credentials are Secrets, which unit tests hold at what the engines' documentation says")
	g := newGitByKeys(t, "flux")
	inOrder(t, g, gitByKeysSteps(
		step[*gitByKeys]{"a push by the App", (*gitByKeys).pushByApp},
	))
}

// TestGitByKeysWithArgoCD is the same with the real repo-server.
func TestGitByKeysWithArgoCD(t *testing.T) {
	tier.Long(t, "the credentials are Secrets, which unit tests hold at what the engines' documentation says")
	inOrder(t, newGitByKeys(t, "argocd"), gitByKeysSteps())
}

func gitByKeysSteps(more ...step[*gitByKeys]) []step[*gitByKeys] {
	steps := []step[*gitByKeys]{
		{"a wrong host key is refused", (*gitByKeys).wrongHost},
		{"the right one is taken", (*gitByKeys).rightHost},
		{"an App that is not there is refused", (*gitByKeys).noApp},
		{"and one that is there is taken", (*gitByKeys).app},
	}
	return append(append(steps, more...), step[*gitByKeys]{"destroy leaves an empty cloud", func(g *gitByKeys, t *testing.T) { g.destroyLeavesNothing(t) }})
}

// gitByKeys is a project whose cluster follows a tree of one ConfigMap, and an SSH server for it.
type gitByKeys struct {
	handover
	engine, sshURL string
	host           ssh.PublicKey
}

func newGitByKeys(t *testing.T, engine string) *gitByKeys {
	t.Helper()
	g := &gitByKeys{handover: *newHandover(t), engine: engine}
	if engine == "argocd" {
		g.byArgoCD(t)
	}
	g.serve(t)
	return g
}

func (g *gitByKeys) serve(t *testing.T) {
	t.Helper()
	host, _ := newKey(t)
	reader, pemKey := newKey(t)
	g.host = host.PublicKey()
	g.write(t, "keys/ssh.pem", pemKey)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	t.Cleanup(func() { l.Close() })
	s := git.SSH{Repository: git.Open(g.repository, g.dir), Host: host, Readers: []ssh.PublicKey{reader.PublicKey()}}
	go s.Serve(t.Context(), l)
	g.sshURL = "ssh://git@" + l.Addr().String() + "/" + filepath.Base(g.repository)
}

func newKey(t *testing.T) (signer ssh.Signer, text string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	assert.NilError(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	assert.NilError(t, err)
	signer, err = ssh.NewSignerFromKey(private)
	assert.NilError(t, err)
	return signer, string(pem.EncodeToMemory(block))
}

// by has the cluster follow an address with credentials.
func (g *gitByKeys) by(t *testing.T, address, auth string) {
	t.Helper()
	text := regexp.MustCompile(`(?m)^  url: .*$`).ReplaceAllString(g.read(t, demoFile), "  url: "+address)
	g.write(t, demoFile, regexp.MustCompile(`(?s)  auth:\n.*  distribution:`).ReplaceAllString(text, "  auth:\n"+auth+"  distribution:"))
	g.project.up(t, "demo")
	g.mountHosts(t)
}

// bySSH follows the address of SSH with the key of a host.
func (g *gitByKeys) bySSH(t *testing.T, host ssh.PublicKey) {
	t.Helper()
	at := strings.Split(strings.TrimPrefix(g.sshURL, "ssh://git@"), "/")[0]
	g.by(t, g.sshURL, "    type: ssh\n    privateKey: {file: ../keys/ssh.pem}\n    knownHosts: '"+knownhosts.Line([]string{at}, host)+"'\n")
}

// mountHosts plays the part of the kubelet: the volumes of the lab's repo-server are empty.
func (g *gitByKeys) mountHosts(t *testing.T) {
	t.Helper()
	if g.engine != "argocd" {
		return
	}
	hosts := g.kubectl(t, "demo", "-n", "argocd", "get", "configmap", "argocd-ssh-known-hosts-cm", "-o", "jsonpath={.data.ssh_known_hosts}")
	var found []string
	eventually(t, func() (bool, string) {
		var err error
		found, err = filepath.Glob(filepath.Join(g.dir, ".lab", "controllers", "*repo-server*", "data"))
		assert.NilError(t, err)
		return len(found) == 1, "the repo-server has no directory"
	})
	assert.NilError(t, os.WriteFile(filepath.Join(found[0], "ssh_known_hosts"), []byte(hosts), 0o600))
	// It has looked already, and looks again after minutes.
	g.kubectl(t, "demo", "-n", "argocd", "annotate", "application", "platform", "argocd.argoproj.io/refresh=hard", "--overwrite")
}

func (g *gitByKeys) wrongHost(t *testing.T) {
	g.must(t, "lab", "up")
	other, _ := newKey(t)
	g.bySSH(t, other.PublicKey())
	// Each client has words of its own: go-git and OpenSSH.
	g.refused(t, `knownhosts: key mismatch|[Hh]ost key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED`)
	g.run(t, "doctor", "demo").fails(t, "Host key verification failed")
}

// refused says that the engine cannot read the repository, and why.
func (g *gitByKeys) refused(t *testing.T, why string) {
	t.Helper()
	args := []string{"-n", "flux-system", "get", "gitrepository", "platform", "-o", "jsonpath={.status.conditions}"}
	if g.engine == "argocd" {
		args = []string{"-n", "argocd", "get", "application", "platform", "-o", "jsonpath={.status.conditions}"}
	}
	eventually(t, func() (bool, string) {
		said := g.kubectl(t, "demo", args...)
		return regexp.MustCompile(why).MatchString(said), said
	})
}

func (g *gitByKeys) rightHost(t *testing.T) {
	g.bySSH(t, g.host)
	g.follows(t, "by-ssh")
	g.run(t, "push", "demo").fails(t, "the credentials may not write")
}

// follows says that a commit arrives, and that the driver reads the repository, too.
func (g *gitByKeys) follows(t *testing.T, state string) {
	t.Helper()
	commit := g.commit(t, settingsFile, func(string) string { return withoutVariables(state) })
	g.must(t, "verify", "demo", "--revision", commit, "--timeout", "3m")
	g.reads(t, state)
	g.unchanged(t)
	g.must(t, "doctor", "demo")
}

func (g *gitByKeys) byApp(t *testing.T) {
	t.Helper()
	g.by(t, "http://git.lab.test/"+filepath.Base(g.repository), fmt.Sprintf(
		"    type: github-app\n    appId: %d\n    installationId: %d\n    privateKey: {file: ../keys/app.pem}\n", git.AppID, git.AppInstallation))
}

func (g *gitByKeys) noApp(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	assert.NilError(t, err)
	g.write(t, "keys/app.pem", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
	g.byApp(t)
	g.refused(t, `Integration not found|404`)
	g.run(t, "doctor", "demo").fails(t, "Integration not found")
}

func (g *gitByKeys) app(t *testing.T) {
	block, _ := pem.Decode([]byte(g.read(t, "keys/app.pem")))
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	assert.NilError(t, err)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	assert.NilError(t, err)
	g.write(t, ".lab/git-app.pub", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	g.follows(t, "by-app")
}

// pushByApp: the driver gets a token of the App, too, and Flux goes on with the files in Git.
func (g *gitByKeys) pushByApp(t *testing.T) {
	g.must(t, "push", "demo")
	g.follows(t, "pushed")
}
