// Package project writes the first files of a project: a repository of a team's own that has its
// clusters, and is no checkout of tombolo's source.
//
// Package scaffold writes the platform tree beside them. The tree is at the repository's root: those
// of Argo CD name what they have by its path from there, and so do systems of Flux.
package project

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"unicode"

	"gopkg.in/yaml.v3"

	files "tombolo/internal/file"
	"tombolo/platform/pipelines"
	"tombolo/platform/scaffold"
)

// Options describe a project.
type Options struct {
	// Cluster is the first one.
	Cluster Cluster
	// Host of the repository: one of pipelines.Hosts.
	Host string
	// Tree is the address of the platform tree's repository; "" for this one.
	Tree string
	// Backend is the URL of the Pulumi state.
	Backend string
	// SecretsProvider encrypts the state's secrets. Default: a passphrase.
	SecretsProvider string
	// Source of tombolo's releases and pipelines, <host>/<owner>/<repository>. Default: none.
	Source string
	// Version is the release of tombolo, such as v1.2.3; "" for a build that is none.
	Version string
	// Checksums are the release's SHA256SUMS; nil leaves out the pin of the release.
	Checksums []byte
}

// Differs is the first line, from 1, that the file in dir has in another form, and that line of f. Both
// are of use for a file that was kept.
func Differs(dir string, f pipelines.File) (number int, line string) {
	existing, _ := files.ReadInside(filepath.Join(dir, filepath.FromSlash(f.Path)), files.MostText)
	there := strings.Split(string(existing), "\n")
	for i, line := range strings.Split(f.Text, "\n") {
		if i >= len(there) || there[i] != line {
			return i + 1, strings.TrimSpace(line)
		}
	}
	return strings.Count(f.Text, "\n") + 1, "none"
}

//go:embed templates
var templates embed.FS

// parsed are the templates, by the name of the file that each makes.
var parsed = template.Must(template.New("").Funcs(template.FuncMap{"yaml": scalar}).ParseFS(templates, "templates/*.tmpl"))

// renovateJSON is the template of Renovate's configuration, which has templates of its own between
// braces. What it stands on is Renovate's at github.com/renovatebot/renovate, c2dd4f8:
// lib/modules/datasource/github-release-attachments (a release's small attachments are read as lists of
// checksums; currentValue is the release's tag), lib/modules/manager/custom/regex (no looking around, and
// groups that templates take), lib/modules/manager/flux and argocd (of whose files none, or only
// gotk-components.yaml, are known unless they are named), and azure-pipelines (off unless it is turned
// on). Its managers of GitHub's workflows and GitLab's includes know their files by themselves.
// Flux's checksums have install.yaml: .goreleaser.yml of github.com/fluxcd/flux2.
var renovateJSON = template.Must(template.New("renovate.json.in").Delims("<%", "%>").ParseFS(templates, "templates/renovate.json.in"))

// scalar is a text as one value of YAML, in quotes where it would be something else without.
func scalar(text any) (string, error) {
	if s := fmt.Sprint(text); strings.ContainsFunc(s, unicode.IsControl) {
		return strconv.Quote(s), nil // on one line: a line break begins no key
	}
	out, err := yaml.Marshal(text)
	return strings.TrimSuffix(string(out), "\n"), err
}

// Files are the project's but for the tree and the pipelines. The error is strict.Problems when the
// cluster file would be wrong: see Cluster.File.
func (o Options) Files() ([]pipelines.File, error) {
	cluster, err := o.Cluster.File()
	if err != nil {
		return nil, err
	}
	out := []pipelines.File{{Path: "clusters/" + o.Cluster.Name + ".yaml", Text: cluster}}
	for _, name := range []string{"Pulumi.yaml", "tombolo.policy.yaml", "gitignore", "README.md"} {
		text, err := render(name+".tmpl", o)
		if err != nil {
			return nil, err
		}
		if name == "gitignore" { // with its dot, the template would not be embedded
			name = ".gitignore"
		}
		out = append(out, pipelines.File{Path: name, Text: text})
	}
	var renovate bytes.Buffer
	if err := renovateJSON.Execute(&renovate, o); err != nil {
		return nil, fmt.Errorf("render renovate.json: %w", err)
	}
	out = append(out, pipelines.File{Path: "renovate.json", Text: renovate.String()})
	if o.Checksums != nil {
		pin, err := o.pin()
		if err != nil {
			return nil, err
		}
		out = append(out, pipelines.File{Path: PinFile, Text: pin})
	}
	return out, nil
}

func render(name string, data any) (string, error) {
	var out bytes.Buffer
	if err := parsed.ExecuteTemplate(&out, name, data); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return out.String(), nil
}

// Write makes the files that are missing below dir, and says what happened to each, as scaffold.Write
// does. It keeps a file that differs, or replaces it where it is told to.
func Write(dir string, all []pipelines.File, replace bool) ([]scaffold.File, error) {
	var done []scaffold.File
	for _, f := range all {
		change, err := write(filepath.Join(dir, filepath.FromSlash(f.Path)), f.Text, replace)
		if err != nil {
			return done, fmt.Errorf("write %s: %w; what is there already stays when the command runs again", f.Path, err)
		}
		done = append(done, scaffold.File{Path: f.Path, Change: change})
	}
	return done, nil
}

func write(path, text string, replace bool) (scaffold.Change, error) {
	existing, err := files.ReadInside(path, files.MostText)
	switch {
	case err == nil && string(existing) == text:
		return scaffold.Same, nil
	case err == nil && replace:
		return scaffold.Updated, files.Replace(path, []byte(text), 0o644)
	case err == nil:
		return scaffold.Kept, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return scaffold.Written, files.Create(path, []byte(text), 0o644)
}
