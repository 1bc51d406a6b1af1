package upgrade

import (
	"fmt"

	"tombolo/automation"
	"tombolo/automation/upgrade"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// planDocument, stepDocument and endDocument are the results in the JSON format.
type planDocument struct {
	Type string `json:"type"`
	automation.UpgradePlan
}

type stepDocument struct {
	Type    string `json:"type"`
	Cluster string `json:"cluster"`
	upgrade.Step
	Seconds float64 `json:"seconds"`
}

type endDocument struct {
	Type    string           `json:"type"`
	Cluster string           `json:"cluster"`
	Has     upgrade.Versions `json:"has"`
	Steps   int              `json:"steps"`
}

// showPlan shows the steps, and what the cloud says of the first.
func (o *Options) showPlan(p automation.UpgradePlan) error {
	if o.JSON() {
		if p.Steps == nil {
			p.Steps = []upgrade.Step{}
		}
		return render.WriteJSON(o.Streams.Out, planDocument{Type: "upgrade-plan", UpgradePlan: p})
	}
	if len(p.Steps) == 0 {
		o.Status().Done("%s: nothing to upgrade: the control plane has %s, and the node groups %s", p.Cluster, p.Has.ControlPlane, p.Has.Nodes)
		return nil
	}
	var rows [][]string
	for i, s := range p.Steps {
		rows = append(rows, []string{fmt.Sprint(i + 1), s.From + " -> " + s.To, p.Terms.What(s), inFile(s.File)})
	}
	if err := render.Table(o.Streams.ErrOut, o.Table(), []string{"step", "Kubernetes", "what", "in the file"}, rows); err != nil {
		return err
	}
	o.showInsights(p.Terms, p.Insights)
	return nil
}

// inFile is what the cluster file says at a step.
func inFile(v upgrade.Versions) string {
	text := "version " + v.ControlPlane
	if nodes := v.NodeVersion(); nodes != "" {
		text += ", nodeVersion " + nodes
	}
	return text
}

// showInsights shows what is not passing.
func (o *Options) showInsights(terms upgrade.Terms, all []upgrade.Insight) {
	if len(all) == 0 {
		return
	}
	passing := 0
	for _, i := range all {
		if i.Status == upgrade.Passing {
			passing++
			continue
		}
		o.Status().Failed("%s: %s", terms.Cloud, i)
		if i.Recommendation != "" {
			o.Status().Plain("    %s", i.Recommendation)
		}
	}
	o.Status().Done("%s insights: %d of %d pass", terms.Cloud, passing, len(all))
}

// end says what there is now, and what is left to a person.
func (o *Options) end(c *config.Cluster, p automation.UpgradePlan) error {
	has := p.Has
	if n := len(p.Steps); n > 0 {
		has = p.Steps[n-1].File
	}
	if o.JSON() {
		return render.WriteJSON(o.Streams.Out, endDocument{Type: "upgrade", Cluster: c.Name, Has: has, Steps: len(p.Steps)})
	}
	if len(p.Steps) == 0 {
		return nil
	}
	o.Status().Done("%s: the control plane has %s, and the node groups %s", c.Name, has.ControlPlane, has.Nodes)
	o.Status().Plain("  Commit %s: it says so now.", clusters.Short(c.File))
	if o.HoldNodes && !o.Rollback {
		if p.Terms.RollbackDays > 0 {
			o.Status().Plain("  For seven days, `tombolo upgrade %s --rollback` takes the control plane back.", c.Name)
		}
		o.Status().Plain("  `tombolo upgrade %s --to %s` has the nodes follow.", c.Name, has.ControlPlane)
	}
	return nil
}
