package kustomize

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	"sigs.k8s.io/kustomize/api/types"

	"tombolo/check/tree"
	"tombolo/internal/wording"
)

// Refusal is why kustomize builds nothing, at the entry that the reason names.
type Refusal struct {
	At    tree.Place
	Cause string
}

// Refused finds out about a build that failed. Its cause may be in what the engine's object adds: asked are the files
// that the object comes from, of another builder.
func (b *Builder) Refused(dir string, built Built, parent *Builder, asked []string) (r Refusal, ofParent bool) {
	own := refused{files: b.files, read: built.Read}
	for _, name := range built.Read {
		if tree.IsKustomization(name) {
			own.kustomizations = append(own.kustomizations, name)
		}
	}
	if at, says, ok := own.wrongType(); ok {
		return Refusal{at, says}, false
	}
	entry, cause := causeOf(wording.OneLine(WithoutRoot(built.Err.Error())))
	for _, find := range []func() (tree.Place, bool){
		func() (tree.Place, bool) { return own.incomplete(entry, cause) },
		func() (tree.Place, bool) { return own.entry(entry) },
		func() (tree.Place, bool) { return own.pathIn(cause, loadedBy) },
		func() (tree.Place, bool) { return own.patched(own.kustomizations, cause) },
		func() (tree.Place, bool) { return own.named(cause, anyValue) },
		func() (tree.Place, bool) { return own.field(cause) },
	} {
		if at, ok := find(); ok {
			return Refusal{at, cause}, false
		}
	}
	if parent != nil {
		above := refused{files: parent.files, kustomizations: asked}
		if at, ok := above.patched(asked, cause); ok {
			return Refusal{at, cause}, true
		}
		added := func(_ string, v tree.Value) string {
			if addedByEngine(v) {
				return path.Join(dir, v.Node.Value)
			}
			return ""
		}
		if at, ok := above.pathIn(cause, added); ok {
			return Refusal{at, cause}, true
		}
		if at, ok := above.named(cause, addedByEngine); ok {
			return Refusal{at, cause}, true
		}
	}
	if at, ok := own.patched(own.read, cause); ok {
		return Refusal{at, cause}, false
	}
	if file, ok := b.File(dir); ok {
		return Refusal{tree.Place{File: file, Line: 1, Column: 1}, cause}, false
	}
	return Refusal{tree.Place{File: dir}, cause}, false
}

func anyValue(tree.Value) bool { return true }

// addedByEngine says whether a value of an engine's object goes into the build.
func addedByEngine(v tree.Value) bool {
	return slices.Contains(v.Path, "patches") || slices.Contains(v.Path, "components") || slices.Contains(v.Path, "images")
}

// The forms in which kustomize wraps a reason, once for every directory on its way: it takes an entry of resources
// for a file, and when that fails for a directory.
var (
	ofFile = regexp.MustCompile(`^.*accumulation err='(?:accumulating|merging) resources from '([^']*)': (.*)': must build at directory: '[^']*': file is not directory$`)
	ofDir  = regexp.MustCompile(`^.*accumulation err='(?:accumulating|merging) resources from '([^']*)': [^']*: file does not exist': (.*)$`)
	recurs = regexp.MustCompile(`^recursed (?:accumulation of|merging from) path '[^']*': `)
	loaded = regexp.MustCompile(`^accumulating (?:resources|components): (?:accumulateDirectory: )?`)
)

// causeOf is the reason at the end of a chain, and the entry of resources that it is about.
func causeOf(text string) (entry, cause string) {
	cause = text
	for _, form := range []*regexp.Regexp{ofFile, ofDir} {
		if m := form.FindStringSubmatch(cause); m != nil {
			entry, cause = m[1], m[2]
			break
		}
	}
	cause = pointer.ReplaceAllString(recurs.ReplaceAllString(cause, ""), "")
	return entry, strings.Trim(loaded.ReplaceAllString(cause, ""), `"`)
}

