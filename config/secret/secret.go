// Package secret refers to secrets and files that a cluster file names; it never holds them.
package secret

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/check"
	"tombolo/config/field"
	"tombolo/config/strict"
	"tombolo/internal/file"
	"tombolo/internal/wording"
)

// SecretRef says where a secret is; exactly one field is set.
type SecretRef struct {
	// Config is a key of the bootstrap stack's encrypted Pulumi config.
	Config string `yaml:"config,omitempty"`
	// Env is an environment variable whose name begins with TOMBOLO_.
	Env string `yaml:"env,omitempty"`
	// File is a file's path, relative to the cluster file: in the project, or in a
	// directory that the environment variable TOMBOLO_SECRET_DIRS names.
	File string `yaml:"file,omitempty"`
}

var secretRefFields = field.Of[SecretRef](map[string]field.Descriptor{
	"": {Rule: strict.Rule{Secret: true}},
	"Config": {
		Rule:   strict.Rule{What: "a key of the stack's config", Example: "gitToken", Pattern: regexp.MustCompile(`^([A-Za-z0-9_.-]+:)?[A-Za-z0-9_.-]+$`), Secret: true},
		Change: field.Changes("the secret is read from there"),
	},
	"Env": {
		// Any other variable may be a credential of who runs the program, and a cluster file
		// says to which host the value is sent.
		Rule:   strict.Rule{What: "the name of an environment variable that begins with TOMBOLO_", Example: "TOMBOLO_GIT_TOKEN", Pattern: regexp.MustCompile(`^TOMBOLO_[A-Za-z0-9_]+$`), Secret: true},
		Change: field.Changes("the secret is read from there"),
	},
	"File": {Change: field.Changes("the secret is read from there")},
})

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

// Check has exactly one of its fields.
func Check(v *check.File, at strict.Path, s *SecretRef) {
	if s == nil || !v.Doc.Sound(at) {
		return
	}
	var set []string
	for _, key := range []string{"config", "env", "file"} {
		if v.Doc.Has(at.Field(key)) {
			set = append(set, key)
		}
	}
	switch {
	case len(set) == 0:
		v.Problem(at, "add config, env or file", "does not say where the secret is")
	case len(set) > 1:
		v.Problem(at, "keep one of them", "has %s, and a secret is in one place", strings.Join(set, " and "))
	case set[0] == "file" && s.File == "":
		v.Problem(at.Field("file"), "write the file's path, relative to the cluster file", "is empty")
	case strings.HasPrefix(s.File, "~"):
		v.Problem(at.Field("file"), "write the path relative to the cluster file", "%s contains ~, which only a shell expands", wording.Quote(s.File))
	case strings.Contains(s.File, "PRIVATE KEY"):
		v.Problem(at.Field("file"), "put the key into a file, and write its path", "contains the key itself, which does not belong in this file")
		v.Doc.Conceal()
	case s.File != "":
		CheckFile(v, at.Field("file"), s.File, "keep it in the project, out of Git")
	}
}

// CheckFile refuses a file that NamedFile does.
func CheckFile(v *check.File, at strict.Path, name, remedy string) {
	if _, err := NamedFile(v.Doc.File, name); err != nil {
		v.Problem(at, remedy+", or have the environment variable "+SecretDirs+" name its directory", "%s", err.Error())
	}
}

// Fields are the descriptors of the package.
var Fields = field.Join(secretRefFields)
