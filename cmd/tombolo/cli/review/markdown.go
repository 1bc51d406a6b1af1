package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tombolo/automation/plan"
	"tombolo/config"
	"tombolo/internal/markdown"
	"tombolo/internal/wording"
)

// GitHubSize, GitLabSize and AzureSize are the longest comments that these hosts take,
// in characters. What is written here is counted in bytes, which are never fewer.
// Sources: GitHub's error "body is too long (maximum is 65536 characters)", GitLab's
// documentation of limits, and Azure DevOps's error "A discussion comment cannot be
// longer than 150000 characters" (pull request 1585 of runatlantis/atlantis at GitHub).
const (
	GitHubSize = 65_536
	GitLabSize = 1_000_000
	AzureSize  = 150_000
)

// LeastSize is the least that a comment can be asked to fit into.
const LeastSize = 2_000

// Options of a comment.
type Options struct {
	// Key of the comment's marker.
	Key string
	// MaxSize in bytes, LeastSize or more. Default: GitHubSize.
	MaxSize int
}

// detail is how much is said of one cluster, the most first.
type detail int

const (
	everything detail = iota // all properties
	changes                  // all properties of what stays, names of what comes or goes
	names                    // resources
	kinds                    // counts of resources by type
	numbers                  // nothing but the line in the table
	details
)

// Comment is the change in Markdown. What does not fit is folded first, the
// longest cluster before others, then counted; nothing is cut.
func Comment(s plan.Set, o Options) string {
	if o.MaxSize == 0 {
		o.MaxSize = GitHubSize
	}
	all := s.Changed()
	parts, levels := make([]string, len(all)), make([]detail, len(all))
	for i, c := range all {
		parts[i] = cluster(c, everything)
	}
	for brief := range 3 {
		head := heading(s, o, brief)
		for size := len(head) + total(parts); ; {
			folded := folded(levels)
			if size+len(folded) <= o.MaxSize {
				return head + strings.Join(parts, "") + folded
			}
			i := longest(parts, levels)
			if i < 0 {
				break
			}
			levels[i]++
			size -= len(parts[i])
			parts[i] = cluster(all[i], levels[i])
			size += len(parts[i])
		}
	}
	return shortest(s, o)
}

func total(parts []string) int {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	return n
}

// longest is the cluster with the longest text; -1 when nothing can be left out
// any more.
func longest(parts []string, levels []detail) int {
	found := -1
	for i, p := range parts {
		if levels[i] < details-1 && (found < 0 || len(p) > len(parts[found])) {
			found = i
		}
	}
	return found
}

