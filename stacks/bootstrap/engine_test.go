package bootstrap

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/flux"
	"tombolo/components/infraconfig"
	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/stacks/handoff"
	"tombolo/tests/samples"
)

// TestRegistrationBeforeTheCluster: a preview without core shows which
// annotations there will be.
func TestRegistrationBeforeTheCluster(t *testing.T) {
	hub := &config.Cluster{Name: "mgmt", GitOps: config.GitOps{Engine: config.ArgoCD, URL: "https://git.example.com/platform.git", Branch: "main"}}
	c := &config.Cluster{
		Name: "demo", Environment: "dev", Cloud: config.Cloud{Provider: config.AWS}, GitOps: config.GitOps{Engine: config.ArgoCD, Hub: "mgmt"},
		Annotations: map[string]string{"contact": "team platform"}, Values: map[string]config.Value{"domain": {Text: "example.com"}},
		Addons: addon.Selection{"metrics-server": nil},
	}
	err := (&recorder.Recorder{}).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		h, err := handoff.Import(ctx, "demo-core", "aws", true)
		if err != nil {
			return err
		}
		published, err := infraconfig.NewInfraConfig(ctx, "demo", infraConfigArgs(c, hub, h, nil))
		if err != nil {
			return err
		}
		p := &program{ctx: ctx, c: c, o: Options{Hub: hub}, h: h, published: published}
		args := p.registrationArgs(h.ClusterEndpoint, nil)
		assert.Check(t, is.DeepEqual(slices.Sorted(maps.Keys(args.Annotations)), c.RegistrationAnnotationKeys()))
		assert.Check(t, maps.Equal(args.Labels, c.RegistrationLabels()), "labels %v", args.Labels)
		return nil
	}, recorder.Preview)
	assert.Check(t, err)
}

func ofExternalHub() *config.Cluster {
	return &config.Cluster{
		Name: "demo", Cloud: config.Cloud{Provider: config.AWS},
		GitOps: config.GitOps{Engine: config.ArgoCD, ExternalHub: &config.ExternalHub{
			Name: "company-hub", Endpoint: "https://hub.example.com", CertificateAuthority: "Q0E=",
			Token: &config.SecretRef{Env: "TOMBOLO_HUB_TOKEN"},
		}},
	}
}

// provider is the Kubernetes provider of the hub, with a token.
func hubProvider(t *testing.T, token string) recorder.Resource {
	t.Helper()
	r := &recorder.Recorder{}
	assert.NilError(t, r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		p := &program{ctx: ctx, c: ofExternalHub(), o: Options{Env: map[string]string{"TOMBOLO_HUB_TOKEN": token}}}
		_, err := p.connectHub()
		return err
	}))
	return r.OfType("pulumi:providers:kubernetes")[0]
}

// TestExternalHub: the token is a secret, and another one leaves the hub's identity as
// it is.
func TestExternalHub(t *testing.T) {
	for _, token := range []string{"old", "new"} {
		made := hubProvider(t, token)
		made.Expect(t, map[string]string{"clusterIdentifier": "external-hub/company-hub"})
		kubeconfig, _ := made.Value("kubeconfig")
		assert.Assert(t, kubeconfig.IsSecret(), "the kubeconfig with the token is no secret")
		text := kubeconfig.SecretValue().Element.StringValue()
		for _, want := range []string{"token: " + token, "server: https://hub.example.com", "certificate-authority-data: Q0E="} {
			assert.Check(t, strings.Contains(text, want), "no %q in the kubeconfig", want)
		}
		assert.Check(t, !strings.Contains(text, "exec"), "the kubeconfig starts a program")
	}
}

func TestExternalHubNeedsItsToken(t *testing.T) {
	c := ofExternalHub()
	const want = "gitops.externalHub.token: the environment variable TOMBOLO_HUB_TOKEN is not set"
	assert.Error(t, Preflight(t.Context(), c, map[string]string{"TOMBOLO_HUB_TOKEN": ""}), want)
	assert.NilError(t, Preflight(t.Context(), c, map[string]string{"TOMBOLO_HUB_TOKEN": "t0ken"}))
	_, err := HubKubeconfig(c, map[string]string{"TOMBOLO_HUB_TOKEN": ""}, nil)
	assert.ErrorContains(t, err, want)
	c.GitOps.ExternalHub.Token = &config.SecretRef{Config: "hubToken"}
	text, err := HubKubeconfig(c, nil, func(key string) (string, error) { return "value of " + key, nil })
	assert.NilError(t, err)
	assert.Check(t, strings.Contains(string(text), "token: value of hubToken"))
}

func closedCluster() *config.Cluster {
	return &config.Cluster{
		Name: "demo", Cloud: config.Cloud{Provider: config.AWS, Region: "eu-central-1"},
		Egress: config.Egress{
			Proxy: config.Proxy{URL: "http://proxy.corp.example:3128"}, CertificateAuthority: "a comment\n" + samples.CompanyCA,
			Images: config.ImageSources{
				Mirrors:    map[string]string{"ghcr.io": "mirror.corp.example/ghcr", "docker.io": "mirror.corp.example/hub", "quay.io": "quay.corp.example:8443"},
				PullSecret: &config.PullSecret{Username: "robot", Password: &config.SecretRef{Env: "TOMBOLO_MIRROR"}},
			},
		},
		GitOps: config.GitOps{Engine: config.Flux, URL: "https://git.example.com/platform.git", Branch: "main", Path: "clusters/demo", Interval: "1m"},
	}
}

