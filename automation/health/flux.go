package health

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"tombolo/automation/kube"
	"tombolo/config/addon"
	"tombolo/internal/names"
)

// fluxNamespace is where bootstrap puts Flux and its sync objects.
const fluxNamespace = "flux-system"

// The groups of Flux's API.
const (
	sourceGroup    = "source.toolkit.fluxcd.io"
	kustomizeGroup = "kustomize.toolkit.fluxcd.io"
	helmGroup      = "helm.toolkit.fluxcd.io"
	secretsGroup   = "external-secrets.io"
	secretStore    = "SecretStore"
	clusterStore   = "ClusterSecretStore"
	externalSecret = "ExternalSecret"
)

// fluxKinds are the kinds that verify looks at, causes before effects.
var fluxKinds = []schema.GroupKind{
	{Group: sourceGroup, Kind: "GitRepository"},
	{Group: sourceGroup, Kind: "OCIRepository"},
	{Group: sourceGroup, Kind: "Bucket"},
	{Group: sourceGroup, Kind: "HelmRepository"},
	{Group: sourceGroup, Kind: "HelmChart"},
	{Group: kustomizeGroup, Kind: "Kustomization"},
	{Group: helmGroup, Kind: "HelmRelease"},
	// Flux waits for it when it applies it, and does not see that a secret cannot be
	// fetched any more.
	{Group: secretsGroup, Kind: secretStore},
	{Group: secretsGroup, Kind: clusterStore},
	{Group: secretsGroup, Kind: externalSecret},
}

// flux is Flux, which works on the cluster that it is in. With others, it works for others,
// too, whose objects are theirs to look after. monitoring are the addons of the cluster's label.
type flux struct {
	others     bool
	monitoring []string
}

func (flux) name() string { return "Flux" }

func (f flux) look(ctx context.Context, k kube.Cluster) (*platform, error) {
	objects, err := k.List(ctx, fluxKinds)
	if err != nil {
		return nil, err
	}
	p := newPlatform(f, objects)
	if f.others {
		p.only(ref{Kind: "Kustomization", Namespace: fluxNamespace, Name: platformName})
	}
	// A store that nothing reads from holds nobody up: what it is refused is told where a secret waits for it.
	p.order = slices.DeleteFunc(p.order, func(r ref) bool { return r.Kind == secretStore || r.Kind == clusterStore })
	f.setApart(p)
	p.readRefusals(ctx, k)
	return p, nil
}

func (flux) repository() ref {
	return ref{Kind: "GitRepository", Namespace: fluxNamespace, Name: platformName}
}

// missing says whether there is a platform at all, and which addons of the label monitoring no HelmRelease
// is of.
func (f flux) missing(p *platform) []Check {
	for _, r := range p.order {
		if r.Kind == "Kustomization" {
			return unreleased(f, p, f.monitoring, func(o *unstructured.Unstructured, addon string) bool {
				return o.GetKind() == "HelmRelease" && isReleaseOf(o, addon)
			})
		}
	}
	return []Check{{
		Kind: "Kustomization", Namespace: fluxNamespace, Name: platformName, Message: "there is no Kustomization",
	}}
}

// check judges one object.
func (f flux) check(p *platform, o *unstructured.Unstructured) Check {
	c := Check{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), Revision: revision(o)}
	ready, found := condition(o, "Ready")
	c.Message, c.Since = ready.Message, ready.LastTransitionTime.Time
	switch {
	case suspended(o):
		c.Message = "is suspended: resume it"
	case static(o):
		c.Ready, c.Message = true, "needs no reconciliation"
	case !found:
		c.Message = "not reconciled yet: is its controller running?"
	case behind(o, ready):
		c.Message = "its latest change is not reconciled yet"
	case ready.Status != "True":
		c.Message = f.unready(p, o, ready)
	case asked(o):
		c.Message = "was asked to reconcile now and has not yet"
	default:
		c.Ready = true
		if expected, ok := f.expected(p, o); ok && c.Revision != expected {
			c.Ready = false
			c.Message = fmt.Sprintf("is at revision %s, and its source at %s", orNone(c.Revision), expected)
		}
	}
	return c
}

