package config

import (
	"slices"

	"tombolo/config/gitops"
	"tombolo/config/windows"
)

// ForCore is the cluster as core's program gets it: without what bootstrap, Git and the driver
// alone are there for. So a change of that changes nothing of core, and an up need not have the
// engine look. Nil stays nil.
func (c *Cluster) ForCore() *Cluster {
	if c == nil {
		return nil
	}
	out := *c
	out.Wave, out.ChangeWindows, out.Drift = 0, nil, windows.DriftPolicy{}
	out.Namespaces, out.Labels, out.Annotations, out.Values = nil, nil, nil, nil
	out.Services = slices.Clone(c.Services)
	for i := range out.Services {
		out.Services[i].Values = nil
	}
	git := &out.GitOps
	git.URL, git.Branch, git.Path, git.Interval, git.Auth = "", "", "", "", nil
	git.Distribution, git.TakeOver, git.SealedSecrets = gitops.Distribution{}, false, nil
	return &out
}
