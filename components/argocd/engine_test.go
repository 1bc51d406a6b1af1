package argocd

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/distribution"
	"tombolo/components/distribution/enginetest"
	"tombolo/components/recorder"
)

const (
	deployment     = "kubernetes:apps/v1:Deployment"
	statefulSet    = "kubernetes:apps/v1:StatefulSet"
	crd            = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
	configMap      = "kubernetes:core/v1:ConfigMap"
	configMapPatch = "kubernetes:core/v1:ConfigMapPatch"
	accountPatch   = "kubernetes:core/v1:ServiceAccountPatch"
	secretType     = "kubernetes:core/v1:Secret"
	appProject     = "kubernetes:argoproj.io/v1alpha1:AppProject"
	application    = "kubernetes:argoproj.io/v1alpha1:Application"
	roleARN        = "arn:aws:iam::111122223333:role/mgmt-argocd"
)

func secret(text string) pulumi.StringOutput {
	return pulumi.ToSecret(pulumi.String(text)).(pulumi.StringOutput)
}

func engineArgs(t *testing.T) *EngineArgs {
	t.Helper()
	manifest, err := os.ReadFile("testdata/install.yaml")
	assert.NilError(t, err)
	return &EngineArgs{
		EngineArgs: distribution.EngineArgs{
			Manifest: manifest, Auth: &distribution.Auth{Username: pulumi.String("git"), Password: secret("hunter2")},
			Repository: distribution.Repository{
				URL: "https://git.example.com/platform.git", Branch: "main", Path: "./clusters/dev/", Interval: 90 * time.Second,
			},
		},
		RoleARN: pulumi.String(roleARN),
	}
}

func run(args *EngineArgs) (*recorder.Recorder, error) {
	return recorder.Make("mgmt-bootstrap", "mgmt", NewEngine, args)
}

func built(t *testing.T, args *EngineArgs) *recorder.Recorder {
	t.Helper()
	r, err := run(args)
	return r.Sound(t, err)
}

// TestControllersStartConfigured: what a controller reads when it starts is
// there before it, and the root comes last.
func TestControllersStartConfigured(t *testing.T) {
	r := built(t, engineArgs(t))
	for _, patch := range slices.Concat(r.OfType(configMapPatch), r.OfType(accountPatch)) {
		assert.Check(t, patch.WaitsFor("ConfigMap::") && patch.WaitsFor("ServiceAccount::"),
			"%s does not wait for the objects that it changes: %v", patch.Name, patch.DependsOn)
	}
	for _, c := range slices.Concat(r.OfType(deployment), r.OfType(statefulSet)) {
		assert.Check(t, c.WaitsFor("ConfigMapPatch::") && c.WaitsFor("ServiceAccountPatch::"),
			"%s does not wait for its settings: %v", c.Name, c.DependsOn)
		c.Expect(t, map[string]string{"metadata.namespace": "argocd", `metadata.annotations["pulumi.com/skipAwait"]`: "true"})
	}
	root := r.OfType(application)[0]
	for _, before := range []string{deployment, statefulSet, crd, appProject, secretType} {
		assert.Check(t, root.WaitsFor(before), "the root Application does not wait for %s, and would be deleted after it", before)
	}
	for _, cluster := range []string{crd, "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole"} {
		assert.Check(t, is.Equal(r.OfType(cluster)[0].String("metadata.namespace"), ""), cluster)
	}
}

func TestSettings(t *testing.T) {
	r := built(t, engineArgs(t))
	settings, _ := r.Named(configMapPatch, "mgmt-argocd-cm")
	settings.Expect(t, map[string]string{
		"metadata.name": "argocd-cm", "metadata.namespace": "argocd",
		`data["application.resourceTrackingMethod"]`:                     "annotation",
		`data["timeout.reconciliation"]`:                                 "90s",
		`data["resource.customizations.health.argoproj.io_Application"]`: applicationHealth,
		`data["resource.customizations.ignoreResourceUpdates.all"]`:      "",
	})
	params, _ := r.Named(configMapPatch, "mgmt-argocd-cmd-params-cm")
	params.Expect(t, map[string]string{`data["controller.diff.server.side"]`: "true"})
	assert.Check(t, is.Len(r.OfType(configMapPatch), 2))
	for i, patch := range r.OfType(accountPatch) {
		patch.Expect(t, map[string]string{
			"metadata.name": slices.Sorted(slices.Values(ServiceAccounts()))[i], `metadata.annotations["eks.amazonaws.com/role-arn"]`: roleARN,
		})
	}
	args := engineArgs(t)
	args.RoleARN = nil
	assert.Check(t, is.Len(built(t, args).OfType(accountPatch), 0))
}

