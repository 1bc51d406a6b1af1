package argocd

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gobwas/glob"
	"sigs.k8s.io/yaml"

	"tombolo/check/finding"
	"tombolo/check/gotemplate"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// gitGenerator gives parameters for each entry of files, or for each directory.
type gitGenerator struct {
	RepoURL         string            `json:"repoURL"`
	PathParamPrefix string            `json:"pathParamPrefix"`
	Values          map[string]string `json:"values"`
	Files           []gitPath         `json:"files"`
	Directories     []gitPath         `json:"directories"`
}

// gitPath is a pattern of paths that a generator reads or leaves out.
type gitPath struct {
	Path    string `json:"path"`
	Exclude bool   `json:"exclude"`
}

// joined are the parameters of a cluster, once for each entry of files, or each
// directory, of this tree.
func (w *Walk) joined(in *walk.Origin, set applicationSet, m matrixGenerator, switches map[string]bool) ([]map[string]any, bool) {
	var git gitGenerator
	if err := json.Unmarshal(m.Generators[1]["git"], &git); err != nil || len(git.Files)+len(git.Directories) == 0 || len(git.Values) > 0 {
		return nil, false
	}
	all, ok := w.parametersOf(in, set, m.Generators[0], switches)
	if !ok {
		return nil, false
	}
	var out []map[string]any
	for _, parameters := range all {
		t := templating{Walk: w, in: in, set: set, parameters: parameters}
		rendered, url := t.git(git)
		if t.broken {
			w.Incomplete = true
			continue
		}
		if !w.isOwn(url) {
			return nil, false
		}
		for _, entry := range w.gitParameters(rendered) {
			maps.Copy(entry, parameters)
			out = append(out, entry)
		}
	}
	return filter{w, in, set, switches}.keep(m.Generators[1]["selector"], out), true
}

// git is a generator with its texts rendered, and the repository it reads.
func (t *templating) git(g gitGenerator) (gitGenerator, string) {
	at := []string{"spec", "generators", "[]", "matrix", "generators", "[]", "git"}
	render := func(kind string, all []gitPath) []gitPath {
		out := slices.Clone(all)
		for i, p := range out {
			out[i].Path = t.text(append(slices.Clone(at), kind, "[]", "path"), p.Path)
		}
		return out
	}
	url := t.text(append(slices.Clone(at), "repoURL"), g.RepoURL)
	g.Files, g.Directories = render("files", g.Files), render("directories", g.Directories)
	return g, url
}

// gitParameters are those of a git generator. Files go before directories, as in
// GenerateParams of Argo CD's applicationset/generators/git.go.
func (w *Walk) gitParameters(g gitGenerator) []map[string]any {
	var out []map[string]any
	add := func(parameters, of map[string]any) {
		if g.PathParamPrefix != "" {
			parameters[g.PathParamPrefix] = map[string]any{"path": of}
		} else {
			parameters["path"] = of
		}
		out = append(out, parameters)
	}
	if len(g.Files) == 0 {
		for _, dir := range chosen(w.Files.Dirs(), g.Directories, matchesDir) {
			add(map[string]any{}, pathParameters(dir))
		}
		return out
	}
	for _, file := range chosen(w.Files.Names(), g.Files, matchesFile) {
		for _, entry := range w.entries(file) {
			of := pathParameters(path.Dir(file))
			of["filename"], of["filenameNormalized"] = path.Base(file), gotemplate.Normalize(path.Base(file))
			add(entry, of)
		}
	}
	return out
}

// pathParameters are those of a directory.
func pathParameters(dir string) map[string]any {
	segments := []any{}
	for _, s := range strings.Split(dir, "/") {
		segments = append(segments, s)
	}
	return map[string]any{
		"path": dir, "basename": path.Base(dir), "basenameNormalized": gotemplate.Normalize(path.Base(dir)), "segments": segments,
	}
}

// chosen are the names that a pattern matches and none with exclude does, whatever
// their order.
func chosen(names []string, patterns []gitPath, matches func(pattern, name string) bool) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		included := false
		for _, p := range patterns {
			if !matches(p.Path, name) {
				continue
			}
			if p.Exclude {
				return true
			}
			included = true
		}
		return !included
	})
}

// matchesFile compares as `git ls-files` does, which Argo CD asks unless
// applicationsetcontroller.enable.new.git.file.globbing is set: a star takes in slashes, and
// a directory all files below it.
func matchesFile(pattern, name string) bool {
	pattern = tree.Relative(pattern)
	if name == pattern || strings.HasPrefix(name, pattern+"/") {
		return true
	}
	g, err := glob.Compile(strings.NewReplacer("{", `\{`, "}", `\}`, "[^", "[!").Replace(pattern))
	return err == nil && g.Match(name)
}

// matchesDir compares as path.Match does. Argo CD's GetDirectories leaves out hidden ones.
func matchesDir(pattern, name string) bool {
	if name == "." || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return false
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// entries are those of a file that a generator reads: one object, which an empty file
// is too, or else a list.
func (w *Walk) entries(file string) []map[string]any {
	text, err := w.Files.Read(file)
	one, list := map[string]any{}, []map[string]any{}
	if err == nil && yaml.Unmarshal(text, &one) == nil {
		if one == nil {
			one = map[string]any{}
		}
		return []map[string]any{one}
	}
	if err == nil {
		err = yaml.Unmarshal(text, &list)
	}
	if err != nil {
		w.Incomplete = true
		w.At(tree.Place{File: file}, finding.Errorf("is neither an object nor a list of objects, which a generator can read: %s", walk.Innermost(err)).
			WithRemedy("write it as one object, or as a list of objects"))
		return nil
	}
	for i, entry := range list {
		if entry == nil {
			list[i] = map[string]any{}
		}
	}
	return list
}
