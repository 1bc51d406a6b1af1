// Package argocd follows a platform tree as Argo CD does for one cluster, and says
// what of it Argo CD would stop at or take for empty.
package argocd

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/names"
)

// Follow follows the tree from the hub's path on, as far as it concerns the
// cluster.
func (w *Walk) Follow() {
	if !w.StartsInTree() {
		w.Incomplete = true
		w.WrongStart()
		return
	}
	w.checkLinks()
	var root Application
	root.APIVersion, root.Kind = group+"/v1alpha1", "Application"
	root.Metadata.Name, root.Metadata.Namespace = names.Platform, names.ArgoCDNamespace
	root.Spec.Destination.Name = w.Published.Registration.Hub
	if w.followPath(nil, root, Source{Path: w.Published.Path}) == 0 {
		w.EmptyStart()
	}
}

// checkLinks warns of links out of the repository. They may be in files that Git does not have.
func (w *Walk) checkLinks() {
	for _, link := range slices.Sorted(maps.Keys(w.Files.Links())) {
		if w.Files.LeavesTree(link) {
			w.At(tree.Place{File: link}, finding.Warningf(
				"is a symbolic link out of the repository, to %s: with it in Git, Argo CD builds nothing of the repository", w.Files.Links()[link]).
				WithRemedy("put the file or directory in its place, or have it lead to one of the repository"))
		}
	}
}

// followPath takes what a source's path makes: a chart, a kustomization, or the
// manifests of a directory. It says how many objects that is.
func (w *Walk) followPath(parent *walk.Origin, app Application, from Source) int {
	in := &walk.Origin{Parent: parent, Object: app.object(), Path: from.Path}
	kind, ok := w.kindOf(parent, app, from)
	if !ok {
		return 0
	}
	var texts []string
	switch kind {
	case ofPlugin:
		w.Elsewhere = true
		w.referSource(parent, app, "path", from.Path, finding.Notef(
			"%s is not followed: a config management plugin makes its manifests", w.named(app)))
		return 0
	case ofHelm:
		texts = w.chart(in, app, from)
	case ofKustomize:
		texts = w.kustomization(in, from)
	default:
		texts = w.directory(in, from.Directory)
	}
	w.takeObjects(in, app, texts)
	w.takeAll(in, texts)
	return len(texts)
}

// kustomization are the objects that kustomize makes of a source's path.
func (w *Walk) kustomization(in *walk.Origin, from Source) []string {
	built, _ := w.Build(in, from.options())
	texts := make([]string, len(built))
	for i, o := range built {
		texts[i] = o.Text
	}
	return texts
}

// takeAll takes the Applications among objects, and those that ApplicationSets
// make for the cluster.
func (w *Walk) takeAll(in *walk.Origin, texts []string) {
	var sets []applicationSet
	for _, text := range texts {
		o, err := manifest.Decode[manifest.Object](text)
		refused := false
		unreadable := func(o manifest.Object, err error) {
			w.Incomplete = true
			if !refused {
				w.unreadable(in, o, err)
			}
		}
		if err == nil {
			w.CheckBuiltin(in, o, text, true)
			refused = o.Group() == group && w.checkDefinition(in, o, text)
		}
		switch {
		case err == nil && o.Metadata.Name == addressesSecret:
			w.takeAddresses(in, o, text)
		case err != nil || o.Group() != group:
		case o.Kind == "AppProject":
			w.projects = append(w.projects, o.Metadata.Name)
		case o.Kind == "ApplicationSet":
			set, err := manifest.Decode[applicationSet](text)
			if err != nil {
				unreadable(o, err)
				continue
			}
			sets = append(sets, set)
		case o.Kind == "Application":
			app, err := manifest.Decode[Application](text)
			if err != nil {
				unreadable(o, err)
				continue
			}
			w.application(in, app)
		}
	}
	switches := switchesOf(sets)
	for _, set := range sets {
		for _, app := range w.generate(in, set, switches) {
			w.application(in, app)
		}
	}
}

