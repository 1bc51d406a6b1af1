package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gomodule "golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// TestEveryGroupFromAnEmptyModuleCache builds each group of Go tools as on a
// machine that has never built anything: its modules are tiny ones of the same
// paths, which have to be downloaded (from a directory) before anything can ask
// where they are.
func TestEveryGroupFromAnEmptyModuleCache(t *testing.T) {
	for _, g := range slices.DeleteFunc(everyGroup(), group.installed) {
		t.Run(g.name, func(t *testing.T) {
			world, ok := worlds()[g.name]
			assert.Assert(t, ok, "there is no test of the group %s: add what it is built from", g.name)
			src := world.module(t)
			out, err := os.Open(os.DevNull)
			assert.NilError(t, err)
			defer out.Close()
			dir := t.TempDir()
			assert.NilError(t, g.build(t.Context(), src, dir, dir, newProgress(out, g.name)))
			for name, want := range world.files {
				got, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Error(err)
				} else if !strings.Contains(string(got), want) {
					t.Errorf("%s is %q, want %q in it", name, got, want)
				}
			}
			for _, name := range world.programs {
				if out, err := exec.Command(filepath.Join(dir, name)).CombinedOutput(); err != nil {
					t.Errorf("%s does not run: %v\n%s", name, err, out)
				}
			}
		})
	}
}

func TestAModuleThatIsNotPinned(t *testing.T) {
	src := world{modules: map[string]tree{"example.com/tool": {"main.go": program}}}.module(t)
	_, err := pinned(t.Context(), src, "example.com/other")
	if err == nil || !strings.HasPrefix(err.Error(), "downloading the pinned example.com/other: ") {
		t.Errorf("error %v", err)
	}
}

// TestReady: people are told what there is, and where.
func TestReady(t *testing.T) {
	const want = "✔ tools ready in .tools: pulumi-whole and kubectl; 1 built, 1 from the cache, 3s"
	assert.Check(t, is.Equal(ready(sets()["aws"], map[source]int{built: 1, cached: 1}, 3*time.Second), want))
	const fetchedToo = "✔ tools ready in .tools: pulumi-whole and kubectl; 0 built, 1 from a release, 1 from the cache, 3s"
	assert.Equal(t, ready(sets()["aws"], map[source]int{fetched: 1, cached: 1}, 3*time.Second), fetchedToo)
}

// program does nothing, and well.
const program = "package main\n\nfunc main() {}\n"

// construct has the Kubernetes provider's components, which cannot be compiled here.
const construct = `package provider

import (
	providerhelmv4 "example.com/helm/v4"
	providerkustomizev2 "example.com/kustomize/v2"
	provideryamlv2 "example.com/yaml/v2"
)

var resourceProviders = map[string]any{
	"kubernetes:yaml/v2:ConfigFile":     provideryamlv2.NewConfigFileProvider,
	"kubernetes:yaml/v2:ConfigGroup":    provideryamlv2.NewConfigGroupProvider,
	"kubernetes:helm.sh/v4:Chart":       providerhelmv4.NewChartProvider,
	"kubernetes:kustomize/v2:Directory": providerkustomizev2.NewDirectoryProvider,
}
`

// writer writes its name into the file that its argument names, if it has one.
const writer = `package main

import "os"

func main() {
	if len(os.Args) > 1 {
		if err := os.WriteFile(os.Args[1], []byte("written at build time"), 0o644); err != nil {
			panic(err)
		}
	}
}
`

// tree is texts by the path in their module.
type tree map[string]string

// world is what a group is built from, and what comes out.
type world struct {
	// own are the files of the group's own module, beside go.mod.
	own tree
	// modules are those it requires.
	modules map[string]tree
	// files that it must have made, with a text in each.
	files tree
	// programs that it must have built.
	programs []string
}

