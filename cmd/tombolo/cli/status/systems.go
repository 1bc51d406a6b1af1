package status

import (
	"strings"

	"tombolo/automation/health"
	"tombolo/cmd/tombolo/render"
)

// Of is a system with the cluster that it is on.
type Of struct {
	Cluster string
	health.System
}

// systemsOf are the systems of all clusters, in their order.
func systemsOf(found []Standing) []Of {
	var out []Of
	for _, s := range found {
		for _, system := range s.Systems {
			out = append(out, Of{s.Name, system})
		}
	}
	return out
}

// State says in a word how the system is.
func (s Of) State() string {
	switch {
	case s.Suspended:
		return "suspended"
	case s.Ready:
		return "ready"
	}
	return "not ready"
}

// Level says how good that is.
func (s Of) Level() string {
	switch {
	case s.Suspended:
		return levelPlain
	case s.Ready:
		return levelGood
	}
	return levelBad
}

// shortHash is as many digits of a commit as people read.
const shortHash = 8

// Delivered is the revision that was delivered last, such as main@1a2b3c4d, without the
// name of the hash and most of its digits; "-" without one.
func (s Of) Delivered() string {
	branch, hash, found := strings.Cut(s.Revision, "@")
	if s.Revision == "" {
		return "-"
	}
	if !found {
		return branch
	}
	_, digits, named := strings.Cut(hash, ":")
	if !named {
		digits = hash
	}
	return branch + "@" + digits[:min(shortHash, len(digits))]
}

// systems writes a line for each system, and below why those are not ready that are not.
// A cluster that cannot be asked is named: its systems are not known.
func (o *Options) systems(found []Standing) error {
	all := systemsOf(found)
	rows := make([][]string, len(all))
	for i, s := range all {
		rows[i] = []string{s.Cluster, s.Name, s.Team, s.Delivered(), s.State()}
	}
	if len(rows) > 0 {
		if err := render.Table(o.Out, o.Table(), []string{"CLUSTER", "SYSTEM", "TEAM", "DELIVERED", "STATE"}, rows); err != nil {
			return err
		}
	} else {
		o.Status().Plain("there are no systems on these clusters")
	}
	for _, s := range all {
		if s.Refusal != "" {
			o.Status().Failed("%s, %s of team %s: %s", s.Cluster, s.Name, s.Team, s.Refusal)
		}
	}
	for _, s := range found {
		if s.GitOps.State == gitopsUnknown {
			o.Status().Failed("%s: its systems are not known: %s", s.Name, s.GitOps.Cause)
		}
	}
	return nil
}
