// Command release makes what a release of this project consists of from the commit that is
// checked out:
//
//	go run ./tools/release [-to bin/release] [-platforms linux/amd64,…] [-base image@sha256:…]
//	go run ./tools/release [-to bin/release] -push registry/image:tag
//
// The directory gets an archive and a bill of materials for each platform, the operator's image
// as an OCI layout, SHA256SUMS of all, and NOTES.md with the sizes. Two runs of one commit with
// one release of Go write the same bytes. -push copies the image that was made to a registry.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "✗", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	to := flags.String("to", filepath.Join("bin", "release"), "the directory that gets the release; what is in it is removed")
	platforms := flags.String("platforms", strings.Join(allPlatforms(), ","), "the platforms, with commas between them")
	base := flags.String("base", "", "the image that the operator's image extends, by its digest; without it no image is made")
	pushTo := flags.String("push", "", "copy the image of the release that was made to this name with a tag, and make nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *pushTo != "" {
		return push(ctx, *to, *pushTo, os.Stderr)
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	r, err := newRelease(root, *to, strings.Split(*platforms, ","), *base)
	if err != nil {
		return err
	}
	r.out = os.Stderr
	return r.make(ctx)
}