// refused looks for places in the files that a build has read.
type refused struct {
	files                *tree.Files
	read, kustomizations []string
}

// value is the first value of the files for which a condition holds.
func (r refused) value(files []string, holds func(file string, v tree.Value) bool) (at tree.Place, found bool) {
	for _, name := range files {
		for _, d := range r.files.Documents(name) {
			d.Each(func(v tree.Value) {
				if !found && holds(name, v) {
					found = true
					at = tree.Place{File: name}
					at.Line, at.Column = d.At(v)
				}
			})
		}
	}
	return at, found
}

// entry is one of a list of what is loaded. Of two alike it is the last: the first one was loaded.
func (r refused) entry(text string) (at tree.Place, found bool) {
	if text == "" {
		return at, false
	}
	for _, name := range r.kustomizations {
		for _, d := range r.files.Documents(name) {
			d.Each(func(v tree.Value) {
				if !v.IsKey && v.Node.Value == text {
					found = true
					at = tree.Place{File: name}
					at.Line, at.Column = d.At(v)
				}
			})
		}
	}
	return at, found
}

// incomplete is an object of an entry that lacks what every object has.
func (r refused) incomplete(entry, cause string) (tree.Place, bool) {
	if !strings.HasPrefix(cause, "missing ") {
		return tree.Place{}, false
	}
	for _, name := range r.read {
		if tree.IsKustomization(name) || entry != "" && !strings.HasSuffix(name, path.Clean("/"+entry)) && path.Base(name) != path.Base(entry) {
			continue
		}
		for _, d := range r.files.Documents(name) {
			if d.Lacks() != "" {
				line, column := d.Start()
				return tree.Place{File: name, Line: line, Column: column}, true
			}
		}
	}
	return tree.Place{}, false
}

var quotedPath = regexp.MustCompile(`(?:path|directory|root|under):? '?(/[^'\s:]*)'?`)

// pathIn is the entry that leads to a directory that a reason names.
func (r refused) pathIn(cause string, leads func(file string, v tree.Value) string) (tree.Place, bool) {
	for _, m := range quotedPath.FindAllStringSubmatch(cause, -1) {
		at, ok := r.value(r.kustomizations, func(file string, v tree.Value) bool { return leads(file, v) == tree.Relative(m[1]) })
		if ok {
			return at, true
		}
	}
	return tree.Place{}, false
}

// loadedBy is where an entry of a kustomization file leads.
func loadedBy(file string, v tree.Value) string {
	if name, loads := Loads(v); loads {
		return path.Join(path.Dir(file), name)
	}
	return ""
}

// id is how kustomize names an object: kind, version, group, name and namespace.
var id = regexp.MustCompile(`(\w+)\.(?:\[noVer\]|v\w+)?\.?(?:\[noGrp\]|[\w.-]+)/([^\s:'";]+?)\.(\[noNs\]|[\w-]+)[\s:'";]`)

// patched is the patch, or other part of files, that names an object which is not there.
func (r refused) patched(files []string, cause string) (tree.Place, bool) {
	for _, m := range id.FindAllStringSubmatch(cause+" ", -1) {
		for _, name := range files {
			for _, d := range r.files.Documents(name) {
				if at, ok := d.Names(m[1], m[2]); ok {
					at.File = name
					return at, true
				}
			}
		}
	}
	return tree.Place{}, false
}

// word is a part of a reason that may be a value.
var word = regexp.MustCompile(`[^\s"'\x60,;:{}\[\]()<>]+`)

// named is the longest value of a kustomization file that a reason quotes: a name, a path, a whole patch.
func (r refused) named(cause string, among func(tree.Value) bool) (tree.Place, bool) {
	words, longest := word.FindAllString(cause, -1), ""
	fits := func(v tree.Value) bool {
		text := strings.TrimSpace(wording.OneLine(v.Node.Value))
		return text != "" && !v.IsKey && len(v.Path) > 0 && !slices.Contains([]string{"kind", "apiVersion"}, v.Path[len(v.Path)-1]) && among(v) &&
			(slices.Contains(words, text) || len(text) > 8 && strings.Contains(cause, text))
	}
	r.value(r.kustomizations, func(_ string, v tree.Value) bool {
		if fits(v) && len(v.Node.Value) >= len(longest) {
			longest = v.Node.Value
		}
		return false
	})
	return r.value(r.kustomizations, func(_ string, v tree.Value) bool { return fits(v) && v.Node.Value == longest })
}

