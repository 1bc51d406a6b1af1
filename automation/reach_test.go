package automation

import (
	"errors"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/reach"
	"tombolo/config"
)

// outside is a bench on a machine with this address.
func outside(t *testing.T, address string) *bench {
	t.Helper()
	b := newBench(t)
	b.opts.Env[reach.AddressesVariable] = address
	b.opts.Env["HTTPS_PROXY"], b.opts.Env["https_proxy"] = "", ""
	return b
}

// TestUpOutOfReach: nothing is made of a cluster whose API this machine will not reach.
func TestUpOutOfReach(t *testing.T) {
	b := outside(t, "192.168.1.5")
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	var refused *fault.Error
	assert.Assert(t, errors.As(err, &refused), "%v", err)
	assert.Check(t, is.Contains(refused.What, "up demo: the Kubernetes API of demo will be reachable inside its network from the cluster's own nodes alone; this machine is not there: it has 192.168.1.5"))
	assert.Check(t, is.Contains(refused.Remedy, "nothing was started: add the network of this machine to kubernetes.endpoint.privateCidrs"))
	assert.Check(t, is.Len(b.seen.lines, 0))

	b.AssumeReachable()
	b.mustUp(t, demo(), UpOptions{})
}

// TestUpWithinReach: what cannot be seen from here is a note, and keeps nobody from it.
func TestUpWithinReach(t *testing.T) {
	within := config.Endpoint{PrivateCIDRs: []string{"192.168.0.0/16"}}
	for _, test := range []struct {
		name     string
		endpoint config.Endpoint
		note     string
	}{
		{"in a block", within, ""},
		{"behind a gateway", config.Endpoint{Public: true, AllowedCIDRs: []string{"203.0.113.0/24"}}, "note demo-core: the Kubernetes API of demo will be reachable on the internet from 203.0.113.0/24"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, c := outside(t, "192.168.1.5"), demo()
			c.Kubernetes.Endpoint = test.endpoint
			b.mustUp(t, c, UpOptions{})
			said := strings.Join(b.seen.notes(), "\n")
			assert.Check(t, is.Contains(said, test.note))
			assert.Check(t, is.Equal(strings.Contains(said, "Kubernetes API"), test.note != ""), said)
		})
	}
}

// TestPreviewTellsTheWay: a preview of a cluster that does not exist says it in any case, and
// fails for none.
func TestPreviewTellsTheWay(t *testing.T) {
	b := outside(t, "192.168.1.5")
	b.mustPreview(t, demo(), PreviewOptions{})
	assert.Check(t, is.Contains(strings.Join(b.seen.notes(), "\n"), "this machine is not there: it has 192.168.1.5: add the network"))
}

func TestAddressesThatAreNone(t *testing.T) {
	_, err := outside(t, "home").Up(t.Context(), demo(), UpOptions{})
	assert.ErrorContains(t, err, `read TOMBOLO_ADDRESSES: "home" is no address`)
}

// TestLiveClusterIsAsked: a connection decides where a cluster is there, unless the up
// changes who is let in.
func TestLiveClusterIsAsked(t *testing.T) {
	b := outside(t, "10.8.0.7")
	c := demo()
	c.Kubernetes.Endpoint = config.Endpoint{PrivateCIDRs: []string{"10.8.0.0/16"}}
	j, err := b.reach().Judge(t.Context(), c, &backend.State{Deployment: apitype.DeploymentV3{
		Resources: []apitype.ResourceV3{{
			URN: "urn:pulumi:demo-core::tombolo::pulumi:pulumi:Stack::tombolo-demo-core", Type: "pulumi:pulumi:Stack",
			Outputs: map[string]any{"clusterEndpoint": "https://127.0.0.1:1", "clusterCa": "Q0E="},
		}},
	}})
	assert.NilError(t, err)
	assert.Check(t, is.Equal(j.Verdict, reach.Unreachable))
	assert.Check(t, is.Contains(j.Words("demo"), "does not answer this machine: the connection was refused"))
	assert.Check(t, reach.ChangesEndpoint(config.Changes{{Path: "tags"}, {Path: "kubernetes.endpoint.privateCidrs"}}))
	assert.Check(t, !reach.ChangesEndpoint(config.Changes{{Path: "tags"}}))
}
