package recovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/backend"
	"tombolo/automation/pulumicli"
	"tombolo/internal/wording"
)

// report says what was decided about each operation, given the state after the
// refresh.
func (p *plan) report(after *backend.State) string {
	var adopted, ambiguous []string
	missing := slices.Clone(p.gone)
	for _, c := range p.creations {
		name := pulumicli.ResourceName(string(c.resource.URN))
		switch r, found := after.Find(c.resource.URN); {
		case c.id != "" && found:
			adopted = append(adopted, fmt.Sprintf("%s %s", name, r.ID))
		case len(c.ambiguous) > 0:
			ambiguous = append(ambiguous, fmt.Sprintf("%s may be any of %s: delete what is not needed",
				name, strings.Join(c.ambiguous, ", ")))
		default:
			missing = append(missing, c.resource.URN)
		}
	}
	parts := []string{"recovered: " + p.happened()}
	if len(adopted) > 0 {
		parts = append(parts, "adopted "+strings.Join(adopted, ", "))
	}
	if len(missing) > 0 {
		parts = append(parts, fmt.Sprintf("%s had not happened: %s", wording.Plural(len(missing), "creation", "creations"), resourceNames(missing)))
	}
	if len(p.blind) > 0 {
		parts = append(parts, fmt.Sprintf("%s made again, as nothing tells whether it happened: %s",
			wording.Plural(len(p.blind), "creation is", "creations are"), resourceNames(p.blind)))
	}
	if len(p.foreign) > 0 {
		parts = append(parts, "not adopted, as another owner has them: "+strings.Join(p.foreign, ", "))
	}
	return strings.Join(append(append(parts, p.compared(after)...), ambiguous...), "; ")
}

// happened says what there was to recover from.
func (p *plan) happened() string {
	total := len(p.creations) + len(p.gone) + len(p.blind) + len(p.others)
	var parts []string
	if p.unanswered > 0 {
		parts = append(parts, wording.Plural(p.unanswered, "creation", "creations")+" got no answer")
	}
	if interrupted := total - p.unanswered; interrupted > 0 || p.unanswered == 0 {
		parts = append(parts, wording.Plural(interrupted, "operation was", "operations were")+" interrupted")
	}
	return strings.Join(parts, ", ")
}

// compared says what became of the resources whose change or deletion was
// interrupted.
func (p *plan) compared(after *backend.State) []string {
	var there, gone []resource.URN
	for _, urn := range p.others {
		if _, found := after.Find(urn); found {
			there = append(there, urn)
		} else {
			gone = append(gone, urn)
		}
	}
	var parts []string
	if len(there) > 0 {
		parts = append(parts, fmt.Sprintf("%s compared with the cloud: %s", wording.Plural(len(there), "resource", "resources"), resourceNames(there)))
	}
	if len(gone) > 0 {
		parts = append(parts, fmt.Sprintf("%s no longer there: %s", wording.Plural(len(gone), "resource is", "resources are"), resourceNames(gone)))
	}
	return parts
}

func resourceNames(urns []resource.URN) string {
	names := make([]string, len(urns))
	for i, urn := range urns {
		names[i] = pulumicli.ResourceName(string(urn))
	}
	return strings.Join(names, ", ")
}
