package git

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

func repository(t *testing.T) *Repository {
	t.Helper()
	dir := t.TempDir()
	return Open(filepath.Join(dir, "git", "platform.git"), filepath.Join(dir, "home"))
}

func seed(t *testing.T, r *Repository, tree string) Seeding {
	t.Helper()
	s, err := r.Seed(t.Context(), tree)
	assert.NilError(t, err)
	return s
}

func TestSeedFollowsTheTree(t *testing.T) {
	r, tree := repository(t), t.TempDir()
	files.Write(t, filepath.Join(tree, "apps", "a.yaml"), "a: 1\n")
	files.Write(t, filepath.Join(tree, ".gitignore"), "*.yaml\n") // of the user's; the tree is taken whole
	first := seed(t, r, tree)
	assert.Check(t, first.Changed && first.Commit != "", "first seed: %+v", first)
	if again := seed(t, r, tree); again.Changed || again.Commit != first.Commit {
		t.Errorf("a second seed made %+v, was at %s", again, first.Commit)
	}
	assert.NilError(t, os.Remove(filepath.Join(tree, "apps", "a.yaml")))
	files.Write(t, filepath.Join(tree, "apps", "b.yaml"), "b: 1\n")
	second := seed(t, r, tree)
	files, err := r.git(t.Context(), nil, "--git-dir="+r.dir, "ls-tree", "-r", "--name-only", Branch)
	assert.Check(t, err == nil && files == ".gitignore\napps/b.yaml" && second.Changed, "after an edit: %q, %v, %+v", files, err, second)
	assert.Check(t, is.Equal(r.resolve(t.Context(), Branch+"^"), first.Commit))
}

// TestSeedProject: the branch has the commits of a directory that is a repository, so that a push from there
// goes on from them; what is not committed is on top, until somebody pushes.
func TestSeedProject(t *testing.T) {
	r, dir := repository(t), t.TempDir()
	s := httptest.NewServer(r.Handler("lab", func() (string, error) { return "secret", nil }, func(string, string, string) {}))
	defer s.Close()
	address := strings.Replace(s.URL, "http://", "http://lab:secret@", 1) + "/platform.git"
	seeded := func() Seeding {
		t.Helper()
		got, err := r.SeedProject(t.Context(), dir)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(got.Commit, r.head(t.Context())))
		return got
	}
	write := func(content string) { files.Write(t, filepath.Join(dir, "a.yaml"), content) }
	commit := func() string {
		files.Git(t, dir, "add", ".")
		files.Git(t, dir, "commit", "-q", "-m", "Change")
		return files.Git(t, dir, "rev-parse", "HEAD")
	}
	write("a: 0\n")
	before := seeded()
	files.Git(t, dir, "init", "-q", "-b", "main")
	assert.Check(t, is.Equal(seeded().Commit, before.Commit), "nothing is committed yet")
	first := commit()
	assert.Check(t, is.DeepEqual(seeded(), Seeding{Commit: first, Changed: true, Before: before.Commit}))
	assert.Check(t, is.DeepEqual(seeded(), Seeding{Commit: first, Before: first}))

	write("a: 1\n")
	dirty := seeded()
	assert.Check(t, is.Equal(r.resolve(t.Context(), dirty.Commit+"^"), first))
	second := commit()
	files.Git(t, dir, "push", "-q", address, "HEAD:main")
	assert.Check(t, is.Equal(r.head(t.Context()), second))
	write("a: 2\n")
	assert.Check(t, is.Equal(r.resolve(t.Context(), seeded().Commit+"^"), second))

	// Somebody else's commit stays.
	third := commit()
	files.Git(t, dir, "commit", "-q", "--allow-empty", "-m", "Of somebody else")
	files.Git(t, dir, "push", "-q", address, "HEAD:main")
	files.Git(t, dir, "reset", "-q", "--hard", third)
	write("a: 3\n")
	left := seeded()
	assert.Check(t, !left.Changed && strings.Contains(left.Note, "has commits of its own"), "%+v", left)
	files.Git(t, dir, "pull", "-q", address, "main")
	assert.Check(t, seeded().Changed)
}

func TestSeedNeedsATree(t *testing.T) {
	_, err := repository(t).Seed(t.Context(), "/nowhere/flux")
	assert.Check(t, is.Error(err, "seed the lab's Git repository from /nowhere/flux: stat /nowhere/flux: no such file or directory"))
}

