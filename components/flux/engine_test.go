package flux

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

	"tombolo/components/distribution"
	"tombolo/components/distribution/enginetest"
	"tombolo/components/recorder"
)

const (
	deployment    = "kubernetes:apps/v1:Deployment"
	crd           = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
	repository    = "kubernetes:source.toolkit.fluxcd.io/v1:GitRepository"
	kustomization = "kubernetes:kustomize.toolkit.fluxcd.io/v1:Kustomization"
	secretType    = "kubernetes:core/v1:Secret"
	receiverType  = "kubernetes:notification.toolkit.fluxcd.io/v1:Receiver"
)

func engineArgs(t *testing.T) *EngineArgs {
	t.Helper()
	manifest, err := os.ReadFile("testdata/install.yaml")
	assert.NilError(t, err)
	return &EngineArgs{
		EngineArgs: distribution.EngineArgs{
			Manifest: manifest, Repository: follow().Repository,
			Auth: &distribution.Auth{Username: pulumi.String("git"), Password: pulumi.ToSecret(pulumi.String("hunter2")).(pulumi.StringOutput)},
		},
		Substitution: SubstituteStrictly, SubstituteFrom: follow().SubstituteFrom,
	}
}

func follow() Follow {
	return Follow{
		Repository:     distribution.Repository{URL: "https://git.example.com/platform.git", Branch: "trunk", Path: "clusters/demo", Interval: time.Minute},
		SubstituteFrom: "infra-config",
	}
}

func run(args *EngineArgs) (*recorder.Recorder, error) {
	return recorder.Make("demo-bootstrap", "demo", NewEngine, args)
}

func built(t *testing.T, args *EngineArgs) *recorder.Recorder {
	t.Helper()
	r, err := run(args)
	return r.Sound(t, err)
}

func TestInstallInStages(t *testing.T) {
	r := built(t, engineArgs(t))
	assert.Check(t, is.Len(r.OfType("kubernetes:core/v1:Namespace"), 0))
	role := r.OfType("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole")[0]
	assert.Check(t, role.WaitsFor(crd), "rights do not wait for definitions: %v", role.DependsOn)
	for _, d := range r.OfType(deployment) {
		assert.Check(t, d.WaitsFor("ClusterRole::") && d.WaitsFor("ServiceAccount::"), "%s does not wait for its rights: %v", d.Name, d.DependsOn)
	}
	sync := r.OfType(kustomization)[0]
	for _, before := range []string{deployment, crd, repository, secretType} {
		assert.Check(t, sync.WaitsFor(before), "the Kustomization does not wait for %s, and would be deleted after it", before)
	}
	definition := r.OfType(crd)[0]
	for _, absent := range []string{"status", "metadata.creationTimestamp"} {
		v, ok := definition.Value(absent)
		assert.Check(t, !ok, "%s is sent: %v", absent, v)
	}
}

func tested(t *testing.T) enginetest.Engine {
	args := engineArgs(t)
	return enginetest.Engine{
		Args: &args.EngineArgs,
		New:  func(ctx *pulumi.Context) (*distribution.Engine, error) { return NewEngine(ctx, "demo", args) },
	}
}

func TestOwnership(t *testing.T) {
	tested(t).Ownership(t, func(res recorder.Resource) bool {
		return slices.Contains([]string{repository, kustomization, secretType}, res.Type)
	})
	args := engineArgs(t)
	for _, args.HandedOver = range []bool{false, true} {
		for _, res := range built(t, args).All() {
			if forced := res.String(`metadata.annotations["pulumi.com/patchForce"]`); res.Custom && forced != "true" && res.Type != secretType {
				t.Errorf("%s %s stops at fields with another owner", res.Type, res.Name)
			}
		}
	}
}

func TestForPods(t *testing.T) { tested(t).ForPods(t, "flux-system") }

func TestKeepsWhatWasMade(t *testing.T) {
	tested(t).KeepsWhatWasMade(t, "apps/v1 Deployment flux-system/source-controller",
		"demo-deployment-source-controller", "demo-deployment-sources-controller")
	args := engineArgs(t)
	args.HandedOver, args.Made = true, []string{"garbage"}
	_, err := run(args)
	assert.Check(t, is.ErrorContains(err, `"garbage" is not the identity of an object: expected apiVersion, kind and name`))
}

