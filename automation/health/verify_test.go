package health

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
	"tombolo/config"
	"tombolo/stacks/handoff"
)

const (
	infra = `
apiVersion: v1
kind: ConfigMap
metadata: {namespace: flux-system, name: infra-config}
data: {vpc_id: vpc-1}
`
	repository = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {namespace: flux-system, name: platform, generation: 1}
status:
  observedGeneration: 1
  artifact: {revision: main@sha1:abc}
  conditions: [{type: Ready, status: "True", reason: Succeeded, message: stored artifact, observedGeneration: 1}]
`
	platformYAML = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {namespace: flux-system, name: platform, generation: 2}
spec: {sourceRef: {kind: GitRepository, name: platform}}
status:
  observedGeneration: 2
  lastAppliedRevision: main@sha1:abc
  inventory: {entries: [{id: flux-system_apps_kustomize.toolkit.fluxcd.io_Kustomization, v: v1}]}
  conditions: [{type: Ready, status: "True", message: applied, lastTransitionTime: "2026-01-02T03:04:05Z"}]
`
	chart = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmChart
metadata: {namespace: flux-system, name: reporter, generation: 1}
spec: {sourceRef: {kind: HelmRepository, name: charts}}
status:
  observedGeneration: 1
  artifact: {revision: 1.2.3}
  conditions: [{type: Ready, status: "True"}]
`
	release = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {namespace: reporter, name: reporter, generation: 1}
spec: {chart: {spec: {sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}}}}
status:
  observedGeneration: 1
  helmChart: flux-system/reporter
  lastAttemptedRevision: 1.2.3
  conditions: [{type: Ready, status: "True", message: installed}]
`
	charts = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {namespace: flux-system, name: charts, generation: 1}
spec: {type: oci}
`
)

// fluxWithout is a cluster with the objects, and Flux's CRDs but for the missing kinds.
func fluxWithout(t *testing.T, missing []string, texts ...string) kube.Cluster {
	t.Helper()
	kinds := slices.DeleteFunc(kubetest.FluxKinds(), func(k schema.GroupVersionKind) bool { return slices.Contains(missing, k.Kind) })
	return kubetest.New(t, kinds, texts...)
}

var core = handoff.Values{Cloud: "aws", AWS: handoff.AWSValues{VPCID: "vpc-1"}}

// witness is an observer that writes down what it is told.
type witness struct{ lines []string }

func (w *witness) Waiting(cluster, what string) {
	w.lines = append(w.lines, "waiting "+cluster+": "+what)
}

func (w *witness) Note(cluster, message string) {
	w.lines = append(w.lines, "note "+cluster+": "+message)
}

// fluxOn is a cluster with Flux.
func fluxOn(k kube.Cluster) Site {
	return Site{Cluster: &config.Cluster{Name: "demo"}, Own: k, At: k, Values: core, Observer: &witness{}}
}

// checked is each check in a line.
func checked(v Verification) []string {
	var out []string
	for _, c := range v.Checks {
		out = append(out, fmt.Sprintf("%s %s/%s %t %s", c.Kind, c.Namespace, c.Name, c.Ready, c.Revision))
	}
	return out
}

func TestVerifyReady(t *testing.T) {
	k := fluxWithout(t, []string{"Bucket", "OCIRepository"}, infra, repository, platformYAML, chart, charts, release)
	v, err := fluxOn(k).await(t.Context(), Options{Timeout: 10 * time.Second, Revision: "abc"})
	assert.NilError(t, err)
	assert.DeepEqual(t, checked(v), []string{
		"ConfigMap flux-system/infra-config true ",
		"GitRepository flux-system/platform true main@sha1:abc",
		"HelmRepository flux-system/charts true ",
		"HelmChart flux-system/reporter true 1.2.3",
		"Kustomization flux-system/platform true main@sha1:abc",
		"HelmRelease reporter/reporter true 1.2.3",
	})
	since := v.Checks[4].Since.Format(time.DateOnly)
	assert.Check(t, since == "2026-01-02", "ready since %s", since)
}

// TestVerifyBesideOthersOfFlux: objects of a Flux that was taken over count where they follow
// from the platform; without takeOver, all do.
func TestVerifyBesideOthersOfFlux(t *testing.T) {
	const ours = "\nmetadata: {namespace: flux-system, name: apps, generation: 1}\nspec: {sourceRef: {kind: GitRepository, name: platform}}\n" +
		"status: {observedGeneration: 1, lastAppliedRevision: main@sha1:abc, inventory: {entries: [{id: reporter_reporter_helm.toolkit.fluxcd.io_HelmRelease, v: v2}]}, conditions: [{type: Ready, status: 'True'}]}"
	const theirs = "\nmetadata: {namespace: theirs, name: broken}\nspec: {suspend: true, sourceRef: {kind: GitRepository, name: gone}}"
	const kustomization = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization"
	k := fluxWithout(t, nil, infra, repository, platformYAML, kustomization+ours, kustomization+theirs, chart, charts, release)
	site := fluxOn(k)
	site.Cluster.GitOps.TakeOver = true
	v, err := site.await(t.Context(), Options{Timeout: 10 * time.Second, Revision: "abc"})
	assert.NilError(t, err)
	assert.Check(t, is.Len(v.Checks, 7), "%v", checked(v))
	for _, c := range v.Checks {
		assert.Check(t, c.Namespace != "theirs", "%s %s/%s", c.Kind, c.Namespace, c.Name)
	}
	site.Cluster.GitOps.TakeOver = false
	_, err = site.await(t.Context(), Options{Timeout: 10 * time.Millisecond})
	assert.Check(t, is.ErrorContains(err, "theirs/broken"))
}

func TestVerifyNamesTheFirstCause(t *testing.T) {
	broken := func(text, reason, message string) string {
		return strings.NewReplacer(`status: "True"`, `status: "False", reason: `+reason+`, message: "`+message+`"`,
			", message: applied", "", ", reason: Succeeded, message: stored artifact", "").Replace(text)
	}
	apps := strings.NewReplacer("name: platform, gen", "name: apps, gen", "flux-system_apps_", "x_y_").Replace(platformYAML)
	dependent := strings.Replace(apps, "spec: {", "spec: {dependsOn: [{name: infrastructure}], ", 1)
	infrastructure := strings.Replace(apps, "name: apps", "name: infrastructure", 1)
	waiting := strings.NewReplacer(`{type: Ready, status: "True", message: applied,`, `{type: Ready, status: Unknown, reason: Progressing, message: Reconciliation in progress},
    {type: Reconciling, status: "True", reason: Progressing, message: Running health checks for revision main@sha1:old with a timeout of 9m30s,`).Replace(platformYAML)
	for _, tt := range []struct {
		name    string
		objects []string
		want    string
	}{
		{"no ConfigMap", []string{repository, platformYAML}, "ConfigMap flux-system/infra-config: does not exist"},
		{
			"another VPC",
			[]string{strings.Replace(infra, "vpc-1", "vpc-2", 1), repository, platformYAML},
			`ConfigMap flux-system/infra-config: vpc_id is "vpc-2", and core's is vpc-1`,
		},
		{"no Kustomization", []string{infra, repository}, "Kustomization flux-system/platform: there is no Kustomization"},
		{"source fails, and so does what is made from it", []string{
			infra, broken(repository, "GitOperationFailed", "authentication required"),
			broken(platformYAML, "ArtifactFailed", "source is not ready"),
		}, "GitRepository flux-system/platform: GitOperationFailed: authentication required"},
		{"a Kustomization waits for another", []string{
			infra, repository, broken(platformYAML, "HealthCheckFailed", "timeout"),
			broken(dependent, "DependencyNotReady", "dependency not ready"),
			broken(infrastructure, "BuildFailed", "variable not set: vpc_idd"),
		}, "Kustomization flux-system/infrastructure: BuildFailed: variable not set: vpc_idd"},
		{"a Kustomization waits for what it applied", []string{
			infra, repository, broken(platformYAML, "HealthCheckFailed", "timeout"),
			broken(apps, "BuildFailed", "no such file"),
		}, "Kustomization flux-system/apps: BuildFailed: no such file"},
		{
			"an older revision",
			[]string{
				infra, repository,
				strings.Replace(platformYAML, "lastAppliedRevision: main@sha1:abc", "lastAppliedRevision: main@sha1:old", 1),
			},
			"Kustomization flux-system/platform: is at revision main@sha1:old, and its source at main@sha1:abc",
		},
		{
			"an older generation",
			[]string{
				infra, repository,
				strings.Replace(platformYAML, "generation: 2", "generation: 3", 1),
			},
			"Kustomization flux-system/platform: its latest change is not reconciled yet",
		},
		{
			"a wait for an older revision",
			[]string{infra, repository, waiting},
			"Kustomization flux-system/platform: Progressing: Running health checks for revision main@sha1:old with a timeout of 9m30s," +
				" until about 03:13:35 UTC; this is about main@sha1:old, and main@sha1:abc is not looked at yet",
		},
		{
			"a failure of an older revision",
			[]string{infra, repository, strings.Replace(broken(platformYAML, "HealthCheckFailed", "timeout"), "  inventory", "  lastAttemptedRevision: main@sha1:old\n  inventory", 1)},
			"Kustomization flux-system/platform: HealthCheckFailed: timeout; this is about main@sha1:old, and main@sha1:abc is not looked at yet",
		},
		{
			"suspended",
			[]string{infra, repository, strings.Replace(platformYAML, "spec: {", "spec: {suspend: true, ", 1)},
			"Kustomization flux-system/platform: is suspended: resume it",
		},
		{
			"no status",
			[]string{infra, repository, platformYAML, strings.Split(release, "status:")[0]},
			"HelmRelease reporter/reporter: not reconciled yet: is its controller running?",
		},
		{
			"an older chart",
			[]string{infra, repository, platformYAML, chart, strings.Replace(release, "Revision: 1.2.3", "Revision: 1.2.2", 1)},
			"HelmRelease reporter/reporter: is at revision 1.2.2, and its source at 1.2.3",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, err := fluxOn(fluxWithout(t, nil, tt.objects...)).await(t.Context(), Options{Timeout: time.Millisecond})
			var failed *Error
			assert.Assert(t, errors.As(err, &failed), "error is %T: %v", err, err)
			got := v.Cause.String()
			assert.Check(t, got == tt.want, "cause is\n%s, want\n%s", got, tt.want)
			assert.Check(t, is.Contains(err.Error(), "first cause: "+tt.want))
		})
	}
}

