package handover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tombolo/automation/fault"
)

// The author of commits where the user's git has none.
const (
	authorName  = "Tombolo"
	authorEmail = "tombolo@localhost"
)

// prepare makes an empty clone with access to the repository.
func (g *git) prepare(ctx context.Context, c *Credentials) error {
	settings := [][2]string{
		// Neither hooks nor templates of the user's are for a clone that is ours.
		{"core.hooksPath", os.DevNull},
		{"init.templateDir", ""},
		{"init.defaultBranch", "main"},
		{"advice.detachedHead", "false"},
		{"core.autocrlf", "false"},
		{"remote.origin.url", g.url},
	}
	if err := os.Mkdir(g.tree, 0o700); err != nil {
		return fmt.Errorf("make the clone: %w", err)
	}
	if c != nil {
		full, err := g.withToken(ctx, *c)
		if err != nil {
			return fmt.Errorf("prepare access to %s: %w", g.url, err)
		}
		g.mask = newMask(&full)
		more, err := g.access(full)
		if err != nil {
			return fmt.Errorf("prepare access to %s: %w", g.url, err)
		}
		settings = append(settings, more...)
	}
	g.env = withSettings(g.env, settings)
	if _, err := g.run(ctx, "init", "--quiet"); err != nil {
		return err
	}
	return g.introduce(ctx)
}

// introduce names an author where the user's settings and environment do not.
func (g *git) introduce(ctx context.Context) error {
	for key, value := range map[string]string{"user.name": authorName, "user.email": authorEmail} {
		if _, err := g.run(ctx, "config", key); err == nil {
			continue
		} else if ctx.Err() != nil {
			return err
		}
		if _, err := g.run(ctx, "config", key, value); err != nil {
			return err
		}
	}
	return nil
}

// heads are the repository's branches.
func (g *git) heads(ctx context.Context) ([]string, error) {
	out, err := g.run(ctx, "ls-remote", "--heads", "origin")
	if err != nil {
		return nil, g.unreachable(err)
	}
	var heads []string
	for line := range strings.Lines(out) {
		if _, ref, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			heads = append(heads, strings.TrimPrefix(ref, "refs/heads/"))
		}
	}
	return heads, nil
}

func (g *git) fetch(ctx context.Context, depth string, branches []string) error {
	args := []string{"fetch", "--quiet", "--no-tags"}
	switch {
	case depth != "":
		args = append(args, depth)
	case g.shallow():
		args = append(args, "--unshallow")
	}
	args = append(args, "origin")
	for _, b := range branches {
		args = append(args, "+refs/heads/"+b+":refs/remotes/origin/"+b)
	}
	if _, err := g.run(ctx, args...); err != nil {
		return g.unreachable(err)
	}
	return nil
}

func (g *git) shallow() bool {
	_, err := os.Stat(filepath.Join(g.tree, ".git", "shallow"))
	return err == nil
}

// tip is the head of a branch that was fetched.
func (g *git) tip(ctx context.Context, branch string) (tip, error) {
	ref := "refs/remotes/origin/" + branch
	out, err := g.run(ctx, "for-each-ref", "--format=%(objectname) %(tree)", ref)
	if err != nil || out == "" {
		return tip{}, err
	}
	commit, tree, _ := strings.Cut(out, " ")
	return tip{commit: commit, tree: tree}, nil
}

// push moves a branch forward to a commit, or makes it.
func (g *git) push(ctx context.Context, commit, branch string) error {
	_, err := g.run(ctx, "push", "--porcelain", "origin", commit+":refs/heads/"+branch)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return g.unpushed(err)
}

// tip is the head of a branch; the zero value when there is none.
type tip struct {
	commit, tree string
	// ahead says that the base is part of it.
	ahead bool
}

// unpushed puts a failed push into its class.
func (g *git) unpushed(err error) error {
	failed := new(commandError)
	if !errors.As(err, &failed) {
		return err
	}
	all := failed.report + "\n" + failed.says
	switch rejected := declined.FindString(all); {
	case overtaken.MatchString(all):
		return &race{says: lastLines(failed.says)}
	case rejected != "" || protected.MatchString(all):
		return &refusal{says: hookSays(failed.says, rejected)}
	case denied.MatchString(all):
		return &fault.Error{
			What: fmt.Sprintf("push to %s: the credentials may not write: %s", g.url, lastLines(failed.says)),
			Remedy: "give gitops.auth credentials that may write for the push, or keep them read-only and push with those of your own git: " +
				"add --own-credentials",
			Err: failed,
		}
	}
	return &fault.Error{What: fmt.Sprintf("push to %s: %s", g.url, lastLines(failed.says)), Err: failed}
}

// unreachable says what to do when the repository cannot be read.
func (g *git) unreachable(err error) error {
	failed := new(commandError)
	if !errors.As(err, &failed) {
		return err
	}
	remedy := "check gitops.url in the cluster file, and the network"
	switch {
	case !denied.MatchString(failed.says):
	case g.own:
		remedy = "have your own git sign in there: `git ls-remote " + g.url + "` tries it"
	default:
		remedy = "check gitops.auth in the cluster file, or use the credentials of your own git: add --own-credentials"
	}
	return &fault.Error{What: fmt.Sprintf("read %s: %s", g.url, lastLines(failed.says)), Remedy: remedy, Err: failed}
}
