package up

import (
	"fmt"
	"strings"

	"tombolo/automation"
	"tombolo/config"
	"tombolo/internal/render"
	"tombolo/stacks"
	"tombolo/stacks/handoff"
)

// summarize says what now exists and what to try next. A hand-off that cannot
// be read is left out: the operation itself went well.
func summarize(s render.Status, c *config.Cluster, r automation.Result, lab bool) {
	core, _ := r.Stack(stacks.Core)
	values, err := handoff.FromOutputs(core.Outputs)
	if err != nil {
		return
	}
	s.Plain("")
	s.Plain("%s now exists:", c.Name)
	for _, row := range facts(c, values) {
		s.Plain("  %-9s %s", row[0], row[1])
	}
	s.Plain("Try next:")
	for _, command := range next(c.Name, lab) {
		s.Plain("  %s", command)
	}
}

func facts(c *config.Cluster, v handoff.Values) [][2]string {
	groups := make([]string, len(c.Kubernetes.NodeGroups))
	for i, g := range c.Kubernetes.NodeGroups {
		groups[i] = g.Name
	}
	return [][2]string{
		{"network", fmt.Sprintf("%s (%s), %d private and %d public subnets", v.VPCID, v.VPCCIDR,
			len(v.PrivateSubnetIDs), len(v.PublicSubnetIDs))},
		{"cluster", fmt.Sprintf("Kubernetes %s in %s, node groups: %s", v.ClusterVersion, v.Region, strings.Join(groups, ", "))},
		{"endpoint", v.ClusterEndpoint},
		{"GitOps", fmt.Sprintf("%s follows %s, branch %s", c.GitOps.Engine, c.GitOps.URL, c.GitOps.Branch)},
		{"", "at " + c.GitOps.Path},
	}
}

// next lists commands that show the result. They are run as this one was: from
// the checkout, in the lab or not.
func next(cluster string, lab bool) []string {
	file := cluster + ".kubeconfig"
	if !lab {
		return []string{
			"tombolo verify " + cluster,
			fmt.Sprintf(`kubectl --kubeconfig "$(tombolo kubeconfig %s --file %s)" get nodes`, cluster, file),
			"tombolo destroy " + cluster,
		}
	}
	return []string{
		`eval "$(bin/tombolo lab env)"   # this shell is in the lab, with kubectl and pulumi`,
		fmt.Sprintf(`export KUBECONFIG="$(bin/tombolo kubeconfig %s --file .lab/%s)"`, cluster, file),
		"kubectl get nodes,pods -A",
		"kubectl -n hello get configmap settings -o yaml",
		"bin/tombolo outputs " + cluster + "   # and: verify, list, lab status",
	}
}
