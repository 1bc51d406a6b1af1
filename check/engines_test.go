package check

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"helm.sh/helm/v3/pkg/chartutil"
	sigsyaml "sigs.k8s.io/yaml"

	"tombolo/check/argocd"
	"tombolo/check/helm"
	"tombolo/check/manifest"
	"tombolo/check/published"
	"tombolo/check/substitution"
	"tombolo/check/tree/treetest"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/names"
	"tombolo/platform/scaffold"
)

// chartRelease is what the two trees have to agree on.
type chartRelease struct {
	Repository, Chart, Version, Name, Namespace string
	SkipCRDs, Published                         bool
	Values                                      map[string]any
}

// fluxReleases are the releases of the tree for Flux, by name, and the objects
// of the addons' own kinds with variables substituted for a cluster.
func fluxReleases(t *testing.T, variables substitution.Variables) (releases map[string]chartRelease, objects map[string]map[string]any) {
	t.Helper()
	repositories := map[string]string{}
	releases, objects = map[string]chartRelease{}, map[string]map[string]any{}
	sources := map[string]string{}
	for _, text := range addonObjects(t, os.DirFS("../platform/flux")) {
		m, err := manifest.Decode[manifest.Object](text)
		assert.NilError(t, err)
		switch m.Kind {
		case "Kustomization":
		case "HelmRepository":
			r, err := manifest.Decode[struct{ Spec struct{ URL string } }](text)
			assert.NilError(t, err)
			repositories[m.Metadata.Name] = strings.TrimPrefix(r.Spec.URL, "oci://")
		case "HelmRelease":
			r, err := manifest.Decode[struct {
				Spec struct {
					ReleaseName string
					Chart       struct {
						Spec struct {
							Chart, Version string
							SourceRef      struct{ Name string }
						}
					}
					Install    struct{ CRDs string }
					ValuesFrom []any
					Values     map[string]any
				}
			}](text)
			assert.NilError(t, err)
			spec := r.Spec.Chart.Spec
			delete(r.Spec.Values, "kube-state-metrics") // of Flux's own objects
			sources[m.Metadata.Name] = spec.SourceRef.Name
			releases[m.Metadata.Name] = chartRelease{
				Chart: spec.Chart, Version: spec.Version, Name: r.Spec.ReleaseName, Namespace: m.Metadata.Namespace,
				SkipCRDs: r.Spec.Install.CRDs == "Skip", Published: len(r.Spec.ValuesFrom) > 0, Values: r.Spec.Values,
			}
		default:
			if strings.Contains(text, "monitoring.coreos.com") { // of Flux itself
				continue
			}
			out, err := variables.Evaluate(text)
			assert.NilError(t, err)
			addOwn(t, objects, out)
		}
	}
	for name, release := range releases {
		release.Repository = repositories[sources[name]]
		releases[name] = release
	}
	return releases, objects
}

// addOwn takes an object without what an engine reads in its annotations.
func addOwn(t *testing.T, objects map[string]map[string]any, text string) {
	t.Helper()
	object, err := manifest.Decode[map[string]any](text)
	assert.NilError(t, err)
	metadata := object["metadata"].(map[string]any)
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		for key := range annotations {
			if strings.Contains(key, "fluxcd.io") || strings.Contains(key, "argoproj.io") {
				delete(annotations, key)
			}
		}
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	objects[fmt.Sprint(object["kind"], " ", metadata["name"])] = object
}

// addonObjects are the manifests below addons.
func addonObjects(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(tree, "addons", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".yaml" {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			out = append(out, string(document))
		}
		return err
	})
	assert.NilError(t, err)
	return out
}

// argocdRelease is the release that an Application's first source is.
func argocdRelease(t *testing.T, app argocd.Application) chartRelease {
	t.Helper()
	from := app.Sources()[0]
	out := chartRelease{
		Repository: from.RepoURL, Chart: from.Chart, Version: from.TargetRevision,
		Name: from.Helm.ReleaseName, Namespace: app.Spec.Destination.Namespace, SkipCRDs: from.Helm.SkipCRDs,
		Published: from.Helm.Values != "" || from.Helm.ValuesObject != nil,
	}
	for _, file := range from.Helm.ValueFiles {
		text, err := os.ReadFile(strings.Replace(file, "$platform", "../platform/argocd", 1))
		if err != nil {
			continue // of an environment that has none
		}
		assert.NilError(t, sigsyaml.Unmarshal(text, &out.Values))
	}
	return out
}