// TestTakenOver: what was there before outlives the stack, with what its pods need by now;
// what Flux is to follow goes.
func TestTakenOver(t *testing.T) {
	e := tested(t)
	e.Args.TakenOver, e.Args.CertificateAuthority = true, "-----BEGIN CERTIFICATE-----\n"
	following := []string{repository, kustomization, secretType}
	e.Outlives(t, func(res recorder.Resource) bool { return !slices.Contains(following, res.Type) })

	args := engineArgs(t)
	args.TakenOver, args.HandedOver, args.CertificateAuthority = true, true, e.Args.CertificateAuthority
	for _, res := range built(t, args).All() {
		assert.Check(t, !res.Custom || slices.Contains(following, res.Type), "%s %s is made beside a Flux that others keep", res.Type, res.Name)
	}
}

func TestControllersAreNotAwaited(t *testing.T) {
	for _, d := range built(t, engineArgs(t)).OfType(deployment) {
		assert.Check(t, is.Equal(d.String(`metadata.annotations["pulumi.com/skipAwait"]`), "true"), d.Name)
	}
}

func TestSubstitution(t *testing.T) {
	args := engineArgs(t)
	flags := func() string {
		d, _ := built(t, args).Named(deployment, "demo-deployment-kustomize-controller")
		return d.String("spec.template.spec.containers[0].args[1]")
	}
	assert.Check(t, is.Equal(flags(), "--feature-gates=CancelHealthCheckOnNewRevision=true,StrictPostBuildSubstitutions=true"))
	args.Manifest = []byte(strings.Replace(string(args.Manifest), "- --log-level=info", "- --log-level=info\n        - --feature-gates=Other=true", 1))
	assert.Check(t, is.Equal(flags(), "--feature-gates=Other=true,CancelHealthCheckOnNewRevision=true,StrictPostBuildSubstitutions=true"))
	args.Substitution = SubstituteAsReleased
	assert.Check(t, is.Equal(flags(), "--feature-gates=Other=true,CancelHealthCheckOnNewRevision=true"))
	args.Substitution = SubstituteLeniently
	assert.Check(t, is.Equal(flags(), "--feature-gates=Other=true,CancelHealthCheckOnNewRevision=true"), "this release is lenient by itself")

	args.Manifest = []byte(strings.Replace(string(args.Manifest), "kustomize-controller:v1.7.3", "kustomize-controller:v1.9.4", 1))
	assert.Check(t, is.Equal(flags(), "--feature-gates=Other=true,CancelHealthCheckOnNewRevision=true,StrictPostBuildSubstitutions=false"))
	args.Substitution = SubstituteStrictly
	assert.Check(t, is.Equal(flags(), "--feature-gates=Other=true,CancelHealthCheckOnNewRevision=true"), "this release is strict by itself")

	args.Manifest = []byte(strings.Replace(string(args.Manifest), "Other=true", "CancelHealthCheckOnNewRevision=false", 1))
	assert.Check(t, is.Equal(flags(), "--feature-gates=CancelHealthCheckOnNewRevision=false"), "the manifest says it")
	args.Manifest = []byte(strings.Replace(string(args.Manifest), "kustomize-controller:v1.9.4", "kustomize-controller:v1.6.1", 1))
	args.Manifest = []byte(strings.Replace(string(args.Manifest), "CancelHealthCheckOnNewRevision=false", "Other=true", 1))
	assert.Check(t, is.Equal(flags(), "--feature-gates=Other=true,StrictPostBuildSubstitutions=true"), "this release does not know the gate")
}

