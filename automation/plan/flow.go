package plan

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// This file lists the ways from core's outputs, and from values of other stacks and of
// Parameter Store, to what GitOps reads.

// Flow is one way that the change takes: an output of core, or a value of another stack
// or of Parameter Store, that changes, what of it GitOps reads, and on which clusters.
type Flow struct {
	// Output of core, or where the value was read, in words; "" for what comes from the
	// cluster file or the program.
	Output string
	// Read says that it is a value of another stack or of Parameter Store.
	Read bool
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
				return g.Output == f.Output && g.Read == f.Read && reflect.DeepEqual(generic(g.Keys), generic(f.Keys)) &&
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
	type from struct {
		output string
		read   bool
	}
	ways := map[from]*Flow{}
	var order []from
	way := func(output string, read bool) *Flow {
		f := from{output, read}
		if ways[f] == nil {
			ways[f] = &Flow{Output: output, Read: read, Clusters: []string{c.Name}}
			order = append(order, f)
		}
		return ways[f]
	}
	for _, s := range c.Stacks {
		if s.Kind == "core" {
			for _, o := range s.Outputs {
				if o.Before == nil && o.After == "" {
					continue // a new cluster does not have it
				}
				f := way(o.Name, false)
				f.Before, f.After = o.Before, o.After
			}
			continue
		}
		for _, o := range s.Outputs {
			if source, ok := o.source(); ok {
				f := way(source, true)
				f.Before, f.After = o.Before, o.After
			}
		}
		for _, r := range s.Resources {
			for _, d := range r.Diffs {
				if d.Published == nil {
					continue
				}
				for _, output := range d.From {
					way(output, false).add(*d.Published)
				}
				for _, source := range d.Read {
					way(source, true).add(*d.Published)
				}
				if len(d.From)+len(d.Read) == 0 {
					way("", false).add(*d.Published)
				}
			}
		}
	}
	out := make([]Flow, 0, len(order))
	for _, f := range order {
		out = append(out, *ways[f])
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