// application looks at where an Application's manifests come from, and follows
// what is in this tree. One that is made for another cluster is that cluster's.
func (w *Walk) application(in *walk.Origin, app Application) {
	if i := slices.IndexFunc(w.Applications, func(o Application) bool { return o.object() == app.object() }); i >= 0 {
		if w.Applications[i].Metadata.Labels[names.SystemLabel] != app.Metadata.Labels[names.SystemLabel] {
			w.taken[app.Metadata.Name] = true
		}
		return
	}
	w.Applications = append(w.Applications, app)
	w.metIn[app.object()] = in
	w.checkApplication(in, app)
	if app.setsUpSystem() && !w.takeSystem(app) {
		return
	}
	own := w.ownRefs(app)
	for _, from := range app.Sources() {
		if from.Chart == "" && w.isOwn(from.RepoURL) {
			merged, ok := w.withFilesOfSource(app, from)
			if !ok {
				continue
			}
			from = merged
		}
		from = w.withValueFiles(in, app, from)
		w.checkValueFiles(in, app, from, own)
		w.checkMeetings(in, app, from)
		switch {
		case from.Chart != "" || from.Path == "" || app.delivers():
		case !w.isOwn(from.RepoURL):
			w.Elsewhere = true
			w.referSource(in, app, "repoURL", from.RepoURL, finding.Notef(
				"%s is not followed: its path is in %s, not in this tree", w.named(app), from.RepoURL))
		case path.IsAbs(from.Path) || tree.Leaves(".", from.Path) || !w.Files.IsDir(tree.Relative(from.Path)): // Argo CD refuses the first two
			w.Incomplete = true
			w.missingPath(in, app, from)
		default:
			w.noteRevision(in, app, from)
			w.followPath(in, app, from)
		}
	}
}

// noteRevision says that a source of this repository follows another revision than the branch that this tree is of: whether
// there is one, and what it has, is not known here.
func (w *Walk) noteRevision(in *walk.Origin, app Application, from Source) {
	branch := w.Published.Repository.Branch
	if revision := strings.TrimPrefix(from.TargetRevision, "refs/heads/"); revision == "" || revision == "HEAD" || branch == "" || revision == branch {
		return
	}
	w.referSource(in, app, "targetRevision", from.TargetRevision, finding.Notef(
		"%s follows the revision %s of this repository, and what was checked is the branch %s", w.named(app), from.TargetRevision, branch))
}

func (w *Walk) missingPath(in *walk.Origin, app Application, from Source) {
	w.referSource(in, app, "path", from.Path, finding.Errorf("%s: path %q is not a directory of the platform tree", w.named(app), from.Path).
		WithRemedy(w.NearDir(from.Path)))
}

// group is the API group of Argo CD's objects.
const group = "argoproj.io"

// applicationSet is an ApplicationSet.
type applicationSet struct {
	manifest.Object
	Spec struct {
		GoTemplate        bool           `json:"goTemplate"`
		GoTemplateOptions []string       `json:"goTemplateOptions"`
		Generators        []generator    `json:"generators"`
		Template          map[string]any `json:"template"`
		TemplatePatch     string         `json:"templatePatch"`
	} `json:"spec"`
}

// clusterGenerator gives parameters for each cluster that it selects.
type clusterGenerator struct {
	Selector metav1.LabelSelector `json:"selector"`
	Values   map[string]string    `json:"values"`
	// FlatList gives all clusters as one set of parameters.
	FlatList bool `json:"flatList"`
}

// madeFrom is what an ApplicationSet made an Application of.
type madeFrom struct {
	set        applicationSet
	parameters map[string]any
}

// Application is an Application of Argo CD.
type Application struct {
	manifest.Object
	Metadata struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		Labels    map[string]string `json:"labels"`

		Annotations map[string]string `json:"annotations"`
		Finalizers  []string          `json:"finalizers"`
	} `json:"metadata"`
	Spec struct {
		Project string   `json:"project"`
		Source  *Source  `json:"source"`
		Sources []Source `json:"sources"`
		// SourceHydrator is another way to say where the manifests come from, which is not followed.
		SourceHydrator json.RawMessage `json:"sourceHydrator"`
		Destination    struct {
			Server    string `json:"server"`
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"destination"`
	} `json:"spec"`
}

// Sources of an Application: it has one, or a list.
func (a Application) Sources() []Source {
	if len(a.Spec.Sources) == 0 && a.Spec.Source != nil {
		return []Source{*a.Spec.Source}
	}
	return a.Spec.Sources
}

// object is the Application as findings name it.
func (a Application) object() manifest.Object {
	o := a.Object
	o.Metadata.Name, o.Metadata.Namespace = a.Metadata.Name, cmp.Or(a.Metadata.Namespace, names.ArgoCDNamespace)
	return o
}
