package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"tombolo/components/distribution"
	"tombolo/internal/names"
	"tombolo/internal/wording"
	"tombolo/stacks/handoff"
)

// This file takes over a Flux that others have installed. See ADR 39.
//
// Who applies Flux, and goes on doing so, keeps it: its own Kustomization, as `flux
// bootstrap` sets it up. Then bootstrap adds what Flux is to follow, and changes nothing of
// it. A Flux that nobody applies any more becomes the distribution of the cluster file. All
// else is refused, with the reason.

const (
	partLabel    = "app.kubernetes.io/part-of"
	versionLabel = "app.kubernetes.io/version"
	// managedByLabel is Helm's and that of operators, and releaseAnnotation Helm's:
	// https://github.com/helm/helm/blob/v3.18.4/pkg/action/validate.go
	managedByLabel    = "app.kubernetes.io/managed-by"
	releaseAnnotation = "meta.helm.sh/release-name"
	// fluxOperator is the definition of the Flux Operator:
	// https://fluxoperator.dev/docs/crd/fluxinstance
	fluxOperator = "fluxinstances.fluxcd.controlplane.io"
	// fluxNamespaceLabel has, beside names.FluxLabel, the namespace of the Kustomization that
	// applied an object: "garbage collection" in
	// https://fluxcd.io/flux/components/kustomize/kustomizations/
	fluxNamespaceLabel = "kustomize.toolkit.fluxcd.io/namespace"
	// tenantAccount is a flag of controllers: for objects that name no service account, they
	// work as this one. "Enforcing impersonation" in
	// https://fluxcd.io/flux/components/kustomize/kustomizations/
	tenantAccount = "--default-service-account="
)

// strictSince is the first Flux that refuses a variable without a value by itself.
// https://fluxcd.io/blog/2026-06-30-announcing-flux-v2.9.0
const strictSince = "v2.9.0"

// noEvents is the flag of controllers in a release without notification-controller. With
// one, they are told where it is.
const noEvents = "--events-addr="

// fluxControllers are those that the platform tree needs.
var fluxControllers = []string{"source-controller", "kustomize-controller", "helm-controller"}

// syncResources are what tells Flux to follow the platform: names.Platform in Flux's
// namespace is ours.
var syncResources = []schema.GroupVersionResource{
	{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "gitrepositories"},
	{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"},
}

// taken is an engine that was there before.
type taken struct {
	// version of it, such as v2.7.5.
	version string
	// keeper applies it from Git: "Kustomization flux-system/flux-system"; "" when nobody
	// applies it any more.
	keeper string
	// ended are versions of its API that the distribution no longer has.
	ended []string
}

// takeOver fails when the engine cannot be taken over, and says what becomes of it
// otherwise.
func (p *program) takeOver(e engine, kubeconfig string) error {
	manifest, err := manifestOf(p.ctx.Context(), e.product, p.c)
	if err != nil {
		return err
	}
	objects, err := e.product.Parse(manifest)
	if err != nil {
		return err
	}
	found, err := e.inspect(p.ctx.Context(), kubeconfig, p.o.Env)
	if err != nil {
		return err
	}
	wanted := p.c.GitOps.Distribution.Version
	if p.taken, err = e.judge(found, wanted, objects); err != nil {
		return fmt.Errorf("take over the %s of the existing cluster: %w; nothing was made", e.product.Name, err)
	}
	p.takenOver, p.lenient = true, semver.Compare(p.taken.version, strictSince) < 0
	if err := p.ctx.Log.Warn(p.taken.becomes(e.product.Name, wanted), nil); err != nil || len(p.taken.ended) == 0 {
		return err
	}
	return p.ctx.Log.Warn(fmt.Sprintf("%s %s no longer has %s: have who owns manifests that name such a version change them first, in Git: afterwards they do not apply",
		e.product.Name, wanted, wording.And(p.taken.ended)), nil)
}

// becomes says what becomes of the engine.
func (t taken) becomes(engine, wanted string) string {
	switch {
	case t.keeper != "":
		return fmt.Sprintf("the existing cluster has %s %s, which %s applies from Git: it stays with Git, and only what it is to follow is added", engine, t.version, t.keeper)
	case semver.Compare(t.version, wanted) < 0:
		return fmt.Sprintf("the existing cluster has %s %s, which is taken over and upgraded to %s; a destruction leaves it there", engine, t.version, wanted)
	}
	return fmt.Sprintf("the existing cluster has %s %s, which is taken over; a destruction leaves it there", engine, t.version)
}

// found is what a cluster has of an engine.
type found struct {
	// operator says that the Flux Operator is there.
	operator bool
	// controllers are the engine's Deployments, in all namespaces.
	controllers []unstructured.Unstructured
	// definitions of custom resources that the engine brought.
	definitions []unstructured.Unstructured
	// sync are objects of the names that ours have.
	sync []unstructured.Unstructured
}

// inspect reads what the cluster has of the engine.
func (e engine) inspect(ctx context.Context, kubeconfig string, env map[string]string) (found, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	cfg, err := handoff.RESTConfig([]byte(kubeconfig), env)
	if err != nil {
		return found{}, err
	}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return found{}, fmt.Errorf("make Kubernetes client: %w", err)
	}
	var out found
	out.operator, err = there(ctx, client.Resource(definitionsResource), fluxOperator, nil)
	for _, list := range []struct {
		of   schema.GroupVersionResource
		into *[]unstructured.Unstructured
	}{
		{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, &out.controllers},
		{definitionsResource, &out.definitions},
	} {
		if err != nil {
			break
		}
		var all *unstructured.UnstructuredList
		if all, err = client.Resource(list.of).List(ctx, metav1.ListOptions{LabelSelector: partLabel + "=flux"}); err == nil {
			*list.into = all.Items
		}
	}
	for _, resource := range syncResources {
		if err == nil {
			_, err = there(ctx, client.Resource(resource).Namespace(e.product.Namespace), names.Platform, &out.sync)
		}
	}
	if err != nil {
		return found{}, e.unanswered(err, cfg.Host)
	}
	return out, nil
}