// revision that an object has applied, or a source has fetched.
func revision(o *unstructured.Unstructured) string {
	paths := map[string][]string{
		"Kustomization": {"status", "lastAppliedRevision"},
		"HelmRelease":   {"status", "lastAttemptedRevision"},
	}
	path, ok := paths[o.GetKind()]
	if !ok {
		path = []string{"status", "artifact", "revision"}
	}
	return kube.Text(o, path...)
}

// expected is the revision of the source that a Kustomization or HelmRelease
// should be at, where the two can be compared.
func (flux) expected(p *platform, o *unstructured.Unstructured) (string, bool) {
	var source ref
	switch o.GetKind() {
	case "Kustomization":
		source, _ = sourceRef(o, "spec", "sourceRef")
	case "HelmRelease":
		// A chart from an OCIRepository is recorded in another form there.
		namespace, name, ok := strings.Cut(kube.Text(o, "status", "helmChart"), "/")
		if !ok {
			return "", false
		}
		source = ref{Kind: "HelmChart", Namespace: namespace, Name: name}
	default:
		return "", false
	}
	s, ok := p.objects[source]
	if !ok {
		return "", false
	}
	r := revision(s)
	return r, r != ""
}

// sourceRef reads a reference whose namespace defaults to the object's own.
func sourceRef(o *unstructured.Unstructured, path ...string) (ref, bool) {
	m, ok, err := unstructured.NestedStringMap(o.Object, path...)
	if !ok || err != nil || m["name"] == "" {
		return ref{}, false
	}
	return ref{Kind: m["kind"], Namespace: cmp.Or(m["namespace"], o.GetNamespace()), Name: m["name"]}, true
}

// needs lists what an object waits for: a Kustomization for its source, for the
// Kustomizations that it depends on, and for what it applied itself.
func (flux) needs(o *unstructured.Unstructured) []ref {
	var out []ref
	for _, path := range [][]string{
		{"spec", "sourceRef"},                  // Kustomization, HelmChart
		{"spec", "chartRef"},                   // HelmRelease
		{"spec", "chart", "spec", "sourceRef"}, // HelmRelease
	} {
		if r, ok := sourceRef(o, path...); ok {
			out = append(out, r)
		}
	}
	if namespace, name, ok := strings.Cut(kube.Text(o, "status", "helmChart"), "/"); ok {
		out = append(out, ref{Kind: "HelmChart", Namespace: namespace, Name: name})
	}
	if o.GetKind() == externalSecret {
		out = append(out, storeOf(o))
	}
	return append(append(out, dependsOn(o)...), applied(o)...)
}

func dependsOn(o *unstructured.Unstructured) []ref {
	var out []ref
	for _, m := range entries(o, "spec", "dependsOn") {
		name, _ := m["name"].(string)
		namespace, _ := m["namespace"].(string)
		if name != "" {
			out = append(out, ref{Kind: o.GetKind(), Namespace: cmp.Or(namespace, o.GetNamespace()), Name: name})
		}
	}
	return out
}

// applied lists the objects of Flux and the ExternalSecrets that a Kustomization made, from its
// inventory of "namespace_name_group_kind".
func applied(o *unstructured.Unstructured) []ref {
	var out []ref
	for _, m := range entries(o, "status", "inventory", "entries") {
		id, _ := m["id"].(string)
		parts := strings.Split(id, "_")
		if len(parts) != 4 || parts[3] != externalSecret && !strings.HasSuffix(parts[2], ".toolkit.fluxcd.io") {
			continue
		}
		out = append(out, ref{Kind: parts[3], Namespace: parts[0], Name: parts[1]})
	}
	return out
}

