package archive

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Extract extracts an archive that is compressed by gzip into a directory, which must
// exist. It makes nothing outside of it: an entry with such a name, below a symbolic link, or
// with a link to the outside is an error, as is an entry that is there twice or is neither a
// file, a directory nor a symbolic link. What was extracted before an error is left.
func Extract(r io.Reader, dir string) error {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("decompressing: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // files are closed by themselves
	for from := tar.NewReader(zip); ; {
		header, err := from.Next()
		switch {
		case errors.Is(err, io.EOF):
			// gzip's checksum is behind the archive's end.
			_, err := io.Copy(io.Discard, zip)
			return err
		case err != nil:
			return fmt.Errorf("reading the archive: %w", err)
		}
		if err := extract(root, header, from); err != nil {
			return fmt.Errorf("extracting %q: %w", header.Name, err)
		}
	}
}

func extract(root *os.Root, header *tar.Header, content io.Reader) error {
	name := filepath.FromSlash(path.Clean(header.Name))
	if !filepath.IsLocal(name) {
		return errors.New("its name leads out of the directory")
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeSymlink:
		if path.IsAbs(header.Linkname) || !filepath.IsLocal(filepath.Join(filepath.Dir(name), filepath.FromSlash(header.Linkname))) {
			return fmt.Errorf("it links to %q, which is outside of the directory", header.Linkname)
		}
		return root.Symlink(header.Linkname, name)
	case tar.TypeReg:
		return write(root, name, fs.FileMode(header.Mode), content)
	default:
		return fmt.Errorf("it is neither a file, a directory nor a symbolic link (type %q)", header.Typeflag)
	}
}

func write(root *os.Root, name string, mode fs.FileMode, content io.Reader) error {
	perm := fs.FileMode(0o644)
	if mode&0o100 != 0 {
		perm = 0o755
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
