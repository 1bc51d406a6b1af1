// Package archive writes tar archives of which two with the same files are equal bit for
// bit, and extracts archives that others have made into a directory and nowhere else.
package archive

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// Entry is a file, a directory or a symbolic link of an archive.
type Entry struct {
	// Name is the path in the archive, with slashes.
	Name string
	// Mode is the entry's kind, and whether the owner may execute it: in the archive,
	// files have 0644 or 0755, directories 0755.
	Mode fs.FileMode
	// Link is what a symbolic link points to.
	Link string
	// Owner is the number of the user and of the group. 0 is root.
	Owner int
	// File on disk with the content. Content is it where File is "".
	File    string
	Content []byte
}

// Directory returns the entries of all that is below a directory, with prefix before the
// names. What is neither a file, a directory nor a symbolic link is an error.
// Directories that have something in them are left out: extracting makes them.
func Directory(dir, prefix string) ([]Entry, error) {
	var entries []Entry
	err := filepath.WalkDir(dir, func(file string, found fs.DirEntry, err error) error {
		if err != nil || found.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		info, err := found.Info()
		if err != nil {
			return err
		}
		e := Entry{Name: path.Join(prefix, filepath.ToSlash(name)), Mode: info.Mode(), File: file}
		if e.Mode.Type() == fs.ModeSymlink {
			if e.Link, err = os.Readlink(file); err != nil {
				return err
			}
		}
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing what is archived: %w", err)
	}
	return entries, nil
}

// Compressed writes the entries as Tar does, compressed by gzip.
func Compressed(w io.Writer, entries []Entry, modified time.Time) error {
	zip := gzip.NewWriter(w) // its header has neither a name nor a time
	return errors.Join(Tar(zip, entries, modified), zip.Close())
}

// Tar writes the entries in the order of their names. All are modified at one time, and
// of the machine that writes nothing is in the archive: neither users nor umask.
func Tar(w io.Writer, entries []Entry, modified time.Time) error {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	to := tar.NewWriter(w)
	for i, e := range entries {
		if i > 0 && entries[i-1].Name == e.Name {
			return fmt.Errorf("archiving %s: it is there twice", e.Name)
		}
		if err := e.write(to, modified); err != nil {
			return fmt.Errorf("archiving %s: %w", e.Name, err)
		}
	}
	return to.Close()
}

func (e Entry) write(to *tar.Writer, modified time.Time) error {
	header := &tar.Header{Name: e.Name, Mode: 0o644, ModTime: modified.UTC().Truncate(time.Second), Uid: e.Owner, Gid: e.Owner}
	switch e.Mode.Type() {
	case fs.ModeDir:
		header.Typeflag, header.Name, header.Mode = tar.TypeDir, e.Name+"/", 0o755
		return to.WriteHeader(header)
	case fs.ModeSymlink:
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, e.Link, 0o777
		return to.WriteHeader(header)
	case 0:
	default:
		return fmt.Errorf("it is neither a file, a directory nor a symbolic link (%s)", e.Mode)
	}
	if e.Mode&0o100 != 0 {
		header.Mode = 0o755
	}
	header.Typeflag, header.Size = tar.TypeReg, int64(len(e.Content))
	if e.File == "" {
		return errors.Join(to.WriteHeader(header), writeAll(to, e.Content))
	}
	from, err := os.Open(e.File)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	header.Size = info.Size()
	if err := to.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return err
}

func writeAll(w io.Writer, content []byte) error {
	_, err := w.Write(content)
	return err
}
