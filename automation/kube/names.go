package kube

import (
	"fmt"
	"strings"
)

// Names joins the names of the first objects, and counts the others.
func Names[T fmt.Stringer](all []T, most int) string {
	var out []string
	for i, item := range all {
		if i == most {
			return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), len(all)-most)
		}
		out = append(out, item.String())
	}
	return strings.Join(out, ", ")
}
