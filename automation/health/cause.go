package health

import "slices"

// firstCause finds, among the checks that did not pass, the one that waits
// for no other.
func (p *platform) firstCause(checks []Check) (Check, bool) {
	failing := map[ref]Check{}
	var start []ref
	for _, c := range checks {
		if !c.Ready {
			r := ref{Kind: c.Kind, Namespace: c.Namespace, Name: c.Name}
			failing[r] = c
			start = append(start, r)
		}
	}
	if len(start) == 0 {
		return Check{}, false
	}
	first := slices.IndexFunc(start, func(r ref) bool { return !p.waitsFor(r, failing) })
	return failing[start[max(first, 0)]], true // without one they wait for one another
}

// waitsFor says whether one of the object's needs is failing too.
func (p *platform) waitsFor(r ref, failing map[ref]Check) bool {
	o, ok := p.objects[r]
	if !ok {
		return false
	}
	return slices.ContainsFunc(p.engine.needs(o), func(need ref) bool { _, fails := failing[need]; return fails && need != r })
}
