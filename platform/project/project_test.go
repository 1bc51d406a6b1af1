package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/config/policy"
	"tombolo/config/strict"
	"tombolo/platform/pipelines"
	"tombolo/platform/scaffold"
)

// first describes a project in a cloud with an engine.
func first(provider config.Provider, engine config.Engine) Options {
	o := Options{
		Cluster: Cluster{
			Name: "first", Environment: "dev", Provider: provider, Region: "eu-central-1", Account: "111122223333", CIDR: "10.20.0.0/16",
			AllowedCIDRs: []string{"203.0.113.0/24"}, Engine: engine, URL: "https://github.com/acme/clusters.git",
		},
		Host: "github", Backend: "s3://acme-state?region=eu-central-1", Source: "github.com/acme/tombolo", Version: "v1.2.3",
	}
	if provider == config.Azure {
		o.Cluster.Region, o.Cluster.Account = "germanywestcentral", "00000000-0000-4000-8000-000000000001"
		o.Cluster.Tenant, o.Cluster.AdminGroup = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-0000000000a1"
	}
	return o
}

// byPath are the files of a project.
func byPath(t *testing.T, o Options) map[string]string {
	t.Helper()
	all, err := o.Files()
	assert.NilError(t, err)
	out := map[string]string{}
	for _, f := range all {
		out[f.Path] = f.Text
	}
	return out
}

// TestFiles: what is written is valid, in each cloud, with each engine, at each host.
func TestFiles(t *testing.T) {
	for _, provider := range []config.Provider{config.AWS, config.Azure} {
		for _, engine := range []config.Engine{config.Flux, config.ArgoCD} {
			for _, host := range pipelines.Hosts() {
				t.Run(fmt.Sprint(provider, engine, host), func(t *testing.T) {
					o := first(provider, engine)
					o.Host = host
					dir := t.TempDir()
					all, err := o.Files()
					assert.NilError(t, err)
					_, err = Write(dir, all, false)
					assert.NilError(t, err)
					c, err := config.Load(filepath.Join(dir, "clusters", "first.yaml"))
					assert.NilError(t, err)
					assert.Check(t, is.Len(c.Warnings, 0))
					assert.Check(t, c.GitOps.IsReleased())
					assert.Check(t, is.Equal(c.Kubernetes.Version, "1.36"))
					_, err = policy.Load(filepath.Join(dir, policy.File))
					assert.NilError(t, err)
					text, err := os.ReadFile(filepath.Join(dir, "renovate.json"))
					assert.NilError(t, err)
					assert.Check(t, json.Valid(text), "%s", text)
				})
			}
		}
	}
}

func TestPrivateEndpoint(t *testing.T) {
	for _, provider := range []config.Provider{config.AWS, config.Azure} {
		o := first(provider, config.Flux)
		o.Cluster.AllowedCIDRs = nil
		text, err := o.Cluster.File()
		assert.NilError(t, err)
		assert.Check(t, is.Contains(text, "    private: true\n    public: false\n"))
	}
}

// TestWrongValues are named by their keys, and cannot become other keys.
func TestWrongValues(t *testing.T) {
	o := first(config.AWS, config.Flux)
	o.Cluster.Account, o.Cluster.Region = "12\nprofile: x", "eu-centrall-1"
	_, err := o.Files()
	assert.Check(t, is.ErrorContains(err, "cloud.region: "))
	assert.Check(t, is.ErrorContains(err, "cloud.account: "))
	var problems strict.Problems
	assert.Assert(t, errors.As(err, &problems))
	assert.Check(t, is.Len(problems, 2))
}

const sums = `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa  NOTES.md
bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb  tombolo_1.2.3_darwin_arm64.tar.gz
cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc  tombolo_1.2.3_linux_amd64.tar.gz
dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd  tombolo-tools_1.2.3_linux_amd64.tar.gz
eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee  tombolo_1.2.3_linux_amd64.cdx.json
`

func TestPin(t *testing.T) {
	o := first(config.AWS, config.Flux)
	assert.Check(t, is.Equal(byPath(t, o)[PinFile], ""))
	o.Checksums = []byte(sums)
	lines := strings.SplitAfter(sums, "\n")
	assert.Check(t, is.Equal(byPath(t, o)[PinFile], lines[1]+lines[2]+lines[3]))
	o.Version = "v1.2.4"
	_, err := o.Files()
	assert.Check(t, is.Error(err, "the checksums have no archive of tombolo v1.2.4"))
	o.Version = ""
	_, err = o.Files()
	assert.Check(t, is.ErrorContains(err, "is a build between releases"))
}

