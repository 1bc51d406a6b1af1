package walk

import (
	"maps"
	"slices"
	"strings"

	"tombolo/check/builtin"
	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/tree"
)

// CheckBuiltin reports what the API refuses of an object: where texts is false, values that have to be text are looked at
// elsewhere. Flux reads Kubernetes' own kinds first, but for roles, and so loses fields that they do not have. Source:
// UnstructuredList in ssa/normalize of fluxcd/pkg v0.76. What Argo CD does was seen in tests/engines.
func (w *Walk) CheckBuiltin(in *Origin, o manifest.Object, text string, texts bool) {
	if strings.Contains(text, manifest.Unset) {
		return // it is not known what it becomes
	}
	for _, p := range builtin.Refused(text, w.Published.Kubernetes) {
		if p.IsText && !texts {
			continue
		}
		content, err := manifest.Decode[map[string]any](text)
		if err != nil {
			return // its own finding
		}
		at, value := valueAt(p.Path, nil, content, p.IsType)
		if p.IsType && len(at) > len(p.Path) { // the decoder names the mapping, and not its key
			p.Message = strings.Replace(p.Message, strings.Join(p.Path, "."), strings.Join(at[:len(p.Path)+1], "."), 1)
		}
		f := finding.Errorf("%s: %s: the API refuses it", o.Identity(), p.Message).WithRemedy(p.Remedy)
		switch flux := w.Published.Registration == nil; {
		case p.IsField && !flux:
			f = finding.Errorf("%s: %s: the API drops it, and Argo CD never calls the object synced", o.Identity(), p.Message)
		case p.IsField && o.Group() != "rbac.authorization.k8s.io":
			f = finding.Warningf("%s: %s: Flux drops it, and does not say so", o.Identity(), p.Message)
		}
		if p.IsField {
			f = f.WithRemedy("correct or remove it")
		}
		what := tree.Wanted{Object: o, Path: at, Value: value}
		if _, ok := w.Find(in, what); !ok { // an empty mapping has no place
			what.Path, what.Value = []string{"metadata", "name"}, o.Metadata.Name
		}
		w.Refer(in, what, f)
	}
}

// valueAt is the first text at or below a path of an object; of several items of a list, the first that has it.
// Of a mapping of texts it is the first value that is none, if asked.
func valueAt(path, done []string, value any, other bool) ([]string, string) {
	if len(path) == 0 {
		if fields, ok := value.(map[string]any); ok && other {
			for _, key := range slices.Sorted(maps.Keys(fields)) {
				if _, isText := fields[key].(string); !isText {
					return First(append(slices.Clone(done), key), fields[key])
				}
			}
		}
		return First(done, value)
	}
	switch value := value.(type) {
	case map[string]any:
		if below, ok := value[path[0]]; ok {
			return valueAt(path[1:], append(slices.Clip(done), path[0]), below, other)
		}
	case []any:
		rest := path
		if path[0] == "[]" {
			rest = path[1:]
		}
		for _, item := range value {
			if at, text := valueAt(rest, append(slices.Clip(done), "[]"), item, other); text != "" {
				return at, text
			}
		}
	}
	return done, ""
}
