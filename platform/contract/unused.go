package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// checkUnused warns of what the cluster file asks for and the tree does not
// use. What every cluster is given, used or not, is no more than a note.
func (w *walk) checkUnused() {
	var given []string
	for _, name := range sortedKeys(w.published.Variables) {
		v := w.published.Variables[name]
		switch {
		case w.used[name]:
		case v.Setting == nil:
			given = append(given, name)
		default:
			w.unused(name, v.Setting, fmt.Sprintf("%s is published, and nothing in the tree uses ${%s}", name, name))
		}
	}
	for _, o := range w.published.Objects {
		name := o.Namespace + "/" + o.Name
		if !w.used[name] && o.Setting != nil {
			w.unused(name, o.Setting, fmt.Sprintf("%s %s is published, and nothing in the tree refers to it", o.Kind, name))
		}
	}
	if len(given) > 0 {
		w.note(place{}, fmt.Sprintf("of what every cluster is given, this is not used: %s", strings.Join(given, ", ")))
	}
}

func (w *walk) unused(name string, setting []string, message string) {
	w.inClusterFile(setting, Finding{Severity: Warning, Message: message, Remedy: "use it, or remove it from the cluster file"})
	w.findings[len(w.findings)-1].unused = name
}
