package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// buildProgram builds bin/tombolo of the checkout that is the working directory, and beside it
// bin/tombolo-lab, its lab, and bin/lab-aws, the aws of the lab. With nothing cached that takes minutes, which go build
// would say nothing in.
func buildProgram(ctx context.Context, out *os.File) error {
	p := newProgress(out, programName)
	p.start()
	err := p.compile(ctx, "", "bin", nil, "./cmd/tombolo", "./cmd/tombolo-lab", "./cmd/lab-aws")
	p.finish(err)
	if err == nil {
		err = keepFlags()
	}
	if err != nil {
		return fmt.Errorf("building bin/tombolo: %w", err)
	}
	return nil
}

// keepFlags writes down what the program was compiled with, for what is compiled in the lab: plain
// Pulumi builds the program too, and would compile all of it again with other flags.
func keepFlags() error {
	if err := os.MkdirAll(".tools", 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(".tools", "goflags"), fmt.Appendln(nil, os.Getenv("GOFLAGS")), 0o644)
}