// requestedAt is the annotation by which Flux is asked to reconcile an object
// now, and not at its next interval; `flux reconcile` sets it too.
const requestedAt = "reconcile.fluxcd.io/requestedAt"

// fetch sets the annotation. A repository that does not exist is left for
// verify to miss.
func (f flux) fetch(ctx context.Context, k kube.Cluster, at time.Time, again bool) error {
	repositories, err := repositoriesOf(k)
	if meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	o, err := repositories.Get(ctx, platformName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	// Flux notes the request that it began with: another one meanwhile would be open at its end.
	if again && (asked(o) || f.check(newPlatform(f, nil), o).Ready) {
		return nil
	}
	request := &unstructured.Unstructured{}
	request.SetGroupVersionKind(o.GroupVersionKind())
	request.SetNamespace(o.GetNamespace())
	request.SetName(o.GetName())
	request.SetAnnotations(map[string]string{requestedAt: at.UTC().Format(time.RFC3339Nano)})
	_, err = repositories.Apply(ctx, platformName, request, metav1.ApplyOptions{FieldManager: fetchManager, Force: true})
	return err
}

func repositoriesOf(k kube.Cluster) (dynamic.ResourceInterface, error) {
	mapper, err := k.Mapper()
	if err != nil {
		return nil, err
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: sourceGroup, Kind: "GitRepository"})
	if err != nil {
		return nil, fmt.Errorf("find kind GitRepository: %w", err)
	}
	return k.Client.Resource(mapping.Resource).Namespace(fluxNamespace), nil
}

// asked says that Flux was asked to reconcile the object and has not yet.
func asked(o *unstructured.Unstructured) bool {
	at := o.GetAnnotations()[requestedAt]
	return at != "" && at != kube.Text(o, "status", "lastHandledReconcileAt")
}

// behind says that the status is about an older generation of the object. A failure says itself which one
// it is about: source-controller writes status.observedGeneration when it has succeeded, or has given up.
// https://github.com/fluxcd/source-controller/blob/v1.9.3/internal/reconcile/reconcile.go ("ComputeReconcileResult")
func behind(o *unstructured.Unstructured, ready metav1.Condition) bool {
	if ready.Status == "False" && ready.ObservedGeneration == o.GetGeneration() {
		return false
	}
	observed, ok, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	if ok && observed >= 0 && observed < o.GetGeneration() {
		return true
	}
	return ready.ObservedGeneration > 0 && ready.ObservedGeneration < o.GetGeneration()
}

func suspended(o *unstructured.Unstructured) bool {
	s, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend")
	return s
}

// static objects have no status: an OCI HelmRepository is only an address.
func static(o *unstructured.Unstructured) bool {
	return o.GetKind() == "HelmRepository" && kube.Text(o, "spec", "type") == "oci"
}

func (flux) releases(ctx context.Context, k kube.Cluster, addons []string) ([]string, error) {
	return releasesOf(ctx, k, addons)
}

// releasesOf lists the HelmReleases of the addons: those that carry an addon's
// label, and those that take its values.
func releasesOf(ctx context.Context, k kube.Cluster, addons []string) ([]string, error) {
	releases, err := k.List(ctx, []schema.GroupKind{{Group: helmGroup, Kind: "HelmRelease"}})
	if err != nil {
		return nil, err
	}
	var found []string
	for i := range releases {
		if o := &releases[i]; slices.ContainsFunc(addons, func(name string) bool { return isReleaseOf(o, name) }) {
			found = append(found, refOf(o).String())
		}
	}
	return found, nil
}

func isReleaseOf(release *unstructured.Unstructured, name string) bool {
	if release.GetLabels()[names.AddonLabel] == name {
		return true
	}
	a := addon.Find(name)
	if a == nil || a.Namespace != release.GetNamespace() {
		return false
	}
	return slices.ContainsFunc(entries(release, "spec", "valuesFrom"), func(source map[string]any) bool {
		return source["kind"] == "ConfigMap" && source["name"] == a.ValuesName()
	})
}
