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
	// Waves says that the clusters go in waves; else no cluster waits for another's.
	Waves bool
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

// noObserver is the observer of a runner that has none.
type noObserver struct{}

func (noObserver) RunStarted(Plan)           {}
func (noObserver) ClusterStarted(string)     {}
func (noObserver) ClusterFinished(End)       {}
func (noObserver) GateStarted(int, []string) {}
func (noObserver) GateFinished(GateEnd)      {}
func (noObserver) RunFinished(Summary)       {}
