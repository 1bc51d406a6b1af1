package automation

import (
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
	"tombolo/stacks/handoff"
)

// TestLook looks at a cluster that is not ready: that is what was found, and no
// error, and nobody is asked to fetch.
func TestLook(t *testing.T) {
	b := newBench(t)
	b.cli.states["demo-core"] = handedOff("demo")
	k := kubetest.New(t, kubetest.FluxKinds(), infra, repository)
	b.deps.dial = func(handoff.Values) (kube.Cluster, error) { return k, nil }
	found, err := b.Look(t.Context(), demo())
	assert.NilError(t, err)
	assert.Check(t, found.Kubernetes != "" && len(found.Checks) != 0 && found.Cause != nil, "found %+v", found)
	for _, action := range kubetest.Fake(k).Actions() {
		if verb := action.GetVerb(); verb != "list" && verb != "get" {
			t.Errorf("the look does %q on the cluster", verb)
		}
	}
}

func TestLookAtWhatWasNotDeployed(t *testing.T) {
	b := newBench(t)
	_, err := b.Look(t.Context(), demo())
	var missing *fault.Error
	assert.Check(t, errors.As(err, &missing) && strings.Contains(err.Error(), "stack demo-core has no outputs: it was not deployed yet"),
		"got %v", err)
}

// TestLookAtASilentAPI: that an API does not answer is what was found.
func TestLookAtASilentAPI(t *testing.T) {
	b := newBench(t)
	b.cli.states["demo-core"] = handedOff("demo")
	k := kubetest.New(t, kubetest.FluxKinds(), infra)
	kubetest.Fail(k, errors.New("dial tcp 127.0.0.1:6443: connect: connection refused"))
	b.deps.dial = func(handoff.Values) (kube.Cluster, error) { return k, nil }
	found, err := b.Look(t.Context(), demo())
	assert.NilError(t, err)
	assert.Check(t, found.Cause != nil && found.Cause.Unreachable() && strings.Contains(found.Cause.Message, "connection refused"),
		"the cause is %+v", found.Cause)
}

const (
	infra      = "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: flux-system, name: infra-config}\ndata: {vpc_id: vpc-1}"
	repository = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {namespace: flux-system, name: platform}"
)
