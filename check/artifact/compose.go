package artifact

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/fluxcd/pkg/sourceignore"
	"sigs.k8s.io/yaml"

	"tombolo/check/manifest"
	"tombolo/check/tree"
)

// ErrNotFollowed says that an artifact has the content of archives, which are not unpacked here.
var ErrNotFollowed = errors.New("it extracts archives")

// Compose is the tree of an artifact. sources are the trees by alias. The error is a Problem or ErrNotFollowed.
func (o Output) Compose(sources map[string]*tree.Files) (*tree.Files, error) {
	s := staging{}
	for _, op := range o.Copy {
		if err := s.apply(op, sources); err != nil {
			return nil, err
		}
	}
	// The archive is made without what is left out by default; a .sourceignore in it has no effect.
	left := sourceignore.NewDefaultMatcher(nil, nil)
	return tree.Composed(s).Without(func(name string) bool { return left.Match(strings.Split(name, "/"), false) }), nil
}

// staging are the files of an artifact in the making.
type staging map[string]tree.Copy

func (o Operation) problem(format string, args ...any) *Problem {
	value := o.From
	if o.written != "" {
		value = o.written
	}
	return &Problem{[]string{"spec", "artifacts", "[]", "copy", "[]", "from"}, value, fmt.Sprintf(format, args...), "correct what is copied: without it the artifact is not made"}
}

// apply copies as cp does: a file into a directory or to a name, a directory into another one, and what matches a pattern.
func (s staging) apply(o Operation, sources map[string]*tree.Files) error {
	m, to := fromForm.FindStringSubmatch(o.From), strings.TrimPrefix(o.To, "@artifact/")
	if m == nil || sources[m[1]] == nil {
		return o.problem("no source has the alias of %q", o.From)
	}
	source, pattern := sources[m[1]], m[3]
	for _, exclude := range o.Exclude {
		if !doublestar.ValidatePattern(exclude) {
			return o.problem("%q is no pattern of what is excluded", exclude)
		}
	}
	if tree.Leaves(".", to) || path.IsAbs(to) {
		return o.problem("%q leaves the artifact", o.To)
	}
	if o.Strategy == "Extract" {
		return ErrNotFollowed
	}
	if !strings.ContainsAny(pattern, "*?[]") {
		return s.copyOne(o, source, path.Clean(pattern), to)
	}
	return s.copyMatching(o, source, pattern, to)
}

func (s staging) copyOne(o Operation, source *tree.Files, name, to string) error {
	switch {
	case source.IsDir(name):
		s.copyDir(o, source, name, path.Join(to, path.Base(name)), name)
	case !source.IsFile(name):
		return o.problem("%q is not in the source", name)
	case excluded(name, ".", o.Exclude):
	case o.To == "" || strings.HasSuffix(o.To, "/") || s.isDir(path.Clean(to)):
		return s.copyFile(o, source, name, path.Join(to, path.Base(name)))
	default:
		return s.copyFile(o, source, name, path.Clean(to))
	}
	return nil
}

// copyMatching copies what a pattern of the standard library matches, in which ** is no more than *: the
// directories that it matches are copied with all that they have.
func (s staging) copyMatching(o Operation, source *tree.Files, pattern, to string) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return o.problem("%q is no pattern", pattern)
	}
	matches := slices.DeleteFunc(slices.Concat(source.Dirs(), source.Names()), func(name string) bool {
		ok, _ := path.Match(pattern, name) // it is a pattern
		return !ok
	})
	if len(matches) == 0 {
		return o.problem("no file of the source matches %q", pattern)
	}
	base := literalStart(pattern)
	matches = slices.DeleteFunc(matches, func(name string) bool { return excluded(name, base, o.Exclude) })
	if len(matches) == 0 {
		return o.problem("all files that match %q are excluded", pattern)
	}
	slices.Sort(matches)
	for _, name := range matches {
		target := path.Join(to, name)
		if dir, contents := strings.CutSuffix(pattern, "/**"); contents {
			target = path.Join(to, strings.TrimPrefix(name, dir+"/"))
		}
		if source.IsDir(name) {
			s.copyDir(o, source, name, target, base)
		} else if err := s.copyFile(o, source, name, target); err != nil {
			return err
		}
	}
	return nil
}

// literalStart is the directory before a pattern's first wildcard.
func literalStart(pattern string) string {
	var out []string
	for part := range strings.SplitSeq(path.Clean(pattern), "/") {
		if strings.ContainsAny(part, "*?[]") {
			break
		}
		out = append(out, part)
	}
	return path.Join(append([]string{"."}, out...)...)
}

func (s staging) isDir(name string) bool {
	if name == "." {
		return true
	}
	for file := range s {
		if strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}

// copyDir copies a directory without what is excluded. What is excluded as a directory is so with all that it has.
func (s staging) copyDir(o Operation, source *tree.Files, dir, to, base string) {
	for _, name := range source.Names() {
		below, ok := name, true
		if dir != "." {
			below, ok = strings.CutPrefix(name, dir+"/")
		}
		if ok && !s.anyExcluded(o, dir, below, base) {
			s[path.Join(to, below)] = tree.Copy{From: source, Name: name}
		}
	}
}

func (s staging) anyExcluded(o Operation, dir, below, base string) bool {
	for at := below; at != "."; at = path.Dir(at) {
		if excluded(path.Join(dir, at), base, o.Exclude) {
			return true
		}
	}
	return false
}

// excluded says whether a pattern matches a name, or what follows the base in it, or, without a slash in it, its last part.
func excluded(name, base string, patterns []string) bool {
	below, under := strings.CutPrefix(name, base+"/")
	for _, p := range patterns {
		if doublestar.MatchUnvalidated(p, name) || under && doublestar.MatchUnvalidated(p, below) ||
			!strings.Contains(p, "/") && doublestar.MatchUnvalidated(p, path.Base(name)) {
			return true
		}
	}
	return false
}

// copyFile copies a file, or merges it into the one that is there.
func (s staging) copyFile(o Operation, source *tree.Files, name, to string) error {
	added := tree.Copy{From: source, Name: name}
	if before, there := s[to]; there && o.Strategy == "Merge" {
		text, err := merged(before, added)
		if err != nil {
			return o.problem("%s cannot be merged: %v", name, err)
		}
		added.Text, added.Parts = text, slices.Concat(parts(before), []tree.Copy{added})
	}
	s[to] = added
	return nil
}

// parts are the files that a copy was made of.
func parts(c tree.Copy) []tree.Copy {
	if c.Parts != nil {
		return c.Parts
	}
	return []tree.Copy{c}
}

// merged are the values of two files, those of the second one over the first one's.
func merged(files ...tree.Copy) ([]byte, error) {
	out := map[string]any{}
	for _, file := range files {
		text, err := file.Read()
		if err != nil {
			return nil, err
		}
		if err := tree.Expands(text); err != nil {
			return nil, err
		}
		for _, document := range manifest.Split(text) {
			var values map[string]any
			if err := yaml.Unmarshal([]byte(document), &values); err != nil {
				return nil, err
			}
			overlay(out, values)
		}
	}
	return yaml.Marshal(out)
}

func overlay(below, above map[string]any) {
	for key, value := range above {
		a, isMap := value.(map[string]any)
		b, wasMap := below[key].(map[string]any)
		if isMap && wasMap {
			overlay(b, a)
			continue
		}
		below[key] = value
	}
}