// TestHTTP clones and pushes as a user does, and sees that the next seed keeps
// what was pushed.
func TestHTTP(t *testing.T) {
	r, tree := repository(t), t.TempDir()
	files.Write(t, filepath.Join(tree, "a.yaml"), "a: 1\n")
	first := seed(t, r, tree)
	token := "secret"
	var heard []string
	s := httptest.NewServer(r.Handler("lab", func() (string, error) { return token, nil }, func(repository, before, after string) {
		heard = append(heard, repository+" "+before+" "+after)
	}))
	defer s.Close()
	address := strings.Replace(s.URL, "http://", "http://lab:secret@", 1) + "/platform.git"
	clone := filepath.Join(t.TempDir(), "clone")
	user := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Env = append(r.environment(), "GIT_TERMINAL_PROMPT=0")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(args ...string) {
		t.Helper()
		out, err := user(args...)
		assert.Assert(t, err == nil, "git %v: %v\n%s", args, err, out)
	}
	must("clone", "-q", address, clone)
	if data, err := os.ReadFile(filepath.Join(clone, "a.yaml")); err != nil || string(data) != "a: 1\n" {
		t.Errorf("cloned %q, %v", data, err)
	}
	files.Write(t, filepath.Join(clone, "mine.yaml"), strings.Repeat("mine: 1\n", 10))
	must("-C", clone, "add", "mine.yaml")
	must("-C", clone, "commit", "-q", "-m", "mine")
	must("-C", clone, "-c", "http.postBuffer=1", "push", "-q", "origin", Branch) // chunked

	if s := seed(t, r, tree); s.Changed || s.Note != "" {
		t.Errorf("an unchanged tree after a push: %+v", s)
	}
	pushed := r.resolve(t.Context(), Branch)
	assert.DeepEqual(t, heard, []string{"platform.git " + first.Commit + " " + pushed})
	changed, err := r.Files(t.Context(), first.Commit, pushed)
	assert.NilError(t, err)
	assert.DeepEqual(t, changed, []string{"mine.yaml"})
	files.Write(t, filepath.Join(tree, "a.yaml"), "a: 2\n")
	left := seed(t, r, tree)
	assert.Check(t, !left.Changed && left.Commit == pushed && strings.Contains(left.Note, "has commits of its own"), "a changed tree after a push: %+v", left)

	for _, wrong := range []string{s.URL + "/platform.git", strings.Replace(address, "secret", "guess", 1)} {
		if out, err := user("ls-remote", wrong); err == nil {
			t.Errorf("%s was served: %s", wrong, out)
		}
	}
	if out, err := user("ls-remote", address); err != nil || strings.Contains(out, "refs/lab") {
		t.Errorf("ls-remote: %s, %v", out, err)
	}
	token = "another"
	if out, err := user("ls-remote", address); err == nil {
		t.Errorf("a token that was replaced opens the repository: %s", out)
	}
	assert.NilError(t, r.Publish())
	if out, err := user("ls-remote", s.URL+"/platform.git"); err != nil {
		t.Errorf("a public repository is not served: %s", out)
	}
	if out, err := user("-C", clone, "push", s.URL+"/platform.git", "HEAD:refs/heads/anybody"); err == nil {
		t.Errorf("anybody pushes to a public repository: %s", out)
	}
}

// TestBearer: who shows a token has no name, and reads alone.
func TestBearer(t *testing.T) {
	r, tree := repository(t), t.TempDir()
	files.Write(t, filepath.Join(tree, "a.yaml"), "a: 1\n")
	seed(t, r, tree)
	s := httptest.NewServer(r.HandlerFor(func(user, token string) (bool, error) { return user == "" && token == "t0ken", nil }, nil))
	defer s.Close()
	remote := func(token string, args ...string) error {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", r.dir, "-c", "http.extraHeader=Authorization: Bearer " + token}, args...)...)
		cmd.Env = append(r.environment(), "GIT_TERMINAL_PROMPT=0")
		return cmd.Run()
	}
	assert.NilError(t, remote("t0ken", "ls-remote", s.URL+"/platform.git"))
	assert.Check(t, remote("guess", "ls-remote", s.URL+"/platform.git") != nil, "another token reads")
	assert.Check(t, remote("t0ken", "push", s.URL+"/platform.git", Branch+":refs/heads/mine") != nil, "a token pushes")
}