func TestDockerConfig(t *testing.T) {
	text, err := dockerConfig(closedCluster().Egress.Images, "hunter2")
	assert.NilError(t, err)
	var got struct {
		Auths map[string]struct{ Username, Password, Auth string }
	}
	assert.NilError(t, json.Unmarshal([]byte(text), &got))
	assert.Assert(t, is.Len(got.Auths, 2))
	for _, host := range []string{"mirror.corp.example", "quay.corp.example:8443"} {
		assert.Equal(t, got.Auths[host].Username+":"+got.Auths[host].Password, "robot:hunter2")
		auth, err := base64.StdEncoding.DecodeString(got.Auths[host].Auth)
		assert.NilError(t, err)
		assert.Equal(t, string(auth), "robot:hunter2")
	}
}

const kustomizeController = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kustomize-controller, namespace: flux-system}\n" +
	"spec: {template: {spec: {containers: [{name: manager, image: ghcr.io/fluxcd/kustomize-controller:v1.7.3, args: [--watch-all-namespaces=true]}]}}}\n"

// TestGitFilesGoByEgress: the files by which Flux manages itself do not take away what
// bootstrap gave it, and are known as the same distribution.
func TestGitFilesGoByEgress(t *testing.T) {
	const manifest = kustomizeController
	c := closedCluster()
	c.File = filepath.Join(t.TempDir(), "demo.yaml")
	c.GitOps.Distribution = config.Distribution{Version: "v2.7.5", Path: "install.yaml"}
	assert.NilError(t, os.WriteFile(filepath.Join(filepath.Dir(c.File), "install.yaml"), []byte(manifest), 0o600))
	files, err := GitFiles(t.Context(), c)
	assert.NilError(t, err)
	components := string(files["flux-system/gotk-components.yaml"])
	for _, want := range []string{
		"mirror.corp.example/ghcr/fluxcd/kustomize-controller:v1.7.3", "name: HTTPS_PROXY", "name: NO_PROXY", "mountPath: /etc/company-ca", "name: image-pull",
		"{name: PATH, value: /usr/local/bin}",
	} {
		assert.Check(t, is.Contains(components, want))
	}
	installed, err := manifestOf(t.Context(), product(c), c)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(components, fluxEngine(c, distributionRecord{}).digest(installed)))
	assert.Check(t, fluxEngine(c, distributionRecord{}).digest(installed) != fluxEngine(c, distributionRecord{}).digest([]byte(manifest)), "a change of egress would not reach the engine")
	for _, file := range files {
		assert.Check(t, !strings.Contains(string(file), "hunter2"))
	}
}

// TestGitIdentity: the client id is core's, and one that core has not made stops the run. Git tells Flux of it,
// and the driver has no credentials of it.
func TestGitIdentity(t *testing.T) {
	c := closedCluster()
	c.Cloud.Provider, c.Egress = config.Azure, config.Egress{}
	c.GitOps.Auth = &config.Auth{Type: config.AuthWorkloadIdentity}
	c.File = filepath.Join(t.TempDir(), "demo.yaml")
	c.GitOps.Distribution = config.Distribution{Version: "v2.7.5", Path: "install.yaml"}
	assert.NilError(t, os.WriteFile(filepath.Join(filepath.Dir(c.File), "install.yaml"), []byte(kustomizeController), 0o600))
	for id, refusal := range map[string]string{"g0": "", "": "core has made no identity for it yet: run up for core first"} {
		r := &recorder.Recorder{}
		err := r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
			h, err := handoff.Of("azure", map[string]any{"gitClientId": id})
			if err != nil {
				return err
			}
			args, err := (&program{ctx: ctx, c: c, h: h}).engineArgs(product(c))
			if err != nil {
				return err
			}
			return recorder.Probe(ctx, pulumi.Map{"id": args.Auth.ClientID})
		})
		if refusal != "" {
			assert.Check(t, is.ErrorContains(err, refusal))
			continue
		}
		assert.NilError(t, err)
		r.Probed().Expect(t, map[string]string{"id": id})
	}
	files, err := GitFiles(t.Context(), c)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(files[flux.SyncFile]), "provider: azure"))
	credentials, err := GitCredentials(c, nil, nil)
	assert.Check(t, credentials == nil && err == nil)
	assert.NilError(t, Preflight(t.Context(), c, nil))
}

func TestPreflightOfThePullSecret(t *testing.T) {
	c := closedCluster()
	err := Preflight(t.Context(), c, map[string]string{"TOMBOLO_MIRROR": ""})
	assert.Check(t, is.ErrorContains(err, "egress.images.pullSecret.password: the environment variable TOMBOLO_MIRROR is not set"))
}
