// Package file makes and replaces files as a whole.
package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Replace gives the file at path a new content and mode in one step: who reads
// it meanwhile, or after a crash, finds the old or the new content. Its
// directory must exist.
func Replace(path string, content []byte, mode fs.FileMode) error {
	// With the dot, nobody who lists the directory takes it for one of its files.
	next, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = next.Write(content)
	err = errors.Join(err, next.Chmod(mode), next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}

// Create makes a file that is not there yet. Where there is one, it stays as it is, and the
// error is fs.ErrExist. A file that could not be written to its end is removed. Its
// directory must exist.
func Create(path string, content []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

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

// What is read of a file at most, in bytes.
const (
	// MostText is the limit of a cluster file, and of others that people write: ten times the longest
	// that is known.
	MostText = 256 << 10
	// MostManifest is the limit of an install manifest or a packed chart, which have 0.5 to 3 MB.
	MostManifest = 16 << 20
)

// Read returns the content of a regular file of at most so many bytes, after
// links. It neither waits for a pipe nor reads a device.
func Read(path string, most int64) (_ []byte, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return atMost(f, most)
}

// ReadAny is Read for what somebody names who may name a pipe or a device, too. It waits for a
// pipe.
func ReadAny(path string, most int64) (_ []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return atMost(f, most)
}

func atMost(f *os.File, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		return nil, fmt.Errorf("%s has over %d bytes", filepath.Base(f.Name()), most)
	}
	return content, err
}

// Matching are the files whose names match a pattern, sorted; none where there is no such directory. Other than with
// filepath.Glob, the pattern is that of the name alone: a directory may be called as one, and what cannot be read is an error.
func Matching(pattern string) ([]string, error) {
	dir, name := filepath.Split(pattern)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, entry := range entries {
		is, bad := filepath.Match(name, entry.Name())
		if bad != nil {
			return nil, bad
		}
		if is {
			out = append(out, filepath.Join(dir, entry.Name()))
		}
	}
	return out, err
}