func TestRoot(t *testing.T) {
	r := built(t, engineArgs(t))
	r.OfType(application)[0].Expect(t, map[string]string{
		"metadata.name": "platform", "metadata.namespace": "argocd", "metadata.finalizers[0]": "resources-finalizer.argocd.argoproj.io",
		"spec.project": "platform", "spec.source.repoURL": "https://git.example.com/platform.git",
		"spec.source.targetRevision": "main", "spec.source.path": "clusters/dev",
		"spec.destination.server": "https://kubernetes.default.svc", "spec.destination.namespace": "argocd",
		"spec.syncPolicy.automated.prune": "true", "spec.syncPolicy.automated.selfHeal": "true",
	})
	r.OfType(appProject)[0].Expect(t, map[string]string{
		"metadata.name": "platform", "spec.sourceRepos[0]": "*", "spec.destinations[0].server": "*",
	})
	for path, want := range map[string]string{"./": ".", "/a/b": "a/b", ".": ".", "clusters/dev": "clusters/dev"} {
		assert.Check(t, is.Equal(treePath(path), want), path)
	}
}

// TestWorkloadIdentity: the repo-server's pods alone have the identity, and the repository's Secret says
// that it is read by it.
func TestWorkloadIdentity(t *testing.T) {
	args := engineArgs(t)
	args.RoleARN, args.Auth = nil, &distribution.Auth{ClientID: pulumi.String("g0")}
	args.Manifest = append(args.Manifest, "\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: argocd-repo-server}\n"...)
	r := built(t, args)
	enginetest.Identified(t, r, "argocd", "argocd-repo-server", "g0")
	assert.DeepEqual(t, r.OfType(secretType)[0].SecretData(t), map[string]string{
		"type": "git", "url": "https://git.example.com/platform.git", "useAzureWorkloadIdentity": "true",
	})
	// The provider tries a patch as it is, unless something in it is unknown.
	unborn := &recorder.Recorder{Unborn: true}
	assert.NilError(t, unborn.Run("mgmt-bootstrap", func(ctx *pulumi.Context) error {
		_, err := NewEngine(ctx, "mgmt", args)
		return err
	}, recorder.Preview))
	pods := unborn.OfType("kubernetes:apps/v1:DeploymentPatch")[0]
	assert.Check(t, is.Equal(pods.String(`spec.template.metadata.annotations["tombolo/git-identity"]`), ""), "a patch is tried before its Deployment is there")
}

// TestRootRetriesTheLatestCommit where the definition of Applications has the field, and nowhere else.
func TestRootRetriesTheLatestCommit(t *testing.T) {
	const before = "  group: argoproj.io\n"
	const field = before + "  versions: [{schema: {openAPIV3Schema: {properties: {spec: {properties: {syncPolicy: {properties: {retry: {properties: {refresh: {type: boolean}}}}}}}}}}}]\n"
	args := engineArgs(t)
	args.Manifest = []byte(strings.Replace(string(args.Manifest), before, field, 1))
	built(t, args).OfType(application)[0].Expect(t, map[string]string{"spec.syncPolicy.retry.refresh": "true"})
	without := built(t, engineArgs(t)).OfType(application)[0]
	without.Expect(t, map[string]string{"spec.syncPolicy.retry.refresh": ""})
}

func tested(t *testing.T) enginetest.Engine {
	args := engineArgs(t)
	return enginetest.Engine{
		Args: &args.EngineArgs,
		New:  func(ctx *pulumi.Context) (*distribution.Engine, error) { return NewEngine(ctx, "mgmt", args) },
	}
}

func TestOwnership(t *testing.T) {
	tested(t).Ownership(t, func(res recorder.Resource) bool {
		return slices.Contains([]string{appProject, application, configMapPatch, accountPatch}, res.Type) || res.Name == "mgmt-auth"
	})
}

