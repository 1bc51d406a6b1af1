package kustomize

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"tombolo/platform/contract/tree"
)

// disk is what kustomize gets of a tree, with one file laid over it, and remembers
// what was read. The tree's root is "/": nothing outside of it exists.
type disk struct {
	files *tree.Files
	// over is the file that the engine's object adds to or generates.
	over     string
	overText []byte
	read     map[string]bool
	// remote are the references that were left out: they name nothing in the tree.
	remote map[tree.Place]string
	// unreadable is why a kustomization file was not given to kustomize.
	unreadable error
}

func (d *disk) readFile(name string) ([]byte, error) {
	name = tree.Relative(name)
	text, err := d.raw(name)
	if err != nil {
		return nil, err
	}
	if !d.files.IsFile(name) {
		return text, nil // generated
	}
	d.read[name] = true
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

func (d *disk) isDir(name string) bool { return d.files.IsDir(tree.Relative(name)) }

func (d *disk) exists(name string) bool {
	name = tree.Relative(name)
	return d.files.IsDir(name) || d.isFile(name)
}

func (d *disk) cleanedAbs(name string) (dir, file string, err error) {
	name = tree.Relative(name)
	switch {
	case d.files.IsDir(name):
		return path.Join("/", name), "", nil
	case d.isFile(name):
		return path.Join("/", path.Dir(name)), path.Base(name), nil
	}
	return "", "", fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

func (d *disk) readDir(name string) ([]string, error) {
	if !d.isDir(name) {
		return nil, fmt.Errorf("%s: %w", tree.Relative(name), fs.ErrNotExist)
	}
	entries := d.files.Entries(tree.Relative(name))
	if path.Dir(d.over) == tree.Relative(name) && !slices.Contains(entries, path.Base(d.over)) {
		entries = append(entries, path.Base(d.over))
	}
	return entries, nil
}

func (d *disk) glob(pattern string) ([]string, error) {
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
