package kustomize

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"tombolo/check/tree"
)

// errReadOnly is the answer to kustomize when it tries to change the tree. A
// local build never does.
var errReadOnly = errors.New("the platform tree is read only")

// root is where kustomize sees the tree. It is not "/", above which nothing is: kustomize has to
// miss what an engine will not find, wherever a reference to it stands.
const root = "/the-platform-tree"

// inTree is a name that kustomize gives, within the tree.
func inTree(name string) (string, bool) {
	if !path.IsAbs(name) {
		return "", false
	}
	if name = path.Clean(name); name == root {
		return ".", true
	}
	return strings.CutPrefix(name, root+"/")
}

// WithoutRoot is what kustomize says, with paths of the tree.
func WithoutRoot(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, root+"/", "/"), root, "/")
}

// disk shows a tree to kustomize, with one file laid over it, and remembers
// what was read. Nothing outside of the tree exists.
type disk struct {
	files *tree.Files
	// over is the file that the engine's object adds to or generates.
	over     string
	overText []byte
	read     map[string]bool
	// remote are the references that were left out: they name nothing in the tree.
	remote map[tree.Place]string
	// unreadable is why a file was not given to kustomize.
	unreadable error
}

var _ filesys.FileSystem = (*disk)(nil)

func (d *disk) ReadFile(name string) ([]byte, error) {
	name, ok := inTree(name)
	if !ok {
		return nil, fs.ErrNotExist
	}
	text, err := d.raw(name)
	if err != nil {
		return nil, err
	}
	if !d.files.IsFile(name) {
		return text, nil // generated
	}
	d.read[name] = true
	if err := tree.Expands(text); err != nil {
		d.unreadable = fmt.Errorf("%s: %w", name, err)
		return nil, d.unreadable
	}
	if !tree.IsKustomization(name) {
		return text, nil
	}
	return d.kustomization(name, text)
}

// kustomization is the text of a kustomization file without what is not in the
// tree. One that kustomize cannot read it does not get.
func (d *disk) kustomization(name string, text []byte) ([]byte, error) {
	// What is told is told of the tree's own file, whatever is laid over it.
	source, err := d.files.Read(name)
	if err != nil {
		return nil, err
	}
	if _, others, err := read(path.Dir(name), source); err == nil {
		maps.Copy(d.remote, places(name, source, others))
	}
	text, err = local(path.Dir(name), text)
	if err != nil {
		d.unreadable = fmt.Errorf("%s: %w", name, err)
	}
	return text, err
}

func (d *disk) raw(name string) ([]byte, error) {
	if name == d.over {
		return d.overText, nil
	}
	return d.files.Read(name)
}

func (d *disk) isFile(name string) bool { return name == d.over || d.files.IsFile(name) }

func (d *disk) IsDir(name string) bool {
	name, ok := inTree(name)
	return ok && d.files.IsDir(name)
}

func (d *disk) Exists(name string) bool {
	name, ok := inTree(name)
	return ok && (d.files.IsDir(name) || d.isFile(name))
}

func (d *disk) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	within, ok := inTree(name)
	within = d.files.Real(within)
	switch {
	case ok && d.files.IsDir(within):
		return filesys.ConfirmedDir(path.Join(root, within)), "", nil
	case ok && d.isFile(within):
		return filesys.ConfirmedDir(path.Join(root, path.Dir(within))), path.Base(within), nil
	}
	return "", "", fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

func (d *disk) ReadDir(name string) ([]string, error) {
	within, ok := inTree(name)
	if !ok || !d.files.IsDir(within) {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	entries := d.files.Entries(within)
	if path.Dir(d.over) == within && !slices.Contains(entries, path.Base(d.over)) {
		entries = append(entries, path.Base(d.over))
	}
	return entries, nil
}

func (d *disk) Glob(pattern string) ([]string, error) {
	var out []string
	for _, name := range d.files.Names() {
		match, err := path.Match(pattern, path.Join(root, name))
		if err != nil {
			return nil, err
		}
		if match && !strings.HasPrefix(path.Base(name), ".") {
			out = append(out, path.Join(root, name))
		}
	}
	return out, nil
}

func (d *disk) Open(name string) (filesys.File, error) {
	text, err := d.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return openFile{bytes.NewReader(text)}, nil
}

func (d *disk) Create(string) (filesys.File, error)  { return nil, errReadOnly }
func (d *disk) Mkdir(string) error                   { return errReadOnly }
func (d *disk) MkdirAll(string) error                { return errReadOnly }
func (d *disk) RemoveAll(string) error               { return errReadOnly }
func (d *disk) WriteFile(string, []byte) error       { return errReadOnly }
func (d *disk) Walk(string, filepath.WalkFunc) error { return errReadOnly }

// openFile is a file of the tree, open for reading.
type openFile struct{ io.Reader }

func (openFile) Write([]byte) (int, error)  { return 0, errReadOnly }
func (openFile) Close() error               { return nil }
func (openFile) Stat() (os.FileInfo, error) { return nil, errReadOnly }
