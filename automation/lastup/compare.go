package lastup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/automation/operation"
	"tombolo/automation/unchanged"
	"tombolo/config"
	"tombolo/stacks"
)

// Outcome of a comparison with the last up.
type Outcome int

const (
	// Unknown is that of an up of which nothing can be said: anything may have changed.
	Unknown Outcome = iota
	// CoreEqual says that nothing has changed that core depends on, and nothing is known of bootstrap.
	CoreEqual
	// BootstrapDiffers is CoreEqual, and something that bootstrap depends on has changed for certain.
	BootstrapDiffers
	// AllEqual says that nothing has changed: an up has nothing to do.
	AllEqual
)

// Diff says what has changed since the last up.
type Diff struct {
	Outcome Outcome
	// Last is the up that was compared with.
	Last Up
	// Reason why the outcome is Unknown.
	Reason error

	inputs *inputs
	// texts are the stacks' states as they were compared, and digests those of them, by the stacks' names.
	texts   map[string]json.RawMessage
	digests map[string]string
	// states are those of the stacks of which nothing has changed.
	states map[stacks.Kind]*backend.State
}

var errNoRecord = errors.New("no up of the cluster is recorded")

// Compare finds out what has changed. It starts no engine, no plugin and no CLI on a state in a directory.
func (r Records) Compare(ctx context.Context, c *config.Cluster) Diff {
	text, err := r.Backend.Tag(ctx, stacks.Name(c.Name, stacks.Bootstrap), unchanged.Tag)
	if err != nil {
		return Diff{Reason: err}
	}
	record, recorded := unchanged.Parse(text)
	if !recorded {
		return Diff{Reason: errNoRecord}
	}
	d := Diff{Last: Up{At: record.At, By: record.By}, texts: map[string]json.RawMessage{}, digests: map[string]string{}}
	for _, k := range stacks.Kinds() {
		name := stacks.Name(c.Name, k)
		if d.texts[name], err = r.Backend.Deployment(ctx, name); err == nil {
			d.digests[name], err = unchanged.OfState(d.texts[name])
		}
		if err != nil {
			return Diff{Reason: err}
		}
	}
	if d.inputs, err = r.inputs(c); err != nil {
		return Diff{Reason: err}
	}
	now, reason := r.digests(ctx, c, d.inputs, d.digests)
	d.Reason = reason
	switch {
	case now.Digest != "" && now.Digest == record.Digest:
		d.Outcome = AllEqual
	case now.Core == "" || now.Core != record.Core:
	case now.Digest != "" && record.Digest != "":
		d.Outcome = BootstrapDiffers
	default:
		d.Outcome = CoreEqual
	}
	return d
}

// Parsed is the comparison for an up that relies on it, with the states that are equal. One that is not as
// an up leaves it makes the outcome Unknown.
func (d Diff) Parsed(c *config.Cluster) Diff {
	d.states = map[stacks.Kind]*backend.State{}
	for _, k := range stacks.Kinds() {
		if d.Outcome == Unknown || k == stacks.Bootstrap && d.Outcome != AllEqual {
			continue
		}
		name := stacks.Name(c.Name, k)
		st, err := backend.ParseState(name, apitype.UntypedDeployment{Version: apitype.DeploymentSchemaVersionCurrent, Deployment: d.texts[name]})
		if err == nil && (st.Resources() == 0 || st.Interrupted() > 0) {
			err = fmt.Errorf("stack %s is not as an up leaves it", name)
		}
		if err != nil {
			return Diff{Reason: err, inputs: d.inputs}
		}
		d.states[k] = st
	}
	return d
}

// IsCore says that core is equal, and has a state of this digest still.
func (d Diff) IsCore(c *config.Cluster, digest string) bool {
	return d.Outcome != Unknown && d.digests[stacks.Name(c.Name, stacks.Core)] == digest
}

// StateDigest is the digest of the state that a stack had when it was compared.
func (d Diff) StateDigest(c *config.Cluster, k stacks.Kind) string {
	return d.digests[stacks.Name(c.Name, k)]
}

// Result of a stack that is equal.
func (d Diff) Result(c *config.Cluster, k stacks.Kind) operation.StackResult {
	outputs, _ := backend.Masked(d.states[k].Outputs()).(map[string]any)
	return operation.StackResult{
		Stack: stacks.Name(c.Name, k), Kind: k, Operation: "up",
		Changes: operation.Changes{"same": d.states[k].Resources()}, Outputs: outputs,
	}
}