// TestVerifyOfAnIdentity: who may not read the repository is told to people, who let it in. Entra's own refusals
// are no matter of the host's.
func TestVerifyOfAnIdentity(t *testing.T) {
	for message, told := range map[string]bool{"authentication required": true, "repository not found": true, "AADSTS700213: No matching federated identity": false} {
		failed := strings.NewReplacer("generation: 1}", "generation: 2}", "observedGeneration: 1}", "observedGeneration: 2}", `status: "True"`, `status: "False"`, "stored artifact", `"`+message+`"`).Replace(repository)
		site := fluxOn(fluxWithout(t, nil, infra, failed, platformYAML))
		site.Cluster.GitOps.Auth = &config.Auth{Type: config.AuthWorkloadIdentity}
		site.Values.Azure.GitClientID = "g0"
		_, err := site.await(t.Context(), Options{Timeout: time.Millisecond})
		assert.Assert(t, is.ErrorContains(err, message))
		assert.Check(t, is.Equal(strings.Contains(err.Error(), "the identity demo-git with the client id g0 has to be a user of the Azure DevOps organisation"), told), err.Error())
	}
}

func TestVerifyErrorText(t *testing.T) {
	err := &Error{
		Cluster: "demo", Pending: 2, Total: 7, Waited: 90 * time.Second,
		Cause: Check{Kind: "GitRepository", Namespace: "flux-system", Name: "platform", Message: "authentication required"},
	}
	want := "verify cluster demo: 2 of 7 checks not passed after 1m30s; first cause: " +
		"GitRepository flux-system/platform: authentication required; " +
		"check the repository's URL, branch and credentials in the cluster file"
	assert.Error(t, err, want)
}

