package factory

import (
	"cmp"
	"path/filepath"

	"tombolo/automation"
	"tombolo/automation/backend"
	"tombolo/automation/drift"
	"tombolo/automation/rollout"
	"tombolo/lab"
)

// Drift is where the drift that was last found of each cluster is kept: beside
// the project's files, or in the lab.
func (f *Factory) Drift() (drift.Store, error) {
	dir, err := f.kept("drift")
	return drift.Store{Dir: dir}, err
}

// Journals are where runs are written down, each with the backend in use.
func (f *Factory) Journals() (rollout.Journals, error) {
	dir, err := f.kept("journal")
	if err != nil {
		return rollout.Journals{}, err
	}
	at, err := f.backend()
	return rollout.Journals{Dir: dir, Backend: at}, err
}

// Backend is the URL of the Pulumi state that commands work on, as people read it; ""
// when it is not known.
func (f *Factory) Backend() (string, error) {
	at, err := f.backend()
	if at == "" || err != nil {
		return "", err
	}
	return backend.Shown(at, ""), nil
}

// backend is the URL of the Pulumi state that a driver works on.
func (f *Factory) backend() (string, error) {
	root, err := f.Root()
	if err != nil {
		return "", err
	}
	o := automation.Options{Root: root, BackendURL: f.Globals.Backend}
	if f.Globals.Lab {
		o.WorkDir, o.BackendURL = labWorkDir(root), cmp.Or(o.BackendURL, lab.Open(root).Backend())
	}
	return o.Backend()
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