// TestRenovate: its expressions find what the other files have. RE2 is Go's form of them, too.
func TestRenovate(t *testing.T) {
	for engine, want := range map[config.Engine][]string{
		config.Flux:   {"github-release-attachments", "fluxcd/flux2", "v2.9.3", "aa0bd71dbc4bed916b9cafa850c4618f341c74c580832c613dca04a067ee7281"},
		config.ArgoCD: {"github-releases", "argoproj/argo-cd", "v3.5.7"},
	} {
		o := first(config.AWS, engine)
		o.Checksums = []byte(sums)
		all := byPath(t, o)
		var has struct {
			CustomManagers []struct{ MatchStrings []string }
			PackageRules   []struct{ MatchPackageNames []string }
		}
		assert.NilError(t, json.Unmarshal([]byte(all["renovate.json"]), &has))
		assert.Check(t, is.DeepEqual(has.PackageRules[0].MatchPackageNames, []string{"acme/tombolo", "https://github.com/acme/tombolo.git"}))
		var found []string
		for _, expression := range has.CustomManagers[0].MatchStrings {
			if m := regexp.MustCompile(expression).FindStringSubmatch(all["clusters/first.yaml"]); m != nil {
				found = append(found, m[1:]...)
			}
		}
		assert.Check(t, is.DeepEqual(found, want))
		pins := regexp.MustCompile(has.CustomManagers[1].MatchStrings[0]).FindAllStringSubmatch(all[PinFile], -1)
		assert.Check(t, is.Len(pins, 3))
		assert.Check(t, is.DeepEqual(pins[1][2:], []string{"tombolo", "1.2.3", "linux_amd64"}))
		assert.Check(t, is.DeepEqual(pins[2][2:], []string{"tombolo-tools", "1.2.3", "linux_amd64"}))
	}
}

// TestRenovateFindsCharts: the lists of the chart app-of-apps have each chart by one of the two forms.
func TestRenovateFindsCharts(t *testing.T) {
	var has struct {
		CustomManagers []struct{ MatchStrings []string }
	}
	assert.NilError(t, json.Unmarshal([]byte(byPath(t, first(config.AWS, config.ArgoCD))["renovate.json"]), &has))
	files, err := filepath.Glob("../argocd/app-of-apps/addons/*.yaml")
	assert.NilError(t, err)
	charts := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		want, got := strings.Count(string(text), "\n  chart: "), 0
		for _, manager := range has.CustomManagers[2:] {
			got += len(regexp.MustCompile(manager.MatchStrings[0]).FindAllString(string(text), -1))
		}
		assert.Check(t, is.Equal(got, want), "%s", file)
		charts += want
	}
	assert.Check(t, charts > 20, "%d charts", charts)
}

// TestWrite: a second run changes nothing, and what people wrote stays.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	all, err := first(config.AWS, config.Flux).Files()
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte("Ours.\n"), 0o600))
	for _, want := range []scaffold.Change{scaffold.Written, scaffold.Same} {
		done, err := Write(dir, all, false)
		assert.NilError(t, err)
		for _, f := range done {
			if f.Path == "README.md" {
				assert.Check(t, is.Equal(f.Change, scaffold.Kept))
				continue
			}
			assert.Check(t, is.Equal(f.Change, want), "%s", f.Path)
		}
	}
	assert.NilError(t, os.RemoveAll(filepath.Join(dir, "clusters")))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "clusters"), nil, 0o600))
	_, err = Write(dir, all, false)
	assert.Check(t, is.ErrorContains(err, "write clusters/first.yaml: "))
}

func TestHTTPS(t *testing.T) {
	for address, want := range map[string]string{
		"git@github.com:acme/clusters.git":                "https://github.com/acme/clusters.git",
		"ssh://git@git.example.com:2222/acme/clusters":    "https://git.example.com/acme/clusters",
		"git@ssh.dev.azure.com:v3/acme/platform/c":        "https://dev.azure.com/acme/platform/_git/c",
		"https://acme@dev.azure.com/acme/platform/_git/c": "https://dev.azure.com/acme/platform/_git/c",
		"https://a:secret@git.example.com/c.git":          "https://a:secret@git.example.com/c.git",
		"/srv/git/clusters":                               "/srv/git/clusters",
	} {
		assert.Check(t, is.Equal(HTTPS(address), want))
	}
	for address, want := range map[string]string{
		"https://github.com/a/b": "github", "https://gitlab.example.com/a/b": "gitlab", "https://dev.azure.com/a/b/_git/c": "azure-devops",
		"https://acme.visualstudio.com/b/_git/c": "azure-devops", "https://git.example.com/a/b": "", "https://github.com.example.com/a/b": "",
	} {
		assert.Check(t, is.Equal(HostOf(address), want), address)
	}
}

