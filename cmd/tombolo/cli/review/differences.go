package review

import (
	"strings"

	"tombolo/automation/approved"
	"tombolo/automation/plan"
	"tombolo/internal/markdown"
)

// Differences are what would happen now and was not approved, in Markdown: each, and the
// properties of the resources of the set as a comment shows them.
func Differences(s plan.Set, refused *approved.Error) string {
	var b strings.Builder
	b.WriteString("## ❌ Not what was approved\n\n")
	for _, d := range refused.Differences {
		b.WriteString("- " + markdown.Code(d.String()) + "\n")
	}
	for _, c := range s.Clusters {
		if c.Counts().Total() > 0 {
			b.WriteString(cluster(c, everything))
		}
	}
	return b.String()
}
