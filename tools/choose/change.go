package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// parts is how many parts the rest is divided into: so many commits run all of it.
const parts = 5

// change is what is tested.
type change struct {
	// files that the change has; nil where unknown says why that is not known.
	files   []string
	unknown error
	// turns are the parts whose turn it is, one for each commit of the change.
	turns []int
}

// lastChange is the change since the base; if it is "", since forked. Commits are counted, so that each
// has the part after that of the one before. Where only some of the history is there, as in a
// shallow clone, the commit's name says which part it has.
func lastChange(ctx context.Context, base string) change {
	if base == "" {
		base = forked(ctx)
	}
	var c change
	names, err := git(ctx, "diff", "--name-only", base)
	c.files, c.unknown = strings.Fields(names), err
	count, err := number(git(ctx, "rev-list", "--count", "--first-parent", "HEAD"))
	if shallow, _ := git(ctx, "rev-parse", "--is-shallow-repository"); err != nil || shallow != "false" {
		name, _ := git(ctx, "rev-parse", "HEAD")
		c.turns = []int{turnOf(name)}
		return c
	}
	commits, err := number(git(ctx, "rev-list", "--count", "--first-parent", base+"..HEAD"))
	if err != nil {
		commits = 1
	}
	for i := range min(max(commits, 1), parts) {
		c.turns = append(c.turns, (count-i+parts)%parts)
	}
	return c
}

// forked is where HEAD left the remote's main branch: a push may have many commits. It is the commit
// before HEAD where that branch has HEAD, or none is known.
func forked(ctx context.Context) string {
	at, err := git(ctx, "merge-base", "HEAD", "origin/HEAD")
	if err != nil {
		at, err = git(ctx, "merge-base", "HEAD", "origin/main")
	}
	if head, _ := git(ctx, "rev-parse", "HEAD"); err != nil || at == head {
		return "HEAD~1"
	}
	return at
}

// turnOf is the part of a commit by its name.
func turnOf(name string) int {
	n, _ := strconv.ParseUint(name[:min(len(name), 8)], 16, 64)
	return int(n % parts)
}

// touches is which file of the change touches a test: its own, or one that the list says. Other
// tests touch none.
func (c change) touches(tests []found) func(entry) string {
	own := map[string]string{}
	for _, t := range tests {
		own[t.Package+" "+t.Test] = t.File
	}
	return func(e entry) string {
		i := slices.IndexFunc(c.files, func(file string) bool {
			return file == own[e.Package+" "+e.Test] || !strings.HasSuffix(file, "_test.go") &&
				slices.ContainsFunc(e.Paths, func(path string) bool { return strings.HasPrefix(file, path) })
		})
		if i < 0 {
			return ""
		}
		return c.files[i]
	}
}

func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

func number(text string, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}
