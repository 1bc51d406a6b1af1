package review

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/automation/plan"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/config/strict"
	"tombolo/internal/markdown"
	"tombolo/internal/wording"
)

// cluster is the folded part of one cluster.
func cluster(c plan.Cluster, level detail) string {
	if level >= numbers {
		return ""
	}
	var b strings.Builder
	mark := ""
	if slices.ContainsFunc(c.Stacks, func(s plan.Stack) bool {
		return slices.ContainsFunc(s.Resources, func(r plan.Resource) bool { return r.Danger != "" })
	}) {
		mark = "⚠️ "
	}
	fmt.Fprintf(&b, "\n<details><summary>%s<b>%s</b>: %s</summary>\n", mark, markdown.Text(c.Name), counted(c.Counts()))
	for _, s := range c.Secrets {
		fmt.Fprintf(&b, "\nSecret %s: %s, for %s\n", markdown.Code(s.Setting), markdown.Code(s.Source), markdown.Code(s.For))
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(&b, "\nWarning of %s: %s %s\n", markdown.Text(place(w)), markdown.Code(w.Path), markdown.Text(advice(w)))
	}
	fileChanges(&b, c.FileChanges, level)
	for _, s := range c.Stacks {
		if len(s.Resources)+len(s.Outputs) == 0 {
			continue
		}
		body := stack(s, level)
		fmt.Fprintf(&b, "\n**%s**: %s\n\n", markdown.Text(s.Name), counted(s.Counts()))
		if s.Placeholders {
			b.WriteString("Previewed before core's outputs exist: values that core's preview does not have are unknown.\n\n")
		}
		b.WriteString(markdown.Block("diff", body))
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

// advice is what a warning says, and what to do about it.
func advice(w strict.Problem) string { return w.Message + "; " + w.Remedy }

// place is where a warning's value stands.
func place(w strict.Problem) string {
	file := "the cluster file"
	if w.With != "" {
		file = filepath.Base(w.File)
	}
	return fmt.Sprintf("%s, line %d", file, w.Line)
}

// fileChanges lists what the changes of the file do to the live cluster; in short, only
// those that do more than to change it in place.
func fileChanges(b *strings.Builder, changes config.Changes, level detail) {
	if len(changes) == 0 {
		return
	}
	fmt.Fprintf(b, "\nThe cluster file differs from the live cluster in %s: %s\n\n", wording.Count(len(changes), "key"), changes.Summary())
	for _, c := range changes {
		if level >= names && c.Effect == config.InPlace {
			continue
		}
		fmt.Fprintf(b, "- %s %s: **%s**: %s\n", markdown.Code(c.Path), markdown.Code(c.Values()), c.Effect, markdown.Text(c.Words))
	}
}

func stack(s plan.Stack, level detail) string {
	var b strings.Builder
	if level >= kinds {
		byKind(&b, s)
		return b.String()
	}
	for _, g := range alike(s, level) {
		g.write(&b)
	}
	if len(s.Outputs) > 0 && level < names {
		b.WriteString("  outputs of the stack\n")
		for _, o := range s.Outputs {
			pair(&b, s, plan.Diff{Path: o.Name, Before: o.Before, After: o.After})
		}
	}
	return b.String()
}

// byKind counts the resources by type and operation.
func byKind(b *strings.Builder, s plan.Stack) {
	type kind struct {
		op    plan.Op
		token string
	}
	n := map[kind]int{}
	for _, r := range s.Resources {
		n[kind{r.Op, r.Type}]++
	}
	all := make([]kind, 0, len(n))
	for k := range n {
		all = append(all, k)
	}
	slices.SortFunc(all, func(x, y kind) int { return cmp.Or(cmp.Compare(x.token, y.token), cmp.Compare(x.op, y.op)) })
	for _, k := range all {
		fmt.Fprintf(b, "%s %s: %d to %s\n", sign(k.op), render.ResourceType(k.token), n[k], k.op)
	}
}

// group are resources of which the same properties become the same: those of a
// tag that changes are many, and read once.
type group struct {
	titles     []string
	properties string
}

// alike puts the resources of a stack into groups, in the order of the first of
// each.
func alike(s plan.Stack, level detail) []*group {
	var all []*group
	same := map[string]*group{}
	for _, r := range s.Resources {
		text := properties(s, r, level)
		key := string(r.Op) + "\n" + text
		g := same[key]
		if g == nil || text == "" {
			g = &group{properties: text}
			same[key] = g
			all = append(all, g)
		}
		g.titles = append(g.titles, title(r))
	}
	return all
}

func (g *group) write(b *strings.Builder) {
	for _, t := range g.titles {
		b.WriteString(t)
	}
	if n := len(g.titles); n > 1 {
		fmt.Fprintf(b, "  the same in all %d:\n", n)
	}
	b.WriteString(g.properties)
}

// title is the line of a resource.
func title(r plan.Resource) string {
	lead := sign(r.Op)
	if lead == "~" {
		lead = "!"
	}
	danger := ""
	if r.Danger != "" {
		danger = "  DANGER: " + string(r.Danger)
	}
	return fmt.Sprintf("%s %s: %s%s\n", lead, resourceName(r), r.Op, danger)
}

// properties are the lines of those that are shown of a resource.
func properties(s plan.Stack, r plan.Resource, level detail) string {
	if level >= names || r.Op == plan.Delete || level >= changes && r.Op == plan.Create {
		return ""
	}
	var b strings.Builder
	schema := 0
	for _, d := range r.Diffs {
		if strings.Contains(d.Path, schemaPath) {
			schema++
			continue
		}
		pair(&b, s, d)
	}
	if schema > 0 {
		fmt.Fprintf(&b, "  and %s of its schema\n", wording.Count(schema, "value"))
	}
	return b.String()
}

// schemaPath is in the paths of what a CustomResourceDefinition says of objects:
// hundreds, which only the page has.
const schemaPath = ".schema.openAPIV3Schema."

// pair writes a difference: what was, and what will be.
func pair(b *strings.Builder, s plan.Stack, d plan.Diff) {
	path := markdown.OneLine(d.Path)
	core := len(d.From) > 0 || s.Placeholders
	if d.Before != nil {
		fmt.Fprintf(b, "-    %s: %s\n", path, written(d.Before, core))
	}
	if d.After != nil {
		fmt.Fprintf(b, "+    %s: %s%s\n", path, written(d.After, core), notes(d))
	}
}
