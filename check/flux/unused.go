package flux

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tombolo/check/finding"
	"tombolo/check/tree"
)

// CheckUnused warns of what the cluster file asks for and the tree does not
// use. What every cluster is given, used or not, is no more than a note.
func (w *Walk) CheckUnused() {
	if w.Incomplete {
		return
	}
	var given []string
	for _, name := range slices.Sorted(maps.Keys(w.Published.Variables)) {
		v := w.Published.Variables[name]
		switch {
		case w.Used[name]:
		case v.Setting == nil:
			given = append(given, name)
		default:
			w.unused(name, v.Setting, fmt.Sprintf("%s is published, and nothing in the tree uses ${%s}", name, name))
		}
	}
	for _, o := range w.Published.Objects {
		name := o.Namespace + "/" + o.Name
		if !w.Used[name] && o.Setting != nil {
			w.unused(name, o.Setting, fmt.Sprintf("%s %s is published, and nothing in the tree refers to it", o.Kind, name))
		}
	}
	if len(given) > 0 {
		w.Note(tree.Place{}, fmt.Sprintf("of what every cluster is given, this is not used: %s", strings.Join(given, ", ")))
	}
}

func (w *Walk) unused(name string, setting []string, message string) {
	f := finding.Finding{Severity: finding.Warning, Message: message, Remedy: "use it, or remove it from the cluster file"}
	w.InClusterFile(setting, f).Unused = name
}