// there says whether an object is, and adds it to all.
func there(ctx context.Context, client dynamic.ResourceInterface, name string, all *[]unstructured.Unstructured) (bool, error) {
	o, err := client.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err == nil && all != nil {
		*all = append(*all, *o)
	}
	return err == nil, err
}

// judge says what the engine is, or why it is not taken over.
func (e engine) judge(f found, wanted string, objects []distribution.Object) (taken, error) {
	if f.operator {
		return taken{}, errors.New("the Flux Operator manages it, and would undo what Tombolo changes; leave the cluster to it, or have its owner remove the operator and its definition " + fluxOperator)
	}
	if len(f.controllers) == 0 {
		return taken{}, fmt.Errorf("its definitions are there, and no Deployment has the label %s: flux; have its owner remove the definitions, or install it in %s", partLabel, e.product.Namespace)
	}
	var t taken
	for _, c := range f.controllers {
		version, keeper := c.GetLabels()[versionLabel], keeperOf(c)
		switch {
		case c.GetNamespace() != e.product.Namespace:
			return t, fmt.Errorf("it is in the namespace %s, and Tombolo's is in %s; leave the cluster to it", c.GetNamespace(), e.product.Namespace)
		case c.GetAnnotations()[releaseAnnotation] != "" || c.GetLabels()[managedByLabel] != "":
			return t, fmt.Errorf("its Deployment %s is managed by %s, which would undo what Tombolo changes, or delete it; leave the cluster to it, or have its owner set it up by `flux bootstrap`",
				c.GetName(), managerOf(c))
		case !semver.IsValid(version):
			return t, fmt.Errorf("its Deployment %s has no version in its label %s; have its owner install a release of it", c.GetName(), versionLabel)
		case t.version != "" && (version != t.version || keeper != t.keeper):
			return t, fmt.Errorf("its Deployments are of different versions (%s and %s), or not all applied from Git; have its owner finish the upgrade first", t.version, version)
		}
		t.version, t.keeper = version, keeper
	}
	if err := t.versionProblem(wanted); err != nil {
		return t, err
	}
	if t.keeper != "" {
		return t, errors.Join(keptProblem(f), nameProblem(f))
	}
	t.ended = endedVersions(f, objects)
	return t, errors.Join(argsProblem(f, objects), storedProblem(f, objects), nameProblem(f))
}

