package bootstrap

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/components/distribution"
	"tombolo/components/flux"
	"tombolo/components/recorder"
	"tombolo/config"
)

// released is a release's manifest, with what a take-over compares.
const released = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: helmreleases.helm.toolkit.fluxcd.io}
spec: {versions: [{name: v2}, {name: v2beta2}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kustomize-controller, namespace: flux-system}
spec: {template: {spec: {containers: [{name: manager, args: [--log-level=info]}]}}}
`

// objectOf reads an object as a cluster answers.
func objectOf(t *testing.T, text string) unstructured.Unstructured {
	t.Helper()
	o := unstructured.Unstructured{}
	assert.NilError(t, yaml.Unmarshal([]byte(text), &o.Object))
	return o
}

// running is a controller of a Flux with labels and annotations besides, and its flags.
func running(t *testing.T, name, more, args string) unstructured.Unstructured {
	t.Helper()
	text := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + ", namespace: flux-system, annotations: {}, labels: {app.kubernetes.io/part-of: flux, app.kubernetes.io/version: v2.7.4}}\n" +
		"spec: {template: {spec: {containers: [{name: manager, args: [" + args + "]}]}}}"
	o := objectOf(t, text)
	for pair := range strings.FieldsSeq(more) {
		key, value, _ := strings.Cut(pair, "=")
		switch key {
		case "namespace":
			o.SetNamespace(value)
		case releaseAnnotation:
			o.SetAnnotations(map[string]string{key: value})
		default:
			labels := o.GetLabels()
			labels[key] = value
			o.SetLabels(labels)
		}
	}
	return o
}

// TestTakeOver: what becomes of an engine that is there already, and why one is refused.
func TestTakeOver(t *testing.T) {
	const inGit = "kustomize.toolkit.fluxcd.io/name=flux-system kustomize.toolkit.fluxcd.io/namespace=flux-system"
	all := func(more, args string) []unstructured.Unstructured {
		var out []unstructured.Unstructured
		for _, name := range fluxControllers {
			out = append(out, running(t, name, more, args))
		}
		return out
	}
	definition := func(stored string) []unstructured.Unstructured {
		return []unstructured.Unstructured{objectOf(t, "kind: CustomResourceDefinition\nmetadata: {name: helmreleases.helm.toolkit.fluxcd.io}\nstatus: {storedVersions: ["+stored+"]}")}
	}
	sync := func(annotations string) []unstructured.Unstructured {
		return []unstructured.Unstructured{objectOf(t, "kind: GitRepository\nmetadata: {name: platform, namespace: flux-system, annotations: {"+annotations+"}}")}
	}
	mixed := append(all("", ""), running(t, "notification-controller", "app.kubernetes.io/version=v2.6.0", ""))
	e := fluxEngine(&config.Cluster{}, distributionRecord{TakenOver: true})
	objects, err := e.product.Parse([]byte(released))
	assert.NilError(t, err)
	for name, test := range map[string]struct {
		found  found
		wanted string
		// becomes is said of an engine that is taken over; refused, of another.
		becomes, refused string
	}{
		"older":               {found: found{controllers: all("", "")}, becomes: "Flux v2.7.4, which is taken over and upgraded to v2.7.5; a destruction leaves it there"},
		"the same":            {found: found{controllers: all("", "--log-level=info")}, wanted: "v2.7.4", becomes: "Flux v2.7.4, which is taken over; a destruction leaves it there"},
		"of an earlier run":   {found: found{controllers: all("", ""), sync: sync(`pulumi.com/patchForce: "true"`)}, becomes: "is taken over"},
		"stored as is served": {found: found{controllers: all("", ""), definitions: definition("v2beta2, v2")}, becomes: "is taken over"},
		"in Git": {
			found:   found{controllers: all(inGit, "--concurrent=20"), definitions: definition("v2beta1")},
			becomes: "Flux v2.7.4, which Kustomization flux-system/flux-system applies from Git: it stays with Git, and only what it is to follow is added",
		},
		"newer in Git, of the same minor version": {found: found{controllers: all(inGit, "")}, wanted: "v2.7.1", becomes: "it stays with Git"},

		"newer":               {found: found{controllers: all("", "")}, wanted: "v2.7.3", refused: "it is v2.7.4, newer than v2.7.3 of the cluster file, and would be downgraded; name its version in gitops.distribution"},
		"another major":       {found: found{controllers: all("", "")}, wanted: "v3.0.0", refused: "it is v2.7.4, another major version than v3.0.0"},
		"another minor, Git":  {found: found{controllers: all(inGit, "")}, wanted: "v2.8.0", refused: "it is v2.7.4, which Kustomization flux-system/flux-system applies from Git, and the cluster file has v2.8.0"},
		"the Flux Operator":   {found: found{operator: true, controllers: all("", "")}, refused: "the Flux Operator manages it"},
		"Helm":                {found: found{controllers: all("app.kubernetes.io/managed-by=Helm meta.helm.sh/release-name=flux2", "")}, refused: "is managed by the Helm release flux2, which would undo what Tombolo changes"},
		"another manager":     {found: found{controllers: all("app.kubernetes.io/managed-by=capi", "")}, refused: "is managed by capi"},
		"elsewhere":           {found: found{controllers: all("namespace=gitops", "")}, refused: "it is in the namespace gitops, and Tombolo's is in flux-system"},
		"definitions alone":   {refused: "its definitions are there, and no Deployment has the label app.kubernetes.io/part-of: flux"},
		"no version":          {found: found{controllers: all("app.kubernetes.io/version=latest", "")}, refused: "has no version in its label app.kubernetes.io/version"},
		"two versions":        {found: found{controllers: mixed}, refused: "its Deployments are of different versions (v2.7.4 and v2.6.0)"},
		"a flag of its own":   {found: found{controllers: all("", "--no-cross-namespace-refs=true")}, refused: "its kustomize-controller has the flag --no-cross-namespace-refs=true, which the distribution of the cluster file has not"},
		"for tenants, in Git": {found: found{controllers: all(inGit, "--default-service-account=default")}, refused: "has the flag --default-service-account=default: what Tombolo adds would be applied as that account"},
		"without helm-controller, in Git": {
			found:   found{controllers: []unstructured.Unstructured{running(t, "source-controller", inGit, ""), running(t, "kustomize-controller", inGit, "")}},
			refused: "it has no helm-controller, which the platform tree needs",
		},
		"stored as an older version": {
			found:   found{controllers: all("", ""), definitions: definition("v2beta1, v2")},
			refused: "objects of helmreleases.helm.toolkit.fluxcd.io are stored as v2beta1, which the distribution of the cluster file no longer has",
		},
		"our name is taken": {found: found{controllers: all("", ""), sync: sync("")}, refused: "the cluster has a GitRepository flux-system/platform, which is the name of Tombolo's"},
	} {
		t.Run(name, func(t *testing.T) {
			wanted := "v2.7.5"
			if test.wanted != "" {
				wanted = test.wanted
			}
			got, err := e.judge(test.found, wanted, objects)
			if test.refused != "" {
				assert.Check(t, is.ErrorContains(err, test.refused))
				return
			}
			assert.NilError(t, err)
			assert.Check(t, is.Contains(got.becomes("Flux", wanted), test.becomes))
		})
	}
}

// TestEndedVersions: a version that is served, and that the distribution has no more, is
// named once, whatever number of definitions had it.
func TestEndedVersions(t *testing.T) {
	definition := func(kind, versions string) unstructured.Unstructured {
		return objectOf(t, "kind: CustomResourceDefinition\nmetadata: {name: "+kind+".helm.toolkit.fluxcd.io}\nspec: {group: helm.toolkit.fluxcd.io, versions: ["+versions+"]}")
	}
	objects := []distribution.Object{
		distribution.Object(definition("helmreleases", "{name: v2, served: true}").Object),
		distribution.Object(definition("others", "{name: v2, served: true}").Object),
	}
	got := endedVersions(found{definitions: []unstructured.Unstructured{
		definition("helmreleases", "{name: v2, served: true}, {name: v2beta2, served: true}, {name: v2beta1, served: false}"),
		definition("others", "{name: v2, served: true}, {name: v2beta2, served: true}"),
		definition("theirs", "{name: v1, served: true}"),
	}}, objects)
	assert.DeepEqual(t, got, []string{"helm.toolkit.fluxcd.io/v2beta2"})
	assert.Check(t, is.Len(endedVersions(found{}, objects), 0))
}

// TestInspect: what is judged is read from the cluster.
func TestInspect(t *testing.T) {
	answers := map[string]string{
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + fluxOperator:             `{"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1", "metadata": {"name": "x"}}`,
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions":                             `{"kind": "CustomResourceDefinitionList", "apiVersion": "apiextensions.k8s.io/v1", "items": [{"metadata": {"name": "d"}}]}`,
		"/apis/apps/v1/deployments":                                                           `{"kind": "DeploymentList", "apiVersion": "apps/v1", "items": [{"metadata": {"name": "c"}}]}`,
		"/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations/platform": `{"kind": "Kustomization", "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "metadata": {"name": "platform"}}`,
	}
	text := kubeconfig(t, answer(t, answers))
	got, err := fluxEngine(&config.Cluster{}, distributionRecord{TakenOver: true}).inspect(t.Context(), text, nil)
	assert.NilError(t, err)
	assert.Check(t, got.operator)
	for what, list := range map[string][]unstructured.Unstructured{"c": got.controllers, "d": got.definitions, "platform": got.sync} {
		assert.Assert(t, is.Len(list, 1), what)
		assert.Check(t, is.Equal(list[0].GetName(), what))
	}
	text = kubeconfig(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	_, err = fluxEngine(&config.Cluster{}, distributionRecord{TakenOver: true}).inspect(t.Context(), text, nil)
	assert.Check(t, is.ErrorContains(err, "look for Flux on the existing cluster"))
}

// TestCustodyOfAKeptEngine: nothing is applied of an engine that Git keeps, now or later.
func TestCustodyOfAKeptEngine(t *testing.T) {
	err := (&recorder.Recorder{}).Run("shop-bootstrap", func(ctx *pulumi.Context) error {
		c := &config.Cluster{Name: "shop"}
		p := &program{ctx: ctx, c: c, takenOver: true, taken: taken{version: "v2.7.5", keeper: "Kustomization flux-system/flux-system"}}
		got, err := p.custody(fluxEngine(c, distributionRecord{TakenOver: true}), []byte(released))
		assert.Check(t, got.handedOver && len(got.made) == 0 && got.digest == flux.Digest([]byte(released), flux.SubstituteAsReleased))
		return err
	})
	assert.NilError(t, err)
}

// TestCustodyOfAKeptEngineLater: a later version of the file has arrived when Git has it.
func TestCustodyOfAKeptEngineLater(t *testing.T) {
	for version, arrived := range map[string]bool{"v2.8.3": true, "v2.7.5": false} {
		inGit := `{"metadata": {"name": "kustomize-controller", "labels": {"app.kubernetes.io/version": "` + version + `"}}}`
		text := kubeconfig(t, deployments(t, inGit))
		err := (&recorder.Recorder{}).Run("shop-bootstrap", func(ctx *pulumi.Context) error {
			c := &config.Cluster{Name: "shop", GitOps: config.GitOps{Distribution: config.Distribution{Version: "v2.8.0"}}}
			p := &program{
				ctx: ctx, c: c, takenOver: true, last: distributionRecord{Digest: "old", TakenOver: true}, own: connection{kubeconfig: pulumi.String(text).ToStringOutput()},
			}
			got, err := p.custody(fluxEngine(c, distributionRecord{TakenOver: true}), []byte(released))
			assert.Check(t, got.handedOver && len(got.made) == 0)
			assert.Check(t, is.Equal(got.digest != "old", arrived), version)
			return err
		})
		assert.NilError(t, err)
	}
}

// TestNamespaceOfATakenEngine is others', and not made.
func TestNamespaceOfATakenEngine(t *testing.T) {
	c := &config.Cluster{Name: "shop", Namespaces: []config.Namespace{{Name: "reports"}}, GitOps: config.GitOps{Engine: config.Flux}}
	for takenOver, want := range map[bool]int{false: 2, true: 1} {
		all := (&program{c: c, takenOver: takenOver}).namespaces()
		assert.Check(t, is.Len(all, want))
		assert.Check(t, is.Equal(all[0].Name, "reports"))
	}
}

// TestNamespacesAreKept by the engine when Git has no more of them; what the cluster file says of it counts.
func TestNamespacesAreKept(t *testing.T) {
	own := map[string]string{"argocd.argoproj.io/sync-options": "Prune=confirm"}
	for engine, want := range map[config.Engine]map[string]string{
		config.Flux:   {"kustomize.toolkit.fluxcd.io/prune": "disabled", "argocd.argoproj.io/sync-options": "Prune=confirm"},
		config.ArgoCD: {"argocd.argoproj.io/sync-options": "Prune=confirm", "argocd.argoproj.io/compare-options": "IgnoreExtraneous"},
	} {
		c := &config.Cluster{Name: "shop", Namespaces: []config.Namespace{{Name: "reports", Annotations: own}}, GitOps: config.GitOps{Engine: engine}}
		all := (&program{c: c}).namespaces()
		assert.DeepEqual(t, all[0].Annotations, want)
		assert.DeepEqual(t, all[1].Annotations, keeps(engine))
	}
	assert.Check(t, is.Len(own, 1), "the file's are left alone")
}
