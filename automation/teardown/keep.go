package teardown

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/stacks/owner"
)

// Kept is a cloud resource that a destruction has left in the cloud on purpose.
type Kept struct {
	// Type is the provider's type token.
	Type string `json:"type"`
	// ID in the cloud.
	ID string `json:"id"`
	// Name in the program, or the resource's tag where no program has it.
	Name string `json:"name"`
}

// String names the resource for people.
func (k Kept) String() string {
	return fmt.Sprintf("%s %s (%s)", k.Type, k.ID, k.Name)
}

// Is says that a search has found the resource. Its id in a state is in some clouds the one in the
// whole cloud.
func (k Kept) Is(l Leftover) bool {
	return k.ID == l.ID || l.CloudID != "" && strings.EqualFold(k.ID, l.CloudID)
}

// Preparation changes what a state says about resources that are about to be
// destroyed: none is protected any more, because the cluster's name was given, or its
// file protects it no longer; and what holds data is forgotten and
// not deleted where that is wanted.
type Preparation struct {
	// Cloud knows what holds data.
	Cloud Cloud
	// KeepData leaves what holds data in the cloud, and with Guards what guards it.
	KeepData, Guards bool
	// ControlPlane is written down beside the identity, which outlives it. Default: none.
	ControlPlane owner.ControlPlane
	// Unprotected counts the resources whose protection was taken off.
	Unprotected int
}

// Edit changes a resource of a state, as bare JSON, and says whether it did.
func (p *Preparation) Edit(r map[string]json.RawMessage) bool {
	_, protected := r["protect"]
	if protected {
		delete(r, "protect")
		p.Unprotected++
	}
	token := backend.DecodeString(r["type"])
	data := p.Cloud.Data(token)
	keep := p.KeepData && (data == HoldsData || p.Guards && data == GuardsData)
	if keep {
		r["retainOnDelete"] = json.RawMessage("true")
	}
	return protected || keep || token == owner.Type && p.record(r)
}

// record writes the control plane down beside the identity.
func (p *Preparation) record(r map[string]json.RawMessage) bool {
	var outputs map[string]any
	if p.ControlPlane.ID == "" || json.Unmarshal(r["outputs"], &outputs) != nil || owner.IDOf(outputs) == "" ||
		owner.ControlPlaneOf(outputs) == p.ControlPlane {
		return false
	}
	r["outputs"] = backend.Encode(owner.Record(outputs, p.ControlPlane))
	return true
}

// Kept lists those of a state's resources that stay in the cloud.
func (p *Preparation) Kept(resources []apitype.ResourceV3) []Kept {
	var kept []Kept
	for _, r := range resources {
		if p.KeepData && p.Cloud.Data(string(r.Type)) == HoldsData && !r.Delete && !r.External {
			kept = append(kept, Kept{Type: string(r.Type), ID: string(r.ID), Name: r.URN.Name()})
		}
	}
	return kept
}