// endedVersions are the versions, such as source.toolkit.fluxcd.io/v1beta2, that the API
// server has of the engine's definitions, and will not have of the distribution's.
func endedVersions(f found, objects []distribution.Object) []string {
	var out []string
	for _, o := range objects {
		i := slices.IndexFunc(f.definitions, func(d unstructured.Unstructured) bool { return o.Is("CustomResourceDefinition", d.GetName()) })
		if i < 0 {
			continue
		}
		group, _, _ := unstructured.NestedString(f.definitions[i].Object, "spec", "group")
		versions, _, _ := unstructured.NestedSlice(f.definitions[i].Object, "spec", "versions")
		for _, v := range versions {
			version, _ := v.(map[string]any)
			name := distribution.Object(version).Text("name")
			if served, _ := version["served"].(bool); served && !slices.Contains(versionsOf(o), name) {
				out = append(out, group+"/"+name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// keeperOf is the Kustomization that applies a controller.
func keeperOf(controller unstructured.Unstructured) string {
	name := controller.GetLabels()[names.FluxLabel]
	if name == "" {
		return ""
	}
	return fmt.Sprintf("Kustomization %s/%s", controller.GetLabels()[fluxNamespaceLabel], name)
}

func managerOf(controller unstructured.Unstructured) string {
	if release := controller.GetAnnotations()[releaseAnnotation]; release != "" {
		return "the Helm release " + release
	}
	return controller.GetLabels()[managedByLabel]
}

// versionProblem refuses a downgrade, and a major version that upstream has no upgrade to.
// Where Git keeps the engine, both have to be of one minor version: the platform tree is
// checked against that of the file.
func (t taken) versionProblem(wanted string) error {
	const remedy = "; name its version in gitops.distribution, with the checksum of that release"
	switch {
	case semver.Major(t.version) != semver.Major(wanted):
		return fmt.Errorf("it is %s, another major version than %s of the cluster file%s", t.version, wanted, remedy)
	case t.keeper != "" && semver.MajorMinor(t.version) != semver.MajorMinor(wanted):
		return fmt.Errorf("it is %s, which %s applies from Git, and the cluster file has %s%s, or change it in Git first", t.version, t.keeper, wanted, remedy)
	case t.keeper == "" && semver.Compare(t.version, wanted) > 0:
		return fmt.Errorf("it is %s, newer than %s of the cluster file, and would be downgraded%s", t.version, wanted, remedy)
	}
	return nil
}

// keptProblem refuses an engine in Git that cannot work for the platform as it is.
func keptProblem(f found) error {
	var missing []string
	for _, name := range fluxControllers {
		i := slices.IndexFunc(f.controllers, func(c unstructured.Unstructured) bool { return c.GetName() == name })
		if i < 0 {
			missing = append(missing, name)
			continue
		}
		for _, arg := range argsOf(f.controllers[i].Object) {
			if strings.HasPrefix(arg, tenantAccount) {
				return fmt.Errorf("its %s has the flag %s: what Tombolo adds would be applied as that account, which has no rights; leave the cluster to it", name, arg)
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("it has no %s, which the platform tree needs; have its owner add it in Git", wording.And(missing))
	}
	return nil
}

// argsProblem refuses controllers whose flags the distribution would take away: such a flag
// may be what keeps tenants apart.
func argsProblem(f found, objects []distribution.Object) error {
	ours := map[string][]string{}
	for _, o := range objects {
		if o.Kind() == "Deployment" {
			ours[o.Meta("name")] = argsOf(o)
		}
	}
	for _, c := range f.controllers {
		wanted, replaced := ours[c.GetName()]
		for _, arg := range argsOf(c.Object) {
			if arg == noEvents {
				continue
			}
			if replaced && !slices.Contains(wanted, arg) {
				return fmt.Errorf("its %s has the flag %s, which the distribution of the cluster file has not, and would lose it; "+
					"name a manifest with that flag in gitops.distribution.path, or have its owner set it up by `flux bootstrap`", c.GetName(), arg)
			}
		}
	}
	return nil
}

// argsOf are the flags of a Deployment's first container.
func argsOf(deployment map[string]any) []string {
	list, _, _ := unstructured.NestedFieldNoCopy(deployment, "spec", "template", "spec", "containers")
	containers, _ := list.([]any)
	if len(containers) == 0 {
		return nil
	}
	container, _ := containers[0].(map[string]any)
	args, _ := container["args"].([]any)
	out := make([]string, 0, len(args))
	for _, a := range args {
		out = append(out, fmt.Sprint(a))
	}
	return out
}

// storedProblem refuses definitions that the API server would not take: objects are stored
// in a version that the distribution's definition lacks. See
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
// "Upgrade existing objects to a new stored version".
func storedProblem(f found, objects []distribution.Object) error {
	for _, o := range objects {
		i := slices.IndexFunc(f.definitions, func(d unstructured.Unstructured) bool { return o.Is("CustomResourceDefinition", d.GetName()) })
		if i < 0 {
			continue
		}
		served := versionsOf(o)
		stored, _, _ := unstructured.NestedStringSlice(f.definitions[i].Object, "status", "storedVersions")
		for _, version := range stored {
			if !slices.Contains(served, version) {
				return fmt.Errorf("objects of %s are stored as %s, which the distribution of the cluster file no longer has; "+
					"have its owner run `flux migrate`, or name an older version in gitops.distribution", o.Meta("name"), version)
			}
		}
	}
	return nil
}

// versionsOf a definition.
func versionsOf(definition distribution.Object) []string {
	spec, _ := definition["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	var out []string
	for _, v := range versions {
		version, _ := v.(map[string]any)
		out = append(out, distribution.Object(version).Text("name"))
	}
	return out
}

// nameProblem refuses to take objects of others for those that an earlier run has made.
func nameProblem(f found) error {
	for _, o := range f.sync {
		if o.GetAnnotations()[distribution.PatchForce] == "" {
			return fmt.Errorf("the cluster has a %s %s/%s, which is the name of Tombolo's; have its owner give it another name", o.GetKind(), o.GetNamespace(), o.GetName())
		}
	}
	return nil
}
