package pipelines

import (
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"
)

func options(host string, secrets ...string) Options {
	return Options{Host: host, Source: "github.com/acme/tombolo", Version: "v1.2.3", Secrets: secrets}
}

// TestFiles: what a project gets for each host. With -update the golden files are written.
func TestFiles(t *testing.T) {
	at := func(o Options, source string) Options {
		o.Source = source
		return o
	}
	promotes := func(o Options) Options {
		o.Promote = []string{"dev", "test", "main"}
		return o
	}
	for name, o := range map[string]Options{
		"github":        options(GitHub, "TOMBOLO_GIT_TOKEN"),
		"github-none":   options(GitHub),
		"github-others": promotes(options(GitHub, "TOMBOLO_MIRROR_PASSWORD", "TOMBOLO_GIT_TOKEN", "TOMBOLO_HUB_TOKEN", "TOMBOLO_GIT_TOKEN")),
		"gitlab":        at(options(GitLab, "TOMBOLO_GIT_TOKEN"), "gitlab.example.com/acme/tools/tombolo"),
		"gitlab-github": promotes(options(GitLab)),
		"azure":         at(options(AzureDevOps, "TOMBOLO_GIT_TOKEN", "TOMBOLO_HUB_TOKEN"), "dev.azure.com/acme/platform/tombolo"),
		"azure-github":  promotes(options(AzureDevOps)),
	} {
		t.Run(name, func(t *testing.T) {
			files, err := Files(o)
			assert.NilError(t, err)
			var all strings.Builder
			for i, f := range files {
				assert.Check(t, i == 0 || files[i-1].Path < f.Path, "%s is not sorted", f.Path)
				assert.Check(t, !strings.Contains(f.Text, "<<") && strings.HasSuffix(f.Text, "\n"), f.Path)
				if f.Path != "Makefile" {
					var any yaml.Node
					assert.NilError(t, yaml.Unmarshal([]byte(f.Text), &any), f.Path)
				}
				// The Makefile is the same but for its address.
				if f.Path != "Makefile" || name == "github" {
					all.WriteString("==> " + f.Path + "\n" + f.Text)
				}
			}
			golden.Assert(t, all.String(), name+".golden")
		})
	}
}

// TestReleases: where the Makefile finds releases, by the source's host.
func TestReleases(t *testing.T) {
	for source, want := range map[string]map[string]string{
		"github.com/acme/tombolo": {
			GitHub: "https://github.com/acme/tombolo/releases/download/$(VERSION)", GitLab: "https://github.com/acme/tombolo/releases/download/$(VERSION)",
			AzureDevOps: "https://github.com/acme/tombolo/releases/download/$(VERSION)",
		},
		"git.acme.example:8443/acme/tombolo": {
			GitHub: "https://git.acme.example:8443/acme/tombolo/releases/download/$(VERSION)", GitLab: "https://git.acme.example:8443/acme/tombolo/-/releases/$(VERSION)/downloads",
			AzureDevOps: "",
		},
	} {
		for host, address := range want {
			assert.Equal(t, Options{Host: host, Source: source}.Releases(), address)
		}
	}
}

func TestFilesAreRefused(t *testing.T) {
	var many []string
	for _, letter := range "ABCDEFGHI" {
		many = append(many, "TOMBOLO_"+string(letter))
	}
	for want, change := range map[string]func(*Options){
		`the host "gitea" is not known; known are github, gitlab, azure-devops`: func(o *Options) { o.Host = "gitea" },
		`the source "acme/tombolo" is no <host>/<owner>/<repository>`:           func(o *Options) { o.Source = "acme/tombolo" },
		`the version "main" has another form than v1.2.3`:                       func(o *Options) { o.Version = "main" },
		`the branch "a b" has another form than main`:                           func(o *Options) { o.Branch = "a b" },
		`test alone is promoted to no branch`:                                   func(o *Options) { o.Promote = []string{"test"} },
		`the promoted branch "a'b" has another form than test`:                  func(o *Options) { o.Promote = []string{"dev", "a'b"} },
		`"A: B" is no name of a secret, such as TOMBOLO_GIT_TOKEN`:              func(o *Options) { o.Secrets = []string{"A: B"} },
		`gets 8 secrets beside TOMBOLO_CHANNEL, TOMBOLO_GIT_TOKEN, TOMBOLO_PLAN_KEY, TOMBOLO_SEALING_CERTIFICATE, TOMBOLO_SEALING_KEY, PULUMI_CONFIG_PASSPHRASE, and these are 9`: func(o *Options) { o.Secrets = many },
	} {
		o := options(GitHub)
		change(&o)
		_, err := Files(o)
		assert.Check(t, is.ErrorContains(err, want))
	}
	// Azure DevOps has no such limit.
	_, err := Files(options(AzureDevOps, many...))
	assert.NilError(t, err)
}

// TestNoRequestGetsASecret: the files of a project pass none to what runs for requests.
func TestNoRequestGetsASecret(t *testing.T) {
	o := options(GitHub, "TOMBOLO_GIT_TOKEN", "TOMBOLO_HUB_TOKEN")
	o.Promote = []string{"dev", "main"}
	files, err := Files(o)
	assert.NilError(t, err)
	seen := 0
	for _, f := range files {
		switch name := filepath.Base(f.Path); name {
		case "preview.yml", "preview-program.yml", "promotion.yml":
			seen++
			assert.Check(t, !strings.Contains(f.Text, "secrets:") && !strings.Contains(f.Text, "secrets."), name)
		}
	}
	assert.Equal(t, seen, 3)
}

func TestSource(t *testing.T) {
	assert.NilError(t, CheckSource("github.com/acme/tombolo"))
	for _, wrong := range []string{"https://github.com/acme/tombolo", "acme/tombolo", "github.com/acme", "github.com/acme/tombolo.git", "github.com/a b/c", "github.com/acme/\"x"} {
		assert.Check(t, is.ErrorContains(CheckSource(wrong), "is no <host>/<owner>/<repository>"), wrong)
	}
}
