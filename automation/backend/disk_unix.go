//go:build !windows

package backend

import "syscall"

// freeSpace is how many bytes a process may still write to the disk of a
// directory.
func freeSpace(dir string) (uint64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, err
	}
	return uint64(fs.Bavail) * uint64(fs.Bsize), nil //nolint:gosec,unconvert // the types differ between systems
}