// worlds are what each group takes of its modules.
func worlds() map[string]world {
	const (
		provider = "github.com/pulumi/pulumi-kubernetes/provider/v4"
	)
	return map[string]world{
		"argocd": {
			own: tree{"cmd/argocd-redis/main.go": program},
			modules: map[string]tree{
				argocdModule: {
					"cmd/main.go": program, "manifests/install.yaml": "kind: One", "manifests/ha/install.yaml": "kind: Many",
					"hack/" + verifyScript: "#!/bin/sh\n",
				},
				helmModule:      {"cmd/helm/main.go": program},
				kustomizeModule: {"main.go": program},
			},
			files:    tree{"share/argocd-install.yaml": "kind: One", "share/argocd-install-ha.yaml": "kind: Many", "share/argocd-install-before.yaml": "kind: One"},
			programs: []string{"bin/argocd-server", "bin/helm", "bin/kustomize", "bin/argocd-redis"},
		},
		"externalsecrets": {
			own: tree{
				"cmd/external-secrets/main.go": "package main\n\nimport _ \"" + externalSecretsModule + "/pkg/controllers\"\n\nfunc main() {}\n",
				"cmd/vault-server/main.go":     "package main\n\nimport _ \"" + vaultSDK + "/framework\"\n\nfunc main() {}\n",
			},
			modules: map[string]tree{vaultSDK: {"framework/backend.go": "package framework\n\nimport (\n\t\"example.com/connutil\"\n)\n\nvar fields []string\n\nfunc of() {\n\tfields = connutil.Names()\n}\n"}, externalSecretsModule: {
				"apis/externalsecrets/v1/store_webhook.go": "package v1\n\nvar _ = newer\n",
				"apis/externalsecrets/v1/store.go":         "package v1\n",
				"pkg/provider/register/all.go":             "package register\n\nimport _ \"example.com/vendors\"\n",
				"pkg/controllers/controllers.go": "package controllers\n\nimport (\n\t_ \"" + externalSecretsModule + "/apis/externalsecrets/v1\"\n" +
					"\t_ \"" + externalSecretsModule + "/pkg/provider/register\"\n)\n",
			}},
			programs: []string{"bin/external-secrets", "bin/vault-server"},
		},
		"kubernetes": {
			own:      tree{"cmd/controlplane/main.go": program, "cmd/fluxinstall/main.go": writer},
			modules:  kubernetesModules(),
			files:    tree{"share/flux-install.yaml": "written at build time", "share/flux-install-before.yaml": "written at build time", "share/kwok-nodes.yaml": "kind: Leases", "share/kwok-pods.yaml": "kind: Pods"},
			programs: []string{"bin/kube-apiserver", "bin/source-controller", "bin/helm-controller", "bin/kwok"},
		},
		"kubectl": {
			modules:  map[string]tree{"k8s.io/kubernetes": {"cmd/kubectl/kubectl.go": program}},
			programs: []string{"bin/kubectl"},
		},
		"kubelogin": {
			modules:  map[string]tree{kubeloginModule: {"main.go": program}},
			programs: []string{"bin/kubelogin"},
		},
		"lint": {
			modules:  map[string]tree{"github.com/golangci/golangci-lint/v2": {"cmd/golangci-lint/main.go": program}},
			programs: []string{"bin/golangci-lint"},
		},
		"plugins": {
			own: tree{"cmd/pulumi-resource-kubernetes/main.go": "package main\n\nimport (\n\t_ \"" + provider + "/pkg/await\"\n" +
				"\t_ \"" + provider + "/pkg/gen\"\n\t_ \"" + provider + "/pkg/provider\"\n)\n\nfunc main() {}\n"},
			modules: map[string]tree{
				provider: {
					"pkg/provider/provider_construct.go":                    construct,
					"pkg/await/await.go":                                    "package await\n\nimport _ \"" + provider + "/structured-merge-diff/v4/fieldpath\"\n",
					"structured-merge-diff/v6/fieldpath/set.go":             "package fieldpath\n",
					"pkg/gen/schema.go":                                     "package gen\n\nimport pschema \"" + provider + "/schema\"\n\nvar _ = pschema.PackageSpec{\n\tProvider: pschema.ResourceSpec{},\n}\n",
					"schema/schema.go":                                      "package schema\n\ntype ResourceSpec struct{}\n\ntype PackageSpec struct{ Provider *ResourceSpec }\n",
					"cmd/pulumi-resource-kubernetes/schema.json":            `{"name": "kubernetes"}`,
					"cmd/pulumi-resource-kubernetes/terraform-mapping.json": `{"mapped": true}`,
				},
			},
			files: tree{
				"plugins/resource-kubernetes-v4.25.0/schema.json":            `"version":"4.25.0"`,
				"plugins/resource-kubernetes-v4.25.0/terraform-mapping.json": `{"mapped": true}`,
			},
			programs: []string{"plugins/resource-kubernetes-v4.25.0/pulumi-resource-kubernetes"},
		},
		"sealedsecrets": {
			own:      tree{"cmd/sealed-secrets/main.go": program},
			modules:  map[string]tree{sealedSecretsModule: {"cmd/kubeseal/main.go": program}},
			programs: []string{"bin/sealed-secrets", "bin/kubeseal"},
		},
		"pulumi":    pulumiWorld(pulumiTree()),
		wholePulumi: pulumiWorld(tree{"cmd/pulumi/main.go": program}),
	}
}