// notOnAWS says that a release is of an addon that clusters on AWS do not have.
func notOnAWS(release string) bool {
	a := addon.Find(release)
	if a == nil {
		return false
	}
	_, not := a.NotOn[addon.AWS]
	return not
}

// TestBothEnginesReleaseTheSameOnAzure: of what clusters on AWS do not have, too, in both
// shapes, and both trees that are written for such a cluster hold.
func TestBothEnginesReleaseTheSameOnAzure(t *testing.T) {
	hub, err := config.Load("../config/testdata/good/azure-full.yaml")
	assert.NilError(t, err)
	hub.GitOps = config.GitOps{Engine: config.Flux, URL: "http://git.lab.test/platform.git", Branch: "main", Path: "clusters/azure-full"}
	flux := t.TempDir()
	_, err = scaffold.Write(flux, os.DirFS("../platform/flux"), []*config.Cluster{hub}, false)
	assert.NilError(t, err)
	addonsHold := func(found string) { // the reference's apps use what AWS has
		assert.Check(t, !strings.Contains(found, "tree/addons/") && !strings.Contains(found, "app-of-apps"), found)
	}
	addonsHold(check(t, os.DirFS(flux), []published.Set{published.To(hub, hub)}))

	hub.GitOps.Engine = config.ArgoCD
	apps := *hub
	apps.Name, apps.GitOps = "apps", config.GitOps{Engine: config.ArgoCD, Hub: hub.Name}
	apps.Labels = map[string]string{"shape": "app-of-apps"}
	clusters := []published.Set{published.To(hub, hub), published.To(&apps, hub)}
	dir := t.TempDir()
	_, err = scaffold.Write(dir, os.DirFS("../platform/argocd"), []*config.Cluster{hub, &apps}, false)
	assert.NilError(t, err)
	addonsHold(check(t, os.DirFS(dir), clusters))
	releases, _ := fluxReleases(t, substitution.Variables{Values: clusters[0].Examples(), Substituting: true})
	for i, p := range clusters {
		app, ok := applicationsIn(t, os.DirFS(dir), clusters, i)[p.Cluster+"-"+addon.ServiceOperator]
		assert.Assert(t, ok, "cluster %s has no Application of it", p.Cluster)
		assert.DeepEqual(t, argocdRelease(t, app), releases[addon.ServiceOperator])
	}
}

// TestBothEnginesReleaseTheSame holds the trees together: charts, versions,
// values, and the objects of the addons' own kinds.
func TestBothEnginesReleaseTheSame(t *testing.T) {
	clusters := fleetOfAll(t, "clusters/prod")
	clusters[1].Registration.Labels["environment"] = "dev"
	releases, _ := fluxReleases(t, substitution.Variables{Values: clusters[0].Examples(), Substituting: true})
	maps.DeleteFunc(releases, func(name string, _ chartRelease) bool { return notOnAWS(name) })
	for i, p := range clusters {
		applications := applicationsOf(t, clusters, i)
		for name, want := range releases {
			app, ok := applications[p.Cluster+"-"+name]
			if !ok {
				t.Errorf("cluster %s has no Application of %s", p.Cluster, name)
				continue
			}
			assert.Check(t, is.DeepEqual(want, argocdRelease(t, app)), "%v %v", name, p.Cluster)
		}
		if want := len(releases) + 1; len(applications) != want && i < 2 || i == 2 && len(applications) != want+1 {
			t.Errorf("cluster %s has %d applications, Flux %d releases", p.Cluster, len(applications), len(releases))
		}
	}
}

// TestRights: what the charts would let their pods do by default, and this tree does not.
// TestBothEnginesReleaseTheSame holds the other tree.
func TestRights(t *testing.T) {
	releases, _ := fluxReleases(t, substitution.Variables{Values: fleetOfAll(t, "clusters/prod")[0].Examples(), Substituting: true})
	for release, values := range map[string]map[string]any{
		// Secrets of all namespaces, and scaling every kind there is.
		"keda": {
			"permissions.operator.restrict.secret":     true,
			"permissions.metricServer.restrict.secret": true,
			"rbac.enabledCustomScaledRefKinds":         false,
		},
		// Secrets of all namespaces, in which rules might be.
		"loki": {"sidecar.rules.enabled": false},
	} {
		for path, want := range values {
			got, err := chartutil.Values(releases[release].Values).PathValue(path)
			assert.Check(t, err, path)
			assert.Check(t, is.Equal(got, want), path)
		}
	}
}

