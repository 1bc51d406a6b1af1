// Package handover commits files to the Git repository that a cluster follows.
//
// It works in a temporary clone, pushes one commit or none, and never by
// force. Where the branch takes no pushes, it proposes: it pushes a branch of
// its own, from which people open a pull request.
package handover

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"

	"tombolo/automation/fault"
)

// Change is what the branch should hold.
type Change struct {
	// Cluster that the change is for. It signs the commits.
	Cluster string
	// Files with their content, by their path in the repository.
	Files map[string][]byte
	// Begin is what a file that may be replaced begins with.
	Begin string
	// Alone is what no other file of the tree may have; nil for nothing.
	Alone *Alone
	// Lists are the kustomization files that must list something.
	Lists []List
	// Engine that it is about, in the names of branches.
	Engine string
	// Message of the commit.
	Message string
	// Proposal is the branch to propose the change on. Default
	// tombolo/<cluster>-<engine>, and only when the branch itself takes no push.
	Proposal string
}

// Outcome is where the change is now.
type Outcome struct {
	// Commit that holds the change, and the Branch that it is on.
	Commit, Branch string
	// Changed says that the commit was made by this call, and Proposed that the change takes effect when Branch
	// is merged.
	Changed, Proposed bool
	// Refusal is what the server said to a push to the branch itself.
	Refusal string
}

// write puts the files and the lists below dir, and returns their paths. It
// follows no link out of it.
func (c Change) write(dir string) ([]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only a way in
	if c.Alone != nil {
		if err := c.Alone.check(root.FS()); err != nil {
			return nil, err
		}
	}
	var written []string
	for name, content := range c.Files {
		if there, err := root.ReadFile(name); err == nil && !bytes.HasPrefix(there, []byte(c.Begin)) {
			return nil, &fault.Error{
				What:   name + " is there already, and not by a push",
				Remedy: "give it another name, or remove it when what push writes is to take its place",
			}
		}
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		if err := root.WriteFile(name, content, 0o644); err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		written = append(written, name)
	}
	for _, list := range c.Lists {
		name, err := list.write(root)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", cmp.Or(name, list.Dir), err)
		}
		if name != "" {
			written = append(written, name)
		}
	}
	slices.Sort(written)
	return written, nil
}
