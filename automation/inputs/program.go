package inputs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"tombolo/internal/file"
)

// programDir is the package that the stacks are built from, below the project's
// directory; the driver runs the same programs.
const programDir = "cmd/program"

// programDirs hold what the program is made of, as the arrows between packages have it, and
// with it what it embeds.
func programDirs() []string {
	return []string{programDir, "components", "config", "internal", "stacks"}
}

// program gathers what has changed in source and in the modules. Which packages the program
// imports, and which modules these use, is not looked at: any of it is for all clusters. A
// project that has no source here, because it uses a driver that was built elsewhere, has
// none.
func (s *search) program() ([]Reason, error) {
	text, err := file.ReadInside(filepath.Join(s.repo.root, "go.mod"), file.MostText)
	if err == nil {
		_, err = os.Stat(filepath.Join(s.repo.root, filepath.FromSlash(programDir)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable("read the program's source", err)
	}
	replacements, err := replacements(text)
	if err != nil {
		return nil, unreadable("read go.mod", err)
	}
	whole := append(programDirs(), replacements...)
	var files []string
	for file := range s.diff {
		if below, ok := within(s.repo.below("."), file); ok && isSource(below, whole) {
			files = append(files, file)
		}
	}
	reasons := s.files(Program, files...)
	return append(reasons, s.files(Modules, s.repo.below("go.mod"), s.repo.below("go.sum"))...), nil
}

// replacements are the directories below the project's that go.mod takes in the place of
// modules.
func replacements(text []byte) ([]string, error) {
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, r := range file.Replace {
		if modfile.IsDirectoryPath(r.New.Path) && !path.IsAbs(r.New.Path) {
			dirs = append(dirs, path.Clean(r.New.Path))
		}
	}
	return dirs, nil
}

// isSource says whether a file is Go, or in one of the directories that count as a whole.
func isSource(file string, whole []string) bool {
	if strings.HasSuffix(file, "_test.go") {
		return false
	}
	return path.Ext(file) == ".go" || slices.ContainsFunc(whole, func(dir string) bool { _, in := within(dir, file); return in })
}
