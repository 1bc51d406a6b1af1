package argocd

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/check/builtin"
	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/names"
)

// inCluster is the name of the hub's own cluster, whatever is registered.
const inCluster = "in-cluster"

// validRef is a name by which values files refer to a source. Source: GetRefSources in util/argo/argo.go of
// argoproj/argo-cd v3.5.
var validRef = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// checkApplication reports what the API or Argo CD refuse of an Application, whatever its source has.
// Source: GetDestinationCluster in util/argo/argo.go of argoproj/argo-cd v3.5.
func (w *Walk) checkApplication(in *walk.Origin, app Application) {
	to, name := app.Spec.Destination, app.Metadata.Name
	refused := func(field, value, message, remedy string) {
		w.referApplication(in, app, field, value, finding.Errorf("%s %s", w.named(app), message).WithRemedy(remedy))
	}
	_, generated := w.from[app.object()] // others are looked at with all objects
	if generated && !strings.Contains(name, manifest.Unset) {
		if p, wrong := builtin.RefusedName(schema.GroupVersionKind{Group: group}, name); wrong {
			refused("metadata.name", name, p.Message+": the API refuses it", p.Remedy)
		}
	}
	w.checkNamespace(in, app)
	if app.Spec.Source == nil && len(app.Spec.Sources) == 0 && len(app.Spec.SourceHydrator) == 0 {
		refused("metadata.name", name, "has no source", "set spec.source or spec.sources")
	}
	for _, from := range app.Sources() {
		if message, remedy := from.lacks(len(app.Spec.Sources) > 0); message != "" {
			refused("metadata.name", name, message, remedy)
		}
	}
	for i, from := range app.Spec.Sources {
		switch ref := from.Ref; {
		case ref == "":
		case !validRef.MatchString(ref):
			w.referSource(in, app, "ref", ref, finding.Errorf("%s has a source with the ref %q, which Argo CD refuses", w.named(app), ref).
				WithRemedy("use letters, digits, _ and -"))
		case slices.ContainsFunc(app.Spec.Sources[:i], func(s Source) bool { return s.Ref == ref }):
			w.referSource(in, app, "ref", ref, finding.Errorf("%s has two sources with the ref %q, which Argo CD refuses", w.named(app), ref).
				WithRemedy("give each source a ref of its own"))
		}
	}
	switch {
	case to.Name == "" && to.Server == "":
		refused("metadata.name", name, "has no cluster as its destination, which Argo CD refuses", "set spec.destination.name or spec.destination.server")
	case to.Name != "" && to.Server != "":
		refused("spec.destination.name", to.Name, "has both a name and a server as its destination, which Argo CD refuses", "remove one of them")
	default:
		w.checkDestination(in, app)
	}
}

// lacks is what Argo CD does not find in a source, of several or of one.
// Source: validateSourcePermissions in util/argo/argo.go of argoproj/argo-cd v3.5.
func (s Source) lacks(several bool) (message, remedy string) {
	switch {
	case s.RepoURL == "":
		return "has a source without repoURL, which Argo CD refuses", "add repoURL"
	case s.Path == "" && s.Chart == "" && (s.Ref == "" || !several):
		return "has a source without path and chart, which Argo CD refuses", "add path; . is the whole repository"
	case s.Chart != "" && s.TargetRevision == "":
		return "has a chart without targetRevision, which Argo CD refuses", "add the chart's version as targetRevision"
	}
	return "", ""
}

// checkNamespace warns of an Application that Argo CD does not look at. The tree could change which namespaces it looks at.
// Source: docs/operator-manual/app-any-namespace.md of argoproj/argo-cd.
func (w *Walk) checkNamespace(in *walk.Origin, app Application) {
	if of := app.Metadata.Namespace; of == "" || of == names.ArgoCDNamespace {
		return
	}
	w.referApplication(in, app, "metadata.namespace", app.Metadata.Namespace, finding.Warningf(
		"%s is in the namespace %s: Argo CD looks at Applications in %s alone, unless its application.namespaces names others",
		w.named(app), app.Metadata.Namespace, names.ArgoCDNamespace).WithRemedy("set metadata.namespace: "+names.ArgoCDNamespace+", or remove it"))
}

// checkDestination warns of a cluster that no cluster file registers.
func (w *Walk) checkDestination(in *walk.Origin, app Application) {
	to := app.Spec.Destination
	known := []string{inCluster}
	for _, p := range w.Fleet {
		if to.Name == p.Cluster || to.Server != "" && to.Server == p.Registration.Server {
			return
		}
		known = append(known, p.Cluster)
	}
	if to.Name == "" || to.Name == inCluster {
		return // an address is known in the cloud alone
	}
	w.referApplication(in, app, "spec.destination.name", to.Name, finding.Warningf(
		"%s goes to the cluster %q, which no cluster file of this hub registers: where nobody else does, Argo CD refuses it", w.named(app), to.Name).
		WithRemedy(near.DidYouMean(to.Name, known, "correct the name, or register the cluster")))
}

// referApplication reports a finding about a field of an Application, in its manifest or in the template of
// the ApplicationSet that made it.
func (w *Walk) referApplication(in *walk.Origin, app Application, field, value string, f finding.Finding) {
	what := tree.Wanted{Object: app.object(), Path: strings.Split(field, "."), Value: value}
	made, generated := w.from[app.object()]
	if generated {
		what.Object, what.Path = made.set.Object, append([]string{"spec", "template"}, what.Path...)
		for o := in; o != nil; o = o.Parent {
			if at, ok := w.Files.Field(o.Read, what, made.evaluate); ok {
				w.At(at, f)
				return
			}
		}
		what = tree.Wanted{Object: made.set.Object, Path: []string{"metadata", "name"}, Value: made.set.Metadata.Name}
	}
	w.Refer(in, what, f)
}

// CheckProjects warns of projects that nothing makes. Argo CD makes default itself, and bootstrap the platform's.
func (w *Walk) CheckProjects() {
	if w.Incomplete || w.Elsewhere {
		return
	}
	known := append(w.projects, "", "default", names.Platform) // an empty one is default
	for _, app := range w.Applications {
		if slices.Contains(known, app.Spec.Project) {
			continue
		}
		w.referApplication(w.metIn[app.object()], app, "spec.project", app.Spec.Project, finding.Warningf(
			"%s is of the project %q, which nothing in the tree makes: where nobody else does, Argo CD refuses it", w.named(app), app.Spec.Project).
			WithRemedy(near.DidYouMean(app.Spec.Project, known, "add an AppProject of that name")))
	}
}