func TestVerifyWaitsForARevision(t *testing.T) {
	k := fluxWithout(t, nil, infra, repository, platformYAML)
	v, err := fluxOn(k).await(t.Context(), Options{Timeout: time.Millisecond, Revision: "def"})
	want := "GitRepository flux-system/platform: is at revision main@sha1:abc, and def is expected"
	assert.Check(t, err != nil && v.Cause.String() == want, "cause is %v, error %v", v.Cause, err)
}

// TestVerifyOfSecrets: a secret that cannot be fetched is a cause, whatever Flux says of what
// it has applied. One that nobody has looked at yet is one, too.
func TestVerifyOfSecrets(t *testing.T) {
	const secret = "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {namespace: app, name: app}\n"
	kinds := append(kubetest.FluxKinds(), schema.GroupVersionKind{Group: "external-secrets.io", Version: "v1", Kind: "ExternalSecret"}, schema.GroupVersionKind{Version: "v1", Kind: "Event"})
	for status, want := range map[string]string{
		"status: {conditions: [{type: Ready, status: 'True', reason: SecretSynced, message: secret synced}]}":                                 "",
		"status: {conditions: [{type: Ready, status: 'False', reason: SecretSyncedError, message: could not get secret data from provider}]}": "ExternalSecret app/app: SecretSyncedError: could not get secret data from provider",
		"": "ExternalSecret app/app: not reconciled yet: is its controller running?",
	} {
		k := kubetest.New(t, kinds, infra, repository, platformYAML, chart, charts, release, secret+status)
		v, err := fluxOn(k).await(t.Context(), Options{Timeout: time.Millisecond})
		assert.Check(t, (err == nil) == (want == ""), "%v", err)
		if want != "" {
			assert.Check(t, is.Equal(v.Cause.String(), want))
		}
	}
}

