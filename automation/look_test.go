package automation

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"tombolo/automation/fault"
	"tombolo/stacks/handoff"
)

// TestLook looks at a cluster that is not ready: that is what was found, and no
// error, and nobody is asked to fetch.
func TestLook(t *testing.T) {
	b := newBench(t)
	b.cli.states["demo-core"] = handedOff("demo")
	k := fakeCluster(t, nil, infra, repository, strings.Replace(platformYAML, "generation: 2", "generation: 3", 1))
	b.dial = func(handoff.Values) (cluster, error) { return k, nil }
	found, err := b.Look(t.Context(), demo())
	if err != nil {
		t.Fatal(err)
	}
	if found.Kubernetes == "" || len(found.Checks) == 0 || found.Cause == nil {
		t.Errorf("found %+v", found)
	}
	for _, action := range actions(k) {
		if action != "list" && action != "get" {
			t.Errorf("the look does %q on the cluster", action)
		}
	}
}

func TestLookAtWhatWasNotDeployed(t *testing.T) {
	b := newBench(t)
	_, err := b.Look(t.Context(), demo())
	var missing *fault.Precondition
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "stack demo-core has no outputs: it was not deployed yet") {
		t.Errorf("got %v", err)
	}
}

// TestLookAtASilentAPI: that an API does not answer is what was found.
func TestLookAtASilentAPI(t *testing.T) {
	b := newBench(t)
	b.cli.states["demo-core"] = handedOff("demo")
	k := fakeCluster(t, nil, infra)
	refuse(k, "dial tcp 127.0.0.1:6443: connect: connection refused")
	b.dial = func(handoff.Values) (cluster, error) { return k, nil }
	found, err := b.Look(t.Context(), demo())
	if err != nil {
		t.Fatal(err)
	}
	if found.Cause == nil || !found.Cause.Unreachable() || !strings.Contains(found.Cause.Message, "connection refused") {
		t.Errorf("the cause is %+v", found.Cause)
	}
}

// actions are what was done on a fake cluster.
func actions(k cluster) []string {
	var verbs []string
	for _, a := range k.dynamic.(*fake.FakeDynamicClient).Actions() {
		verbs = append(verbs, a.GetVerb())
	}
	return verbs
}

// refuse lets a fake cluster fail whatever it is asked.
func refuse(k cluster, why string) {
	k.dynamic.(*fake.FakeDynamicClient).PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New(why)
	})
}
