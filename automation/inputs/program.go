package inputs

import (
	"context"
	"errors"
	"go/build"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"tombolo/internal/file"
)

// program gathers what has changed in the program's own packages and in the
// modules it is built with. A project that has no source here, because it uses
// a driver that was built elsewhere, has none.
//
// The packages of now are enough: as long as none of their files has changed,
// they import what they imported then.
func (s *search) program(ctx context.Context) ([]Reason, error) {
	text, err := file.ReadInside(filepath.Join(s.repo.root, "go.mod"), mostOfModules)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable("read go.mod", err)
	}
	module := modfile.ModulePath(text)
	source := source{root: s.repo.root, module: module, packages: map[string]*build.Package{}}
	if err := source.add(programDir); err != nil {
		return nil, unreadable("read the program's source", err)
	}
	if len(source.packages) == 0 {
		return nil, nil
	}
	if err := source.addReplacements(text); err != nil {
		return nil, unreadable("read go.mod", err)
	}
	var files []string
	for file := range s.diff {
		if below, ok := within(s.repo.below("."), file); ok && source.has(below) {
			files = append(files, file)
		}
	}
	modules, err := s.modules(ctx, text)
	return append(s.files(Program, files...), modules...), err
}

// source is the program's packages that are in this module.
type source struct {
	root, module string
	// packages by their directory below root.
	packages map[string]*build.Package
	// replacements are the directories below root that go.mod takes in the place
	// of modules, the ones that the program does not import too.
	replacements []string
}

// add adds a package and what it imports of this module.
func (s *source) add(dir string) error {
	if s.packages[dir] != nil {
		return nil
	}
	found, err := build.ImportDir(filepath.Join(s.root, filepath.FromSlash(dir)), 0)
	if errors.Is(err, fs.ErrNotExist) && len(s.packages) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	s.packages[dir] = found
	for _, imported := range found.Imports {
		if below, ok := strings.CutPrefix(imported, s.module+"/"); ok {
			if err := s.add(below); err != nil {
				return err
			}
		}
	}
	return nil
}

// addReplacements finds the modules that go.mod takes from a directory.
func (s *source) addReplacements(text []byte) error {
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	for _, r := range file.Replace {
		if dir := path.Clean(r.New.Path); modfile.IsDirectoryPath(r.New.Path) && !path.IsAbs(dir) {
			s.replacements = append(s.replacements, dir)
		}
	}
	return nil
}

// has says whether the program is built from a file: source of one of its
// packages, for whichever system, or embedded in one.
func (s *source) has(file string) bool {
	if strings.HasSuffix(file, "_test.go") {
		return false
	}
	if s.packages[path.Dir(file)] != nil && path.Ext(file) == ".go" {
		return true
	}
	for _, dir := range s.replacements {
		if _, in := within(dir, file); in {
			return true
		}
	}
	for dir, p := range s.packages {
		for _, pattern := range p.EmbedPatterns {
			if matches(path.Join(dir, strings.TrimPrefix(pattern, "all:")), file) {
				return true
			}
		}
	}
	return false
}

// matches says whether a pattern names the file, or a directory that it is in.
func matches(pattern, file string) bool {
	for ; file != "."; file = path.Dir(file) {
		if ok, err := path.Match(pattern, file); ok && err == nil {
			return true
		}
	}
	return false
}
