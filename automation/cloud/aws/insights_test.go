package aws

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation/upgrade"
	"tombolo/config"
)

func TestInsights(t *testing.T) {
	c := &config.Cluster{Name: "demo", Cloud: config.Cloud{Region: "eu-central-1", Profile: "ops"}}
	const common = " --cluster-name demo --region eu-central-1 --output json --no-cli-pager "
	answers := map[string]string{
		"aws eks list-insights" + common + `--filter {"categories":["UPGRADE_READINESS"],"kubernetesVersions":["1.35"]} --profile ops`: `{"insights": [
			{"id": "1", "name": "Kubelet version skew", "insightStatus": {"status": "PASSING", "reason": "all is well"}},
			{"id": "2", "name": "EKS add-on version compatibility", "insightStatus": {"status": "ERROR", "reason": "kube-proxy"}}]}`,
		"aws eks describe-insight" + common + "--id 2 --profile ops":                                                                    `{"insight": {"id": "2", "recommendation": "Update it."}}`,
		"aws eks start-insights-refresh" + common + "--profile ops":                                                                     `{"status": "IN_PROGRESS"}`,
		"aws eks describe-insights-refresh" + common + "--profile ops":                                                                  `{"status": "COMPLETED"}`,
		"aws eks list-insights" + common + `--filter {"categories":["ROLLBACK_READINESS"],"kubernetesVersions":["1.34"]} --profile ops`: `{"insights": []}`,
	}
	asked := map[string]bool{}
	run := func(_ context.Context, program string, args ...string) (string, error) {
		command := program + " " + strings.Join(args, " ")
		answer, ok := answers[command]
		assert.Check(t, ok, command)
		asked[args[1]] = true
		return answer, nil
	}
	got, err := Cloud{}.Insights(t.Context(), run, c, upgrade.Question{Version: "1.35"})
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []upgrade.Insight{
		{Name: "EKS add-on version compatibility", Status: upgrade.Bad, Reason: "kube-proxy", Recommendation: "Update it."},
		{Name: "Kubelet version skew", Status: upgrade.Passing, Reason: "all is well"},
	})
	got, err = Cloud{}.Insights(t.Context(), run, c, upgrade.Question{Version: "1.34", Back: true, Fresh: true})
	assert.NilError(t, err)
	assert.Equal(t, len(got), 0)
	assert.Check(t, asked["start-insights-refresh"] && asked["describe-insights-refresh"])
	answers["aws eks describe-insights-refresh"+common+"--profile ops"] = `{"status": "FAILED", "message": "no"}`
	_, err = Cloud{}.Insights(t.Context(), run, c, upgrade.Question{Version: "1.34", Fresh: true})
	assert.ErrorContains(t, err, "the refresh of the insights failed: no")
}

// TestInsightsByTheAssumedRole: the CLI is started by a shell that has assumed the role.
func TestInsightsByTheAssumedRole(t *testing.T) {
	c := &config.Cluster{Name: "demo", Cloud: config.Cloud{Region: "eu-central-1", Profile: "ops", AssumeRole: &config.AssumeRole{
		RoleARN: "arn:aws:iam::111122223333:role/tombolo", SessionName: "tombolo-demo",
	}}}
	_, err := Cloud{}.Insights(t.Context(), func(_ context.Context, program string, args ...string) (string, error) {
		assert.Equal(t, program, "sh")
		assert.Check(t, strings.Contains(args[1], "assume-role --profile ops --region eu-central-1 --role-arn arn:aws:iam::111122223333:role/tombolo"), args[1])
		assert.DeepEqual(t, args[2:5], []string{"aws", "eks", "list-insights"})
		assert.Check(t, !slices.Contains(args, "--profile"))
		return `{"insights": []}`, nil
	}, c, upgrade.Question{Version: "1.35"})
	assert.NilError(t, err)
}

func TestInsightsFail(t *testing.T) {
	for want, answer := range map[string]func() (string, error){
		"aws eks list-insights: An error occurred (AccessDeniedException)": func() (string, error) {
			return "", &exec.ExitError{Stderr: []byte("\nAn error occurred\n(AccessDeniedException)\n")}
		},
		"aws eks list-insights: not found":                  func() (string, error) { return "", errors.New("not found") },
		"read the answer of aws eks list-insights: invalid": func() (string, error) { return "<html>", nil },
	} {
		_, err := Cloud{}.Insights(t.Context(), func(context.Context, string, ...string) (string, error) { return answer() },
			&config.Cluster{}, upgrade.Question{Version: "1.35"})
		assert.ErrorContains(t, err, want)
	}
}