// TestKEDADefinitions: they stay when the release goes.
func TestKEDADefinitions(t *testing.T) {
	releases, _ := fluxReleases(t, substitution.Variables{Values: fleetOfAll(t, "clusters/prod")[0].Examples(), Substituting: true})
	definitions, err := chartutil.Values(releases["keda"].Values).Table("crds.additionalAnnotations")
	assert.NilError(t, err)
	assert.Check(t, is.Equal(definitions["helm.sh/resource-policy"], "keep"))
}

// TestBothEnginesMakeTheSame compares the objects that are no chart's.
func TestBothEnginesMakeTheSame(t *testing.T) {
	clusters := fleetOfAll(t, "clusters/prod")
	for i, p := range clusters {
		_, want := fluxReleases(t, substitution.Variables{Values: p.Examples(), Substituting: true})
		got := map[string]map[string]any{}
		for _, app := range applicationsOf(t, clusters, i) {
			for _, from := range app.Sources() {
				if !strings.HasSuffix(from.Path, "/resources") {
					continue
				}
				for _, text := range rendered(t, app, from) {
					if !strings.Contains(text, "monitoring.coreos.com") { // of Argo CD itself
						addOwn(t, got, text)
					}
				}
			}
		}
		assert.Check(t, is.DeepEqual(got, want))
	}
}

// rendered are the objects of a chart of the tree, whose values come with its
// Application alone.
func rendered(t *testing.T, app argocd.Application, from argocd.Source) []string {
	t.Helper()
	if from.Helm == nil {
		from.Helm = &argocd.Helm{}
	}
	assert.Assert(t, len(from.Helm.ValueFiles) == 0, "%s has values in files", app.Metadata.Name)
	c, _, err := helm.Load(treetest.Index(t, os.DirFS("../platform/argocd")), from.Path)
	assert.NilError(t, err)
	values, err := helm.Overlay(nil, from.Helm.Values)
	assert.NilError(t, err)
	values = chartutil.CoalesceTables(from.Helm.ValuesObject, values)
	assert.NilError(t, helm.Set(values, from.Helm.Parameters))
	texts, err := helm.Render(c, app.Metadata.Name, app.Spec.Destination.Namespace, values, true)
	assert.NilError(t, err)
	return texts
}

// TestOrderOfValuesDoesNotMatter: Flux lays values in Git over those of the
// infrastructure, Argo CD the other way round.
func TestOrderOfValuesDoesNotMatter(t *testing.T) {
	full, err := config.Load("../clusters/full.yaml")
	assert.NilError(t, err)
	for _, a := range full.Addons.Enabled() {
		text, err := os.ReadFile(path.Join("../platform/argocd/addons", a.Name, "values.yaml"))
		if !a.HasValues() || err != nil {
			continue
		}
		both := func(overGit bool) map[string]any {
			git, err := manifest.Decode[map[string]any](string(text))
			assert.NilError(t, err)
			encoded, err := sigsyaml.Marshal(a.Values(full.AddonFacts(), a.Options, addon.Outputs{}))
			assert.NilError(t, err)
			published, err := manifest.Decode[map[string]any](string(encoded))
			assert.NilError(t, err)
			if overGit {
				return chartutil.CoalesceTables(published, git)
			}
			return chartutil.CoalesceTables(git, published)
		}
		assert.Check(t, is.DeepEqual(both(false), both(true)), a.Name)
	}
}

// TestStagesOfFlux: each stage waits for the one before, which is ready when all in it is.
func TestStagesOfFlux(t *testing.T) {
	var before []string
	for _, stage := range append(addon.Stages(), "apps") {
		text, err := os.ReadFile(path.Join("../platform/flux/clusters/base", string(stage)+".yaml"))
		assert.NilError(t, err)
		var k struct {
			Spec struct {
				DependsOn []struct{ Name string }
				Wait      bool
			}
		}
		assert.NilError(t, sigsyaml.Unmarshal(text, &k))
		var waits []string
		for _, d := range k.Spec.DependsOn {
			waits = append(waits, d.Name)
		}
		assert.Check(t, is.DeepEqual(waits, before), string(stage))
		assert.Check(t, k.Spec.Wait, "%s is ready before what is in it", stage)
		before = []string{string(stage)}
	}
}

