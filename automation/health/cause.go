package health

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
	for _, r := range start {
		if !p.waitsFor(r, failing) {
			return failing[r], true
		}
	}
	if len(start) > 0 { // they wait for one another
		return failing[start[0]], true
	}
	return Check{}, false
}

// waitsFor says whether one of the object's needs is failing too.
func (p *platform) waitsFor(r ref, failing map[ref]Check) bool {
	o, ok := p.objects[r]
	if !ok {
		return false
	}
	for _, need := range p.engine.needs(o) {
		if _, ok := failing[need]; ok && need != r {
			return true
		}
	}
	return false
}
