package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"

	"tombolo/tools/archive"
)

// completions are the shells with the name of the file in which each looks for what completes a
// command:
// https://github.com/scop/bash-completion#faq,
// https://zsh.sourceforge.io/Doc/Release/Completion-System.html#Autoloaded-files,
// https://fishshell.com/docs/current/completions.html#where-to-put-completions.
func completions() map[string]string {
	return map[string]string{"bash": tombolo, "zsh": "_" + tombolo, "fish": tombolo + ".fish"}
}

// pages are the completions and the manual, as the program for this machine writes them: they
// are the same for all platforms. It is built where the release has none for this machine.
func (r *release) pages(ctx context.Context, programs []program, work string) ([]archive.Entry, error) {
	i := slices.IndexFunc(programs, func(p program) bool { return p.platform == host() })
	if i < 0 {
		own, err := r.program(ctx, tombolo, host(), work)
		if err != nil {
			return nil, err
		}
		programs, i = []program{own}, 0
	}
	file := programs[i].file
	var entries []archive.Entry
	for shell, name := range completions() {
		script, err := exec.CommandContext(ctx, file, "completion", shell).Output()
		if err == nil && len(script) == 0 {
			err = errors.New("it wrote nothing")
		}
		if err != nil {
			return nil, fmt.Errorf("having %s complete commands in %s: %w", tombolo, shell, err)
		}
		entries = append(entries, archive.Entry{Name: "completions/" + shell + "/" + name, Content: script})
	}
	manual := filepath.Join(work, "man1")
	if out, err := exec.CommandContext(ctx, file, "man", manual).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("having %s write its manual: %w\n%s", tombolo, err, out)
	}
	written, err := archive.Directory(manual, "man/man1")
	if err == nil && len(written) == 0 {
		err = errors.New("it has no page")
	}
	if err != nil {
		return nil, fmt.Errorf("reading the manual: %w", err)
	}
	return append(entries, written...), nil
}