// TestLogsAreCollectedByLabel: an Application for each labelled cluster, and the cluster's name as a
// parameter of it; values that are published have the name, too.
func TestLogsAreCollectedByLabel(t *testing.T) {
	const name = "config.clients[0].external_labels.cluster"
	fleet := fleetOfAll(t, "clusters/prod")
	promtail := applicationsOf(t, fleet, 1)["sets-promtail"]
	assert.Assert(t, len(promtail.Sources()) > 0 && promtail.Sources()[0].Helm != nil, "sets has no Promtail")
	i := slices.IndexFunc(promtail.Sources()[0].Helm.Parameters, func(p helm.Parameter) bool { return p.Name == name })
	assert.Assert(t, i >= 0, "it has no parameter %s", name)
	assert.Equal(t, promtail.Sources()[0].Helm.Parameters[i].Value, "sets")
	delete(fleet[1].Registration.Labels, "logging")
	for app := range applicationsOf(t, fleet, 1) {
		assert.Check(t, app != "sets-promtail" && app != "sets-alloy", "%s is there without the label", app)
	}
}

// TestWaves holds the order of the app of apps to the catalogue: to its stages,
// to what an addon requires, and to the reference systems.
func TestWaves(t *testing.T) {
	waves := map[string]int{}
	definitions := map[string]int{}
	for name, app := range applicationsOf(t, fleetOfAll(t, "clusters/prod"), 2) {
		var wave int
		if _, err := fmt.Sscan(app.Metadata.Annotations["argocd.argoproj.io/sync-wave"], &wave); err != nil {
			continue // not of the app of apps
		}
		name = strings.TrimPrefix(name, "apps-")
		if a := app.Metadata.Labels[names.AddonLabel]; len(app.Metadata.Finalizers) > 0 {
			if before, ok := waves[a]; !ok || before < wave { // the last of its releases
				waves[a] = wave
			}
		} else {
			definitions[name] = wave
		}
	}
	for name, want := range map[string]int{
		"external-dns": -2, "external-secrets": -2, "ingress-nginx": -1, "kube-prometheus-stack": 0, "aws-efs-csi-driver": 0,
	} {
		assert.Check(t, waves[name] == want, "%s is in wave %d, want %d", name, waves[name], want)
	}
	for name, wave := range definitions {
		assert.Check(t, wave == -5, "definitions of %s are in wave %d, want -5", name, wave)
	}
	last := -6
	for _, stage := range addon.Stages() {
		here := last
		for _, a := range addon.All() {
			wave, released := waves[a.Name]
			if a.Stage != stage || !released {
				continue
			}
			if here = max(here, wave); wave <= last {
				t.Errorf("%s of stage %s is in wave %d, not after %d", a.Name, stage, wave, last)
			}
			for _, other := range slices.Concat(a.Required(addon.AWS), a.Required(addon.Azure)) {
				if before, ok := waves[other]; ok && before >= wave {
					t.Errorf("%s is in wave %d, and requires %s of wave %d", a.Name, wave, other, before)
				}
			}
		}
		last = here
	}
	assert.Check(t, len(definitions) >= 4 && slices.Contains(addon.Stages(), addon.Others), "definitions: %v", definitions)
}

// TestGatewayByCloud: the one Gateway of the trees has what bootstrap publishes for a cloud in
// its place, as mappings. TestBothEnginesMakeTheSame holds the other tree.
func TestGatewayByCloud(t *testing.T) {
	const probe = "service.beta.kubernetes.io/port_443_health-probe_port"
	for _, c := range []struct {
		file, protocol string
		tls            any
		probe          any
	}{
		{file: "../clusters/full.yaml", protocol: "HTTP"},
		{
			file: "../config/testdata/good/azure-full.yaml", protocol: "HTTPS", probe: "15021",
			tls: map[string]any{"mode": "Terminate", "certificateRefs": []any{map[string]any{"name": "public-tls"}}},
		},
	} {
		cluster, err := config.Load(c.file)
		assert.NilError(t, err)
		values := fleetOfAll(t, "clusters/prod")[0].Examples()
		for _, k := range addon.Find("istio").Keys() {
			values[k.Name] = k.Value(cluster.AddonFacts(), cluster.Addons["istio"], addon.Outputs{Certificate: "arn:aws:acm:eu-central-1:111122223333:certificate/1"})
		}
		_, objects := fluxReleases(t, substitution.Variables{Values: values, Substituting: true})
		spec := objects["Gateway public"]["spec"].(map[string]any)
		listeners := spec["listeners"].([]any)
		https := listeners[len(listeners)-1].(map[string]any)
		annotations := spec["infrastructure"].(map[string]any)["annotations"].(map[string]any)
		assert.Equal(t, https["protocol"], c.protocol, c.file)
		assert.DeepEqual(t, https["tls"], c.tls)
		assert.Equal(t, annotations[probe], c.probe, c.file)
		assert.Equal(t, annotations["service.beta.kubernetes.io/aws-load-balancer-ssl-cert"] != nil, c.protocol == "HTTP", c.file)
	}
}
