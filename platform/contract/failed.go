package contract

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
	"sigs.k8s.io/kustomize/api/types"

	"tombolo/internal/wording"
)

// failedBuild says why kustomize cannot build a Kustomization's path: at what
// is not in the tree if that is the reason, and else in kustomize's words.
func (w *walk) failedBuild(s *sync, b built) {
	before := len(w.findings)
	for _, name := range b.read {
		if isKustomizationFile(name) {
			w.checkLoaded(name)
			w.checkFields(name)
		}
		w.checkSyntax(name)
	}
	if len(w.findings) > before {
		return
	}
	at := place{file: s.dir()}
	if own, ok := w.builds.ownFile(s.dir()); ok {
		at.file = own
	}
	w.at(at, Finding{
		Severity: Error,
		Message:  fmt.Sprintf("%s cannot be built: %s", s.identity(), innermost(b.err)),
		Remedy:   "correct what kustomize refuses",
	})
}

// checkLoaded reports what a kustomization file names and the tree does not
// have.
func (w *walk) checkLoaded(file string) {
	for _, d := range w.files.documents(file) {
		d.each(func(v value) {
			if name, ok := loads(v); ok && !w.inTree(path.Join(path.Dir(file), name)) {
				w.at(place{file, d.line + v.node.Line, d.column + v.node.Column}, Finding{
					Severity: Error,
					Message:  fmt.Sprintf("%s is not in the tree", name),
					Remedy:   w.nearFile(file, name, "add it, or remove it from "+path.Base(file)),
				})
			}
		})
	}
}

var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// checkFields reports what a kustomization file cannot have.
func (w *walk) checkFields(file string) {
	text, err := w.files.read(file)
	if err != nil {
		return
	}
	var kus types.Kustomization
	m := unknownField.FindStringSubmatch(fmt.Sprint(kus.Unmarshal(text)))
	if m == nil {
		return
	}
	for _, d := range w.files.documents(file) {
		d.each(func(v value) {
			if v.isKey && v.node.Value == m[1] {
				w.at(place{file, d.line + v.node.Line, d.column + v.node.Column}, Finding{
					Severity: Error,
					Message:  fmt.Sprintf("kustomize knows no field %q here", m[1]),
					Remedy:   didYouMean(m[1], fetching, "correct or remove it"),
				})
			}
		})
	}
}

// yamlLine is where the parser says the line of a problem.
var yamlLine = regexp.MustCompile(`^yaml: line (\d+): (.*)`)

// checkSyntax reports a file that is not YAML.
func (w *walk) checkSyntax(file string) {
	text, err := w.files.read(file)
	if err != nil || !isManifest(file) {
		return
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for err == nil {
		err = decoder.Decode(new(yaml.Node))
	}
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return
	}
	line, _ := strconv.Atoi(m[1]) // digits
	w.at(place{file, line, 1}, Finding{
		Severity: Error,
		Message:  "this is not YAML: " + m[2],
		Remedy:   "correct it at this line or the one before; a variable that stands for a list or mapping is written without brackets around it",
	})
}

func (w *walk) inTree(name string) bool {
	name = relative(name)
	return w.files.regular[name] || w.files.dirs[name]
}

// loads returns the file or directory that a value of a kustomization file
// names.
func loads(v value) (string, bool) {
	if v.isKey || v.node.Kind != yaml.ScalarNode || isRemote(v.node.Value) || strings.Contains(v.node.Value, "\n") || len(v.path) < 2 {
		return "", false
	}
	last := len(v.path) - 1
	switch {
	case v.path[last] == "[]" && slices.Contains(fetching, v.path[last-1]):
		_, name, named := strings.Cut(v.node.Value, "=")
		if !named {
			name = v.node.Value
		}
		return name, true
	case v.path[last] == "path" && v.path[0] != "replacements" && len(v.path) == 3:
		return v.node.Value, true
	}
	return "", false
}

// nearFile is the entry of the same directory that was probably meant.
func (w *walk) nearFile(file, name, otherwise string) string {
	dir := relative(path.Join(path.Dir(file), path.Dir(name)))
	near := wording.Nearest(path.Base(name), w.files.entries(dir))
	if near == "" {
		return otherwise
	}
	return fmt.Sprintf("did you mean %q?", path.Join(path.Dir(name), near))
}

// innermost is the end of an error's chain: kustomize wraps an error once for
// every directory on its way.
func innermost(err error) string {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	text, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return text
}
