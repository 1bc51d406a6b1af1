package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/internal/file"
	"tombolo/internal/wording"
)

// SecretDirs is the environment variable with the directories outside of the project in
// which a file may be that a cluster file names, such as a secret, separated as in PATH. The environment is of who runs
// the program; a cluster file, which a change may write, cannot set it.
const SecretDirs = "TOMBOLO_SECRET_DIRS"

// NamedFile is the path of a file that a cluster file names, relative to the cluster file:
// that of a secret, or of the engine's distribution. file.Read of internal/file reads it. It is an error when the file is, after symbolic links, neither in the
// project nor in a directory of SecretDirs, or when it is Git's own.
func NamedFile(clusterFile, name string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(clusterFile), path)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", name, err)
	}
	root, err := projectOf(clusterFile)
	if err != nil {
		return "", err
	}
	real := resolved(absolute)
	if file.Within(resolved(root), real) && !slices.Contains(strings.Split(filepath.ToSlash(real), "/"), ".git") {
		return path, nil
	}
	for _, dir := range filepath.SplitList(os.Getenv(SecretDirs)) {
		if filepath.IsAbs(dir) && file.Within(resolved(dir), real) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is outside of the project", wording.Quote(name))
}

// projectOf is the directory of the project that a cluster file is in: the nearest with
// a Pulumi.yaml, or else the file's own.
func projectOf(clusterFile string) (string, error) {
	own, err := filepath.Abs(filepath.Dir(clusterFile))
	if err != nil {
		return "", fmt.Errorf("look for the project of %s: %w", clusterFile, err)
	}
	for dir := own; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "Pulumi.yaml")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return own, nil
		}
	}
}

// resolved is a path without symbolic links, as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolved(parent), filepath.Base(path))
	}
	return path
}

// SecretUse says where a secret comes from and where it goes, and not what it is.
type SecretUse struct {
	// Setting that refers to it, such as gitops.auth.password.
	Setting string
	// Source is what has it, for people.
	Source string
	// For is what gets it, by its URL where it has one.
	For string
}

// SecretUses are the secrets that the cluster file refers to.
func (c *Cluster) SecretUses() []SecretUse {
	var out []SecretUse
	add := func(setting, target string, ref *SecretRef) {
		if ref == nil {
			return
		}
		source := "file " + ref.File
		switch {
		case ref.Config != "":
			source = "stack config " + ref.Config
		case ref.Env != "":
			source = "environment variable " + ref.Env
		}
		out = append(out, SecretUse{Setting: setting, Source: source, For: target})
	}
	if h := c.GitOps.ExternalHub; h != nil {
		add("gitops.externalHub.token", h.Endpoint, h.Token)
	}
	if s := c.Egress.Images.PullSecret; s != nil {
		add("egress.images.pullSecret.password", strings.Join(c.Egress.Images.MirrorHosts(), ", "), s.Password)
	}
	if a := c.GitOps.Auth; a != nil {
		add("gitops.auth.password", c.GitOps.URL, a.Password)
		add("gitops.auth.privateKey", c.GitOps.URL, a.PrivateKey)
	}
	if s := c.GitOps.SealedSecrets; s != nil {
		add("gitops.sealedSecrets.key", "the controller of Sealed Secrets", s.Key)
	}
	if channel := c.GitOps.Channel; channel != nil {
		add("gitops.channel.address", "what writes to the platform's channel", channel.Address)
	}
	return out
}