// TestVerifySaysWhatAStoreRefuses: the conditions of an ExternalSecret and of its store do not say who
// refuses what, and their events do. A store that nothing reads from holds nobody up.
func TestVerifySaysWhatAStoreRefuses(t *testing.T) {
	const group = "apiVersion: external-secrets.io/v1\n"
	store := func(kind, namespace, status string) string {
		return group + "kind: " + kind + "\nmetadata: {" + namespace + "name: vault}\n" +
			"status: {conditions: [{type: Ready, status: '" + status + "', reason: InvalidProviderConfig, message: unable to create client}]}"
	}
	told := func(kind, namespace, name, message string) string {
		return "apiVersion: v1\nkind: Event\nmetadata: {namespace: default, name: " + strings.ToLower(kind) + "}\ntype: Warning\nreason: Refused\n" +
			"involvedObject: {kind: " + kind + ", " + namespace + "name: " + name + "}\nmessage: \"Code: 403. Errors:\\n\\n* " + message + "\""
	}
	kinds := append(kubetest.FluxKinds(), schema.GroupVersionKind{Version: "v1", Kind: "Event"})
	for _, kind := range []string{"ExternalSecret", "SecretStore", "ClusterSecretStore"} {
		kinds = append(kinds, schema.GroupVersionKind{Group: "external-secrets.io", Version: "v1", Kind: kind})
	}
	with := func(more ...string) (Verification, error) {
		objects := append([]string{infra, repository, platformYAML, chart, charts, release}, more...)
		return fluxOn(kubetest.New(t, kinds, objects...)).await(t.Context(), Options{Timeout: time.Millisecond})
	}
	_, err := with(store("SecretStore", "namespace: app, ", "False"), store("ClusterSecretStore", "", "False"))
	assert.NilError(t, err)
	const said, role, path = "ExternalSecret app/app: SecretSyncedError: could not get secret data from provider", "namespace not authorized", "permission denied"
	for _, c := range []struct {
		of, store, event, want string
	}{
		{"name: vault", store("SecretStore", "namespace: app, ", "False"), "", "; SecretStore vault: InvalidProviderConfig: unable to create client"},
		{"name: vault", store("SecretStore", "namespace: app, ", "False"), told("SecretStore", "namespace: app, ", "vault", role), "; SecretStore vault: Refused: Code: 403. Errors: * " + role},
		{"kind: ClusterSecretStore, name: vault", store("ClusterSecretStore", "", "False"), told("ClusterSecretStore", "", "vault", role), "; ClusterSecretStore vault: Refused: Code: 403. Errors: * " + role},
		{"name: vault", store("SecretStore", "namespace: app, ", "True"), told("ExternalSecret", "namespace: app, ", "app", path), "; Refused: Code: 403. Errors: * " + path},
		{"name: vault", store("SecretStore", "namespace: app, ", "True"), "", ""},
	} {
		objects := []string{c.store, group + "kind: ExternalSecret\nmetadata: {namespace: app, name: app}\nspec: {secretStoreRef: {" + c.of + "}}\n" +
			"status: {conditions: [{type: Ready, status: 'False', reason: SecretSyncedError, message: could not get secret data from provider}]}"}
		if c.event != "" {
			objects = append(objects, c.event)
		}
		v, err := with(objects...)
		assert.Check(t, err != nil)
		assert.Check(t, is.Equal(v.Cause.String(), said+c.want))
	}
}

func TestVerifyInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	k := fluxWithout(t, nil, infra)
	mapper := k.Discover
	k.Discover = func() (meta.RESTMapper, error) {
		cancel()
		return mapper()
	}
	_, err := fluxOn(k).await(ctx, Options{})
	assert.Check(t, errors.Is(err, context.Canceled), "error is %T: %v", err, err)
}

func TestVerifyWithoutAPI(t *testing.T) {
	k := fluxWithout(t, nil, infra)
	k.Discover = func() (meta.RESTMapper, error) { return nil, errors.New("connection refused") }
	_, err := fluxOn(k).await(t.Context(), Options{Timeout: time.Millisecond})
	assert.ErrorContains(t, err, "first cause: Kubernetes API: ask the Kubernetes API for its kinds: connection refused")
}

// watched tells of the context of each Get.
type watched struct {
	dynamic.Interface
	dynamic.NamespaceableResourceInterface
	got func(context.Context)
}

func (w watched) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	w.NamespaceableResourceInterface = w.Interface.Resource(r)
	return w
}

func (w watched) Namespace(string) dynamic.ResourceInterface { return w }

func (w watched) Get(ctx context.Context, name string, o metav1.GetOptions, sub ...string) (*unstructured.Unstructured, error) {
	w.got(ctx)
	return w.NamespaceableResourceInterface.Namespace(fluxNamespace).Get(ctx, name, o, sub...)
}

// A request that is refused because the wait is about to end would hide what
// was waited for, so a look has longer than the wait.
func TestVerifyFinishesItsLastLook(t *testing.T) {
	k := fluxWithout(t, nil, infra)
	spare := time.Duration(0)
	k.Client = watched{Interface: k.Client, got: func(ctx context.Context) {
		deadline, _ := ctx.Deadline()
		spare = time.Until(deadline)
	}}
	_, err := fluxOn(k).await(t.Context(), Options{Timeout: time.Millisecond})
	assert.ErrorContains(t, err, "there is no Kustomization")
	assert.Check(t, spare >= lookGrace/2, "the look had %v", spare)
}
