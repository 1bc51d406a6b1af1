package hubs

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/automation/argocd"
	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/config"
	"tombolo/internal/file"
	"tombolo/stacks"
)

// RefuseWithSpokes keeps a hub alive as long as clusters are registered with it.
func (h Hubs) RefuseWithSpokes(ctx context.Context, c *config.Cluster, at kube.Cluster) error {
	registered, err := (argocd.Hub{Client: at.Client}).Registrations(ctx)
	if err != nil {
		return err
	}
	spokes, err := h.deployedSpokes(ctx, c)
	if err != nil {
		return err
	}
	for _, r := range registered {
		if name := r.Cluster(); r.Name() != argocd.SecretName(c.Name) && !slices.Contains(spokes, name) {
			spokes = append(spokes, name)
		}
	}
	if len(spokes) == 0 {
		return nil
	}
	slices.Sort(spokes)
	return &fault.Error{
		What: fmt.Sprintf("destroy %s: it is the hub of %s", c.Name, strings.Join(spokes, ", ")),
		Remedy: fmt.Sprintf("nothing was changed: run `tombolo destroy %s %s`, which takes spokes down before their hub; "+
			"of a cluster that is not Tombolo's, delete the Secret in namespace %s by which it is registered", c.Name, strings.Join(spokes, " "), argocd.Namespace),
	}
}

// deployedSpokes are the clusters with files beside the hub's that name it, and
// have resources in bootstrap. A file that is wrong counts for none: clusters that
// are registered are known by that too.
func (h Hubs) deployedSpokes(ctx context.Context, hub *config.Cluster) ([]string, error) {
	files, err := file.Matching(filepath.Join(filepath.Dir(hub.File), "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("look for the spokes of %s: %w", hub.Name, err)
	}
	var out []string
	for _, file := range files {
		spoke, err := config.Load(file)
		if err != nil || !spoke.HasHubFile() || spoke.Hub() != hub.Name {
			continue
		}
		st, err := h.Backend.State(ctx, stacks.Name(spoke.Name, stacks.Bootstrap))
		if err != nil {
			return nil, err
		}
		if st.Resources() > 0 {
			out = append(out, spoke.Name)
		}
	}
	return out, nil
}
