package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tombolo/internal/names"
)

// buildProgram builds bin/tombolo of the checkout that is the working directory, and beside it
// bin/tombolo-lab, its lab, bin/lab-aws, the aws of the lab, and the link bin/tombolo-program, which
// is tombolo as plain Pulumi runs it. With nothing cached that takes minutes, which go build
// would say nothing in.
func buildProgram(ctx context.Context, out *os.File) error {
	p := newProgress(out, programName)
	p.start()
	err := p.compile(ctx, "", "bin", nil, "./cmd/tombolo", "./cmd/tombolo-lab", "./cmd/lab-aws")
	p.finish(err)
	if err == nil {
		err = errors.Join(linkProgram("bin"), keepFlags())
	}
	if err != nil {
		return fmt.Errorf("building bin/tombolo: %w", err)
	}
	return nil
}

// linkProgram makes the link of a directory with tombolo, as a release has it.
func linkProgram(dir string) error {
	link := filepath.Join(dir, names.Program)
	if to, err := os.Readlink(link); err == nil && to == "tombolo" {
		return nil
	}
	return errors.Join(os.RemoveAll(link), os.Symlink("tombolo", link))
}

// keepFlags writes down what the program was compiled with, for what is compiled in the lab: plain
// Pulumi builds the program too, and would compile all of it again with other flags.
func keepFlags() error {
	if err := os.MkdirAll(".tools", 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(".tools", "goflags"), fmt.Appendln(nil, os.Getenv("GOFLAGS")), 0o644)
}
