// Package promotion compares the branches of a platform's repository that the clusters of
// several environments follow, one branch for each environment: whether each is an ancestor
// of the one before it, and what a promotion brings.
package promotion

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"tombolo/automation/fault"
	"tombolo/config"
	"tombolo/internal/gitaddress"
	"tombolo/internal/wording"
)

// Stage is a branch of the platform's repository, with the clusters that follow it.
type Stage struct {
	Branch   string
	Clusters []*config.Cluster
}

// names are the names of the clusters.
func (s Stage) names() []string {
	out := make([]string, len(s.Clusters))
	for i, c := range s.Clusters {
		out[i] = c.Name
	}
	return out
}

// first and last are the waves between which the branch's clusters are.
func (s Stage) first() int { return slices.MinFunc(s.Clusters, byWave).Wave }
func (s Stage) last() int  { return slices.MaxFunc(s.Clusters, byWave).Wave }

func byWave(a, b *config.Cluster) int { return cmp.Compare(a.Wave, b.Wave) }

// Stages are the branches in the order in which a change passes them: that of the waves of
// their clusters, as in an operation on several clusters. Spokes follow what their hub
// follows and do not count. An error is a *fault.Error of class Usage: the clusters have
// several repositories or one branch only, or the waves give no order.
func Stages(all []*config.Cluster) ([]Stage, error) {
	var stages []Stage
	var repositories []string
	for _, c := range all {
		if c.IsSpoke() {
			continue
		}
		if r := repository(c.GitOps.URL); !slices.Contains(repositories, r) {
			repositories = append(repositories, r)
		}
		at := slices.IndexFunc(stages, func(s Stage) bool { return s.Branch == c.GitOps.Branch })
		if at < 0 {
			at = len(stages)
			stages = append(stages, Stage{Branch: c.GitOps.Branch})
		}
		stages[at].Clusters = append(stages[at].Clusters, c)
	}
	switch {
	case len(stages) == 0:
		return nil, refused("no cluster follows a branch of its own: spokes follow what their hub follows", "name the hub")
	case len(repositories) > 1:
		return nil, refused("the clusters follow several repositories, "+wording.And(repositories),
			"name a checkout of one, and the clusters that follow it: tombolo check --promotion <tree> <cluster>...")
	case len(stages) == 1:
		return nil, refused(fmt.Sprintf("all clusters follow the branch %s (%s), so nothing is promoted", stages[0].Branch, wording.And(stages[0].names())),
			"give each environment a branch with gitops.branch in its cluster files")
	}
	slices.SortStableFunc(stages, func(a, b Stage) int { return cmp.Compare(a.first(), b.first()) })
	for i := range stages[1:] {
		if before, after := stages[i], stages[i+1]; before.last() >= after.first() {
			return nil, refused(fmt.Sprintf("the waves do not say which of the branches %s (%s) and %s (%s) comes first",
				before.Branch, before.waves(), after.Branch, after.waves()),
				"give all clusters of the earlier environment a lower wave in their files")
		}
	}
	return stages, nil
}

// waves is "dev in wave 0, try in wave 1".
func (s Stage) waves() string {
	out := make([]string, len(s.Clusters))
	for i, c := range s.Clusters {
		out[i] = fmt.Sprintf("%s in wave %d", c.Name, c.Wave)
	}
	return strings.Join(out, ", ")
}

// repository is a URL without what differs between the ways to reach one repository: its
// scheme, user and port, and the end .git.
func repository(raw string) string {
	u, err := url.Parse(gitaddress.URL(raw))
	if err != nil {
		return raw
	}
	return strings.ToLower(u.Hostname()) + "/" + strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
}

func refused(what, remedy string) error {
	return &fault.Error{Class: fault.Usage, What: "compare branches: " + what, Remedy: remedy}
}
