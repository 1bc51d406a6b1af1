package config

import (
	"maps"
	"slices"

	"tombolo/config/check"
	"tombolo/config/strict"
	"tombolo/config/values"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// checkMetadata checks what describes the cluster itself.
func checkMetadata(v *check.File, c *Cluster) {
	v.Labels("labels", c.Labels)
	v.Annotations("annotations", c.Annotations)
	own, ofAddons := append(names.InfraKeyNames(string(c.Cloud.Provider)), names.ChannelType), addonKeys(c)
	for _, key := range slices.Sorted(maps.Keys(c.Values)) {
		at := strict.Path("values").Key(key)
		switch {
		case !values.ValueKey.MatchString(key):
			v.KeyProblem(at, "use letters, digits and underscores, and start with no digit",
				"%s cannot be the name of a variable in manifests", wording.Quote(key))
		case slices.Contains(own, key):
			v.KeyProblem(at, "use another key", "is published by Tombolo itself")
		case ofAddons[key] != "":
			v.KeyProblem(at, "use another key", "is published for the addon %s", ofAddons[key])
		}
		if source, ok := c.Values[key].Source(); ok {
			values.CheckSource(v, at, source)
		}
	}
}