// pointer is what kustomize prints of a generator.
var pointer = regexp.MustCompile(` &\{0x[0-9a-f]+ [^}]*\}`)

// field is the key of a kustomization file that a reason is about.
func (r refused) field(cause string) (tree.Place, bool) {
	for part, key := range map[string]string{
		"kind should be": "kind", "apiVersion for": "apiVersion", "configmap must": "configMapGenerator", "secret must": "secretGenerator",
	} {
		if strings.Contains(cause, part) {
			return r.value(r.kustomizations, func(_ string, v tree.Value) bool { return v.IsKey && len(v.Path) == 0 && v.Node.Value == key })
		}
	}
	return tree.Place{}, false
}

// typeError is how Go says that a value has another type than its field.
var typeError = regexp.MustCompile(`cannot unmarshal (\w+) into Go struct field (\S+) of type (\S+)`)

// wrongType is a value of a kustomization file that has another type than its field.
func (r refused) wrongType() (at tree.Place, says string, ok bool) {
	for _, name := range r.kustomizations {
		text, err := r.files.Read(name)
		var kus types.Kustomization
		if err != nil {
			continue
		}
		err = kus.Unmarshal(text)
		if err == nil {
			continue
		}
		m := typeError.FindStringSubmatch(err.Error())
		if m == nil {
			continue
		}
		var field []string
		for part := range strings.SplitSeq(m[2], ".") {
			if part != "" && strings.ToLower(part[:1]) == part[:1] { // types are embedded by their names
				field = append(field, part)
			}
		}
		at = tree.Place{File: name, Line: 1, Column: 1}
		var doc yaml.Node
		if yaml.Unmarshal(text, &doc) == nil && len(doc.Content) == 1 {
			if n := ofType(doc.Content[0], field, m[1]); n != nil {
				at.Line, at.Column = n.Line, n.Column
			}
		}
		return at, strings.Join(field, ".") + " is " + typeNames[m[1]] + ", and has to be " + goType(m[3]), true
	}
	return at, "", false
}

// typeNames are JSON's types, as Go's decoder names them.
var typeNames = map[string]string{"string": "text", "number": "a number", "bool": "a boolean", "array": "a list", "object": "a mapping"}

func goType(name string) string {
	switch {
	case name == "string":
		return "text"
	case name == "bool":
		return "a boolean"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "float"):
		return "a number"
	}
	return "a mapping"
}

// ofType is the first value of a type at or below a path.
func ofType(n *yaml.Node, field []string, kind string) *yaml.Node {
	switch {
	case n.Kind == yaml.SequenceNode && (len(field) > 0 || kind != "array"):
		for _, item := range n.Content {
			if found := ofType(item, field, kind); found != nil {
				return found
			}
		}
	case len(field) > 0:
		if below := tree.Child(n, field[0]); below != nil {
			return ofType(below, field[1:], kind)
		}
	case jsonType(n) == kind:
		return n
	case n.Kind == yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			if jsonType(n.Content[i]) == kind {
				return n.Content[i]
			}
		}
	}
	return nil
}

// jsonType is what Go's decoder of JSON calls the type of a value that was YAML 1.1.
func jsonType(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "object"
	case n.Kind == yaml.SequenceNode:
		return "array"
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return "string"
	case n.Tag == "!!int", n.Tag == "!!float":
		return "number"
	case n.Tag == "!!bool", slices.Contains([]string{"y", "n", "yes", "no", "on", "off"}, strings.ToLower(n.Value)):
		return "bool"
	}
	return "string"
}