// pulumiWorld is what both CLIs are built from: cli are the files of Pulumi's own.
func pulumiWorld(cli tree) world {
	return world{
		own:      tree{"cmd/pulumi-language-go/main.go": program},
		modules:  map[string]tree{pulumiModule: cli, "github.com/pulumi/pulumi/sdk/v3": {"doc.go": "package sdk\n"}},
		programs: []string{"bin/pulumi", "bin/pulumi-language-go"},
	}
}

// module makes the group's module in a directory, with an empty module cache and
// a directory in place of a module proxy.
func (w world) module(t *testing.T) string {
	t.Helper()
	proxy, src := t.TempDir(), t.TempDir()
	for name, value := range map[string]string{
		"GOPROXY": "file://" + filepath.ToSlash(proxy), "GOMODCACHE": t.TempDir(), "GOSUMDB": "off",
		"GOFLAGS": "-modcacherw -mod=readonly", "GONOPROXY": "none", "GOPRIVATE": "", "GOWORK": "off", "GOTOOLCHAIN": "local",
	} {
		t.Setenv(name, value)
	}
	mod, sum := "module example.com/group\n\ngo 1.26\n", ""
	for path, content := range w.modules {
		version := "v1.2.3"
		if major := filepath.Base(path); regexp.MustCompile(`^v[0-9]+$`).MatchString(major) {
			version = major + ".2.3"
		}
		mod += "require " + path + " " + version + "\n"
		sum += serve(t, proxy, path, version, content)
	}
	for name, text := range w.own {
		files.Write(t, filepath.Join(src, name), text)
	}
	// What pins the release before, where a group has it, pins the same.
	for _, dir := range []string{src, filepath.Join(src, beforeModule)} {
		files.Write(t, filepath.Join(dir, "go.mod"), mod)
		files.Write(t, filepath.Join(dir, "go.sum"), sum)
	}
	return src
}

// serve puts a module into a directory as a module proxy serves it, and returns
// its lines for go.sum.
func serve(t *testing.T, proxy, path, version string, content tree) string {
	t.Helper()
	const mod = "go.mod"
	text := "module " + path + "\n\ngo 1.26\n"
	content[mod] = text
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for name, text := range content {
		entry, err := w.Create(path + "@" + version + "/" + name)
		assert.NilError(t, err)
		if _, err := entry.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	assert.NilError(t, w.Close())
	info, err := json.Marshal(map[string]string{"Version": version})
	assert.NilError(t, err)
	escaped, err := gomodule.EscapePath(path)
	assert.NilError(t, err)
	base := filepath.Join(proxy, escaped, "@v", version)
	files.Write(t, base+".info", string(info))
	files.Write(t, base+".mod", text)
	files.Write(t, base+".zip", archive.String())
	all, err := dirhash.HashZip(base+".zip", dirhash.DefaultHash)
	assert.NilError(t, err)
	own, err := dirhash.DefaultHash([]string{mod}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	})
	assert.NilError(t, err)
	return path + " " + version + " " + all + "\n" + path + " " + version + "/go.mod " + own + "\n"
}
