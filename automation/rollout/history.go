package rollout

import (
	"slices"
	"time"
)

const (
	// historyRuns is how many runs are looked at for expected durations.
	historyRuns = 20
	// historySamples is how many durations of one cluster are: the median of
	// five is not led astray by one run that had nothing, or everything, to do.
	historySamples = 5
)

// Expected returns how long an operation is expected to take on a cluster: the
// median of what it took when it last succeeded there. For a cluster without a
// history it is the median of the others'; 0 when there is none at all.
func (d Journals) Expected(operation string) (func(cluster string) time.Duration, error) {
	records, err := d.Records(historyRuns)
	if err != nil {
		return nil, err
	}
	samples := map[string][]time.Duration{}
	for _, r := range records {
		if r.Operation != operation {
			continue
		}
		for name, e := range r.Ends {
			if e.Outcome == Succeeded && len(samples[name]) < historySamples {
				samples[name] = append(samples[name], e.Duration)
			}
		}
	}
	known := make(map[string]time.Duration, len(samples))
	var all []time.Duration
	for name, s := range samples {
		known[name] = median(s)
		all = append(all, known[name])
	}
	others := median(all)
	return func(cluster string) time.Duration {
		if d, ok := known[cluster]; ok {
			return d
		}
		return others
	}, nil
}

func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[len(sorted)/2]
}