func TestSyncObjects(t *testing.T) {
	r := built(t, engineArgs(t))
	for token, want := range map[string]map[string]string{
		repository: {
			"metadata.name": "platform", "metadata.namespace": "flux-system", "spec.url": "https://git.example.com/platform.git",
			"spec.ref.branch": "trunk", `metadata.annotations["kustomize.toolkit.fluxcd.io/prune"]`: "disabled", "spec.secretRef.name": "platform-auth", "spec.interval": "1m0s",
		},
		kustomization: {
			"metadata.name": "platform", "spec.path": "./clusters/demo", "spec.prune": "true", "spec.wait": "true",
			`metadata.annotations["kustomize.toolkit.fluxcd.io/prune"]`: "disabled",
			"spec.deletionPolicy": "WaitForTermination", "spec.sourceRef.name": "platform",
			"spec.postBuild.substituteFrom[0].kind": "ConfigMap", "spec.postBuild.substituteFrom[0].name": "infra-config",
		},
	} {
		for path, value := range want {
			assert.Check(t, is.Equal(r.OfType(token)[0].String(path), value), "%v %v", token, path)
		}
	}
}

func TestCredentialsAreSecret(t *testing.T) {
	secret := built(t, engineArgs(t)).OfType(secretType)[0]
	data, ok := secret.Value("data")
	assert.Assert(t, ok, "the Secret has no data")
	password := data
	if !data.IsSecret() {
		password = data.ObjectValue()["password"]
	}
	assert.Check(t, password.IsSecret(), "the password is no Pulumi secret: state would show it")
	args := engineArgs(t)
	args.Auth = nil
	r := built(t, args)
	assert.Check(t, len(r.OfType(secretType)) == 0, "a Secret was made without credentials")
	assert.Check(t, is.Equal(r.OfType(repository)[0].String("spec.secretRef.name"), ""))
}

// TestGitHubApp: source-controller finds what it reads of an App, and is told to, by the files in
// Git, too.
func TestGitHubApp(t *testing.T) {
	args := engineArgs(t)
	args.Auth = &distribution.Auth{
		PrivateKey: pulumi.ToSecret(pulumi.String("PEM")).(pulumi.StringOutput),
		App:        &distribution.App{ID: 12, InstallationID: 34, API: "https://github.example.com/api/v3"},
	}
	r := built(t, args)
	assert.DeepEqual(t, r.OfType(secretType)[0].SecretData(t), map[string]string{
		"githubAppID": "12", "githubAppInstallationID": "34", "githubAppPrivateKey": "PEM", "githubAppBaseURL": "https://github.example.com/api/v3",
	})
	assert.Check(t, is.Equal(r.OfType(repository)[0].String("spec.provider"), "github"))
	assert.Check(t, is.Equal(built(t, engineArgs(t)).OfType(repository)[0].String("spec.provider"), ""))
	args.Auth.App.API = ""
	_, enterprise := built(t, args).OfType(secretType)[0].SecretData(t)["githubAppBaseURL"]
	assert.Check(t, !enterprise, "github.com has an address of a server")
	files, err := Files(&FilesArgs{Manifest: args.Manifest, Substitution: SubstituteStrictly, Follow: follow(), Provider: GitHub})
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(files[SyncFile]), "  provider: github\n"))
}

// TestWorkloadIdentity: source-controller's pods have the identity before anything tells it to read,
// also where Git has the distribution, and nothing is secret.
func TestWorkloadIdentity(t *testing.T) {
	for _, handedOver := range []bool{false, true} {
		args := engineArgs(t)
		args.Auth, args.HandedOver = &distribution.Auth{ClientID: pulumi.String("g0")}, handedOver
		r := built(t, args)
		enginetest.Identified(t, r, "flux-system", "source-controller", "g0")
		assert.Check(t, is.Len(r.OfType(secretType), 0))
		git := r.OfType(repository)[0]
		git.Expect(t, map[string]string{"spec.provider": "azure", "spec.secretRef.name": ""})
		assert.Check(t, git.WaitsFor("DeploymentPatch::"))
	}
	out := files(t, &FilesArgs{Manifest: filesArgs(t).Manifest, Substitution: SubstituteStrictly, Follow: follow(), Provider: Azure})
	assert.Check(t, is.Contains(string(out[SyncFile]), "  provider: azure\n"))
	assert.Check(t, !strings.Contains(string(out[SyncFile]), "secretRef"))
}

