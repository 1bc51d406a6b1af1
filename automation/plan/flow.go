package plan

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// This file lists the ways from core's outputs to what GitOps reads.

// Flow is one way that the change takes: an output of core that changes, what
// of it GitOps reads, and on which clusters.
type Flow struct {
	// Output of core; "" for what comes from the cluster file or the program.
	Output string
	// Before and After on these clusters, where they have the same.
	Before, After any
	// Differs says that the values are not the same on all of them.
	Differs bool
	// Keys of ConfigMaps and Annotations of registrations, as object: key.
	Keys, Annotations []string
	Clusters          []string
}

// Flows lists the ways of the change, those of outputs first. Clusters where an
// output has the same effect share one.
func (s Set) Flows() []Flow {
	var out []Flow
	for _, c := range s.Clusters {
		for _, f := range c.flows() {
			same := func(g Flow) bool {
				return g.Output == f.Output && reflect.DeepEqual(generic(g.Keys), generic(f.Keys)) &&
					reflect.DeepEqual(generic(g.Annotations), generic(f.Annotations))
			}
			i := slices.IndexFunc(out, same)
			if i < 0 {
				out = append(out, f)
				continue
			}
			out[i].Clusters = append(out[i].Clusters, c.Name)
			out[i].Differs = out[i].Differs || !reflect.DeepEqual(out[i].Before, f.Before) || !reflect.DeepEqual(out[i].After, f.After)
			out[i].Annotations = merged(out[i].Annotations, f.Annotations)
		}
	}
	slices.SortStableFunc(out, func(a, b Flow) int {
		if (a.Output == "") != (b.Output == "") {
			return cmp.Compare(b.Output, a.Output) // what has no output goes last
		}
		return cmp.Compare(a.Output, b.Output)
	})
	return out
}

// generic leaves a cluster's name out of what its registration is called.
func generic(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		object, key, _ := strings.Cut(name, ": ")
		if strings.HasPrefix(object, "argocd/") {
			object = "argocd"
		}
		out[i] = object + ": " + key
	}
	return out
}

func merged(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

func (c Cluster) flows() []Flow {
	ways := map[string]*Flow{}
	var order []string
	way := func(output string) *Flow {
		if ways[output] == nil {
			ways[output] = &Flow{Output: output, Clusters: []string{c.Name}}
			order = append(order, output)
		}
		return ways[output]
	}
	for _, s := range c.Stacks {
		if s.Kind == "core" {
			for _, o := range s.Outputs {
				if o.Before == nil && o.After == "" {
					continue // a new cluster does not have it
				}
				f := way(o.Name)
				f.Before, f.After = o.Before, o.After
			}
			continue
		}
		for _, r := range s.Resources {
			for _, d := range r.Diffs {
				if d.Published == nil {
					continue
				}
				from := d.From
				if len(from) == 0 {
					from = []string{""}
				}
				for _, output := range from {
					way(output).add(*d.Published)
				}
			}
		}
	}
	out := make([]Flow, 0, len(order))
	for _, output := range order {
		out = append(out, *ways[output])
	}
	return out
}

func (f *Flow) add(p Published) {
	name := p.Object + ": " + p.Key
	if p.Annotation {
		f.Annotations = merged(f.Annotations, []string{name})
		return
	}
	f.Keys = merged(f.Keys, []string{name})
}
