// Package findingtest shows in tests what a walk has found.
package findingtest

import (
	"strings"

	"tombolo/check/finding"
)

// Messages are the findings, one a line, each after its place.
func Messages(found []finding.OfCluster) string {
	out := make([]string, len(found))
	for i, f := range found {
		out[i] = f.Place() + " " + f.Message
	}
	return strings.Join(out, "\n")
}
