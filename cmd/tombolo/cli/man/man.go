// Package man is the command tombolo man, which writes the manual pages of a release.
package man

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Options of the command.
type Options struct {
	// Directory gets a file for each command. It is made where it is missing.
	Directory string
	// Root is the command that has all others.
	Root *cobra.Command
	// Build says when the commit was made that the pages are of.
	Build func() (*debug.BuildInfo, bool)
}

// NewCmdMan returns the command.
func NewCmdMan() *cobra.Command {
	opts := &Options{Build: debug.ReadBuildInfo}
	return &cobra.Command{
		Use:    "man directory",
		Short:  "Write the manual pages of all commands into a directory",
		Args:   cobra.ExactArgs(1),
		Hidden: true, // releases have the pages
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Directory, opts.Root = args[0], cmd.Root()
			return manRun(opts)
		},
	}
}

func manRun(o *Options) error {
	if err := os.MkdirAll(o.Directory, 0o755); err != nil {
		return fmt.Errorf("make the directory of the manual pages: %w", err)
	}
	header := &doc.GenManHeader{Section: "1", Source: "tombolo", Manual: "Tombolo", Date: committed(o.Build)}
	if err := doc.GenManTree(o.Root, header, o.Directory); err != nil {
		return fmt.Errorf("write the manual pages into %s: %w", o.Directory, err)
	}
	return nil
}

// committed is when the commit was made that the program was built from, in UTC: two builds of
// it write the same pages. It is nil, which is today, where the program does not say.
func committed(build func() (*debug.BuildInfo, bool)) *time.Time {
	info, ok := build()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		if s.Key != "vcs.time" {
			continue
		}
		if at, err := time.Parse(time.RFC3339, s.Value); err == nil {
			at = at.UTC()
			return &at
		}
	}
	return nil
}
