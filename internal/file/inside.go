package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// marks are what the root of a project or of a checkout has.
var marks = []string{"Pulumi.yaml", ".git"}

// LeavesError says that a link on the way to a file leads out of the project.
type LeavesError struct{ Link, Target string }

// Error does not name the target's content, only where the link leads.
func (e *LeavesError) Error() string {
	return fmt.Sprintf("%s is a link out of the project, to %s; put a directory or file of the project in its place", e.Link, e.Target)
}

// Inside looks at the links on the way to a path: in a checkout, whoever may propose a
// change may make them. One that leads out of the project or checkout that it is in, or
// to Git's own files, is a LeavesError. Links above every project are of the machine,
// and those on the way to the working directory of whoever stands in it. A path that
// does not exist is no error.
func Inside(path string) error {
	working, err := os.Getwd()
	if err != nil {
		return err
	}
	if !filepath.IsAbs(path) {
		path = working + string(filepath.Separator) + path // with its dots, which links give a meaning
	}
	volume := filepath.VolumeName(path)
	given := volume + string(filepath.Separator)
	real := given
	for name := range strings.SplitSeq(filepath.ToSlash(path[len(volume):]), "/") {
		switch name {
		case "", ".":
			continue
		case "..":
			given, real = filepath.Dir(given), filepath.Dir(real)
			continue
		}
		given = filepath.Join(given, name)
		if real, err = follow(filepath.Join(real, name), given, Within(given, working)); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
	}
	return nil
}

// follow is where a path leads whose directory has no links any more.
func follow(path, given string, trusted bool) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, err
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil || trusted {
		return target, err
	}
	if root := rootOf(filepath.Dir(path)); root != "" && !owns(root, target) {
		return "", &LeavesError{Link: given, Target: target}
	}
	return target, nil
}

// rootOf is the nearest directory upwards that is a project or a checkout; "" for none.
func rootOf(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		for _, mark := range marks {
			if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// owns says whether a path is in a directory, and not among Git's own files there.
func owns(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel) && !slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), ".git")
}

// Within says whether a path is a directory or something in it, by their names.
func Within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// MostOfSettings is what a file of settings has at most, such as Pulumi.yaml, in bytes: a
// hundred times what is usual.
const MostOfSettings = 1 << 20

// ReadInside is Read for a file that a checkout has: no link may lead out of the project.
func ReadInside(path string, most int64) ([]byte, error) {
	if err := Inside(path); err != nil {
		return nil, err
	}
	return Read(path, most)
}
