package bootstrap

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/argocd"
	"tombolo/components/distribution"
	"tombolo/components/flux"
	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/internal/names"
)

const manifest = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "source-controller", "namespace": "flux-system"}}`

// deployments answers with flux-system's Deployments that Flux manages.
func deployments(t *testing.T, items ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		want := "/apis/apps/v1/namespaces/flux-system/deployments"
		assert.Check(t, r.URL.Path == want && r.URL.Query().Get("labelSelector") == names.FluxLabel, "asked for %s", r.URL)
		w.Header().Set("Content-Type", "application/json")
		text := `{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "items": [` + strings.Join(items, ",") + `]}`
		_, err := w.Write([]byte(text))
		assert.Check(t, err)
	}
}

func deployment(name, digest string) string {
	return `{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "` + name +
		`", "labels": {"kustomize.toolkit.fluxcd.io/name": "platform"}, "annotations": {"tombolo/distribution": "` + digest + `"}}}`
}

func TestCustody(t *testing.T) {
	wanted := flux.Digest([]byte(manifest), flux.SubstituteStrictly)
	made := []string{"apps/v1 Deployment flux-system/source-controller"}
	c := &config.Cluster{Name: "demo", GitOps: config.GitOps{Distribution: config.Distribution{Version: "v2.8.0"}}}
	for name, test := range map[string]struct {
		last    distributionRecord
		cluster []string // Deployments with Flux's label
		want    custody
		fresh   bool
	}{
		"the last one again": {
			last: distributionRecord{Digest: wanted, Objects: made}, want: custody{handedOver: true, made: made, digest: wanted},
		},
		"the first":       {want: custody{handedOver: true, digest: wanted}, fresh: true},
		"one begun":       {want: custody{digest: wanted}},
		"another":         {last: distributionRecord{Digest: "old", Objects: made}, want: custody{digest: wanted}},
		"Git has another": {last: distributionRecord{Digest: "old", Objects: made}, cluster: []string{deployment("source-controller", "x")}, want: custody{handedOver: true, made: made, digest: "old"}},
		"Git has it too":  {last: distributionRecord{Digest: "old", Objects: made}, cluster: []string{deployment("source-controller", wanted)}, want: custody{handedOver: true, made: made, digest: wanted}},
		"the user's own":  {last: distributionRecord{Digest: "old", Objects: made}, cluster: []string{deployment("dashboard", wanted)}, want: custody{digest: wanted}},
		"record was lost": {last: distributionRecord{}, cluster: []string{deployment("source-controller", "")}, want: custody{handedOver: true}},
	} {
		t.Run(name, func(t *testing.T) {
			text := kubeconfig(t, deployments(t, test.cluster...))
			err := (&recorder.Recorder{}).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
				p := &program{ctx: ctx, c: c, o: Options{New: test.fresh}, last: test.last, own: connection{kubeconfig: pulumi.String(text).ToStringOutput()}}
				got, err := p.custody(fluxEngine(c, distributionRecord{}), []byte(manifest))
				assert.Check(t, got.handedOver == test.want.handedOver && got.digest == test.want.digest && slices.Equal(got.made, test.want.made),
					"got %+v, want %+v", got, test.want)
				return err
			})
			assert.Check(t, err)
		})
	}
}

// TestCustodyOfArgoCD: an Application that tracks a Deployment of Argo CD's has
// it; one that tracks another does not.
func TestCustodyOfArgoCD(t *testing.T) {
	const manifest = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "argocd-server"}}`
	tracked := func(name, digest string) string {
		return `{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "` + name +
			`", "annotations": {"argocd.argoproj.io/tracking-id": "argocd:apps/Deployment:argocd/argocd-server"` + digest + `}}}`
	}
	made := []string{"apps/v1 Deployment argocd/argocd-server"}
	wanted := distribution.Digest([]byte(manifest))
	pushed := func(digest string) string { return `, "tombolo/distribution": "` + digest + `"` }
	c := &config.Cluster{Name: "mgmt", GitOps: config.GitOps{Engine: config.ArgoCD, Distribution: config.Distribution{Version: "v3.3.0"}}}
	for name, test := range map[string]struct {
		cluster string
		want    custody
	}{
		"nobody else's":     {`{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "argocd-server"}}`, custody{digest: wanted}},
		"Git's, of others":  {tracked("argocd-server", ""), custody{handedOver: true, made: made, digest: "old"}},
		"Git's, of a push":  {tracked("argocd-server", pushed("x")), custody{handedOver: true, made: made, digest: "old"}},
		"Git's, and wanted": {tracked("argocd-server", pushed(wanted)), custody{handedOver: true, made: made, digest: wanted}},
		"the user's":        {tracked("dashboard", ""), custody{digest: wanted}},
	} {
		t.Run(name, func(t *testing.T) {
			text := kubeconfig(t, func(w http.ResponseWriter, r *http.Request) {
				assert.Check(t, r.URL.Path == "/apis/apps/v1/namespaces/argocd/deployments", "asked for %s", r.URL)
				w.Header().Set("Content-Type", "application/json")
				_, err := w.Write([]byte(`{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "items": [` + test.cluster + `]}`))
				assert.Check(t, err)
			})
			err := (&recorder.Recorder{}).Run("mgmt-bootstrap", func(ctx *pulumi.Context) error {
				p := &program{
					ctx: ctx, c: c, last: distributionRecord{Digest: "old", Objects: made}, own: connection{kubeconfig: pulumi.String(text).ToStringOutput()},
				}
				got, err := p.custody(argocdEngine(c), []byte(manifest))
				assert.Check(t, got.handedOver == test.want.handedOver && got.digest == test.want.digest && slices.Equal(got.made, test.want.made),
					"got %+v, want %+v", got, test.want)
				return err
			})
			assert.Check(t, err)
		})
	}
	e := argocdEngine(c)
	assert.Check(t, is.Equal(e.remedyFor(inGit{managed: true}), "change it in Git, where Argo CD manages itself"))
	assert.Check(t, is.Contains(e.remedyFor(inGit{managed: true, digest: "x"}), "run `tombolo push mgmt`"))
}

