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

const remedy = "run `make build` in the checkout, which builds bin/" + Name

// Become replaces this process by the lab's program with the same command line: signals, the
// terminal and the exit code are the program's. It returns only when it fails.
func Become(ctx context.Context, root string, args []string) error {
	program, err := Find(ctx, root)
	if err != nil {
		return err
	}
	err = syscall.Exec(program, append([]string{program}, args...), os.Environ())
	return fault.NewPrecondition("run "+program, remedy, err)
}

// Find returns the file of the lab's program: the one beside this program, or in the project's
// bin. Where `go run` made this program there is none beside it, and what is in bin may be of
// another source: then it is built from the checkout.
func Find(ctx context.Context, root string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's file: %w", err)
	}
	return find(ctx, self, root, build)
}

func find(ctx context.Context, self, root string, build func(context.Context, string) (string, error)) (string, error) {
	beside := filepath.Join(filepath.Dir(self), Name)
	if runs(beside) {
		return beside, nil
	}
	checkout := checkoutAt(root)
	if checkout != "" && madeByGoRun(self) {
		return build(ctx, checkout)
	}
	if in := filepath.Join(root, "bin", Name); runs(in) {
		return in, nil
	}
	if checkout != "" {
		return build(ctx, checkout)
	}
	return "", fault.NewPrecondition(fmt.Sprintf("%s, the lab's program, is neither in %s nor in %s", Name, filepath.Dir(self), filepath.Join(root, "bin")), remedy, nil)
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

// checkoutAt is the first directory with the program's source: the project, or the working
// directory, which is where `go run ./cmd/tombolo` is run. "" without one.
func checkoutAt(root string) string {
	here, err := os.Getwd()
	if err != nil {
		here = root
	}
	for _, dir := range []string{root, here} {
		if info, err := os.Stat(filepath.Join(dir, "cmd", Name)); err == nil && info.IsDir() {
			return dir
		}
	}
	return ""
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
