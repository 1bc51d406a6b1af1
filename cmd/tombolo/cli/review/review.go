// Package review writes what the reviewers of a change read: one comment in
// Markdown, which fits where it is posted, and one page with everything. They
// are the same bytes for the same change.
package review

import (
	"encoding/json"
	"fmt"
	"strings"

	"tombolo/automation/plan"
	"tombolo/automation/value"
	"tombolo/cmd/tombolo/render"
)

// Marker is the line by which a comment is found again. Each key has a comment of
// its own.
func Marker(key string) string { return "<!-- tombolo:preview:" + key + " -->" }

// counted says how many resources change: "2 to create, 1 to replace".
func counted(c plan.Counts) string {
	var parts []string
	for _, op := range plan.Ops() {
		if n := c[op]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d to %s", n, op))
		}
	}
	if len(parts) == 0 {
		return "no resource changes"
	}
	return strings.Join(parts, ", ")
}

// sign of an operation, as in a diff.
func sign(op plan.Op) string {
	switch op {
	case plan.Create:
		return "+"
	case plan.Delete, plan.Replace:
		return "-"
	case plan.Import:
		return "="
	}
	return "~"
}

// takes says in words what is dangerous.
func takes(d plan.Dangerous) string {
	what := map[plan.Danger]string{
		plan.ClusterDanger: "the cluster itself", plan.NetworkDanger: "part of the network",
		plan.NodeGroupDanger: "a node group", plan.DataDanger: "data",
		plan.RegistrationDanger: "the registration with Argo CD", plan.InfraConfigDanger: "the infra ConfigMap",
	}
	verb := map[plan.Op]string{plan.Delete: "deletes", plan.Replace: "replaces"}
	return verb[d.Op] + " " + what[d.Danger]
}

// resourceName names a resource.
func resourceName(r plan.Resource) string {
	return render.ResourceType(r.Type) + " " + r.Name
}

// written is a value on one line.
func written(v any, core bool) string {
	switch v := v.(type) {
	case nil:
		return "(none)"
	case value.Unknown:
		if core {
			return "(unknown until core is applied)"
		}
		return "(unknown until applied)"
	case string:
		if v == value.Masked {
			return v
		}
	}
	text, err := plain(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return text
}

// plain is a value as JSON, with what is unknown in it named.
func plain(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(named(v))
	return strings.TrimSpace(b.String()), err
}

func named(v any) any {
	switch v := v.(type) {
	case value.Unknown:
		return "(unknown)"
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, child := range v {
			out[key] = named(child)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			out[i] = named(child)
		}
		return out
	}
	return v
}

// notes are what is to be said of a difference besides its values.
func notes(d plan.Diff) string {
	var out []string
	_, unknown := d.After.(value.Unknown)
	switch {
	case len(d.From) > 0 && unknown:
		out = append(out, "from core's "+few(d.From))
	case len(d.From) > 0:
		out = append(out, "predicted from core's "+few(d.From))
	}
	if len(d.Read) > 0 {
		out = append(out, "from "+few(d.Read))
	}
	if d.ForcesReplace {
		out = append(out, "forces the replacement")
	}
	if len(out) == 0 {
		return ""
	}
	return "  # " + strings.Join(out, "; ")
}

// few names some, and counts the rest.
func few(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