func TestCustodyCannotBeFound(t *testing.T) {
	text := kubeconfig(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := fluxEngine(&config.Cluster{}, distributionRecord{}).findInGit(ctx, text, nil, nil)
	assert.Check(t, is.ErrorContains(err, "list the Deployments in flux-system: "))
	assert.Check(t, is.ErrorContains(err, "among kubernetes.admins"))
}

// TestWithoutAClusterNothingIsInGit: a preview with placeholders asks nobody.
func TestWithoutAClusterNothingIsInGit(t *testing.T) {
	err := (&recorder.Recorder{}).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		unknown := pulumi.UnsafeUnknownOutput(nil).ApplyT(func(any) string { return "" }).(pulumi.StringOutput)
		p := &program{ctx: ctx, own: connection{kubeconfig: unknown}}
		got, err := p.gitCustody(argocdEngine(&config.Cluster{}), []string{"argocd-server"})
		assert.Check(t, !got.managed, "Git manages the engine of a cluster that does not exist")
		return err
	}, recorder.Preview)
	assert.Check(t, err)
}

func TestLastDistribution(t *testing.T) {
	want := distributionRecord{Digest: "abc", Objects: []string{"a", "b"}, TakenOver: true, Lenient: true}
	var outputs resource.PropertyValue
	err := (&recorder.Recorder{}).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		result, err := internals.UnsafeAwaitOutput(ctx.Context(), want.output(pulumi.ToStringArray(want.Objects).ToStringArrayOutput()))
		record, _ := result.Value.(map[string]any)
		outputs = resource.NewProperty(resource.NewPropertyMapFromMap(map[string]any{distributionKey: record}))
		return err
	})
	assert.NilError(t, err)
	r := &recorder.Recorder{Outputs: map[string]resource.PropertyMap{"pulumi:pulumi:StackReference": {"outputs": outputs}}}
	err = r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		got, err := lastDistribution(ctx)
		assert.Check(t, got.Digest == want.Digest && slices.Equal(got.Objects, want.Objects) && got.TakenOver, "came back as %+v, want %+v", got, want)
		return err
	})
	assert.NilError(t, err)
	assert.Check(t, is.Equal(r.OfType("pulumi:pulumi:StackReference")[0].Name, "organization/tombolo/demo-bootstrap"))
}

func TestGitFiles(t *testing.T) {
	dir := t.TempDir()
	full := strings.Replace(strings.Replace(manifest, "source-controller", "kustomize-controller", 1),
		`"flux-system"}}`, `"flux-system"}, "spec": {"template": {"spec": {"containers": [{"name": "manager"}]}}}}`, 1)
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "install.yaml"), []byte(full), 0o600))
	c := &config.Cluster{Name: "demo", File: filepath.Join(dir, "demo.yaml"), GitOps: config.GitOps{
		Engine: config.Flux, URL: "https://git.example.com/platform.git", Branch: "main", Path: "clusters/demo", Interval: "1m",
		Distribution: config.Distribution{Path: "install.yaml"}, Auth: &config.Auth{Type: config.AuthBasic},
	}}
	files, err := GitFiles(t.Context(), c)
	assert.NilError(t, err)
	if text := string(files[flux.SyncFile]); !strings.Contains(text, "secretRef") || !strings.Contains(text, c.GitOps.URL) {
		t.Errorf("%s is\n%s", flux.SyncFile, text)
	}
	assert.Check(t, is.Contains(string(files[flux.ComponentsFile]), "StrictPostBuildSubstitutions=true"), flux.ComponentsFile)
	c.GitOps.Interval = "soon"
	_, err = GitFiles(t.Context(), c)
	assert.Check(t, is.ErrorContains(err, "gitops.interval: "))
}

// TestGitFilesOfArgoCD have what bootstrap installs, by the digest by which it knows them again.
func TestGitFilesOfArgoCD(t *testing.T) {
	c := closedCluster()
	c.File = filepath.Join(t.TempDir(), "mgmt.yaml")
	c.GitOps.Engine, c.GitOps.Distribution = config.ArgoCD, config.Distribution{Path: "install.yaml"}
	c.GitOps.Auth = &config.Auth{Type: config.AuthSSH, KnownHosts: "github.com ssh-ed25519 AAAA"}
	const hosts = "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-ssh-known-hosts-cm}\ndata: {ssh_known_hosts: released}\n"
	full := strings.Replace(manifest, `"flux-system"}}`, `"argocd"}, "spec": {"template": {"spec": {"containers": [{"name": "main", "image": "quay.io/argoproj/argocd:v3.5.7"}]}}}}`, 1)
	assert.NilError(t, os.WriteFile(filepath.Join(filepath.Dir(c.File), "install.yaml"), []byte(full+hosts), 0o600))
	files, err := GitFiles(t.Context(), c)
	assert.NilError(t, err)
	installed, err := manifestOf(t.Context(), product(c), c)
	assert.NilError(t, err)
	install := string(files[argocd.InstallFile])
	for _, want := range []string{"quay.corp.example:8443/argoproj/argocd:v3.5.7", "HTTPS_PROXY", argocdEngine(c).digest(installed)} {
		assert.Check(t, is.Contains(install, want))
	}
	assert.Check(t, !strings.Contains(install, "released"), "bootstrap has the hosts")
	assert.Check(t, is.Contains(string(files[argocd.ApplicationFile]), "path: clusters/demo/argocd"))
}
