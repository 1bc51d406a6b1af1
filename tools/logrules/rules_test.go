// Package logrules evaluates the alert rules that the trees give Loki, with Loki's own
// engine of the version that the chart pins: what fires, what does not, and what people read.
// It has tests only, and a module of its own, as Loki needs a fork of one of its libraries.
package logrules

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/grafana/dskit/user"
	"github.com/grafana/loki/v3/pkg/logproto"
	"github.com/grafana/loki/v3/pkg/logql"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/yaml"
)

// exporter are the labels that Alloy gives the lines of the event-exporter, as the trees
// have it.
const exporter = `{namespace="monitoring", pod="event-exporter-5d8c7b6f4-abcde", container="k8s-event-logger"}`

// now is when the rules are evaluated.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// rules are those of the ConfigMap, which the other tree has as well.
func rules(t *testing.T) []rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile("../../platform/flux/addons/loki/rules.yaml")
	assert.NilError(t, err)
	var object corev1.ConfigMap
	assert.NilError(t, yaml.UnmarshalStrict(text, &object))
	var groups rulefmt.RuleGroups
	assert.NilError(t, yaml.UnmarshalStrict([]byte(object.Data["events.yaml"]), &groups))
	assert.Equal(t, len(groups.Groups), 1)
	return groups.Groups[0].Rules
}

// event is a line of the event-exporter, which writes events as JSON, so long ago.
// https://github.com/max-rocket-internet/k8s-event-logger/blob/2.1/main.go
func event(t *testing.T, ago time.Duration, kind, namespace, name, reason string) logproto.Entry {
	t.Helper()
	line, err := json.Marshal(corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{UID: uuid.NewUUID()},
		InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: namespace, Name: name},
		Reason:         reason, Type: corev1.EventTypeWarning, Message: "of the test",
	})
	assert.NilError(t, err)
	return logproto.Entry{Timestamp: now.Add(-ago), Line: string(line)}
}

// fired are the summaries of the alerts that fire.
func fired(t *testing.T, entries ...logproto.Entry) []string {
	t.Helper()
	slices.SortFunc(entries, func(a, b logproto.Entry) int { return a.Timestamp.Compare(b.Timestamp) })
	logs := []logproto.Stream{
		{Labels: exporter, Entries: entries},
		// Others write the same words.
		{Labels: `{namespace="shop", pod="web-0"}`, Entries: entries},
	}
	engine := logql.NewEngine(logql.EngineOpts{}, logql.NewMockQuerier(1, logs), logql.NoLimits, nil)
	out := []string{}
	for _, rule := range rules(t) {
		params, err := logql.NewLiteralParams(rule.Expr, now, now, 0, 0, logproto.FORWARD, 0, nil, nil)
		assert.NilError(t, err, rule.Alert)
		// The tenant, of which the trees mount the rules.
		result, err := engine.Query(params).Exec(user.InjectOrgID(t.Context(), "fake"))
		assert.NilError(t, err, rule.Alert)
		vector, ok := result.Data.(promql.Vector)
		assert.Assert(t, ok, "%s is %T", rule.Alert, result.Data)
		for _, sample := range vector {
			out = append(out, rule.Alert+": "+expanded(t, rule.Annotations["summary"], sample))
		}
	}
	slices.Sort(out)
	return out
}

// expanded is an annotation as people read it.
func expanded(t *testing.T, text string, sample promql.Sample) string {
	t.Helper()
	data := template.AlertTemplateData(sample.Metric.Map(), nil, "", promql.Sample{F: sample.F})
	header := "{{$labels := .Labels}}{{$value := .Value}}"
	words, err := template.NewTemplateExpander(t.Context(), header+text, "alert", data, model.TimeFromUnixNano(now.UnixNano()), nil, &url.URL{}, nil).Expand()
	assert.NilError(t, err)
	return words
}

func TestEvents(t *testing.T) {
	many := func(n int, ago time.Duration, kind, reason string) (out []logproto.Entry) {
		for i := range n {
			out = append(out, event(t, ago, kind, "shop", fmt.Sprint("web-", i), reason))
		}
		return out
	}
	const minute = time.Minute
	oneTriesAgain := []logproto.Entry{}
	for range 3 {
		oneTriesAgain = append(oneTriesAgain, event(t, minute, "Pod", "shop", "web-0", "FailedCreatePodSandBox"))
	}
	old := event(t, 40*minute, "Node", "", "ip-10-0-1-7", "SystemOOM")
	logged := logproto.Entry{Timestamp: now.Add(-minute), Line: old.Line}
	for _, test := range []struct {
		name    string
		entries []logproto.Entry
		want    []string
	}{
		{"nothing of it", append(many(9, minute, "Pod", "Scheduled"), many(9, minute, "Pod", "FailedScheduling")...), []string{}},
		{
			"a node without memory",
			[]logproto.Entry{event(t, minute, "Node", "", "ip-10-0-1-7", "SystemOOM")},
			[]string{"KubernetesNodeLacksResources: Node ip-10-0-1-7 lacks memory or disk: SystemOOM."},
		},
		{"a while ago", []logproto.Entry{event(t, 16*minute, "Node", "", "ip-10-0-1-7", "SystemOOM")}, []string{}},
		{"of no node", []logproto.Entry{event(t, minute, "Pod", "shop", "web", "SystemOOM")}, []string{}},
		{"told again, as the event-exporter has started again", []logproto.Entry{old, logged}, []string{}},
		{"one pod that tries again", oneTriesAgain, []string{}},
		{"two pods without network", many(2, minute, "Pod", "FailedCreatePodSandBox"), []string{}},
		{
			"many pods without network", many(3, minute, "Pod", "FailedCreatePodSandBox"),
			[]string{"KubernetesPodsLackNetwork: 3 pods had no network to start with."},
		},
		{
			"volumes", append(many(3, minute, "PersistentVolumeClaim", "ProvisioningFailed"), many(2, minute, "Pod", "FailedAttachVolume")...),
			[]string{"KubernetesVolumesFail: Volumes of the namespace shop fail: ProvisioningFailed."},
		},
		{
			"a load balancer",
			[]logproto.Entry{event(t, minute, "Service", "istio-system", "public-istio", "FailedDeployModel")},
			[]string{"KubernetesLoadBalancerFails: Service istio-system/public-istio has no load balancer: FailedDeployModel."},
		},
	} {
		t.Run(test.name, func(t *testing.T) { assert.DeepEqual(t, fired(t, test.entries...), test.want) })
	}
}

// TestRules: each has a severity by which people sort it, and says what to look at.
func TestRules(t *testing.T) {
	for _, rule := range rules(t) {
		assert.Check(t, slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]), rule.Alert)
		assert.Check(t, rule.Annotations["summary"] != "" && rule.Annotations["description"] != "", rule.Alert)
	}
}