func TestEngineRefuses(t *testing.T) {
	for want, change := range map[string]func(*EngineArgs){
		"URL is required":                 func(a *EngineArgs) { a.URL = "" },
		"interval 1ms is shorter than 1s": func(a *EngineArgs) { a.Interval = time.Millisecond },
		"auth needs user name and password, or private key and known hosts, or private key and GitHub App, or": func(a *EngineArgs) { a.Auth.Password = nil },
		"the distribution has no Deployment; is it Flux's install manifest?":                                   func(a *EngineArgs) { a.Manifest = []byte("") },
		"document 1 of the distribution is no Kubernetes object: it needs apiVersion, kind":                    func(a *EngineArgs) { a.Manifest = []byte("message: not found") },
		"document 1 of the distribution: yaml":                                                                 func(a *EngineArgs) { a.Manifest = []byte("<html>: [") },
		"the distribution has no kustomize-controller, which the platform tree needs": func(a *EngineArgs) {
			a.Manifest = []byte(strings.ReplaceAll(string(a.Manifest), "kustomize-controller", "x"))
		},
		"the distribution has no Deployment source-controller, which reads the repository by": func(a *EngineArgs) {
			a.Auth = &distribution.Auth{ClientID: pulumi.String("g0")}
			a.Manifest = []byte(strings.ReplaceAll(string(a.Manifest), "source-controller", "x"))
		},
		"deployment kustomize-controller has no container named manager": func(a *EngineArgs) {
			a.Manifest = []byte(strings.ReplaceAll(string(a.Manifest), "name: manager", "name: x"))
		},
	} {
		args := engineArgs(t)
		change(args)
		if _, err := run(args); err == nil || !strings.Contains(err.Error(), "flux demo: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}

// TestBuildsFindNoGit: kustomize-controller, which builds what teams write, has a PATH without
// Git, and the one that a manifest brings stays.
func TestBuildsFindNoGit(t *testing.T) {
	args := engineArgs(t)
	var err error
	args.Manifest, err = Product().Environment.Set(args.Manifest)
	assert.NilError(t, err)
	for _, d := range built(t, args).OfType(deployment) {
		want := ""
		if d.String("metadata.name") == "kustomize-controller" {
			want = "PATH=/usr/local/bin SOPS_GPG_EXEC=/usr/bin/gpg"
		}
		assert.Check(t, is.Equal(environmentOf(d), want), d.Name)
	}
	own := strings.Replace(string(args.Manifest), "value: /usr/local/bin", "value: /with/git", 1)
	again, err := Product().Environment.Set([]byte(own))
	assert.NilError(t, err)
	assert.Equal(t, string(again), own)
}

func environmentOf(d recorder.Resource) string {
	var out []string
	for i := 0; ; i++ {
		at := fmt.Sprintf("spec.template.spec.containers[0].env[%d].", i)
		name := d.String(at + "name")
		if name == "" {
			return strings.Join(out, " ")
		}
		out = append(out, name+"="+d.String(at+"value"))
	}
}

func filesArgs(t *testing.T) *FilesArgs {
	t.Helper()
	manifest, err := os.ReadFile("testdata/install.yaml")
	assert.NilError(t, err)
	return &FilesArgs{Manifest: manifest, Substitution: SubstituteStrictly, Follow: follow(), Provider: Generic}
}

func files(t *testing.T, args *FilesArgs) map[string][]byte {
	t.Helper()
	got, err := Files(args)
	assert.NilError(t, err)
	return got
}

func TestFiles(t *testing.T) {
	for name, content := range files(t, filesArgs(t)) {
		golden.Assert(t, string(content), path.Base(name))
	}
}

func documents(t *testing.T, content []byte) []distribution.Object {
	t.Helper()
	var out []distribution.Object
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var o map[string]any
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return out
		}
		assert.NilError(t, err)
		if o != nil {
			out = append(out, o)
		}
	}
}

// TestFilesAddOnlyDirections: what Git has is what bootstrap applies, but for
// annotations.
func TestFilesAddOnlyDirections(t *testing.T) {
	args := filesArgs(t)
	want := documents(t, args.Manifest)
	assert.NilError(t, SubstituteStrictly.apply(want))
	got := documents(t, files(t, args)[ComponentsFile])
	for _, o := range got {
		meta := o["metadata"].(map[string]any)
		for _, key := range []string{pruneAnnotation, substituteAnnotation} {
			if value := meta["annotations"].(map[string]any)[key]; value != disabled {
				t.Errorf("%s: %s is %v", o.Identity(), key, value)
			}
		}
		delete(meta, "annotations")
	}
	assert.Check(t, is.DeepEqual(got, want))
}

func TestFilesHoldNoSecret(t *testing.T) {
	for name, content := range files(t, filesArgs(t)) {
		for _, o := range documents(t, content) {
			assert.Check(t, o.Kind() != "Secret", "%s holds %s", name, o.Identity())
		}
	}
	args := filesArgs(t)
	args.Provider = Anonymous
	sync := files(t, args)[SyncFile]
	assert.Check(t, !bytes.Contains(sync, []byte("secretRef")), "the repository refers to a Secret that does not exist:\n%s", sync)
}

func TestFilesRefuse(t *testing.T) {
	for want, change := range map[string]func(*FilesArgs){
		"files for Flux: branch is required": func(a *FilesArgs) { a.Branch = "" },
		"files for Flux: the distribution has no kustomize-controller, which the platform tree needs": func(a *FilesArgs) {
			a.Manifest = []byte(strings.ReplaceAll(string(a.Manifest), "kustomize-controller", "x"))
		},
		"files for Flux: deployment kustomize-controller has no container named manager": func(a *FilesArgs) {
			a.Manifest = []byte(strings.ReplaceAll(string(a.Manifest), "name: manager", "name: x"))
		},
		"files for Flux: the distribution has no Deployment": func(a *FilesArgs) { a.Manifest = nil },
	} {
		args := filesArgs(t)
		change(args)
		_, err := Files(args)
		assert.Check(t, is.ErrorContains(err, want))
	}
}

func TestDigest(t *testing.T) {
	manifest := []byte("a: 1\n")
	digest := Digest(manifest, SubstituteStrictly)
	if len(digest) != 64 || digest == Digest(manifest, SubstituteAsReleased) || digest == Digest([]byte("a: 2\n"), SubstituteStrictly) || digest != Digest(manifest, SubstituteStrictly) {
		t.Errorf("digest %s", digest)
	}
}

func TestControllers(t *testing.T) {
	names, err := Product().Controllers(filesArgs(t).Manifest)
	assert.Check(t, err == nil && strings.Join(names, " ") == "kustomize-controller source-controller", "%v, %v", names, err)
}

// TestReceiver: it is made last and goes first, and a distribution without Receivers is refused.
func TestReceiver(t *testing.T) {
	args := engineArgs(t)
	_, there := built(t, args).Named(receiverType, "demo-receiver")
	assert.Check(t, !there)
	args.Webhook = "github"
	_, err := run(args)
	assert.Check(t, is.ErrorContains(err, "the distribution has no Receivers, which gitops.webhook needs; take one with notification-controller, or remove the key"))
	args.Manifest = append(args.Manifest, "\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: receivers.notification.toolkit.fluxcd.io}\n"...)
	for host, want := range map[string]string{"github": "github push", "gitlab": "gitlab ", "azure-devops": "generic "} {
		args.Webhook = host
		made, ok := built(t, args).Named(receiverType, "demo-receiver")
		assert.Assert(t, ok, host)
		made.Expect(t, map[string]string{
			"metadata.name": "platform", "metadata.namespace": "flux-system", "spec.secretRef.name": "platform-webhook",
			"spec.resources[0].kind": "GitRepository", "spec.resources[0].name": "platform",
		})
		assert.Check(t, is.Equal(made.String("spec.type")+" "+made.String("spec.events[1]"), want))
		assert.Check(t, made.WaitsFor(kustomization) && made.WaitsFor(deployment), "%v", made.DependsOn)
	}
}