func TestRelease(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "v1.2.3", "v1.2.3-rc.1": "v1.2.3-rc.1", "v0.0.0-20261129131313-0123456789ab": "", "v1.2.4-0.20261129131313-0123456789ab": "",
		"v1.2.3+dirty": "", "(devel)": "", "": "",
	} {
		assert.Check(t, is.Equal(Release(version), want), version)
	}
}

// TestLike: what people wrote stays, but for the name, the path and the network.
func TestLike(t *testing.T) {
	const text = `# ours
name: "demo"   # the first

network: {cidr: 10.20.0.0/16, zones: [a]}
gitops:
  path: clusters/demo # theirs
`
	got, err := Like("demo.yaml", text, "second", "10.21.0.0/16")
	assert.NilError(t, err)
	assert.Check(t, is.Equal(got, `# ours
name: "second"   # the first

network: {cidr: 10.21.0.0/16, zones: [a]}
gitops:
  path: clusters/second # theirs
`))
	_, err = Like("demo.yaml", "name: >-\n  demo\n", "second", "10.21.0.0/16")
	assert.Check(t, is.ErrorContains(err, "demo.yaml:1:7: name: has a form that cannot be edited"))
}

func TestFreeBlock(t *testing.T) {
	assert.Check(t, is.Equal(FreeBlock(nil), "10.20.0.0/16"))
	all := []*config.Cluster{{Network: config.Network{CIDR: "10.20.128.0/17"}}, {Network: config.Network{CIDR: "10.21.0.0/16"}}, {}}
	assert.Check(t, is.Equal(FreeBlock(all), "10.22.0.0/16"))
	assert.Check(t, is.Equal(FreeBlock([]*config.Cluster{{Network: config.Network{CIDR: "10.0.0.0/8"}}}), ""))
}

// TestREADME: it says what is needed before the first command, and lists each file that is written.
func TestREADME(t *testing.T) {
	readme := func(change func(*Options)) string {
		o := first(config.AWS, config.Flux)
		change(&o)
		text := byPath(t, o)["README.md"]
		for line := range strings.Lines(text) {
			assert.Check(t, len(line) <= 120 && !strings.HasSuffix(line, " \n"), "%q", line)
		}
		assert.Check(t, !strings.Contains(text, "\n\n\n") && !strings.Contains(text, "<no value>"), text)
		return text
	}
	for name, c := range map[string]struct {
		change    func(*Options)
		has, lack []string
	}{
		"GitHub": {func(*Options) {}, []string{
			"make setup-aws ", "export PATH=\"$PWD/bin:$PWD/.tools/bin:$PATH\"", "tombolo doctor first", "`tombolo lab down`", "The lab without a checkout",
			"also needs Go", "`accounts/<name>.yaml`", "`TOMBOLO_SECRETS` is `passphrase`", "| `Makefile` |", "| `.github/workflows` |", "| `.gitignore` |", "Write [`tombolo.sha256`]",
		}, []string{"TOMBOLO_RELEASES", "tombolo-source"}},
		"a key service":         {func(o *Options) { o.SecretsProvider = "awskms://alias/tombolo" }, nil, []string{"PASSPHRASE", "TOMBOLO_SECRETS"}},
		"AWS from Azure DevOps": {func(o *Options) { o.Host = "azure-devops" }, []string{"account files of AWS do not know Azure DevOps"}, []string{"`tombolo pipelines up"}},
		"no pipelines": {func(o *Options) { o.Version = "" }, []string{"`tombolo plugins install`", "tombolo doctor first", "`--release <tag>`"}, []string{
			"make setup", "Makefile", ".github/workflows", "TOMBOLO_SECRETS",
		}},
		"Azure DevOps":      {func(o *Options) { o.Host = "azure-devops" }, []string{"| `azure-pipelines.yml` |", "`tombolo-source`", "PULUMI_CONFIG_PASSPHRASE` is a secret of\n  `tombolo-apply`"}, []string{"TOMBOLO_RELEASES", "TOMBOLO_SECRETS"}},
		"a source in Azure": {func(o *Options) { o.Host, o.Source = "azure-devops", "dev.azure.com/acme/platform/tombolo" }, []string{"`TOMBOLO_RELEASES`"}, []string{"tombolo-source"}},
		"GitLab, pinned already": {func(o *Options) {
			o.Host, o.Checksums = "gitlab", []byte(strings.Repeat("ab", 32)+"  tombolo_1.2.3_linux_amd64.tar.gz\n")
		}, []string{"| `.gitlab-ci.yml` |"}, []string{"Write [`tombolo.sha256`]"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := readme(c.change)
			for _, want := range c.has {
				assert.Check(t, is.Contains(text, want))
			}
			for _, other := range c.lack {
				assert.Check(t, !strings.Contains(text, other), other)
			}
		})
	}
}
