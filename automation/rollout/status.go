package rollout

import "slices"

// The statuses by which clusters are chosen, as they are recorded.
const (
	// StatusFailed: the last run that changes clusters, and that has begun with the cluster,
	// failed on it, was interrupted, or did not end.
	StatusFailed = "failed"
	// StatusDrifted: the last look for drift has found some, and nothing has put it back since.
	StatusDrifted = "drifted"
	// StatusPending: the last run that was to change the cluster has not begun with it.
	StatusPending = "pending"
)

// Statuses lists all of them.
func Statuses() []string { return []string{StatusFailed, StatusDrifted, StatusPending} }

// Standing is what the records tell of a cluster.
type Standing struct {
	// Known says that a run was to change the cluster. All else is of the newest such run.
	Known bool
	// Status is StatusFailed or StatusPending; "" when the run has succeeded on the cluster.
	Status string
	// Destroyed says that the run was a destruction that succeeded.
	Destroyed bool
}

// StandingOf is that of a cluster, by records from the newest on.
func StandingOf(cluster string, records []Record) Standing {
	for _, r := range records {
		if !slices.ContainsFunc(r.Clusters, func(c HeaderCluster) bool { return c.Name == cluster }) {
			continue
		}
		end, begun := r.Ends[cluster]
		switch {
		case !begun || end.Outcome == Pending:
			return Standing{Known: true, Status: StatusPending}
		case end.Outcome == Succeeded:
			return Standing{Known: true, Destroyed: r.Operation == "destroy"}
		}
		return Standing{Known: true, Status: StatusFailed}
	}
	return Standing{}
}
