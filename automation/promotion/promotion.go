package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tombolo/automation/fault"
	"tombolo/automation/gitcmd"
	"tombolo/internal/wording"
)

// Step is the promotion from one branch to the next one.
type Step struct {
	From, To Branch
	// Commits that From alone has, the newest first: what a promotion brings.
	Commits []Commit
	// Missing are the commits that To alone has, the newest first. With any, To is no
	// ancestor of From, and there is no fast-forward.
	Missing []Commit
	// Files in which the branches differ; none when the branches have diverged.
	Files []File
}

// Diverged says that To has commits that From does not have.
func (s Step) Diverged() bool { return len(s.Missing) > 0 }

// Same says that both branches are at one commit.
func (s Step) Same() bool { return s.From.Commit == s.To.Commit }

// Branch is a branch as the clone knows it.
type Branch struct {
	Name string
	// Ref is the branch as git takes it, such as origin/test; the name alone for a local
	// branch.
	Ref    string
	Commit string
	// Clusters that follow it.
	Clusters []string
}

// Commit of a branch.
type Commit struct {
	ID      string
	Time    time.Time
	Author  string
	Subject string
}

// How a file differs.
type How string

// The ways in which a file differs. A file that was renamed is one that was removed and
// one that was added.
const (
	Added   How = "added"
	Changed How = "changed"
	Removed How = "removed"
)

// File in which two branches differ.
type File struct {
	// Path in the repository.
	Path string
	How  How
	// Part of the platform tree that the file is in.
	Part Part
}

// Options of a comparison.
type Options struct {
	// Dir is a directory in a clone of the platform's repository.
	Dir string
	// Remote is whose branches are compared, as they were when last fetched. Default:
	// origin; the clone's own branches if it has no remote of this name.
	Remote string
	// Trees are the directories of platform trees in the clone, for the parts that a
	// promotion changes. Default: Dir alone.
	Trees []string
}

