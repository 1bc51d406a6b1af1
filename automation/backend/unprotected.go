package backend

import (
	"encoding/json"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// unprotectedOutput is an output of a stack that is being destroyed: the list of the
// URNs whose protection was taken off for that. It goes with the stack, or when they
// are protected again.
const unprotectedOutput = "tomboloUnprotected"

// WithUnprotected is the state with the list of what is protected in st.
func WithUnprotected(st *State, raw apitype.UntypedDeployment) (apitype.UntypedDeployment, error) {
	var urns []string
	for _, r := range st.All() {
		if r.Protect {
			urns = append(urns, string(r.URN))
		}
	}
	if len(urns) == 0 {
		return raw, nil
	}
	return WithOutput(raw, func(outputs map[string]json.RawMessage) { outputs[unprotectedOutput] = Encode(urns) })
}

// Unprotected are the resources in the state whose protection was taken off for a
// destruction that did not come to its end.
func (s *State) Unprotected() []string { return s.listed(unprotectedOutput) }

// ListsUnprotected says whether the state has a list of unprotected resources, also one
// whose resources have left it.
func (s *State) ListsUnprotected() bool {
	_, lists := s.rootOutputs()[unprotectedOutput]
	return lists
}

// Protected is the state with the protection of Unprotected put back.
func (s *State) Protected() (apitype.UntypedDeployment, error) {
	urns := s.Unprotected()
	raw, _, err := Edit(s.Raw, func(r map[string]json.RawMessage) bool {
		if !slices.Contains(urns, DecodeString(r["urn"])) {
			return false
		}
		r["protect"] = json.RawMessage("true")
		return true
	})
	if err != nil {
		return raw, err
	}
	return WithOutput(raw, func(outputs map[string]json.RawMessage) { delete(outputs, unprotectedOutput) })
}
