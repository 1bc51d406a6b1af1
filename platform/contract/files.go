package contract

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"tombolo/internal/wording"
)

// files is the index of a tree: what is in it by name, and the content of what
// was looked at.
type files struct {
	tree Tree
	// regular and dirs hold names relative to the tree's root, "." for itself.
	regular, dirs map[string]bool
	content       map[string][]byte
	parsed        map[string][]document
}

// index looks at the names in the tree. Version control's own directory is
// left out, and so is what is neither file nor directory: Flux does not have
// them in its artifact.
func index(tree Tree) (*files, error) {
	f := &files{
		tree: tree, regular: map[string]bool{}, dirs: map[string]bool{},
		content: map[string][]byte{}, parsed: map[string][]document{},
	}
	err := fs.WalkDir(tree.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir():
			f.dirs[name] = true
		case entry.Type().IsRegular():
			f.regular[name] = true
		}
		return nil
	})
	return f, err
}

// relative is a path within the tree without the ./ and / that it may start
// with. What leaves the tree ends at its root, as with Flux.
func relative(name string) string {
	if name = strings.TrimPrefix(path.Clean("/"+name), "/"); name != "" {
		return name
	}
	return "."
}

// read returns the content of a file of the tree.
func (f *files) read(name string) ([]byte, error) {
	if text, ok := f.content[name]; ok {
		return text, nil
	}
	if !f.regular[name] {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	text, err := fs.ReadFile(f.tree.FS, name)
	if err == nil {
		f.content[name] = text
	}
	return text, err
}

// entries are the names in a directory, sorted.
func (f *files) entries(dir string) []string {
	var out []string
	for _, names := range []map[string]bool{f.regular, f.dirs} {
		for name := range names {
			if name != "." && path.Dir(name) == dir {
				out = append(out, path.Base(name))
			}
		}
	}
	slices.Sort(out)
	return out
}

// shown is the name of a file in findings.
func (f *files) shown(name string) string { return path.Join(f.tree.Name, name) }

// nearDir is the directory of the tree that was probably meant.
func (f *files) nearDir(dir string) string {
	var siblings []string
	for known := range f.dirs {
		if known != "." {
			siblings = append(siblings, known)
		}
	}
	return wording.Nearest(dir, siblings)
}
