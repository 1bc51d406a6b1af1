package automation

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"

	"tombolo/automation/kube/kubetest"
	"tombolo/config"
)

// takesAway is an event of a step on an object.
func takesAway(op apitype.OpType, kind, id string) apitype.EngineEvent {
	return apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{
		Planning: true, Metadata: apitype.StepEventMetadata{Op: op, Type: kind, Old: &apitype.StepEventStateMetadata{ID: id, Custom: true}},
	}}
}

func TestAPlanThatTakesARegistrationAwayIsRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(*fleet) error
		ops  []string
	}{
		{"preview", func(f *fleet) error {
			_, err := f.Preview(t.Context(), argoCluster("spoke", "mgmt"), PreviewOptions{})
			return err
		}, []string{"preview spoke-core", "preview spoke-bootstrap"}},
		{"up with a plan", func(f *fleet) error {
			_, err := f.Up(t.Context(), argoCluster("spoke", "mgmt"), UpOptions{Plan: true, Previewed: true})
			return err
		}, []string{"preview spoke-core", "up spoke-core", "preview spoke-bootstrap"}},
		{"up with another hub", func(f *fleet) error {
			f.cli.states["other-core"], f.cli.states["other-bootstrap"] = handedOff("other"), registeredWith("other", "other")
			_, err := f.Up(t.Context(), argoCluster("spoke", "other"), UpOptions{})
			return err
		}, []string{"up spoke-core", "preview spoke-bootstrap"}},
		{"up with another engine", func(f *fleet) error {
			_, err := f.Up(t.Context(), &config.Cluster{Name: "spoke"}, UpOptions{})
			return err
		}, []string{"up spoke-core", "preview spoke-bootstrap"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFleet(t, kubetest.Application("theirs"))
			f.cli.plan = map[string][]apitype.EngineEvent{
				"preview spoke-bootstrap": {takesAway(apitype.OpReplace, "kubernetes:core/v1:Secret", "argocd/cluster-spoke")},
			}
			err := test.run(f)
			wantPrecondition(t, err, "up spoke would delete or replace Secret argocd/cluster-spoke, and hub mgmt has 1 application for it; "+
				"its stack was left as it is: take back what changed in the cluster file, or run `tombolo destroy spoke --only bootstrap` before, "+
				"which removes the applications as they should be")
			assert.DeepEqual(t, f.cli.operations(), test.ops)
		})
	}
}

func TestALossThatNobodyMissesIsNone(t *testing.T) {
	f := newFleet(t)
	f.cli.plan = map[string][]apitype.EngineEvent{
		"preview spoke-bootstrap": {takesAway(apitype.OpDelete, "kubernetes:core/v1:Secret", "argocd/cluster-spoke")},
	}
	if _, err := f.Preview(t.Context(), argoCluster("spoke", "mgmt"), PreviewOptions{}); err != nil {
		t.Errorf("without applications: %v", err)
	}
	silent(f.clusters["mgmt"])
	_, err := f.Preview(t.Context(), argoCluster("spoke", "mgmt"), PreviewOptions{})
	assert.ErrorContains(t, err, "hub mgmt cannot be asked for applications: the Kubernetes API does not answer (connection refused)")
}

func TestUpDoesNotPreviewWithoutNeed(t *testing.T) {
	f := newFleet(t)
	f.mustUp(t, argoCluster("spoke", "mgmt"), UpOptions{Previewed: true})
	assert.DeepEqual(t, f.cli.operations(), []string{"up spoke-core", "up spoke-bootstrap"})
}
