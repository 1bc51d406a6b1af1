// Package pipelines writes the pipelines of a project of one's own, which call those of a
// release of Tombolo by its version, and checks that they pass on the secrets that the
// project's files name.
package pipelines

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

// The hosts, as account files name them.
const (
	GitHub      = "github"
	GitLab      = "gitlab"
	AzureDevOps = "azure-devops"
)

// Hosts are those that Files knows.
func Hosts() []string { return []string{GitHub, GitLab, AzureDevOps} }

// Options of Files.
type Options struct {
	// Host runs the pipelines: one of Hosts.
	Host string
	// Source has Tombolo's releases and the pipelines that are called:
	// <host>/<owner>/<repository>, such as github.com/acme/tombolo.
	Source string
	// Version is the release's tag, such as v1.2.3.
	Version string
	// Branch that is applied: the default branch of the project. Default main.
	Branch string
	// Secrets are the environment variables that files of the project name (env: NAME), in any
	// order. The key by which an apply compares them with the plan is added where there is one.
	Secrets []string
	// Promote are the branches of environments, in the order in which a change passes them; none where
	// nothing is promoted.
	Promote []string
}

// File of a project, by its path with slashes below the project's root.
type File struct{ Path, Text string }

// PlanKey is the variable with the key by which an apply compares secrets with its plan.
const PlanKey = "TOMBOLO_PLAN_KEY"

// Passphrase is the variable with what encrypts states where no key service does.
const Passphrase = "PULUMI_CONFIG_PASSPHRASE"

// Declared are the secrets that a called workflow of GitHub declares. A caller passes them by
// their names. Others it can only pass with all that it has (secrets: inherit), which GitHub
// has for callers of the same organization or enterprise alone, and the workflow uses those
// that the input secrets names:
// https://docs.github.com/en/actions/how-tos/reuse-automations/reuse-workflows
func Declared() []string {
	return []string{"TOMBOLO_CHANNEL", "TOMBOLO_GIT_TOKEN", PlanKey, "TOMBOLO_SEALING_CERTIFICATE", "TOMBOLO_SEALING_KEY", Passphrase}
}

// MostOthers is how many secrets the input secrets of a called workflow of GitHub may name:
// the workflow has a line for each.
const MostOthers = 8

//go:embed templates
var templates embed.FS

var (
	sourceForm  = regexp.MustCompile(`^([a-z0-9-]+\.)+[a-z0-9-]+(:[0-9]+)?(/[A-Za-z0-9][A-Za-z0-9._-]*){2,}$`)
	versionForm = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	branchForm  = regexp.MustCompile(`^[\w./-]+$`)
	// A cluster file names no other: see config/secret.
	secretForm = regexp.MustCompile(`^(TOMBOLO_[A-Za-z0-9_]+|` + Passphrase + `)$`)
)

