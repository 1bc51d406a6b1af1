// Package tree reads a platform tree: the names and the content of its files,
// their YAML, and where in them something is.
package tree

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"tombolo/platform/kustomization"
)

// MostOfAFile is the largest file that is read, in bytes.
const MostOfAFile = 16 << 20

// Files is the index of a tree: what is in it by name, and the content of what
// was looked at. Names are relative to the tree's root, "." for itself.
type Files struct {
	read          func(name string) ([]byte, error)
	regular, dirs map[string]bool
	content       map[string][]byte
	parsed        map[string][]Document
}

// Index looks at the names in the tree. Version control's own directory is
// left out, and so is what is neither file nor directory: Flux does not have
// them in its artifact.
func Index(tree fs.FS) (*Files, error) {
	f := Listed(nil, nil, func(name string) ([]byte, error) { return fs.ReadFile(tree, name) })
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
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

// Listed is an index of known names. read returns the content of a file.
func Listed(regular, dirs []string, read func(name string) ([]byte, error)) *Files {
	f := &Files{
		read: read, regular: map[string]bool{}, dirs: map[string]bool{".": true},
		content: map[string][]byte{}, parsed: map[string][]Document{},
	}
	for _, name := range regular {
		f.regular[name] = true
	}
	for _, name := range dirs {
		f.dirs[name] = true
	}
	return f
}

// Relative is a path within the tree without the ./ and / that it may start
// with. What leaves the tree ends at its root, as with Flux.
func Relative(name string) string {
	if name = strings.TrimPrefix(path.Clean("/"+name), "/"); name != "" {
		return name
	}
	return "."
}

// IsFile says whether the tree has a regular file of that name.
func (f *Files) IsFile(name string) bool { return f.regular[name] }

// IsDir says whether the tree has a directory of that name.
func (f *Files) IsDir(name string) bool { return f.dirs[name] }

// Names are those of all files, sorted.
func (f *Files) Names() []string { return slices.Sorted(maps.Keys(f.regular)) }

// Dirs are the names of all directories but the root, sorted.
func (f *Files) Dirs() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.dirs)), func(name string) bool { return name == "." })
}

// Entries are the names in a directory, sorted.
func (f *Files) Entries(dir string) []string {
	var out []string
	for _, name := range slices.Concat(f.Names(), f.Dirs()) {
		if path.Dir(name) == dir {
			out = append(out, path.Base(name))
		}
	}
	slices.Sort(out)
	return out
}

// Read returns the content of a file of the tree.
func (f *Files) Read(name string) ([]byte, error) {
	if text, ok := f.content[name]; ok {
		return text, nil
	}
	if !f.regular[name] {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	text, err := f.read(name)
	if err == nil {
		f.content[name] = text
	}
	return text, err
}

// Documents are those of a file of the tree; none when it is not YAML.
func (f *Files) Documents(name string) []Document {
	if known, ok := f.parsed[name]; ok {
		return known
	}
	var out []Document
	if text, err := f.Read(name); err == nil && IsManifest(name) && Expands(text) == nil {
		out = split(text, lines(text), 0, 0)
	}
	f.parsed[name] = out
	return out
}

// IsKustomization says whether a file is a kustomization file, by its name.
func IsKustomization(name string) bool {
	return slices.Contains(kustomization.Names(), path.Base(name))
}

// IsManifest says whether a file is YAML, by its name.
func IsManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) || IsKustomization(name)
}