// Compare compares each stage's branch with the next stage's. It reads the clone and asks
// no server. An error is a *fault.Error where the clone lacks something.
func Compare(ctx context.Context, stages []Stage, o Options) ([]Step, error) {
	c, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	branches := make([]Branch, len(stages))
	for i, s := range stages {
		if branches[i], err = c.branch(ctx, s); err != nil {
			return nil, err
		}
	}
	steps := make([]Step, 0, len(stages)-1)
	for i := range branches[1:] {
		s, err := c.step(ctx, branches[i], branches[i+1])
		if err != nil {
			return nil, fmt.Errorf("compare %s with %s: %w", branches[i].Ref, branches[i+1].Ref, err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// clone of the platform's repository.
type clone struct {
	gitcmd.Git
	dir    string
	remote string // "" for the clone's own branches
	trees  []string
}

// defaultRemote is what git clone calls the repository that it copies.
const defaultRemote = "origin"

func open(ctx context.Context, o Options) (*clone, error) {
	git, err := gitcmd.Open(ctx, o.Dir)
	if said := new(gitcmd.Refusal); errors.As(err, &said) {
		return nil, &fault.Error{
			What: fmt.Sprintf("compare branches: %s cannot be read as a Git repository: %v", o.Dir, err), Err: err,
			Remedy: "name a directory in a clone of the platform's repository: tombolo check --promotion <tree>",
		}
	} else if err != nil {
		return nil, err
	}
	c := &clone{Git: git, dir: o.Dir}
	shallow, err := c.Read(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return nil, fmt.Errorf("compare branches: %w", err)
	}
	if strings.TrimSpace(shallow) == "true" {
		return nil, &fault.Error{
			What:   fmt.Sprintf("compare branches: the clone at %s is shallow, and does not know which commits a branch has", o.Dir),
			Remedy: "complete it with `git fetch --unshallow`, or set the depth to 0 in a pipeline",
		}
	}
	if err := c.chooseRemote(ctx, o.Remote); err != nil {
		return nil, err
	}
	return c, c.findTrees(ctx, o)
}

func (c *clone) chooseRemote(ctx context.Context, wanted string) error {
	out, err := c.Read(ctx, "remote")
	if err != nil {
		return fmt.Errorf("compare branches: %w", err)
	}
	known := strings.Fields(out)
	switch {
	case wanted == "" && slices.Contains(known, defaultRemote):
		c.remote = defaultRemote
	case wanted != "" && !slices.Contains(known, wanted):
		return &fault.Error{
			Class: fault.Usage, What: fmt.Sprintf("compare branches: the clone at %s has no remote %s", c.dir, wording.Quote(wanted)),
			Remedy: "`git remote` lists those that it has",
		}
	default:
		c.remote = wanted
	}
	return nil
}

// findTrees are the paths of the trees in the repository, each ending in a slash; "" for
// its top.
func (c *clone) findTrees(ctx context.Context, o Options) error {
	trees := o.Trees
	if len(trees) == 0 {
		trees = []string{o.Dir}
	}
	for _, dir := range trees {
		at := c.Git
		at.Dir = dir
		prefix, err := at.Read(ctx, "rev-parse", "--show-prefix")
		if err != nil {
			return fmt.Errorf("look for the platform tree %s: %w", dir, err)
		}
		c.trees = append(c.trees, strings.TrimSuffix(prefix, "\n"))
	}
	return nil
}

func (c *clone) branch(ctx context.Context, s Stage) (Branch, error) {
	b := Branch{Name: s.Branch, Ref: s.Branch, Clusters: s.names()}
	ref, remedy := "refs/heads/"+s.Branch, "make it with `git branch`"
	if c.remote != "" {
		b.Ref = c.remote + "/" + s.Branch
		ref = "refs/remotes/" + b.Ref
		remedy = fmt.Sprintf("fetch it with `git fetch %s '+refs/heads/*:refs/remotes/%s/*'`", c.remote, c.remote)
	}
	commit, err := c.Read(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if said := new(gitcmd.Refusal); errors.As(err, &said) {
		return b, &fault.Error{
			What: fmt.Sprintf("compare branches: the clone at %s has no branch %s, which gitops.branch names for %s", c.dir, b.Ref, wording.And(b.Clusters)), Err: err,
			Remedy: remedy + ", or correct the cluster files",
		}
	}
	b.Commit = strings.TrimSpace(commit)
	return b, err
}

func (c *clone) step(ctx context.Context, from, to Branch) (s Step, err error) {
	s = Step{From: from, To: to}
	if s.Commits, err = c.commits(ctx, to.Commit, from.Commit); err != nil {
		return s, err
	}
	if s.Missing, err = c.commits(ctx, from.Commit, to.Commit); err != nil || s.Diverged() {
		return s, err
	}
	s.Files, err = c.files(ctx, to.Commit, from.Commit)
	return s, err
}

// commits are those that one commit has and another one lacks.
func (c *clone) commits(ctx context.Context, lacks, has string) ([]Commit, error) {
	out, err := c.Read(ctx, "log", "-z", "--no-show-signature", "--format=%H%x1f%cI%x1f%an%x1f%s", lacks+".."+has, "--")
	if err != nil || out == "" {
		return nil, err
	}
	var commits []Commit
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		fields := strings.SplitN(line, "\x1f", 4)
		if len(fields) != 4 {
			return nil, fmt.Errorf("git log wrote %s", wording.Quote(line))
		}
		at, err := time.Parse(time.RFC3339, fields[1])
		if err != nil {
			return nil, fmt.Errorf("the time of commit %s: %w", fields[0], err)
		}
		commits = append(commits, Commit{ID: fields[0], Time: at, Author: fields[2], Subject: fields[3]})
	}
	return commits, nil
}

// files are what differs between two commits.
func (c *clone) files(ctx context.Context, old, changed string) ([]File, error) {
	out, err := c.Read(ctx, "diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", old, changed, "--")
	if err != nil || out == "" {
		return nil, err
	}
	var files []File
	for pair := range slices.Chunk(strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), 2) {
		if len(pair) != 2 {
			return nil, fmt.Errorf("git diff wrote %s without a path", wording.Quote(pair[0]))
		}
		f := File{Path: pair[1], How: Changed, Part: c.part(pair[1])}
		switch pair[0] {
		case "A":
			f.How = Added
		case "D":
			f.How = Removed
		}
		files = append(files, f)
	}
	return files, nil
}
