package git

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// sshKey is a key, and the file with its private half.
func sshKey(t *testing.T) (signer ssh.Signer, file string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	assert.NilError(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	assert.NilError(t, err)
	signer, err = ssh.NewSignerFromKey(private)
	assert.NilError(t, err)
	file = filepath.Join(t.TempDir(), "key")
	files.Write(t, file, string(pem.EncodeToMemory(block)))
	return signer, file
}

// TestSSH clones and pushes as a user does: with a key that may only read, and with one that may
// write, and with none that the server knows.
func TestSSH(t *testing.T) {
	ssh1, err := exec.LookPath("ssh")
	if err != nil {
		t.Skip("there is no ssh here; the engines bring their own")
	}
	r, tree := repository(t), t.TempDir()
	files.Write(t, filepath.Join(tree, "a.yaml"), "a: 1\n")
	seed(t, r, tree)
	host, _ := sshKey(t)
	reader, readerFile := sshKey(t)
	writer, writerFile := sshKey(t)
	_, strangerFile := sshKey(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	t.Cleanup(func() { l.Close() })
	s := SSH{Repository: r, Host: host, Readers: []ssh.PublicKey{reader.PublicKey()}, Writers: []ssh.PublicKey{writer.PublicKey()}}
	go s.Serve(t.Context(), l)
	hosts := filepath.Join(t.TempDir(), "hosts")
	files.Write(t, hosts, knownhosts.Line([]string{l.Addr().String()}, host.PublicKey())+"\n")
	address := "ssh://git@" + l.Addr().String() + "/platform.git"
	git := func(key string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Env = append(r.environment(), fmt.Sprintf("GIT_SSH_COMMAND=%s -F /dev/null -i %s -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile=%s", ssh1, key, hosts))
		assert.NilError(t, exec.CommandContext(t.Context(), "chmod", "600", key).Run())
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := git(readerFile, "ls-remote", address)
	assert.Assert(t, err == nil && strings.Contains(out, "refs/heads/"+Branch), "%s, %v", out, err)
	out, err = git(strangerFile, "ls-remote", address)
	assert.Check(t, err != nil && strings.Contains(out, "Permission denied (publickey)"), "%s, %v", out, err)
	clone := filepath.Join(t.TempDir(), "clone")
	out, err = git(writerFile, "clone", "-q", address, clone)
	assert.Assert(t, err, out)
	out, err = git(readerFile, "-C", clone, "push", "-q", "origin", "HEAD:refs/heads/other")
	assert.Check(t, err != nil && strings.Contains(out, "marked as read only"), "%s, %v", out, err)
	out, err = git(writerFile, "-C", clone, "push", "-q", "origin", "HEAD:refs/heads/other")
	assert.Assert(t, err, out)
	assert.Check(t, is.Equal(r.resolve(t.Context(), "other"), r.resolve(t.Context(), Branch)))
}
