package flux

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"

	"tombolo/check/tree"
)

// Artifact is the tree as source-controller gives it to the other controllers: without what every .sourceignore
// names, or, in a tree that has none, without what it leaves out by default, such as .sops.yaml and .github/.
// Source: SourceIgnoreFilter in artifact/storage/archive.go of fluxcd/pkg.
func Artifact(files *tree.Files) *tree.Files {
	patterns := patternsOf(files)
	matcher := sourceignore.NewDefaultMatcher(nil, nil)
	if len(patterns) > 0 {
		matcher = sourceignore.NewMatcher(append(sourceignore.VCSPatterns(nil), patterns...))
	}
	return files.Without(func(name string) bool { return matcher.Match(strings.Split(name, "/"), false) })
}

// patternsOf are those of all .sourceignore files, a directory's before those below it.
func patternsOf(files *tree.Files) []gitignore.Pattern {
	var domains [][]string
	for _, name := range files.Names() {
		if path.Base(name) == sourceignore.IgnoreFile {
			parts := strings.Split(name, "/")
			domains = append(domains, parts[:len(parts)-1])
		}
	}
	slices.SortFunc(domains, slices.Compare)
	var out []gitignore.Pattern
	for _, domain := range domains {
		text, err := files.Read(path.Join(append(slices.Clone(domain), sourceignore.IgnoreFile)...))
		if err == nil {
			out = append(out, sourceignore.ReadPatterns(bytes.NewReader(text), domain)...)
		}
	}
	return out
}
