package recovery

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"

	"tombolo/automation/backend"
	"tombolo/config"
	"tombolo/stacks"
)

// engine has one stack. Like Pulumi's it refuses to refresh what is not in the state.
type engine struct {
	Backend
	state *backend.State
	// finds is what each refresh finds in the cloud, by the resource's name: what it says of
	// itself, or that it is gone.
	finds []map[resource.URN]map[string]any
	// refreshed are the targets of each refresh.
	refreshed [][]string
}

func (e *engine) State(context.Context, string) (*backend.State, error) { return e.state, nil }

func (e *engine) Import(_ context.Context, _ *backend.State, edited apitype.UntypedDeployment) (err error) {
	e.state, err = backend.ParseState("demo-core", edited)
	return err
}

func (e *engine) Refresh(_ context.Context, urns []string) error {
	finds := e.finds[len(e.refreshed)]
	e.refreshed = append(e.refreshed, urns)
	var gone []resource.URN
	for _, u := range urns {
		if _, known := e.state.Find(resource.URN(u)); !known {
			return fmt.Errorf("no resource named '%s' found", u)
		}
		if outputs, said := finds[resource.URN(u)]; said && outputs == nil {
			gone = append(gone, resource.URN(u))
		}
	}
	edited, err := backend.Without(e.state.Raw, gone)
	if err != nil {
		return err
	}
	if e.state, err = backend.ParseState("demo-core", edited); err != nil {
		return err
	}
	for i, r := range e.state.Deployment.Resources {
		if outputs, said := finds[r.URN]; said {
			e.state.Deployment.Resources[i].Outputs = outputs
		}
	}
	return nil
}

// ofNobody is a cloud in which nothing has an owner.
type ofNobody struct{ aCloud }

func (ofNobody) Owner(map[string]any) (string, bool) { return "", false }

func (ofNobody) Lookup(context.Context, *config.Cluster, string, []Query) ([]Sighting, error) {
	return inTheCloud(), nil
}

// TestSettle refreshes again what is still being made or not seen yet, and not what the first
// refresh has found gone.
func TestSettle(t *testing.T) {
	const vpc, cluster, nodes = demoURN + "aws:ec2/vpc:Vpc::demo-vpc", demoURN + "aws:iam/role:Role::cluster", demoURN + "aws:iam/role:Role::nodes"
	for name, test := range map[string]struct {
		finds []map[resource.URN]map[string]any
		then  []string
	}{
		"still being made": {
			finds: []map[resource.URN]map[string]any{{vpc: {"state": "pending"}, cluster: nil}, {vpc: {"state": "available"}}},
			then:  []string{vpc, nodes},
		},
		"not seen yet": {
			finds: []map[resource.URN]map[string]any{{vpc: nil, cluster: nil}, {}},
			then:  []string{vpc, nodes},
		},
		"not seen yet, and the other one gone": {
			finds: []map[resource.URN]map[string]any{{vpc: nil, cluster: nil, nodes: nil}, {}},
			then:  []string{vpc},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := interruptedState(t)
				e := &engine{state: st, finds: test.finds}
				r := Recoverer{
					Backend: e, Cloud: ofNobody{}, Now: time.Now, Pauses: []time.Duration{time.Second}, Note: func(string, string) {},
					Open: func(context.Context, *config.Cluster, stacks.Kind, map[string]string) (Stack, error) { return e, nil },
				}
				assert.NilError(t, r.settlePending(t.Context(), demo, stacks.Core, st, 0, nil))
				assert.DeepEqual(t, e.refreshed, [][]string{{vpc, cluster, nodes}, test.then})
				_, there := e.state.Find(vpc)
				assert.Check(t, there && !slices.ContainsFunc(e.state.Deployment.Resources, func(r apitype.ResourceV3) bool { return r.URN == cluster }))
			})
		})
	}
}
