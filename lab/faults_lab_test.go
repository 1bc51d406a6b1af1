//go:build lab

package lab

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/process"
	"tombolo/lab/standin"
	"tombolo/tests/tier"
)

// TestFaults adds, lists and clears faults through the daemon.
func TestFaults(t *testing.T) {
	tier.Short(t, "the daemon adds, lists and clears faults")
	d := start(t, checkout(t, map[string]string{"settings.yaml": settingsOf("plain")}))
	added, err := d.lab.AddFault(t.Context(), Fault{Kind: standin.FaultSlow, Operation: "create", Type: "Vpc"})
	want := Fault{ID: 1, Kind: standin.FaultSlow, Operation: "create", Type: "aws:ec2/vpc:Vpc", Count: 1, Delay: 5 * time.Second}
	if err != nil || added != want {
		t.Fatalf("%+v, %v", added, err)
	}
	if list, err := d.lab.Faults(t.Context()); err != nil || len(list) != 1 || list[0] != want {
		t.Errorf("%+v, %v", list, err)
	}
	if n, err := d.lab.ClearFaults(t.Context()); err != nil || n != 1 {
		t.Errorf("cleared %d, %v", n, err)
	}
	_, err = d.lab.AddFault(t.Context(), Fault{Kind: standin.FaultQuota, Operation: "read", Type: "Vpc"})
	assert.Check(t, is.Error(err, `add a fault: quota cannot happen to "read"; use create`))
}

// TestCutAndRestart: a cluster that is cut off takes connections and answers
// nothing, one that is restored does, and one that is restarted has its data.
func TestCutAndRestart(t *testing.T) {
	tier.Short(t, "a cluster is cut off, restored and restarted with its data")
	d := start(t, checkout(t, map[string]string{"settings.yaml": settingsOf("plain")}))
	info := startCluster(t, d, "demo")
	k := kubectlOf(t, d, "demo")
	k.run("", "create", "namespace", "kept")
	assert.NilError(t, d.lab.Cut(t.Context(), "demo"))
	if err := answers(t, info.Endpoint, time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a cluster that is cut off gives %v", err)
	}
	assert.NilError(t, d.lab.Restore(t.Context(), "demo"))
	k.await("kept", "get", "namespace", "kept", "-o", "jsonpath={.metadata.name}")
	before := pidOf(d, "demo-kube-apiserver")
	assert.NilError(t, d.lab.Restart(t.Context(), "demo"))
	if after := pidOf(d, "demo-kube-apiserver"); after == before || after == 0 {
		t.Errorf("the API server was process %d and is %d", before, after)
	}
	k.await("kept", "get", "namespace", "kept", "-o", "jsonpath={.metadata.name}")
	err := d.lab.Restart(t.Context(), "other")
	assert.Check(t, is.Error(err, "restart the API server of cluster other: there is no such cluster"))
}

func pidOf(d *daemon, name string) int {
	for _, p := range d.supervisor.List() {
		if p.Name == name && p.State == process.Running {
			return p.PID
		}
	}
	return 0
}

// answers asks an API server for anything. Its certificate is not looked at:
// what matters is whether an answer comes.
func answers(t *testing.T, endpoint string, within time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, nil)
	assert.NilError(t, err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
