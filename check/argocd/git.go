package argocd

import (
	"encoding/json"
	"fmt"
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

// git are the parameters of a git generator. Directories go before files, as in GenerateParams of
// Argo CD's applicationset/generators/git.go.
func (g generation) git(raw json.RawMessage, at []string) ([]map[string]any, bool) {
	var git gitGenerator
	if err := json.Unmarshal(raw, &git); err != nil {
		g.unreadable(g.in, g.set.Object, err)
		return nil, true
	}
	if len(git.Files)+len(git.Directories) == 0 {
		g.refuse("its git generator names neither files nor directories", "give it files or directories")
		return nil, true
	}
	if !g.isOwn(git.RepoURL) {
		return nil, false
	}
	var out []map[string]any
	add := func(parameters map[string]any) {
		if g.addValues(append(slices.Clip(at), "values"), git.Values, parameters) {
			out = append(out, parameters)
		}
	}
	if len(git.Directories) > 0 {
		g.checkPatterns(append(slices.Clip(at), "directories"), g.Files.Dirs(), git.Directories, matchesDir)
		for _, dir := range chosen(g.Files.Dirs(), git.Directories, matchesDir) {
			add(g.withPath(map[string]any{}, git.PathParamPrefix, pathParameters(dir)))
		}
		return out, true
	}
	g.checkPatterns(append(slices.Clip(at), "files"), g.Files.Names(), git.Files, matchesFile)
	for _, file := range chosen(g.Files.Names(), git.Files, matchesFile) {
		for _, entry := range g.entries(file) {
			of := pathParameters(path.Dir(file))
			of["filename"], of["filenameNormalized"] = path.Base(file), gotemplate.Normalize(path.Base(file))
			add(g.withPath(entry, git.PathParamPrefix, of))
		}
	}
	return out, true
}

// checkPatterns warns of a pattern that matches nothing: Argo CD makes no Application of it, and does not say so.
// One with a parameter of another generator may be for some of its values alone.
func (g generation) checkPatterns(at, names []string, patterns []gitPath, matches func(pattern, name string) bool) {
	for _, p := range patterns {
		what := tree.Wanted{Object: g.set.Object, Path: append(slices.Clip(at), "[]", "path"), Value: p.Path}
		place, ok := g.Files.Field(g.in.Read, what, func(text string) string { return text })
		if !ok || p.Exclude || slices.ContainsFunc(names, func(name string) bool { return matches(p.Path, name) }) {
			continue
		}
		above, _, _ := strings.Cut(p.Path, "*")
		remedy := "correct it, or add what it is for"
		if above = path.Dir(above + "x"); !g.Files.IsDir(tree.Relative(above)) {
			remedy = g.NearDir(above)
		}
		g.At(place, finding.Warningf("%s: the pattern %q of its git generator matches nothing in the tree: no Application is made of it", g.set.Identity(), p.Path).
			WithRemedy(remedy))
	}
}

// withPath are parameters with those of a path, which are flat without goTemplate.
func (g generation) withPath(parameters map[string]any, prefix string, of map[string]any) map[string]any {
	if g.set.Spec.GoTemplate {
		if prefix == "" {
			parameters["path"] = of
		} else {
			parameters[prefix] = map[string]any{"path": of}
		}
		return parameters
	}
	below := strings.TrimPrefix(prefix+".path", ".")
	out := map[string]any{below: of["path"]}
	flat := map[string]string{}
	flatten(flat, "", parameters)
	for key, value := range flat {
		out[key] = value
	}
	for _, key := range []string{"basename", "basenameNormalized", "filename", "filenameNormalized"} {
		if value, ok := of[key]; ok {
			out[below+"."+key] = value
		}
	}
	for i, segment := range of["segments"].([]any) {
		out[fmt.Sprintf("%s[%d]", below, i)] = segment
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
