package backend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/internal/names"
	"tombolo/stacks/owner"
)

// RootType is the type of the resource that stands for the stack itself.
const RootType = "pulumi:pulumi:Stack"

// State is a stack's deployment as the backend has it.
type State struct {
	Raw        apitype.UntypedDeployment
	Deployment apitype.DeploymentV3

	// read is the deployment as it was read, whatever was done to Raw since.
	read json.RawMessage
}

// ParseState reads a state as the CLI exports it.
func ParseState(stack string, raw apitype.UntypedDeployment) (*State, error) {
	s := &State{Raw: raw, read: raw.Deployment}
	if len(raw.Deployment) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(raw.Deployment, &s.Deployment); err != nil {
		return nil, fmt.Errorf("read the state of stack %s, version %d: %w", stack, raw.Version, err)
	}
	return s, nil
}

// All are the stack's resources; none when it does not exist.
func (s *State) All() []apitype.ResourceV3 {
	if s == nil {
		return nil
	}
	return s.Deployment.Resources
}

// Resources counts what the stack manages: everything but the stack itself
// and providers, which are nothing in the world.
func (s *State) Resources() int {
	n := 0
	for _, r := range s.All() {
		if Managed(r) {
			n++
		}
	}
	return n
}

// first is the first resource that is what is looked for.
func (s *State) first(is func(apitype.ResourceV3) bool) (apitype.ResourceV3, bool) {
	all := s.All()
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	return apitype.ResourceV3{}, false
}

// Managed says whether a resource is one in the world: neither the stack itself, nor
// a provider, nor a value that the state keeps.
func Managed(r apitype.ResourceV3) bool {
	return r.Type != RootType && r.Type != owner.Type && !strings.HasPrefix(string(r.Type), "pulumi:providers:")
}

// Outputs of the stack; secrets among them are still encrypted.
func (s *State) Outputs() map[string]any {
	if _, kept := s.identity(); kept && s.Resources() == 0 {
		return nil // of what was destroyed
	}
	outputs := maps.Clone(s.rootOutputs())
	maps.DeleteFunc(outputs, func(name string, _ any) bool { // none of ours describes the cluster
		return name == unverifiedOutput || name == unprotectedOutput || name == names.RebuildOutput
	})
	return outputs
}

func (s *State) rootOutputs() map[string]any {
	root, _ := s.first(func(r apitype.ResourceV3) bool { return r.Type == RootType })
	return root.Outputs
}

// signature marks what is no plain value in a state: a secret, above all.
const signature = "4dabf18193072939515e22adb298388d"

// IsSpecial says that the value, or something in it, is no plain value.
func IsSpecial(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		if _, ok := v[signature]; ok {
			return true
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), IsSpecial)
	case []any:
		return slices.ContainsFunc(v, IsSpecial)
	}
	return false
}

// HoldsSecrets says that something in the state is marked as a secret.
func (s *State) HoldsSecrets() bool {
	return s != nil && bytes.Contains(s.Raw.Deployment, []byte(resource.SecretSig))
}

// Masked is a value with the word for a secret in the place of each, as the CLI
// shows them.
func Masked(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if _, ok := v[signature]; ok {
			return names.Secret
		}
		out := make(map[string]any, len(v))
		for key, e := range v {
			out[key] = Masked(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Masked(e)
		}
		return out
	}
	return value
}

// HoldsSecret says whether a masked value had a secret in it.
func HoldsSecret(value any) bool {
	switch v := value.(type) {
	case string:
		return v == names.Secret
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), HoldsSecret)
	case []any:
		return slices.ContainsFunc(v, HoldsSecret)
	}
	return false
}

// Find returns the live resource with the URN.
func (s *State) Find(urn resource.URN) (apitype.ResourceV3, bool) {
	return s.first(func(r apitype.ResourceV3) bool { return r.URN == urn && !r.Delete })
}

// Owner is the identity of the cluster, in the state of core; "" when it has none, as
// before its first up.
func (s *State) Owner() string {
	r, _ := s.identity()
	return owner.IDOf(r.Outputs)
}

// ControlPlane is the one that a destruction has written down beside the identity.
func (s *State) ControlPlane() owner.ControlPlane {
	r, _ := s.identity()
	return owner.ControlPlaneOf(r.Outputs)
}

// Identity lists the URN of the resource with the cluster's identity; nothing when
// there is none.
func (s *State) Identity() []string {
	r, ok := s.identity()
	if !ok {
		return nil
	}
	return []string{string(r.URN)}
}

func (s *State) identity() (apitype.ResourceV3, bool) {
	return s.first(func(r apitype.ResourceV3) bool {
		return r.Type == owner.Type && r.URN.Name() == owner.ResourceName && !r.Delete
	})
}

// Destroyed says that the state has nothing any more but, maybe, the identity, or the
// record of a rebuild.
func (s *State) Destroyed() bool {
	_, kept := s.identity()
	emptied := kept || len(s.All()) == 1 && s.Rebuild() != ""
	return len(s.All()) == 0 || emptied && s.Resources() == 0 && s.Interrupted() == 0
}

// ProviderOf is the URN of a resource's provider; "" when it names none.
func ProviderOf(r apitype.ResourceV3) resource.URN {
	// A reference to a provider is its URN and its id, with "::" between.
	i := strings.LastIndex(r.Provider, "::")
	return resource.URN(r.Provider[:max(i, 0)])
}

// Object finds a live resource by its type and its id.
func (s *State) Object(kind string, is func(id string) bool) (apitype.ResourceV3, bool) {
	return s.first(func(r apitype.ResourceV3) bool { return string(r.Type) == kind && !r.Delete && is(string(r.ID)) })
}

// Interrupted counts the operations whose outcome is not known.
func (s *State) Interrupted() int {
	if s == nil {
		return 0
	}
	return len(s.Deployment.PendingOperations) + len(s.Unverified())
}

// unverifiedOutput is an output of a stack in which creations were adopted that
// the cloud has not confirmed yet: the list of their URNs. It is taken away with
// the confirmation. Without one, because the cloud did not answer, it stays for the
// next operation: to the engine an adopted resource exists, and it would never be
// made.
const unverifiedOutput = "tomboloUnverified"

// Unverified are the resources whose adoption was not confirmed. One that has left
// the state meanwhile is not among them.
func (s *State) Unverified() []string { return s.listed(unverifiedOutput) }

// listed are the URNs in an output of the stack, of those resources that the state has.
func (s *State) listed(output string) []string {
	values, _ := s.rootOutputs()[output].([]any)
	var urns []string
	for _, v := range values {
		if urn, ok := v.(string); ok {
			urns = append(urns, urn)
		}
	}
	return s.Present(urns)
}

// Present are those of the resources that the state has.
func (s *State) Present(urns []string) []string {
	var out []string
	for _, u := range urns {
		if _, found := s.Find(resource.URN(u)); found {
			out = append(out, u)
		}
	}
	return out
}

// ListsUnverified says whether the state has a list of unverified resources, also
// one whose resources have left it.
func (s *State) ListsUnverified() bool {
	_, lists := s.rootOutputs()[unverifiedOutput]
	return lists
}
