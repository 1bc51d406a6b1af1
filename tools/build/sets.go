package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// toolSets are the sets of tools by what they are for: those of groups.go, and
// those that came later. groups.go is part of every group's key, so that an
// edit there builds everything again; a group of a file of its own has that
// file in its key, and the others do not.
func toolSets() map[string][]group {
	all := sets()
	all["argocd"] = []group{argocdGroup()}
	all["aws"] = []group{pulumiGroup()}
	return all
}

// identity is the group's key, which the file of its own adds to, if it has
// one: <name>.go in this package.
func (g group) identity(root string) (string, error) {
	key, err := g.key(root)
	if err != nil {
		return "", err
	}
	own, err := os.ReadFile(filepath.Join(root, "tools", "build", g.name+".go"))
	if errors.Is(err, fs.ErrNotExist) {
		return key, nil
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(key), own...))
	return hex.EncodeToString(sum[:])[:12], nil
}