func TestForPods(t *testing.T) { tested(t).ForPods(t, "argocd") }

func TestKeepsWhatWasMade(t *testing.T) {
	tested(t).KeepsWhatWasMade(t, "apps/v1 StatefulSet argocd/argocd-application-controller",
		"mgmt-deployment-argocd-server", "mgmt-deployment-argocd-api")
}

// repository is the data of the Secret with the Git credentials.
func repository(t *testing.T, r *recorder.Recorder) map[string]string {
	t.Helper()
	found, ok := r.Named(secretType, "mgmt-auth")
	assert.Assert(t, ok, "there is no Secret for the repository")
	found.Expect(t, map[string]string{
		"metadata.name": "platform-auth", `metadata.labels["argocd.argoproj.io/secret-type"]`: "repository", "stringData": "",
	})
	return found.SecretData(t)
}

func TestCredentials(t *testing.T) {
	args := engineArgs(t)
	got := repository(t, built(t, args))
	for key, want := range map[string]string{"type": "git", "url": args.URL, "username": "git", "password": "hunter2", "sshPrivateKey": ""} {
		assert.Check(t, got[key] == want, "basic: %s is %q, expected %q", key, got[key], want)
	}
	args.URL = "ssh://git@git.example.com/platform.git"
	args.Auth = &distribution.Auth{PrivateKey: secret("PEM"), KnownHosts: "git.example.com ssh-ed25519 BBBB"}
	r := built(t, args)
	if got := repository(t, r); got["sshPrivateKey"] != "PEM" || got["password"] != "" {
		t.Errorf("ssh: data is %v", got)
	}
	hosts, _ := r.Named(configMapPatch, "mgmt-argocd-ssh-known-hosts-cm")
	hosts.Expect(t, map[string]string{"data.ssh_known_hosts": "git.example.org ssh-ed25519 AAAA\ngit.example.com ssh-ed25519 BBBB\n"})
	object, _ := r.Named(configMap, "mgmt-configmap-argocd-ssh-known-hosts-cm")
	object.Expect(t, map[string]string{"data.ssh_known_hosts": ""})

	args.URL = "https://github.example.com/acme/platform.git"
	args.Auth = &distribution.Auth{PrivateKey: secret("PEM"), App: &distribution.App{ID: 12, InstallationID: 34, API: "https://github.example.com/api/v3"}}
	assert.DeepEqual(t, repository(t, built(t, args)), map[string]string{
		"type": "git", "url": args.URL, "githubAppID": "12", "githubAppInstallationID": "34", "githubAppPrivateKey": "PEM",
		"githubAppEnterpriseBaseUrl": "https://github.example.com/api/v3",
	})
	args.Auth.App.API = ""
	_, enterprise := repository(t, built(t, args))["githubAppEnterpriseBaseUrl"]
	assert.Check(t, !enterprise, "github.com has an address of a server")

	args.Auth = nil
	_, ok := built(t, args).Named(secretType, "mgmt-auth")
	assert.Check(t, !ok, "a Secret was made without credentials")
}

func TestEngineRefuses(t *testing.T) {
	recorder.Refuses(t, "mgmt", NewEngine, "argocd mgmt: ", func() *EngineArgs { return engineArgs(t) }, map[string]func(*EngineArgs){
		"URL is required":                 func(a *EngineArgs) { a.URL = "" },
		"interval 1ms is shorter than 1s": func(a *EngineArgs) { a.Interval = time.Millisecond },
		"auth needs user name and password, or private key and known hosts, or private key and GitHub App": func(a *EngineArgs) { a.Auth.Password = nil },
		"the distribution has no Deployment; is it Argo CD's install manifest?":                            func(a *EngineArgs) { a.Manifest = nil },
		"the distribution has no ConfigMap argocd-ssh-known-hosts-cm": func(a *EngineArgs) {
			a.Auth = &distribution.Auth{PrivateKey: secret("PEM"), KnownHosts: "x"}
			a.Manifest = []byte(strings.ReplaceAll(string(a.Manifest), "known-hosts", "x"))
		},
	})
}

