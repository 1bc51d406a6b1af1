//go:build lab

package lab

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// A change of a cluster, in a repository of its own, and the commands of the pipeline.
// Nothing is deployed: the preview ends where the provider of the cloud is missing, which
// is behind all that could run something of the change.
type proposal struct {
	t *testing.T
	// dir is the checkout of the change, and mark the file that what must not run leaves.
	dir, mark string
	env       map[string]string
}

const plantedCluster = `version: 1
name: demo
environment: dev
cloud: {provider: aws, region: eu-central-1, account: "111122223333"}
network:
  cidr: 10.40.0.0/16
  zones: [eu-central-1a, eu-central-1b]
kubernetes:
  version: "1.34"
  endpoint: {public: true, allowedCidrs: [203.0.113.0/24]}
  nodeGroups:
    - {name: system, instanceTypes: [m7i.large], size: {min: 1, max: 2}}
gitops:
  engine: flux
  url: https://git.example.com/platform.git
  branch: main
  path: clusters/demo
  distribution: {version: v2.9.3, path: ../flux-install.yaml}
`

const plantedProject = "name: tombolo\nruntime: go\nstackConfigDir: clusters\n"

func propose(t *testing.T) *proposal {
	t.Helper()
	root := checkout(t)
	at, err := filepath.EvalSymlinks(t.TempDir())
	assert.NilError(t, err)
	self, err := os.Executable()
	assert.NilError(t, err)
	p := &proposal{t: t, dir: filepath.Join(at, "change"), mark: filepath.Join(at, "mark")}
	for _, dir := range []string{"bin", "home", "state", "change/clusters"} {
		assert.NilError(t, os.MkdirAll(filepath.Join(at, dir), 0o700))
	}
	assert.NilError(t, os.Symlink(self, filepath.Join(at, "bin", "tombolo")))
	p.env = map[string]string{
		"PATH": filepath.Join(at, "bin") + ":" + filepath.Join(root, ".tools", "bin") + ":" + os.Getenv("PATH"),
		"HOME": filepath.Join(at, "home"), "PULUMI_BACKEND_URL": "file://" + filepath.Join(at, "state"),
		"PULUMI_CONFIG_PASSPHRASE": "theirs", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
		"AWS_ACCESS_KEY_ID": "lab", "AWS_SECRET_ACCESS_KEY": "lab", "AWS_EC2_METADATA_DISABLED": "true",
		"GIT_AUTHOR_NAME": "Somebody", "GIT_AUTHOR_EMAIL": "somebody@example.com",
		"GIT_COMMITTER_NAME": "Somebody", "GIT_COMMITTER_EMAIL": "somebody@example.com",
		"GIT_CONFIG_SYSTEM": os.DevNull, "LC_ALL": "C",
	}
	install, err := os.ReadFile(filepath.Join(root, ".tools", "share", "flux-install.yaml"))
	assert.NilError(t, err)
	p.write("flux-install.yaml", string(install))
	p.write("Pulumi.yaml", plantedProject)
	p.write("clusters/demo.yaml", plantedCluster)
	p.write("notes.txt", "as it was\n")
	p.run("git", "init", "--quiet", "--initial-branch", "main")
	// The stack exists, and its settings are the project's.
	p.run("pulumi", "--non-interactive", "stack", "init", "demo-core", "--secrets-provider", "passphrase")
	p.commit()
	p.run("git", "switch", "--quiet", "--create", "change")
	p.write("clusters/demo.yaml", plantedCluster+"tags: {team: networks}\n")
	return p
}

func (p *proposal) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	assert.NilError(p.t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(p.t, os.WriteFile(path, []byte(text), 0o600))
}

// plant writes a program that leaves the mark.
func (p *proposal) plant(names ...string) {
	p.t.Helper()
	for _, name := range names {
		p.write(name, "#!/bin/sh\necho \"$0\" >>'"+p.mark+"'\nexit 1\n")
		assert.NilError(p.t, os.Chmod(filepath.Join(p.dir, filepath.FromSlash(name)), 0o700))
	}
}

