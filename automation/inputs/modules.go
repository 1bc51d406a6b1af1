package inputs

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"tombolo/automation/gitcmd"
	"tombolo/internal/file"
)

// listTimeout bounds the look for the modules of the program, which reads the
// source of what it imports.
const listTimeout = 2 * time.Minute

// mostOfModules is the longest go.mod or go.sum that is read, in bytes: a hundred times this
// program's.
const mostOfModules = 16 << 20

// modules gathers the modules that the program is built with in another version,
// or with another content, and Go itself. now is go.mod's text.
func (s *search) modules(ctx context.Context, now []byte) ([]Reason, error) {
	mod, sum := s.repo.below("go.mod"), s.repo.below("go.sum")
	_, otherMod := s.diff[mod]
	_, otherSum := s.diff[sum]
	if !otherMod && !otherSum {
		return nil, nil
	}
	then, err := s.buildListAt(ctx, mod, sum)
	if err != nil {
		return nil, err
	}
	sums, err := file.ReadInside(filepath.Join(s.repo.root, "go.sum"), mostOfModules)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable("read go.sum", err)
	}
	is, err := readBuildList(now, string(sums))
	if err != nil {
		return nil, unreadable("read go.mod", err)
	}
	differing := is.differing(then)
	if len(differing) == 0 {
		return nil, nil
	}
	used, known := s.usedModules(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if known {
		differing = slices.DeleteFunc(differing, func(c Change) bool { return !used[c.Name] })
	}
	if len(differing) > 0 {
		s.differing[mod], s.differing[sum] = true, true
	}
	return reason(Modules, differing), nil
}

// buildListAt is the list of the commit.
func (s *search) buildListAt(ctx context.Context, mod, sum string) (buildList, error) {
	text, err := s.repo.show(ctx, mod)
	if err != nil {
		return nil, unreadable("read go.mod of "+s.repo.ref, err)
	}
	sums, err := s.repo.show(ctx, sum)
	if err != nil {
		return nil, unreadable("read go.sum of "+s.repo.ref, err)
	}
	list, err := readBuildList([]byte(text), sums)
	if err != nil {
		return nil, unreadable("read go.mod of "+s.repo.ref, err)
	}
	return list, nil
}

// usedModules are the paths of the modules that the program's packages are in,
// and "go". It is not known where the go command, or a module's source, is not
// at hand: nothing is downloaded for this. Then all count as used.
func (s *search) usedModules(ctx context.Context) (map[string]bool, bool) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-buildvcs=false", "-f", "{{with .Module}}{{.Path}}{{end}}", "./"+programDir)
	cmd.Dir = s.repo.root
	cmd.Env = append(gitcmd.Environment(os.Environ()), "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return nil, false
	}
	used := map[string]bool{goItself: true}
	for path := range strings.Lines(string(out)) {
		used[strings.TrimSpace(path)] = true
	}
	return used, true
}

// goItself stands for the Go version beside the modules' paths.
const goItself = "go"

// buildList maps a module's path to what go.mod and go.sum say of it.
type buildList map[string]module

type module struct {
	// version, and what replaces it, if anything.
	version, replaced string
	// sum of the content, from go.sum.
	sum string
}

func (m module) String() string {
	if m.replaced != "" {
		return m.replaced
	}
	return m.version
}

// readBuildList reads a go.mod: since Go 1.17 it lists all modules that its
// packages are built with, the indirect ones too. Without text it is empty.
func readBuildList(text []byte, sums string) (buildList, error) {
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	hashes := readSums(sums)
	list := buildList{}
	for _, r := range file.Require {
		list[r.Mod.Path] = module{version: r.Mod.Version, sum: hashes[r.Mod.Path+" "+r.Mod.Version]}
	}
	for _, r := range file.Replace {
		m, ok := list[r.Old.Path]
		if !ok || r.Old.Version != "" && r.Old.Version != m.version {
			continue
		}
		m.replaced = strings.TrimSpace(r.New.Path + " " + r.New.Version)
		m.sum = hashes[r.New.Path+" "+r.New.Version]
		list[r.Old.Path] = m
	}
	if file.Go != nil {
		list[goItself] = module{version: file.Go.Version}
	}
	return list, nil
}

// readSums maps "path version" of go.sum to the hash of the module's content.
func readSums(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 3 {
			out[fields[0]+" "+fields[1]] = fields[2]
		}
	}
	return out
}

// differing are the modules that are not what they were.
func (l buildList) differing(then buildList) []Change {
	var out []Change
	for _, path := range slices.Sorted(maps.Keys(l)) {
		was, had := then[path]
		is := l[path]
		switch {
		case !had:
			out = append(out, Change{Name: path, How: is.String() + " added"})
		case was.String() != is.String():
			out = append(out, Change{Name: path, How: was.String() + " -> " + is.String()})
		case was.sum != is.sum:
			out = append(out, Change{Name: path, How: is.String() + " has another checksum"})
		}
	}
	return out
}

// programDir is the package that the stacks are built from, below the project's
// directory; the driver runs the same programs.
const programDir = "cmd/program"
