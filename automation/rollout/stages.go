package rollout

import "tombolo/config"

// Stages puts clusters into the order in which another scheduler may run them:
// all of a stage may run at the same time, once those of the stages before it
// have succeeded. It is the order of a run of our own: waves from the lowest on,
// and a hub before its spokes, or with Reverse the other way round.
func Stages(clusters []*config.Cluster, order Order) ([][]*config.Cluster, error) {
	byName := make(map[string]*config.Cluster, len(clusters))
	for _, c := range clusters {
		byName[c.Name] = c
	}
	schedule, err := NewSchedule(Jobs(clusters, order, nil), ScheduleOptions{Waves: true, Reverse: order == Reverse})
	if err != nil {
		return nil, err
	}
	var stages [][]*config.Cluster
	for !schedule.Over() {
		var stage []*config.Cluster
		var steps []int
		for step, ok := schedule.Next(); ok; step, ok = schedule.Next() {
			stage, steps = append(stage, byName[step.Cluster]), append(steps, step.ID)
		}
		for _, id := range steps {
			schedule.Finish(id, Succeeded)
		}
		stages = append(stages, stage)
	}
	return stages, nil
}
