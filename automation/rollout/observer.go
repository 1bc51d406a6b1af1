package rollout

// Plan is what a run is about to do.
type Plan struct {
	// Operation: up, destroy, preview and so on.
	Operation string
	// Clusters in the order of the jobs, those too that an earlier run has
	// finished.
	Clusters []Job
	// Parallel is how many are worked on at a time.
	Parallel int
}

// Observer is told how a run goes. The calls come one after the other.
type Observer interface {
	// RunStarted comes first.
	RunStarted(Plan)
	// ClusterStarted is called before the work on a cluster.
	ClusterStarted(cluster string)
	// ClusterFinished is called when the work on a cluster is over, and for each
	// cluster that is skipped.
	ClusterFinished(End)
	// GateStarted is called when a wave has succeeded and its health is asked for.
	GateStarted(wave int, clusters []string)
	// GateFinished is called when it is known.
	GateFinished(GateEnd)
	// RunFinished comes last.
	RunFinished(Summary)
}

// nobody is the observer of a runner that has none.
type nobody struct{}

func (nobody) RunStarted(Plan)           {}
func (nobody) ClusterStarted(string)     {}
func (nobody) ClusterFinished(End)       {}
func (nobody) GateStarted(int, []string) {}
func (nobody) GateFinished(GateEnd)      {}
func (nobody) RunFinished(Summary)       {}