// Files are the pipelines of a project, and the Makefile by which their jobs install the release
// that tombolo.sha256 pins, sorted by path.
func Files(o Options) ([]File, error) {
	if o.Branch == "" {
		o.Branch = "main"
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	texts, err := template.New("").Delims("<<", ">>").ParseFS(templates, "templates/*")
	if err != nil {
		return nil, err
	}
	paths := map[string][]string{
		GitHub:      {"apply.yml", "drift.yml", "preview-program.yml", "preview.yml"},
		GitLab:      {"gitlab-ci.yml"},
		AzureDevOps: {"azure-pipelines.yml"},
	}
	in := map[string]string{}
	for _, name := range append(paths[GitHub], "promotion.yml") {
		in[name] = ".github/workflows"
	}
	files := []File{}
	if len(o.Promote) > 0 {
		paths[GitHub] = append(paths[GitHub], "promotion.yml")
	}
	for _, name := range append(paths[o.Host], "Makefile") {
		var text bytes.Buffer
		if err := texts.ExecuteTemplate(&text, name, o); err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		at := path.Join(in[name], name)
		if name == "gitlab-ci.yml" {
			at = "." + name
		}
		files = append(files, File{Path: at, Text: text.String()})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// CheckSource refuses what is no <host>/<owner>/<repository>.
func CheckSource(source string) error {
	if !sourceForm.MatchString(source) || strings.HasSuffix(source, ".git") {
		return fmt.Errorf("%q is no <host>/<owner>/<repository>, such as github.com/acme/tombolo", source)
	}
	return nil
}

// check refuses what would not be a pipeline, or another one than its text looks like.
func (o Options) check() error {
	if err := CheckSource(o.Source); err != nil {
		return fmt.Errorf("write pipelines: the source %w", err)
	}
	for _, c := range []struct {
		what, value, example string
		form                 *regexp.Regexp
	}{
		{"version", o.Version, "v1.2.3", versionForm},
		{"branch", o.Branch, "main", branchForm},
	} {
		if !c.form.MatchString(c.value) {
			return fmt.Errorf("write pipelines: the %s %q has another form than %s", c.what, c.value, c.example)
		}
	}
	for _, name := range o.Secrets {
		if !secretForm.MatchString(name) {
			return fmt.Errorf("write pipelines: %q is no name of a secret, such as TOMBOLO_GIT_TOKEN", name)
		}
	}
	for _, name := range o.Promote {
		if !branchForm.MatchString(name) {
			return fmt.Errorf("write pipelines: the promoted branch %q has another form than test", name)
		}
	}
	switch {
	case len(o.Promote) == 1:
		return fmt.Errorf("write pipelines: %s alone is promoted to no branch; name all branches, in the order in which a change passes them", o.Promote[0])
	case !slices.Contains(Hosts(), o.Host):
		return fmt.Errorf("write pipelines: the host %q is not known; known are %s", o.Host, strings.Join(Hosts(), ", "))
	case o.Host == GitHub && len(o.Others()) > MostOthers:
		return fmt.Errorf("write pipelines: a called workflow of GitHub gets %d secrets beside %s, and these are %d: %s; have the engine read some from a store, or from one file",
			MostOthers, strings.Join(Declared(), ", "), len(o.Others()), strings.Join(o.Others(), ", "))
	}
	return nil
}

// Repository is the source without its host, as callers at the same host name it.
func (o Options) Repository() string {
	_, repository, _ := strings.Cut(o.Source, "/")
	return repository
}

// Name is the repository as a resource of Azure DevOps names it: <owner>/<repository> at GitHub,
// <project>/<repository> in the organization of the pipeline.
func (o Options) Name() string {
	parts := strings.Split(o.Repository(), "/")
	return strings.Join(parts[len(parts)-2:], "/")
}

// AtGitHub says that the source is at github.com, which other hosts read in another way than
// their own repositories.
func (o Options) AtGitHub() bool { return strings.HasPrefix(o.Source, "github.com/") }

// Releases is the address below which releases are, each a directory with its tag; empty where
// the source's host has no such addresses. Sources:
//   - https://docs.github.com/en/repositories/releasing-projects-on-github/linking-to-releases
//   - https://docs.gitlab.com/user/project/releases/release_fields/#permanent-links-to-release-assets
func (o Options) Releases() string {
	switch {
	case o.Host == GitHub || o.AtGitHub():
		return "https://" + o.Source + "/releases/download/$(VERSION)"
	case o.Host == GitLab:
		return "https://" + o.Source + "/-/releases/$(VERSION)/downloads"
	}
	return ""
}

// Applied are the secrets of jobs that change clusters, sorted and each once.
func (o Options) Applied() []string {
	names := slices.DeleteFunc(slices.Clone(o.Secrets), func(name string) bool { return name == PlanKey })
	slices.Sort(names)
	return slices.Compact(names)
}

// Planned are those of the jobs that plan and apply: the same, and the key that compares them.
func (o Options) Planned() []string {
	if len(o.Applied()) == 0 {
		return nil
	}
	names := append(o.Applied(), PlanKey)
	slices.Sort(names)
	return names
}

// From are the branches that are promoted, with a text between them.
func (o Options) From(between string) string {
	return strings.Join(o.Promote[:max(0, len(o.Promote)-1)], between)
}

// To are the branches that something is promoted to.
func (o Options) To() string { return strings.Join(o.Promote[min(1, len(o.Promote)):], ", ") }

// HasPassphrase says that a passphrase encrypts the states.
func (o Options) HasPassphrase() bool { return slices.Contains(o.Secrets, Passphrase) }

// Others are the secrets that no called pipeline knows by itself, sorted.
func (o Options) Others() []string {
	return slices.DeleteFunc(o.Applied(), func(name string) bool { return slices.Contains(Declared(), name) })
}
