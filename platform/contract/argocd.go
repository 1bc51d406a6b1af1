package contract

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/internal/names"
)

// runArgoCD follows the tree from the hub's path on, as far as it concerns the
// cluster.
func (w *walk) runArgoCD() {
	hub := w.published.Registration.Hub
	w.everyone = slices.DeleteFunc(slices.Clone(w.everyone), func(p Published) bool {
		return p.Registration == nil || p.Registration.Hub != hub
	})
	if !w.files.dirs[relative(w.published.Path)] {
		if hub == w.published.Cluster {
			w.wrongStart()
		}
		return
	}
	var root application
	root.APIVersion, root.Kind = argocdGroup+"/v1alpha1", "Application"
	root.Metadata.Name, root.Metadata.Namespace = names.Platform, names.ArgoCDNamespace
	w.followPath(nil, root, source{Path: w.published.Path})
	if !w.incomplete && !w.elsewhereToo {
		w.checkReleased()
	}
}

// followPath takes what a source's path makes: a chart, a kustomization, or the
// manifests of a directory.
func (w *walk) followPath(in *sync, app application, from source) {
	s := &sync{parent: in, followed: true}
	s.manifest = app.object()
	s.Spec.Path = from.Path
	dir := relative(from.Path)
	_, kustomized := w.builds.ownFile(dir)
	switch {
	case w.files.regular[path.Join(dir, "Chart.yaml")]:
		w.followChart(s, app, from)
	case kustomized:
		w.followKustomization(s, from)
	default:
		w.takeAll(s, w.directory(s, dir, from.Directory != nil && from.Directory.Recurse))
	}
}

func (w *walk) followKustomization(s *sync, from source) {
	if k := from.Kustomize; k != nil {
		s.Spec.Patches, s.Spec.Components = k.Patches, k.Components
		s.Spec.NamePrefix, s.Spec.NameSuffix, s.Spec.TargetNamespace = k.NamePrefix, k.NameSuffix, k.Namespace
	}
	b := w.builds.build(s.kustomization)
	s.read = b.read
	for at, reference := range b.remote {
		w.elsewhereToo = true
		w.note(at, fmt.Sprintf("%s is not followed: it is not in this tree", reference))
	}
	if b.err != nil {
		w.incomplete = true
		w.failedBuild(s, b)
		return
	}
	texts := make([]string, len(b.objects))
	for i, o := range b.objects {
		texts[i] = o.text
	}
	w.takeAll(s, texts)
}

// directory are the objects of a directory's own manifests.
func (w *walk) directory(s *sync, dir string, recurse bool) []string {
	var out []string
	for _, entry := range w.files.entries(dir) {
		name := path.Join(dir, entry)
		switch {
		case w.files.dirs[name] && recurse:
			out = append(out, w.directory(s, name, true)...)
		case w.files.regular[name] && isManifest(name):
			s.read = append(s.read, name)
			w.checkSyntax(name)
			text, err := w.files.read(name)
			if err == nil {
				out = append(out, objectsIn(text)...)
			}
		}
	}
	return out
}

// objectsIn are the documents of YAML, as far as they can be read.
func objectsIn(text []byte) []string {
	var out []string
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	for {
		var content map[string]any
		err := decoder.Decode(&content)
		if errors.Is(err, io.EOF) {
			return out
		}
		one, failed := yaml.Marshal(content)
		if err != nil || failed != nil {
			return out
		}
		if len(content) > 0 {
			out = append(out, string(one))
		}
	}
}

// takeAll takes note of the objects that make others.
func (w *walk) takeAll(s *sync, texts []string) {
	var sets []applicationSet
	for _, text := range texts {
		m, err := decode[manifest](text)
		switch {
		case err != nil || m.group() != argocdGroup:
		case m.Kind == "ApplicationSet":
			set, err := decode[applicationSet](text)
			if err != nil {
				w.unreadable(s, m, err)
				continue
			}
			sets = append(sets, set)
		case m.Kind == "Application":
			app, err := decode[application](text)
			if err != nil {
				w.unreadable(s, m, err)
				continue
			}
			w.application(s, app)
		}
	}
	switches := switchesOf(sets)
	for _, set := range sets {
		w.applicationSet(s, set, switches)
	}
}

func (w *walk) unreadable(s *sync, m manifest, err error) {
	w.incomplete = true
	w.refer(s, m, wanted{path: []string{"metadata", "name"}, value: m.Metadata.Name}, Finding{
		Severity: Error,
		Message:  fmt.Sprintf("%s cannot be read: %s", m.identity(), innermost(err)),
		Remedy:   "give every field the type that it has to have",
	})
}

// application looks at where an Application's manifests come from, and follows
// what is in this tree. One that is made for another cluster is that cluster's.
func (w *walk) application(s *sync, app application) {
	if slices.ContainsFunc(w.applications, func(o application) bool { return o.object() == app.object() }) {
		return
	}
	w.applications = append(w.applications, app)
	own := w.ownRefs(app)
	for _, from := range app.sources() {
		w.checkValueFiles(s, app, from, own)
		switch {
		case from.Chart != "" || from.Path == "":
		case !w.isOwn(from.RepoURL):
			w.elsewhereToo = true
			w.referSource(s, app, "repoURL", from.RepoURL, Finding{
				Severity: Note,
				Message:  fmt.Sprintf("%s is not followed: its path is in %s, not in this tree", w.named(app), from.RepoURL),
			})
		case !w.files.dirs[relative(from.Path)]:
			w.incomplete = true
			w.missingPath(s, app, from)
		default:
			w.followPath(s, app, from)
		}
	}
}

// named is how findings name an Application: one that an ApplicationSet makes
// for each cluster, by that.
func (w *walk) named(app application) string {
	if set, ok := w.from[app.object()]; ok {
		return "an Application of " + set.identity()
	}
	return app.object().identity()
}

// isOwn says whether a URL is this tree's repository.
func (w *walk) isOwn(url string) bool {
	return sameRepository(url, w.published.Registration.repository())
}

func (w *walk) missingPath(s *sync, app application, from source) {
	w.referSource(s, app, "path", from.Path, Finding{
		Severity: Error,
		Message:  fmt.Sprintf("%s: path %q is not a directory of the platform tree", w.named(app), from.Path),
		Remedy:   w.nearDir(from.Path, "make the directory, or correct the path"),
	})
}

// checkReleased warns of addons whose values are published, and that nothing in
// the tree releases.
func (w *walk) checkReleased() {
	for _, a := range w.published.Registration.addons {
		released := slices.ContainsFunc(w.applications, func(app application) bool {
			return app.Metadata.Labels[names.AddonLabel] == a.Name
		})
		if released || !a.HasValues() {
			continue
		}
		w.inClusterFile([]string{"addons", a.Name}, Finding{
			Severity: Warning,
			Message:  fmt.Sprintf("%s is turned on, and no Application of the tree with the label %s releases it to this cluster", a.Name, names.AddonLabel),
			Remedy:   "label the cluster as its ApplicationSet selects, add it to the tree, or turn it off",
		})
	}
}
