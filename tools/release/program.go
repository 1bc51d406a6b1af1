package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"tombolo/tools/reproducible"
)

// program is one that was built for a platform.
type program struct {
	platform string
	file     string
	size     int64 // in bytes
	// build is what the program says of itself.
	build *debug.BuildInfo
	// lab is the lab's program beside the driver; nil for any other.
	lab *program
	// version is that of the commit's tag without its v, or Go's pseudo-version of the commit:
	// https://go.dev/ref/mod#pseudo-versions.
	version string
	// commit and its time, in UTC.
	commit    string
	committed time.Time
}

// archive is the name of the program's archive, and of the directory in it.
func (p program) archive() string {
	return fmt.Sprintf("%s_%s_%s", tombolo, p.version, strings.ReplaceAll(p.platform, "/", "_"))
}

// programs builds the driver, and the lab's program, for all platforms.
func (r *release) programs(ctx context.Context, work string) ([]program, error) {
	var programs []program
	for _, platform := range r.platforms {
		p, err := r.program(ctx, tombolo, platform, work)
		if err != nil {
			return nil, err
		}
		beside, err := r.program(ctx, tombolo+labSuffix, platform, work)
		if err != nil {
			return nil, err
		}
		p.lab = &beside
		programs = append(programs, p)
	}
	return programs, nil
}

// flags of `go build`. They are those with which `.ci/run` builds, but for the commit, which is
// put into the program, and for the symbols, which are not: what continuous integration has
// compiled need not be compiled again where its other settings are the same.
func flags() []string {
	return []string{
		"-trimpath", "-buildvcs=true", "-tags=kustomize_disable_go_plugin_support",
		"-gcflags=all=-dwarf=false", "-ldflags=-s -w -funcalign=16",
	}
}

// program builds the package cmd/<name> for a platform.
func (r *release) program(ctx context.Context, name, platform, work string) (program, error) {
	fmt.Fprintf(r.out, "► building %s for %s\n", name, platform)
	goos, goarch, _ := strings.Cut(platform, "/")
	p := program{platform: platform, file: filepath.Join(work, strings.ReplaceAll(platform, "/", "_"), name)}
	args := append([]string{"build"}, flags()...)
	cmd := exec.CommandContext(ctx, "go", append(args, "-o", p.file, "./cmd/"+name)...)
	cmd.Dir, cmd.Env = r.root, reproducible.Environment(r.settings(goos, goarch))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if out, err := cmd.CombinedOutput(); err != nil {
		return program{}, fmt.Errorf("building %s for %s: %w\n%s", name, platform, err, out)
	}
	if err := p.read(); err != nil {
		return program{}, fmt.Errorf("reading what %s for %s was built from: %w", name, platform, err)
	}
	return p, nil
}

// read takes what the program says of itself.
func (p *program) read() error {
	info, err := os.Stat(p.file)
	if err != nil {
		return err
	}
	p.size = info.Size()
	if p.build, err = buildinfo.ReadFile(p.file); err != nil {
		return err
	}
	p.commit = setting(p.build, "vcs.revision")
	if p.committed, err = at(setting(p.build, "vcs.time")); err != nil || p.commit == "" {
		return errors.New("it names no commit; build it in a clone of the repository")
	}
	if setting(p.build, "vcs.modified") != "false" {
		return fmt.Errorf("commit %s was changed while it was built", p.commit)
	}
	p.version = strings.TrimPrefix(p.build.Main.Version, "v")
	if p.version == "" || strings.HasPrefix(p.version, "(") {
		return fmt.Errorf("commit %s has no version", p.commit)
	}
	return nil
}

func setting(info *debug.BuildInfo, key string) string {
	i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
	if i < 0 {
		return ""
	}
	return info.Settings[i].Value
}
