package health

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// ofTeam are the Applications of a system: the one that sets it up, and the team's with a
// status.
func ofTeam(cluster, name, policy, status string) []string {
	return []string{
		fmt.Sprintf(`
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {namespace: argocd, name: %[1]s-%[2]s.setup, labels: {tombolo/cluster: %[1]s, tombolo/system: %[2]s}}
spec: {project: platform, destination: {name: mgmt}}
status: {health: {status: Healthy}, sync: {status: Synced, revision: abc, comparedTo: {destination: {name: mgmt}}}}
`, cluster, name),
		fmt.Sprintf(`
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {namespace: argocd, name: %[1]s-%[2]s, labels: {tombolo/cluster: %[1]s, tombolo/system: %[2]s}, annotations: {tombolo/team: team-%[2]s}}
spec: {project: %[1]s-%[2]s, source: {repoURL: "http://git.test/t.git", targetRevision: main}, destination: {name: %[1]s}, syncPolicy: {%[3]s}}
status:
  history: [{revision: aaa}, {revision: bbb}]
  sync: {status: %[4]s, revision: ccc, comparedTo: {source: {repoURL: "http://git.test/t.git", targetRevision: main}, destination: {name: %[1]s}}}
`, cluster, name, policy, status),
	}
}

// TestSystemsInArgoCD: nothing waits for a team's Application, and each says why it is not
// ready, while its sync is tried again, too.
func TestSystemsInArgoCD(t *testing.T) {
	const automated = "automated: {prune: true}"
	objects := []string{rootApplication, promtailSet, promtailApp}
	for _, of := range [][]string{
		ofTeam("spoke", "good", automated, "Synced"),
		ofTeam("spoke", "refused", automated, "OutOfSync"),
		ofTeam("spoke", "unread", automated, "Unknown"),
		ofTeam("spoke", "held", "retry: {limit: 1}", "OutOfSync"),
		ofTeam("other", "elsewhere", automated, "OutOfSync"),
		ofTeam("spoke", "starting", automated, "Synced")[:1],
	} {
		objects = append(objects, of...)
	}
	for i, text := range objects {
		switch {
		case strings.Contains(text, "name: spoke-good,"):
			objects[i] += "  health: {status: Healthy}\n"
		case strings.Contains(text, "name: spoke-refused,"):
			objects[i] += "  operationState: {phase: Running, finishedAt: \"2026-01-02T03:04:05Z\", message: failed, syncResult: {revision: ccc, resources: [" +
				"{kind: Service, namespace: refused, name: web, status: SyncFailed, message: type must be ClusterIP}]}}\n"
		case strings.Contains(text, "name: spoke-unread,"):
			objects[i] += "  conditions: [{type: ComparisonError, message: no such directory}]\n"
		}
	}
	v, err := spokeOn(t, objects...).await(t.Context(), Options{Timeout: time.Second})
	assert.NilError(t, err)
	assert.DeepEqual(t, v.Systems, []System{
		{Name: "good", Team: "team-good", Ready: true, Revision: "main@bbb"},
		{Name: "held", Team: "team-held", Ready: true, Suspended: true, Revision: "main@bbb"},
		{Name: "refused", Team: "team-refused", Revision: "main@bbb", Refusal: "Application argocd/spoke-refused: sync failed: Service refused/web: type must be ClusterIP"},
		{Name: "starting", Refusal: "nothing is set up for it yet"},
		{Name: "unread", Team: "team-unread", Revision: "main@bbb", Refusal: "Application argocd/spoke-unread: ComparisonError: no such directory"},
	})
	for _, c := range v.Checks {
		assert.Check(t, c.Name != "spoke-refused" && c.Name != "other-elsewhere", "%s is waited for", c.Name)
	}
}
