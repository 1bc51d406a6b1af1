package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tombolo/tools/archive"
)

// jobTools is the archive of what a job runs beside tombolo: the set jobs. Its name has the
// release's version and no key, so that a project pins it as it does the program's, and a tool
// that updates pins finds it in the next release.
func jobTools(release, platform string) string {
	return fmt.Sprintf("tombolo-tools_%s_%s.tar.gz", strings.TrimPrefix(release, "v"), strings.ReplaceAll(platform, "/", "_"))
}

// packJobs makes that archive of groups that were packed into the directory, with its checksum in a
// file beside it. It makes none where one of the groups was not packed.
func packJobs(packed []released, to, release, platform string) (err error) {
	dir, err := os.MkdirTemp("", "tombolo-pack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, g := range sets()["jobs"] {
		i := slices.IndexFunc(packed, func(r released) bool { return r.Group == g.name })
		if i < 0 {
			return nil
		}
		if err := unpack(filepath.Join(to, packed[i].Name), dir); err != nil {
			return fmt.Errorf("packing what jobs run: %w", err)
		}
	}
	entries, err := archive.Directory(dir, "")
	if err != nil {
		return err
	}
	name := jobTools(release, platform)
	file, err := os.Create(filepath.Join(to, name))
	if err != nil {
		return err
	}
	sum := sha256.New()
	err = archive.Compressed(io.MultiWriter(file, sum), entries, time.Unix(0, 0))
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("packing what jobs run: %w", err)
	}
	return os.WriteFile(filepath.Join(to, name+".sha256"), fmt.Appendf(nil, "%x  %s\n", sum.Sum(nil), name), 0o644)
}

func unpack(name, dir string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return archive.Extract(file, dir)
}
