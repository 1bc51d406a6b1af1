// Package tree reads a platform tree: the names and the content of its files,
// their YAML, and where in them something is.
package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"tombolo/platform/kustomization"
)

// What is read of a tree: it is text of others, and goes through a pipe to a process that
// may take 2 GB, of which YAML takes fifty times its own size.
const (
	// MostOfAFile is the largest file that is read, in bytes: ten objects of the size that
	// etcd takes, https://etcd.io/docs/v3.5/dev-guide/limit/.
	MostOfAFile = 16 << 20
	// MostOfATree is what all files that are read have together, in bytes. The
	// reference trees have half of one megabyte.
	MostOfATree = 64 << 20
	// mostFiles is how many files and directories a tree has, read or not: it may be the
	// root of a repository with other things in it.
	mostFiles = 200_000
	// mostOfNames is what their names have together, in bytes.
	mostOfNames = 32 << 20
)

// LimitError says which file is more than what is read of a tree.
type LimitError struct {
	Name, Why string
}

// Error names the file and says what to do.
func (e *LimitError) Error() string {
	return fmt.Sprintf("read %s: %s; take it out of what the clusters follow", e.Name, e.Why)
}

// Files is the index of a tree: what is in it by name, and the content of what
// was looked at. Names are relative to the tree's root, "." for itself.
type Files struct {
	read          func(name string) ([]byte, error)
	regular, dirs map[string]bool
	content       map[string][]byte
	parsed        map[string][]Document
	// links are the symbolic links with what they lead to, and follows says whether a name may go through one.
	links   map[string]string
	follows bool
	// copies are where files of a composed tree come from.
	copies map[string]Copy
	// total is how much was read, in bytes.
	total int
}

// Index looks at the names in the tree. Version control's own directory is
// left out, and so is what is neither file nor directory, of which links are kept apart: Flux does
// not have them in its artifact.
func Index(tree fs.FS) (*Files, error) {
	f := Listed(nil, nil, func(name string) ([]byte, error) { return read(tree, name) })
	size := 0
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		size += len(name)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !utf8.ValidString(name): // JSON would make another name of it
			return fmt.Errorf("the name of %q is not UTF-8; give the file another name", name)
		case size > mostOfNames || len(f.dirs)+len(f.regular) > mostFiles:
			return fmt.Errorf("it has over %d files, or names of over %d bytes; name the directory in which the platform tree is", mostFiles, mostOfNames)
		case entry.IsDir():
			f.dirs[name] = true
		case entry.Type().IsRegular():
			f.regular[name] = true
		case entry.Type()&fs.ModeSymlink != 0:
			f.links[name], err = fs.ReadLink(tree, name)
		}
		return err
	})
	return f, err
}

// read returns a file that has at most MostOfAFile; of a longer one, a byte more.
func read(tree fs.FS, name string) (_ []byte, err error) {
	file, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, MostOfAFile+1))
}

// Listed is an index of known names. read returns the content of a file.
func Listed(regular, dirs []string, read func(name string) ([]byte, error)) *Files {
	f := &Files{
		read: read, links: map[string]string{}, regular: map[string]bool{}, dirs: map[string]bool{".": true},
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

// Without is the tree without some of its files, and without the directories that have no others.
func (f *Files) Without(leaves func(name string) bool) *Files {
	emptied, kept := map[string]bool{}, map[string]bool{}
	var names []string
	for _, name := range f.Names() {
		above := kept
		if leaves(name) {
			above = emptied
		} else {
			names = append(names, name)
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			above[dir] = true
		}
	}
	dirs := slices.DeleteFunc(f.Dirs(), func(dir string) bool { return emptied[dir] && !kept[dir] })
	out := Listed(names, dirs, f.Read)
	out.copies, out.links = f.copies, f.links
	return out
}

// Relative is a path within the tree without the ./ and / that it may start
// with. What leaves the tree ends at its root, as with Flux.
func Relative(name string) string {
	if name = strings.TrimPrefix(path.Clean("/"+name), "/"); name != "" {
		return name
	}
	return "."
}

// Leaves says whether a name, as a directory of the tree has it, is above the tree's root.
func Leaves(dir, name string) bool {
	joined := path.Join(dir, name)
	return joined == ".." || strings.HasPrefix(joined, "../")
}

// IsFile says whether the tree has a regular file of that name.
func (f *Files) IsFile(name string) bool { return f.regular[f.Real(name)] }

// IsDir says whether the tree has a directory of that name.
func (f *Files) IsDir(name string) bool { return f.dirs[f.Real(name)] }

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

// Read returns the content of a file of the tree, and keeps it.
func (f *Files) Read(name string) ([]byte, error) {
	if text, ok := f.content[name]; ok {
		return text, nil
	}
	text, err := f.Load(name)
	if err == nil {
		f.content[name] = text
	}
	return text, err
}

// Load is Read for who keeps the content elsewhere. What is too much is a LimitError.
func (f *Files) Load(name string) ([]byte, error) {
	name = f.Real(name)
	if !f.regular[name] {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	text, err := f.read(name)
	if err != nil {
		return nil, err
	}
	f.total += len(text)
	switch {
	case len(text) > MostOfAFile:
		return nil, &LimitError{name, fmt.Sprintf("it has over %d bytes, which is the most that check reads of a file", MostOfAFile)}
	case f.total > MostOfATree:
		return nil, &LimitError{name, fmt.Sprintf("with it, files have over %d bytes, which is the most that check reads of a tree", MostOfATree)}
	}
	return text, nil
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
