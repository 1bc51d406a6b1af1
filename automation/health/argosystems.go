package health

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/automation/argocd"
	"tombolo/automation/kube"
	"tombolo/internal/names"
)

// setApart takes the Applications of teams out of the platform, those on other clusters of
// a hub, too. The Applications that set up their systems stay, as they are the platform's.
func (a argo) setApart(p *platform) {
	p.apart = map[string][]ref{}
	for _, r := range p.order {
		system := p.objects[r].GetLabels()[names.SystemLabel]
		if system != "" && r.Kind == "Application" && (argocd.Application{Unstructured: p.objects[r]}).IsLabelled(a.cluster.Name) {
			p.apart[system] = nil
		}
	}
	p.order = slices.DeleteFunc(p.order, func(r ref) bool {
		o := p.objects[r]
		if !delivers(o) {
			return false
		}
		system := o.GetLabels()[names.SystemLabel]
		if (argocd.Application{Unstructured: o}).IsLabelled(a.cluster.Name) {
			p.apart[system] = append(p.apart[system], r)
		}
		return true
	})
}

// delivers says that an object is the Application of a team: it has a project of its own.
func delivers(o *unstructured.Unstructured) bool {
	return o.GetKind() == "Application" && o.GetLabels()[names.SystemLabel] != "" && kube.Text(o, "spec", "project") != names.Platform
}

func (a argo) system(p *platform, name string) System {
	s := System{Name: name}
	if len(p.apart[name]) == 0 {
		s.Refusal = notSetUp
		return s
	}
	o := p.objects[p.apart[name][0]]
	s.Team = o.GetAnnotations()[names.TeamAnnotation]
	s.Revision = delivered(o)
	_, automated, _ := unstructured.NestedMap(o.Object, "spec", "syncPolicy", "automated")
	if s.Suspended = !automated; s.Suspended {
		s.Ready = true
		return s
	}
	c := checkApplication(p, o, false)
	if s.Ready = c.Ready; !s.Ready {
		s.Refusal = c.String()
	}
	return s
}

// delivered is the branch and the commit of the last sync that ended well; "" without one.
func delivered(o *unstructured.Unstructured) string {
	history := entries(o, "status", "history")
	if len(history) == 0 {
		return ""
	}
	revision, _ := history[len(history)-1]["revision"].(string)
	return kube.Text(o, "spec", "source", "targetRevision") + "@" + revision
}
