package promotion

import (
	"cmp"
	"slices"
	"strings"
)

// Part of a platform tree, such as the addon istio.
type Part struct {
	// Kind is addon, app, system, chart, cluster, or Other.
	Kind string `json:"kind"`
	// Name is "" for Other.
	Name string `json:"name,omitempty"`
}

// Other is the kind of all that is no part with a name.
const Other = "other"

func (p Part) String() string {
	if p.Name == "" {
		return "other files"
	}
	return p.Kind + " " + p.Name
}

// kinds of what the directories of a platform tree have in them.
var kinds = map[string]string{"addons": "addon", "apps": "app", "charts": "chart", "clusters": "cluster"}

// part is where a file belongs: to what its directory in the tree is for, or to the system
// that it sets up, systems/<name>.yaml.
func (c *clone) part(file string) Part {
	for _, tree := range c.trees {
		rest, below := strings.CutPrefix(file, tree)
		if !below {
			continue
		}
		at := strings.Split(rest, "/")
		if kind := kinds[at[0]]; kind != "" && len(at) > 2 {
			return Part{kind, at[1]}
		}
		if name, ok := strings.CutSuffix(at[len(at)-1], ".yaml"); ok && len(at) == 2 && at[0] == "systems" && name != "kustomization" {
			return Part{"system", name}
		}
	}
	return Part{Kind: Other}
}

// Changes are the files of one part.
type Changes struct {
	Part  Part
	Files []File
}

// Parts are the files of a step, part by part, by name; other files come last.
func (s Step) Parts() []Changes {
	var out []Changes
	for _, f := range s.Files {
		at := slices.IndexFunc(out, func(c Changes) bool { return c.Part == f.Part })
		if at < 0 {
			at = len(out)
			out = append(out, Changes{Part: f.Part})
		}
		out[at].Files = append(out[at].Files, f)
	}
	slices.SortStableFunc(out, func(a, b Changes) int {
		return cmp.Or(rank(a.Part)-rank(b.Part), cmp.Compare(a.Part.Kind, b.Part.Kind), cmp.Compare(a.Part.Name, b.Part.Name))
	})
	return out
}

func rank(p Part) int {
	if p.Kind == Other {
		return 1
	}
	return 0
}
