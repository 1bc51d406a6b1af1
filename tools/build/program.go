package main

import (
	"context"
	"fmt"
	"os"
)

// buildProgram builds bin/tombolo of the checkout that is the working directory, and beside it
// bin/lab-aws, the aws of its lab. With nothing cached that takes minutes, which go build
// would say nothing in.
func buildProgram(ctx context.Context, out *os.File) error {
	p := newProgress(out, "bin/tombolo")
	p.start()
	err := p.compile(ctx, "", "bin", nil, "./cmd/tombolo", "./cmd/lab-aws")
	p.finish(err)
	if err != nil {
		return fmt.Errorf("building bin/tombolo: %w", err)
	}
	return nil
}
