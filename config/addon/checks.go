package addon

import (
	"fmt"
	"strings"
)

// uniqueZones finds zones that a list of options has twice.
func uniqueZones(list string, zones []Zone) []Problem {
	first := map[string]int{} // in small letters: Azure does not tell them from capitals
	var problems []Problem
	for i, z := range zones {
		if j, ok := first[strings.ToLower(z.ID)]; ok {
			problems = append(problems, Problem{
				Path:    at(list, i, "id"),
				Message: fmt.Sprintf("%q is already item %d of the list", z.ID, j+1),
				Remedy:  "give each zone once",
			})
			continue
		}
		first[strings.ToLower(z.ID)] = i
	}
	return problems
}
