// Command pluginlock writes down the digests of plugins that are not yet known, for
// every platform:
//
//	go run ./tools/pluginlock [-mirror URL]
//
// It fetches the archives from where they are published, and trusts what comes: the
// digests are reviewed as any other change is. A digest that is known is kept.
package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"tombolo/automation/plugins"
	"tombolo/internal/file"
)

// lockFile from the checkout's root.
const lockFile = "automation/plugins/lock.json"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "✗", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("pluginlock", flag.ContinueOnError)
	mirror := flags.String("mirror", os.Getenv(plugins.MirrorVariable), "where the archives are, in place of where they are published")
	program := flags.String("program", "bin/tombolo", "the program whose plugins are locked")
	if err := flags.Parse(args); err != nil {
		return err
	}
	text, err := os.ReadFile(lockFile)
	if err != nil {
		return fmt.Errorf("reading the known digests: %w; run this in the checkout's root", err)
	}
	lock, err := plugins.ReadLock(text)
	if err != nil {
		return fmt.Errorf("reading the known digests: %s: %w", lockFile, err)
	}
	info, err := buildinfo.ReadFile(*program)
	if err != nil {
		return fmt.Errorf("reading what is pinned: %w; run `make build` first", err)
	}
	needed, err := plugins.Needed(info, "", nil)
	if err != nil {
		return err
	}
	if lock, err = complete(ctx, plugins.Fetcher{Mirror: *mirror, Client: http.DefaultClient}, lock, needed, out); err != nil {
		return err
	}
	written, err := json.MarshalIndent(lock, "", "  ")
	if err != nil {
		return err
	}
	return file.Replace(lockFile, append(written, '\n'), 0o644)
}

// complete fetches the digests that the lock lacks, and leaves out those of plugins
// that are no longer needed.
func complete(ctx context.Context, f plugins.Fetcher, lock plugins.Lock, needed []plugins.Plugin, out io.Writer) (plugins.Lock, error) {
	var whole plugins.Lock
	for _, p := range needed {
		for _, f.Platform = range plugins.Platforms() {
			d, known := lock.Of(p, f.Platform)
			if !known {
				fmt.Fprintln(out, "► fetching", p, "for", strings.Replace(f.Platform, "-", "/", 1))
				var err error
				if d, err = f.Digest(ctx, p); err != nil {
					return nil, err
				}
			}
			whole = whole.With(d)
		}
	}
	fmt.Fprintf(out, "✔ %s has the digests of %d archives; look at what is new before you commit it\n", lockFile, len(whole))
	return whole, nil
}
