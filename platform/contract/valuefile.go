package contract

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// ownRefs are the names by which an Application's sources refer to files of this
// tree, such as $platform, with whether they do.
func (w *walk) ownRefs(app application) map[string]bool {
	out := map[string]bool{}
	for _, from := range app.sources() {
		if from.Ref != "" {
			out["$"+from.Ref] = w.isOwn(from.RepoURL)
		}
	}
	return out
}

// valueFile is the file of the tree that a source's values file is; not if it is
// elsewhere.
func (w *walk) valueFile(app application, from source, name string) (string, bool) {
	if ref, below, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(ref, "$") {
		return relative(below), w.ownRefs(app)[ref]
	}
	if isRemote(name) || from.Chart != "" || !w.isOwn(from.RepoURL) {
		return "", false
	}
	if path.IsAbs(name) {
		return relative(name), true
	}
	return relative(path.Join(from.Path, name)), true
}

// checkValueFiles reports values files that are not there. Where missing ones are
// ignored, one has to be: or the name is wrong.
func (w *walk) checkValueFiles(s *sync, app application, from source, refs map[string]bool) {
	if from.Helm == nil {
		return
	}
	var missing, all []string
	for _, name := range from.Helm.ValueFiles {
		if ref, _, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(ref, "$") && !w.knownRef(s, app, name, ref, refs) {
			continue
		}
		file, ok := w.valueFile(app, from, name)
		if !ok {
			continue
		}
		all = append(all, name)
		if !w.files.regular[file] {
			missing = append(missing, name)
		}
	}
	if from.Helm.IgnoreMissingValueFiles && len(missing) < len(all) {
		return
	}
	for _, name := range missing {
		file, _ := w.valueFile(app, from, name)
		f := Finding{
			Severity: Error,
			Message:  fmt.Sprintf("%s: values file %q is not in the tree", w.named(app), name),
			Remedy:   w.nearFile(file, path.Base(file), "add it, or remove it from valueFiles"),
		}
		if from.Helm.IgnoreMissingValueFiles {
			f.Severity = Warning
			f.Message += ", and neither is another; missing ones are ignored, so nobody will say so"
		}
		w.referSource(s, app, "valueFiles", name, f)
	}
}

// knownRef reports a $name that no source of the Application has.
func (w *walk) knownRef(s *sync, app application, name, ref string, refs map[string]bool) bool {
	if _, ok := refs[ref]; ok {
		return true
	}
	w.referSource(s, app, "valueFiles", name, Finding{
		Severity: Error,
		Message:  fmt.Sprintf("%s: values file %q is in %s, which none of its sources is called", w.named(app), name, ref),
		Remedy:   didYouMean(ref, sortedKeys(refs), "add a source with ref: "+strings.TrimPrefix(ref, "$")),
	})
	return false
}

// referSource reports a finding about a field of an Application's source: in the
// ApplicationSet that made it, in its own manifest, or wherever the files of its
// chart have the text.
func (w *walk) referSource(s *sync, app application, field, value string, f Finding) {
	if strings.Contains(value, unset) {
		return
	}
	object, base := app.object(), []string{"spec"}
	if set, ok := w.from[object]; ok {
		object, base = set, []string{"spec", "template", "spec"}
	}
	tail := []string{field}
	if field == "valueFiles" {
		tail = []string{"helm", field, "[]"}
	}
	for _, middle := range [][]string{{"sources", "[]"}, {"source"}} {
		what := wanted{object: object, path: slices.Concat(base, middle, tail), value: value}
		for from := s; from != nil; from = from.parent {
			if at, ok := w.files.field(from.read, what, func(text string) string { return w.asRendered(object, text) }); ok {
				w.at(at, f)
				return
			}
		}
	}
	at := place{file: s.dir()}
	_, plain, _ := strings.Cut(value, "/")
	for _, name := range s.read {
		for _, text := range []string{value, plain} {
			if hits := w.textPlaces(name, text); at.line == 0 && len(hits) > 0 {
				at = hits[0]
			}
		}
	}
	w.at(at, f)
}

// asRendered is a text of an ApplicationSet as the cluster's Application has it.
func (w *walk) asRendered(object manifest, text string) string {
	if object.Kind != "ApplicationSet" {
		return text
	}
	out := renderTemplate(text, w.parameters())
	if out.err != nil {
		return text
	}
	return out.text
}

// textPlaces are where a file has a text.
func (w *walk) textPlaces(name, text string) []place {
	content, err := w.files.read(name)
	if err != nil || text == "" {
		return nil
	}
	at := strings.Index(string(content), text)
	if at < 0 {
		return nil
	}
	return placesIn(string(content), name, 0, []int{at})
}