func (p *proposal) run(name string, args ...string) string {
	p.t.Helper()
	said, err := p.try(name, args...)
	assert.NilError(p.t, err, "%s %v: %s", name, args, said)
	return said
}

func (p *proposal) try(name string, args ...string) (string, error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	path := ""
	for _, dir := range filepath.SplitList(p.env["PATH"]) {
		if _, err := os.Stat(filepath.Join(dir, name)); filepath.IsAbs(dir) && err == nil {
			path = filepath.Join(dir, name)
			break
		}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = p.dir
	for name, value := range p.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p *proposal) commit() {
	p.t.Helper()
	p.run("git", "add", "--all")
	p.run("git", "commit", "--quiet", "--message", "as it is")
}

// pipeline runs the commands of the workflow, and returns what the preview said.
func (p *proposal) pipeline() string {
	p.t.Helper()
	_, _ = p.try("tombolo", "validate")
	_, _ = p.try("tombolo", "check")
	out := p.t.TempDir()
	said, err := p.try("tombolo", "preview", "--changed-since", "main", "--output", "markdown",
		"--html", filepath.Join(out, "preview.html"), "--comment-key", "preview", "--approvals", "auto")
	if err == nil {
		p.t.Errorf("the preview has a provider, and the test sees nothing: %s", said)
	}
	return said
}

// TestNothingOfAChangeRuns: what a change plants, the pipeline's own commands do not run.
func TestNothingOfAChangeRuns(t *testing.T) {
	tier.Long(t, "thirteen ways in which a change could be run by its preview, with a repository for each")
	const reached = "pulumi-resource-aws"
	for name, test := range map[string]struct {
		plant func(*proposal)
		// want is what the preview says.
		want string
	}{
		"nothing": {func(*proposal) {}, reached},
		"provider plugin": {func(p *proposal) {
			p.plant("evil/pulumi-resource-aws")
			p.write("Pulumi.yaml", plantedProject+"plugins:\n  providers:\n    - {name: aws, path: ./evil}\n")
		}, reached},
		"main and language": {func(p *proposal) {
			p.plant("evil/pulumi-language-go", "evil/pulumi-language-evil", "evil/program", "evil/main")
			p.write("Pulumi.yaml", "name: tombolo\nmain: ./evil\nruntime: {name: go, options: {binary: evil/program, buildTarget: evil/main}}\n"+
				"stackConfigDir: clusters\nplugins:\n  languages:\n    - {name: go, path: ./evil}\n")
		}, reached},
		"backend of its own": {func(p *proposal) {
			delete(p.env, "PULUMI_BACKEND_URL")
			p.run("git", "switch", "--quiet", "main")
			p.write("Pulumi.yaml", plantedProject+"backend: {url: \"file://"+filepath.Join(filepath.Dir(p.dir), "state")+"\"}\n")
			p.write("clusters/demo.yaml", plantedCluster)
			p.commit()
			p.run("git", "switch", "--quiet", "--create", "another")
			p.write("clusters/demo.yaml", plantedCluster+"tags: {team: networks}\n")
			p.write("Pulumi.yaml", plantedProject+"backend: {url: \"file://"+p.mark+"\"}\n")
		}, reached},
		"secrets provider": {func(p *proposal) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_ = os.WriteFile(p.mark, []byte("the key service of the change was asked\n"), 0o600)
				w.WriteHeader(http.StatusForbidden)
			}))
			p.t.Cleanup(server.Close)
			p.write("clusters/Pulumi.demo-core.yaml", "secretsprovider: awskms://alias/evil?"+
				url.Values{"region": {"eu-central-1"}, "endpoint": {server.URL}}.Encode()+"\nencryptedkey: YWJj\n"+
				"config: {\"tombolo:x\": {secure: YWJj}}\n")
		}, reached},
		"own stack": {func(p *proposal) {
			p.plant("evil/program", "evil/pulumi-resource-evil")
			p.write("evil/Pulumi.yaml", "name: evil\nruntime: {name: go, options: {binary: ./program}}\nplugins:\n  providers:\n    - {name: evil, path: .}\n")
			p.write("tombolo.stacks.yaml", "version: 1\nstacks:\n  - {name: evil, program: evil, order: before-core}\n")
		}, reached},
		"own stack that was another": {func(p *proposal) {
			p.run("git", "switch", "--quiet", "main")
			p.write("team/Pulumi.yaml", "name: team\nruntime: {name: go, options: {binary: ./program}}\n")
			p.write("tombolo.stacks.yaml", "version: 1\nstacks:\n  - {name: team, program: team, order: before-core}\n")
			p.commit()
			p.run("git", "switch", "--quiet", "--create", "another")
			p.write("clusters/demo.yaml", plantedCluster+"tags: {team: networks}\n")
			p.plant("team/program", "evil/program", "evil/pulumi-resource-evil", "evil/pulumi-language-go")
			p.write("team/Pulumi.yaml", "name: team\nmain: ../evil\nruntime: {name: go, options: {binary: ../evil/program}}\npackages: {evil: ../evil}\n"+
				"plugins:\n  languages:\n    - {name: go, path: ../evil}\n  providers:\n    - {name: evil, path: ../evil}\n")
		}, reached},
		"npmrc": {func(p *proposal) {
			p.plant("evil/run")
			p.write(".npmrc", "script-shell="+filepath.Join(p.dir, "evil/run")+"\nignore-scripts=false\n")
			p.write("package.json", `{"name":"evil","scripts":{"preinstall":"x","postinstall":"x","build":"x"}}`)
			p.write("Pulumi.yaml", "name: tombolo\nruntime: {name: nodejs, options: {packagemanager: npm}}\nstackConfigDir: clusters\n")
		}, reached},
		"git hooks": {func(p *proposal) {
			for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction", "pre-commit", "fsmonitor-watchman"} {
				p.plant(".git/hooks/"+hook, "evil/"+hook)
			}
			p.run("git", "config", "core.hooksPath", filepath.Join(p.dir, "evil"))
		}, reached},
		"git fsmonitor": {func(p *proposal) {
			p.plant("evil/run")
			p.run("git", "config", "core.fsmonitor", filepath.Join(p.dir, "evil/run"))
		}, reached},
		"git filters and diffs": {func(p *proposal) {
			p.plant("evil/run")
			p.write(".gitattributes", "* filter=evil diff=evil\n")
			for _, key := range []string{"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.evil.command", "diff.external", "core.pager", "core.sshCommand"} {
				p.run("git", "config", key, filepath.Join(p.dir, "evil/run"))
			}
			p.run("git", "config", "filter.evil.required", "true")
			p.write("notes.txt", "as it is\n") // not added, so that it goes through the filter
		}, reached},
		"PATH with the current directory": {func(p *proposal) {
			p.plant("pulumi", "git", "go", "aws", "pulumi-resource-aws", "pulumi-language-go", "tools/pulumi", "tools/git")
			p.env["PATH"] = ".:tools::" + p.env["PATH"]
		}, reached},
		"linked cluster file": {func(p *proposal) {
			secret := filepath.Join(filepath.Dir(p.dir), "secret")
			assert.NilError(p.t, os.WriteFile(secret, []byte("hunter2: {a: b}\n"), 0o600))
			assert.NilError(p.t, os.Symlink(secret, filepath.Join(p.dir, "clusters", "other.yaml")))
		}, "is a link out of the project"},
	} {
		t.Run(name, func(t *testing.T) {
			p := propose(t)
			p.commit()
			test.plant(p)
			if _, err := os.Stat(p.mark); err == nil {
				assert.NilError(t, os.Remove(p.mark)) // it was run by what plants it
			}
			said := p.pipeline()
			assert.Check(t, is.Contains(said, test.want))
			assert.Check(t, !strings.Contains(said, "hunter2"), said)
			if left, err := os.ReadFile(p.mark); !os.IsNotExist(err) {
				t.Errorf("it ran: %s, %v\n%s", left, err, said)
			}
		})
	}
}
