package argocd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"tombolo/config"
	"tombolo/internal/names"
)

// DropAddons takes addons from the cluster's registration: the labels by which
// generators reach it for them, and their values, by which an app of apps knows
// what is on. It is done in the name of the field manager that applied the registration.
func (h Hub) DropAddons(ctx context.Context, cluster string, addons []string) error {
	return h.relabel(ctx, cluster, func(m *metadata) error {
		for _, name := range addons {
			delete(m.labels, config.AddonLabelPrefix+name)
		}
		text := m.annotations[config.ValuesAnnotation]
		if text == "" {
			return nil
		}
		var values map[string]map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &values); err != nil {
			return fmt.Errorf("read the annotation %s: %w", config.ValuesAnnotation, err)
		}
		for _, name := range addons {
			delete(values["addons"], name)
		}
		left, err := json.Marshal(values)
		if err != nil {
			return fmt.Errorf("write the annotation %s: %w", config.ValuesAnnotation, err)
		}
		m.annotations[config.ValuesAnnotation] = string(left)
		return nil
	})
}

// OfAddons lists the cluster's Applications that are for one of the addons.
func (h Hub) OfAddons(ctx context.Context, cluster string, addons []string) ([]string, error) {
	r, err := h.Registration(ctx, cluster)
	if err != nil {
		return nil, err
	}
	c := Cluster{Name: cluster}
	if r != nil {
		c.Server = r.Server()
	}
	all, err := h.Applications(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range all {
		if a.IsOf(c) && slices.Contains(addons, a.GetLabels()[names.AddonLabel]) {
			out = append(out, a.String())
		}
	}
	return out, nil
}
