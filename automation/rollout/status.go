package rollout

import "slices"

// The statuses by which clusters are chosen, as they are recorded.
const (
	// StatusFailed: the last run that changes clusters, and that has begun with the cluster,
	// failed on it, was interrupted, or did not end.
	StatusFailed = "failed"
	// StatusDrifted: the last look for drift has found some.
	StatusDrifted = "drifted"
	// StatusPending: the last run that was to change the cluster has not begun with it.
	StatusPending = "pending"
)

// Statuses lists all of them.
func Statuses() []string { return []string{StatusFailed, StatusDrifted, StatusPending} }

// StatusOf is StatusFailed or StatusPending of a cluster, by the newest run that was to
// change it; "" when that has succeeded on it, or there was none. destroyed says that the
// run was a destruction that succeeded. The records come from the newest on.
func StatusOf(cluster string, records []Record) (status string, destroyed bool) {
	for _, r := range records {
		if !slices.ContainsFunc(r.Clusters, func(c HeaderCluster) bool { return c.Name == cluster }) {
			continue
		}
		end, begun := r.Ends[cluster]
		switch {
		case !begun || end.Outcome == Pending:
			return StatusPending, false
		case end.Outcome == Succeeded:
			return "", r.Operation == "destroy"
		}
		return StatusFailed, false
	}
	return "", false
}
