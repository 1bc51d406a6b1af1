package aws

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/automation/upgrade"
	"tombolo/config"
	"tombolo/config/awsfacts"
	"tombolo/internal/awscli"
)

// The categories of insights.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_InsightsFilter.html
const (
	upgradeReadiness  = "UPGRADE_READINESS"
	rollbackReadiness = "ROLLBACK_READINESS"
)

// Terms of EKS. Sources: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
// for the label.
func (Cloud) Terms() upgrade.Terms {
	return upgrade.Terms{
		Cloud: "AWS", Service: "EKS", Versions: awsfacts.Calendar.Minors(), RollbackDays: 7, ManagedAddons: true, GroupLabel: "eks.amazonaws.com/nodegroup",
		Rights: "allow the operations of EKS's insights to the credentials, use an AWS CLI that has them",
	}
}

// insight is one of the answers of ListInsights and DescribeInsight.
type insight struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status struct {
		Status upgrade.Status `json:"status"`
		Reason string         `json:"reason"`
	} `json:"insightStatus"`
	Recommendation string `json:"recommendation"`
}

// Insights asks EKS by the AWS CLI, which every cluster on AWS needs anyway: the
// provider has no function for them.
func (Cloud) Insights(ctx context.Context, run upgrade.Runner, c *config.Cluster, q upgrade.Question) ([]upgrade.Insight, error) {
	category := upgradeReadiness
	if q.Back {
		category = rollbackReadiness
	}
	if q.Fresh {
		if err := refreshInsights(ctx, run, c); err != nil {
			return nil, err
		}
	}
	filter, err := json.Marshal(map[string][]string{"categories": {category}, "kubernetesVersions": {q.Version}})
	if err != nil {
		return nil, err
	}
	var list struct{ Insights []insight }
	if err := ask(ctx, run, c, &list, "list-insights", "--filter", string(filter)); err != nil {
		return nil, err
	}
	out := make([]upgrade.Insight, 0, len(list.Insights))
	for _, i := range list.Insights {
		found := upgrade.Insight{Name: i.Name, Status: i.Status.Status, Reason: i.Status.Reason}
		if found.Status != upgrade.Passing {
			var one struct{ Insight insight }
			if err := ask(ctx, run, c, &one, "describe-insight", "--id", i.ID); err != nil {
				return nil, err
			}
			found.Recommendation = one.Insight.Recommendation
		}
		out = append(out, found)
	}
	slices.SortStableFunc(out, func(a, b upgrade.Insight) int {
		return cmp.Or(upgrade.ByGravity(a, b), strings.Compare(a.Name, b.Name))
	})
	return out, nil
}

// How long a refresh of insights may take, and how often it is asked about. EKS looks at
// them every 24 hours otherwise:
// https://docs.aws.amazon.com/eks/latest/userguide/cluster-insights.html
const (
	refreshTimeout = 15 * time.Minute
	refreshPoll    = 5 * time.Second
)

// refreshInsights has EKS look at the cluster now, and waits for the end of that. Statuses:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeInsightsRefresh.html
func refreshInsights(ctx context.Context, run upgrade.Runner, c *config.Cluster) error {
	var refresh struct{ Status, Message string }
	if err := ask(ctx, run, c, &refresh, "start-insights-refresh"); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, refreshPoll, refreshTimeout, true, func(ctx context.Context) (bool, error) {
		if err := ask(ctx, run, c, &refresh, "describe-insights-refresh"); err != nil {
			return false, err
		}
		if refresh.Status == "FAILED" {
			return false, fmt.Errorf("the refresh of the insights failed: %s", refresh.Message)
		}
		return refresh.Status == "COMPLETED", nil
	})
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the refresh of the insights was not over after %s", refreshTimeout)
	}
	return err
}

// ask starts the AWS CLI, and reads its answer into to.
func ask(ctx context.Context, run upgrade.Runner, c *config.Cluster, to any, command string, args ...string) error {
	args = append([]string{"eks", command, "--cluster-name", c.Name, "--region", c.Cloud.Region, "--output", "json", "--no-cli-pager"}, args...)
	program, words := awscli.Command(c.Cloud, args...)
	out, err := run(ctx, program, words...)
	if err != nil {
		return fmt.Errorf("aws eks %s: %s", command, said(err))
	}
	if err := json.Unmarshal([]byte(out), to); err != nil {
		return fmt.Errorf("read the answer of aws eks %s: %w", command, err)
	}
	return nil
}

// said is what a program has written about its failure.
func said(err error) string {
	exit := new(exec.ExitError)
	if errors.As(err, &exit) {
		if text := strings.TrimSpace(string(exit.Stderr)); text != "" {
			return strings.Join(strings.Fields(text), " ")
		}
	}
	return err.Error()
}
