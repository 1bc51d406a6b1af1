package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// opWords are the forms in which a kind of change is spoken of.
type opWords struct{ sign, doing, done, planned string }

// words returns the forms for one of the engine's kinds of step.
func words(op string) opWords {
	switch apitype.OpType(op) {
	case apitype.OpCreate, apitype.OpCreateReplacement:
		return opWords{"+", "creating", "created", "to create"}
	case apitype.OpUpdate:
		return opWords{"~", "updating", "updated", "to update"}
	case apitype.OpDelete, apitype.OpDeleteReplaced:
		return opWords{"-", "deleting", "deleted", "to delete"}
	case apitype.OpReplace:
		return opWords{"±", "replacing", "replaced", "to replace"}
	case apitype.OpImport, apitype.OpImportReplacement:
		return opWords{"=", "importing", "imported", "to import"}
	case apitype.OpRead, apitype.OpReadReplacement:
		return opWords{">", "reading", "read", "to read"}
	case apitype.OpRefresh:
		return opWords{"?", "refreshing", "refreshed", "to refresh"}
	case apitype.OpSame:
		return opWords{" ", "checking", "unchanged", "unchanged"}
	}
	return opWords{"*", op, op, op}
}

// counts says whether a finished step is one of the changes that an
// operation's plan counts. A replacement is counted once, not with its parts.
func counts(op string) bool {
	switch apitype.OpType(op) {
	case apitype.OpCreate, apitype.OpUpdate, apitype.OpDelete, apitype.OpReplace, apitype.OpImport:
		return true
	}
	return false
}

// silent says whether a step is nothing that a reader waits for.
func silent(op string) bool {
	switch apitype.OpType(op) {
	case apitype.OpSame, apitype.OpRefresh, apitype.OpRead, apitype.OpReplace:
		return true
	}
	return false
}

// ResourceType is a type token as it is shown everywhere, without the part that only repeats its end:
// aws:ec2/vpc:Vpc is aws:ec2:Vpc.
func ResourceType(token string) string {
	parts := strings.Split(token, ":")
	if len(parts) != 3 {
		return token
	}
	module, member, found := strings.Cut(parts[1], "/")
	if found && strings.EqualFold(member, parts[2]) {
		parts[1] = module
	}
	return strings.Join(parts, ":")
}

// urnName returns the last part of a URN: the resource's name in the program.
func urnName(urn string) string {
	if i := strings.LastIndex(urn, "::"); i >= 0 {
		return urn[i+2:]
	}
	return urn
}

// summary says what an operation changed: "2 created, 1 updated, 28 unchanged".
func summary(changes map[string]int, planned bool) string {
	var parts []string
	changed := 0
	for _, op := range orderedOps(changes) {
		n := changes[op]
		w := words(op)
		if op == string(apitype.OpSame) || n == 0 {
			continue
		}
		changed += n
		word := w.done
		if planned {
			word = w.planned
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, word))
	}
	if changed == 0 {
		parts = append(parts, "0 changes")
	}
	if n := changes[string(apitype.OpSame)]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d unchanged", n))
	}
	return strings.Join(parts, ", ")
}

// Changed says what operations changed, such as "2 created, 1 updated"; "" for nothing.
func Changed(changes map[string]int) string {
	changes = maps.Clone(changes)
	maps.DeleteFunc(changes, func(op string, n int) bool { return n == 0 || !counts(op) })
	if len(changes) == 0 {
		return ""
	}
	return summary(changes, false)
}

// orderedOps returns the kinds of change in the order people expect, others
// after them by name.
func orderedOps(changes map[string]int) []string {
	order := []string{
		string(apitype.OpCreate), string(apitype.OpUpdate), string(apitype.OpReplace),
		string(apitype.OpDelete), string(apitype.OpImport),
	}
	var ops []string
	for _, op := range order {
		if _, ok := changes[op]; ok {
			ops = append(ops, op)
		}
	}
	for _, op := range slices.Sorted(maps.Keys(changes)) {
		if !slices.Contains(order, op) {
			ops = append(ops, op)
		}
	}
	return ops
}

// duration writes a duration as people read it: 4s, 3m10s, 1h2m.
func duration(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
