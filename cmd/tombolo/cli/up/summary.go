package up

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"tombolo/automation"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
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
	for _, command := range next(c, lab) {
		s.Plain("  %s", command)
	}
}

func facts(c *config.Cluster, v handoff.Values) [][2]string {
	groups := make([]string, len(c.Kubernetes.NodeGroups))
	for i, g := range c.Kubernetes.NodeGroups {
		groups[i] = g.Name
	}
	nodes := "node groups: " + strings.Join(groups, ", ")
	if c.Kubernetes.Auto() {
		nodes = "nodes by EKS Auto Mode"
	}
	if c.IsExisting() {
		nodes = "an existing cluster"
	}
	rows := [][2]string{
		{"network", v.Network().Text},
		{"cluster", fmt.Sprintf("Kubernetes %s in %s, %s", v.ClusterVersion, v.Region, nodes)},
		{"endpoint", v.ClusterEndpoint},
	}
	if c.IsSpoke() {
		return append(rows, [2]string{"GitOps", fmt.Sprintf("argocd of hub %s", c.Hub())})
	}
	return append(rows,
		[2]string{"GitOps", fmt.Sprintf("%s follows %s, branch %s", c.GitOps.Engine, c.GitOps.URL, c.GitOps.Branch)},
		[2]string{"", "at " + c.GitOps.Path},
	)
}

// next lists commands that show the result. They are run as this one was: in the lab or not, from
// a checkout with its own bin or with tombolo in PATH.
func next(c *config.Cluster, lab bool) []string {
	cluster := c.Name
	file := cluster + ".kubeconfig"
	if !lab {
		return []string{
			"tombolo verify " + cluster,
			fmt.Sprintf(`kubectl --kubeconfig "$(tombolo kubeconfig %s --file %s)" get nodes`, cluster, file),
			"tombolo destroy " + cluster,
		}
	}
	show := "kubectl get kustomizations,helmreleases -A"
	if c.IsHub() {
		show = "kubectl get applicationsets,applications -A"
	}
	tombolo := "tombolo"
	if _, err := os.Stat("bin/tombolo"); err == nil {
		tombolo = "bin/tombolo"
	}
	commands := []string{
		`eval "$(` + tombolo + ` lab env)"   # this shell is in the lab, with kubectl and pulumi`,
		fmt.Sprintf(`export KUBECONFIG="$(%s kubeconfig %s --file .lab/%s)"`, tombolo, cluster, file),
		"kubectl get nodes,pods -A",
		show,
		tombolo + " outputs " + cluster + "   # and: verify, list, lab status",
	}
	if c.IsSpoke() {
		commands = slices.DeleteFunc(commands, func(command string) bool { return command == show })
	}
	return commands
}
