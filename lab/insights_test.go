package lab

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/lab/aws"
	"tombolo/lab/aws/eks"
	"tombolo/lab/control"
	"tombolo/lab/standin"
)

// noPlanes has the stand-in's clusters without control planes.
type noPlanes struct{}

func (noPlanes) Start(context.Context, standin.ClusterSpec) (standin.ClusterInfo, error) {
	return standin.ClusterInfo{}, nil
}
func (noPlanes) Stop(context.Context, string) error                             { return nil }
func (noPlanes) SetNodes(context.Context, string, string, []standin.Node) error { return nil }
func (noPlanes) TokenKey(string) (crypto.PublicKey, error)                      { return nil, errors.New("no key") }

// TestInsightsOverTheSocket: the daemon answers with EKS's JSON, and with its refusals.
func TestInsightsOverTheSocket(t *testing.T) {
	cloud, err := aws.Open(t.TempDir(), standin.Options{Clusters: noPlanes{}})
	assert.NilError(t, err)
	t.Cleanup(cloud.Close)
	assert.NilError(t, cloud.Put(&standin.Record{
		Type: eks.ClusterType, ID: "demo", Region: "eu-west-1", Status: standin.StatusActive, Created: time.Now(),
		Inputs: standin.Props{"name": "demo"}, Outputs: standin.Props{"name": "demo", "version": "1.34", "arn": "arn:aws:eks:eu-west-1:1:cluster/demo"},
	}))
	mux := http.NewServeMux()
	(&daemon{accounts: accounts{cloud}}).serveInsights(mux)
	ask := func(request string) control.ServiceAnswer {
		t.Helper()
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/insights", strings.NewReader(request)))
		var a control.ServiceAnswer
		assert.NilError(t, json.Unmarshal(w.Body.Bytes(), &a), w.Body.String())
		return a
	}

	var listed struct {
		Insights []struct {
			ID, Name, Category, KubernetesVersion string
			InsightStatus                         struct{ Status string }
		}
	}
	assert.NilError(t, json.Unmarshal(ask(`{"cluster":"demo","filter":{"kubernetesVersions":["1.35"]}}`).Body, &listed))
	assert.Equal(t, len(listed.Insights), 3)
	first := listed.Insights[0]
	assert.Equal(t, strings.Join([]string{first.Name, first.Category, first.KubernetesVersion, first.InsightStatus.Status}, " "), "Kubelet version skew UPGRADE_READINESS 1.35 PASSING")

	var described struct{ Insight map[string]any }
	assert.NilError(t, json.Unmarshal(ask(`{"cluster":"demo","region":"eu-west-1","id":"`+first.ID+`"}`).Body, &described))
	for _, key := range []string{"id", "name", "insightStatus", "recommendation", "additionalInfo", "resources", "categorySpecificSummary"} {
		assert.Check(t, described.Insight[key] != nil, "no %s in %v", key, described.Insight)
	}

	assert.Equal(t, ask(`{"cluster":"none"}`).Message, "No cluster found for name: none.")
	assert.Equal(t, ask(`{"cluster":"demo","region":"us-east-1"}`).Code, "ResourceNotFoundException")
	assert.Equal(t, ask(`{"cluster":"demo","by":{"AccessKeyID":"AKIA0"}}`).Code, "UnrecognizedClientException")
}
