package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// modified is when everything was.
var modified = time.Date(2026, 11, 25, 21, 0, 0, 0, time.UTC)

// room makes a directory with what an archive may hold, in the given order and with the
// given modes of the owner.
func room(t *testing.T, program fs.FileMode, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		files.Write(t, filepath.Join(dir, name), "content of "+name)
	}
	assert.NilError(t, os.Chmod(filepath.Join(dir, "bin/tool"), program))
	assert.NilError(t, os.Symlink("tool", filepath.Join(dir, "bin/alias")))
	return dir
}

func packed(t *testing.T, dir string, at time.Time) []byte {
	t.Helper()
	entries, err := Directory(dir, "top")
	assert.NilError(t, err)
	var b bytes.Buffer
	assert.NilError(t, Compressed(&b, entries, at))
	return b.Bytes()
}

// TestEqual: the same files in two directories, made in another order, at other times and
// with another umask, are the same archive; another content or another time is another one.
func TestEqual(t *testing.T) {
	one := room(t, 0o755, "bin/tool", "share/b", "share/a")
	two := room(t, 0o700, "share/a", "share/b", "bin/tool")
	assert.NilError(t, os.Chtimes(filepath.Join(two, "share/a"), time.Time{}, modified))
	assert.NilError(t, os.Chmod(filepath.Join(two, "share/b"), 0o600))
	first := packed(t, one, modified)
	assert.Check(t, bytes.Equal(first, packed(t, two, modified.In(time.FixedZone("east", 3600)))))
	assert.Check(t, !bytes.Equal(first, packed(t, one, modified.Add(time.Second))))
	files.Write(t, filepath.Join(two, "share/a"), "another")
	assert.Check(t, !bytes.Equal(first, packed(t, two, modified)))
}

func TestExtract(t *testing.T) {
	dir := t.TempDir()
	assert.NilError(t, Extract(bytes.NewReader(packed(t, room(t, 0o755, "bin/tool", "share/a"), modified)), dir))
	for name, mode := range map[string]fs.FileMode{"top/bin/tool": 0o755, "top/share/a": 0o644} {
		info, err := os.Stat(filepath.Join(dir, name))
		assert.NilError(t, err)
		assert.Equal(t, info.Mode().Perm(), mode)
	}
	content, err := os.ReadFile(filepath.Join(dir, "top/bin/alias"))
	assert.NilError(t, err)
	assert.Equal(t, string(content), "content of bin/tool")
}

func TestTwice(t *testing.T) {
	err := Tar(&bytes.Buffer{}, []Entry{{Name: "a"}, {Name: "a"}}, modified)
	assert.Check(t, is.Error(err, "archiving a: it is there twice"))
}

// TestHostile: nothing is made outside of the directory.
func TestHostile(t *testing.T) {
	for name, test := range map[string]struct {
		headers []tar.Header
		want    string
	}{
		"upwards":          {[]tar.Header{{Name: "../evil", Typeflag: tar.TypeReg}}, `extracting "../evil": its name leads out of the directory`},
		"upwards, inside":  {[]tar.Header{{Name: "a/../../evil", Typeflag: tar.TypeReg}}, `its name leads out of the directory`},
		"absolute":         {[]tar.Header{{Name: "/evil", Typeflag: tar.TypeReg}}, `its name leads out of the directory`},
		"link outside":     {[]tar.Header{{Name: "a/link", Linkname: "../../evil", Typeflag: tar.TypeSymlink}}, `it links to "../../evil", which is outside`},
		"absolute link":    {[]tar.Header{{Name: "link", Linkname: "/evil", Typeflag: tar.TypeSymlink}}, `it links to "/evil", which is outside`},
		"hard link":        {[]tar.Header{{Name: "link", Linkname: "/etc/passwd", Typeflag: tar.TypeLink}}, `neither a file, a directory nor a symbolic link`},
		"device":           {[]tar.Header{{Name: "null", Typeflag: tar.TypeChar}}, `neither a file, a directory nor a symbolic link`},
		"twice":            {[]tar.Header{{Name: "a", Typeflag: tar.TypeReg}, {Name: "a", Typeflag: tar.TypeReg}}, `file exists`},
		"written by links": {[]tar.Header{{Name: "a", Typeflag: tar.TypeReg}, {Name: "b", Linkname: "a", Typeflag: tar.TypeSymlink}, {Name: "b", Typeflag: tar.TypeReg}}, `file exists`},
	} {
		t.Run(name, func(t *testing.T) {
			outside := t.TempDir()
			dir := filepath.Join(outside, "in")
			assert.NilError(t, os.Mkdir(dir, 0o755))
			var b bytes.Buffer
			zip := gzip.NewWriter(&b)
			to := tar.NewWriter(zip)
			for _, h := range test.headers {
				assert.NilError(t, to.WriteHeader(&h))
			}
			assert.NilError(t, to.Close())
			assert.NilError(t, zip.Close())
			assert.Check(t, is.ErrorContains(Extract(&b, dir), test.want))
			left, err := os.ReadDir(outside)
			assert.NilError(t, err)
			assert.Check(t, is.Len(left, 1), "%v", left)
		})
	}
}

// TestTruncated: an archive that ends early is an error wherever it ends.
func TestTruncated(t *testing.T) {
	whole := packed(t, room(t, 0o755, "bin/tool"), modified)
	for length := range whole {
		assert.Check(t, Extract(bytes.NewReader(whole[:length]), t.TempDir()) != nil, "%d of %d bytes are taken for whole", length, len(whole))
	}
}