// folded says that something was left out.
func folded(levels []detail) string {
	n := 0
	for _, l := range levels {
		if l > everything {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n_Shortened to fit: %s shown in part. The page that `--html` writes has everything._\n", wording.Count(n, "cluster"))
}

// heading is all but the clusters' own parts. brief 1 counts what flows and what
// is dangerous, brief 2 the clusters too.
func heading(s plan.Set, o Options, brief int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", Marker(o.Key), headline(s))
	b.WriteString(alarm(s, brief))
	b.WriteString(verdicts(s, brief))
	b.WriteString(failures(s, brief))
	b.WriteString(removed(s, brief))
	b.WriteString(table(s, brief))
	b.WriteString(flows(s, brief))
	return b.String()
}

// shortest is what is left of a change of very many clusters.
func shortest(s plan.Set, o Options) string {
	return fmt.Sprintf("%s\n%s\n\n%s\n_Too long to list: the page that `--html` writes has everything._\n",
		Marker(o.Key), headline(s), counts(s))
}

func counts(s plan.Set) string {
	return fmt.Sprintf("%s dangerous, %s of the policy not met, %s incomplete, %s removed.\n",
		wording.Count(len(s.Dangerous()), "change"), wording.Count(len(s.Unmet()), "rule"), wording.Count(failed(s), "preview"), wording.Count(len(s.Removed), "cluster file"))
}

func failed(s plan.Set) int {
	n := 0
	for _, c := range s.Clusters {
		if c.Err != "" {
			n++
		}
	}
	return n
}

func headline(s plan.Set) string {
	mark := ""
	switch {
	case s.Failed():
		mark = "❌ "
	case len(s.Dangerous()) > 0:
		mark = "⚠️ "
	}
	n := len(s.Changed())
	text := fmt.Sprintf("## %sPreview: %s, %s", mark, wording.Count(n, "cluster"), counted(s.Counts()))
	if n == 0 {
		text = fmt.Sprintf("## %sPreview: no changes", mark)
	}
	if gone := len(s.Removed); gone > 0 {
		text = strings.Replace(text, "no changes", "no cluster changes", 1) + ", " + wording.Count(gone, "cluster file") + " removed"
	}
	if n := failed(s); n > 0 {
		text += ", " + wording.Count(n, "preview") + " incomplete"
	}
	if s.Since != "" {
		text += fmt.Sprintf("\n\nCompared with %s: %s previewed, %d unchanged.", markdown.Code(s.Since), wording.Count(len(s.Clusters), "cluster"), len(s.Unchanged))
	}
	for _, line := range s.Shared {
		text += "\n\n" + markdown.Text(line) + "."
	}
	for _, line := range s.Unseen {
		text += "\n\nNote: " + markdown.Text(line) + "."
	}
	if s.Digest != "" {
		text += "\n\nPlan " + markdown.Code(s.Digest) + "."
	}
	return text
}

// shownDangers is how many are listed when not all can be.
const shownDangers = 5

func alarm(s plan.Set, brief int) string {
	all := s.Dangerous()
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n> [!CAUTION]\n> **%s**\n", wording.Count(len(all), "dangerous change"))
	for i, d := range all {
		if brief > 0 && i == shownDangers {
			fmt.Fprintf(&b, "> - and %d more\n", len(all)-i)
			break
		}
		fmt.Fprintf(&b, "> - **%s** %s: %s\n", markdown.Text(d.Cluster), takes(d), markdown.Code(resourceName(d.Resource)))
	}
	return b.String()
}

func verdicts(s plan.Set, brief int) string {
	var b strings.Builder
	for _, v := range s.Verdicts {
		mark, words := "❌", "needs a second approval"
		if v.Met {
			mark, words = "✅", "has its second approval"
		}
		if v.Decision == config.Deny {
			words = "is denied"
		}
		if v.Reason != "" {
			words += ", as " + markdown.Text(v.Reason)
		}
		of := wording.Count(len(v.Matches), "change")
		if brief == 0 && len(v.Matches) <= shownDangers {
			quoted := make([]string, len(v.Matches))
			for i, m := range v.Matches {
				quoted[i] = markdown.Code(m)
			}
			of = strings.Join(quoted, ", ")
		}
		fmt.Fprintf(&b, "- %s **%s** %s: %s\n", mark, markdown.Text(v.Rule), words, of)
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("\n### Policy %s\n\n%s", markdown.Code(s.Policy), b.String())
}

func failures(s plan.Set, brief int) string {
	var b strings.Builder
	for _, c := range s.Clusters {
		if c.Err == "" {
			continue
		}
		if brief > 0 {
			return fmt.Sprintf("\n**%s incomplete.**\n", wording.Count(failed(s), "preview"))
		}
		fmt.Fprintf(&b, "\n**The preview of %s is incomplete:** %s\n", markdown.Text(c.Name), markdown.Code(c.Err))
	}
	return b.String()
}

func removed(s plan.Set, brief int) string {
	if len(s.Removed) == 0 {
		return ""
	}
	if brief > 1 {
		return fmt.Sprintf("\n**%s removed**; their resources stay until they are destroyed.\n", wording.Count(len(s.Removed), "cluster file"))
	}
	var b strings.Builder
	b.WriteString("\n### Removed cluster files\n\n")
	for _, r := range s.Removed {
		left := "the backend has no stack of the cluster"
		if len(r.Stacks) > 0 {
			var stacks []string
			for _, l := range r.Stacks {
				stacks = append(stacks, fmt.Sprintf("%s (%s)", markdown.Code(l.Name), wording.Count(l.Resources, "resource")))
			}
			left = fmt.Sprintf("its resources stay until they are destroyed: %s. Restore the file, and run `tombolo destroy %s` first",
				strings.Join(stacks, ", "), markdown.Text(r.Cluster))
		}
		fmt.Fprintf(&b, "- %s: %s.\n", markdown.Code(r.File), left)
	}
	return b.String()
}

func table(s plan.Set, brief int) string {
	if len(s.Changed()) == 0 || brief > 1 {
		return ""
	}
	row := func(name, account string, others ...string) string {
		cells := []string{name}
		if s.OverAccounts() {
			cells = append(cells, account)
		}
		return markdown.Row(append(cells, others...)...)
	}
	var b strings.Builder
	columns := []string{"wave", "core", "bootstrap"}
	own := hasOwn(s)
	if own {
		columns = append(columns, "own stacks")
	}
	head := row("cluster", "account", append(columns, "why")...)
	b.WriteString("\n" + head + "|" + strings.Repeat("---|", strings.Count(head, "|")-1) + "\n")
	for _, c := range s.Changed() {
		why := strings.Join(c.Reasons, "; ")
		if brief > 0 {
			why = ""
		}
		cells := map[string]string{}
		var others []string
		for _, stack := range c.Stacks {
			cells[stack.Kind] = counted(stack.Counts())
			if stack.Own() {
				others = append(others, markdown.Text(stack.Kind)+": "+counted(stack.Counts()))
			}
		}
		values := []string{strconv.Itoa(c.Wave), cells["core"], cells["bootstrap"]}
		if own {
			values = append(values, strings.Join(others, "<br>"))
		}
		b.WriteString(row(markdown.Text(c.Name), markdown.Text(c.Account), append(values, markdown.Text(why))...))
	}
	return b.String()
}

// hasOwn says whether a cluster has own stacks, of programs that are the team's.
func hasOwn(s plan.Set) bool {
	return slices.ContainsFunc(s.Clusters, func(c plan.Cluster) bool { return slices.ContainsFunc(c.Stacks, plan.Stack.Own) })
}

func flows(s plan.Set, brief int) string {
	all := s.Flows()
	switch {
	case len(all) == 0:
		return ""
	case brief > 0:
		return fmt.Sprintf("\n### How data flows\n\nChanged values that GitOps reads: %d.\n", len(all))
	}
	var b strings.Builder
	b.WriteString("\n### How data flows\n\nFrom core's outputs, other stacks and Parameter Store to the values that GitOps reads. Predicted values come from core's preview.\n\n" +
		"| output or parameter | before | after | ConfigMap keys | annotations and labels | clusters |\n|---|---|---|---|---|---|\n")
	for _, f := range all {
		output, before, after := "_cluster file or program_", "", ""
		if f.Output != "" {
			output, before, after = markdown.Code(f.Output), short(written(f.Before, true)), short(written(f.After, true))
			if f.Differs {
				before, after = "_differs_", "_differs_"
			}
		}
		b.WriteString(markdown.Row(output, before, after, list(f.Keys), list(f.Annotations), markdown.Text(few(f.Clusters))))
	}
	return b.String()
}

// short is a value in a cell: what is long is in the clusters' parts.
func short(v string) string {
	const most = 60
	if runes := []rune(v); len(runes) > most {
		return fmt.Sprintf("_%d characters_", len(runes))
	}
	return markdown.Code(v)
}

// list is what an output becomes; of many keys, those of one object are counted.
func list(names []string) string {
	const most = 6
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", list(names[:most]), len(names)-most)
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = markdown.Code(name)
	}
	return strings.Join(out, "<br>")
}
