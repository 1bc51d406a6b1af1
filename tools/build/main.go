// Command build builds the pinned tools of the lab, once for each state of
// their modules, and links them into .tools of the checkout:
//
//	go run ./tools/build [-for argocd|aws|azure|lab|lint]
//
// With -for program it builds bin/tombolo, and shows how far that is.
//
// A group that a release of this project has for this platform, from the same sources, is
// fetched and compared with its checksum in released.json; all others are built. Two more
// commands make such archives, and write their checksums into that file:
//
//	go run ./tools/build -for release -pack directory [-platform linux/amd64]
//	go run ./tools/build -pin directory -release v1.2.3
//
// Built tools stay in the user's cache directory (TOMBOLO_TOOL_CACHE names
// another), keyed by what they are built from, so that a second checkout or a
// second run takes none of the time again.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "✗", err)
		os.Exit(1)
	}
}
