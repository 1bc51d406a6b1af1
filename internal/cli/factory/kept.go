package factory

import (
	"path/filepath"

	"tombolo/automation/drift"
	"tombolo/automation/fleet"
)

// Drift is where the drift that was last found of each cluster is kept: beside
// the project's files, or in the lab.
func (f *Factory) Drift() (drift.Store, error) {
	dir, err := f.kept("drift")
	return drift.Store{Dir: dir}, err
}

// Journals are where runs are written down.
func (f *Factory) Journals() (fleet.Journals, error) {
	dir, err := f.kept("journal")
	return fleet.Journals{Dir: dir}, err
}

// kept is a directory for what commands remember from one run to the next.
func (f *Factory) kept(what string) (string, error) {
	root, err := f.Root()
	if err != nil {
		return "", err
	}
	if f.Globals.Lab {
		return filepath.Join(root, ".lab", what), nil
	}
	return filepath.Join(root, ".tombolo", what), nil
}
