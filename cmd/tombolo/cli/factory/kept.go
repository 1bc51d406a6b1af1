package factory

import (
	"cmp"
	"path/filepath"
	"slices"

	"tombolo/automation"
	"tombolo/automation/backend"
	"tombolo/automation/drift"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/lab/control"
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
		o.WorkDir, o.BackendURL = labWorkDir(root), cmp.Or(o.BackendURL, control.Backend(root))
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

// Choice is which clusters a command is about, of all in the project.
func (f *Factory) Choice() clusters.Choice {
	return clusters.Choice{Clusters: f.ClustersOrAll, Recorded: f.Recorded, Tell: f.Status}
}

// Records are what the journals tell of runs on the backend in use, from the newest on.
func (f *Factory) Records() ([]rollout.Record, error) {
	journals, err := f.Journals()
	if err != nil {
		return nil, err
	}
	all, err := journals.Records(0)
	return slices.DeleteFunc(all, journals.Elsewhere), err
}

// Recorded says what is recorded of a cluster, by the journals and by the last looks for drift.
func (f *Factory) Recorded() (clusters.Records, error) {
	runs, err := f.Records()
	if err != nil {
		return nil, err
	}
	looks, err := f.Drift()
	if err != nil {
		return nil, err
	}
	return func(cluster string) (statuses []string, known bool, err error) {
		standing := rollout.StandingOf(cluster, runs)
		if standing.Status != "" {
			statuses = append(statuses, standing.Status)
		}
		report, err := looks.Load(cluster)
		if report != nil && report.Drifted() && !standing.Destroyed {
			statuses = append(statuses, rollout.StatusDrifted)
		}
		return statuses, standing.Known || report != nil, err
	}, nil
}
