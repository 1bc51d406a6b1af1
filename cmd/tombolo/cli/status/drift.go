package status

import (
	"tombolo/automation/drift"
	"tombolo/cmd/tombolo/cli/factory"
)

// lastDrift is the last result of tombolo drift; nil without one.
func lastDrift(f *factory.Factory, cluster string) (*Drift, error) {
	store, err := f.Drift()
	if err != nil {
		return nil, err
	}
	report, err := store.Load(cluster)
	if report == nil || err != nil {
		return nil, err
	}
	d := &Drift{
		At: report.At, Error: report.Error, Missing: report.Count(drift.Missing),
		Changed: report.Count(drift.Changed), Unexpected: report.Count(drift.Unexpected),
	}
	for _, r := range report.Differences {
		d.Resources = append(d.Resources, string(r.Class)+" "+r.Type+" "+r.Name)
	}
	return d, nil
}
