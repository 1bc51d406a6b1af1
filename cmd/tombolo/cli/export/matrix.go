package export

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/config"
)

// MatrixOptions are those of tombolo export matrix.
type MatrixOptions struct {
	*fleet.Fleet
	// Destroy orders the clusters as they are destroyed.
	Destroy bool
	// Stage is the one stage to be written; all of them when the flag was not
	// given.
	Stage    int
	oneStage bool
}

// NewCmdMatrix returns the command; runF, if not nil, runs in place of it.
func NewCmdMatrix(f *factory.Factory, runF func(context.Context, *MatrixOptions) error) *cobra.Command {
	opts := &MatrixOptions{Fleet: fleet.New(f, fleet.Operation{Name: "export matrix", Order: rollout.Forward})}
	cmd := &cobra.Command{
		Use:   "matrix [<cluster>...]",
		Short: "Write a CI matrix with a job for each cluster",
		Long: strings.TrimSpace(`
Write the clusters as a matrix for CI, as one line of JSON: an object with the list
include, as GitHub Actions expects it. Each entry has a cluster, its stage, and
what else a job needs. All clusters of a stage may run at the same time, after the
stages before it have succeeded. The entries are in that order.

Jobs of a matrix do not wait for each other. Either run them one after the other
(max-parallel: 1), or make a job for each stage, with --stage.`),
		Example: strings.TrimSpace(`
  tombolo export matrix --all
  tombolo export matrix --changed-since origin/main
  tombolo export matrix --all --stage 0`),
		Args: opts.Args,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.oneStage = cmd.Flags().Changed("stage")
			return factory.Run(cmd.Context(), opts, runF, matrixRun)
		},
	}
	opts.Choice.AddFlags(cmd)
	opts.AddChangedFlags(cmd)
	cmd.Flags().BoolVar(&opts.Destroy, "destroy", false, "in the order of a destruction: the last wave first, and spokes before their hub")
	cmd.Flags().IntVar(&opts.Stage, "stage", 0, "only the clusters of this `stage`, counted from 0; no cluster if there are fewer stages")
	return cmd
}

// matrix is what CI reads.
type matrix struct {
	Include []entry `json:"include"`
}

// entry is the job of a cluster.
type entry struct {
	Cluster     string `json:"cluster"`
	Environment string `json:"environment"`
	Region      string `json:"region"`
	Account     string `json:"account"`
	Wave        int    `json:"wave"`
	// Stage before which all others of a lower number must have succeeded.
	Stage int `json:"stage"`
	// Hub whose Argo CD runs the cluster, or "".
	Hub string `json:"hub"`
}

func matrixRun(_ context.Context, o *MatrixOptions) error {
	if o.oneStage && o.Stage < 0 {
		return fault.NewUsage(fmt.Sprintf("--stage is %d", o.Stage), "stages are counted from 0")
	}
	// The matrix is data for CI, in one format: which clusters have changed is
	// said to people.
	o.JSON = func() bool { return false }
	chosen, err := o.Choose()
	if err != nil {
		return err
	}
	m, err := newMatrix(chosen, o)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(o.Streams.Out).Encode(m); err != nil {
		return fmt.Errorf("writing the matrix: %w", err)
	}
	return nil
}

func newMatrix(clusters []*config.Cluster, o *MatrixOptions) (matrix, error) {
	order := rollout.Forward
	if o.Destroy {
		order = rollout.Reverse
	}
	stages, err := rollout.Stages(clusters, order)
	if err != nil {
		return matrix{}, err
	}
	m := matrix{Include: []entry{}}
	for number, stage := range stages {
		if o.oneStage && number != o.Stage {
			continue
		}
		for _, c := range stage {
			m.Include = append(m.Include, entry{
				Cluster: c.Name, Environment: c.Environment, Region: c.Cloud.Region, Account: c.Cloud.Account,
				Wave: c.Wave, Stage: number, Hub: c.Hub(),
			})
		}
	}
	return m, nil
}
