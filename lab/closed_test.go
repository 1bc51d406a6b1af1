package lab

import (
	"errors"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/control"
	"tombolo/lab/controlplane"
)

// TestNetwork: a lab keeps the network that it was made with.
func TestNetwork(t *testing.T) {
	l := Open(t.TempDir())
	t.Setenv(control.NetworkVariable, "closed")
	got, err := l.Network()
	assert.NilError(t, err)
	assert.Check(t, is.Equal(got, ClosedNetwork))
	assert.NilError(t, l.ChooseNetwork(OpenNetwork))
	got, err = l.Network()
	assert.NilError(t, err)
	assert.Check(t, is.Equal(got, OpenNetwork))
	assert.Check(t, errors.Is(l.ChooseNetwork(ClosedNetwork), ErrOtherNetwork))
}

// TestDoors: in a closed network a private endpoint has a name of its own, and a public one
// is where the API is; in an open network each is.
func TestDoors(t *testing.T) {
	const api = "https://127.0.0.1:6443"
	var open doors
	assert.Check(t, is.Equal(open.endpoint("demo", api, true), api))
	closed := doors{closed: true}
	assert.Check(t, is.Equal(closed.behind("demo"), ""))
	assert.Check(t, is.Equal(closed.endpoint("demo", api, false), api))
	assert.Check(t, is.Equal(closed.endpoint("demo", api, true), "https://demo.k8s.lab.test"))
	assert.Check(t, is.Equal(closed.behind("demo"), "127.0.0.1:6443"))
	name, ok := controlplane.ClusterOf("demo.k8s.lab.test")
	assert.Check(t, ok && name == "demo")
	_, ok = controlplane.ClusterOf("git.lab.test")
	assert.Check(t, !ok)
}