// TestGitFetchesByTheNetworkAlone, in the repo-server of the manifest and of the chart.
func TestGitFetchesByTheNetworkAlone(t *testing.T) {
	for _, container := range []string{"argocd-repo-server", "repo-server"} {
		text := `{"kind": "Deployment", "metadata": {"name": "argocd-repo-server"}, "spec": {"template": {"spec": {"containers": [{"name": "` + container + `"}]}}}}`
		got, err := Product().Environment.Set([]byte(text))
		assert.NilError(t, err)
		assert.Check(t, is.Contains(string(got), `{"name": "`+container+`", env: [{name: GIT_ALLOW_PROTOCOL, value: 'git:http:https:ssh'}]}`))
	}
}

func TestSignIn(t *testing.T) {
	args := engineArgs(t)
	args.SignIn = &SignIn{
		URL: "https://argocd.example.com", IssuerURL: "https://auth.example.com/application/o/argocd/", ClientID: "argocd", Secret: "argocd-oidc",
		Scopes: []string{"openid", "profile"}, AdminGroups: []string{"platform", "authentik Admins"}, ReaderGroups: []string{"auditors"},
	}
	r := built(t, args)
	settings, _ := r.Named(configMapPatch, "mgmt-argocd-cm")
	settings.Expect(t, map[string]string{
		`data["url"]`:         "https://argocd.example.com",
		`data["oidc.config"]`: `{"clientID":"argocd","clientSecret":"$argocd-oidc:clientSecret","issuer":"https://auth.example.com/application/o/argocd/","name":"OIDC","requestedScopes":["openid","profile"]}`,
	})
	rights, ok := r.Named(configMapPatch, "mgmt-argocd-rbac-cm")
	assert.Assert(t, ok)
	rights.Expect(t, map[string]string{
		"metadata.name":              "argocd-rbac-cm",
		`data["policy.tombolo.csv"]`: "g, platform, role:admin\ng, authentik Admins, role:admin\ng, auditors, role:readonly\n",
		// Git's, as is policy.default.
		`data["policy.csv"]`: "", `data["policy.default"]`: "",
	})
	settings, _ = built(t, engineArgs(t)).Named(configMapPatch, "mgmt-argocd-cm")
	settings.Expect(t, map[string]string{`data["oidc.config"]`: ""})
}

func TestSignInThatBreaksAPolicy(t *testing.T) {
	for _, group := range []string{"", `a", role:admin`, "a\ng, b, role:admin", "role:admin", "proj:x:y"} {
		args := engineArgs(t)
		args.SignIn = &SignIn{URL: "u", IssuerURL: "i", ClientID: "c", Secret: "s", ReaderGroups: []string{group}}
		_, err := run(args)
		assert.Check(t, is.ErrorContains(err, "a group of the sign-in"), "%q", group)
	}
	args := engineArgs(t)
	args.SignIn = &SignIn{}
	_, err := run(args)
	assert.Check(t, is.ErrorContains(err, "a sign-in needs URL, issuer, client and Secret"))
}

// TestWebhook: each kind of host has to show the token, which is in no setting, and Argo CD has it when it starts.
func TestWebhook(t *testing.T) {
	args := engineArgs(t)
	assert.Check(t, is.Len(built(t, args).OfType("kubernetes:core/v1:SecretPatch"), 0))
	args.Webhook = true
	r := built(t, args)
	patch, ok := r.Named("kubernetes:core/v1:SecretPatch", "mgmt-argocd-secret")
	assert.Assert(t, ok)
	patch.Expect(t, map[string]string{"metadata.name": "argocd-secret", "metadata.namespace": "argocd", `metadata.annotations["pulumi.com/patchForce"]`: "true"})
	const token = "$platform-webhook:token"
	assert.DeepEqual(t, patch.SecretData(t), map[string]string{
		"webhook.azuredevops.username": "tombolo", "webhook.azuredevops.password": token, "webhook.bitbucket.uuid": token,
		"webhook.bitbucketserver.secret": token, "webhook.github.secret": token, "webhook.gitlab.secret": token, "webhook.gogs.secret": token,
	})
	for _, c := range r.OfType(deployment) {
		assert.Check(t, c.WaitsFor("SecretPatch::"), "%s may start without it: %v", c.Name, c.DependsOn)
	}
}
