package health

import (
	"cmp"
	"maps"
	"slices"

	"tombolo/automation/kube"
	"tombolo/internal/names"
)

// System is what a look has found of one team's system. No verification waits for it: what
// a team has in its repository is the team's to mend.
type System struct {
	// Name of the system, and of its namespace.
	Name string `json:"name"`
	// Team that looks after it.
	Team string `json:"team"`
	// Ready says that everything which the engine has for it is.
	Ready bool `json:"ready"`
	// Suspended says that nothing is delivered, as its file wants it.
	Suspended bool `json:"suspended,omitempty"`
	// Revision that was delivered last.
	Revision string `json:"revision,omitempty"`
	// Refusal is why it is not ready: the first cause.
	Refusal string `json:"refusal,omitempty"`
}

// systemName is the name of what delivers a system, in the system's namespace.
const systemName = "system"

// setApart takes what is in the namespaces of systems out of the platform. A system is a
// release in the namespace names.SystemsNamespace; it stays, as it is the platform's.
func (p *platform) setApart() {
	p.apart = map[string][]ref{}
	for _, r := range p.order {
		if r.Kind == "HelmRelease" && r.Namespace == names.SystemsNamespace {
			p.apart[r.Name] = nil
		}
	}
	p.order = slices.DeleteFunc(p.order, func(r ref) bool {
		_, ofSystem := p.apart[r.Namespace]
		if ofSystem {
			p.apart[r.Namespace] = append(p.apart[r.Namespace], r)
		}
		return ofSystem
	})
}

// systems are those of the cluster, by name.
func (p *platform) systems() []System {
	var out []System
	for _, name := range slices.Sorted(maps.Keys(p.apart)) {
		s := System{Name: name, Ready: true}
		if release := p.objects[ref{"HelmRelease", names.SystemsNamespace, name}]; release != nil {
			s.Team = kube.Text(release, "spec", "values", "team")
		}
		delivery := p.objects[ref{"Kustomization", name, systemName}]
		if delivery == nil {
			s.Ready, s.Refusal = false, "nothing is set up for it yet"
		} else {
			s.Revision, s.Suspended = revision(delivery), suspended(delivery)
		}
		for _, r := range p.apart[name] {
			if s.Suspended {
				break
			}
			if c := p.engine.check(p, p.objects[r]); !c.Ready {
				s.Ready, s.Refusal = false, cmp.Or(s.Refusal, c.String())
			}
		}
		out = append(out, s)
	}
	return out
}
