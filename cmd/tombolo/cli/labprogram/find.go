// Package labprogram finds and runs the lab's own program, tombolo-lab. The stand-ins of the
// clouds and what runs the control planes are in it, so that tombolo is without them.
package labprogram

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"tombolo/cmd/tombolo/cli/fault"
)

// Name of the lab's program, and of its package in cmd.
const Name = "tombolo-lab"

const remedy = "a release has both programs in its archive; in a checkout, `make build` builds both"

// Become replaces this process by the lab's program with the same command line: signals, the
// terminal and the exit code are the program's. It returns only when it fails.
func Become(ctx context.Context, args []string) error {
	program, err := Find(ctx)
	if err != nil {
		return err
	}
	err = syscall.Exec(program, append([]string{program}, args...), os.Environ())
	return fault.NewPrecondition("run "+program, remedy, err)
}

// Find returns the file of the lab's program: the one beside this program. Where this program was
// made in a checkout, by `go run` for example, it is built from there. A project has no say in it:
// its files may be others'.
func Find(ctx context.Context) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's file: %w", err)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	return find(ctx, self, here, build)
}

func find(ctx context.Context, self, here string, build func(context.Context, string) (string, error)) (string, error) {
	beside := filepath.Join(filepath.Dir(self), Name)
	if runs(beside) {
		return beside, nil
	}
	from := filepath.Dir(self)
	if madeByGoRun(self) {
		from = here // `go run` is told the source by the working directory
	}
	if checkout := checkoutOf(from); checkout != "" {
		return build(ctx, checkout)
	}
	return "", fault.NewPrecondition(fmt.Sprintf("%s, the lab's program, is not in %s", Name, filepath.Dir(self)), remedy, nil)
}

// runs says that a file is a program.
func runs(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// madeByGoRun says that a program is in Go's build cache, or in a directory of a run of Go's.
func madeByGoRun(self string) bool {
	return strings.Contains(filepath.ToSlash(self), "/go-build")
}

// checkoutOf is the directory with the program's source that a directory is in; "" without one.
func checkoutOf(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, "cmd", Name)); err == nil && info.IsDir() {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// build builds the program of a checkout into the user's cache, and returns its file. With
// nothing changed since the last time that takes a second.
func build(ctx context.Context, checkout string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fault.NewPrecondition("find a directory to build "+Name+" in", remedy, err)
	}
	of := sha256.Sum256([]byte(checkout))
	file := filepath.Join(cache, "tombolo", "programs", hex.EncodeToString(of[:8]), Name)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", file, "./cmd/"+Name)
	cmd.Dir = checkout
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fault.NewPrecondition(strings.TrimSuffix("build "+Name+": "+strings.TrimSpace(string(said)), ": "), remedy, err)
	}
	return file, nil
}
