package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"tombolo/automation/value"
	"tombolo/internal/names"
)

// This file follows a change from core's outputs to what GitOps reads.

// Trace marks what in bootstrap follows the outputs of core that change.
func (c *Cluster) Trace() {
	var outputs []Output
	for _, s := range c.Stacks {
		if s.Kind == "core" {
			outputs = s.Outputs
		}
	}
	for _, s := range c.Stacks {
		if s.Kind == "core" {
			continue
		}
		for i := range s.Resources {
			for j := range s.Resources[i].Diffs {
				d := &s.Resources[i].Diffs[j]
				d.From = sources(*d, outputs)
			}
		}
	}
}

// sources are the outputs that a difference follows. A known value follows the
// outputs whose new values are in it, where the old ones were; an unknown one
// follows the output that its key is named after, else all that are unknown.
func sources(d Diff, outputs []Output) []string {
	var named, all []string
	unknown := d.After == any(value.Unknown{})
	for _, o := range outputs {
		if _, later := o.After.(value.Unknown); later != unknown {
			continue
		}
		switch {
		case unknown && d.Published != nil && d.Published.Key == snake(o.Name):
			named = append(named, o.Name)
		case unknown && d.Published != nil && ofAddon(o.Name, d.Published.Object):
			named = append(named, o.Name)
		case unknown:
			all = append(all, o.Name)
		case follows(d, o):
			named = append(named, o.Name)
		}
	}
	switch {
	case len(named) > 0:
		return named
	case len(all) > fewSources:
		return []string{Several}
	}
	return all
}

// Several stands for many outputs that a value which is not known yet may follow.
const Several = "several outputs"

const fewSources = 3

// follows says whether a known value follows an output: the output's new value is
// in it where the old one was. Of what is new the key has to have the output's
// name, or the text has to be long: a short one, such as the name of a cluster,
// is in many values.
func follows(d Diff, o Output) bool {
	const long = 10
	switch {
	case !holds(d.After, o.After):
		return false
	case d.Before != nil && o.Before != nil:
		return holds(d.Before, o.Before)
	}
	return d.Published != nil && d.Published.Key == snake(o.Name) || len(plain(o.After)) >= long
}

// holds says whether the text of an output's value is in another value.
func holds(v, output any) bool {
	const least = 3 // shorter texts are everywhere
	if list, ok := output.([]any); ok {
		return len(list) > 0 && !slices.ContainsFunc(list, func(e any) bool { return !holds(v, e) })
	}
	text := plain(output)
	return len(text) >= least && output != any(value.Masked) && strings.Contains(plain(v), text)
}

func plain(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// ofAddon says whether an output, such as addonOutputs.karpenter/role_arn, is of
// the addon or service whose values a ConfigMap holds.
func ofAddon(output, object string) bool {
	_, entry, found := strings.Cut(output, ".")
	owner, _, _ := strings.Cut(entry, "/")
	return found && names.Values(owner) == path.Base(object)
}

// snake is the key of the infra ConfigMap that an output becomes.
func snake(output string) string {
	var b strings.Builder
	for i, r := range output {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

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
