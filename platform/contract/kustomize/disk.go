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

	"tombolo/platform/contract/tree"
)

// errReadOnly is the answer to kustomize when it tries to change the tree. A
// local build never does.
var errReadOnly = errors.New("the platform tree is read only")

// disk shows a tree to kustomize, with one file laid over it, and remembers
// what was read. The tree's root is "/": nothing outside of it exists.
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
	name = tree.Relative(name)
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
	if _, others, err := read(source); err == nil {
		maps.Copy(d.remote, places(name, source, others))
	}
	text, err = local(text)
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

func (d *disk) IsDir(name string) bool { return d.files.IsDir(tree.Relative(name)) }

func (d *disk) Exists(name string) bool {
	name = tree.Relative(name)
	return d.files.IsDir(name) || d.isFile(name)
}

func (d *disk) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	name = tree.Relative(name)
	switch {
	case d.files.IsDir(name):
		return filesys.ConfirmedDir(path.Join("/", name)), "", nil
	case d.isFile(name):
		return filesys.ConfirmedDir(path.Join("/", path.Dir(name))), path.Base(name), nil
	}
	return "", "", fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

func (d *disk) ReadDir(name string) ([]string, error) {
	if !d.IsDir(name) {
		return nil, fmt.Errorf("%s: %w", tree.Relative(name), fs.ErrNotExist)
	}
	entries := d.files.Entries(tree.Relative(name))
	if path.Dir(d.over) == tree.Relative(name) && !slices.Contains(entries, path.Base(d.over)) {
		entries = append(entries, path.Base(d.over))
	}
	return entries, nil
}

func (d *disk) Glob(pattern string) ([]string, error) {
	var out []string
	for _, name := range d.files.Names() {
		match, err := path.Match(tree.Relative(pattern), name)
		if err != nil {
			return nil, err
		}
		if match && !strings.HasPrefix(path.Base(name), ".") {
			out = append(out, path.Join("/", name))
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
